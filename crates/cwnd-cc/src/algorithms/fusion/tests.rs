use super::*;
use crate::Arithmetic;
use crate::testing::{
    ack, ack_rtt, assert_near, congestion, lose, round_trip, time_out, window, window_with,
};

/// A flow on a path of 100 ms that was measured at `rate` segments a second.
fn measured(rate: u32) -> Fusion {
    let mut fusion = Fusion::new(FusionParameters::default());
    let sample = Ack { cumulative: 0, ..ack_rtt(0, 100) };
    let mut aside = window(10.0, Arithmetic::Real);
    fusion.on_ack(&mut aside, &sample);
    fusion.on_ack(&mut aside, &Ack { now: Nanos::from_millis(200), acked: rate / 5, ..sample });
    fusion.rounds.restart();
    fusion
}

#[test]
fn a_short_queue_lets_it_grow_by_a_millisecond_of_its_bandwidth() {
    // 10,000 segments a second: 10 segments a round trip, so 10/W for each acknowledged one.
    for (cwnd, grown) in [(10.0, 1.0), (100.0, 0.1), (1000.0, 0.01)] {
        let mut fusion = measured(10_000);
        let mut window = window(cwnd, Arithmetic::Real);
        round_trip(&mut fusion, &mut window, 100, 103);
        fusion.on_ack(&mut window, &ack(0));
        assert_near(window.cwnd - cwnd, grown, 1e-9);
    }
}

#[test]
fn between_4_and_12_ms_it_is_reno() {
    for rtt in [104, 112] {
        let mut fusion = Fusion { reno_window: 100.0, ..measured(10_000) };
        let mut window = window(100.0, Arithmetic::Real);
        round_trip(&mut fusion, &mut window, 100, rtt);
        fusion.on_ack(&mut window, &ack(0));
        assert_near(window.cwnd, 100.01, 1e-9);
        // Above Reno's window it stays where it is.
        let mut window = crate::testing::window(200.0, Arithmetic::Real);
        round_trip(&mut fusion, &mut window, 100, rtt);
        fusion.on_ack(&mut window, &ack(0));
        assert_eq!(window.cwnd, 200.0);
    }
}

#[test]
fn a_long_queue_is_taken_back_to_4_ms() {
    // 1000 at 125 ms: 25 ms are 200 segments, 4 ms 32 of them: 168 go.
    let mut fusion = measured(10_000);
    let mut window = window(1000.0, Arithmetic::Real);
    round_trip(&mut fusion, &mut window, 100, 125);
    assert_near(window.cwnd, 832.0, 1e-9);
    assert!(!window.in_slow_start());
    // But not under Reno's window.
    let mut fusion = Fusion { reno_window: 900.0, ..measured(10_000) };
    let mut window = crate::testing::window(1000.0, Arithmetic::Real);
    round_trip(&mut fusion, &mut window, 100, 125);
    assert_near(window.cwnd, 900.0, 1e-9);
}

#[test]
fn reno_is_the_least_growth() {
    // 100 segments a second add 0.1 a round trip; Reno adds 1.
    let mut fusion = Fusion { reno_window: 100.0, ..measured(100) };
    let mut window = window(100.0, Arithmetic::Real);
    round_trip(&mut fusion, &mut window, 100, 100);
    for _ in 0..100 {
        fusion.on_ack(&mut window, &ack(0));
    }
    // The sum of 1/W over a hundred ACKs, W rising from 100 to 101: a little under 1.
    assert_near(window.cwnd, 100.995, 1e-3);
}

#[test]
fn whole_windows_follow_renos_window_by_whole_steps() {
    let mut fusion = Fusion { reno_window: 10.0, ..measured(100) };
    let mut window = window(10.0, Arithmetic::Linux);
    for _ in 0..9 {
        fusion.on_ack(&mut window, &ack(0));
    }
    assert_eq!(window.cwnd, 10.0);
    fusion.on_ack(&mut window, &ack(0));
    fusion.on_ack(&mut window, &ack(0));
    assert_eq!(window.cwnd, 11.0);
}

#[test]
fn a_loss_gives_up_the_queue_but_half_at_most() {
    // RTTmin/RTT: 100/125 keeps four fifths; 100/300 would keep a third.
    for (rtt, left) in [(125, 80.0), (300, 50.0), (100, 100.0)] {
        let mut fusion = measured(10_000);
        let mut window = window(100.0, Arithmetic::Real);
        let rtt = Nanos::from_millis(rtt);
        let loss = Congestion { rtt, ..congestion(&window, CongestionKind::Loss, 0) };
        fusion.on_congestion(&mut window, &loss);
        assert_near(window.ssthresh, left, 1e-9);
        assert_eq!(fusion.reno_window, window.ssthresh);
    }
    // Nothing measured: half.
    let mut window = window(100.0, Arithmetic::Real);
    lose(&mut measured(10_000), &mut window, 0);
    assert_eq!(window.cwnd, 50.0);
}

#[test]
fn a_timeout_is_renos() {
    let mut fusion = measured(10_000);
    let mut window = window(100.0, Arithmetic::Real);
    time_out(&mut fusion, &mut window, 0);
    assert_eq!((window.cwnd, window.ssthresh), (1.0, 50.0));
    // Slow start hands its window to Reno's account.
    fusion.on_ack(&mut window, &ack(0));
    assert_eq!((window.cwnd, fusion.reno_window), (2.0, 2.0));
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 0) };
    fusion.on_congestion(&mut window, &again);
    assert_eq!(window.ssthresh, 50.0);
}

#[test]
fn slow_start_is_standard() {
    let mut window = window_with(100.0, 1000.0, Arithmetic::Real);
    let mut fusion = measured(10_000);
    round_trip(&mut fusion, &mut window, 100, 200);
    fusion.on_ack(&mut window, &ack(0));
    assert_eq!(window.cwnd, 101.0);
}
