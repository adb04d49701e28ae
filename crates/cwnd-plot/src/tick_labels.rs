//! Which labels of a horizontal axis are written, so that none touches another.

use super::layout::TICK;
use super::text;

/// Between two labels, at least.
const GAP: f64 = 5.0;
/// The most lines of a name.
const LINES: usize = 2;

/// The labels of a quantity: place, line (always the first) and text. The first and the last are there, and of the
/// others those that have room.
pub(super) fn clear(places: &[(f64, &str)]) -> Vec<(f64, usize, String)> {
    let ends = |&(x, label): &(f64, &str)| {
        let half = text::width(label, TICK) / 2.0;
        (x - half, x + half)
    };
    let free = |a: (f64, f64), b: (f64, f64)| a.1 + GAP <= b.0 || b.1 + GAP <= a.0;
    let last = places.len().saturating_sub(1);
    let mut kept: Vec<usize> = Vec::new();
    for index in (0..places.len().min(1)).chain((last > 0).then_some(last)).chain(1..last) {
        if kept.iter().all(|&other| free(ends(&places[index]), ends(&places[other]))) {
            kept.push(index);
        }
    }
    kept.sort_unstable();
    kept.into_iter().map(|index| (places[index].0, 0, places[index].1.to_owned())).collect()
}

/// The labels of named places in so much room: place, line and text. Each is broken or shortened to its own part.
pub(super) fn named(places: &[(f64, &str)], room: f64) -> Vec<(f64, usize, String)> {
    let part = room / places.len().max(1) as f64 - GAP;
    let lines = |&(x, label): &(f64, &str)| {
        let mut lines = text::wrap(label, TICK, part);
        if lines.len() > LINES {
            let rest = lines.split_off(LINES - 1).join(" ");
            lines.push(text::shorten(&rest, TICK, part));
        }
        lines.into_iter().enumerate().map(move |(line, text)| (x, line, text)).collect::<Vec<_>>()
    };
    places.iter().flat_map(lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_would_touch_are_left_out_but_not_the_ends() {
        let places = [(0.0, "1,000"), (10.0, "2,000"), (60.0, "5,000"), (125.0, "9,000"), (130.0, "10,000")];
        let kept: Vec<String> = clear(&places).into_iter().map(|(_, _, label)| label).collect();
        assert_eq!(kept, ["1,000", "5,000", "10,000"]);
        assert!(clear(&[]).is_empty());
        assert_eq!(clear(&[(1.0, "one")]).len(), 1);
    }

    #[test]
    fn names_take_two_lines_at_most() {
        let set = named(&[(50.0, "one two three four five six"), (150.0, "b")], 120.0);
        assert_eq!(set.iter().map(|(_, line, _)| *line).collect::<Vec<_>>(), [0, 1, 0]);
        assert!(set[1].2.contains('…'));
    }
}
