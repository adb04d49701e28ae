use super::*;
use crate::testing::{ack_rtt, acks_for_a_segment, assert_near, lose, time_out, window};

/// Lost at 1,000 segments; the epoch begins at 2,000 ms with the window at 799, RTTmin 100 ms (99 in
/// jiffies).
fn after_loss(arithmetic: Arithmetic) -> (Cubic2008, Window) {
    let mut cubic = Cubic2008::new(Cubic2008Parameters::default());
    let mut window = window(1000.0, arithmetic);
    cubic.on_ack(&mut window, &Ack { cwnd_limited: false, ..ack_rtt(1900, 100) });
    lose(&mut cubic, &mut window, 2000);
    // The threshold goes out of the way: in Linux 2.6 a window that equals it is in slow start.
    let left = window.ssthresh;
    window.set_ssthresh(2.0);
    cubic.on_ack(&mut window, &ack_rtt(2000, 100));
    window.set_cwnd(left);
    window.reset_counter();
    (cubic, window)
}

#[test]
fn it_keeps_four_fifths() {
    // 1000 * 819/1024 = 799.8, 799 in integers.
    assert_eq!(after_loss(Arithmetic::Linux26).1.cwnd, 799.0);
    assert_near(after_loss(Arithmetic::Real).1.cwnd, 799.805, 0.001);
}

#[test]
fn the_first_epoch_grows_by_a_fiftieth() {
    // cnt = 50, divided by the ACK ratio that sticks at 31/16: 25, and a step takes one ACK more.
    let mut cubic = Cubic2008::new(Cubic2008Parameters::default());
    let mut old = window(100.0, Arithmetic::Linux26);
    assert_eq!(acks_for_a_segment(&mut cubic, &mut old, &ack_rtt(100, 100)), 26);
    // Without the ratio 50; in real numbers a fiftieth of a segment an ACK.
    let mut cubic = Cubic2008::new(Cubic2008Parameters::default());
    assert_eq!(acks_for_a_segment(&mut cubic, &mut window(100.0, Arithmetic::Linux), &ack_rtt(100, 100)), 50);
    let mut cubic = Cubic2008::new(Cubic2008Parameters::default());
    let mut real = window(100.0, Arithmetic::Real);
    cubic.on_ack(&mut real, &ack_rtt(100, 100));
    assert_near(real.cwnd, 100.02, 1e-12);
}

#[test]
fn cnt_follows_the_cubic_function_in_integers() {
    // K = floor(1024 cbrt(201/(410/1024))) = 8138. Four seconds into the epoch, 99 jiffies ahead:
    // t = 4099 * 1024/1000 = 4197, 3941 before K: 410/1024 * (3941/1024)^3 = 22.8, so the target is
    // 1000 - 22 = 978. cnt = 799/(978 - 799) = 4, times 16/31 is 2: three ACKs for a step.
    let (mut cubic, mut window) = after_loss(Arithmetic::Linux26);
    let steps = acks_for_a_segment(&mut cubic, &mut window, &ack_rtt(6000, 100));
    assert_eq!(steps, 3);
    // Counting segments, not ACKs: 4.
    let (mut cubic, mut window) = after_loss(Arithmetic::Linux);
    assert_eq!(acks_for_a_segment(&mut cubic, &mut window, &ack_rtt(6000, 100)), 4);
}

#[test]
fn the_same_in_real_numbers() {
    // K = cbrt(200.195/0.400391) = 7.93699; W(4.1) = 1000 - 0.400391 * 3.83699^3 = 977.382, so an ACK adds
    // (977.382 - 799.805)/799.805 = 0.22203.
    let (mut cubic, mut window) = after_loss(Arithmetic::Real);
    let from = window.cwnd;
    cubic.on_ack(&mut window, &ack_rtt(6000, 100));
    assert_near(window.cwnd - from, 0.222_03, 1e-4);
}

#[test]
fn growth_is_capped_above_the_origin_only() {
    // The epoch's 12,099 jiffies are t = 12,389, past K = 8138: target 1000 + 0.4 * 4.151^3 = 1028. At 799
    // that is cnt 3, but 16 segments in 0.1 s allow 799 * 1000/(160 * 99) = 50; times 16/31: 25, 26 ACKs.
    let (mut cubic, mut window) = after_loss(Arithmetic::Linux26);
    assert_eq!(acks_for_a_segment(&mut cubic, &mut window, &ack_rtt(14_000, 100)), 26);
    // In real numbers 160 segments/s * 0.1 s = 16 a round trip, not 228.
    let (mut cubic, mut window) = after_loss(Arithmetic::Real);
    let from = window.cwnd;
    cubic.on_ack(&mut window, &ack_rtt(14_000, 100));
    assert_near(window.cwnd - from, 16.0 / from, 1e-9);
}

#[test]
fn cnt_is_held_while_the_window_stays() {
    let (mut cubic, mut window) = after_loss(Arithmetic::Linux26);
    window.set_cwnd(1e5);
    cubic.on_ack(&mut window, &ack_rtt(6000, 100));
    let held = cubic.cnt;
    cubic.on_ack(&mut window, &ack_rtt(6031, 100));
    assert_eq!(cubic.cnt, held);
    // The target passes the window: cnt leaves its resting 100 W.
    cubic.on_ack(&mut window, &ack_rtt(90_000, 100));
    assert_ne!(cubic.cnt, held);
}

#[test]
fn a_timeout_forgets_all() {
    let (mut cubic, mut window) = after_loss(Arithmetic::Linux26);
    window.set_cwnd(900.0);
    time_out(&mut cubic, &mut window, 3000);
    // 900 * 819/1024 = 719.8; the next epoch has cnt = 50 again, ratio 31/16: 26 ACKs.
    assert_eq!((window.cwnd, window.ssthresh), (1.0, 719.0));
    window.set_cwnd(800.0);
    // The first ACK after the episode does not count for the ratio, which is back at 2: cnt = 25 again.
    assert_eq!(acks_for_a_segment(&mut cubic, &mut window, &ack_rtt(4000, 100)), 26);
}

#[test]
fn over_the_curve_it_hardly_grows() {
    // A window of 950 where the curve is at 819: a hundredth of a segment a round trip.
    let (mut cubic, mut window) = after_loss(Arithmetic::Real);
    window.set_cwnd(950.0);
    cubic.on_ack(&mut window, &ack_rtt(2001, 100));
    assert_near((window.cwnd - 950.0) * 950.0, 0.01, 1e-9);
}

#[test]
fn where_reno_leads_it_keeps_up() {
    // As in Linux's of today: Reno's pace at a beta of 0.7 is 0.529412.
    for (tcp_friendliness, growth) in [(true, 0.529_412), (false, 0.000_624)] {
        let parameters = Cubic2008Parameters { c: 0.001, beta: 0.7, tcp_friendliness, ..Default::default() };
        let mut cubic = Cubic2008::new(parameters);
        let mut window = window(10.0, Arithmetic::Real);
        cubic.on_ack(&mut window, &Ack { cwnd_limited: false, ..ack_rtt(1900, 1) });
        lose(&mut cubic, &mut window, 2000);
        cubic.on_ack(&mut window, &Ack { acked: 7, cumulative: 7, ..ack_rtt(2000, 1) });
        assert_near(window.cwnd - 7.0, growth, 1e-6);
    }
}

#[test]
fn earlier_losses_lower_the_plateau_and_an_undo_returns_to_it() {
    // 800 (1 + 819/1024)/2 = 719.92; at 1000 itself the loss is not earlier.
    for (cwnd, fast_convergence, w_max) in
        [(1000.0, true, 1000.0), (800.0, true, 719.0), (800.0, false, 800.0)]
    {
        let parameters = Cubic2008Parameters { fast_convergence, ..Default::default() };
        let mut cubic = Cubic2008 { w_max: 1000.0, ..Cubic2008::new(parameters) };
        let mut window = window(cwnd, Arithmetic::Linux26);
        lose(&mut cubic, &mut window, 0);
        assert_eq!(cubic.w_max, w_max);
        cubic.on_undo(&mut window, Nanos::ZERO);
        assert_eq!(window.cwnd, w_max);
    }
}

#[test]
fn samples_count_after_a_second_of_calm() {
    let (mut cubic, mut window) = after_loss(Arithmetic::Real);
    for (ms, rtt, state, least) in [
        (2999, 80, State::Open, 0.1),
        (3000, 90, State::Open, 0.09),
        (3001, 85, State::Recovery, 0.085),
        // The state before the ACK decides.
        (3002, 70, State::Open, 0.085),
        (3003, 75, State::Open, 0.075),
    ] {
        cubic.on_ack(&mut window, &Ack { state, ..ack_rtt(ms, rtt) });
        assert_near(cubic.delay_min, least, 1e-12);
    }
}

#[test]
fn the_ratio_counts_what_is_acknowledged_while_nothing_is_wrong() {
    // 32 - 2 + 4 = 34 sixteenths.
    for (cumulative, calm, ratio) in [(4, true, 34), (0, true, 32), (4, false, 32)] {
        let mut cubic = Cubic2008 { calm, ..Cubic2008::new(Cubic2008Parameters::default()) };
        cubic.on_ack(&mut window(100.0, Arithmetic::Linux26), &Ack { cumulative, ..ack_rtt(0, 100) });
        assert_eq!(cubic.ack_ratio, ratio);
    }
}

#[test]
fn cnt_is_renewed_with_the_window_or_after_31_ms() {
    let (mut cubic, mut window) = after_loss(Arithmetic::Linux);
    cubic.on_ack(&mut window, &ack_rtt(6000, 100));
    for (ms, cwnd, renewed) in [(6031, 799.0, false), (6032, 799.0, true), (6033, 810.0, true)] {
        window.set_cwnd(cwnd);
        cubic.cnt = 77.0;
        cubic.on_ack(&mut window, &ack_rtt(ms, 100));
        assert_eq!(cubic.cnt != 77.0, renewed, "{ms} {cwnd}");
    }
}

#[test]
fn on_the_plateau_it_hardly_grows() {
    // As in Linux's of today: the target is the window itself.
    let mut cubic = Cubic2008 { w_max: 50.0, lost: true, ..Cubic2008::new(Cubic2008Parameters::default()) };
    let mut window = window(100.0, Arithmetic::Real);
    cubic.on_ack(&mut window, &Ack { rtt: None, ..ack_rtt(2000, 100) });
    assert_near((window.cwnd - 100.0) * 100.0, 0.01, 1e-9);
}
