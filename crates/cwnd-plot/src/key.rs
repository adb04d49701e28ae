//! The legend: the meaning of colours, patterns and markers.

use super::canvas::{Canvas, Inside, Label};
use super::hatch::Hatch;
use super::style::{Colour, INK, Marker, Stroke};
use super::text;

/// An entry of a legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Its meaning.
    pub label: String,
    /// Its look.
    pub swatch: Swatch,
}

/// A small picture of how something is drawn: any of a filled area, a line, a marker and a box.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Swatch {
    /// A filled area, with its opacity.
    pub fill: Option<(Colour, f64)>,
    /// A line.
    pub line: Option<Stroke>,
    /// A marker.
    pub marker: Option<Marker>,
    /// The colour of a marker that stands without a line.
    pub sign: Option<Colour>,
    /// What is inside the marker.
    pub inside: Inside,
    /// A filled box with an outline.
    pub hatch: Option<(Hatch, Colour)>,
}

impl Key {
    /// An entry.
    pub fn new(label: impl Into<String>, swatch: Swatch) -> Key {
        Key { label: label.into(), swatch }
    }
}

impl Swatch {
    /// A line.
    pub fn line(stroke: Stroke) -> Swatch {
        Swatch { line: Some(stroke), ..Swatch::default() }
    }

    /// A marker that stands without a line, with something inside.
    pub fn sign(marker: Marker, colour: Colour, inside: Inside) -> Swatch {
        Swatch { marker: Some(marker), sign: Some(colour), inside, ..Swatch::default() }
    }

    /// A filled area.
    pub fn fill(colour: Colour, opacity: f64) -> Swatch {
        Swatch { fill: Some((colour, opacity)), ..Swatch::default() }
    }

    /// A box with an outline, filled with a pattern.
    pub fn hatch(hatch: Hatch, colour: Colour) -> Swatch {
        Swatch { hatch: Some((hatch, colour)), ..Swatch::default() }
    }

    /// The same with a marker.
    pub fn marker(self, marker: Option<Marker>) -> Swatch {
        Swatch { marker, ..self }
    }
}

const SWATCH: f64 = 28.0;
const GAP: f64 = 6.0;
const BETWEEN: f64 = 16.0;
const SIZE: f64 = 12.0;
/// Height of a row of keys.
pub(crate) const ROW: f64 = 18.0;

/// Keys, set in rows.
pub(crate) struct Rows {
    /// Row, distance from the left, and the key with its label as it fits.
    placed: Vec<(usize, f64, Key)>,
}

impl Rows {
    /// Sets keys in rows of this width; the first row begins at `indent`.
    pub fn new(keys: &[Key], indent: f64, room: f64) -> Rows {
        let (mut row, mut at) = (0, indent);
        let mut placed = Vec::new();
        for key in keys {
            let label = text::shorten(&key.label, SIZE, room - SWATCH - GAP);
            let width = SWATCH + GAP + text::width(&label, SIZE);
            if at > 0.0 && at + width > room {
                (row, at) = (row + 1, 0.0);
            }
            placed.push((row, at, Key { label, ..key.clone() }));
            at += width + BETWEEN;
        }
        Rows { placed }
    }

    pub fn height(&self) -> f64 {
        self.placed.last().map_or(0.0, |(row, _, _)| (row + 1) as f64 * ROW)
    }

    pub fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) {
        for (row, at, key) in &self.placed {
            let (x, middle) = (left + at, top + (*row as f64 + 0.5) * ROW);
            if let Some((colour, opacity)) = key.swatch.fill {
                canvas.rectangle(x, middle - 5.0, SWATCH, 10.0, colour, opacity);
            }
            if let Some((hatch, colour)) = key.swatch.hatch {
                let [left, top, right, bottom] = [x + 4.0, middle - 5.5, x + SWATCH - 2.0, middle + 5.5];
                hatch.fill(canvas, [left, top, right, bottom], &Stroke::solid(colour, 1.0));
                let outline = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
                canvas.line(&outline, &Stroke::solid(colour, 1.2));
            }
            if let Some(stroke) = key.swatch.line {
                canvas.line(&[(x, middle), (x + SWATCH, middle)], &stroke);
            }
            let alone = key.swatch.sign.map(|colour| Stroke::solid(colour, 1.4));
            if let (Some(marker), Some(stroke)) = (key.swatch.marker, key.swatch.line.or(alone)) {
                canvas.sign((x + SWATCH / 2.0, middle), marker, &stroke, key.swatch.inside);
            }
            canvas.text(x + SWATCH + GAP, middle + 4.0, &Label::new(SIZE, INK), &key.label);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_do_not_fit_go_to_the_next_row() {
        let key = |label: &str| Key::new(label, Swatch::default());
        let long = "agile-sd:lambda_max=4,beta2=0.9";
        let rows = Rows::new(&[key("a"), key("b"), key(long), key(&long.repeat(9))], 100.0, 300.0);
        let places: Vec<(usize, f64)> = rows.placed.iter().map(|(row, at, _)| (*row, at.round())).collect();
        assert_eq!(places, [(0, 100.0), (0, 157.0), (1, 0.0), (2, 0.0)]);
        assert!(rows.placed[3].2.label.contains('…'));
        assert_eq!(rows.height(), 3.0 * ROW);
    }
}
