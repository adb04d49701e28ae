//! Patterns that fill areas, so that bars can be told apart without colour.

use super::canvas::Canvas;
use super::style::Stroke;

/// The pattern that fills an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hatch {
    /// The colour alone.
    Full,
    /// Lines that rise to the right.
    Rising,
    /// Nothing: the outline alone.
    Empty,
    /// Lines that fall to the right.
    Falling,
    /// Lines that lie.
    Lying,
    /// Lines that rise and lines that fall.
    Crossed,
    /// Lines that stand.
    Standing,
}

impl Hatch {
    /// Every pattern, in the order in which they are used.
    pub const ALL: [Hatch; 7] = [
        Hatch::Full,
        Hatch::Rising,
        Hatch::Empty,
        Hatch::Falling,
        Hatch::Lying,
        Hatch::Crossed,
        Hatch::Standing,
    ];

    /// The pattern of the series with this index; they are shifted by one in every round, so that a colour that
    /// comes again has another pattern.
    pub fn of_series(index: usize) -> Hatch {
        let count = Hatch::ALL.len();
        Hatch::ALL[(index + index / count) % count]
    }

    /// Fills a rectangle. Patterns start at its corner, so that equal bars look equal.
    pub(super) fn fill(self, canvas: &mut Canvas, [left, top, right, bottom]: [f64; 4], stroke: &Stroke) {
        let whole = [left, top, right, bottom].iter().all(|v| v.is_finite());
        if !whole || right <= left || bottom <= top {
            return;
        }
        let lines = match self {
            Hatch::Full => {
                return canvas.rectangle(left, top, right - left, bottom - top, stroke.colour, 1.0);
            }
            Hatch::Empty => return,
            Hatch::Rising => rising([left, top, right, bottom]),
            Hatch::Falling => falling([left, top, right, bottom]),
            Hatch::Crossed => {
                let mut lines = rising([left, top, right, bottom]);
                lines.extend(falling([left, top, right, bottom]));
                lines
            }
            Hatch::Lying => steps(bottom - top).map(|d| [(left, bottom - d), (right, bottom - d)]).collect(),
            Hatch::Standing => steps(right - left).map(|d| [(left + d, bottom), (left + d, top)]).collect(),
        };
        let gap = (f64::NAN, f64::NAN);
        let points: Vec<(f64, f64)> = lines.iter().flat_map(|[a, b]| [*a, *b, gap]).collect();
        canvas.line(&points, stroke);
    }
}

const STEP: f64 = 4.0;

/// Distances of lines across so much room.
fn steps(room: f64) -> impl Iterator<Item = f64> {
    (1..).map(|i| STEP * f64::from(i)).take_while(move |distance| *distance < room)
}

/// Lines at 45 degrees from the lower left, each cut off at the rectangle.
fn rising([left, top, right, bottom]: [f64; 4]) -> Vec<[(f64, f64); 2]> {
    let (width, height) = (right - left, bottom - top);
    let line = |d: f64| {
        // Points (left + u, bottom - v) with u - v = width - d, u in 0..=width, v in 0..=height.
        let shift = width - d;
        let (from, to) = (shift.max(0.0), width.min(height + shift));
        [(left + from, bottom - (from - shift)), (left + to, bottom - (to - shift))]
    };
    steps(width + height).map(line).collect()
}

fn falling([left, top, right, bottom]: [f64; 4]) -> Vec<[(f64, f64); 2]> {
    let mirrored = |(x, y): (f64, f64)| (left + right - x, y);
    rising([left, top, right, bottom]).into_iter().map(|line| line.map(mirrored)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slanted_lines_stay_inside_and_are_at_45_degrees() {
        for rectangle in [[10.0, 20.0, 22.0, 120.0], [0.0, 0.0, 90.0, 7.0]] {
            let [left, top, right, bottom] = rectangle;
            let lines: Vec<_> = rising(rectangle).into_iter().chain(falling(rectangle)).collect();
            assert!(lines.len() > 40);
            for [a, b] in lines {
                assert!(((a.0 - b.0).abs() - (a.1 - b.1).abs()).abs() < 1e-9);
                for (x, y) in [a, b] {
                    assert!(x >= left - 1e-9 && x <= right + 1e-9 && y >= top - 1e-9 && y <= bottom + 1e-9);
                }
            }
        }
    }

    #[test]
    fn colour_and_pattern_together_repeat_late() {
        let pair = |i: usize| (crate::style::Colour::of_series(i), Hatch::of_series(i));
        let pairs: Vec<_> = (0..98).map(pair).collect();
        assert!(pairs.iter().enumerate().all(|(i, p)| !pairs[..i].contains(p)));
    }
}
