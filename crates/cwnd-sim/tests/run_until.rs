//! The public interface to run, inspect, change and continue.

use cwnd_cc::CongestionControl;
use cwnd_experiment::{Buffer, FlowGroup};
use cwnd_experiment::{ExperimentSpec, LineDelay, Topology};
use cwnd_scenario::{
    AlgorithmSpec, CoDel, Counting, DeliveryTrace, Discipline, Effects, Engine, EngineError, FlowOutcome,
    FlowSpec, Helpers, Jitter, JitterShape, Loss, Outcome, Problem, QueueLimit, QueueSpec, Rate, Scenario,
    Schedule, StackProfile, Time, Traffic,
};
use cwnd_sim::{FlowState, Options, Simulation, Simulator, registered, run_with, run_with_options};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

const MS: u64 = 1_000_000;

fn group(flows: u32) -> FlowGroup {
    FlowGroup::new(AlgorithmSpec { name: "newreno".to_owned(), ..AlgorithmSpec::default() }, flows)
}

/// Two flows for 10 s over a path of 10 Mbit/s with a round-trip time of 20 ms; a packet takes 840 us.
fn setup() -> ExperimentSpec {
    ExperimentSpec {
        topology: Topology::Path,
        stack: StackProfile::Ns2.into(),
        rate: Rate(10_000_000),
        delay: LineDelay::OneWay(Time::from_millis(10)),
        buffer: Buffer::from(20),
        duration: Time::from_secs(10),
        start_jitter: Some(Time::ZERO),
        send_overhead: Some(Time::ZERO),
        ..ExperimentSpec::default()
    }
}

/// All data packets have 1,050 B, and ACKs 50.
fn scenario() -> Scenario {
    let mut scenario = setup().scenario(&[group(2)], 1).expect("the setup can be met");
    (scenario.stack.first_packet, scenario.stack.ack_size) = (None, 50);
    scenario
}

fn begin(scenario: &Scenario) -> Simulation<'static> {
    Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}"))
}

fn run_to(scenario: &Scenario, time: Time) -> Outcome {
    let mut simulation = begin(scenario);
    simulation.run_until(time);
    simulation.outcome()
}

#[track_caller]
fn message(result: Result<(), Problem>) -> String {
    result.expect_err("it is refused").to_string()
}

#[test]
fn does_what_happens_before_and_nothing_at_that_time() {
    let scenario = scenario();
    let sent = |time| run_to(&scenario, Time(time)).flows[0].packets_sent;
    // Flows start at 0 with two packets each; four of them take 840 us each, and their ACKs of 50 B 40 us.
    assert_eq!((sent(0), sent(1)), (0, 2));
    let first_ack = 840_000 + 10 * MS + 40_000 + 10 * MS;
    assert_eq!((sent(first_ack), sent(first_ack + 1)), (2, 4));
    let delivered = |time| run_to(&scenario, Time(time)).links[0].delivered;
    assert_eq!((delivered(840_000 + 10 * MS), delivered(840_000 + 10 * MS + 1)), (0, 1));
}

#[test]
fn goes_on_where_it_stopped_and_never_back() {
    let scenario = scenario();
    let mut simulation = begin(&scenario);
    assert_eq!(simulation.now(), Time::ZERO);
    simulation.run_until(Time::from_secs(3));
    assert_eq!(simulation.now(), Time::from_secs(3));
    let there = simulation.outcome();
    assert_eq!(there.end, Time::from_secs(3));
    for passed in [Time::ZERO, Time::from_secs(1), Time::from_secs(3)] {
        simulation.run_until(passed);
        assert_eq!(simulation.outcome(), there);
        assert_eq!(simulation.now(), Time::from_secs(3));
    }
    simulation.run_until(Time::from_secs(10));
    assert_eq!(simulation.outcome(), run_to(&scenario, Time::from_secs(10)));
    assert_eq!(simulation.outcome(), Simulator.run(&scenario).unwrap());
}

#[test]
fn a_flow_can_be_looked_at() {
    let scenario = scenario();
    let mut simulation = begin(&scenario);
    let before = simulation.flow(0);
    assert_eq!((before.cwnd, before.srtt, before.in_flight, before.sent), (2.0, None, 0, (0, 0)));
    simulation.run_until(Time::from_secs(5));
    let flow = simulation.flow(0);
    let outcome = simulation.outcome();
    assert_eq!(flow.sent, (outcome.flows[0].packets_sent, outcome.flows[0].retransmissions));
    assert_eq!(flow.cwnd, outcome.flows[0].cwnd);
    assert_eq!(flow.ssthresh, outcome.flows[0].ssthresh);
    assert!(flow.pacing_rate.is_infinite());
    // 20 ms, and at most 21 packets of 840 us, and 40 us for the ACK.
    let srtt = flow.srtt.expect("it has samples").0;
    assert!((20 * MS..21 * MS + 21 * 840_000).contains(&srtt), "{srtt}");
    assert!(flow.delivered_bytes <= outcome.flows[0].bytes_in_order);
    assert!(flow.in_flight > 0);
}

#[test]
fn a_queue_can_be_looked_at() {
    let scenario = scenario();
    let mut simulation = begin(&scenario);
    simulation.run_until(Time(1));
    // Of four packets one is in transmission, until 840 us: at that very moment it still is.
    assert_eq!(simulation.queue_length(0), 3);
    simulation.run_until(Time(840_000));
    assert_eq!(simulation.queue_length(0), 3);
    simulation.run_until(Time(840_001));
    assert_eq!(simulation.queue_length(0), 2);
    assert_eq!(simulation.queue_length(1), 0);
}

#[test]
fn samples_are_taken_just_before_what_happens_then() {
    let every = Time::from_millis(70);
    let scenario = Scenario { sample: Some(every), ..scenario() };
    let outcome = Simulator.run(&scenario).unwrap();
    let trace = outcome.trace.clone().expect("samples were asked for");
    assert_eq!(trace.queues, ["bottleneck", "bottleneck-reverse"]);
    // 0, 70 ms, … 9,940 ms.
    let times: Vec<Time> = (0..=10_000 / 70).map(|i| Time(i * every.0)).collect();
    assert_eq!(trace.times, times);
    assert_eq!(trace.queue_lengths.len(), times.len());
    assert_eq!(trace.samples.len(), 2 * times.len());
    let mut simulation = begin(&scenario);
    for sample in &trace.samples {
        simulation.run_until(trace.times[sample.time_index]);
        let FlowState { cwnd, ssthresh, srtt, in_flight, delivered_bytes, state, .. } =
            simulation.flow(sample.flow);
        assert_eq!((sample.cwnd, sample.ssthresh, sample.rtt), (cwnd, ssthresh, srtt));
        assert_eq!((sample.in_flight, sample.state), (in_flight, state));
        assert_eq!(sample.delivered_bytes, delivered_bytes);
        let queues = trace.queue_lengths[sample.time_index].iter().map(|&length| length as usize);
        assert!(queues.eq([simulation.queue_length(0), simulation.queue_length(1)]));
    }
    // To sample changes nothing.
    let plain = Simulator.run(&Scenario { sample: None, ..scenario }).unwrap();
    assert_eq!(Outcome { trace: None, ..outcome }, plain);
}

#[test]
fn a_warm_up_is_not_counted() {
    let late = Time::from_secs(6);
    let mut plain = scenario();
    // One flow ends in the warm-up, and one starts after it.
    plain.flows[0].bytes = Some(200_000);
    let late_flow = FlowSpec { start: Time::from_secs(8), bytes: None, ..plain.flows[0].clone() };
    plain.flows.push(late_flow);
    let (before, whole) = (run_to(&plain, late), run_to(&plain, plain.duration));
    for sample in [None, Some(Time::from_millis(700))] {
        let scenario = Scenario { warm_up: late, sample, ..plain.clone() };
        let outcome = Simulator.run(&scenario).unwrap();
        assert_eq!((outcome.begin, outcome.end), (late, plain.duration));
        for (flow, counted) in outcome.flows.iter().enumerate() {
            let (before, whole) = (&before.flows[flow], &whole.flows[flow]);
            let count = |f: fn(&FlowOutcome) -> u64| assert_eq!(f(counted), f(whole) - f(before));
            count(|flow| flow.packets_sent);
            count(|flow| flow.retransmissions);
            count(|flow| flow.packets_received);
            count(|flow| flow.duplicates);
            count(|flow| flow.wire_bytes_received);
            count(|flow| flow.bytes_in_order);
            count(|flow| flow.packets_dropped);
            count(|flow| flow.packets_lost);
            count(|flow| flow.timeouts);
            count(|flow| flow.congestion_events);
            count(|flow| flow.acks_received);
            count(|flow| flow.rtt_samples);
            assert_eq!(counted.rtt_sum_s, whole.rtt_sum_s - before.rtt_sum_s);
            assert_eq!(counted.cwnd_integral, whole.cwnd_integral - before.cwnd_integral);
            assert_eq!((counted.start, counted.completed), (whole.start, whole.completed));
            assert_eq!((counted.cwnd, counted.rtt_min), (whole.cwnd, whole.rtt_min));
        }
        assert_eq!(outcome.flows[0].packets_sent, 0);
        assert!(outcome.flows[0].completed.is_some_and(|time| time < late));
        assert!(outcome.flows[1].packets_sent > 0 && outcome.flows[2].packets_sent > 0);
        for (link, counted) in outcome.links.iter().enumerate() {
            let (before, whole) = (&before.links[link], &whole.links[link]);
            assert_eq!(counted.arrived, whole.arrived - before.arrived);
            assert_eq!(counted.dropped, whole.dropped - before.dropped);
            assert_eq!(counted.delivered, whole.delivered - before.delivered);
            assert_eq!(counted.waiting_integral, whole.waiting_integral - before.waiting_integral);
            assert_eq!((counted.in_flight, counted.max_waiting), (whole.in_flight, whole.max_waiting));
        }
        // Samples are those of the whole run.
        assert_eq!(outcome.trace.map(|trace| trace.times[0]), sample.map(|_| Time::ZERO));
    }
}

#[test]
fn a_warm_up_ends_before_the_run() {
    let scenario = Scenario { warm_up: Time::from_secs(10), ..scenario() };
    let places = |problems: Vec<Problem>| problems.into_iter().map(|p| p.place).collect::<Vec<_>>();
    assert_eq!(places(Simulator.check(&scenario).unwrap_err()), ["warm_up"]);
    assert!(
        matches!(Simulator.run(&scenario), Err(EngineError::Refused(found)) if places(found.clone()) == ["warm_up"])
    );
}

#[test]
fn flows_that_have_not_started_are_not_sampled() {
    let mut scenario = Scenario { sample: Some(Time::from_secs(1)), ..scenario() };
    scenario.flows[1].start = Time(2_500 * MS);
    let trace = Simulator.run(&scenario).unwrap().trace.expect("samples were asked for");
    let first =
        |flow| trace.samples.iter().find(|sample| sample.flow == flow).map(|sample| sample.time_index);
    assert_eq!((first(0), first(1)), (Some(0), Some(3)));
}

#[test]
fn handshakes_come_before_time_zero() {
    let setup = ExperimentSpec { stack: StackProfile::Linux.into(), ..setup() };
    let scenario = setup.scenario(&[group(2)], 1).expect("the setup can be met");
    let mut simulation = begin(&scenario);
    simulation.run_until(Time::ZERO);
    assert_eq!(simulation.now(), Time::ZERO);
    let outcome = simulation.outcome();
    // SYN there, and SYN and ACK back, of each flow; the last of them still has to come.
    assert_eq!((outcome.links[0].arrived, outcome.links[0].data_arrived), (2, 0));
    assert_eq!(outcome.flows[0].packets_sent, 0);
    simulation.run_until(Time(1));
    assert_eq!(simulation.outcome().flows[0].packets_sent, 10);
    assert_eq!(simulation.outcome().flows[0].start, Time::ZERO);
}

#[test]
fn a_new_rate_applies_to_the_bits_that_remain() {
    let scenario = scenario();
    let mut simulation = begin(&scenario);
    // Half of the first packet has left when the rate falls to a quarter: its other half takes 1,680 us,
    // each of the other three 3,360 us.
    simulation.run_until(Time(420_000));
    simulation.set_rate(0, Rate(2_500_000)).unwrap();
    for (i, left) in [2_100_000, 5_460_000, 8_820_000].into_iter().enumerate() {
        simulation.run_until(Time(left));
        assert_eq!(simulation.queue_length(0), 3 - i, "at {left}");
        simulation.run_until(Time(left + 1));
        assert_eq!(simulation.queue_length(0), 2 - i, "after {left}");
    }
    simulation.run_until(Time(2_100_000 + 10 * MS + 1));
    assert_eq!(simulation.outcome().links[0].delivered, 1);
}

#[test]
fn a_new_delay_applies_to_what_leaves_from_now_on_and_nothing_overtakes() {
    let scenario = scenario();
    let delivered = |delay: u64, time: u64| {
        let mut simulation = begin(&scenario);
        // The first packet leaves at 840 us, with the old delay; the second at 1,680 us.
        simulation.run_until(Time(1_680_000));
        simulation.set_delay(0, Time(delay)).unwrap();
        simulation.run_until(Time(time));
        simulation.outcome().links[0].delivered
    };
    assert_eq!((delivered(15 * MS, 10_840_000), delivered(15 * MS, 10_840_001)), (0, 1));
    assert_eq!((delivered(15 * MS, 16_680_000), delivered(15 * MS, 16_680_001)), (1, 2));
    // It would be there at 2,680 us, the third at 3,520 us and the fourth at 4,360 us.
    assert_eq!((delivered(MS, 10_840_000), delivered(MS, 10_840_001)), (0, 4));
}

#[test]
fn a_new_loss_applies_to_what_crosses_the_line_from_now_on() {
    let scenario = scenario();
    let mut simulation = begin(&scenario);
    simulation.run_until(Time(840_000));
    simulation.set_loss(0, Loss::Bernoulli(1.0)).unwrap();
    simulation.run_until(Time(1_680_000));
    simulation.set_loss(0, Loss::None).unwrap();
    // The first packet leaves at 840 us, after the change, and is lost at the end of the line.
    simulation.run_until(Time(10 * MS));
    assert_eq!(simulation.outcome().links[0].lost, 0);
    simulation.run_until(Time(20 * MS));
    let outcome = simulation.outcome();
    assert_eq!((outcome.links[0].lost, outcome.links[0].delivered), (1, 3));
    assert_eq!(outcome.flows.iter().map(|flow| flow.packets_lost).sum::<u64>(), 1);
}

#[test]
fn a_new_queue_applies_to_arrivals_and_leaves_what_waits() {
    let scenario = scenario();
    let mut simulation = begin(&scenario);
    simulation.run_until(Time(1));
    let counting = Counting::WaitingOnly;
    simulation.set_queue(0, QueueSpec::drop_tail(QueueLimit::Packets(0), counting)).unwrap();
    let mut other = QueueSpec::drop_tail(QueueLimit::Packets(0), counting);
    other.discipline = Discipline::CoDel(CoDel::default());
    let text = message(simulation.set_queue(0, other));
    assert!(
        text.contains(
            "links[0].queue: the queue is drop-tail and cannot become codel while the link is in use"
        ),
        "{text}"
    );
    assert_eq!(simulation.queue_length(0), 3);
    simulation.run_until(Time(20 * MS));
    assert_eq!((simulation.queue_length(0), simulation.outcome().links[0].dropped), (0, 0));
    // The first ACK at 20,880 us brings two packets, and the second finds the first in transmission.
    simulation.run_until(Time(20_880_001));
    let outcome = simulation.outcome();
    assert_eq!((outcome.links[0].arrived, outcome.links[0].dropped), (6, 1));
    assert_eq!(outcome.flows.iter().map(|flow| flow.packets_dropped).sum::<u64>(), 1);
}

#[test]
fn a_flow_that_is_stopped_sends_nothing_new() {
    let scenario = scenario();
    let mut simulation = begin(&scenario);
    simulation.run_until(Time::from_secs(2));
    simulation.stop_flow(0);
    let sent = simulation.outcome().flows[0].clone();
    assert_eq!(sent.stop, Some(Time::from_secs(2)));
    simulation.run_until(Time::from_secs(5));
    let later = simulation.outcome();
    let new = |flow: &cwnd_scenario::FlowOutcome| flow.packets_sent - flow.retransmissions;
    assert_eq!(new(&later.flows[0]), new(&sent));
    assert_eq!(later.flows[0].bytes_in_order, new(&sent) * 1000, "what was outstanding is recovered");
    assert_eq!((later.flows[0].packets_in_flight, simulation.flow(0).in_flight), (0, 0));
    assert!(new(&later.flows[1]) > 2000, "the other goes on");
    // To stop it again says nothing new.
    simulation.stop_flow(0);
    assert_eq!(simulation.outcome().flows[0].stop, Some(Time::from_secs(2)));
}

#[test]
fn a_flow_that_is_paused_goes_on_when_it_is_told() {
    let scenario = scenario();
    let mut simulation = begin(&scenario);
    simulation.run_until(Time::from_secs(2));
    simulation.pause_flow(0);
    let new = |simulation: &Simulation| {
        let flow = &simulation.outcome().flows[0];
        flow.packets_sent - flow.retransmissions
    };
    let sent = new(&simulation);
    simulation.run_until(Time::from_secs(4));
    assert_eq!((new(&simulation), simulation.flow(0).in_flight), (sent, 0));
    // 80 kbit/s of payload are a segment every 100 ms, the first at once.
    simulation.set_traffic(0, Traffic::Live(Rate(80_000))).unwrap();
    simulation.run_until(Time(4000 * MS + 950 * MS));
    assert_eq!(new(&simulation), sent + 10);
    simulation.set_traffic(0, Traffic::Bulk).unwrap();
    simulation.run_until(Time::from_secs(6));
    assert!(new(&simulation) > sent + 100);
    assert_eq!(simulation.outcome().flows[0].stop, None);
    // One that is stopped stays so.
    simulation.stop_flow(0);
    let sent = new(&simulation);
    simulation.set_traffic(0, Traffic::Bulk).unwrap();
    simulation.run_until(Time::from_secs(8));
    assert_eq!(new(&simulation), sent);
    let text = message(simulation.set_traffic(1, Traffic::Live(Rate(1))));
    assert!(text.starts_with("flows[1].traffic: a live stream has a rate of"), "{text}");
}

#[test]
fn new_effects_hold_for_what_leaves_from_now_on() {
    let mut scenario = scenario();
    let late = |probability, reorders| {
        let shape = JitterShape::Sometimes(probability, Time::from_millis(5));
        Effects { jitter: Some(Jitter { shape, reorders }), ..Effects::default() }
    };
    scenario.network.links[0].effects = late(0.0, true);
    let mut simulation = begin(&scenario);
    simulation.run_until(Time::from_secs(1));
    // What leaves continues at whole multiples of 50 ms, and is there 10 ms later.
    simulation.set_effects(0, Effects { slot: Some(Time::from_millis(50)), ..late(0.0, true) }).unwrap();
    let mut delivered = |ns: u64| {
        simulation.run_until(Time(ns));
        simulation.outcome().links[0].delivered
    };
    let first = delivered(1_060 * MS + 1);
    assert_eq!(delivered(1_110 * MS), first);
    assert!(delivered(1_110 * MS + 1) > first);
    let text = message(simulation.set_effects(1, late(0.1, false)));
    assert!(text.contains("links[1]: it began without any effect"), "{text}");
    let text = message(simulation.set_effects(0, late(0.1, false)));
    assert!(text.contains("links[0].effects: whether packets overtake each other"), "{text}");
    let text = message(simulation.set_effects(0, Effects { ack_thinning: Some(2), ..late(0.1, true) }));
    assert!(text.contains("ACK thinning cannot change"), "{text}");
    let text = message(simulation.set_effects(0, Effects { duplication: 1.5, ..late(0.1, true) }));
    assert!(text.contains("a probability is 0 to 1"), "{text}");
}

#[test]
fn jitter_that_is_known_beforehand_can_only_be_another_jitter() {
    let mut scenario = scenario();
    let uniform = |ms, reorders| {
        let shape = JitterShape::Uniform(Time::from_millis(ms));
        Effects { jitter: Some(Jitter { shape, reorders }), ..Effects::default() }
    };
    scenario.network.links[0].effects = uniform(5, false);
    let mut simulation = begin(&scenario);
    simulation.run_until(Time::from_secs(1));
    let text = message(simulation.set_effects(0, Effects { slot: Some(Time(1)), ..uniform(5, false) }));
    assert!(text.contains("links[0]: it began without any effect but jitter"), "{text}");
    let text = message(simulation.set_effects(0, uniform(5, true)));
    assert!(text.contains("links[0].effects: whether packets overtake each other"), "{text}");
    // Two seconds late: nothing comes out before.
    simulation.set_effects(0, Effects { jitter: None, ..Effects::default() }).unwrap();
    let shape = JitterShape::Sometimes(1.0, Time::from_secs(2));
    let late = Effects { jitter: Some(Jitter { shape, reorders: false }), ..Effects::default() };
    simulation.set_effects(0, late).unwrap();
    simulation.run_until(Time(1_100 * MS));
    let delivered = simulation.outcome().links[0].delivered;
    simulation.run_until(Time(2_900 * MS));
    assert_eq!(simulation.outcome().links[0].delivered, delivered);
    simulation.run_until(Time(3_100 * MS));
    assert!(simulation.outcome().links[0].delivered > delivered);
}

#[test]
fn impossible_changes_are_refused_and_change_nothing() {
    let scenario = scenario();
    let mut simulation = begin(&scenario);
    simulation.run_until(Time::from_secs(1));
    let too_slow = message(simulation.set_rate(0, Rate(0)));
    assert!(too_slow.contains("links[0]") && too_slow.contains("1 kbit/s to 10 Tbit/s"), "{too_slow}");
    assert!(message(simulation.set_rate(1, Rate(20_000_000_000_000))).contains("links[1]"));
    assert!(message(simulation.set_delay(0, Time(1 << 48))).contains("at most 2^47 ns"));
    for probability in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        let text = message(simulation.set_loss(0, Loss::Bernoulli(probability)));
        assert!(text.contains("a probability is 0 to 1"), "{text}");
    }
    simulation.run_until(Time::from_secs(10));
    assert_eq!(simulation.outcome(), run_to(&scenario, Time::from_secs(10)));
}

#[test]
fn the_rate_of_a_trace_cannot_change_and_its_delay_can() {
    let mut scenario = scenario();
    let trace = DeliveryTrace { name: "even".to_owned(), times_ms: [1, 2, 3].into() };
    scenario.network.links[0].schedule = Some(Schedule::Trace(trace));
    let run = |change: &dyn Fn(&mut Simulation<'static>)| {
        let mut simulation = begin(&scenario);
        simulation.run_until(Time::from_secs(1));
        change(&mut simulation);
        simulation.run_until(Time::from_secs(2));
        simulation.outcome()
    };
    let unchanged = run(&|_| {});
    let refused = run(&|simulation| {
        let text = message(simulation.set_rate(0, Rate(1_000_000)));
        assert!(text.contains("links[0].rate: ") && text.contains("delivery trace"), "{text}");
        assert!(text.contains("its delay can"), "{text}");
    });
    assert_eq!(refused, unchanged);
    // A second late: of what leaves after the change nothing arrives.
    let late = run(&|simulation| simulation.set_delay(0, Time::from_secs(1)).unwrap());
    assert!(late.links[0].delivered < unchanged.links[0].delivered);
    // The other link has no trace.
    run(&|simulation| simulation.set_rate(1, Rate(1_000_000)).unwrap());
}

#[test]
fn a_circle_that_takes_no_time_is_refused() {
    let mut scenario = scenario();
    scenario.network.links[1].delay = Time::ZERO;
    scenario.network.links[1].rate = Rate::UNLIMITED;
    let run = |refuse: bool| {
        let mut simulation = begin(&scenario);
        simulation.run_until(Time::from_secs(1));
        simulation.set_delay(0, Time::ZERO).unwrap();
        if refuse {
            let text = message(simulation.set_rate(0, Rate::UNLIMITED));
            assert!(text.contains("in no time") && text.contains("host left, host right"), "{text}");
        }
        simulation.run_until(Time::from_secs(2));
        simulation.outcome()
    };
    // The change that was taken holds, the one that was refused changes nothing.
    assert_eq!(run(true), run(false));
    assert!(run(true).flows[0].rtt_min < Some(Time::from_millis(10)));

    scenario.network.links[0].delay = Time::ZERO;
    scenario.network.links[0].rate = Rate::UNLIMITED;
    let Err(EngineError::Refused(problems)) = Simulation::new(&scenario) else { panic!("it is refused") };
    assert_eq!((problems.len(), problems[0].place.as_str()), (1, "network"));
}

#[test]
fn a_scenario_with_many_faults_is_refused_with_all_of_them() {
    let mut scenario = scenario();
    scenario.duration = Time::ZERO;
    scenario.stack.payload = 0;
    scenario.network.links[1].rate = Rate(1);
    scenario.network.bottleneck = 7;
    scenario.flows[0].route = vec![0, 0];
    scenario.flows[1].ack_route = vec![];
    scenario.flows[1].algorithm.name = "vegs".to_owned();
    let Err(EngineError::Refused(problems)) = Simulation::new(&scenario) else { panic!("it is refused") };
    let places: Vec<&str> = problems.iter().map(|problem| problem.place.as_str()).collect();
    let expected = [
        "duration",
        "stack.payload",
        "network.bottleneck",
        "links[1] (bottleneck-reverse)",
        "flows[0].route",
        "flows[1].ack_route",
        "flows[1].algorithm",
    ];
    for place in expected {
        assert!(places.contains(&place), "{place} is missing among {places:?}");
    }
    assert_eq!(Simulator.check(&scenario).unwrap_err(), problems);
}

/// An algorithm from elsewhere: a window that never moves.
struct Fixed;

impl CongestionControl for Fixed {
    fn init(&mut self, window: &mut cwnd_cc::Window, _: &cwnd_cc::Init) {
        window.set_cwnd(5.0);
    }

    fn on_ack(&mut self, _: &mut cwnd_cc::Window, _: &cwnd_cc::Ack) {}

    fn on_congestion(&mut self, _: &mut cwnd_cc::Window, _: &cwnd_cc::Congestion) {}
}

#[test]
fn algorithms_may_come_from_elsewhere() {
    let mut scenario = scenario();
    scenario.flows.truncate(1);
    scenario.flows[0].algorithm.name = "fixed".to_owned();
    assert!(Simulation::new(&scenario).is_err(), "it is not registered");
    let factory = |spec: &AlgorithmSpec| -> Result<Box<dyn CongestionControl>, String> {
        if spec.name == "fixed" { Ok(Box::new(Fixed)) } else { Err("there is only \"fixed\"".to_owned()) }
    };
    let mut simulation = Simulation::with_factory(&scenario, &factory).unwrap_or_else(|e| panic!("{e}"));
    simulation.run_until(scenario.duration);
    let outcome = simulation.outcome();
    // Five packets every 20,880 us: the last burst that begins in 10 s is the 479th.
    assert_eq!((outcome.flows[0].packets_sent, outcome.flows[0].cwnd), (5 * 479, 5.0));
    assert_eq!(run_with(&scenario, &factory).unwrap(), outcome);
    scenario.flows[0].algorithm.name = "other".to_owned();
    let Err(EngineError::Refused(problems)) = Simulation::with_factory(&scenario, &factory) else {
        panic!("it is refused")
    };
    assert_eq!(problems[0].to_string(), "flows[0].algorithm: there is only \"fixed\"");
}

/// A day of simulated time, which nobody wants any more after a moment: on one thread and on several, sampled or not, with a warm-up to
/// come.
#[test]
fn a_run_that_nobody_wants_ends_without_an_outcome() {
    for (threads, sample, warm_up) in [(0, None, 0), (2, None, 1), (0, Some(10_000), 99_000)] {
        let mut scenario = scenario();
        scenario.duration = Time::from_secs(100_000);
        (scenario.sample, scenario.warm_up) = (sample.map(Time::from_secs), Time::from_secs(warm_up));
        let stop = Arc::new(AtomicBool::new(false));
        let helpers = Helpers::uncounted(threads).stopped_by(&stop);
        let options = Options { helpers, eager: threads > 0, ..Options::default() };
        let ended = std::thread::scope(|scope| {
            let run = scope.spawn(|| run_with_options(&scenario, &registered, &options));
            std::thread::sleep(std::time::Duration::from_millis(50));
            assert!(!run.is_finished());
            stop.store(true, Ordering::Relaxed);
            run.join().unwrap()
        });
        assert_eq!(ended, Err(EngineError::stopped()), "{threads} threads");
    }
}
