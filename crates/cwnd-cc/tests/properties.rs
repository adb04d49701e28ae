//! What holds for every algorithm, over sequences of events that no network would make.

mod transport;

use cwnd_cc::{Arithmetic, CongestionKind};
use proptest::prelude::*;
use transport::{Event, RandomEvents, Sample, flows};

fn time() -> impl Strategy<Value = u64> {
    prop_oneof![
        1 => Just(0),
        1 => Just(1),
        6 => 1_000u64..500_000_000,
        1 => Just(3_600_000_000_000),
        1 => Just(u64::MAX),
    ]
}

fn rtt() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![1 => Just(None), 10 => time().prop_map(Some)]
}

fn segments() -> impl Strategy<Value = u32> {
    prop_oneof![1 => Just(0), 6 => 1u32..4, 2 => 4u32..300, 1 => Just(10_000), 1 => Just(u32::MAX)]
}

fn sample() -> impl Strategy<Value = Option<Sample>> {
    let sample = (segments(), time(), segments(), segments(), any::<bool>()).prop_map(
        |(delivered, interval, tx_in_flight, lost, app_limited)| {
            Some(Sample { delivered, interval, tx_in_flight, lost, app_limited })
        },
    );
    prop_oneof![1 => Just(None), 6 => sample]
}

fn acknowledgement() -> impl Strategy<Value = Event> {
    let counts = (segments(), segments(), prop_oneof![6 => Just(0), 1 => segments()]);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), 0u32..8);
    (counts, rtt(), flags, sample()).prop_map(
        |((acked, cumulative, lost), rtt, (limited, round, marked, state), sample)| Event::Ack {
            acked,
            cumulative,
            lost,
            rtt,
            limited,
            round,
            marked,
            recovering: state == 0,
            sample,
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    let kind = prop_oneof![
        4 => Just(CongestionKind::Loss),
        1 => Just(CongestionKind::Ecn),
        1 => Just(CongestionKind::Timeout),
    ];
    prop_oneof![
        40 => acknowledgement(),
        4 => (kind, segments(), 1u32..3).prop_map(|(kind, flight_size, row)| Event::Congestion {
            kind, flight_size, row,
        }),
        2 => any::<bool>().prop_map(|moderated| Event::RecoveryExit { moderated }),
        1 => Just(Event::Undo),
        1 => (0u64..100_000).prop_map(|ms| Event::Idle { ms }),
        1 => Just(Event::Duplicate),
        2 => (segments(), segments()).prop_map(|(tx_in_flight, since)| Event::Lost { tx_in_flight, since }),
    ]
}

/// How far the clock moves on: not at all, as far as it does, or out of all measure.
fn tick() -> impl Strategy<Value = u64> {
    prop_oneof![2 => Just(0), 8 => 0u64..200_000_000, 1 => Just(u64::MAX / 4)]
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
            // BBR's window is what its model says, whether it is used or not.
            if flow.needs.rate_samples {
                continue;
            }
            // Linux 6.1's Vegas does not ask, neither in slow start nor for its steps.
            if flow.name == "vegas" && flow.window.arithmetic() == Arithmetic::Linux {
                continue;
            }
            // SCReAM's window is three times what it wants in flight, so it is never all used. Its own rule (bytes in flight, and
            // the encoder's greatest rate) has vectors.
            if flow.name == "scream" {
                continue;
            }
            let before = flow.window.cwnd;
            for _ in 0..acks {
                let ack = Event::Ack {
                    acked: 1, cumulative: 1, lost: 0, rtt: Some(rtt_ms * 1_000_000),
                    limited: false, round: false, marked: false, recovering: false, sample: None,
                };
                flow.apply(&ack, 1_000_000);
            }
            prop_assert!(flow.window.cwnd <= before, "{}", flow.name);
        }
    }
}

/// A little of what `cargo xtask fuzz` does.
#[test]
fn long_lives_stay_within_their_bounds() {
    for seed in 0..4 {
        for mut flow in flows(10.0, seed) {
            for (event, tick) in RandomEvents::new(seed).take(5_000) {
                flow.apply(&event, tick);
            }
        }
    }
}
