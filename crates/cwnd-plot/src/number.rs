//! Formats of numbers.

const PREFIXES: [(f64, &str); 9] = [
    (1e12, "T"),
    (1e9, "G"),
    (1e6, "M"),
    (1e3, "k"),
    (1.0, ""),
    (1e-3, "m"),
    (1e-6, "µ"),
    (1e-9, "n"),
    (1e-12, "p"),
];

/// Three significant digits, an SI prefix and the unit: `941 Mbit/s`, `1.02 Gbit/s`, `12.0 ms`.
///
/// ```
/// use cwnd_plot::number::si;
/// assert_eq!(si(941_234_000.0, "bit/s"), "941 Mbit/s");
/// assert_eq!(si(0.012, "s"), "12.0 ms");
/// ```
pub fn si(value: f64, unit: &str) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value} {unit}");
    }
    let (scale, prefix) = si_prefix(value);
    let digits = value / scale;
    let decimals = match digits.abs() {
        d if d < 9.995 => 2,
        d if d < 99.95 => 1,
        _ => 0,
    };
    format!("{digits:.decimals$} {prefix}{unit}")
}

/// A number with thousands separators: `31,000`, `-1,234.50` with two decimals.
///
/// ```
/// use cwnd_plot::number::thousands;
/// assert_eq!(thousands(31_000.0, 0), "31,000");
/// ```
pub fn thousands(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    let nothing = text.bytes().all(|b| matches!(b, b'0' | b'.'));
    let mut out = String::from(if value < 0.0 && !nothing { "-" } else { "" });
    for (i, digit) in whole.char_indices() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out + fraction
}

/// The SI prefix that leaves one to three digits before the point, and its factor. A value that rounds to
/// 1,000 of a prefix takes the next one.
pub fn si_prefix(value: f64) -> (f64, &'static str) {
    let fits = |&&(scale, _): &&(f64, _)| value.abs() >= 0.9995 * scale;
    *PREFIXES.iter().find(fits).unwrap_or(&PREFIXES[PREFIXES.len() - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_a_prefix() {
        let vectors = [
            (1e9, "1.00 Gbit/s"),
            (999_400.0, "999 kbit/s"),
            (999_600.0, "1.00 Mbit/s"),
            (9_996.0, "10.0 kbit/s"),
            (99_960.0, "100 kbit/s"),
            (-2_500.0, "-2.50 kbit/s"),
            (0.0, "0 bit/s"),
            (0.000_204, "204 µbit/s"),
            (3e-14, "0.03 pbit/s"),
            (2.5e15, "2500 Tbit/s"),
        ];
        for (value, text) in vectors {
            assert_eq!(si(value, "bit/s"), text);
        }
    }

    #[test]
    fn separators_every_three_digits() {
        let vectors = [
            (0.0, 0, "0"),
            (999.0, 0, "999"),
            (1_000.0, 0, "1,000"),
            (1_234_567.891, 2, "1,234,567.89"),
            (-12_345.6, 1, "-12,345.6"),
            (-0.001, 1, "0.0"),
            (f64::INFINITY, 0, "inf"),
        ];
        for (value, decimals, text) in vectors {
            assert_eq!(thousands(value, decimals), text);
        }
    }
}
