//! `cwnd lab link`: a network that stays up for other programs.

use super::{
    build,
    live::{Live, Screen},
    network::LinkFlags,
    take_down,
};
use crate::{
    failure::Failure,
    interrupt,
    output::{self, comparison},
};
use clap::Args;
use cwnd_lab::Named;
use cwnd_scenario::Time;
use std::{
    io::{self, IsTerminal},
    path::PathBuf,
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};

const EXAMPLES: &str = "\
Examples:
  A link of 50 Mbit/s and 40 ms, and iperf3 over it from other terminals:
    cwnd lab link --rate '50 Mbit/s' --rtt '40 ms' --buffer 100
    ip netns exec cwnd-b iperf3 -s
    ip netns exec cwnd-a iperf3 -c 198.19.0.1

  A bad one, with its packets in a file for Wireshark:
    cwnd lab link --rate '10 Mbit/s' --rtt '80 ms' --per '1 %' --jitter 'uniform:5 ms' --pcap bad.pcapng";

/// The flags.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Flags {
    #[command(flatten)]
    link: LinkFlags,

    /// The namespaces are called NAME-a and NAME-b.
    #[arg(long, value_name = "NAME", default_value = "cwnd", value_parser = name)]
    name: String,

    /// End after so long [default: at Ctrl-C].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    duration: Option<Time>,

    /// Write the packets that cross both ends' devices, as `.pcapng`.
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,

    /// Show no counters.
    #[arg(long, short)]
    quiet: bool,
}

/// Between two looks at the counters, for a person and for a file.
const SHOWN: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(10)];

/// Between two looks at whether to end.
const TICK: Duration = Duration::from_millis(50);

fn name(text: &str) -> Result<String, String> {
    cwnd_lab::check_name(text).map(|()| text.to_owned())
}

/// Do what the flags ask.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    let stop = interrupt::catch().map_err(Failure::broken)?;
    let scenario = flags.link.scenario()?;
    let (testbed, capture) = build(&scenario, flags.pcap.as_deref())?;
    let named = |end: &str, namespace| {
        let name = format!("{}-{end}", flags.name);
        Named::new(&name, namespace).map_err(|error| Failure::broken(format!("--name: {error}")))
    };
    let _names = (named("a", testbed.senders())?, named("b", testbed.receivers())?);
    let (a, b) = (cwnd_lab::address::sender(0), cwnd_lab::address::receiver(0));
    let own = &flags.name;
    output::print(&format!(
        "\n  {own}-a {a}  ==  {}  ==  {own}-b {b}\n\n  Run programs with `ip netns exec {own}-a COMMAND`; {}.\n\n",
        comparison::title(&scenario),
        flags.duration.map_or("Ctrl-C ends it".to_owned(), |duration| format!("it ends after {duration}"))
    ))?;
    let terminal = io::stdout().is_terminal();
    let mut live = Live::new(&scenario);
    let mut screen = Screen::default();
    let begin = Instant::now();
    let mut shown = begin;
    while !stop.load(Ordering::Relaxed)
        && !testbed.has_ended()
        && flags.duration.is_none_or(|duration| begin.elapsed() < Duration::from_nanos(duration.0))
    {
        thread::sleep(TICK);
        if flags.quiet || shown.elapsed() < SHOWN[usize::from(!terminal)] {
            continue;
        }
        shown = Instant::now();
        screen.show(&live.text(testbed.snapshot(), crate::terminal::columns()))?;
    }
    if !terminal && !flags.quiet {
        output::print(&live.text(testbed.snapshot(), crate::terminal::columns()))?;
    }
    take_down(testbed, capture)
}
