use super::*;
use crate::testing::{ack_rtt, acks_for_a_segment, assert_near, lose, time_out, window, window_with};

/// Lost at 1,000 segments; the epoch begins at 2,000 ms with the window at 700, RTTmin 100 ms.
fn after_loss(arithmetic: Arithmetic) -> (CubicLinux, Window) {
    let mut cubic = CubicLinux::new(CubicLinuxParameters::default());
    let mut window = window(1000.0, arithmetic);
    cubic.on_ack(&mut window, &Ack { cwnd_limited: false, ..ack_rtt(1900, 100) });
    lose(&mut cubic, &mut window, 2000);
    cubic.on_ack(&mut window, &ack_rtt(2000, 100));
    window.set_cwnd(window.ssthresh);
    window.reset_counter();
    (cubic, window)
}

#[test]
fn it_keeps_seven_tenths() {
    // 1000 * 717/1024 = 700.2.
    assert_eq!(after_loss(Arithmetic::Linux).1.ssthresh, 700.0);
    assert_near(after_loss(Arithmetic::Real).1.ssthresh, 700.195, 0.001);
}

#[test]
fn cnt_follows_the_cubic_function() {
    // K = floor(1024 cbrt(300/(410/1024))) = 9300. Two seconds into the epoch and 100 ms ahead t = 2150:
    // target 1000 - floor(0.4004 * 6.982^3) = 864, cnt = 700/164 = 4. Three seconds on, t = 5222: 975,
    // 700/275 = 2.
    for (ms, acks) in [(4000, 4), (7000, 2)] {
        let (mut cubic, mut window) = after_loss(Arithmetic::Linux);
        assert_eq!(acks_for_a_segment(&mut cubic, &mut window, &ack_rtt(ms, 100)), acks);
    }
    // In real numbers K = cbrt(299.805/0.400391) = 9.08068: W(2.1) = 1000 - 0.400391 * 6.98068^3 = 863.799,
    // so an ACK adds (863.799 - 700.195)/700.195 = 0.23365.
    let (mut cubic, mut window) = after_loss(Arithmetic::Real);
    let from = window.cwnd;
    cubic.on_ack(&mut window, &ack_rtt(4000, 100));
    assert_near(window.cwnd - from, 0.233_65, 1e-4);
}

#[test]
fn the_window_grows_to_half_as_much_again_at_most() {
    for arithmetic in [Arithmetic::Linux, Arithmetic::Real] {
        let (mut cubic, mut window) = after_loss(arithmetic);
        let from = window.cwnd;
        for _ in 0..2 {
            cubic.on_ack(&mut window, &ack_rtt(60_000, 100));
        }
        assert_near(window.cwnd - from, 1.0, 0.01);
    }
}

#[test]
fn before_the_first_loss_it_grows_by_a_twentieth() {
    let mut cubic = CubicLinux::new(CubicLinuxParameters::default());
    let mut integer = window(1000.0, Arithmetic::Linux);
    assert_eq!(acks_for_a_segment(&mut cubic, &mut integer, &ack_rtt(100, 100)), 20);
    let mut cubic = CubicLinux::new(CubicLinuxParameters::default());
    let mut real = window(1000.0, Arithmetic::Real);
    cubic.on_ack(&mut real, &ack_rtt(100, 100));
    assert_near(real.cwnd, 1000.05, 1e-9);
}

#[test]
fn fast_convergence_and_the_reno_friendly_window() {
    // 1000, then 800: W_max = floor(800 * 1741/2048) = 680, under which the next epoch starts at 560.
    let (mut cubic, mut window) = after_loss(Arithmetic::Linux);
    window.set_cwnd(800.0);
    lose(&mut cubic, &mut window, 3000);
    assert_eq!(window.cwnd, 560.0);
    // At RTT 1 ms the cubic of a window of 10 stands still, and Reno's leads: one segment for 18 acknowledged
    // (10 * 1.875 rounded down), so 18 + 1 ACKs make tcp_cwnd 11 and cnt 10.
    let mut cubic = CubicLinux::new(CubicLinuxParameters::default());
    let mut small = crate::testing::window(14.0, Arithmetic::Linux);
    lose(&mut cubic, &mut small, 0);
    assert_eq!(small.cwnd, 9.0);
    for ms in 0..40 {
        cubic.on_ack(&mut small, &ack_rtt(40 * ms, 1));
    }
    assert!(small.cwnd > 10.0);
}

#[test]
fn a_timeout_forgets_all() {
    let (mut cubic, mut window) = after_loss(Arithmetic::Linux);
    time_out(&mut cubic, &mut window, 3000);
    assert_eq!((window.cwnd, window.ssthresh), (1.0, 490.0));
    window.set_cwnd(490.0);
    assert_eq!(acks_for_a_segment(&mut cubic, &mut window, &ack_rtt(4000, 100)), 20);
}

#[test]
fn hystart_ends_slow_start_unless_switched_off() {
    // Two rounds of 16 ACKs 10 ms apart; in the second every RTT is 25 ms over the first's 100 ms, where
    // 100/8 = 12.5 ms are allowed. The ninth sample ends slow start.
    for (hystart, left) in [(true, true), (false, false)] {
        let mut cubic = CubicLinux::new(CubicLinuxParameters { hystart, ..Default::default() });
        let mut window = window_with(20.0, f64::INFINITY, Arithmetic::Linux);
        cubic.init(&mut window, &Init::default());
        for n in 0..32u64 {
            let rtt = if n < 16 { 100 } else { 125 };
            cubic.on_ack(&mut window, &Ack { round_start: n % 16 == 0, ..ack_rtt(100 + 10 * n, rtt) });
        }
        assert_eq!(window.ssthresh.is_finite(), left);
    }
}

#[test]
fn idle_time_shifts_the_epoch() {
    // Two seconds of epoch, ten of them idle: the same as in the test above at 4,000 ms.
    let (mut cubic, mut window) = after_loss(Arithmetic::Linux);
    cubic.on_idle_restart(&mut window, Nanos::from_millis(14_000), Nanos::from_millis(10_000));
    assert_eq!(acks_for_a_segment(&mut cubic, &mut window, &ack_rtt(14_000, 100)), 4);
}

#[test]
fn over_the_curve_it_hardly_grows() {
    // A window of 900 where the curve is at 711: a hundredth of a segment a round trip.
    let (mut cubic, mut window) = after_loss(Arithmetic::Real);
    window.set_cwnd(900.0);
    cubic.on_ack(&mut window, &ack_rtt(2001, 100));
    assert_near((window.cwnd - 900.0) * 900.0, 0.01, 1e-9);
}

#[test]
fn where_reno_leads_it_keeps_up() {
    // Lost at 10, kept 7: Reno's window is 7 + 7 * 0.529412/7 after seven acknowledged segments. With C = 0.001 the
    // curve is K = cbrt(3000) = 14.4225 s long: 10 - 0.001 (14.4225 - 0.001)^3 = 7.000624 one RTT of 1 ms ahead.
    for (tcp_friendliness, growth) in [(true, 0.529_412), (false, 0.000_624)] {
        let parameters = CubicLinuxParameters { c: 0.001, beta: 0.7, tcp_friendliness, ..Default::default() };
        let mut cubic = CubicLinux { delay_min: Nanos::from_millis(1), ..CubicLinux::new(parameters) };
        let mut window = window(10.0, Arithmetic::Real);
        lose(&mut cubic, &mut window, 2000);
        cubic.on_ack(&mut window, &Ack { acked: 7, cumulative: 7, ..ack_rtt(2000, 1) });
        assert_near(window.cwnd - 7.0, growth, 1e-6);
    }
}

#[test]
fn an_epoch_settles_for_a_second_before_its_samples_count() {
    let (mut cubic, mut window) = after_loss(Arithmetic::Real);
    for (ms, rtt, least) in [(2999, 80, 100), (3000, 90, 90), (3001, 95, 90)] {
        cubic.on_ack(&mut window, &ack_rtt(ms, rtt));
        assert_eq!(cubic.delay_min, Nanos::from_millis(least));
    }
}

#[test]
fn cnt_is_renewed_with_the_window_or_after_31_ms() {
    let (mut cubic, mut window) = after_loss(Arithmetic::Linux);
    cubic.on_ack(&mut window, &ack_rtt(4000, 100));
    for (ms, cwnd, renewed) in
        [(4031, 700.0, false), (4032, 700.0, true), (4032, 710.0, false), (4033, 710.0, true)]
    {
        window.set_cwnd(cwnd);
        cubic.cnt = 77.0;
        cubic.on_ack(&mut window, &ack_rtt(ms, 100));
        assert_eq!(cubic.cnt != 77.0, renewed, "{ms} {cwnd}");
    }
}

#[test]
fn a_loss_at_the_last_maximum_is_not_an_earlier_one() {
    for (cwnd, fast_convergence, w_max) in
        [(1000.0, true, 1000.0), (800.0, true, 680.0), (800.0, false, 800.0)]
    {
        let parameters = CubicLinuxParameters { fast_convergence, ..Default::default() };
        let mut cubic = CubicLinux { w_max: 1000.0, ..CubicLinux::new(parameters) };
        lose(&mut cubic, &mut window(cwnd, Arithmetic::Linux), 0);
        assert_eq!(cubic.w_max, w_max);
    }
}

#[test]
fn on_the_plateau_it_hardly_grows() {
    // Lost at 50, and begun at 100 in the same moment, of no known RTT: the target is the window itself, and Reno's
    // window 1/(100 * 1.9) ahead. A hundredth of a segment a round trip is more.
    let mut cubic = CubicLinux { w_max: 50.0, ..CubicLinux::new(CubicLinuxParameters::default()) };
    let mut window = window(100.0, Arithmetic::Real);
    cubic.on_ack(&mut window, &Ack { rtt: None, ..ack_rtt(2000, 100) });
    assert_near((window.cwnd - 100.0) * 100.0, 0.01, 1e-9);
}
