//! What all algorithms have in common.

mod observables;
mod registry;

use crate::testing::{ack, ack_rtt, assert_near, window_with};
use crate::{Ack, AlgorithmInfo, Arithmetic, CongestionControl, Parameters, Window, all};
use alloc::boxed::Box;

/// One that has seen a round-trip time of 100 ms, and a window of 9 segments that is one under its threshold.
fn at_the_end_of_slow_start(algorithm: &AlgorithmInfo) -> (Box<dyn CongestionControl>, Window) {
    let mut flow = (algorithm.build)(&Parameters::new()).unwrap();
    let mut window = window_with(9.0, 10.0, Arithmetic::Real);
    flow.on_ack(&mut window, &Ack { acked: 0, cumulative: 0, ..ack_rtt(100, 100) });
    (flow, window)
}

/// Of five acknowledged segments the first ends slow start and the other four count for congestion avoidance: the
/// window is what it would be after an ACK of one and an ACK of four.
#[test]
fn what_slow_start_leaves_of_an_ack_counts_for_congestion_avoidance() {
    let mut grown = 0;
    for algorithm in all() {
        let (mut whole, mut window) = at_the_end_of_slow_start(algorithm);
        whole.on_ack(&mut window, &Ack { acked: 5, cumulative: 5, ..ack(200) });
        let (mut parts, mut expected) = at_the_end_of_slow_start(algorithm);
        for acked in [1, 4] {
            parts.on_ack(&mut expected, &Ack { acked, cumulative: acked, ..ack(200) });
        }
        grown += usize::from(window.cwnd > 10.0);
        match algorithm.name {
            // A segment grows its window by two, and all five have one of the two left: 10 + 5 4/10.
            "multcp" => assert_near(window.cwnd, 12.0, 1e-12),
            // Some change the window once a round trip, by its delay, and stay at the threshold here. ns-2's Compound takes
            // one step an ACK in slow start, as Linux 2.6 does.
            _ if window.cwnd == 10.0 => {}
            name => assert_eq!(window.cwnd, expected.cwnd, "{name}"),
        }
    }
    assert!(2 * grown > all().len(), "most algorithms grow with each ACK: {grown}");
}
