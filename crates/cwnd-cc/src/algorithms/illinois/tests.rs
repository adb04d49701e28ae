use super::*;
use crate::testing::{
    ack, ack_rtt, acks_for_a_segment, assert_near, congestion, lose, time_out, window, window_with,
};
use crate::{Arithmetic, Nanos};

fn illinois() -> Illinois {
    Illinois::new(IllinoisParameters::default())
}

/// A round trip of two samples about the mean on a path of 100 ms, and the first ACK of the next.
fn round(illinois: &mut Illinois, window: &mut Window, mean_ms: u64) {
    let min_rtt = Nanos::from_millis(100);
    let silent = Ack { cumulative: 0, acked: 0, min_rtt, ..ack(0) };
    for rtt_ms in [mean_ms - 1, mean_ms + 1] {
        illinois.on_ack(window, &Ack { rtt: Some(Nanos::from_millis(rtt_ms)), ..silent });
    }
    illinois.on_ack(window, &Ack { round_start: true, ..silent });
}

/// One that has seen a queue of `dm` = 1 s, and now the mean delay `da`.
fn at_delay(da_ms: u64) -> Illinois {
    let mut illinois = Illinois { rtt_max: 1.1e9, ..illinois() };
    round(&mut illinois, &mut window(100.0, Arithmetic::Real), 100 + da_ms);
    illinois
}

#[test]
fn alpha_falls_as_one_over_the_delay() {
    // dm = 1000, d1 = 10, d2 = 100, d3 = 800, alpha = 990 * 10/(990 + (da - 10) * 9.7/0.3).
    // 10: 10. 100: 9900/(990 + 2910) = 2.538462. 400: 9900/(990 + 12610) = 0.727941.
    // 800: 9900/(990 + 25543.33) = 0.373116. 999: 9900/(990 + 31977.67) = 0.300294.
    for (da, alpha) in
        [(1, 10.0), (10, 10.0), (100, 2.538_462), (400, 0.727_941), (800, 0.373_116), (999, 0.300_294)]
    {
        assert_near(at_delay(da).alpha, alpha, 1e-6);
    }
}

#[test]
fn beta_rises_from_an_eighth_to_a_half() {
    // 100: 1/8. 450: 1/8 + 3/8 * 350/700 = 0.3125. 800 and more: 1/2.
    for (da, beta) in [(10, 0.125), (100, 0.125), (450, 0.3125), (800, 0.5), (999, 0.5)] {
        assert_near(at_delay(da).beta, beta, 1e-9);
    }
}

#[test]
fn growth_and_decrease_follow_them() {
    // da = d1: 10/100, 10/1000 an ACK. da = 450: 1000 * 0.6875 are left.
    for (cwnd, growth) in [(20.0, 0.5), (100.0, 0.1), (1000.0, 0.01)] {
        let mut window = window(cwnd, Arithmetic::Real);
        at_delay(10).on_ack(&mut window, &ack(0));
        assert_near(window.cwnd - cwnd, growth, 1e-10);
    }
    let mut window = window(1000.0, Arithmetic::Real);
    lose(&mut at_delay(450), &mut window, 0);
    assert_near(window.cwnd, 687.5, 1e-6);
}

#[test]
fn the_greatest_increase_comes_back_after_five_low_round_trips_in_a_row() {
    let mut illinois = at_delay(100);
    let mut window = window(100.0, Arithmetic::Real);
    let low = |illinois: &mut Illinois, window: &mut Window, rounds: u32| {
        for _ in 0..rounds {
            round(illinois, window, 105);
        }
        illinois.alpha
    };
    assert_near(low(&mut illinois, &mut window, 4), 2.538_462, 1e-6);
    // One above d1 starts the count again: 9900/(990 + 190 * 32.3333) = 1.387850.
    round(&mut illinois, &mut window, 300);
    assert_near(low(&mut illinois, &mut window, 4), 1.387_850, 1e-6);
    assert_eq!(low(&mut illinois, &mut window, 1), 10.0);
    // From then on a low round trip is one.
    assert_eq!(low(&mut illinois, &mut window, 1), 10.0);
}

#[test]
fn small_windows_are_renos() {
    // Under 15 segments: alpha 1, beta 1/2.
    let mut illinois = at_delay(10);
    let mut window = window(14.0, Arithmetic::Real);
    round(&mut illinois, &mut window, 105);
    assert_eq!((illinois.alpha, illinois.beta), (1.0, 0.5));
    window.set_cwnd(15.0);
    round(&mut illinois, &mut window, 105);
    assert_eq!((illinois.alpha, illinois.beta), (10.0, 0.125));
}

#[test]
fn without_a_queue_ever_it_is_at_its_fastest() {
    let mut illinois = illinois();
    let mut window = window(100.0, Arithmetic::Real);
    let same = Ack { rtt: Some(Nanos::from_millis(100)), min_rtt: Nanos::from_millis(100), ..ack(0) };
    illinois.on_ack(&mut window, &same);
    illinois.on_ack(&mut window, &Ack { round_start: true, ..same });
    assert_eq!((illinois.alpha, illinois.beta), (10.0, 0.125));
}

#[test]
fn ns_2_measures_what_is_acknowledged() {
    for (keep_beta, left) in [(false, 68.0), (true, 32.0)] {
        let mut illinois = Illinois::new(IllinoisParameters { keep_beta, ..IllinoisParameters::default() });
        let mut window = window(100.0, Arithmetic::Linux26);
        // Three were sent before the first ACK, so that the fourth ends the round trip. A SACK measures nothing.
        illinois.on_ack(&mut window, &Ack { sent: 3, ..ack_rtt(0, 100) });
        illinois.on_ack(&mut window, &Ack { sent: 4, cumulative: 0, ..ack_rtt(0, 1000) });
        illinois.on_ack(&mut window, &Ack { sent: 5, ..ack_rtt(0, 200) });
        illinois.on_ack(&mut window, &Ack { sent: 6, ..ack_rtt(0, 150) });
        assert_eq!(illinois.linux.alpha(), 1280);
        illinois.on_ack(&mut window, &Ack { sent: 7, ..ack_rtt(0, 150) });
        // Mean 150 and greatest 200, as below: 74 128ths, and four of 173 segments were counted.
        assert_eq!(illinois.linux.alpha(), 74);
        assert_eq!(acks_for_a_segment(&mut illinois, &mut window, &ack(0)), 169);
        window.set_cwnd(100.0);
        lose(&mut illinois, &mut window, 0);
        assert_eq!(window.cwnd, left);
    }
}

#[test]
fn todays_linux_counts_in_128ths() {
    // Samples of 100, 200 and 150 ms: mean 150, so delay 50 of 100 ms. d1 = 1 ms: 1280 x 99/(99 + 49 x 1242/38) in
    // microseconds: 126,720,000/(99,000 + 1,601,526) = 74 128ths. beta: d2 = 10, d3 = 80 ms:
    // (8 x 80,000 + 24 x 50,000 - 32 x 10,000)/70,000 = 21 64ths.
    let mut illinois = illinois();
    let mut window = window(100.0, Arithmetic::Linux);
    for rtt_ms in [100, 200] {
        illinois.on_ack(&mut window, &Ack { cumulative: 0, ..ack_rtt(0, rtt_ms) });
    }
    illinois.on_ack(&mut window, &Ack { round_start: true, ..ack_rtt(0, 150) });
    // 100 segments take 173 counted: 173 x 74/128 = 100.02; one was counted.
    assert_eq!(acks_for_a_segment(&mut illinois, &mut window, &ack(0)), 172);
    window.set_cwnd(100.0);
    lose(&mut illinois, &mut window, 0);
    // 100 x 21/64 = 32.8, rounded down.
    assert_eq!(window.cwnd, 68.0);
    // A timeout: alpha 1, beta one half.
    time_out(&mut illinois, &mut window, 0);
    window.set_ssthresh(2.0);
    window.set_cwnd(10.0);
    assert_eq!(acks_for_a_segment(&mut illinois, &mut window, &ack(0)), 10);
}

#[test]
fn a_timeout_cuts_as_a_loss_and_then_begins_as_reno() {
    let mut illinois = at_delay(10);
    let mut window = window_with(1000.0, 2.0, Arithmetic::Real);
    time_out(&mut illinois, &mut window, 0);
    assert_eq!((window.cwnd, window.ssthresh), (1.0, 875.0));
    assert_eq!((illinois.alpha, illinois.beta, illinois.above), (1.0, 0.5, false));
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 400) };
    illinois.on_congestion(&mut window, &again);
    assert_eq!(window.ssthresh, 875.0);
}

#[test]
fn a_round_trip_without_a_sample_changes_nothing() {
    let mut illinois = at_delay(50);
    let before = (illinois.alpha, illinois.beta, illinois.above);
    illinois.end_round(1000.0, 100.0);
    assert_eq!((illinois.alpha, illinois.beta, illinois.above), before);
}
