//! `cwnd lab link`: a network for one program, or one that stays up for others.

use super::{
    TakenDown, build,
    live::{Live, Screen},
    log::{Log, SHORTEST},
    network::LinkFlags,
    program::{Running, environment, failure_of},
    set, take_down,
};
use crate::{
    failure::Failure,
    interrupt,
    numbers::whole,
    output::{self, comparison},
    terminal,
};
use clap::Args;
use cwnd_lab::{
    Hosts, Named, Namespace, Outside, Resolver, Testbed, address,
    program::{exit_code, relay_signals},
    requests::Requests,
};
use cwnd_scenario::{Scenario, Time};
use std::{
    ffi::OsString,
    io::{self, IsTerminal},
    net::Ipv4Addr,
    path::PathBuf,
    process::ExitStatus,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

const EXAMPLES: &str = concat!(
    environment!(),
    "
Without a program the link stays up, and other programs enter its ends by name.

Examples:
  A transfer over a link of 20 Mbit/s and 80 ms, with its server at the other end:
    cwnd lab link --rate '20 Mbit/s' --rtt '80 ms' --server 'iperf3 -s' -- sh -c 'sleep 1; iperf3 -c $CWND_SERVER'

  A page of the Web over a slow link:
    cwnd lab link --rate '20 Mbit/s' --rtt '80 ms' --outside -- curl -o page.html https://www.rfc-editor.org/rfc/rfc9438.html

  A link of 50 Mbit/s and 40 ms, and iperf3 over it from other terminals:
    cwnd lab link --rate '50 Mbit/s' --rtt '40 ms' --buffer 100
    ip netns exec cwnd-b iperf3 -s
    ip netns exec cwnd-a iperf3 -c 198.19.0.1

  Senders with a queue and a delay of their own, before the bottleneck:
    cwnd lab link --rate '20 Mbit/s' --rtt '80 ms' --access-rate '1 Gbit/s' --access-delay '5 ms' --access-queue fq-codel

  Two hosts at each end, which share the bottleneck:
    cwnd lab link --rate '50 Mbit/s' --rtt '40 ms' --hosts 2
    ip netns exec cwnd-b2 iperf3 -s
    ip netns exec cwnd-a2 iperf3 -c 198.19.0.2

  The same with a script, which starts a transfer in each host (CWND_SENDERS_NETNS has their namespaces):
    cwnd lab link --rate '50 Mbit/s' --rtt '40 ms' --hosts 2 --server 'iperf3 -s' -- sh -c '
      sleep 1; n=0; for host in $CWND_SENDERS_NETNS; do n=$((n + 1)); nsenter --net=$host iperf3 -c 198.19.0.$n & done; wait'

  A bad one, with its packets in a file for Wireshark:
    cwnd lab link --rate '10 Mbit/s' --rtt '80 ms' --per '1 %' --jitter 'uniform:5 ms' --pcap bad.pcapng"
);

/// The flags.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Flags {
    #[command(flatten)]
    link: LinkFlags,

    /// The namespaces are called NAME-a and NAME-b [default: cwnd; with a COMMAND they have no names].
    #[arg(long, value_name = "NAME", value_parser = name)]
    name: Option<String>,

    /// Hosts at each end. With several, their namespaces are called NAME-a1, NAME-a2, ... and NAME-b1, NAME-b2, ... What goes to the
    /// n-th of the receivers, 198.19.0.n, takes the n-th access links if there are any. COMMAND runs in the first of the senders, with the
    /// namespaces of all in CWND_SENDERS_NETNS and CWND_SERVERS_NETNS, and the server in each of the receivers.
    #[arg(long, value_name = "N", default_value = "1", value_parser = hosts, allow_hyphen_values = true)]
    hosts: u32,

    /// End after so long [default: at Ctrl-C].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, conflicts_with = "command")]
    duration: Option<Time>,

    /// A command for a shell at the other end; it is ended with the program.
    #[arg(long, value_name = "COMMAND", requires = "command")]
    server: Option<String>,

    /// Let both ends reach what this host reaches, the senders through the link (NAT; needs `nft`): by IPv4, and by IPv6 with `--ipv6`.
    #[arg(long)]
    outside: bool,

    /// Give both ends addresses of IPv6, too. The n-th of the receivers is 2001:2:0:19::n; CWND_SERVER_IPV6 is the first.
    #[arg(long)]
    ipv6: bool,

    /// Write the packets that cross both ends' devices, as `.pcapng`.
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,

    /// Write what crosses each link over time, and a summary with the accuracy at the end, as JSON Lines (`.jsonl`).
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// Time between two lines of the log, at least 50 ms.
    #[arg(long, value_name = "TIME", default_value = "100 ms", requires = "log", value_parser = log_interval)]
    log_interval: Time,

    /// Show no counters.
    #[arg(long, short)]
    quiet: bool,

    /// The program. When it ends, the network is taken down.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Hosts at each end, at most: a hundred take 6 s to make.
const MOST_HOSTS: u32 = 100;

/// Between two looks at the counters, for a person and for a file.
const SHOWN: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(10)];

/// Between two looks at whether to end.
const TICK: Duration = Duration::from_millis(10);

/// What the namespaces of a link without a program are called.
pub const DEFAULT_NAME: &str = "cwnd";

fn log_interval(text: &str) -> Result<Time, String> {
    match text.parse::<Time>() {
        Ok(time) if time < SHORTEST => {
            Err(format!("counters come every {SHORTEST}: write `100 ms`, for example"))
        }
        parsed => parsed.map_err(|error| error.to_string()),
    }
}

/// Checks a number of hosts.
fn hosts(text: &str) -> Result<u32, String> {
    let count = whole::<u32>(text)?;
    match (1..=MOST_HOSTS).contains(&count) {
        true => Ok(count),
        false => Err(format!("each end can have 1 to {MOST_HOSTS} hosts")),
    }
}

/// Checks a link's name.
pub fn name(text: &str) -> Result<String, String> {
    cwnd_lab::check_name(text).map(|()| text.to_owned())
}

/// Do what the flags ask. The exit code of a program that fails is that of the failure.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    let stop = stop_of(flags)?;
    let scenario = flags.link.scenario(flags.hosts)?;
    let log = flags.log.as_deref().map(|path| Log::begin(path, flags.log_interval, &scenario)).transpose()?;
    let (testbed, capture) = build(&scenario, flags.ipv6, flags.pcap.as_deref())?;
    let hosts = add_hosts(&testbed, flags.hosts)?;
    let hosts_of_ends = ends(&testbed, hosts.as_ref());
    let own = flags.name.as_deref().or(flags.command.is_empty().then_some(DEFAULT_NAME));
    let _names = own.map(|own| give_names(own, &hosts_of_ends)).transpose()?;
    let outside = flags.outside.then(|| open_outside(&testbed)).transpose()?;
    let name = own.unwrap_or(DEFAULT_NAME);
    let requests = Requests::listen(name, own.is_some(), hosts_of_ends.into_iter().flatten())
        .map_err(|error| Failure::broken(format!("requests of `cwnd lab set` cannot come: {error}")))?;
    let mut link = Link { flags: flags.link.clone(), testbed, hosts, requests, log };
    let mut live = Live::new(&scenario);
    let ended = if flags.command.is_empty() {
        keep_up(flags, name, &scenario, &mut link, &stop, &mut live).map(|()| None)
    } else {
        run_program(flags, &mut link)
    };
    let Link { testbed, mut log, .. } = link;
    // What comes when the program has ended, or while the link is taken down, does not count.
    let logged = log.as_mut().map_or(Ok(()), |log| log.last(testbed.snapshot()));
    if !flags.command.is_empty() && !flags.quiet {
        terminal::tell!("\n{}", live.text(testbed.snapshot(), terminal::columns()).trim_end());
    }
    drop(outside);
    // After an error, too: the capture is written to its end.
    let taken_down = take_down(testbed, capture);
    let ended = ended?;
    logged?;
    let TakenDown { record, other_drops } = taken_down?;
    if let Some(log) = log {
        log.end(&record, &other_drops, ended.map(exit_code))?;
    }
    ended.map_or(Ok(()), failure_of)
}

/// A link that is up.
struct Link {
    /// As they are now.
    flags: LinkFlags,
    testbed: Testbed,
    /// Where programs run, if that is not at the ends of the testbed.
    hosts: Option<Hosts>,
    requests: Requests,
    log: Option<Log>,
}

impl Link {
    /// Does what is to be done from time to time: changes that are requested, and the log.
    fn look_after(&mut self) -> Result<(), Failure> {
        if let Some(request) = self.requests.next() {
            let hosts = ends(&self.testbed, self.hosts.as_ref())[0].len() as u32;
            let changed = set::change(&self.flags, hosts, &self.testbed, request.text());
            if let (Ok((flags, scenario, at)), log) = (&changed, &mut self.log) {
                self.flags = flags.clone();
                log.as_mut().map_or(Ok(()), |log| log.changed(*at, scenario))?;
            }
            request.answer(changed.map(|(_, scenario, _)| comparison::link(&scenario)));
        }
        match &mut self.log {
            Some(log) => log.look(self.testbed.snapshot()),
            None => Ok(()),
        }
    }
}

/// Returns what becomes true when a user wants to end the link. Where there is a program, signals are for it.
fn stop_of(flags: &Flags) -> Result<Arc<AtomicBool>, Failure> {
    if flags.command.is_empty() {
        return interrupt::catch().map_err(Failure::broken);
    }
    relay_signals().map_err(|error| Failure::broken(format!("signals cannot be caught: {error}")))?;
    Ok(Arc::default())
}

/// Makes the hosts of a link that has several at each end.
fn add_hosts(testbed: &Testbed, count: u32) -> Result<Option<Hosts>, Failure> {
    if count == 1 {
        return Ok(None);
    }
    let hosts = testbed.add_hosts(count as usize);
    hosts.map(Some).map_err(|error| Failure::broken(format!("--hosts: {error}")))
}

/// Returns where programs run: the namespaces of the senders and those of the receivers.
fn ends<'a>(testbed: &'a Testbed, hosts: Option<&'a Hosts>) -> [Vec<&'a Namespace>; 2] {
    match hosts {
        None => [vec![testbed.senders()], vec![testbed.receivers()]],
        Some(hosts) => [&hosts.senders, &hosts.receivers].map(|end| end.iter().collect()),
    }
}

fn give_names(own: &str, ends: &[Vec<&Namespace>; 2]) -> Result<Vec<Named>, Failure> {
    let named = |name: String, namespace| {
        let named = Named::new(&name, namespace);
        named.map_err(|error| Failure::broken(format!("--name: {}", with_rights(&error, NAMES_NEED_ROOT))))
    };
    let all = ["a", "b"].into_iter().zip(ends).flat_map(|(end, hosts)| {
        let number = move |host: usize| if hosts.len() == 1 { String::new() } else { (host + 1).to_string() };
        let name = move |host| format!("{own}-{end}{}", number(host));
        hosts.iter().enumerate().map(move |(host, namespace)| named(name(host), namespace))
    });
    all.collect()
}

const NAMES_NEED_ROOT: &str =
    "only root of this host can name namespaces: give a program after `--`, which needs no names";
const OUTSIDE_NEEDS_ROOT: &str = "this takes root of this host";

/// Returns an error with what would be right if it is for want of rights.
fn with_rights(error: &io::Error, needed: &str) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => format!("{error}; {needed}"),
        _ => error.to_string(),
    }
}

fn open_outside(testbed: &Testbed) -> Result<Outside, Failure> {
    let outside = Outside::open(testbed).map_err(|error| {
        Failure::broken(format!("--outside: {}", with_rights(&error, OUTSIDE_NEEDS_ROOT)))
    })?;
    for warning in outside.warnings() {
        terminal::tell!("note: {warning}");
    }
    Ok(outside)
}

/// Returns where programs in the link find name servers.
fn resolver(flags: &Flags) -> Resolver {
    if !flags.outside {
        return Resolver::Own;
    }
    let found = Resolver::find(flags.ipv6);
    if found == Resolver::Unreachable {
        terminal::tell!(
            "note: names cannot be resolved in the link: /etc/resolv.conf names no server with an address that can be reached \
             through it"
        );
    }
    found
}

/// Returns how the program ended; nothing if the emulator ended before.
fn run_program(flags: &Flags, link: &mut Link) -> Result<Option<ExitStatus>, Failure> {
    let mut running = Running::start(
        &ends(&link.testbed, link.hosts.as_ref()),
        flags.ipv6,
        &resolver(flags),
        flags.server.as_deref(),
        &flags.command,
    )?;
    while !link.testbed.has_ended() {
        if let Some(ended) = running.ended()? {
            return Ok(Some(ended));
        }
        link.look_after()?;
        thread::sleep(TICK);
    }
    Ok(None)
}

/// Shows what crosses the link until it is to end.
fn keep_up(
    flags: &Flags,
    own: &str,
    scenario: &Scenario,
    link: &mut Link,
    stop: &AtomicBool,
    live: &mut Live<'_>,
) -> Result<(), Failure> {
    let last = flags.hosts as usize - 1;
    let end = |end, address: fn(usize) -> Ipv4Addr| match last {
        0 => format!("{own}-{end} {}", address(0)),
        _ => format!("{own}-{end}1 {} to {own}-{end}{} {}", address(0), last + 1, address(last)),
    };
    output::print(&format!(
        "\n  {}  ==  {}  ==  {}\n\n  Run programs with `ip netns exec {own}-a{} COMMAND`; {}.\n\n",
        end("a", address::sender),
        comparison::link(scenario),
        end("b", address::receiver),
        if last == 0 { "" } else { "1" },
        flags.duration.map_or("Ctrl-C ends it".to_owned(), |duration| format!("it ends after {duration}"))
    ))?;
    let terminal = io::stdout().is_terminal();
    let mut screen = Screen::default();
    let begin = Instant::now();
    let mut shown = begin;
    while !stop.load(Ordering::Relaxed)
        && !link.testbed.has_ended()
        && flags.duration.is_none_or(|duration| begin.elapsed() < Duration::from_nanos(duration.0))
    {
        thread::sleep(TICK);
        link.look_after()?;
        if flags.quiet || shown.elapsed() < SHOWN[usize::from(!terminal)] {
            continue;
        }
        shown = Instant::now();
        screen.show(&live.text(link.testbed.snapshot(), terminal::columns()))?;
    }
    if !terminal && !flags.quiet {
        output::print(&live.text(link.testbed.snapshot(), terminal::columns()))?;
    }
    Ok(())
}
