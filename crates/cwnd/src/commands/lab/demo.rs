//! `cwnd lab demo`: flows of this kernel over an emulated link, shown while they run.

mod view;

use super::{live::Screen, network::LinkFlags, require};
use crate::{
    catalogue,
    failure::Failure,
    interrupt,
    output::{self, comparison},
};
use clap::Args;
use cwnd_experiment::FlowGroup;
use cwnd_lab::{Lab, LiveFlows};
use cwnd_scenario::{AlgorithmSpec, Engine, EngineError, Outcome, Time};
use std::{
    io::{self, IsTerminal},
    sync::{Arc, atomic::Ordering},
    thread,
    time::{Duration, Instant},
};
use view::View;

const EXAMPLES: &str = "\
Examples:
  CUBIC and BBR share 50 Mbit/s for a minute:
    sudo cwnd lab demo cubic bbr --rate '50 Mbit/s' --rtt '40 ms' --buffer '2 BDP'

  The same with a queue that keeps the delay short:
    sudo cwnd lab demo cubic bbr --rate '50 Mbit/s' --rtt '40 ms' --buffer '2 BDP' --queue codel";

/// Show flows of this kernel over an emulated link while they run: throughput, round-trip time and window.
///
/// One flow of each algorithm begins at the same time. On a terminal the view is drawn twice a second. It ends after
/// `--duration` or at Ctrl-C, and nothing of the network is left.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Flags {
    /// Algorithms of this kernel; `cubic` is Linux's. May be given twice for two flows.
    #[arg(value_name = "ALGORITHM", value_parser = algorithm, required = true, num_args = 1..=MOST_FLOWS)]
    algorithms: Vec<AlgorithmSpec>,

    #[command(flatten)]
    link: LinkFlags,

    /// How long it lasts, at most.
    #[arg(long, value_name = "TIME", default_value = "60 s", value_parser = duration, allow_hyphen_values = true)]
    duration: Time,
}

/// More flows cannot be read.
const MOST_FLOWS: usize = 6;
/// Between two views, for a person and for a file.
const SHOWN: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(5)];
/// Between two looks at the sockets.
const LOOK: Duration = Duration::from_millis(500);
/// Between two looks at whether it has ended.
const TICK: Duration = Duration::from_millis(20);

fn algorithm(text: &str) -> Result<AlgorithmSpec, String> {
    let spec: AlgorithmSpec =
        text.parse().map_err(|error: cwnd_scenario::NotationError| error.to_string())?;
    catalogue::algorithm(&spec)?;
    // The kernel's own, which a lecture means by this name; engines call RFC 9438's so.
    match spec.name.as_str() {
        "cubic" => Ok(AlgorithmSpec { name: "cubic-linux".into(), ..spec }),
        _ => Ok(spec),
    }
}

fn duration(text: &str) -> Result<Time, String> {
    match text.parse::<Time>() {
        Ok(time) if time < Time::from_secs(1) => Err("it must last: write `60 s`, for example".to_owned()),
        parsed => parsed.map_err(|error| error.to_string()),
    }
}

/// Do what the flags ask.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    require()?;
    let flows: Vec<FlowGroup> = flags.algorithms.iter().map(|spec| FlowGroup::new(spec.clone(), 1)).collect();
    let scenario = flags.link.scenario_of(&flows, flags.duration)?;
    let stop = interrupt::catch().map_err(Failure::broken)?;
    let lab = Lab::new(Arc::clone(&stop));
    lab.check(&scenario).map_err(|problems| Failure::problems(&problems))?;
    let names = flags.algorithms.iter().map(AlgorithmSpec::to_string).collect();
    let mut view = View::new(names, flags.duration);
    let between = SHOWN[usize::from(!io::stdout().is_terminal())];
    output::print(&format!(
        "\n  {}; {} of this host's kernel; Ctrl-C ends it\n\n",
        comparison::title(&scenario),
        flags.duration
    ))?;

    let live = Arc::new(LiveFlows::default());
    let outcome = thread::scope(|scope| {
        let run = scope.spawn(|| lab.run_live(&scenario, &live));
        let mut screen = Screen::default();
        let (mut looked, mut shown) = (Instant::now(), Instant::now());
        while !run.is_finished() {
            thread::sleep(TICK);
            if looked.elapsed() < LOOK {
                continue;
            }
            looked = Instant::now();
            view.look(looked, &live.now());
            if shown.elapsed() >= between && view.has_begun() {
                shown = looked;
                if let Err(failure) = screen.show(&view.text(crate::terminal::columns())) {
                    stop.store(true, Ordering::Relaxed);
                    return Err(failure);
                }
            }
        }
        run.join().map_err(|_| Failure::broken("the laboratory panicked"))
    })?;
    match outcome {
        Ok(outcome) => {
            output::print(&view.summary())?;
            notes(&outcome);
            Ok(())
        }
        // Who has ended it has seen enough.
        Err(_) if stop.load(Ordering::Relaxed) => output::print(&view.summary()),
        Err(EngineError::Refused(problems)) => Err(Failure::problems(&problems)),
        Err(EngineError::Failed(why)) => Err(Failure::broken(why)),
    }
}

/// Tells where the network was not the one that was asked for.
fn notes(outcome: &Outcome) {
    for warning in outcome.emulation.iter().flat_map(|emulation| &emulation.validity_warnings) {
        crate::terminal::tell!("note: {warning}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubic_is_the_kernels_own() {
        assert_eq!(algorithm("cubic").map(|spec| spec.name), Ok("cubic-linux".into()));
        assert_eq!(algorithm("bbr").map(|spec| spec.name), Ok("bbr".into()));
        assert!(algorithm("cubik").unwrap_err().contains("did you mean `cubic`?"));
    }
}
