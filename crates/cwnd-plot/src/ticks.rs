//! The positions of an axis's ticks, and their labels.

use crate::number::{si_prefix, thousands};

/// Format of the tick labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// `31,000`.
    Thousands,
    /// `31 k`.
    Si,
}

/// The ticks of an axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ticks {
    /// Ticks with a label.
    pub major: Vec<(f64, String)>,
    /// Ticks without one.
    pub minor: Vec<f64>,
}

/// The distance of ticks on a linear axis: 1, 2 or 5 times a power of ten.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    digit: f64,
    exponent: i32,
}

impl Step {
    /// The least step that divides `span` into at most `most` parts; whole numbers only, if asked for.
    pub fn new(span: f64, most: usize, whole: bool) -> Step {
        let least = span / most as f64 * (1.0 - 1e-9);
        let near = least.log10().floor();
        let near = if near.is_finite() { near as i32 } else { 0 };
        let steps =
            (near - 1..=near + 1).flat_map(|exponent| [1.0, 2.0, 5.0].map(|digit| Step { digit, exponent }));
        let fits = |step: &Step| step.size() >= least && !(whole && step.exponent < 0);
        let coarsest = Step { digit: 1.0, exponent: if whole { 0 } else { near + 2 } };
        steps.into_iter().find(fits).unwrap_or(coarsest)
    }

    pub fn size(self) -> f64 {
        self.times(1.0)
    }

    /// A multiple of the step, the nearest number to its decimal notation (three steps of 0.1 are 0.3).
    fn times(self, count: f64) -> f64 {
        match self.exponent {
            0.. => count * self.digit * power_of_ten(self.exponent),
            _ => count * self.digit / power_of_ten(-self.exponent),
        }
    }

    /// The greatest multiple at or under a value.
    pub fn below(self, value: f64) -> f64 {
        self.times((value / self.size() + 1e-9).floor())
    }

    /// The least multiple at or over a value.
    pub fn above(self, value: f64) -> f64 {
        self.times((value / self.size() - 1e-9).ceil())
    }
}

/// The ticks of a linear axis.
pub(crate) fn linear(from: f64, to: f64, step: Step, numbers: Numbers) -> Ticks {
    let first = (from / step.size() - 1e-9).ceil();
    let last = (to / step.size() + 1e-9).floor();
    // A span that is so small compared with its values that steps vanish in rounding has only a tick at its beginning.
    let count = if last - first <= 1000.0 { (last - first) as i64 } else { 0 };
    let values = (0..=count).map(|i| step.times(first + i as f64));
    let values: Vec<f64> = values.collect();
    let form = Form::new(&values, (-step.exponent).max(0) as usize, numbers);
    Ticks { major: values.into_iter().map(|v| (v, form.label(v))).collect(), minor: Vec::new() }
}

/// The ticks of a logarithmic axis: powers of ten, with 2 and 5 times these where the axis is short.
pub(crate) fn logarithmic(from: f64, to: f64, most: usize, numbers: Numbers) -> Ticks {
    let exponents = from.log10().floor() as i32..=to.log10().ceil() as i32;
    let inside = |v: &f64| *v >= from * (1.0 - 1e-9) && *v <= to * (1.0 + 1e-9);
    let multiples = |digits: &'static [f64]| {
        let all = exponents.clone().flat_map(move |e| digits.iter().map(move |d| times_power(*d, e)));
        all.filter(inside).collect::<Vec<f64>>()
    };
    let decades = multiples(&[1.0]);
    let fine = multiples(&[1.0, 2.0, 5.0]);
    let minor = multiples(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    let (major, minor) = if fine.len() <= most {
        (fine, minor)
    } else if decades.len() <= most {
        (decades, minor)
    } else {
        let every = decades.len().div_ceil(most.max(1));
        (decades.iter().copied().step_by(every).collect(), decades)
    };
    let minor = minor.into_iter().filter(|v| !major.contains(v)).collect();
    Ticks { major: major.into_iter().map(|v| (v, exact_label(v, numbers))).collect(), minor }
}

/// Ticks at chosen places.
pub(crate) fn at(values: &[f64], numbers: Numbers) -> Ticks {
    Ticks { major: values.iter().map(|&v| (v, exact_label(v, numbers))).collect(), minor: Vec::new() }
}

/// 1, 2 or 5 times a power of ten, next to a positive value: at or under it, or at or over it.
pub(crate) fn round_log(value: f64, up: bool) -> f64 {
    let near = value.log10().floor() as i32;
    let steps = (near - 1..=near + 1).flat_map(|e| [1.0, 2.0, 5.0].map(|digit| times_power(digit, e)));
    let (below, above) = (value * (1.0 + 1e-9), value * (1.0 - 1e-9));
    match up {
        true => steps.into_iter().find(|&v| v >= above),
        false => steps.rev().find(|&v| v <= below),
    }
    .unwrap_or(value)
}

/// The label of a value with as many decimals as it has.
fn exact_label(value: f64, numbers: Numbers) -> String {
    let text = value.to_string();
    let decimals = text.find('.').map_or(0, |point| text.len() - point - 1);
    Form::new(&[value], decimals, numbers).label(value)
}

/// From here on a value with more than three decimals is written out: `0.0125`, and not `1.25·10⁻²`.
const SMALL: f64 = 1e-3;
/// From here on a value is written with a power of ten.
const LARGE: f64 = 1e9;

/// The form in which all labels of an axis are written.
enum Form {
    /// With this number of decimals.
    Plain(usize),
    /// With an SI prefix each, and this number of decimals of the unit without one.
    Si(usize),
    /// With a power of ten.
    Scientific,
}

impl Form {
    /// The form of some values with this number of decimals.
    fn new(values: &[f64], decimals: usize, numbers: Numbers) -> Form {
        let greatest = values.iter().fold(0.0f64, |most, v| most.max(v.abs()));
        match numbers {
            Numbers::Si => Form::Si(decimals),
            Numbers::Thousands if greatest >= LARGE || (decimals > 3 && greatest < SMALL) => Form::Scientific,
            Numbers::Thousands => Form::Plain(decimals),
        }
    }

    fn label(&self, value: f64) -> String {
        match self {
            _ if value == 0.0 => "0".into(),
            Form::Scientific => scientific(value),
            Form::Plain(decimals) => thousands(value, *decimals),
            Form::Si(decimals) => {
                let (scale, prefix) = si_prefix(value);
                // As many digits as tell neighbours apart, and at least three.
                let digits = (*decimals as i32 + scale.log10().round() as i32).clamp(3, 15) as usize;
                let digits = format!("{:.digits$}", value / scale);
                let digits = digits.trim_end_matches('0').trim_end_matches('.');
                if prefix.is_empty() { digits.into() } else { format!("{digits} {prefix}") }
            }
        }
    }
}

/// `2·10⁻⁵`, or `10⁻⁵` where the factor is one.
pub fn scientific(value: f64) -> String {
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let raised = |c: char| match c {
        '-' => '⁻',
        '0'..='9' => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][c as usize - '0' as usize],
        c => c,
    };
    let power: String = exponent.chars().map(raised).collect();
    match digits {
        "1" => format!("10{power}"),
        "-1" => format!("-10{power}"),
        _ => format!("{digits}·10{power}"),
    }
}

fn times_power(digit: f64, exponent: i32) -> f64 {
    Step { digit, exponent }.size()
}

/// The number nearest to a power of ten; `powi` need not give the same bits everywhere.
fn power_of_ten(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().expect("a number")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &Ticks) -> Vec<&str> {
        ticks.major.iter().map(|(_, label)| label.as_str()).collect()
    }

    fn linear_labels(from: f64, to: f64, most: usize, numbers: Numbers) -> Vec<String> {
        let ticks = linear(from, to, Step::new(to - from, most, false), numbers);
        labels(&ticks).into_iter().map(String::from).collect()
    }

    #[test]
    fn linear_ticks_are_round() {
        let plain = |from, to, most| linear_labels(from, to, most, Numbers::Thousands).join(" ");
        assert_eq!(plain(0.0, 100.0, 10), "0 10 20 30 40 50 60 70 80 90 100");
        assert_eq!(plain(0.0, 31_000.0, 5), "0 10,000 20,000 30,000");
        assert_eq!(plain(0.0, 1.0, 4), "0 0.5 1.0");
        assert_eq!(plain(0.0, 0.3, 3), "0 0.1 0.2 0.3");
        assert_eq!(plain(-1.5, 1.5, 6), "-1.5 -1.0 -0.5 0 0.5 1.0 1.5");
        assert_eq!(plain(999.0, 1001.0, 4), "999.0 999.5 1,000.0 1,000.5 1,001.0");
        assert_eq!(plain(0.0, 4e-5, 4), "0 10⁻⁵ 2·10⁻⁵ 3·10⁻⁵ 4·10⁻⁵");
        assert_eq!(plain(0.0, 4e9, 2), "0 2·10⁹ 4·10⁹");
    }

    #[test]
    fn values_that_differ_in_late_digits_are_written_out() {
        let plain = |from, to, most| linear_labels(from, to, most, Numbers::Thousands).join(" ");
        assert_eq!(plain(0.99998, 1.0, 2), "0.99998 0.99999 1.00000");
        assert_eq!(plain(0.0, 0.002, 4), "0 0.0005 0.0010 0.0015 0.0020");
        let exact = |values: &[f64]| labels(&at(values, Numbers::Thousands)).join(" ");
        assert_eq!(exact(&[1e-5, 0.0125, 0.99998]), "10⁻⁵ 0.0125 0.99998");
        let si = linear_labels(1_000_000_000.0, 1_000_000_200.0, 2, Numbers::Si).join(" ");
        assert_eq!(si, "1 G 1.0000001 G 1.0000002 G");
    }

    #[test]
    fn si_prefixes_make_long_numbers_short() {
        assert_eq!(linear_labels(0.0, 1.5e9, 3, Numbers::Si).join(" "), "0 500 M 1 G 1.5 G");
        assert_eq!(linear_labels(0.0, 0.2, 4, Numbers::Si).join(" "), "0 50 m 100 m 150 m 200 m");
    }

    #[test]
    fn whole_steps_stay_whole() {
        assert_eq!(Step::new(2.0, 10, true).size(), 1.0);
        assert_eq!(Step::new(25.0, 4, true).size(), 10.0);
    }

    #[test]
    fn logarithmic_ticks_are_decades_or_finer() {
        let plain = |from, to| logarithmic(from, to, 8, Numbers::Thousands);
        assert_eq!(labels(&plain(5.0, 500.0)).join(" "), "5 10 20 50 100 200 500");
        let errors = plain(1e-7, 1e-1);
        assert_eq!(labels(&errors).join(" "), "10⁻⁷ 10⁻⁶ 10⁻⁵ 10⁻⁴ 0.001 0.01 0.1");
        assert_eq!(errors.minor.len(), 6 * 8);
        assert_eq!(labels(&plain(1.0, 1e12)).join(" "), "1 100 10,000 1,000,000 100,000,000 10¹⁰ 10¹²");
    }

    #[test]
    fn ends_of_logarithmic_axes_are_round() {
        let vectors = [(3.0, 2.0, 5.0), (5.0, 5.0, 5.0), (0.0011, 0.001, 0.002), (7e8, 5e8, 1e9)];
        for (value, below, above) in vectors {
            assert_eq!([round_log(value, false), round_log(value, true)], [below, above]);
        }
    }

    #[test]
    fn strange_spans_end() {
        for (from, to) in
            [(0.0, 0.0), (1e300, 1.0000001e300), (0.0, 5e-324), (-1e308, 1e308), (1e16, 1e16 + 2.0)]
        {
            let ticks = linear(from, to, Step::new(to - from, 5, false), Numbers::Thousands);
            assert!(ticks.major.len() <= 12, "{from} {to}: {ticks:?}");
        }
    }
}
