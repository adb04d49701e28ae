//! Which labels of a horizontal axis are written, so that none touches another.

use super::layout::{NAME, TICK};
use super::text;
use std::collections::BTreeSet;

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

/// The labels of named places.
pub(super) struct Names {
    /// Place, line and text of each.
    pub labels: Vec<(f64, usize, String)>,
    /// Whether they are turned, because they have no room side by side. All are then in the first line.
    pub upright: bool,
    /// The height that they take below the axis.
    pub height: f64,
}

/// The labels of named places in so much room. Each is broken at spaces to its own part; where that is not enough, all are
/// turned, since a shortened name could be any. Only very long names are shortened.
pub(super) fn named(places: &[(f64, &str)], room: f64) -> Names {
    let part = room / places.len().max(1) as f64 - GAP;
    if part < NAME && !places.iter().all(|(_, label)| fits(label, part)) {
        let labels: Vec<_> = places.iter().zip(upright(places)).map(|(&(x, _), text)| (x, 0, text)).collect();
        let height = labels.iter().map(|(.., text)| text::width(text, TICK)).fold(0.0, f64::max);
        return Names { labels, upright: true, height };
    }
    let lines = |&(x, label): &(f64, &str)| {
        let mut lines = text::wrap(label, TICK, part);
        if lines.len() > LINES {
            let rest = lines.split_off(LINES - 1).join(" ");
            lines.push(text::shorten(&rest, TICK, part));
        }
        lines.into_iter().enumerate().map(move |(line, text)| (x, line, text)).collect::<Vec<_>>()
    };
    let labels: Vec<_> = places.iter().flat_map(lines).collect();
    let lines = labels.iter().map(|(_, line, _)| line + 1).max().unwrap_or(1);
    Names { labels, upright: false, height: 1.15 * TICK * lines as f64 }
}

/// Whether a name has room next to others without being shortened.
fn fits(label: &str, part: f64) -> bool {
    let words = label.split_whitespace().all(|word| text::width(word, TICK) <= part);
    words && text::wrap(label, TICK, part).len() <= LINES
}

/// The texts of turned names: as long as names at a vertical axis, or longer where two would be equal otherwise.
fn upright(places: &[(f64, &str)]) -> Vec<String> {
    let of_length = |length: f64| -> Vec<String> {
        places.iter().map(|(_, label)| text::shorten(label, TICK, length)).collect()
    };
    let are_distinct = |texts: &Vec<String>| texts.iter().collect::<BTreeSet<_>>().len() == texts.len();
    let lengths = [1.0, 1.5, 2.0].map(|times| times * NAME);
    lengths.into_iter().map(of_length).find(are_distinct).unwrap_or_else(|| of_length(f64::INFINITY))
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
        let set = named(&[(50.0, "one two"), (150.0, "b")], 60.0);
        assert_eq!(set.labels.iter().map(|(_, line, _)| *line).collect::<Vec<_>>(), [0, 1, 0]);
        assert!(!set.upright && set.height == 2.0 * 1.15 * TICK);
        let long = "a title of many words, which are too many for the room that there is for two lines";
        let set = named(&[(100.0, long), (300.0, "b")], 400.0);
        assert!(!set.upright && set.labels[1].2.contains('…'));
    }

    #[test]
    fn names_without_room_are_turned_and_not_shortened() {
        let places = [(20.0, "cubic"), (40.0, "newreno"), (60.0, "agile-sd:lambda_max=4")];
        let set = named(&places, 60.0);
        let texts: Vec<&str> = set.labels.iter().map(|(.., text)| text.as_str()).collect();
        assert_eq!(texts, ["cubic", "newreno", "agile-sd:lambda_max=4"]);
        assert!(set.upright && set.height >= text::width("agile-sd:lambda_max=4", TICK));
    }

    #[test]
    fn turned_names_that_are_shortened_stay_different() {
        let long = |middle: &str| format!("an-algorithm-with-{middle}-and-more-parameters");
        let (a, b) = (long("one"), long("two"));
        let set = named(&[(20.0, &a), (40.0, &b)], 60.0);
        assert_ne!(set.labels[0].2, set.labels[1].2);
        let set = named(&[(20.0, &a), (40.0, "cubic")], 60.0);
        assert!(set.labels[0].2.contains('…') && set.height <= NAME);
    }
}
