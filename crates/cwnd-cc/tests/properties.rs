//! What holds for every algorithm, over sequences of events that no network would make.

use cwnd_cc::{
    Ack, AlgorithmInfo, Arithmetic, Congestion, CongestionControl, CongestionKind, DupAck, Init, LostPacket,
    Nanos, ParameterKind, ParameterValue, Parameters, State, Window, WindowConfig, all,
};
use proptest::prelude::*;

/// One event, in numbers that the transport below makes sense of.
#[derive(Clone, Debug)]
enum Event {
    Ack {
        acked: u32,
        cumulative: u32,
        rtt: Option<u64>,
        limited: bool,
        round: bool,
        marked: bool,
        recovering: bool,
    },
    Congestion {
        kind: CongestionKind,
        flight_size: u32,
        row: u32,
    },
    RecoveryExit {
        moderated: bool,
    },
    Undo,
    Idle {
        ms: u64,
    },
    Duplicate,
    Lost,
}

fn rtt() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![
        1 => Just(None),
        1 => Just(Some(0)),
        1 => Just(Some(1)),
        6 => (1_000u64..500_000_000).prop_map(Some),
        1 => Just(Some(3_600_000_000_000)),
        1 => Just(Some(u64::MAX)),
    ]
}

fn segments() -> impl Strategy<Value = u32> {
    prop_oneof![1 => Just(0), 6 => 1u32..4, 2 => 4u32..300, 1 => Just(10_000), 1 => Just(u32::MAX)]
}

fn event() -> impl Strategy<Value = Event> {
    let kind = prop_oneof![
        4 => Just(CongestionKind::Loss),
        1 => Just(CongestionKind::Ecn),
        1 => Just(CongestionKind::Timeout),
    ];
    prop_oneof![
        40 => (segments(), segments(), rtt(), any::<bool>(), any::<bool>(), any::<bool>(), 0u32..8).prop_map(
            |(acked, cumulative, rtt, limited, round, marked, state)| Event::Ack {
                acked, cumulative, rtt, limited, round, marked, recovering: state == 0,
            }
        ),
        4 => (kind, segments(), 1u32..3).prop_map(|(kind, flight_size, row)| Event::Congestion {
            kind, flight_size, row,
        }),
        2 => any::<bool>().prop_map(|moderated| Event::RecoveryExit { moderated }),
        1 => Just(Event::Undo),
        1 => (0u64..100_000).prop_map(|ms| Event::Idle { ms }),
        1 => Just(Event::Duplicate),
        1 => Just(Event::Lost),
    ]
}

/// How far the clock moves on: not at all, as far as it does, or out of all measure.
fn tick() -> impl Strategy<Value = u64> {
    prop_oneof![2 => Just(0), 8 => 0u64..200_000_000, 1 => Just(u64::MAX / 4)]
}

/// A transport that keeps to the contract and to nothing else.
struct Flow {
    window: Window,
    algorithm: Box<dyn CongestionControl>,
    name: &'static str,
    greatest_restart: f64,
    now: u64,
    acks: u64,
    min_rtt: Nanos,
    srtt: Nanos,
    before_episode: (f64, f64),
}

impl Flow {
    fn apply(&mut self, event: &Event, tick: u64) {
        self.now = self.now.saturating_add(tick);
        let now = Nanos(self.now);
        let window = &mut self.window;
        match *event {
            Event::Ack { acked, cumulative, rtt, limited, round, marked, recovering } => {
                self.acks += 1;
                let rtt = rtt.map(Nanos);
                self.min_rtt = self.min_rtt.min(rtt.unwrap_or(Nanos::MAX));
                self.srtt = rtt.unwrap_or(self.srtt);
                let ack = Ack {
                    now,
                    acked,
                    cumulative,
                    marked: if marked { acked } else { 0 },
                    rtt,
                    srtt: self.srtt,
                    min_rtt: self.min_rtt,
                    in_flight: window.cwnd as u32,
                    prior_in_flight: window.cwnd as u32,
                    state: if recovering { State::Recovery } else { State::Open },
                    cwnd_limited: limited,
                    app_limited: !limited,
                    round_start: round,
                    round: self.acks,
                    delivered: self.acks,
                    ..Ack::default()
                };
                self.algorithm.on_ack(window, &ack);
                if recovering {
                    return;
                }
            }
            Event::Congestion { kind, flight_size, row } => {
                let cwnd = window.cwnd;
                self.before_episode = (cwnd, window.ssthresh);
                window.recovery_cwnd = None;
                let timeout = kind == CongestionKind::Timeout;
                let congestion = Congestion {
                    now,
                    kind,
                    in_flight: flight_size,
                    flight_size,
                    lost: 1,
                    rtt: self.srtt,
                    srtt: self.srtt,
                    min_rtt: self.min_rtt,
                    timeouts: if timeout { row } else { 0 },
                    in_slow_start: window.in_slow_start(),
                };
                self.algorithm.on_congestion(window, &congestion);
                assert_eq!(window.cwnd, cwnd, "{}: the transport moves the window", self.name);
                if !(timeout && row > 1) {
                    assert!(window.ssthresh >= 2.0, "{}: {window:?}", self.name);
                    // Westwood's threshold is what the bandwidth needs, and then holds the window itself.
                    let held = self.name == "westwood" && (timeout || window.recovery_cwnd.is_some());
                    assert!(held || window.ssthresh <= cwnd.max(2.0), "{}: {cwnd} {window:?}", self.name);
                }
                if let Some(held) = window.recovery_cwnd {
                    assert!((1.0..=cwnd.max(2.0)).contains(&held), "{}: {cwnd} {window:?}", self.name);
                }
                let left = if timeout {
                    window.restart_cwnd
                } else {
                    window.recovery_cwnd.unwrap_or(window.ssthresh)
                };
                window.set_cwnd(left);
                if timeout {
                    assert!(window.cwnd <= self.greatest_restart, "{}: {window:?}", self.name);
                }
            }
            Event::RecoveryExit { moderated } => {
                window.set_cwnd(if moderated { window.ssthresh.min(5.0) } else { window.ssthresh });
                self.algorithm.on_recovery_exit(window, now);
            }
            Event::Undo => {
                let (cwnd, ssthresh) = self.before_episode;
                window.set_cwnd(window.cwnd.max(cwnd));
                window.ssthresh = window.ssthresh.max(ssthresh);
                self.algorithm.on_undo(window, now);
            }
            Event::Idle { ms } => self.algorithm.on_idle_restart(window, now, Nanos::from_millis(ms)),
            Event::Duplicate => self.algorithm.on_dup_ack(window, &DupAck { now, sacked: 1, count: 1 }),
            Event::Lost => self.algorithm.on_packet_lost(
                window,
                &LostPacket {
                    now,
                    sent: Nanos::ZERO,
                    tx_in_flight: 1,
                    delivered: self.acks,
                    lost_at_send: 0,
                    lost: 1,
                    app_limited: false,
                },
            ),
        }
        self.check(event);
    }

    fn check(&self, event: &Event) {
        let window = &self.window;
        let context = || format!("{} after {event:?}: {window:?}", self.name);
        assert!(window.cwnd.is_finite(), "{}", context());
        assert!(window.cwnd >= 1.0, "{}", context());
        assert!(window.cwnd <= window.clamp(), "{}", context());
        assert!(!window.ssthresh.is_nan() && window.ssthresh >= 1.0, "{}", context());
        if window.arithmetic() != Arithmetic::Real {
            assert_eq!(window.cwnd, window.cwnd.floor(), "{}", context());
        }
    }
}

/// Parameters that `seed` chooses: defaults for 0, else a value within each range, ends included.
fn parameters(algorithm: &AlgorithmInfo, seed: u64) -> Parameters {
    let mut draws = seed;
    let mut draw = |of: u64| {
        draws = draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (draws >> 33) % of
    };
    let chosen = algorithm.parameters.iter().filter(|_| seed != 0).map(|parameter| {
        let value = match parameter.kind {
            ParameterKind::Number { min, max, .. } => {
                let share = draw(5) as f64 / 4.0;
                ParameterValue::Number((min + (max - min) * share).clamp(min, max))
            }
            ParameterKind::Switch { .. } => ParameterValue::Switch(draw(2) == 0),
            ParameterKind::Word { choices, .. } => {
                ParameterValue::Word(choices[draw(choices.len() as u64) as usize].into())
            }
        };
        (parameter.name.to_string(), value)
    });
    chosen.collect()
}

fn flows(initial: f64, seed: u64) -> Vec<Flow> {
    let mut flows = Vec::new();
    for algorithm in all() {
        for arithmetic in [Arithmetic::Real, Arithmetic::Linux, Arithmetic::Linux26] {
            let mut window = Window::new(&WindowConfig {
                initial_cwnd: initial,
                initial_ssthresh: if seed.is_multiple_of(2) { f64::INFINITY } else { 100_000.0 },
                clamp: 100_000.0,
                mss: 1448,
                arithmetic,
                slow_start_at_ssthresh: arithmetic == Arithmetic::Linux26,
            });
            let mut cc = (algorithm.build)(&parameters(algorithm, seed)).expect("values are in range");
            cc.init(&mut window, &Init { seed, ..Init::default() });
            flows.push(Flow {
                before_episode: (window.cwnd, window.ssthresh),
                window,
                algorithm: cc,
                name: algorithm.name,
                // Agile-SD restarts with 2 segments, or up to 10 where it is told so.
                greatest_restart: initial.max(if seed == 0 { 2.0 } else { 10.0 }),
                now: 0,
                acks: 0,
                min_rtt: Nanos::MAX,
                srtt: Nanos::ZERO,
            });
        }
    }
    flows
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn windows_stay_within_their_bounds(
        events in prop::collection::vec((event(), tick()), 1..300),
        initial in prop_oneof![Just(1.0), Just(2.0), Just(10.0)],
        seed in prop_oneof![Just(0), any::<u64>()],
    ) {
        for mut flow in flows(initial, seed) {
            for (event, tick) in &events {
                flow.apply(event, *tick);
            }
        }
    }

    #[test]
    fn the_same_events_give_the_same_bits(
        events in prop::collection::vec((event(), 0u64..50_000_000), 1..200),
    ) {
        for (mut one, mut other) in flows(10.0, 1).into_iter().zip(flows(10.0, 1)) {
            for (event, tick) in &events {
                one.apply(event, *tick);
                other.apply(event, *tick);
                prop_assert_eq!(one.window.cwnd.to_bits(), other.window.cwnd.to_bits());
            }
        }
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow(acks in 1u32..500, rtt_ms in 1u64..500) {
        for mut flow in flows(10.0, 0) {
            let before = flow.window.cwnd;
            for _ in 0..acks {
                let ack = Event::Ack {
                    acked: 1, cumulative: 1, rtt: Some(rtt_ms * 1_000_000),
                    limited: false, round: false, marked: false, recovering: false,
                };
                flow.apply(&ack, 1_000_000);
            }
            prop_assert!(flow.window.cwnd <= before, "{}", flow.name);
        }
    }
}
