//! From boxes, wires and courses to SVG.

use super::fold::{Course, Direction, Folded};
use super::label::WireLabel;
use super::place::{BESIDE, BOX_HEIGHT, LINE, Place, Point, SMALL, TEXT};
use cwnd_plot::number::thousands;
use cwnd_plot::{
    Anchor, Canvas, Label,
    style::{Colour, Dash, GREY, INK, PAPER, Stroke},
    text::{shorten, width},
};

const MARGIN: f64 = 20.0;
const TITLE: f64 = 15.0;
/// More courses are not listed one by one.
const MOST_LISTED: usize = 16;

const NOTE: &str =
    "Thick: the bottleneck. At a link: rate and delay, the queue before it, what else happens on it.";
const DOTTED: &str = "Dotted: ACKs that do not come back the way of the data.";

/// The picture. Its place begins at the origin.
pub fn draw(folded: &Folded, labels: &[WireLabel], place: Place, title: &str) -> String {
    let courses =
        folded.courses.iter().take(MOST_LISTED).map(|course| width(&listed(course, folded), TEXT) + 32.0);
    let room = courses.fold(width(NOTE, SMALL).max(place.width), f64::max);
    let head = MARGIN + TITLE + 14.0;
    let top = place.heights.0;
    let place = place.moved(MARGIN, head - top);
    let bottom = place.heights.1;
    let picture = Picture { folded, labels, place };
    let mut canvas = Canvas::default();
    let title_style = Label::new(TITLE, INK).bold();
    canvas.text(MARGIN, MARGIN + TITLE * 0.8, &title_style, &shorten(title, TITLE, room));
    picture.wires(&mut canvas);
    picture.courses(&mut canvas);
    picture.texts(&mut canvas);
    picture.boxes(&mut canvas);
    let end = list(&mut canvas, folded, bottom + 26.0);
    let about = "Nodes and links of a network, and the courses of flows over it.";
    canvas.into_svg((room + 2.0 * MARGIN).ceil(), end, title, about)
}

struct Picture<'a> {
    folded: &'a Folded,
    labels: &'a [WireLabel],
    place: Place,
}

impl Picture<'_> {
    fn wires(&self, canvas: &mut Canvas) {
        for (index, path) in self.place.wires.iter().enumerate() {
            let bottleneck = self.folded.bottleneck == Some(index);
            let stroke =
                if bottleneck { Stroke::solid(INK, 3.0) } else { Stroke::solid(GREY.tint(0.6), 1.2) };
            canvas.line(path, &stroke);
        }
    }

    /// For each course a line beside the wires that its data crosses, with an arrow where it ends; dotted where ACKs do not
    /// come back the same way.
    fn courses(&self, canvas: &mut Canvas) {
        let mut used = vec![0; self.folded.wires.len()];
        for (index, course) in self.folded.courses.iter().enumerate() {
            let colour = Colour::of_series(index);
            self.way(canvas, &course.data, &Stroke::solid(colour, 1.8), &mut used, true);
            if !course.returns() {
                let dotted = Stroke::solid(colour, 1.3).dashed(Dash::Dotted);
                self.way(canvas, &course.acks, &dotted, &mut used, false);
            }
        }
    }

    fn way(&self, canvas: &mut Canvas, way: &Direction, stroke: &Stroke, used: &mut [usize], arrow: bool) {
        for (step, (&wire, &here)) in way.wires.iter().zip(&way.boxes).enumerate() {
            // By turns under and over the wire.
            let place = used[wire];
            used[wire] += 1;
            let away = ((place / 2) as f64 + 1.0) * BESIDE + 0.6;
            let mut points =
                beside(&self.place.wires[wire], if place.is_multiple_of(2) { away } else { -away });
            if self.folded.wires[wire].ends.0 != here {
                points.reverse();
            }
            canvas.line(&points, stroke);
            if arrow && step + 1 == way.wires.len() {
                head(canvas, &points, stroke.colour);
            }
        }
    }

    fn boxes(&self, canvas: &mut Canvas) {
        for (of_box, ((x, y), width)) in self.folded.boxes.iter().zip(&self.place.boxes) {
            let (left, top) = (x - width / 2.0, y - BOX_HEIGHT / 2.0);
            let (right, bottom) = (left + width, top + BOX_HEIGHT);
            let fill = if of_box.host { PAPER } else { GREY.tint(0.16) };
            canvas.rectangle(left, top, *width, BOX_HEIGHT, fill, 1.0);
            let frame = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
            canvas.line(&frame, &Stroke::solid(INK, 1.0));
            let style = Label::new(TEXT, INK).anchor(Anchor::Middle);
            canvas.text(*x, y + TEXT * 0.36, &style, &of_box.label);
        }
    }

    /// Over each wire what its links forth do, and under it what those back do otherwise.
    fn texts(&self, canvas: &mut Canvas) {
        for (index, (label, ((x, y), clear))) in self.labels.iter().zip(&self.place.labels).enumerate() {
            let bottleneck = self.folded.bottleneck == Some(index);
            let name = usize::from(label.named);
            let above = y - clear - (label.forth.len() as f64 - 0.75) * LINE;
            write(canvas, (*x, above), &label.forth, name, bottleneck);
            write(canvas, (*x, y + clear + 0.75 * LINE), &label.back, 0, false);
        }
    }
}

/// Which colour is whose, from a height on; gives where it ends.
fn list(canvas: &mut Canvas, folded: &Folded, top: f64) -> f64 {
    let mut y = top;
    for (index, course) in folded.courses.iter().take(MOST_LISTED).enumerate() {
        let stroke = Stroke::solid(Colour::of_series(index), 2.4);
        canvas.line(&[(MARGIN, y - 4.0), (MARGIN + 24.0, y - 4.0)], &stroke);
        canvas.text(MARGIN + 32.0, y, &Label::new(TEXT, INK), &listed(course, folded));
        y += 17.0;
    }
    let more = folded.courses.len().saturating_sub(MOST_LISTED);
    let dotted = folded.courses.iter().any(|course| !course.returns());
    let notes =
        [(more > 0, format!("and {more} more")), (dotted, DOTTED.to_owned()), (true, NOTE.to_owned())];
    for (_, text) in notes.iter().filter(|(holds, _)| *holds) {
        canvas.text(MARGIN, y, &Label::new(SMALL, GREY), text);
        y += 15.0;
    }
    (y - 15.0 + MARGIN).ceil()
}

fn listed(course: &Course, folded: &Folded) -> String {
    let count = match (course.flows, course.short) {
        (flows, true) => format!(", {} short flows", thousands(flows as f64, 0)),
        (1, false) => String::new(),
        (flows, false) => format!(" × {flows}"),
    };
    let name = |index: Option<&usize>| index.map_or("", |index| folded.boxes[*index].label.as_str());
    let reverse = if course.reverse { " (reverse)" } else { "" };
    let (from, to) = (name(course.data.boxes.first()), name(course.data.boxes.last()));
    format!("{}{count}: {from} → {to}{reverse}", course.algorithm)
}

/// The same points, moved down, or to the side where they stand over each other.
fn beside(points: &[Point], away: f64) -> Vec<Point> {
    let upright = points.windows(2).all(|pair| (pair[0].0 - pair[1].0).abs() < 1.0);
    let (right, down) = if upright { (away, 0.0) } else { (0.0, away) };
    points.iter().map(|(x, y)| (x + right, y + down)).collect()
}

/// The head of an arrow at the end of a line.
fn head(canvas: &mut Canvas, points: &[Point], colour: Colour) {
    let [.., before, end] = points else { return };
    let (dx, dy) = (end.0 - before.0, end.1 - before.1);
    let length = (dx * dx + dy * dy).sqrt().max(1.0);
    let (ux, uy) = (dx / length, dy / length);
    let back = |along: f64, across: f64| (end.0 - ux * along - uy * across, end.1 - uy * along + ux * across);
    canvas.polygon(&[*end, back(7.0, 3.0), back(7.0, -3.0)], colour, 1.0);
}

/// Lines of text around x, the first with its base line at y, on paper. The first `named` are a name.
fn write(canvas: &mut Canvas, (x, y): Point, lines: &[String], named: usize, bold: bool) {
    if lines.is_empty() {
        return;
    }
    let room = lines.iter().map(|line| width(line, SMALL)).fold(0.0, f64::max) + 4.0;
    canvas.rectangle(x - room / 2.0, y - SMALL, room, lines.len() as f64 * LINE, PAPER, 0.75);
    for (index, line) in lines.iter().enumerate() {
        let style = Label::new(SMALL, if index < named { INK } else { GREY }).anchor(Anchor::Middle);
        let style = if bold && index < named { style.bold() } else { style };
        canvas.text(x, y + index as f64 * LINE, &style, line);
    }
}
