//! Spot checks over a real kernel, for the page and the terminal.

use crate::ledger::{SpotCheck, SpotValue};
use cwnd_report::measure::{Measure, Shown as Scaled, decimals, number};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// A value of both engines as it is shown.
pub struct Shown {
    /// The unit, with a space before it; empty without one.
    pub unit: String,
    /// The simulator's value.
    pub sim: String,
    /// The kernel's value.
    pub kernel: String,
}

impl Shown {
    /// Scales a value to a unit of a handy size.
    pub fn of(value: &SpotValue) -> Shown {
        let scaled = Scaled::of(&Measure::of(&value.metric), value.sim.into_iter().chain(value.kernel));
        let text = |one: Option<f64>| {
            let one = one.map(|one| one * scaled.factor);
            one.map_or_else(|| "–".to_owned(), |one| number(one, decimals(one, None).min(4)))
        };
        let unit = if scaled.unit.is_empty() { String::new() } else { format!(" {}", scaled.unit) };
        Shown { unit, sim: text(value.sim), kernel: text(value.kernel) }
    }
}

/// Returns why cells are not possible over the kernel, with the number of checks.
pub fn not_possible(checks: &[SpotCheck]) -> BTreeMap<&str, usize> {
    let mut reasons = BTreeMap::new();
    for check in checks {
        if let Some(reason) = check.not_possible.first() {
            *reasons.entry(reason.as_str()).or_default() += 1;
        }
    }
    reasons
}

/// Writes the section of the page.
pub(crate) fn section(checks: &[SpotCheck]) -> Markup {
    html! {
        section id="spot" {
            h2 { "Spot checks over a real kernel" }
            p { "A tenth of the cells, with one seed: the simulator's value, and that of this host's kernel over an emulated network." }
            table.criteria {
                thead { tr {
                    th { "study" } th { "cell" } th { "algorithm" } th { "metric" } th { "simulator" } th { "kernel" } th { "" }
                } }
                tbody { @for check in checks { (rows(check)) } }
            }
        }
    }
}

fn rows(check: &SpotCheck) -> Markup {
    html! {
        @if check.not_possible.is_empty() {
            @for value in &check.values {
                @let shown = Shown::of(value);
                tr {
                    td { (check.study) } td { (check.cell) } td { (check.algorithm) }
                    td { code { (value.metric) } (shown.unit) }
                    td.number { (shown.sim) } td.number { (shown.kernel) }
                    td { @if !check.warnings.is_empty() { "not valid: " (check.warnings.join("; ")) } }
                }
            }
        } @else {
            tr {
                td { (check.study) } td { (check.cell) } td { (check.algorithm) }
                td.reason colspan="4" { "not possible over the kernel: " (check.not_possible.join("; ")) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_both_engines_have_one_unit() {
        let value = |metric: &str, sim, kernel| SpotValue { metric: metric.to_owned(), sim, kernel };
        let shown = Shown::of(&value("throughput_bps", Some(9.5e6), Some(9.25e6)));
        assert_eq!(
            (shown.unit.as_str(), shown.sim.as_str(), shown.kernel.as_str()),
            (" Mbit/s", "9.5", "9.25")
        );
        assert_eq!(Shown::of(&value("queueing_delay_mean_s", None, Some(0.02))).sim, "–");
    }
}
