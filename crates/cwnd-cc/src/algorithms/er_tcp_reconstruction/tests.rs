use super::*;
use crate::testing::{
    ack, ack_rtt, acks_for_a_segment, assert_near, congestion, lose, round_trips_until, window, window_with,
};
use crate::{Arithmetic, CongestionKind, Nanos};

/// A flow whose bandwidth was measured as `rate` segments in 100 ms.
fn measured(rate: u32) -> ErTcp {
    let mut er_tcp = ErTcp::new(ErTcpParameters::default());
    let mut aside = window(10.0, Arithmetic::Real);
    er_tcp.on_ack(&mut aside, &ack_rtt(0, 100));
    er_tcp.on_ack(&mut aside, &Ack { acked: 2 * rate, ..ack_rtt(200, 100) });
    er_tcp
}

fn episode(window: &Window, kind: CongestionKind) -> Congestion {
    Congestion { min_rtt: Nanos::from_millis(100), ..congestion(window, kind, 0) }
}

#[test]
fn growth_is_a_quarter_of_the_gap_and_renos_at_least() {
    // W_last 100. 20: 80/4 = 20 a round trip, one an ACK. 80: 5/80. 98: 0.5 would be less than Reno's 1.
    // 1000, above it: 1.
    for (cwnd, grown) in [(20.0, 1.0), (80.0, 0.0625), (98.0, 1.0 / 98.0), (1000.0, 0.001)] {
        let mut er_tcp = ErTcp { last_window: 100.0, ..measured(50) };
        let mut window = window(cwnd, Arithmetic::Real);
        er_tcp.on_ack(&mut window, &ack(0));
        assert_near(window.cwnd - cwnd, grown, 1e-12);
    }
    let mut er_tcp = ErTcp { last_window: 100.0, ..measured(50) };
    assert_eq!(acks_for_a_segment(&mut er_tcp, &mut window(80.0, Arithmetic::Linux), &ack(0)), 16);
}

#[test]
fn the_gap_shrinks_to_a_third_in_tau_round_trips() {
    // From 500 to 1000 - 500/e = 816.1 in 4 round trips, each of W acknowledged segments.
    let mut er_tcp = ErTcp { last_window: 1000.0, ..measured(50) };
    let mut window = window(500.0, Arithmetic::Real);
    round_trips_until(&mut er_tcp, &mut window, &ack(0), |_, round_trips| round_trips >= 4.0);
    assert_near(window.cwnd, 816.1, 0.5);
}

#[test]
fn a_loss_leaves_what_the_bandwidth_needs_between_half_and_all() {
    for (rate, left) in [(80, 80.0), (30, 50.0), (200, 100.0)] {
        let mut er_tcp = measured(rate);
        let mut window = window(100.0, Arithmetic::Real);
        let loss = episode(&window, CongestionKind::Loss);
        er_tcp.on_congestion(&mut window, &loss);
        assert_near(window.ssthresh, left, 1e-9);
        assert_eq!(er_tcp.last_window, 100.0);
    }
    // Without an estimate half is left.
    let mut window = window(100.0, Arithmetic::Real);
    lose(&mut ErTcp::new(ErTcpParameters::default()), &mut window, 0);
    assert_eq!(window.cwnd, 50.0);
}

#[test]
fn a_timeout_sets_the_threshold_likewise() {
    let mut er_tcp = measured(80);
    let mut window = window(100.0, Arithmetic::Real);
    let timeout = episode(&window, CongestionKind::Timeout);
    er_tcp.on_congestion(&mut window, &timeout);
    assert_near(window.ssthresh, 80.0, 1e-9);
    assert_eq!(window.restart_cwnd, 1.0);
    window.ssthresh = 33.0;
    er_tcp.on_congestion(&mut window, &Congestion { timeouts: 2, ..timeout });
    assert_eq!(window.ssthresh, 33.0);
}

#[test]
fn before_the_first_loss_it_is_reno() {
    let mut window = window_with(4.0, 5.0, Arithmetic::Real);
    measured(50).on_ack(&mut window, &Ack { acked: 3, ..ack(0) });
    assert_near(window.cwnd, 5.4, 1e-12);
}
