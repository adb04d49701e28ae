//! A run: both ends are made, the emulator between them, and the flows' sockets; and all is taken apart again.

use crate::address;
use crate::algorithms::Algorithms;
use crate::drops::Drops;
use crate::emulator::{Clock, Emulator, PacketObserver, Plan, Record, Snapshot};
use crate::ends::{Ends, Settings};
use crate::host::{self, HostTime};
use crate::live::LiveFlows;
use crate::outcome::{self, Measurements};
use crate::receivers::Receivers;
use crate::socket;
use crate::testbed::{batching, drive};
use crate::traffic::{FlowPlan, Traffic, TrafficPlan, TrafficRecord};
use cwnd_scenario::{EngineError, FlowSpec, Outcome, Rate, Scenario};
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// From the start of the clock to the first handshake: until all threads are there, ns.
const LEAD: u64 = 200_000_000;

/// How often to look whether something has ended.
const TICK: Duration = Duration::from_millis(10);

/// Why a run failed that was stopped.
const STOPPED: &str = "it was stopped";

/// Wire bytes of a SYN, about: 40 of headers, 20 of options, and Ethernet.
const SYN: u64 = 74;

/// Run a scenario that has been checked.
///
/// # Errors
/// If a thing cannot be made, a connection breaks, it is stopped, or packets were dropped where none may be.
pub fn run(
    scenario: &Scenario,
    observer: Option<Box<dyn PacketObserver>>,
    live: Option<Arc<LiveFlows>>,
    time: HostTime,
    stop: &AtomicBool,
) -> Result<Outcome, EngineError> {
    let failed = |what: &str| {
        let what = what.to_owned();
        move |error: io::Error| EngineError::Failed(format!("{what}: {error}"))
    };
    let Some(_alone) = alone(stop).map_err(failed("no lock can be had"))? else {
        return Err(EngineError::Failed(STOPPED.to_owned()));
    };
    let mut algorithms = Algorithms::load(scenario).map_err(EngineError::Failed)?;
    let settings = Settings::of(&scenario.stack);
    let (ends, tuns) = Ends::new(&settings).map_err(failed("the two ends cannot be made"))?;
    let before = Drops::now(&ends).map_err(failed("the kernel's counters"))?;
    let stolen = host::stolen();
    let clock = Clock::start();
    let times = Times::of(scenario);
    let plan = Plan {
        warm_up: times.warm_up,
        end: times.end,
        samples: times.samples.clone(),
        sampled: scenario.network.sampled_links(),
        batching: batching(scenario, time),
    };
    let drive = drive(scenario, &settings, tuns, clock, times.origin, plan, observer);
    let mut drive = drive.map_err(failed("the network"))?;
    let receivers = ends.receivers.within(|| listen(scenario, &algorithms));
    let receivers = receivers.map_err(failed("the receivers"))?;
    let rest = receivers_rest(scenario);
    // A thread of their own would cost two context switches for each packet, on the one processor of a virtual machine.
    let receivers = if time == HostTime::Virtual && rest.is_zero() {
        drive.set_receivers(receivers);
        None
    } else {
        Some((receivers, rest))
    };
    let emulator = Emulator::start(drive).map_err(failed("the emulator cannot be started"))?;
    let plan = TrafficPlan { live: live.clone(), ..traffic_plan(scenario, &algorithms, &times) };
    let states = std::mem::take(&mut algorithms.states);
    let traffic = Traffic::start(plan, states, clock, &ends.senders, receivers);
    let traffic = traffic.map_err(failed("the flows"))?;

    let look =
        |snapshot: Snapshot| live.iter().for_each(|live| live.tell_network(snapshot.clone(), times.origin));
    let stopped = wait(&emulator, &traffic, stop, &look);
    let record = emulator.end().map_err(failed("the emulator"))?;
    // Before anything else: what the flows continue to send is taken by nobody.
    let after = Drops::now(&ends).map_err(failed("the kernel's counters"))?;
    let told: TrafficRecord = traffic.end().map_err(failed("the flows"))?;
    if stopped {
        return Err(EngineError::Failed(STOPPED.to_owned()));
    }
    refuse_other_drops(&record, &after.since(&before))?;
    let (from, to) = (stolen, host::stolen());
    let steal = (to.0 - from.0) as f64 / ((to.1 - from.1) as f64).max(1.0);
    Ok(outcome::outcome(
        scenario,
        &Measurements {
            record,
            told,
            origin: times.origin,
            samples: times.samples,
            steal,
            implementations: algorithms.implementations.clone(),
        },
    ))
}

/// Wait until no other run is on, of whatever process: two would take each other's CPU. The answer is that for as long as it lives;
/// nothing if it was stopped meanwhile. The lock is a name that the kernel forgets with the process.
fn alone(stop: &AtomicBool) -> io::Result<Option<UnixListener>> {
    let name = SocketAddr::from_abstract_name("cwnd-lab")?;
    while !stop.load(Ordering::Relaxed) {
        match UnixListener::bind_addr(&name) {
            Ok(lock) => return Ok(Some(lock)),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => thread::sleep(TICK),
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// The times of a run on the emulator's clock, ns.
struct Times {
    /// The scenario's time zero.
    origin: u64,
    /// The scenario's end.
    end: u64,
    warm_up: Option<u64>,
    samples: Vec<u64>,
}

impl Times {
    fn of(scenario: &Scenario) -> Times {
        let flows = scenario.flows.iter().enumerate();
        let early = flows.map(|(i, flow)| handshake(scenario, flow).saturating_sub(scenario.start_of(i).0));
        let origin = LEAD + early.max().unwrap_or(0);
        let samples = scenario.sample.map(|every| {
            let count = scenario.duration.0 / every.0;
            (0..=count).map(|i| origin + i * every.0).collect()
        });
        Times {
            origin,
            end: origin + scenario.duration.0,
            warm_up: (scenario.warm_up.0 > 0).then_some(origin + scenario.warm_up.0),
            samples: samples.unwrap_or_default(),
        }
    }
}

/// How long a handshake takes on an idle network.
fn handshake(scenario: &Scenario, flow: &FlowSpec) -> u64 {
    let links = flow.route.iter().chain(&flow.ack_route).map(|&link| &scenario.network.links[link]);
    links
        .map(|link| {
            link.delay.0 + if link.rate == Rate::UNLIMITED { 0 } else { SYN * 8_000_000_000 / link.rate.0 }
        })
        .sum()
}

fn traffic_plan(scenario: &Scenario, algorithms: &Algorithms, times: &Times) -> TrafficPlan {
    let flows = scenario.flows.iter().zip(&algorithms.names).enumerate();
    let flows = flows.map(|(i, (flow, algorithm))| {
        let start = times.origin + scenario.start_of(i).0;
        FlowPlan {
            algorithm: algorithm.clone(),
            connect: start - handshake(scenario, flow),
            start,
            stop: flow.stop.map(|stop| times.origin + stop.0),
            bytes: flow.bytes,
        }
    });
    TrafficPlan { flows: flows.collect(), warm_up: times.warm_up, samples: times.samples.clone(), live: None }
}

/// Opens the receivers' sockets.
fn listen(scenario: &Scenario, algorithms: &Algorithms) -> io::Result<Receivers> {
    let window = scenario.stack.receive_window.saturating_mul(scenario.stack.payload);
    let names = algorithms.names.iter().enumerate();
    let listeners = names.map(|(i, algorithm)| socket::listen(address::receiver(i), algorithm, window));
    Receivers::new(listeners.collect::<io::Result<_>>()?, window)
}

/// Returns how long receivers rest after they have read. Up to 200 Mbit/s they read at once, as applications do. Above it the many
/// wakings would take the CPU time that the network needs, and buffers are large.
fn receivers_rest(scenario: &Scenario) -> Duration {
    const AT_ONCE: u64 = 200_000_000;
    let rate = scenario.network.links[scenario.network.bottleneck].rate;
    if rate.0 <= AT_ONCE { Duration::ZERO } else { Duration::from_millis(2) }
}

/// Wait for the end, and passes the network's counts to `look` meanwhile. Returns whether it was stopped before.
fn wait(emulator: &Emulator, traffic: &Traffic, stop: &AtomicBool, look: &dyn Fn(Snapshot)) -> bool {
    loop {
        if stop.load(Ordering::Relaxed) {
            return true;
        }
        let snapshot = emulator.control().snapshot();
        if emulator.has_ended() || traffic.has_ended() || snapshot.completed {
            return false;
        }
        look(snapshot);
        thread::sleep(TICK);
    }
}

/// The emulator's queues are the only ones that may drop.
fn refuse_other_drops(record: &Record, elsewhere: &[String]) -> Result<(), EngineError> {
    let mut drops = elsewhere.to_vec();
    if let (count @ 1.., why) = &record.refused {
        drops.push(format!("devices refused {count} ({})", why.as_deref().unwrap_or("no reason")));
    }
    if drops.is_empty() {
        return Ok(());
    }
    Err(EngineError::Failed(format!(
        "packets were dropped by others than the emulator's queues, so that this was not the network that was asked for: {}. \
         Is the machine too slow, or short of memory? `cwnd lab bench` tells what it can hold",
        drops.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_elsewhere_fail_a_run_and_say_where() {
        assert_eq!(refuse_other_drops(&Record::default(), &[]), Ok(()));
        let refused = Record { refused: (2, Some("no memory".into())), ..Record::default() };
        let Err(EngineError::Failed(why)) =
            refuse_other_drops(&refused, &["receivers: Ip InDiscards 3".into()])
        else {
            panic!("it was valid")
        };
        assert!(why.contains("receivers: Ip InDiscards 3, devices refused 2 (no memory)"), "{why}");
    }
}
