//! A network that stays up for other programs.

use crate::drops::Drops;
use crate::emulator::{
    Accounts, Batching, Clock, Device, Drive, Emulator, Inside, NewLinks, PacketObserver, Plan, Pool,
    RateMeter, Snapshot, network,
};
use crate::ends::{ETHERNET, Ends, Settings};
use crate::host::HostTime;
use crate::hosts::Hosts;
use crate::namespace::Namespace;
use cwnd_scenario::{QueueLimit, Rate, Scenario};
use std::io;

/// A scenario's network between two namespaces, in which any program may run. What goes to the n-th address of the receivers'
/// network takes the way of the n-th flow, and all else that of the first.
///
/// It goes away when it is dropped, or the process ends in whatever way.
pub struct Testbed {
    ends: Ends,
    emulator: Emulator,
    before: Drops,
    settings: Settings,
}

impl Testbed {
    /// Build it; time zero of the scenario's schedules is now. Its flows say the ways, and nothing else of them counts.
    ///
    /// # Errors
    /// What could not be made.
    pub fn new(scenario: &Scenario, observer: Option<Box<dyn PacketObserver>>) -> io::Result<Testbed> {
        let settings = Settings::of(&scenario.stack);
        let (ends, tuns) = Ends::new(&settings)?;
        let before = Drops::now(&ends)?;
        let clock = Clock::start();
        let batching = batching(scenario, HostTime::of_this_host());
        let plan = Plan { warm_up: None, end: u64::MAX, samples: Vec::new(), sampled: Vec::new(), batching };
        let emulator = Emulator::start(drive(scenario, &settings, tuns, clock, 0, plan, observer)?)?;
        Ok(Testbed { ends, emulator, before, settings })
    }

    /// Gives both ends addresses of IPv6, too ([`crate::address`]).
    ///
    /// # Errors
    /// A kernel without IPv6.
    pub fn add_ipv6(&mut self) -> io::Result<()> {
        self.ends.add_ipv6(&self.settings)
    }

    /// Returns whether both ends have addresses of IPv6.
    pub fn has_ipv6(&self) -> bool {
        self.ends.has_ipv6
    }

    /// Puts hosts behind both ends, once, as many at each as the scenario has flows, with the kinds of addresses that the ends have.
    /// The ends become routers: programs run in the hosts from then on.
    ///
    /// # Errors
    /// What could not be made.
    pub fn add_hosts(&self, count: usize) -> io::Result<Hosts> {
        Hosts::new(&self.ends, &self.settings, count)
    }

    /// Where flows are sent from.
    pub fn senders(&self) -> &Namespace {
        &self.ends.senders
    }

    /// Where they are received.
    pub fn receivers(&self) -> &Namespace {
        &self.ends.receivers
    }

    /// How many packets each end's device holds.
    pub fn device_queue(&self) -> u32 {
        self.ends.device_queue
    }

    /// What has been counted.
    pub fn snapshot(&self) -> Snapshot {
        self.emulator.control().snapshot()
    }

    /// Changes the links to those of another scenario with the same topology, and waits until that is done, 20 ms at most. Returns the
    /// time of the change, ns since the emulator began.
    ///
    /// # Errors
    /// What cannot change while a link runs: the queue's discipline, schedules, traces, ACK thinning, and whether jitter reorders.
    /// Nothing is changed then.
    pub fn change(&self, to: &Scenario) -> Result<u64, String> {
        let links = to.network.links.clone();
        self.emulator.control().change(NewLinks { links, batching: batching(to, HostTime::of_this_host()) })
    }

    /// Whether the emulator has ended by itself, which it does only if something is wrong: [`Testbed::end`] tells what.
    pub fn has_ended(&self) -> bool {
        self.emulator.has_ended()
    }

    /// What others than the emulator's queues have dropped so far, as `receivers: TCPBacklogDrop 12`.
    ///
    /// # Errors
    /// If the kernel's counters cannot be read.
    pub fn other_drops(&self) -> io::Result<Vec<String>> {
        Ok(Drops::now(&self.ends)?.since(&self.before))
    }

    /// Take it down. Returns what was counted.
    ///
    /// # Errors
    /// What the emulator ended with before.
    pub fn end(self) -> io::Result<crate::emulator::Record> {
        self.emulator.end()
    }
}

/// Above this rate packets are received several at a time, bit/s. Up to it the machine can give each to its receiver, who then
/// acknowledges as often as without a network card that joins them.
const JOINS_ABOVE: u64 = 1_000_000_000;

/// Exact wake-ups in a millisecond where they take a CPU from others.
const WAKINGS: u32 = 3;

/// Up to this rate all wake-ups in virtual time are exact, bit/s. At this rate they make a run a fifth longer.
const ALL_EXACT_UP_TO: u64 = 100_000_000;

/// Returns how the emulator handles packets together.
pub fn batching(scenario: &Scenario, time: HostTime) -> Batching {
    let rate = scenario.network.links[scenario.network.bottleneck].rate.0;
    let all_are_exact = time == HostTime::Virtual && rate <= ALL_EXACT_UP_TO;
    let wakings = if all_are_exact { u32::MAX } else { WAKINGS };
    Batching { wakings, rest: rest(scenario), joins: rate > JOINS_ABOVE }
}

/// Returns how long the emulator sleeps between wakings under load, ns. Packets that wait for it leave in one burst. The burst must not
/// fill more than a fraction of the bottleneck's queue.
fn rest(scenario: &Scenario) -> u64 {
    const LEAST: u64 = 30_000;
    const MOST: u64 = 150_000;
    const PART: f64 = 1.0 / 16.0;
    let bottleneck = &scenario.network.links[scenario.network.bottleneck];
    let bytes = match bottleneck.queue.limit {
        QueueLimit::Packets(packets) => f64::from(packets) * f64::from(scenario.stack.full_packet()),
        QueueLimit::Bytes(bytes) => bytes as f64,
        QueueLimit::Unlimited => return MOST,
    };
    // Of an unlimited rate it is nothing, and of none for ever.
    let drained = bytes * 8e9 / bottleneck.rate.0 as f64;
    ((drained * PART) as u64).clamp(LEAST, MOST)
}

/// Bytes of packets for which memory is prepared, at most.
const MOST_PREPARED: usize = 100_000_000;

/// The emulator of a scenario's network, whose time zero is `origin` on the clock.
///
/// # Errors
/// The links of a route are not joined.
pub fn drive(
    scenario: &Scenario,
    settings: &Settings,
    tuns: [crate::tun::Tun; 2],
    clock: Clock,
    origin: u64,
    plan: Plan,
    observer: Option<Box<dyn PacketObserver>>,
) -> io::Result<Drive> {
    let bottleneck = &scenario.network.links[scenario.network.bottleneck];
    let steady = bottleneck.schedule.is_none() && bottleneck.rate != Rate::UNLIMITED;
    let in_order = bottleneck.effects.jitter.is_none_or(|jitter| !jitter.reorders);
    let meter = (steady && in_order).then(|| RateMeter::new(bottleneck.rate.0));
    let held = (packets_held(scenario) as usize).min(MOST_PREPARED / settings.mtu as usize);
    let inside = Inside {
        accounts: Accounts::new(scenario.flows.iter().map(|flow| flow.bytes), ETHERNET),
        pool: Pool::new(settings.mtu as usize, held),
        bottleneck: scenario.network.bottleneck,
    };
    let ways = scenario.flows.iter().flat_map(|flow| [flow.route.clone(), flow.ack_route.clone()]);
    let full_packet = scenario.stack.full_packet();
    let of_network = cwnd_net::Settings { seed: scenario.seed, origin, full_packet, ..Default::default() };
    let net = network(&scenario.network.links, ways.collect(), &of_network, inside);
    let links = scenario.network.links.clone();
    let ends = tuns.map(|tun| Device::new(tun, plan.batching.joins));
    Ok(Drive::new(net.map_err(io::Error::other)?, links, ends, clock, meter, plan, observer))
}

/// Full packets that cross a scenario's bottleneck in a second; none where its rate is unlimited.
pub fn packets_a_second(scenario: &Scenario) -> f64 {
    match scenario.network.links[scenario.network.bottleneck].rate {
        Rate::UNLIMITED => 0.0,
        rate => rate.0 as f64 / 8.0 / f64::from(scenario.stack.full_packet()),
    }
}

/// Full packets that its queues and lines may hold, about.
pub fn packets_held(scenario: &Scenario) -> f64 {
    let size = f64::from(scenario.stack.full_packet());
    let a_second = packets_a_second(scenario);
    let held = scenario.network.links.iter().map(|link| {
        let queue = match link.queue.limit {
            QueueLimit::Packets(packets) => f64::from(packets),
            QueueLimit::Bytes(bytes) => bytes as f64 / size,
            QueueLimit::Unlimited => 0.0,
        };
        queue + a_second * link.delay.as_secs_f64()
    });
    held.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::smallest;

    #[test]
    fn all_wakings_are_exact_where_they_take_no_cpu_from_others_and_are_not_too_many() {
        let at = |rate, time| {
            let mut scenario = smallest();
            scenario.network.links[0].rate = Rate(rate);
            batching(&scenario, time).wakings
        };
        assert_eq!(at(100_000_000, HostTime::Virtual), u32::MAX);
        assert_eq!(at(100_000_000, HostTime::Real), 3);
        assert_eq!(at(1_000_000_000, HostTime::Virtual), 3);
    }
}
