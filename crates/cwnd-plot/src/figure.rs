//! Figures and panels, and how they are laid out.

use super::axis::{Axis, Fitted};
use super::canvas::{Anchor, Canvas, Label};
use super::frame::{Extent, Frame};
use super::key::{self, Key};
use super::layout::{MARGIN, NAME, TEXT, TICK};
use super::reference::{self, Reference};
use super::style::{GREY, GRID, INK, PAPER, Stroke};
use super::{text, tick_labels};

/// Panels one above the other, with a title, a legend and a caption.
pub struct Figure {
    /// Its content in a line.
    pub title: String,
    /// The same in a sentence or two, for readers who cannot see it.
    pub description: String,
    /// The caption in small type below: origin and explanation.
    pub caption: String,
    /// The legend of all panels, above the first.
    pub keys: Vec<Key>,
    /// The panels, from the top.
    pub panels: Vec<Panel>,
    /// Whether the panels have one horizontal axis, labelled below the last.
    pub share_x: bool,
    /// Its width; everything is measured in this unit. Text is 11 to 15 high, so that a
    /// figure as wide as a column of print has legible labels.
    pub width: f64,
}

/// One set of axes with what is drawn between them.
pub struct Panel {
    /// A heading, if it needs one.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, the hindmost first.
    pub marks: Vec<Box<dyn Mark>>,
    /// Labelled lines across it, behind what is drawn.
    pub references: Vec<Reference>,
    /// The legend of this panel alone, above it.
    pub keys: Vec<Key>,
    /// Height of the area between the axes.
    pub height: f64,
}

/// A mark that is drawn between axes.
pub trait Mark {
    /// The values that it covers, from which the axes get their ranges.
    fn extent(&self) -> Extent;
    /// Draws it; what falls outside the frame is cut off.
    fn draw(&self, frame: &Frame, canvas: &mut Canvas);
    /// The lines that a label should not hide, through places in the figure; one that is not finite is a gap.
    fn outlines(&self, _frame: &Frame) -> Vec<Vec<(f64, f64)>> {
        Vec::new()
    }
}

impl Figure {
    /// A figure without panels.
    pub fn new(title: impl Into<String>) -> Figure {
        Figure {
            title: title.into(),
            description: String::new(),
            caption: String::new(),
            keys: Vec::new(),
            panels: Vec::new(),
            share_x: false,
            width: 640.0,
        }
    }

    /// The figure as SVG.
    pub fn to_svg(&self) -> String {
        let mut canvas = Canvas::default();
        let axes = self.fit();
        let y_labels = axes.iter().flat_map(|(_, y)| &y.ticks.major);
        let widest = y_labels.map(|(_, label)| text::width(label, TICK)).fold(0.0, f64::max);
        let lines = self.panels.iter().map(|panel| panel.y_title(OVERHANG).len()).max().unwrap_or(1).max(1);
        let left = (MARGIN + TEXT + 1.15 * TEXT * (lines - 1) as f64 + 6.0 + widest + 7.0).round();
        let room = self.width - MARGIN - left;

        let mut y = MARGIN;
        for line in text::wrap_bold(&self.title, TITLE, room) {
            canvas.text(left, y + TITLE, &Label::new(TITLE, INK).bold(), &line);
            y += 1.3 * TITLE;
        }
        let keys = key::Rows::new(&self.keys, 0.0, room);
        keys.draw(&mut canvas, left, y + 3.0);
        y += keys.height() + 3.0;
        let panels = self.panels.len();
        for (i, (panel, (x_axis, y_axis))) in self.panels.iter().zip(axes).enumerate() {
            let labelled = !self.share_x || i + 1 == panels;
            y = panel.draw_heading(&mut canvas, left, self.width - MARGIN, y);
            let (right, bottom) = (self.width - MARGIN, y + panel.height);
            let frame = Frame { x: x_axis, y: y_axis, left, right, top: y, bottom };
            let edges = Edges {
                x_labels: labelled,
                x_title: labelled,
                y_labels: true,
                y_title: Some(MARGIN),
                overhang: OVERHANG,
            };
            panel.draw(&mut canvas, &frame, edges);
            y = bottom + if labelled { panel.x_title_room(right - left) + 8.0 } else { 8.0 };
        }

        for line in text::wrap(&self.caption, TICK, room) {
            y += 1.35 * TICK;
            canvas.text(left, y, &Label::new(TICK, GREY), &line);
        }
        canvas.into_svg(self.width, (y + MARGIN).ceil(), &self.title, &self.description)
    }

    /// The axes of every panel.
    fn fit(&self) -> Vec<(Fitted, Fitted)> {
        let extents: Vec<Extent> = self.panels.iter().map(Panel::extent).collect();
        let all = extents.iter().fold(Extent::default(), |all, extent| all.union(extent));
        let fit = |(panel, extent): (&Panel, &Extent)| {
            let shared = if self.share_x { all.x } else { extent.x };
            let x = panel.x.fit(shared, ((self.width / 62.0) as usize).max(2));
            (x, panel.y.fit(extent.y, ((panel.height / 28.0) as usize).max(2)))
        };
        self.panels.iter().zip(&extents).map(fit).collect()
    }
}

const TITLE: f64 = 15.0;
/// The length by which the title of a vertical axis may exceed it, where that of no other panel is near.
pub(super) const OVERHANG: f64 = 30.0;

impl Panel {
    /// A panel without marks.
    pub fn new(x: Axis, y: Axis, height: f64) -> Panel {
        Panel {
            title: String::new(),
            x,
            y,
            marks: Vec::new(),
            references: Vec::new(),
            keys: Vec::new(),
            height,
        }
    }

    /// Adds something to draw, in front of what is already there.
    pub fn add(&mut self, mark: impl Mark + 'static) {
        self.marks.push(Box::new(mark));
    }

    pub(super) fn extent(&self) -> Extent {
        let marks = self.marks.iter().map(|mark| mark.extent());
        let all = marks.chain(self.references.iter().map(|one| one.extent(&self.y)));
        all.fold(Extent::default(), |all, extent| all.union(&extent))
    }

    /// Draws the heading and the legend, and returns where the area between the axes may begin.
    fn draw_heading(&self, canvas: &mut Canvas, left: f64, right: f64, top: f64) -> f64 {
        let heading = text::shorten(&self.title, 1.1 * TEXT, right - left);
        let beside = if heading.is_empty() { 0.0 } else { text::width(&heading, 1.1 * TEXT) + 18.0 };
        let mut keys = key::Rows::new(&self.keys, beside, right - left);
        let mut y = top;
        if !heading.is_empty() {
            canvas.text(left, y + key::ROW / 2.0 + 4.0, &Label::new(TEXT, INK).bold(), &heading);
            // The legend is in the row of the heading if it fits there, and below it otherwise.
            if keys.height() != key::ROW {
                keys = key::Rows::new(&self.keys, 0.0, right - left);
                y += key::ROW;
            }
        }
        keys.draw(canvas, left, y);
        y + keys.height() + 8.0
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, frame: &Frame, edges: Edges) {
        let Frame { left, right, top, bottom, .. } = *frame;
        self.draw_ticks(canvas, frame, edges);

        // A line along the edge keeps its width, and a marker there its shape.
        canvas.begin_clip(left - 4.0, top - 4.0, right - left + 8.0, bottom - top + 8.0);
        reference::draw_lines(&self.references, frame, canvas);
        for mark in &self.marks {
            mark.draw(frame, canvas);
        }
        if !self.references.is_empty() {
            let curves: Vec<_> = self.marks.iter().flat_map(|mark| mark.outlines(frame)).collect();
            reference::draw_labels(&self.references, frame, &curves, canvas);
        }
        canvas.end_clip();

        canvas.line(&[(left, top), (left, bottom), (right, bottom)], &Stroke::solid(INK, 0.8));
        if let Some(x) = self.x.broken_at.map(|value| frame.x(value)).filter(|x| x.is_finite()) {
            canvas.rectangle(x - 2.0, bottom - 2.0, 4.0, 4.0, PAPER, 1.0);
            for side in [x - 2.0, x + 2.0] {
                canvas.line(
                    &[(side - 1.5, bottom + 4.0), (side + 1.5, bottom - 4.0)],
                    &Stroke::solid(INK, 0.8),
                );
            }
        }
        let style = Label::new(TEXT, INK).anchor(Anchor::Middle);
        if let Some(x) = edges.y_title {
            for (i, line) in self.y_title(edges.overhang).iter().enumerate() {
                let x = x + TEXT - 2.0 + 1.15 * TEXT * i as f64;
                canvas.text(x, (top + bottom) / 2.0, &style.upright(), line);
            }
        }
        if edges.x_title {
            let y = bottom + self.x_title_room(right - left);
            canvas.text((left + right) / 2.0, y, &style, &self.x.label);
        }
    }

    /// The title of the vertical axis, in one line or two that are longer than the axis by at most `overhang`.
    pub(super) fn y_title(&self, overhang: f64) -> Vec<String> {
        let room = self.height + overhang;
        let mut lines = text::wrap(&self.y.label, TEXT, room);
        if lines.len() > 2 {
            let rest = lines.split_off(1).join(" ");
            lines.push(text::shorten(&rest, TEXT, room));
        }
        lines
    }

    /// Draws the grid, and the ticks with their labels.
    fn draw_ticks(&self, canvas: &mut Canvas, frame: &Frame, edges: Edges) {
        let Frame { left, right, top, bottom, .. } = *frame;
        let (grid, axis) = (Stroke::solid(GRID, 0.8), Stroke::solid(INK, 0.8));
        for (value, label) in &frame.y.ticks.major {
            let y = frame.y(*value);
            if !self.y.named {
                canvas.line(&[(left, y), (right, y)], &grid);
                canvas.line(&[(left - 4.0, y), (left, y)], &axis);
            }
            if edges.y_labels {
                let style = Label::new(TICK, INK).anchor(Anchor::End);
                canvas.text(left - 7.0, y + 0.36 * TICK, &style, &text::shorten(label, TICK, NAME));
            }
        }
        for (value, _) in frame.x.ticks.major.iter().filter(|_| !self.x.named) {
            let x = frame.x(*value);
            canvas.line(&[(x, top), (x, bottom)], &grid);
            canvas.line(&[(x, bottom), (x, bottom + 4.0)], &axis);
        }
        for value in &frame.y.ticks.minor {
            canvas.line(&[(left - 2.5, frame.y(*value)), (left, frame.y(*value))], &axis);
        }
        for value in &frame.x.ticks.minor {
            canvas.line(&[(frame.x(*value), bottom), (frame.x(*value), bottom + 2.5)], &axis);
        }
        if edges.x_labels {
            let ticks = &frame.x.ticks.major;
            let places: Vec<(f64, &str)> = ticks.iter().map(|(v, l)| (frame.x(*v), l.as_str())).collect();
            let style = Label::new(TICK, INK).anchor(Anchor::Middle);
            if !self.x.named {
                for (x, line, label) in tick_labels::clear(&places) {
                    canvas.text(x, bottom + 6.0 + TICK + 1.15 * TICK * line as f64, &style, &label);
                }
                return;
            }
            let names = tick_labels::named(&places, right - left);
            for (x, line, label) in names.labels {
                match names.upright {
                    true => {
                        let style = style.anchor(Anchor::End).upright();
                        canvas.text(x + 0.36 * TICK, bottom + 6.0, &style, &label);
                    }
                    false => {
                        canvas.text(x, bottom + 6.0 + TICK + 1.15 * TICK * line as f64, &style, &label);
                    }
                }
            }
        }
    }

    /// From the horizontal axis to the base line of its title, where the panel is so wide.
    fn x_title_room(&self, width: f64) -> f64 {
        let beyond_first = self.x_labels_height(width) - 1.15 * TICK;
        2.0 * TICK + TEXT + beyond_first.max(0.0)
    }

    /// The height of the labels of the horizontal axis, where the panel is so wide.
    pub(super) fn x_labels_height(&self, width: f64) -> f64 {
        if !self.x.named {
            return 1.15 * TICK;
        }
        let labels = self.x.labels.iter().flatten().map(|(_, label)| (0.0, label.as_str()));
        tick_labels::named(&labels.collect::<Vec<_>>(), width).height
    }
}

/// What is written along the edges of a panel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges {
    pub x_labels: bool,
    pub x_title: bool,
    pub y_labels: bool,
    /// The left edge of the vertical axis's title, if it has one.
    pub y_title: Option<f64>,
    /// The length by which that title may exceed the axis.
    pub overhang: f64,
}

#[cfg(test)]
mod tests;
