//! `cwnd kernel watch`: connections with their algorithm's state.

mod document;

use super::{DigestsFlag, failure, read};
use crate::{commands::lab::live::Screen, failure::Failure, interrupt, output, terminal};
use clap::Args;
use cwnd_kernel::load::{self, LoadedObject, ObservedSocket, SocketReader};
use cwnd_plot::number::si;
use cwnd_report::table::{Align, Sacrifice, Table};
use cwnd_scenario::Time;
use std::{
    io::{self, IsTerminal},
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};

/// Show the established connections of cwnd's algorithms with what TCP_INFO has and the state of the algorithm (N, alpha, WWF, lambda and
/// so on for elastic, agile-sd, cltcp and invs), of all network namespaces.
///
/// On a terminal the table is drawn again and again until Ctrl-C; elsewhere, and with --json, it is printed once, or with --every again
/// and again. Reading costs the connections nothing.
#[derive(Args)]
pub struct WatchFlags {
    /// Connections of other congestion controls, too.
    #[arg(long)]
    all: bool,

    /// Between two readings [default: 1 s on a terminal; else there is one].
    #[arg(long, value_name = "TIME", value_parser = interval)]
    every: Option<Time>,

    /// The most connections: those with the largest window [default: 30; all with --json].
    #[arg(long, value_name = "N")]
    most: Option<usize>,

    /// Print each reading as JSON, on a line of its own.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    digests: DigestsFlag,
}

/// Between two readings on a terminal, unless it is said.
const USUAL: Time = Time::from_secs(1);
/// The shortest time between two readings.
const SHORTEST: Time = Time::from_millis(10);
/// Connections of a table, unless it is said.
const USUAL_MOST: usize = 30;
/// Between two looks at whether it has ended.
const TICK: Duration = Duration::from_millis(50);

/// Parses the time between two readings.
fn interval(text: &str) -> Result<Time, String> {
    match text.parse::<Time>() {
        Ok(time) if time >= SHORTEST => Ok(time),
        Ok(_) => Err(format!("it must be at least {SHORTEST}")),
        Err(error) => Err(error.to_string()),
    }
}

/// Does what the flags ask.
pub fn run(flags: &WatchFlags) -> Result<(), Failure> {
    flags.digests.check(&load::SOCKETS)?;
    let reader = SocketReader::new().map_err(failure)?;
    let stop = interrupt::catch().map_err(Failure::broken)?;
    let usual = (!flags.json && io::stdout().is_terminal()).then_some(USUAL);
    let every = flags.every.or(usual).map(|every| Duration::from_nanos(every.0));
    let mut screen = Screen::default();
    loop {
        let shown = Instant::now();
        let objects = load::loaded().map_err(failure)?;
        let (sockets, others) = selected(read(&reader)?, flags.all);
        match flags.json {
            true => output::print(&document::line(&sockets, others, &objects, flags.most))?,
            false => screen.show(&text(&sockets, &objects, flags, terminal::columns()))?,
        }
        let Some(every) = every else { return Ok(()) };
        loop {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let left = every.saturating_sub(shown.elapsed());
            if left.is_zero() {
                break;
            }
            thread::sleep(TICK.min(left));
        }
    }
}

/// Returns the established connections, or those of cwnd's algorithms among them, the largest window first, and how many others there are.
fn selected(mut sockets: Vec<ObservedSocket>, all: bool) -> (Vec<ObservedSocket>, usize) {
    sockets.retain(ObservedSocket::is_established);
    let established = sockets.len();
    sockets.retain(|socket| all || socket.congestion_control.starts_with("cwnd_"));
    sockets.sort_by_key(|socket| (std::cmp::Reverse(socket.cwnd), socket.local, socket.remote));
    let others = established - sockets.len();
    (sockets, others)
}

fn text(
    sockets: &[ObservedSocket],
    objects: &[LoadedObject],
    flags: &WatchFlags,
    columns: Option<usize>,
) -> String {
    let left = [("congestion control", Align::Left), ("local", Align::Left), ("remote", Align::Left)];
    let right =
        ["cwnd", "ssthresh", "RTT", "min. RTT", "rate", "retransmitted"].map(|name| (name, Align::Right));
    let mut table = Table::new(left.into_iter().chain(right).chain([("state", Align::Left)])).indent(2);
    let most = flags.most.unwrap_or(USUAL_MOST);
    for socket in sockets.iter().take(most) {
        let ssthresh = match socket.ssthresh {
            NO_THRESHOLD => String::new(),
            ssthresh => ssthresh.to_string(),
        };
        table.row([
            socket.congestion_control.clone(),
            socket.local.to_string(),
            socket.remote.to_string(),
            socket.cwnd.to_string(),
            ssthresh,
            si(socket.srtt_s, "s"),
            socket.min_rtt_s.map_or_else(String::new, |rtt| si(rtt, "s")),
            si(socket.delivery_rate_bps, "bit/s"),
            socket.retransmissions.to_string(),
            state(socket, objects),
        ]);
    }
    let drop = ["min. RTT", "ssthresh", "local"].map(Sacrifice::Drop);
    let [min_rtt, ssthresh, local] = drop;
    let sacrifices = [
        min_rtt,
        Sacrifice::Shorten("state", 24),
        ssthresh,
        local,
        Sacrifice::Shorten("state", 10),
        Sacrifice::Drop("rate"),
        Sacrifice::Shorten("remote", 12),
    ];
    let table = output::fitted_to(columns, table, &sacrifices);
    let more = sockets.len().saturating_sub(most);
    let note = match (sockets.len(), more) {
        (0, _) if flags.all => "  No connection is established.\n".to_owned(),
        (0, _) => "  No connection has an algorithm of cwnd; --all shows the others.\n".to_owned(),
        (_, 0) => String::new(),
        (_, more) => format!("  and {more} more; --most shows more\n"),
    };
    format!("\n{table}{note}\n")
}

/// The slow-start threshold before the first reduction.
const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// The known values of its algorithm's state: `wwf 12.3, rtt_max 80 ms`.
fn state(socket: &ObservedSocket, objects: &[LoadedObject]) -> String {
    let values = socket.observe(objects).unwrap_or_default();
    let known = values.iter().filter(|(.., value)| value.is_finite());
    let texts: Vec<String> = known
        .map(|(name, unit, value)| match *unit {
            "s" | "bit/s" => format!("{name} {}", si(*value, unit)),
            _ if value.abs() >= 100.0 => format!("{name} {value:.0}"),
            _ => format!("{name} {value:.2}"),
        })
        .collect();
    texts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::metrics::a_socket;
    use super::*;

    #[test]
    fn connections_fit_the_columns() {
        let socket = |name: &str, cwnd: u32| ObservedSocket {
            congestion_control: name.to_owned(),
            local: "[2001:db8:1234:5678:9abc:def0:1234:5678]:65535".parse().unwrap(),
            remote: "[2001:db8:1234:5678:9abc:def0:1234:5679]:65535".parse().unwrap(),
            ssthresh: 1_000_000,
            min_rtt_s: Some(0.012_345),
            retransmissions: 123_456_789,
            delivery_rate_bps: 9.876_543e9,
            ..a_socket(cwnd, 0.123_456, 1)
        };
        let sockets = vec![socket("cubic", 5), socket("cwnd_tendigits1", 7), socket("cwnd_bulk", 900_000)];
        let flags = |most| WatchFlags {
            all: false,
            every: None,
            most: Some(most),
            json: false,
            digests: DigestsFlag { digests: None },
        };
        let all = selected(sockets.clone(), true).0;
        for columns in [80, 100, 160] {
            let text = text(&all, &[], &flags(30), Some(columns));
            assert!(text.lines().all(|line| line.chars().count() <= columns), "{columns}: {text}");
            let of = |name: &str| text.find(name).expect("it is in the table");
            assert!(of("cwnd_bulk") < of("cwnd_tendigits1") && of("cwnd_tendigits1") < of("cubic"), "{text}");
        }
        let (own, others) = selected(sockets, false);
        assert_eq!((own.len(), others), (2, 1));
        let own = text(&own, &[], &flags(1), None);
        assert!(!own.contains("cubic") && own.contains("and 1 more"), "{own}");
        assert!(text(&[], &[], &flags(1), None).contains("--all shows the others"));
    }
}
