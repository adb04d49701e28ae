//! The path that is simulated: four quantities, each with its source, and the other settings that were given.

use super::{
    flags::Flags,
    import::{self, Finding, Import},
};
use crate::failure::Failure;
use cwnd_experiment::{ExperimentSpec, FlowGroup, TraceFile, greatest_bdp, settings};
use cwnd_scenario::{AlgorithmSpec, ByteSize, DeliveryTrace, Ecn, Problem, QueueLimit, Rate, Scenario, Time};
use std::path::PathBuf;

/// A path with the source of each quantity.
pub struct Path {
    /// What of it the file told, if there is one.
    pub source: Option<String>,
    /// Rate, RTT, loss and buffer, in this order.
    pub quantities: Vec<PathQuantity>,
    /// The other settings of the path that were given, in the order of the flags.
    pub settings: Vec<PathQuantity>,
    /// The delivery trace that the bottleneck follows.
    pub trace: Option<PathBuf>,
    /// A scenario of one flow over it, for a duration of its own.
    pub scenario: Scenario,
}

/// A quantity of a path.
pub struct PathQuantity {
    /// The key of its setting, which is that of its flag.
    pub key: &'static str,
    /// Its name in tables.
    pub title: &'static str,
    /// Its value, as the setting is written.
    pub text: String,
    /// Where it is from, in words.
    pub source: String,
}

/// The four quantities: key, name, what to write if it is not known, and where an import has it.
type Quantity = (&'static str, &'static str, &'static str, fn(&Import) -> &Finding);
const QUANTITIES: [Quantity; 4] = [
    ("rate", "rate", "such as `--rate 100Mbit/s`: that of the narrowest link", |import| &import.rate),
    (
        "rtt",
        "base RTT",
        "such as `--rtt 40ms`: the round trip with empty queues, as `ping` on an idle path",
        |import| &import.rtt,
    ),
    ("loss", "loss", "such as `--loss 0.01%`, or `--loss 0` if only full queues drop", |import| &import.loss),
    (
        "buffer",
        "buffer",
        "such as `--buffer 1BDP`, which is common; small ones are 0.1 BDP, bloated ones 5 BDP",
        |import| &import.buffer,
    ),
];

impl Path {
    /// Combines the flags with what `--from` tells; flags come first.
    ///
    /// # Errors
    /// If the file cannot be read, a quantity is neither given nor found, or they do not fit together.
    pub fn of(flags: &Flags) -> Result<Path, Failure> {
        let import = match &flags.from {
            Some(file) => {
                Some(import::read(file).map_err(|why| Failure::bad_input(format!("--from: {why}")))?)
            }
            None => None,
        };
        let (mut quantities, mut problems) = (Vec::new(), Vec::new());
        for (key, title, example, of) in QUANTITIES {
            let given = flags.settings.values(key).first();
            match (given, import.as_ref().map(of)) {
                (Some(text), _) => quantities.push(PathQuantity {
                    key,
                    title,
                    text: text.clone(),
                    source: format!("given by --{key}"),
                }),
                (None, Some(Finding::Found { value, how })) => {
                    quantities.push(PathQuantity {
                        key,
                        title,
                        text: text(key, *value),
                        source: how.clone(),
                    });
                }
                (None, missing) => {
                    let why = match missing {
                        Some(Finding::Missing(why)) => format!("the file does not tell it ({why})"),
                        _ => "it is not given".to_owned(),
                    };
                    problems.push(Problem {
                        place: format!("--{key}"),
                        message: format!("{why}: state it, {example}"),
                    });
                }
            }
        }
        if !problems.is_empty() {
            return Err(Failure::problems(&problems));
        }
        let given = !flags.settings.values("rate").is_empty();
        let trace = import.as_ref().and_then(|import| import.trace.clone()).filter(|_| !given);
        let followed = flags.from.clone().filter(|_| trace.is_some());
        let scenario = scenario(flags, &quantities, trace)?;
        if scenario.network.links[scenario.network.bottleneck].rate == Rate::UNLIMITED {
            return Err(Failure::bad_input(
                "--rate: without a limit nothing distinguishes the algorithms: state that of the narrowest link",
            ));
        }
        Ok(Path {
            source: import.map(|import| import.source),
            quantities,
            settings: settings_given(flags),
            trace: followed,
            scenario,
        })
    }

    /// Returns the quantities and then the other settings that were given.
    pub fn stated(&self) -> impl Iterator<Item = &PathQuantity> {
        self.quantities.iter().chain(&self.settings)
    }

    /// Returns the (mean) rate of the bottleneck.
    pub fn rate(&self) -> Rate {
        self.bottleneck().rate
    }

    /// Returns the base round-trip time.
    pub fn rtt(&self) -> Time {
        self.scenario.base_rtt(0)
    }

    /// Returns the bandwidth-delay product, bytes on the wire.
    pub fn bdp(&self) -> f64 {
        self.rate().0 as f64 * self.rtt().as_secs_f64() / 8.0
    }

    /// Returns the bandwidth-delay product where the path is fastest, bytes on the wire: of its trace over any round trip or 100 ms,
    /// or of the steps of its schedule.
    pub fn greatest_bdp(&self) -> f64 {
        (greatest_bdp(self.bdp() as u64, self.bottleneck(), self.rtt()) as f64).max(self.bdp())
    }

    /// Returns the limit of the bottleneck's queue, bytes on the wire; none if it has no limit.
    pub fn buffer(&self) -> Option<f64> {
        match self.bottleneck().queue.limit {
            QueueLimit::Packets(packets) => {
                Some(f64::from(packets) * f64::from(self.scenario.stack.full_packet()))
            }
            QueueLimit::Bytes(bytes) => Some(bytes as f64),
            QueueLimit::Unlimited => None,
        }
    }

    /// Returns whether a queue marks instead of dropping, so that algorithms that need marks have them.
    pub fn marks(&self) -> bool {
        self.scenario.stack.ecn != Ecn::Off
    }

    fn bottleneck(&self) -> &cwnd_scenario::LinkSpec {
        &self.scenario.network.links[self.scenario.network.bottleneck]
    }
}

/// Writes an estimate as its setting is read, with four significant digits.
fn text(key: &str, value: f64) -> String {
    /// The least queue that holds a packet while another waits.
    const LEAST_BUFFER: f64 = 2.0 * 1514.0;
    let rounded = |value: f64| format!("{value:.3e}").parse::<f64>().unwrap_or(value);
    match key {
        "rate" => Rate(rounded(value.max(Rate::LEAST.0 as f64)) as u64).to_string(),
        "rtt" => Time(rounded(value * 1e9) as u64).to_string(),
        "buffer" => ByteSize(rounded(value.max(LEAST_BUFFER)) as u64).to_string(),
        _ if value == 0.0 => "0".to_owned(),
        _ => format!("{value:.3e}"),
    }
}

/// Returns the settings that are of the path, and none of its four quantities.
fn settings_given(flags: &Flags) -> Vec<PathQuantity> {
    const OF_RUNS: [&str; 3] = ["flows", "duration", "warm-up"];
    let is_quantity = |key: &str| QUANTITIES.iter().any(|(own, ..)| *own == key);
    let given = flags.settings.given().iter();
    given
        .filter(|given| !OF_RUNS.contains(&given.setting.key) && !is_quantity(given.setting.key))
        .map(|given| PathQuantity {
            key: given.setting.key,
            title: given.setting.key,
            text: given.values.join(", "),
            source: format!("given by --{}", given.setting.key),
        })
        .collect()
}

/// Returns a scenario of one flow with Linux's stack, whose bottleneck follows a trace if there is one.
fn scenario(
    flags: &Flags,
    quantities: &[PathQuantity],
    trace: Option<DeliveryTrace>,
) -> Result<Scenario, Failure> {
    let mut experiment = ExperimentSpec::default();
    flags.settings.apply(&mut experiment);
    let fixed = [("stack", "linux"), ("topology", "path")];
    let estimated = quantities.iter().map(|quantity| (quantity.key, quantity.text.as_str()));
    for (key, text) in fixed.into_iter().chain(estimated) {
        let setting =
            settings::find(key).ok_or_else(|| Failure::broken(format!("there is no setting `{key}`")))?;
        (setting.set)(&mut experiment, text).map_err(|why| Failure::bad_input(format!("--{key}: {why}")))?;
    }
    if let Some(trace) = trace {
        experiment.forward.trace = Some(TraceFile { path: trace.name.clone(), trace: Some(trace) });
    }
    let algorithm =
        AlgorithmSpec { name: super::candidates::NEIGHBOUR.to_owned(), ..AlgorithmSpec::default() };
    experiment.scenario(&[FlowGroup::new(algorithm, 1)], flags.seed).map_err(|problems| {
        let by_flag =
            |problem: Problem| Problem { place: format!("--{}", problem.place.replace('_', "-")), ..problem };
        Failure::problems(&problems.into_iter().map(by_flag).collect::<Vec<_>>())
    })
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn estimates_are_written_as_settings_are_read() {
        assert_eq!(text("rate", 9_947_833.2), "9.948 Mbit/s");
        assert_eq!(text("rate", 12.0), "1 kbit/s");
        assert_eq!(text("rtt", 0.020_334), "20.33 ms");
        assert_eq!(text("loss", 0.001_234_5), "1.234e-3");
        assert_eq!(text("loss", 0.0), "0");
        assert_eq!(text("buffer", 25_123.0), "25.12 KB");
        assert_eq!(text("buffer", 0.0), "3.028 KB");
    }
}
