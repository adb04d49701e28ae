//! The study of a recommendation: its text, which is read as any other, and which of its cells is what.

use super::{
    candidates::NEIGHBOUR, criterion::Quantity, flags::Flags, path::Path, traffic::ShortFlowsChoice,
};
use crate::study_text;
use crate::{catalogue, failure::Failure};
use cwnd_scenario::notation::toml_string;
use cwnd_scenario::{AlgorithmSpec, Time};
use cwnd_study::Study;

/// The name of the study.
const NAME: &str = "advise";

/// The metrics of the flow of CUBIC next to a candidate.
pub const NEIGHBOUR_THROUGHPUT: &str = "neighbour.throughput_bps";
/// Its mean round-trip time.
pub const NEIGHBOUR_RTT: &str = "neighbour.rtt_mean_s";
/// The share of packets that the long flows of a candidate lose.
pub const LOSS: &str = "own.loss_ratio";

/// A study made from a path and candidates.
pub struct AdviseStudy {
    /// Its text.
    pub text: String,
    /// The short flows next to the long ones, without their algorithm.
    pub short_flows: Option<String>,
    /// How long the runs are.
    pub duration: Time,
    /// The part of it, from the start, that is not counted.
    pub warm_up: Time,
    /// Which cells it has.
    pub cells: Cells,
}

/// Indices of cells.
#[derive(Debug, PartialEq, Eq)]
pub struct Cells {
    /// A flow of CUBIC by itself.
    pub alone: usize,
    /// A flow of CUBIC next to another one.
    pub with_itself: usize,
    /// For each candidate its long flows and its short ones.
    pub own: Vec<usize>,
    /// For each candidate a flow of CUBIC next to one of it.
    pub with_other: Vec<usize>,
}

impl AdviseStudy {
    /// Writes the study.
    pub fn new(flags: &Flags, path: &Path, candidates: &[AlgorithmSpec]) -> AdviseStudy {
        let counts_completion = flags.criterion.counted().any(|quantity| quantity == Quantity::Completion);
        let usual = if counts_completion { ShortFlowsChoice::Web } else { ShortFlowsChoice::None };
        let short_flows = flags.short_flows.as_ref().unwrap_or(&usual).notation(path.rate());
        let (warm_up, duration) = times(flags, path);

        let mut text = format!(
            "title = \"Which congestion control for this path?\"\n\
             question = \"\"\"\nWhich algorithm is best by {}, and what does each cost a flow of CUBIC next to it?\"\"\"\n",
            flags.criterion.about()
        );
        text += "notes = [\n";
        for quantity in path.stated() {
            text += &format!(
                "  {},\n",
                toml_string(&format!("{}: {} ({})", quantity.title, quantity.text, quantity.source))
            );
        }
        text += "]\n\n[scenario]\nstack = \"linux\"\ntopology = \"path\"\n";
        for quantity in &path.quantities {
            match (&path.trace, quantity.key) {
                (Some(file), "rate") => {
                    text += &format!("rate-trace = {}\n", toml_string(&file.to_string_lossy()))
                }
                (_, key) => text += &format!("{key} = {}\n", study_text::value(key, &quantity.text)),
            }
        }
        for setting in &path.settings {
            text += &format!("{} = {}\n", setting.key, study_text::value(setting.key, &setting.text));
        }
        text += &format!(
            "duration = {}\nwarm-up = {}\n",
            toml_string(&duration.to_string()),
            toml_string(&warm_up.to_string())
        );

        let mut metrics: Vec<&str> = Quantity::ALL.into_iter().map(Quantity::metric).collect();
        metrics.retain(|metric| short_flows.is_some() || *metric != Quantity::Completion.metric());
        metrics.extend([LOSS, NEIGHBOUR_THROUGHPUT, NEIGHBOUR_RTT]);
        let metrics: String = metrics.iter().map(|metric| format!("  {},\n", toml_string(metric))).collect();
        text += &format!(
            "\n[run]\nrepeats = {}\nseed = {}\nmetrics = [\n{metrics}]\n",
            flags.repeats, flags.seed
        );
        text += "\n[[axes]]\nname = \"case\"\ntitle = \"Flows\"\n";

        let mut points = 0;
        let mut point = |label: &str, flows: &[String], short: Option<String>| {
            let flows: Vec<String> = flows.iter().map(|flow| toml_string(flow)).collect();
            text += &format!(
                "\n[[axes.points]]\nlabel = {}\nflow = [{}]\n",
                toml_string(label),
                flows.join(", ")
            );
            text +=
                &short.map(|short| format!("short-flows = {}\n", toml_string(&short))).unwrap_or_default();
            points += 1;
            points - 1
        };
        let neighbour = format!("{NEIGHBOUR}; group=neighbour");
        let with_other = |spec: &dyn std::fmt::Display| [neighbour.clone(), format!("{spec}; group=other")];
        let mut cells = Cells {
            alone: point(&format!("{NEIGHBOUR}, alone"), std::slice::from_ref(&neighbour), None),
            with_itself: point(&format!("{NEIGHBOUR} with {NEIGHBOUR}"), &with_other(&NEIGHBOUR), None),
            own: Vec::new(),
            with_other: Vec::new(),
        };
        let count = flags.settings.values("flows").first().map_or("1", String::as_str);
        for spec in candidates {
            let own = [format!("{spec}; count={count}; group=own")];
            let short = short_flows.as_ref().map(|short| format!("{spec}; {short}"));
            cells.own.push(point(&spec.to_string(), &own, short));
            cells.with_other.push(match spec.to_string() == NEIGHBOUR {
                true => cells.with_itself,
                false => point(&format!("{NEIGHBOUR} with {spec}"), &with_other(spec), None),
            });
        }
        text += &format!(
            "\n[[tables]]\nname = \"all\"\ntitle = \"All runs\"\nrows = [\"case\"]\nmetrics = [\n{metrics}]\n"
        );
        AdviseStudy { text, short_flows, duration, warm_up, cells }
    }

    /// Reads the study.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn study(&self) -> Result<Study, Failure> {
        Study::parse(NAME, NAME, &self.text, &catalogue::check)
            .map_err(|error| Failure::bad_input(error.to_string()))
    }
}

/// Returns how long warm-up and runs are, by the flags or by the path.
fn times(flags: &Flags, path: &Path) -> (Time, Time) {
    let given = |key: &str| flags.settings.values(key).first().and_then(|text| text.parse::<Time>().ok());
    let (warm_up, counted) = usual_times(path);
    let warm_up = given("warm-up").unwrap_or(warm_up);
    (warm_up, given("duration").unwrap_or(Time(warm_up.0 + counted.0)))
}

/// Returns the warm-up and the counted time for a path, in whole seconds: after max(5 s, 50 RTTs), in which slow starts end,
/// max(20 s, 200 RTTs, 3 epochs of CUBIC).
fn usual_times(path: &Path) -> (Time, Time) {
    let rtt = path.rtt().as_secs_f64();
    let packet = f64::from(path.scenario.stack.full_packet());
    let full = (path.bdp() + path.buffer().unwrap_or_else(|| path.bdp())) / packet;
    let bottleneck = &path.scenario.network.links[path.scenario.network.bottleneck];
    let loss = if let cwnd_scenario::Loss::Bernoulli(loss) = &bottleneck.loss { *loss } else { 0.0 };
    let epoch = cubic_epoch(full, rtt, loss);
    let seconds = |value: f64| Time::from_secs((value.ceil() as u64).clamp(1, 36_000));
    (seconds((50.0 * rtt).max(5.0)), seconds((200.0 * rtt).max(20.0).max(3.0 * epoch)))
}

/// Returns CUBIC's time from a reduction back to the window before it, seconds (RFC 9438, K with C = 0.4 and beta = 0.7):
/// cbrt(W (1 - beta) / C). W is the window at which the queue overflows, in packets, or with losses at most their mean window
/// by the response function, 1.054 RTT^(3/4) / p^(3/4) (the same RFC, section 5.1).
fn cubic_epoch(full: f64, rtt: f64, loss: f64) -> f64 {
    let mean = if loss > 0.0 { 1.054 * (rtt / loss).powf(0.75) } else { f64::INFINITY };
    (full.min(mean) * 0.3 / 0.4).cbrt()
}

#[cfg(test)]
mod tests {
    use super::cubic_epoch;

    /// By hand: W = 36,000 makes cbrt(27,000) = 30 s. With p = 1e-4 and 40 ms the mean window is 1.054 x 400^0.75 = 94.27
    /// packets, of which cbrt(94.27 x 0.75) = 4.135 s.
    #[test]
    fn epochs_of_cubic() {
        assert!((cubic_epoch(36_000.0, 0.04, 0.0) - 30.0).abs() < 1e-9);
        assert!((cubic_epoch(36_000.0, 0.04, 1e-4) - 4.135).abs() < 1e-3);
    }
}
