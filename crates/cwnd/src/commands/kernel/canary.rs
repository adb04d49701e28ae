//! `cwnd kernel canary`: another congestion control for a share of new connections, with an automatic return.

mod events;

use super::{DigestsFlag, failure, note_on, registered, status::GroupStatus};
use crate::{failure::Failure, interrupt, output};
use clap::Args;
use cwnd_kernel::load::{self, Bounds, CANARY, Canary, Cgroup, Ending, Groups, SELECT, Verdict};
use cwnd_scenario::Time;
use events::Event;
use std::{path::PathBuf, time::Duration};

const AFTER: &str = "\
The canary is worse, and ends, as soon as
  its retransmission rate exceeds --max-retransmissions times that of the rest, plus --margin; or
  its mean round-trip time exceeds --max-rtt times that of the rest;
each by more than chance, as the variation between connections shows it. It is within the bounds if it is below them by more than
chance. Before both groups have --min-connections and --min-segments, nothing is judged.

Exit codes: 0 it was within the bounds at the end; 1 it was worse; 3 there were too few connections to judge it, or to tell the
difference from chance; 130 Ctrl-C.
In all cases but the first, open canaries return to the congestion control that they had before, at their next round trip.

Example:
  sudo cwnd kernel load elastic --as new --param beta=0.7
  sudo cwnd kernel canary new --canary '5 %' --until '1 h'";

/// Give a share of new connections another congestion control, and return to the former one if it is worse.
///
/// The command stays in the foreground. Connections whose application selects a congestion control itself are left alone and not
/// counted. If the command is killed, new connections get what they got before; open canaries then keep theirs.
#[derive(Args)]
#[command(after_help = AFTER)]
pub struct CanaryFlags {
    /// The congestion control of the canaries: the name of a loaded algorithm or instance, or one of the kernel's own (`NAME@host` where
    /// both have the name).
    name: String,

    /// The share of new connections that get it.
    #[arg(long = "canary", value_name = "SHARE", default_value = "5 %", value_parser = some)]
    share: f64,

    /// The congestion control of the others [default: what they would get without the canary].
    #[arg(long, value_name = "NAME")]
    rest: Option<String>,

    /// The cgroup (version 2) whose connections take part, with those below it.
    #[arg(long, value_name = "PATH", default_value = "/")]
    cgroup: PathBuf,

    /// How long it is watched.
    #[arg(long, value_name = "TIME", default_value = "10 min")]
    until: Time,

    /// Between two judgements.
    #[arg(long, value_name = "TIME", default_value = "5 s")]
    every: Time,

    /// The greatest retransmission rate, as a multiple of that of the rest.
    #[arg(long, value_name = "RATIO", default_value_t = 2.0, value_parser = ratio)]
    max_retransmissions: f64,

    /// Is added to that bound: a share of the segments.
    #[arg(long, value_name = "SHARE", default_value = "0.1 %", value_parser = share)]
    margin: f64,

    /// The greatest mean round-trip time, as a multiple of that of the rest.
    #[arg(long, value_name = "RATIO", default_value_t = 1.5, value_parser = ratio)]
    max_rtt: f64,

    /// Connections with a round trip that each group must have before it is judged.
    #[arg(long, value_name = "N", default_value_t = 20)]
    min_connections: u64,

    /// Segments that each group must have sent before it is judged.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    min_segments: u64,

    /// The significance level: the probability with which chance may end a canary that is at a bound, in all judgements together.
    #[arg(long, value_name = "SHARE", default_value = "5 %", value_parser = part)]
    significance: f64,

    /// Select it for the whole cgroup if it is within the bounds at the end (`cwnd kernel select`).
    #[arg(long)]
    promote: bool,

    /// Print each judgement as JSON, on a line of its own; the first line tells what began, and the last one how it ended.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    digests: DigestsFlag,
}

/// The shortest time between two judgements: a line is printed at each.
const SHORTEST: Time = Time::from_millis(100);

/// Parses `5 %` or `0.05`.
fn share(text: &str) -> Result<f64, String> {
    let (number, scale) = match text.trim().strip_suffix('%') {
        Some(number) => (number, 0.01),
        None => (text, 1.0),
    };
    match number.trim().parse::<f64>().map(|number| number * scale) {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("it must be a share from 0 to 1: write `5 %` or `0.05`".to_owned()),
    }
}

/// Parses a share of which there is some.
fn some(text: &str) -> Result<f64, String> {
    match share(text) {
        Ok(share) if share > 0.0 => Ok(share),
        _ => Err("it must be a share above 0 and up to 1: write `5 %` or `0.05`".to_owned()),
    }
}

/// Parses a share of which there is some, and that is not all.
fn part(text: &str) -> Result<f64, String> {
    match share(text) {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("it must be a share above 0 and below 1: write `5 %` or `0.05`".to_owned()),
    }
}

/// Parses how many times the rest's value a canary's may be.
fn ratio(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(ratio) if (1.0..=1000.0).contains(&ratio) => Ok(ratio),
        _ => {
            Err("it must be a number from 1 to 1000: 1.5 lets it be half as large again as that of the rest"
                .to_owned())
        }
    }
}

/// Does what the flags ask.
pub fn run(flags: &CanaryFlags) -> Result<(), Failure> {
    if flags.every < SHORTEST || flags.until < flags.every {
        return Err(Failure::bad_input(format!(
            "--every {} --until {}: it is judged at least once, and at most every {SHORTEST}: write `--every '5 s' --until '10 min'`",
            flags.every, flags.until
        )));
    }
    let cgroup = Cgroup::find(&flags.cgroup).map_err(failure)?;
    let name = registered(&flags.name);
    let rest = flags.rest.as_deref().map(registered);
    if rest.as_ref() == Some(&name) {
        return Err(Failure::bad_input(format!(
            "--rest {name}: the canaries have it too, and there would be no difference to judge"
        )));
    }
    flags.digests.check(&CANARY)?;
    if flags.promote {
        flags.digests.check(&SELECT)?;
    }
    note_on(&flags.name, &name);
    let stop = interrupt::catch().map_err(Failure::broken)?;
    let bounds = Bounds {
        retransmissions: flags.max_retransmissions,
        retransmission_margin: flags.margin,
        rtt: flags.max_rtt,
        least_sockets: flags.min_connections,
        least_segments: flags.min_segments,
        significance: flags.significance,
    };
    let canary = Canary::begin(&cgroup, &name, rest.as_deref(), flags.share).map_err(failure)?;
    let print = |event: Event<'_>| output::print(&if flags.json { event.json() } else { event.text() });
    print(Event::Begin {
        cgroup: &cgroup.path,
        congestion_control: &name,
        rest: rest.as_deref(),
        share: flags.share,
        until: flags.until,
    })?;
    let mut printed = Ok(());
    let report = |groups: &Groups, verdict: &Verdict| printed = print(Event::judgement(groups, verdict));
    let (until, every) = (Duration::from_nanos(flags.until.0), Duration::from_nanos(flags.every.0));
    let ending = load::watch(&canary, &bounds, until, every, &stop, report).map_err(failure)?;
    printed?;
    let returned = canary.counts().map_err(failure)?.canary.total().returned;
    drop(canary);
    let back = format!(
        "new connections get what they got before, as do open canaries ({returned} have returned so far)"
    );
    let promoted = flags.promote && matches!(ending, Ending::Kept);
    let (pin, refused) = match promoted.then(|| load::select(&cgroup, &name)) {
        None => (None, None),
        Some(Ok(selection)) => (Some(selection.pin), None),
        Some(Err(error)) => (None, Some(error)),
    };
    print(Event::end(&ending, returned, pin.as_deref()))?;
    if let Some(error) = refused {
        return Err(failure(error));
    }
    match (ending, pin) {
        (Ending::Kept, _) if flags.json => Ok(()),
        (Ending::Kept, Some(pin)) => output::print(&format!(
            "{name} was within the bounds: {} selects it now, kept by {}\n",
            cgroup.path.display(),
            pin.display()
        )),
        (Ending::Kept, None) => output::print(&format!(
            "{name} was within the bounds; open canaries keep it, and new connections get what they got before: `cwnd kernel select \
             cgroup {} {name}` selects it for all\n",
            cgroup.path.display()
        )),
        (Ending::Worse(why), _) => Err(Failure::differs(format!("{name} is worse: {why}; {back}"))),
        (Ending::Undecided(why), _) => {
            Err(Failure::undecided(format!("{name} was not decided on: {why}; {back}")))
        }
        (Ending::TooFew(why), _) => Err(Failure::undecided(format!("{name} was not judged: {why}; {back}"))),
        (Ending::Unloaded(gone), _) => {
            Err(Failure::undecided(format!("{name} was not judged: {gone} was unloaded meanwhile; {back}")))
        }
        (Ending::Stopped, _) => Err(Failure::stopped(format!("stopped: {back}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_numbers_that_bound() {
        assert_eq!((ratio("1"), ratio("1000"), part("5 %")), (Ok(1.0), Ok(1000.0), Ok(0.05)));
        for text in ["nan", "inf", "0.5", "-2", "1e9", "", "two"] {
            assert!(ratio(text).unwrap_err().contains("from 1 to 1000"), "{text}");
        }
        assert_eq!((some("100 %"), some("0.1 %")), (Ok(1.0), Ok(0.001)));
        assert!(some("0").unwrap_err().contains("above 0 and up to 1"));
        for text in ["0", "100 %", "1", "NaN", "200 %"] {
            assert!(part(text).unwrap_err().contains("above 0 and below 1"), "{text}");
        }
    }

    #[test]
    fn shares_are_read() {
        assert_eq!(share("5 %"), Ok(0.05));
        assert_eq!(share("0.25"), Ok(0.25));
        assert_eq!(share("100%"), Ok(1.0));
        for text in ["-1 %", "5", "some", "", "NaN"] {
            assert!(share(text).unwrap_err().contains("`5 %`"), "{text}");
        }
    }
}
