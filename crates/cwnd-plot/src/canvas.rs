//! The writer of the SVG text.

use std::fmt::{self, Write};

use super::style::{Colour, Marker, PAPER, Stroke};

/// Receives what marks and axes draw. Positions and sizes are in the units of the figure, `y` downwards.
#[derive(Debug, Default)]
pub struct Canvas {
    out: String,
    /// Whether places that can be chosen are drawn.
    is_linked: bool,
}

/// The style of a text.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    /// Size of the font.
    pub size: f64,
    /// Its colour.
    pub colour: Colour,
    /// Bold or regular.
    pub bold: bool,
    /// The part of the text that is at the given position.
    pub anchor: Anchor,
    /// Turned a quarter to the left, as at a vertical axis.
    pub upright: bool,
}

/// The part of a text that is at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// What is inside a marker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inside {
    /// The colour of the paper, over whatever is behind.
    #[default]
    Paper,
    /// Its own colour.
    Colour,
    /// Nothing: what is behind shows through.
    Nothing,
}

/// How much larger a hollow marker is.
const LARGE: f64 = 1.7;

impl Label {
    /// Regular text that begins at its place.
    pub fn new(size: f64, colour: Colour) -> Label {
        Label { size, colour, bold: false, anchor: Anchor::Start, upright: false }
    }

    /// The same in bold.
    pub fn bold(self) -> Label {
        Label { bold: true, ..self }
    }

    /// The same with another anchor.
    pub fn anchor(self, anchor: Anchor) -> Label {
        Label { anchor, ..self }
    }

    /// The same, turned a quarter to the left.
    pub fn upright(self) -> Label {
        Label { upright: true, ..self }
    }
}

impl Canvas {
    /// An empty canvas; `is_linked` says whether it draws places that can be chosen.
    pub(crate) fn new(is_linked: bool) -> Canvas {
        Canvas { is_linked, ..Canvas::default() }
    }

    /// A place that can be chosen.
    pub(crate) fn link(&mut self, (x, y): (f64, f64), name: &str, label: &str) {
        if self.is_linked && x.is_finite() && y.is_finite() {
            let (x, y, name, label) = (Num(x), Num(y), Escaped(name), Escaped(label));
            self.element(format_args!(
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"9\" fill=\"none\" pointer-events=\"all\" tabindex=\"0\" role=\"button\" \
                 data-link=\"{name}\" aria-label=\"{label}\"/>"
            ));
        }
    }

    /// A line through points; one that is not finite ends a stretch, and the next begins another.
    pub fn line(&mut self, points: &[(f64, f64)], stroke: &Stroke) {
        let path = path(points);
        if !path.is_empty() {
            self.path(&path, stroke);
        }
    }

    /// The outline of a shape, filled.
    pub fn polygon(&mut self, points: &[(f64, f64)], fill: Colour, opacity: f64) {
        let path = path(points);
        if !path.is_empty() {
            self.element(format_args!(
                "<path d=\"{path}Z\" fill=\"{fill}\" fill-opacity=\"{}\"/>",
                Num(opacity)
            ));
        }
    }

    /// A rectangle, filled.
    pub fn rectangle(&mut self, x: f64, y: f64, width: f64, height: f64, fill: Colour, opacity: f64) {
        let (x, y, width, height) = (Num(x), Num(y), Num(width), Num(height));
        self.element(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\" fill-opacity=\"{}\"/>",
            Num(opacity)
        ));
    }

    /// A marker: its colour around white, so that it stands out from the line that it is on.
    pub fn marker(&mut self, place: (f64, f64), marker: Marker, stroke: &Stroke) {
        self.sign(place, marker, stroke, Inside::Paper);
    }

    /// A marker with something inside; a hollow one is larger, so that it shows around another.
    pub fn sign(&mut self, (x, y): (f64, f64), marker: Marker, stroke: &Stroke, inside: Inside) {
        if !(x.is_finite() && y.is_finite()) {
            return;
        }
        let d = outline(marker, x, y, if inside == Inside::Nothing { LARGE } else { 1.0 });
        let (colour, width) = (stroke.colour, Num(stroke.width));
        let fill = match inside {
            Inside::Paper => PAPER.to_string(),
            Inside::Colour => colour.to_string(),
            Inside::Nothing => "none".to_owned(),
        };
        self.element(format_args!(
            "<path d=\"{d}\" fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
        ));
    }

    /// A text. `y` is its base line.
    pub fn text(&mut self, x: f64, y: f64, label: &Label, text: &str) {
        let (x, y) = (Num(x), Num(y));
        let place = match label.upright {
            true => format!("transform=\"translate({x} {y}) rotate(-90)\""),
            false => format!("x=\"{x}\" y=\"{y}\""),
        };
        let anchor = match label.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if label.bold { " font-weight=\"bold\"" } else { "" };
        let (size, fill, text) = (Num(label.size), label.colour, Escaped(text));
        self.element(format_args!(
            "<text {place} font-size=\"{size}\" fill=\"{fill}\"{anchor}{weight}>{text}</text>"
        ));
    }

    /// Begins a part that is clipped to a rectangle; [`Canvas::end_clip`] ends it.
    pub fn begin_clip(&mut self, x: f64, y: f64, width: f64, height: f64) {
        let (x, y, width, height) = (Num(x), Num(y), Num(width), Num(height));
        self.element(format_args!(
            "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" viewBox=\"{x} {y} {width} {height}\">"
        ));
    }

    /// Ends the part that [`Canvas::begin_clip`] began.
    pub fn end_clip(&mut self) {
        self.element(format_args!("</svg>"));
    }

    /// Returns the whole figure as an SVG document.
    pub fn into_svg(self, width: f64, height: f64, title: &str, description: &str) -> String {
        let (width, height) = (Num(width), Num(height));
        let (title, description) = (Escaped(title), Escaped(description));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" role=\"img\">\n\
             <title>{title}</title>\n<desc>{description}</desc>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{}</svg>\n",
            self.out
        )
    }

    /// Returns the whole figure as a part of a page: what it shows is an attribute, since a browser shows a title element as
    /// a tooltip over all of it.
    pub fn into_inline_svg(self, width: f64, height: f64, label: &str) -> String {
        let (width, height, label) = (Num(width), Num(height), Escaped(label));
        // What is inside an image is hidden from screen readers.
        let role = if self.is_linked { "group" } else { "img" };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" role=\"{role}\" aria-label=\"{label}\">\n{}</svg>\n",
            self.out
        )
    }

    fn path(&mut self, d: &str, stroke: &Stroke) {
        let (colour, width) = (stroke.colour, Num(stroke.width));
        let dash = stroke.dash.lengths().map(|d| format!(" stroke-dasharray=\"{d}\"")).unwrap_or_default();
        self.element(format_args!(
            "<path d=\"{d}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" \
             stroke-linejoin=\"round\"{dash}/>"
        ));
    }

    fn element(&mut self, element: fmt::Arguments<'_>) {
        writeln!(self.out, "{element}").expect("a String takes everything");
    }
}

/// A path through points, with points that fall on the one before left out.
fn path(points: &[(f64, f64)]) -> String {
    let mut d = String::new();
    let mut last = None;
    for &(x, y) in points {
        if !(x.is_finite() && y.is_finite()) {
            last = None;
            continue;
        }
        let point = format!("{} {}", Num(x), Num(y));
        if last.as_ref() == Some(&point) {
            continue;
        }
        let joint = if last.is_none() { "M" } else { " " };
        write!(d, "{joint}{point}").expect("a String takes everything");
        last = Some(point);
    }
    d
}

/// The outline of a marker some 6 units wide, enlarged by a factor.
fn outline(marker: Marker, x: f64, y: f64, times: f64) -> String {
    let place = |(dx, dy): &(f64, f64)| (x + times * dx, y + times * dy);
    let closed = |points: &[(f64, f64)]| path(&points.iter().map(place).collect::<Vec<_>>()) + "Z";
    let strokes = |points: &[(f64, f64); 4]| {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| place(&points[i]));
        path(&[a, b, (f64::NAN, 0.0), c, d])
    };
    match marker {
        Marker::Circle => {
            let (radius, width) = (Num(3.0 * times), Num(6.0 * times));
            let (left, y) = (Num(x - 3.0 * times), Num(y));
            format!("M{left} {y}a{radius} {radius} 0 1 0 {width} 0a{radius} {radius} 0 1 0 -{width} 0Z")
        }
        Marker::Square => closed(&[(-2.7, -2.7), (2.7, -2.7), (2.7, 2.7), (-2.7, 2.7)]),
        Marker::Up => closed(&[(0.0, -3.6), (3.4, 2.4), (-3.4, 2.4)]),
        Marker::Diamond => closed(&[(0.0, -3.8), (3.8, 0.0), (0.0, 3.8), (-3.8, 0.0)]),
        Marker::Down => closed(&[(0.0, 3.6), (3.4, -2.4), (-3.4, -2.4)]),
        Marker::Cross => strokes(&[(-2.8, -2.8), (2.8, 2.8), (-2.8, 2.8), (2.8, -2.8)]),
        Marker::Hexagon => {
            closed(&[(-1.7, -3.0), (1.7, -3.0), (3.4, 0.0), (1.7, 3.0), (-1.7, 3.0), (-3.4, 0.0)])
        }
        Marker::Plus => strokes(&[(-3.6, 0.0), (3.6, 0.0), (0.0, -3.6), (0.0, 3.6)]),
    }
}

/// A number with at most two decimals.
struct Num(f64);

impl fmt::Display for Num {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.2}", self.0);
        let short = text.trim_end_matches('0').trim_end_matches('.');
        f.write_str(if short == "-0" { "0" } else { short })
    }
}

/// Text within an element or an attribute. Characters that XML 1.0 has no place for become U+FFFD.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\t' | '\n' | '\r' => f.write_char(c)?,
                '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => f.write_char('\u{fffd}')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let vectors = [(0.0, "0"), (-0.001, "0"), (1.0, "1"), (1.005, "1"), (-2.5, "-2.5"), (100.0, "100")];
        for (value, text) in vectors {
            assert_eq!(Num(value).to_string(), text);
        }
    }

    #[test]
    fn text_is_escaped() {
        let text = Escaped("a<b & \"c\">\u{0}\u{1b}\u{ffff}é").to_string();
        assert_eq!(text, "a&lt;b &amp; &quot;c&quot;&gt;\u{fffd}\u{fffd}\u{fffd}é");
    }

    #[test]
    fn a_gap_begins_another_stretch() {
        let points = [(0.0, 1.0), (0.001, 1.0), (2.0, 3.0), (3.0, f64::NAN), (4.0, 5.0), (6.0, 7.0)];
        assert_eq!(path(&points), "M0 1 2 3M4 5 6 7");
    }
}
