//! Observed packets: a run that is observed has the outcome of one that is not, and reports what links count.

use cwnd_experiment::{Buffer, FlowGroup};
use cwnd_experiment::{ExperimentSpec, LineDelay, Topology};
use cwnd_scenario::{
    AlgorithmSpec, Counting, Jitter, JitterShape, LinkSpec, Loss, Outcome, QueueLimit, QueueSpec, Rate,
    Scenario, StackProfile, Ties, Time,
};
use cwnd_sim::watch::{End, PacketEvent, PacketObserver, Point};
use cwnd_sim::{Options, Simulation, registered};

/// One packet at 10 Mbit/s, ns.
const PACKET: u64 = 840_000;

/// Flows over a path of 10 Mbit/s and 10 ms in each direction. Packets have 1,050 B, ACKs 50 B.
fn scenario(flows: u32) -> Scenario {
    let setup = ExperimentSpec {
        topology: Topology::Path,
        stack: StackProfile::Ns2.into(),
        rate: Rate(10_000_000),
        delay: LineDelay::OneWay(Time::from_millis(10)),
        buffer: Buffer::from(20),
        duration: Time::from_secs(10),
        start_jitter: Some(Time::ZERO),
        send_overhead: Some(Time::ZERO),
        ..ExperimentSpec::default()
    };
    let newreno = AlgorithmSpec { name: "newreno".to_owned(), ..AlgorithmSpec::default() };
    let mut scenario = setup.scenario(&[FlowGroup::new(newreno, flows)], 1).expect("the setup is valid");
    (scenario.stack.first_packet, scenario.stack.ack_size) = (None, 50);
    scenario
}

/// Counts the packets at each point, and those among them that the queue dropped.
#[derive(Default)]
struct Counter(Vec<(u64, u64)>);

impl PacketObserver for Counter {
    fn on_packet(&mut self, event: &PacketEvent<'_>) {
        self.0.resize(self.0.len().max(event.point + 1), (0, 0));
        self.0[event.point].0 += 1;
        self.0[event.point].1 += u64::from(event.dropped);
    }
}

fn run(scenario: &Scenario, points: &[Point], end: Time) -> (Outcome, Counter) {
    let options = Options { points: points.to_vec(), ..Options::default() };
    let mut simulation =
        Simulation::with_options(scenario, &registered, &options).unwrap_or_else(|error| panic!("{error}"));
    let mut counter = Counter::default();
    simulation.run_observed(end, &mut counter);
    simulation.end_observation(&mut counter);
    (simulation.outcome(), counter)
}

/// Two senders behind links of their own share a third link, where the packet goes first whose link had its turn longest
/// ago. Flow 1's first packet arrives there after one packet time, flow 0's is lost and would arrive half a packet time
/// later; the second packets of both arrive together, and only one of them may wait. The lost packet had its turn, so flow
/// 1 goes first.
#[test]
fn a_lost_packet_has_its_turn_behind_an_observed_link() {
    let mut scenario = scenario(2);
    let queue = |limit| QueueSpec::drop_tail(limit, Counting::WaitingOnly);
    let line = LinkSpec { queue: queue(QueueLimit::Unlimited), ..scenario.network.links[0].clone() };
    let link = |from, to| LinkSpec { from, to, ..line.clone() };
    scenario.network.nodes = ["sender-0", "sender-1", "router", "receiver"].map(str::to_owned).to_vec();
    scenario.network.links = vec![
        LinkSpec { rate: Rate(20_000_000), loss: Loss::Nth(vec![1]), ..link(0, 2) },
        link(1, 2),
        LinkSpec { rate: Rate(2_500_000), queue: queue(QueueLimit::Packets(1)), ..link(2, 3) },
        link(3, 0),
        link(3, 1),
    ];
    scenario.network.bottleneck = 2;
    for (flow, ack_route) in [3, 4].into_iter().enumerate() {
        (scenario.flows[flow].route, scenario.flows[flow].ack_route) = (vec![flow, 2], vec![ack_route]);
    }
    scenario.flows[0].start = Time(PACKET);
    scenario.ties = Ties::ByTurn;
    let end = Time(Time::from_millis(10).0 + 3 * PACKET);
    for points in [vec![], vec![Point { link: 0, end: End::Leave }], vec![Point { link: 2, end: End::Enter }]]
    {
        let (outcome, _) = run(&scenario, &points, end);
        let dropped = [0, 1].map(|flow: usize| outcome.flows[flow].packets_dropped);
        assert_eq!((outcome.flows[0].packets_lost, dropped), (1, [1, 0]), "observed at {points:?}");
    }
}

/// The ACKs that follow a loss are equal. Some of them wait in the queue that thins them while others have passed the
/// observed point and not reached the queue yet.
/// Packets that overtake others cause equal ACKs. Some of these wait in a queue where new ACKs replace old ones, while others
/// have passed the observed point and not reached the queue yet.
#[test]
fn each_drop_is_reported_once_among_equal_packets() {
    let mut scenario = scenario(1);
    scenario.stack.sack = false;
    let [forward, reverse] = &mut scenario.network.links[..] else { panic!("a path has two links") };
    let shape = JitterShape::Sometimes(0.1, Time::from_millis(2));
    forward.effects.jitter = Some(Jitter { shape, reorders: true });
    reverse.rate = Rate(200_000);
    reverse.effects.ack_thinning = Some(4);
    let (outcome, counter) = run(&scenario, &[Point { link: 1, end: End::Enter }], scenario.duration);
    let link = &outcome.links[1];
    assert!(link.dropped > 5_000, "{link:?}");
    assert_eq!(counter.0, [(link.arrived, link.dropped)]);
}
