//! Expected cost of a run.
//!
//! The constants were fitted to peaks of resident memory and to CPU times of runs of release builds. Memory is an upper
//! estimate: windows are taken to fill what limits them. `tests/memory.rs` holds it to a factor of two of the bytes allocated.

use cwnd_link::SerialTime;
use cwnd_scenario::{Cost, Discipline, FlowSpec, LinkSpec, QueueLimit, Rate, Scenario};
use std::collections::BTreeMap;

/// CPU seconds a packet (data or ACK).
const CPU_PER_PACKET: f64 = 25e-9;
/// CPU seconds to set up a flow, and a link that keeps its queue.
const CPU_PER_FLOW: f64 = 25e-6;
const CPU_PER_QUEUED_LINK: f64 = 10e-6;
/// CPU seconds for each pair of links that keep their queues: each is a stage, all stages are visited in each round, and
/// more of them make more rounds. Measured from 16,000 to 256,000 links.
const CPU_PER_QUEUED_PAIR: f64 = 6e-10;
/// CPU seconds a time of sampling: at least, for each flow, and for each link that keeps its queue. All that runs has to come
/// to the time of each sample.
const CPU_PER_SAMPLE: [f64; 3] = [0.2e-6, 0.15e-6, 0.4e-6];

/// Bytes of a flow without its packets: its endpoints, its description, and its share of tables.
const FLOW: f64 = 3_000.0;
/// Bytes more of a flow whose sender records what it sends.
const RECORDS: f64 = 2_500.0;
/// Bytes of a link that a flow crosses, with its rings; more for one that keeps its queue; and more for each queue of
/// FQ-CoDel that is in use.
const LINK: f64 = 1_400.0;
const QUEUED_LINK: f64 = 5_000.0;
const FLOW_QUEUE: f64 = 1_000.0;
/// Bytes of a packet that is outstanding. It is in one ring at a time, but each ring keeps the room for the most that it
/// ever held, which doubles; records take as much again.
const PACKET: f64 = 180.0;
const RECORDED_PACKET: f64 = 300.0;
/// Bytes of a sample of a flow, and of a queue's length, with what writing them takes.
const SAMPLE: f64 = 120.0;
const LENGTH: f64 = 4.0;
/// Bytes of a value of an algorithm's state in a sample; the room for them doubles as they grow.
const OBSERVED: f64 = 16.0;
/// Bytes of a time of sampling.
const SAMPLE_TIME: f64 = 48.0;

/// Returns how many values of the state of algorithms a sample of all flows has.
fn observed_values(scenario: &Scenario) -> usize {
    let lasting = scenario.flows.iter().filter(|flow| !flow.short);
    lasting.map(|flow| cwnd_cc::find(&flow.algorithm.name).map_or(0, |info| info.observables.len())).sum()
}

/// A flow's demand on memory and time.
struct Demand {
    /// Packets that it can have outstanding, by itself.
    outstanding: f64,
    /// Packets that it can send.
    sent: f64,
    /// Base round-trip time, seconds.
    rtt: f64,
}

/// Computes the cost of a scenario that has been checked. `keeps_records`: an algorithm asks for records of what is sent.
pub(crate) fn cost(scenario: &Scenario, keeps_records: bool) -> Cost {
    let links = &scenario.network.links;
    let stack = &scenario.stack;
    let flows = scenario.flows.len() as f64;
    let demands: Vec<Demand> = scenario.flows.iter().map(|flow| demand(scenario, flow)).collect();

    let packets = 2.0 * packets(scenario, &demands);
    let keeps_records = keeps_records || !stack.timestamps || stack.recovery.is_by_time();
    let (flow, packet) = if keeps_records { (FLOW + RECORDS, RECORDED_PACKET) } else { (FLOW, PACKET) };
    let used = crossings(scenario);
    let of_links: f64 = used.iter().map(|(&link, &channels)| link_memory(&links[link], channels)).sum();

    let samples =
        scenario.sample.map_or(0.0, |every| scenario.duration.0 as f64 / every.0.max(1) as f64 + 1.0);
    let sampled_flows = scenario.lasting_flows() as f64;
    let lengths = scenario.network.sampled_links().len() as f64;
    let observed = observed_values(scenario) as f64;
    let queued = used.keys().filter(|&&link| !links[link].is_plain()).count() as f64;
    let [least, each_flow, each_queue] = CPU_PER_SAMPLE;

    let cpu_s = packets * CPU_PER_PACKET
        + flows * CPU_PER_FLOW
        + queued * (CPU_PER_QUEUED_LINK + queued * CPU_PER_QUEUED_PAIR)
        + samples * (least + flows * each_flow + queued * each_queue);
    Cost {
        packets,
        cpu_s,
        wall_s: cpu_s,
        memory: outstanding(scenario, &demands) * packet
            + flows * flow
            + of_links
            + samples * (SAMPLE_TIME + SAMPLE * sampled_flows + OBSERVED * observed + LENGTH * lengths),
    }
}

fn demand(scenario: &Scenario, flow: &FlowSpec) -> Demand {
    let (links, stack) = (&scenario.network.links, &scenario.stack);
    let size = f64::from(stack.full_packet());
    let seconds = scenario.duration.as_secs_f64();
    let rate = flow.route.iter().map(|&link| links[link].rate).min().unwrap_or(Rate::UNLIMITED);
    let route = flow.route.iter().chain(&flow.ack_route);
    let rtt: f64 = route.map(|&link| links[link].delay.as_secs_f64()).sum();
    let window = f64::from(stack.receive_window);
    // A full window a round trip is the most that an unlimited rate can carry.
    let shortest = (rtt + 2.0 * SerialTime::new(rate).of(stack.full_packet()) as f64 * 1e-9).max(1e-7);
    let by_window = window / shortest * seconds;
    let by_bytes = flow.bytes.map_or(f64::INFINITY, |bytes| bytes as f64 / f64::from(stack.payload) * 2.0);
    let by_rate = match rate {
        Rate::UNLIMITED => f64::INFINITY,
        rate => rate.0 as f64 * seconds / 8.0 / size,
    };
    // A window at most doubles in a round trip.
    let doublings = seconds / rtt.max(1e-7);
    let grown = f64::from(stack.initial_window) * libm::exp2(doublings.min(64.0));
    Demand { outstanding: window.min(by_bytes).min(grown), sent: by_window.min(by_bytes).min(by_rate), rtt }
}

/// Returns an upper estimate of the data packets that are sent: each flow is held by the narrowest link that it crosses, and
/// a link is full at most.
fn packets(scenario: &Scenario, demands: &[Demand]) -> f64 {
    let links = &scenario.network.links;
    let size = f64::from(scenario.stack.full_packet());
    let seconds = scenario.duration.as_secs_f64();
    let mut sent = BTreeMap::<usize, f64>::new();
    for (flow, demand) in scenario.flows.iter().zip(demands) {
        let narrowest = flow.route.iter().copied().min_by_key(|&link| (links[link].rate, link)).unwrap_or(0);
        *sent.entry(narrowest).or_default() += demand.sent;
    }
    let sent = sent.into_iter().map(|(link, wanted)| match links[link].rate {
        Rate::UNLIMITED => wanted,
        rate => wanted.min(rate.0 as f64 * seconds / 8.0 / size * 1.1),
    });
    sent.sum()
}

/// Returns an upper estimate of the packets that all flows together have outstanding: windows stop growing when a link on
/// the route overflows.
///
/// Each flow counts at the link on its route whose capacity, divided by the flows that cross it, is least; there the flows
/// have no more outstanding than the link holds. What else they could fill does not matter: packets do not come through.
fn outstanding(scenario: &Scenario, demands: &[Demand]) -> f64 {
    let links = &scenario.network.links;
    let size = f64::from(scenario.stack.full_packet());
    // For each link the flows whose data crosses it, and the longest of their round-trip times.
    let mut crossed = vec![(0.0f64, 0.0f64); links.len()];
    for (flow, demand) in scenario.flows.iter().zip(demands) {
        for &link in &flow.route {
            let (flows, rtt) = &mut crossed[link];
            (*flows, *rtt) = (*flows + 1.0, rtt.max(demand.rtt));
        }
    }
    let seconds = scenario.duration.as_secs_f64();
    let first = f64::from(scenario.stack.initial_window);
    let capacity = |link: usize| {
        let (flows, rtt) = crossed[link];
        // A window grows by no more than what is acknowledged, which the link has transmitted.
        let unlimited = flows * first + links[link].rate.0 as f64 * seconds / 8.0 / size;
        capacity(&links[link], rtt, size, unlimited)
    };
    let mut wanted = BTreeMap::<usize, f64>::new();
    for (flow, demand) in scenario.flows.iter().zip(demands) {
        let share = |link: usize| capacity(link) / crossed[link].0;
        let least = flow.route.iter().copied().min_by(|&a, &b| share(a).total_cmp(&share(b))).unwrap_or(0);
        *wanted.entry(least).or_default() += demand.outstanding;
    }
    wanted.into_iter().map(|(link, wanted)| wanted.min(capacity(link))).sum()
}

/// Returns how many full packets are outstanding when a link's queue is full, on round trips of `rtt` seconds. A queue without a limit
/// holds at most `unlimited`.
fn capacity(link: &LinkSpec, rtt: f64, size: f64, unlimited: f64) -> f64 {
    let queue = match link.queue.limit {
        QueueLimit::Packets(n) => f64::from(n),
        QueueLimit::Bytes(bytes) => bytes as f64 / size,
        QueueLimit::Unlimited if link.schedule.is_none() => unlimited,
        QueueLimit::Unlimited => f64::INFINITY,
    };
    match link.rate {
        Rate::UNLIMITED => f64::INFINITY,
        rate => queue + rate.0 as f64 * rtt / 8.0 / size + 1.0,
    }
}

/// Returns the links that are crossed, and by how many channels (data or ACKs of a flow).
fn crossings(scenario: &Scenario) -> BTreeMap<usize, f64> {
    let mut crossings = BTreeMap::new();
    for &link in scenario.flows.iter().flat_map(|flow| flow.route.iter().chain(&flow.ack_route)) {
        *crossings.entry(link).or_default() += 1.0;
    }
    crossings
}

fn link_memory(link: &LinkSpec, channels: f64) -> f64 {
    let queues = match link.queue.discipline {
        Discipline::FqCoDel(fq) => f64::from(fq.queues.max(1)).min(channels) * FLOW_QUEUE,
        _ => 0.0,
    };
    LINK + if link.is_plain() { 0.0 } else { QUEUED_LINK } + queues
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_experiment::{ExperimentSpec, FlowGroup};
    use cwnd_scenario::{AlgorithmSpec, FqCoDel, Time};

    fn cost_of(flows: u32, change: impl FnOnce(&mut Scenario)) -> Cost {
        let cubic = AlgorithmSpec { name: "cubic".into(), ..AlgorithmSpec::default() };
        let setup = ExperimentSpec {
            rate: Rate(10_000_000_000),
            duration: Time::from_secs(10),
            ..ExperimentSpec::default()
        };
        let mut scenario = setup.scenario(&[FlowGroup::new(cubic, flows)], 1).expect("a network");
        change(&mut scenario);
        crate::check::check_with(&scenario, &crate::factory::registered).expect("a scenario that can be run")
    }

    #[test]
    fn many_flows_share_what_their_bottleneck_holds() {
        // A run of 4,000 flows at 10 Gbit/s takes 140 MB.
        let memory = cost_of(4_000, |_| {}).memory;
        assert!((80e6..250e6).contains(&memory), "{memory}");
        // 100,000 flows take 0.9 GB, for which a millisecond is enough.
        let memory = cost_of(100_000, |scenario| scenario.duration = Time::from_millis(1)).memory;
        assert!((0.6e9..1.8e9).contains(&memory), "{memory}");
    }

    #[test]
    fn one_flow_may_fill_a_long_line() {
        // 2 x 5 s at 10 Gbit/s are more than ten million packets.
        let long = |scenario: &mut Scenario| {
            scenario.network.links.iter_mut().for_each(|link| link.delay = Time::from_secs(5));
            scenario.duration = Time::from_secs(10_000);
            scenario.stack.receive_window = cwnd_scenario::Stack::LARGEST_WINDOW;
        };
        assert!(cost_of(1, long).memory > 1e9);
    }

    #[test]
    fn samples_take_memory_and_time() {
        let sampled = |scenario: &mut Scenario| scenario.sample = Some(Time(1_000));
        let (bare, sampled) = (cost_of(1, |_| {}), cost_of(1, sampled));
        // Ten million of one flow.
        assert!(sampled.memory - bare.memory > 720e6, "{sampled:?}");
        assert!((1.0..30.0).contains(&(sampled.cpu_s - bare.cpu_s)), "{sampled:?} {bare:?}");
    }

    #[test]
    fn queues_of_fq_codel_are_counted_as_they_can_be_used() {
        let with = |queues: u32| {
            move |scenario: &mut Scenario| {
                let fq = Discipline::FqCoDel(FqCoDel { queues, ..FqCoDel::default() });
                scenario.network.links.iter_mut().for_each(|link| link.queue.discipline = fq);
            }
        };
        let [few, many] = [1, 65_536].map(|queues| cost_of(1_000, with(queues)).memory);
        // Two links are crossed by 1,000 channels each, the others by one.
        assert!((many - few - 2.0 * 999.0 * FLOW_QUEUE).abs() < 1.0, "{few} {many}");
    }
}
