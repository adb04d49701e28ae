//! `--for`: what algorithms are ranked by.

use cwnd_metrics::Better;
use std::{fmt, str::FromStr};

/// A quantity of a run that can be ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Throughput of the long flows.
    Throughput,
    /// 95th percentile of the smoothed RTT of the long flows.
    Rtt,
    /// 95th percentile of the completion time of the short flows.
    Completion,
}

impl Quantity {
    /// All of them, in the order of the weights.
    pub const ALL: [Quantity; 3] = [Quantity::Throughput, Quantity::Rtt, Quantity::Completion];

    /// Returns its name in `--for`.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Throughput => "throughput",
            Quantity::Rtt => "rtt",
            Quantity::Completion => "completion",
        }
    }

    /// Returns the metric of the study.
    pub fn metric(self) -> &'static str {
        match self {
            Quantity::Throughput => "own.throughput_bps",
            // Of all long flows, which are those of the candidate: short ones are not sampled. A run that is stored for two cells
            // has its samples under the group of one of them.
            Quantity::Rtt => "rtt_p95_s",
            Quantity::Completion => "short.completion_p95_s",
        }
    }

    /// Returns the unit that tables have, and how many of it are one of the metric's base unit.
    pub fn unit(self) -> (&'static str, f64) {
        match self {
            Quantity::Throughput => ("Mbit/s", 1e-6),
            Quantity::Rtt | Quantity::Completion => ("ms", 1e3),
        }
    }

    fn about(self) -> &'static str {
        match self {
            Quantity::Throughput => "throughput of the long flows",
            Quantity::Rtt => "95th percentile of the RTT of the long flows",
            Quantity::Completion => "95th percentile of the completion time of the short flows",
        }
    }
}

/// What algorithms are ranked by: a quantity, or throughput^a / (rtt^b x completion^c).
#[derive(Clone, Debug, PartialEq)]
pub struct Criterion {
    /// As it was written.
    text: String,
    weights: [f64; 3],
}

impl Criterion {
    /// Returns the only quantity that counts, if one does alone.
    pub fn single(&self) -> Option<Quantity> {
        let mut counted = self.counted();
        counted.next().filter(|_| counted.next().is_none())
    }

    /// Returns the quantities that count.
    pub fn counted(&self) -> impl Iterator<Item = Quantity> + '_ {
        Quantity::ALL
            .into_iter()
            .zip(&self.weights)
            .filter(|(_, weight)| **weight > 0.0)
            .map(|(quantity, _)| quantity)
    }

    /// Returns which way the value is better.
    pub fn better(&self) -> Better {
        match self.single() {
            Some(Quantity::Rtt | Quantity::Completion) => Better::Less,
            _ => Better::More,
        }
    }

    /// Returns the value of a run: the quantity itself in base units, or the weighted product of several in Mbit/s and ms.
    /// None if a quantity that counts was not measured or is 0 where it divides.
    pub fn value(&self, metric: impl Fn(Quantity) -> Option<f64>) -> Option<f64> {
        if let Some(quantity) = self.single() {
            return metric(quantity);
        }
        let mut value = 1.0;
        for (quantity, weight) in
            Quantity::ALL.into_iter().zip(&self.weights).filter(|(_, weight)| **weight > 0.0)
        {
            let sign = if quantity == Quantity::Throughput { 1.0 } else { -1.0 };
            value *= (metric(quantity)? * quantity.unit().1).powf(sign * weight);
        }
        Some(value).filter(|value| value.is_finite())
    }

    /// Returns what is ranked by, in words.
    pub fn about(&self) -> String {
        let way = if self.better() == Better::More { "more is better" } else { "less is better" };
        match self.single() {
            Some(quantity) => format!("{}, {way}", quantity.about()),
            None => {
                let factor = |(quantity, weight): (Quantity, &f64)| match *weight {
                    1.0 => quantity.name().to_owned(),
                    weight => format!("{}^{weight}", quantity.name()),
                };
                let of = |above: bool| -> Vec<String> {
                    let all =
                        Quantity::ALL.into_iter().zip(&self.weights).filter(|(_, weight)| **weight > 0.0);
                    all.filter(|(quantity, _)| (*quantity == Quantity::Throughput) == above)
                        .map(factor)
                        .collect()
                };
                let above = if of(true).is_empty() { "1".to_owned() } else { of(true).join(" x ") };
                let below = match of(false).as_slice() {
                    [one] => one.clone(),
                    many => format!("({})", many.join(" x ")),
                };
                format!("{above} / {below} in Mbit/s and ms, {way}")
            }
        }
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

const FORM: &str =
    "write `bulk`, `interactive`, `web`, `power`, or weights such as `throughput=2,rtt=1,completion=1`";

impl FromStr for Criterion {
    type Err = String;

    fn from_str(text: &str) -> Result<Criterion, String> {
        let text = text.trim();
        let of = |weights| Ok(Criterion { text: text.to_owned(), weights });
        match text {
            "bulk" => return of([1.0, 0.0, 0.0]),
            "interactive" => return of([0.0, 1.0, 0.0]),
            "web" => return of([0.0, 0.0, 1.0]),
            "power" => return of([1.0, 1.0, 0.0]),
            _ => {}
        }
        let mut weights = [None; 3];
        for piece in text.split(',') {
            let (name, weight) =
                piece.split_once('=').ok_or_else(|| format!("`{}` is none: {FORM}", piece.trim()))?;
            let (name, weight) = (name.trim(), weight.trim());
            let place = Quantity::ALL.iter().position(|quantity| quantity.name() == name);
            let place = place.ok_or_else(|| {
                let names = Quantity::ALL.map(Quantity::name).join(", ");
                format!("there is no quantity `{name}`: there are {names}")
            })?;
            let value = weight.parse().ok().filter(|weight| (0.0..=100.0).contains(weight));
            let value: f64 = value.ok_or_else(|| {
                format!("the weight of `{name}` is `{weight}`: it is a number from 0 to 100")
            })?;
            if weights[place].replace(value).is_some() {
                return Err(format!("`{name}` has two weights"));
            }
        }
        match weights.map(|weight| weight.unwrap_or(0.0)) {
            [0.0, 0.0, 0.0] => Err(format!("all weights are 0, so that nothing counts: {FORM}")),
            weights => of(weights),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn criterion(text: &str) -> Criterion {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    /// 50 Mbit/s, 20 ms and 400 ms.
    fn metric(quantity: Quantity) -> Option<f64> {
        Some(match quantity {
            Quantity::Throughput => 50e6,
            Quantity::Rtt => 0.02,
            Quantity::Completion => 0.4,
        })
    }

    #[test]
    fn one_quantity_is_ranked_by_itself() {
        for (text, value, better) in [
            ("bulk", 50e6, Better::More),
            ("interactive", 0.02, Better::Less),
            ("web", 0.4, Better::Less),
            ("rtt=3", 0.02, Better::Less),
        ] {
            let criterion = criterion(text);
            assert_eq!((criterion.value(metric), criterion.better()), (Some(value), better), "{text}");
        }
    }

    /// By hand: 50^2 / 20 = 125; 50 / 20 = 2.5; 1 / (20 x 400) = 0.000125.
    #[test]
    fn weights_are_exponents() {
        for (text, value, about) in [
            ("throughput=2,rtt=1", 125.0, "throughput^2 / rtt in Mbit/s and ms, more is better"),
            ("power", 2.5, "throughput / rtt in Mbit/s and ms, more is better"),
            ("rtt=1,completion=1", 1.25e-4, "1 / (rtt x completion) in Mbit/s and ms, more is better"),
        ] {
            let criterion = criterion(text);
            let found = criterion.value(metric).unwrap();
            assert!((found - value).abs() < 1e-12 * value, "{text}: {found}");
            assert_eq!((criterion.better(), criterion.about().as_str()), (Better::More, about));
        }
        // What was not measured cannot be ranked.
        assert_eq!(
            criterion("power").value(|quantity| metric(quantity).filter(|_| quantity != Quantity::Rtt)),
            None
        );
    }

    #[test]
    fn what_is_none_is_refused() {
        let refused = |text: &str| text.parse::<Criterion>().unwrap_err();
        assert!(refused("fast").starts_with("`fast` is none: write `bulk`"));
        assert_eq!(refused("delay=1"), "there is no quantity `delay`: there are throughput, rtt, completion");
        assert_eq!(refused("rtt=-1"), "the weight of `rtt` is `-1`: it is a number from 0 to 100");
        assert_eq!(refused("rtt=1,rtt=2"), "`rtt` has two weights");
        assert!(refused("rtt=0").starts_with("all weights are 0"));
    }
}
