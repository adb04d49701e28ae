//! Small pictures of lines over time, in characters.
//!
//! A character of Unicode's braille patterns is two dots wide and four high. Panels stand below each other and share both
//! scales, so that their heights can be compared.

use cwnd_scenario::Time;

/// Points in order of time: seconds and a value.
pub type Line = Vec<(f64, f64)>;

/// Lines in one frame.
pub struct Panel {
    /// What stands beside it.
    pub label: String,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// The most panels; what is beyond is counted.
const MOST_PANELS: usize = 8;
/// The longest label, characters.
const LABEL: usize = 20;
/// The widest picture, characters.
const WIDEST: usize = 72;
/// The narrowest one.
const NARROWEST: usize = 10;

/// Returns panels from time zero to `end` in this number of columns; nothing if no panel has a value. `number` writes the greatest
/// value at the scale.
pub fn text(panels: &[Panel], end: Time, number: &dyn Fn(f64) -> String, columns: usize) -> String {
    let values = panels.iter().flat_map(|panel| &panel.lines).flatten().map(|point| point.1);
    let most = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
    if most <= 0.0 || end == Time::ZERO {
        return String::new();
    }
    let shown = &panels[..panels.len().min(MOST_PANELS)];
    let height = match shown.len() {
        1 => 8,
        2 => 5,
        3 | 4 => 4,
        _ => 3,
    };
    let labels: Vec<String> = shown.iter().map(|panel| shortened(&panel.label)).collect();
    let label = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let top = number(most);
    let scale = top.chars().count();
    // Margin, label, gap, scale, axis.
    let left = 2 + label + 2 + scale + 2;
    let width = columns.saturating_sub(left).clamp(NARROWEST, WIDEST);
    let mut text = String::new();
    for (panel, name) in shown.iter().zip(&labels) {
        let mut canvas = Canvas::new(width, height);
        for line in &panel.lines {
            canvas.line(line, end.as_secs_f64(), most);
        }
        for (i, row) in canvas.rows().enumerate() {
            let name = if i == 0 { name.as_str() } else { "" };
            let mark = match i {
                0 => top.as_str(),
                i if i + 1 == height => "0",
                _ => "",
            };
            text += format!("  {name:<label$}  {mark:>scale$} │{row}").trim_end();
            text.push('\n');
        }
    }
    let last = end.to_string();
    let space = width.saturating_sub(3 + last.chars().count());
    text += &format!("{:left$}0 s{:space$}{last}\n", "", "");
    if panels.len() > shown.len() {
        text += &format!("  … and {} more; --plot draws all\n", panels.len() - shown.len());
    }
    text
}

fn shortened(label: &str) -> String {
    if label.chars().count() <= LABEL {
        return label.to_owned();
    }
    label.chars().take(LABEL - 1).chain(['…']).collect()
}

/// Dots in characters.
struct Canvas {
    /// Characters in a row.
    width: usize,
    /// Rows.
    height: usize,
    /// The dots of each character, as the last byte of its code point.
    cells: Vec<u8>,
}

impl Canvas {
    fn new(width: usize, height: usize) -> Canvas {
        Canvas { width, height, cells: vec![0; width * height] }
    }

    /// Joins the points of a line, from time 0 to `end` and from 0 to `most`. What is not finite interrupts it.
    fn line(&mut self, line: &Line, end: f64, most: f64) {
        let (columns, rows) = ((2 * self.width - 1) as f64, (4 * self.height - 1) as f64);
        let place = |&(time, value): &(f64, f64)| {
            let x = time / end * columns;
            let y = value / most * rows;
            (x.is_finite() && y.is_finite()).then_some((x.clamp(0.0, columns), y.clamp(0.0, rows)))
        };
        let mut before = None;
        for point in line {
            let here = place(point);
            if let Some((x, y)) = here {
                let (from_x, from_y) = before.unwrap_or((x, y));
                let steps = (x - from_x).abs().max((y - from_y).abs()).ceil().max(1.0);
                for step in 0..=steps as usize {
                    let part = step as f64 / steps;
                    self.dot(from_x + part * (x - from_x), from_y + part * (y - from_y));
                }
            }
            before = here;
        }
    }

    /// Sets the dot at a column from the left and a row from below.
    fn dot(&mut self, x: f64, y: f64) {
        // Unicode 15, Braille Patterns: dots 1 to 3 and 7 are the left column from above, 4 to 6 and 8 the right one.
        const DOTS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
        let (x, y) = (x.round() as usize, 4 * self.height - 1 - y.round() as usize);
        self.cells[y / 4 * self.width + x / 2] |= DOTS[x % 2][y % 4];
    }

    fn rows(&self) -> impl Iterator<Item = String> {
        let character = |dots: &u8| match dots {
            0 => ' ',
            dots => char::from_u32(0x2800 + u32::from(*dots)).unwrap_or(' '),
        };
        self.cells.chunks(self.width).map(move |row| row.iter().map(character).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(label: &str, line: &[(f64, f64)]) -> Panel {
        Panel { label: label.into(), lines: vec![line.to_vec()] }
    }

    #[test]
    fn a_line_rises_from_the_lower_left_to_the_upper_right() {
        let mut canvas = Canvas::new(2, 1);
        canvas.line(&vec![(0.0, 0.0), (3.0, 3.0)], 3.0, 3.0);
        // Dots 7 and 6 in the first character, 2 and 4 in the second.
        assert_eq!(canvas.rows().collect::<Vec<_>>(), ["\u{2860}\u{280a}"]);
        let mut canvas = Canvas::new(2, 1);
        canvas.line(&vec![(0.0, 0.0), (1.0, f64::NAN), (3.0, 3.0)], 3.0, 3.0);
        assert_eq!(canvas.rows().collect::<Vec<_>>(), ["\u{2840}\u{2808}"], "the gap is not joined");
    }

    #[test]
    fn panels_share_their_scale() {
        let panels = [panel("cubic", &[(0.0, 10.0), (10.0, 10.0)]), panel("bbr", &[(0.0, 0.0), (10.0, 0.0)])];
        let text = text(&panels, Time::from_secs(10), &|most| format!("{most:.0}"), 25);
        let (top, low) = ("\u{2809}".repeat(12), "\u{28c0}".repeat(12));
        let expected = format!(
            "  cubic  10 │{top}\n            │\n            │\n            │\n          0 │\n  \
               bbr    10 │\n            │\n            │\n            │\n          0 │{low}\n\
             {:13}0 s     10 s\n",
            ""
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn it_fits_the_terminal_and_counts_what_is_beyond() {
        let panels: Vec<Panel> = (0..10)
            .map(|i| panel(&format!("algorithm {i} with a long name"), &[(0.0, 1.0), (5.0, 7.0)]))
            .collect();
        for columns in [50, 80, 200] {
            let text = text(&panels, Time::from_secs(5), &|most| format!("{most:.0}"), columns);
            assert!(text.lines().all(|line| line.chars().count() <= columns.min(100)), "{text}");
            assert!(text.contains("algorithm 7 with a …") && !text.contains("algorithm 8"), "{text}");
            assert!(text.ends_with("  … and 2 more; --plot draws all\n"), "{text}");
        }
        assert_eq!(text(&[], Time::from_secs(5), &|most| most.to_string(), 80), "");
        assert_eq!(text(&[panel("a", &[(0.0, 0.0)])], Time::from_secs(5), &|most| most.to_string(), 80), "");
    }
}
