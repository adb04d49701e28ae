//! Metrics as people read them: a title, a unit of a handy size, and which way is better.

use cwnd_metrics::{self, Better};
use cwnd_plot::number::{si_prefix, thousands};
use cwnd_study::{Formula, Study};

/// The ratios of a part to its whole, which are shown in per cent. The other metrics without a unit are indices and
/// counts.
const SHARES: [&str; 17] = [
    "breaker_share",
    "utilisation",
    "loss_ratio",
    "drop_ratio",
    "unreceived_ratio",
    "delivery_ratio",
    "mark_ratio",
    "retransmission_ratio",
    "completion_ratio",
    "missed_deadline_ratio",
    "relative_gain",
    "bandwidth_stolen_rate",
    "harm",
    "harm_of_less",
    "emulation_rate_error",
    "cpu_steal",
    "valid",
];

/// The range of what has none.
const EVERYTHING: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// A metric, as figures and tables show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// What it is called, such as `throughput`.
    pub title: String,
    /// How it is defined, if that is known.
    pub formula: Option<String>,
    /// Which way is better.
    pub better: Better,
    /// The least and the greatest value that it can have, in its own unit; either may be infinite.
    pub range: (f64, f64),
    unit: Unit,
}

#[derive(Clone, Debug, PartialEq)]
enum Unit {
    /// A part of a whole, shown in per cent.
    Share,
    /// A unit that takes SI prefixes: bit/s, s.
    Si(String),
    /// Any other, or none.
    Plain(String),
}

/// A unit of a handy size: what a value is multiplied by, and what it is then called.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// Values are multiplied by this.
    pub factor: f64,
    /// The unit, with its prefix; empty if there is none.
    pub unit: String,
}

impl Unit {
    /// Returns the unit of two values of this unit as a formula makes them one.
    fn compared(self, formula: Formula) -> Unit {
        match formula {
            Formula::Loss | Formula::Gain => Unit::Share,
            Formula::Ratio => Unit::Plain(String::new()),
            Formula::Difference => self,
        }
    }
}

impl Measure {
    /// Returns the same metric compared between two runs.
    pub fn compared(self, formula: Formula) -> Measure {
        Measure { unit: self.unit.compared(formula), ..self }
    }

    /// The metric of this name. One that nobody knows is shown by its name, without a unit.
    pub fn of(name: &str) -> Measure {
        let Some(metric) = cwnd_metrics::find(name) else {
            return Measure::plain(&name.replace('_', " "), "");
        };
        // `flow2.throughput_bps`, `elastic.throughput_bps`, `bottleneck.mean_packets`: of what it is.
        let of = name.rsplit_once('.').map(|(of, _)| match of.strip_prefix("flow") {
            Some(number) if number.parse::<u32>().is_ok() => format!(", flow {number}"),
            _ => match of {
                "short" => ", short flows".to_owned(),
                "short-small" => ", short flows under 100 KB".to_owned(),
                of => match cwnd_metrics::SIZE_CLASSES.iter().find(|(class, _)| *class == of) {
                    Some((_, words)) => format!(", short flows {words}"),
                    None => format!(", {of}"),
                },
            },
        });
        let unit = match metric.unit {
            "" if SHARES.contains(&metric.name) => Unit::Share,
            "bit/s" | "s" => Unit::Si(metric.unit.into()),
            unit => Unit::Plain(unit.into()),
        };
        Measure {
            title: format!("{}{}", metric.title, of.unwrap_or_default()),
            formula: Some(metric.formula.to_owned()).filter(|formula| !formula.is_empty()),
            better: metric.better,
            range: (metric.range.least, metric.range.most),
            unit,
        }
    }

    /// The metric of this name, which the study may have derived.
    pub fn of_study(study: &Study, name: &str) -> Measure {
        let Some(derived) = study.derived(name) else { return Measure::of(name) };
        let of = Measure::of(&derived.metric);
        let opposite = match of.better {
            Better::More => Better::Less,
            Better::Less => Better::More,
            Better::Neither => Better::Neither,
        };
        let better = if derived.formula == Formula::Loss { opposite } else { of.better };
        let unit = of.unit.compared(derived.formula);
        let formula = format!(
            "{}, of {}; the reference is {}, with the same seed",
            derived.formula.written(),
            small(&of.title),
            derived.reference
        );
        // Of values that are not negative a ratio is not either, and a gain is at least -1.
        let range = match derived.formula {
            _ if of.range.0 < 0.0 => EVERYTHING,
            Formula::Loss => (f64::NEG_INFINITY, 1.0),
            Formula::Gain => (-1.0, f64::INFINITY),
            Formula::Ratio => (0.0, f64::INFINITY),
            Formula::Difference => EVERYTHING,
        };
        Measure { title: derived.title.clone(), formula: Some(formula), better, range, unit }
    }

    /// A quantity in a unit without prefixes.
    pub fn plain(title: &str, unit: &str) -> Measure {
        Measure {
            title: title.into(),
            formula: None,
            better: Better::Neither,
            range: EVERYTHING,
            unit: Unit::Plain(unit.into()),
        }
    }

    /// A quantity in a unit that takes SI prefixes.
    pub fn si(title: &str, unit: &str) -> Measure {
        Measure { unit: Unit::Si(unit.into()), ..Measure::plain(title, "") }
    }

    /// The same, of values from `least` to `most`.
    pub fn within(self, least: f64, most: f64) -> Measure {
        Measure { range: (least, most), ..self }
    }

    /// The unit in which values of up to this size are shown.
    pub fn shown(&self, greatest: f64) -> Shown {
        match &self.unit {
            Unit::Share => Shown { factor: 100.0, unit: "%".into() },
            Unit::Plain(unit) => Shown { factor: 1.0, unit: unit.clone() },
            Unit::Si(unit) if greatest > 0.0 && greatest.is_finite() => {
                let (scale, prefix) = si_prefix(greatest);
                Shown { factor: 1.0 / scale, unit: format!("{prefix}{unit}") }
            }
            Unit::Si(unit) => Shown { factor: 1.0, unit: unit.clone() },
        }
    }
}

impl Measure {
    /// The unit in which a value is multiplied by `factor`, as a publication prints it: Mbit/s for 1e-6, % for 100. None
    /// if it has no name.
    pub fn multiplied(&self, factor: f64) -> Option<Shown> {
        let unit = match &self.unit {
            _ if factor == 1.0 => self.own_unit().to_owned(),
            Unit::Share if factor == 100.0 => "%".to_owned(),
            Unit::Si(unit) => {
                let (scale, prefix) = si_prefix(1.0 / factor);
                let is_prefix = (scale * factor - 1.0).abs() < 1e-9;
                is_prefix.then(|| format!("{prefix}{unit}"))?
            }
            Unit::Share | Unit::Plain(_) => return None,
        };
        Some(Shown { factor, unit })
    }

    /// The unit of its values as they are.
    fn own_unit(&self) -> &str {
        match &self.unit {
            Unit::Share => "",
            Unit::Si(unit) | Unit::Plain(unit) => unit,
        }
    }

    /// Its title at the beginning of a label. A name that is written small (`cwnd`) stays so.
    pub fn heading(&self) -> String {
        match self.title.as_str() {
            "cwnd" | "ssthresh" => self.title.clone(),
            title => capital(title),
        }
    }
}

/// A text with its first letter large.
pub fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or(String::new(), |first| first.to_uppercase().chain(characters).collect())
}

/// A text with its first letter small, unless more letters of its first word are large (`PER`, `RTT`).
pub fn small(text: &str) -> String {
    let word = text.split_whitespace().next().unwrap_or_default();
    let mut characters = text.chars();
    match characters.next() {
        Some(first) if !word.chars().skip(1).any(char::is_uppercase) => {
            first.to_lowercase().chain(characters).collect()
        }
        _ => text.to_owned(),
    }
}

impl Shown {
    /// The unit that suits some values: by the greatest of them.
    pub fn of(measure: &Measure, values: impl IntoIterator<Item = f64>) -> Shown {
        let sizes = values.into_iter().map(f64::abs).filter(|v| v.is_finite());
        measure.shown(sizes.fold(0.0, f64::max))
    }
}

/// So many decimals that the last digit of a value with this interval means something: two digits of the interval
/// where it begins with 1 or 2, else one. Without an interval, four digits of the value.
pub fn decimals(value: f64, half: Option<f64>) -> usize {
    let digits = |v: f64, count: i32| (count - 1 - v.abs().log10().floor() as i32).clamp(0, 9) as usize;
    match half.filter(|half| half.is_finite() && *half > 0.0) {
        Some(half) => {
            let first = half / 10f64.powi(half.log10().floor() as i32);
            digits(half, if first < 2.95 { 2 } else { 1 })
        }
        None if value == 0.0 || !value.is_finite() || value.fract() == 0.0 => 0,
        None => {
            let most = digits(value, 4);
            let text = format!("{value:.most$}");
            let short =
                if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
            short.find('.').map_or(0, |point| short.len() - point - 1)
        }
    }
}

/// A number with separators and a true minus sign.
pub fn number(value: f64, decimals: usize) -> String {
    thousands(value, decimals).replace('-', "\u{2212}")
}

/// Half of an interval with the decimals of its mean; nothing at all is 0 without decimals.
pub fn half_text(half: f64, decimals: usize) -> String {
    number(half, if half == 0.0 { 0 } else { decimals })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_follow_the_interval() {
        let vectors = [
            (513.72, Some(161.9), 0),
            (941.234, Some(0.31), 1),
            (941.234, Some(0.0123), 3),
            (0.99871, Some(0.00035), 4),
            (941.234, None, 1),
            (941.0, None, 0),
            (0.5, None, 1),
            (0.25, Some(0.0), 2),
            (0.0, None, 0),
            (12_345.678, None, 0),
            (f64::NAN, Some(f64::NAN), 0),
        ];
        for (value, half, expected) in vectors {
            assert_eq!(decimals(value, half), expected, "{value} ± {half:?}");
        }
    }

    #[test]
    fn units_have_a_handy_size() {
        let shown = |name: &str, greatest| Measure::of(name).shown(greatest);
        assert_eq!(shown("throughput_bps", 941e6), Shown { factor: 1e-6, unit: "Mbit/s".into() });
        assert_eq!(shown("rtt_mean_s", 0.2).unit, "ms");
        assert_eq!(shown("loss_ratio", 0.001), Shown { factor: 100.0, unit: "%".into() });
        assert_eq!(shown("rtt_mean_s", 0.0).factor, 1.0);
        assert_eq!(shown("throughput_ratio", 3.0), Shown { factor: 1.0, unit: String::new() });
    }

    #[test]
    fn every_share_is_a_metric() {
        for name in SHARES {
            assert!(
                cwnd_metrics::all().any(|metric| metric.name == name && metric.unit.is_empty()),
                "{name}"
            );
        }
    }

    #[test]
    fn a_metric_is_named_after_what_it_is_of() {
        let title = |name: &str| Measure::of(name).title;
        assert_eq!(title("throughput_bps"), "Throughput");
        assert_eq!(title("flow2.throughput_bps"), "Throughput, flow 2");
        assert_eq!(title("elastic.throughput_bps"), "Throughput, elastic");
        assert_eq!(title("no_such_thing"), "no such thing");
    }

    #[test]
    fn numbers_have_signs_and_words_have_letters() {
        assert_eq!([small("Buffer size"), small("PER"), small("")], ["buffer size", "PER", ""]);
        assert_eq!(number(-1234.5, 1), "\u{2212}1,234.5");
    }
}
