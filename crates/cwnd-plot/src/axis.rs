//! Axes: mapping of values to positions.

use super::ticks::{self, Numbers, Step, Ticks};

/// An axis of a panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The quantity with its unit: `time (s)`.
    pub label: String,
    /// Mapping of values to positions.
    pub scale: Scale,
    /// Format of the tick labels.
    pub numbers: Numbers,
    /// Its beginning; from the data if not given.
    pub from: Option<f64>,
    /// Its end; from the data if not given.
    pub to: Option<f64>,
    /// Ends where the data end, or at a tick that is all but there; otherwise a little farther, or at the
    /// next tick if that is near.
    pub tight: bool,
    /// Ticks at whole numbers only.
    pub whole: bool,
    /// Ticks at these places, instead of round ones.
    pub ticks: Option<Vec<f64>>,
    /// Ticks at these places with these labels, instead of numbers.
    pub labels: Option<Vec<(f64, String)>>,
    /// Whether it is a row of places with names and not a quantity: no ticks, no grid, and a label may take
    /// two lines, or is turned where labels have no room side by side.
    pub named: bool,
    /// The values that the quantity can have: an end that is taken from the data lies within.
    pub within: Option<(f64, f64)>,
    /// Where the axis is broken, because what lies before does not belong to its scale.
    pub broken_at: Option<f64>,
    /// Whether values grow towards its beginning, as where less is better and the best stands at the end.
    pub reversed: bool,
}

/// Mapping of values to positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Linear.
    Linear,
    /// Logarithmic; values that are not positive have no position.
    Log,
}

impl Axis {
    /// A linear axis; no parentheses after the label if there is no unit.
    pub fn linear(quantity: &str, unit: &str) -> Axis {
        let label = if unit.is_empty() { quantity.into() } else { format!("{quantity} ({unit})") };
        Axis {
            label,
            scale: Scale::Linear,
            numbers: Numbers::Thousands,
            from: None,
            to: None,
            tight: false,
            whole: false,
            ticks: None,
            labels: None,
            named: false,
            within: None,
            broken_at: None,
            reversed: false,
        }
    }

    /// Places with names, at 0, 1, 2 and so on.
    pub fn named<S: Into<String>>(title: &str, names: impl IntoIterator<Item = S>) -> Axis {
        let labels: Vec<(f64, String)> =
            (0..).map(f64::from).zip(names.into_iter().map(Into::into)).collect();
        let end = labels.len().max(1) as f64 - 0.5;
        Axis { labels: Some(labels), named: true, ..Axis::linear(title, "").from(-0.5).to(end) }
    }

    /// A logarithmic axis. Where the data are not all positive, give its beginning ([`Axis::from`]): it
    /// cannot be read from them, and is taken as a thousandth of the end.
    pub fn log(quantity: &str, unit: &str) -> Axis {
        Axis { scale: Scale::Log, ..Axis::linear(quantity, unit) }
    }

    /// The same with a fixed beginning.
    pub fn from(self, from: f64) -> Axis {
        Axis { from: Some(from), ..self }
    }

    /// The same with a fixed end.
    pub fn to(self, to: f64) -> Axis {
        Axis { to: Some(to), ..self }
    }

    /// The same, ending where the data end.
    pub fn tight(self) -> Axis {
        Axis { tight: true, ..self }
    }

    /// The same, of a quantity that has no values outside a range: neither end goes beyond it to be round. Either end of the
    /// range may be infinite.
    pub fn within(self, least: f64, most: f64) -> Axis {
        Axis { within: Some((least, most)), ..self }
    }

    /// The same with values that grow towards its beginning.
    pub fn reversed(self) -> Axis {
        Axis { reversed: true, ..self }
    }

    /// The same with ticks at whole numbers only.
    pub fn whole(self) -> Axis {
        Axis { whole: true, ..self }
    }

    /// The same with ticks written with SI prefixes.
    pub fn si(self) -> Axis {
        Axis { numbers: Numbers::Si, ..self }
    }

    /// The same with ticks at these places.
    pub fn ticks_at(self, places: &[f64]) -> Axis {
        Axis { ticks: Some(places.to_vec()), ..self }
    }

    /// The same with ticks that are labelled so.
    pub fn labelled(self, labels: Vec<(f64, String)>) -> Axis {
        Axis { labels: Some(labels), ..self }
    }

    /// The range that shows data between two values (if there are any), with at most the given number of parts between labels.
    pub(crate) fn fit(&self, data: Option<(f64, f64)>, most: usize) -> Fitted {
        let (mut from, mut to) = data.unwrap_or(match self.scale {
            Scale::Linear => (0.0, 1.0),
            Scale::Log => (1.0, 10.0),
        });
        from = self.from.unwrap_or(from);
        to = self.to.unwrap_or(to);
        let (least, most_of_all) = self.within.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        let ticks = match self.scale {
            Scale::Linear => {
                if to - from < LEAST {
                    let room = if from.abs() < LEAST { 1.0 } else { from.abs() };
                    // A quantity that is at its greatest value has room below.
                    let is_greatest = from >= most_of_all && self.from.is_none();
                    (from, to) = if is_greatest { (from - room, from) } else { (from, from + room) };
                }
                let step = Step::new(to - from, most, self.whole);
                let (near, room) = if self.tight { (0.01, 0.0) } else { (0.1, 0.04) };
                let ease = |end: f64, tick: f64| ease(end, tick, near * (to - from), room * (to - from));
                (from, to) = (
                    self.from.unwrap_or_else(|| ease(from, step.below(from)).max(least.min(from))),
                    self.to.unwrap_or_else(|| ease(to, step.above(to)).min(most_of_all.max(to))),
                );
                ticks::linear(from, to, step, self.numbers)
            }
            Scale::Log => {
                to = if to > LEAST { to } else { 10.0 };
                from = if from > LEAST { from } else { to / 1_000.0 };
                if to <= from {
                    (from, to) = (from / 2.0, from * 2.0);
                }
                if !self.tight {
                    from = self.from.unwrap_or(ticks::round_log(from, false));
                    to = self.to.unwrap_or(ticks::round_log(to, true).min(most_of_all.max(to)));
                }
                ticks::logarithmic(from, to, most, self.numbers)
            }
        };
        let ticks = self.ticks.as_ref().map_or(ticks, |places| ticks::at(places, self.numbers));
        let labelled = |labels: &Vec<(f64, String)>| Ticks { major: labels.clone(), minor: Vec::new() };
        let ticks = self.labels.as_ref().map_or(ticks, labelled);
        Fitted { scale: self.scale, reversed: self.reversed, from, to, ticks }
    }
}

/// What is smaller is nothing: a range of it would not bear to be divided.
const LEAST: f64 = 1e-290;

/// The end of an axis: the tick if it is near the end of the data, or else so much room beyond the data.
fn ease(data: f64, tick: f64, near: f64, room: f64) -> f64 {
    let distance = tick - data;
    if distance.abs() <= near { tick } else { data + distance.signum() * room }
}

/// An axis whose range is known.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    scale: Scale,
    reversed: bool,
    from: f64,
    to: f64,
    pub ticks: Ticks,
}

impl Fitted {
    /// The place of a value between `start` and `end`; not finite if it has none.
    pub fn place(&self, value: f64, start: f64, end: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.from) / (self.to - self.from),
            Scale::Log if value > 0.0 => (value / self.from).ln() / (self.to / self.from).ln(),
            Scale::Log => f64::NAN,
        };
        let share = if self.reversed { 1.0 - share } else { share };
        start + share * (end - start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(axis: &Axis, data: (f64, f64)) -> (f64, f64) {
        let fitted = axis.fit(Some(data), 5);
        (fitted.from, fitted.to)
    }

    #[test]
    fn a_range_ends_at_ticks_unless_it_is_tight_or_fixed() {
        let axis = Axis::linear("cwnd", "packets");
        assert_eq!(axis.label, "cwnd (packets)");
        assert_eq!(range(&axis, (1_200.0, 39_000.0)), (0.0, 40_000.0));
        assert_eq!(range(&axis, (0.0, 31_000.0)), (0.0, 31_000.0 + 0.04 * 31_000.0));
        assert_eq!(range(&axis.clone().tight(), (1_200.0, 31_000.0)), (1_200.0, 31_000.0));
        assert_eq!(range(&axis.clone().tight(), (0.0, 99.9)), (0.0, 100.0));
        assert_eq!(range(&axis.clone().from(0.0).to(100.0), (50.0, 60.0)), (0.0, 100.0));
        assert_eq!(range(&axis, (0.0, 0.0)), (0.0, 1.0));
        assert_eq!(range(&axis, (7.0, 7.0)), (6.72, 14.0));
        assert_eq!(range(&Axis::log("buffer", "packets"), (3.0, 700.0)), (2.0, 1_000.0));
    }

    #[test]
    fn no_end_goes_beyond_what_the_quantity_can_be() {
        let jain = Axis::linear("Jain's index", "").within(0.0, 1.0);
        assert_eq!(range(&jain, (0.0, 0.97)), (0.0, 1.0));
        assert_eq!(range(&jain, (0.62, 1.0)).1, 1.0);
        assert_eq!(range(&jain, (0.01, 0.5)).0, 0.0);
        assert_eq!(range(&jain, (1.0, 1.0)), (0.0, 1.0), "room below where there is none above");
        // Data outside the range is a fault of the range, and is not cut off.
        assert_eq!(range(&jain, (0.0, 1.2)).1, 1.2);
        let throughput = Axis::linear("Throughput", "Mbit/s").from(0.0).within(0.0, 1_000.0);
        assert_eq!(range(&throughput, (0.0, 990.0)), (0.0, 1_000.0));
        assert_eq!(range(&Axis::log("loss", "").within(0.0, 1.0), (0.001, 0.7)).1, 1.0);
    }

    #[test]
    fn a_range_of_next_to_nothing_is_still_one() {
        for data in [(0.0, 5e-324), (5e-324, 5e-324), (0.0, 0.0)] {
            for axis in [Axis::linear("y", ""), Axis::log("y", "")] {
                let fitted = axis.fit(Some(data), 5);
                assert!((fitted.to - fitted.from) > 1e-3, "{data:?}: {fitted:?}");
                assert!(!fitted.place(1.0, 0.0, 100.0).is_nan());
            }
        }
    }

    #[test]
    fn places() {
        let linear = Axis::linear("x", "").from(0.0).to(10.0).fit(None, 5);
        assert_eq!(linear.place(2.5, 100.0, 200.0), 125.0);
        let reversed = Axis::linear("x", "").from(0.0).to(10.0).reversed().fit(None, 5);
        assert_eq!(reversed.place(2.5, 100.0, 200.0), 175.0);
        let log = Axis::log("x", "").from(1.0).to(100.0).fit(None, 5);
        assert_eq!(log.place(10.0, 0.0, 100.0), 50.0);
        assert!(!log.place(0.0, 0.0, 100.0).is_finite());
    }
}
