//! A found path as a study file.

use crate::{
    arena::{Arena, Pair, SEEDS, sample},
    path::Path,
};
use cwnd_scenario::notation::toml_string;
use std::fmt::Write;

/// What a study file says besides the path.
pub struct About<'a> {
    /// The command that found the path.
    pub command: &'a str,
    /// How many paths were evaluated.
    pub evaluations: usize,
    /// The values before the path was simplified.
    pub found: Pair,
    /// Those on the path.
    pub pair: Pair,
}

/// Returns the text of a study that runs both algorithms on a path, with a figure over time, a table and a claim.
pub fn text(arena: &Arena<'_>, path: &Path, about: &About<'_>) -> String {
    let (candidate, reference) = (arena.candidate.to_string(), arena.reference.to_string());
    let (goal, pair) = (&arena.goal, about.pair);
    let (title, unit) = (goal.metric.title, goal.metric.unit);
    let with_unit = |value: f64| format!("{} {unit}", number(value)).trim_end().to_owned();
    let mut text = format!(
        "# A path on which {candidate} does worse than {reference}, found by\n#     {}\n#\n# {title} ({}), mean of {SEEDS} seeds: {} with {candidate}, {} with {reference}. The effect is {},\n# and was {} before what does not matter was removed. {} paths were evaluated.\n",
        about.command,
        goal.name,
        with_unit(pair.candidate),
        with_unit(pair.reference),
        number(pair.effect),
        number(about.found.effect),
        about.evaluations,
    );
    for note in path.notes() {
        let _ = writeln!(text, "# On the bottleneck {note}.");
    }
    let _ = writeln!(
        text,
        "\ntitle = {}\nquestion = {}\n\n[scenario]",
        toml_string(&format!("{candidate} against {reference}: {}", title.to_lowercase())),
        toml_string(&format!("How much worse is {candidate} than {reference} on this path?"))
    );
    for (key, texts) in path.settings() {
        let list: Vec<String> = texts.iter().map(|text| format!("  {},\n", toml_string(text))).collect();
        let _ = match (key, texts.as_slice()) {
            ("schedule" | "flow", _) => writeln!(text, "{key} = [\n{}]", list.concat()),
            (_, texts) => writeln!(text, "{key} = {}", toml_string(&texts.concat())),
        };
    }
    let mut metrics: Vec<&str> = vec![&goal.name];
    let usual = ["own.throughput_bps", "own.rtt_mean_s", "own.loss_ratio", "own.timeouts"];
    metrics.extend(usual.into_iter().filter(|usual| *usual != goal.name));
    let metrics: Vec<String> = metrics.into_iter().map(toml_string).collect();
    let metrics = metrics.join(", ");
    let _ = write!(
        text,
        "\n[run]\nrepeats = {SEEDS}\nseed = {}\nmetrics = [{metrics}]\n\n[trace]\nsample = {}\n\n\
         [[axes]]\nname = \"algorithm\"\nkey = \"candidate\"\nvalues = [{}, {}]\n\n\
         [[figures]]\nname = \"over-time\"\ntitle = \"Both on the path\"\n\
         caption = \"The first seed.\"\nkind = \"trace\"\nshow = [\"throughput\", \"cwnd\", \"rtt\", \"queue\"]\nseries = \"algorithm\"\n\n\
         [[tables]]\nname = \"values\"\ntitle = \"Both on the path\"\nrows = [\"algorithm\"]\nmetrics = [{metrics}]\n\n\
         [[claims]]\ntext = {}\nmeasure = \"difference\"\nmetric = {}\naxis = \"algorithm\"\nof = {}\nover = [{}]\nexpect = {}\n",
        arena.seed,
        toml_string(&sample(path).to_string()),
        toml_string(&candidate),
        toml_string(&reference),
        toml_string(&format!("{candidate} is worse than {reference} on this path.")),
        toml_string(&goal.name),
        toml_string(&candidate),
        toml_string(&reference),
        toml_string(if pair.candidate < pair.reference { "< 0" } else { "> 0" }),
    );
    text
}

/// Returns a number with three significant digits.
pub fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = libm::floor(libm::log10(value.abs())) as i32;
    match magnitude {
        ..-4 | 7.. => format!("{value:.2e}"),
        _ => format!("{value:.*}", usize::try_from(2 - magnitude).unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_have_three_digits() {
        let all =
            [(0.0, "0"), (0.1234, "0.123"), (12.0, "12.0"), (1_234_567.0, "1234567"), (2e-7, "2.00e-7")];
        for (value, text) in all {
            assert_eq!(number(value), text);
        }
    }
}
