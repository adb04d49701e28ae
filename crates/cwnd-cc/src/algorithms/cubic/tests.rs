use super::*;
use crate::Arithmetic;
use crate::testing::{ack, ack_rtt, assert_near, congestion, lose, time_out, window, window_with};

fn cubic() -> Cubic {
    Cubic::new(CubicParameters::default())
}

/// A CUBIC that lost at 100 segments and whose congestion avoidance begins at 0 ms with the window at 70.
fn after_loss_at_100(arithmetic: Arithmetic) -> (Cubic, Window) {
    let mut cubic = cubic();
    let mut window = window(100.0, arithmetic);
    lose(&mut cubic, &mut window, 0);
    cubic.on_ack(&mut window, &Ack { acked: 0, ..ack(0) });
    cubic.begin_stage(window.cwnd, Nanos::ZERO);
    (cubic, window)
}

#[test]
fn k_is_the_cube_root_of_the_decrease() {
    // K = cbrt((100 - 70)/0.4) = cbrt(75) = 4.21716 s, and W_cubic(0) = 70, W_cubic(K) = 100.
    let (cubic, window) = after_loss_at_100(Arithmetic::Real);
    assert_eq!(window.cwnd, 70.0);
    assert_near(cubic.state.k, 4.217_163, 1e-6);
    assert_near(w_cubic(0.4, &cubic.state, 0.0), 70.0, 1e-9);
    assert_eq!(w_cubic(0.4, &cubic.state, cubic.state.k), 100.0);
}

#[test]
fn the_window_follows_the_curve_one_round_trip_ahead() {
    // At 1 s with RTT 100 ms: W_cubic(1.1) = 0.4 (1.1 - 4.21716)^3 + 100 = 100 - 0.4 * 30.289 = 87.8846.
    // W_cubic(1) = 86.68 is above W_est = 70 + 0.529/70, so W += (87.8846 - 70)/70 = 0.25549.
    let (mut cubic, mut window) = after_loss_at_100(Arithmetic::Real);
    cubic.on_ack(&mut window, &ack_rtt(1000, 100));
    assert_near(window.cwnd, 70.255_494, 1e-6);
    // At 3 s: W_cubic(3.1) = 100 - 0.4 * 1.1172^3 = 99.4423.
    let (mut cubic, mut window) = after_loss_at_100(Arithmetic::Real);
    cubic.on_ack(&mut window, &ack_rtt(3000, 100));
    assert_near(window.cwnd, 70.0 + (99.442_3 - 70.0) / 70.0, 1e-5);
}

#[test]
fn growth_is_at_most_half_of_the_acknowledged_segments() {
    // W_cubic(60.1) is over 60,000, so the target is 1.5 * 70 and W += 35/70.
    let (mut cubic, mut window) = after_loss_at_100(Arithmetic::Real);
    cubic.on_ack(&mut window, &ack_rtt(60_000, 100));
    assert_eq!(window.cwnd, 70.5);
}

#[test]
fn a_target_under_the_window_does_not_shrink_it() {
    // At 0.5 s the target, W_cubic(0.6), is about 81; a window of 95 stays.
    let (mut cubic, _) = after_loss_at_100(Arithmetic::Real);
    let mut window = window(95.0, Arithmetic::Real);
    cubic.on_ack(&mut window, &ack_rtt(500, 100));
    assert_eq!(window.cwnd, 95.0);
}

#[test]
fn the_reno_friendly_window_leads_on_short_paths() {
    // RTT 1 ms, loss at 10: K = cbrt(3/0.4) = 1.96 s, but Reno's pace from 7 by 0.529 a round trip reaches 10 in
    // about 5.7 of them, and then takes one each.
    let mut cubic = cubic();
    let mut window = window(10.0, Arithmetic::Real);
    lose(&mut cubic, &mut window, 0);
    assert_eq!(window.cwnd, 7.0);
    let mut round_trip = |cubic: &mut Cubic, ms: u64| {
        let from = window.cwnd;
        let acks = from as u32;
        for _ in 0..acks {
            cubic.on_ack(&mut window, &ack_rtt(ms, 1));
        }
        (window.cwnd - from) * from / f64::from(acks)
    };
    assert_near(round_trip(&mut cubic, 1), 0.529, 0.03);
    assert_near(round_trip(&mut cubic, 2), 0.529, 0.03);
    for ms in 3..10 {
        round_trip(&mut cubic, ms);
    }
    assert!(cubic.state.w_est > 10.0);
    assert_near(round_trip(&mut cubic, 10), 1.0, 0.06);
}

#[test]
fn fast_convergence_gives_up_more_after_an_earlier_loss() {
    // 100, then 80: W_max = 80 (1 + 0.7)/2 = 68; without it 80. ssthresh = 0.7 * 80 either way.
    for (fast_convergence, w_max) in [(true, 68.0), (false, 80.0)] {
        let mut cubic = Cubic::new(CubicParameters { fast_convergence, ..Default::default() });
        let mut window = window(100.0, Arithmetic::Real);
        lose(&mut cubic, &mut window, 0);
        assert_eq!(cubic.state.w_max, Some(100.0));
        window.set_cwnd(80.0);
        lose(&mut cubic, &mut window, 1000);
        assert_near(cubic.state.w_max.unwrap(), w_max, 1e-12);
        assert_near(window.ssthresh, 56.0, 1e-12);
    }
}

#[test]
fn the_flight_size_is_what_is_multiplied() {
    let mut window = window(100.0, Arithmetic::Real);
    let loss = Congestion { flight_size: 50, ..congestion(&window, CongestionKind::Loss, 0) };
    cubic().on_congestion(&mut window, &loss);
    assert_near(window.ssthresh, 35.0, 1e-12);
    let mut of_cwnd = Cubic::new(CubicParameters { reduce_from: ReduceFrom::Cwnd, ..Default::default() });
    of_cwnd.on_congestion(&mut window, &loss);
    assert_near(window.ssthresh, 70.0, 1e-12);
}

#[test]
fn the_stage_after_a_timeout_begins_at_its_own_origin() {
    let mut cubic = cubic();
    let mut window = window(100.0, Arithmetic::Real);
    time_out(&mut cubic, &mut window, 0);
    assert_eq!(window.cwnd, 1.0);
    assert_near(window.ssthresh, 70.0, 1e-12);
    window.cwnd = 70.0;
    cubic.begin_stage(70.0, Nanos::ZERO);
    assert_eq!((cubic.state.k, cubic.state.origin), (0.0, 70.0));
    // At 2 s, RTT 100 ms: target 70 + 0.4 * 2.1^3 = 73.7044.
    cubic.on_ack(&mut window, &ack_rtt(2000, 100));
    assert_near(window.cwnd, 70.0 + 3.7044 / 70.0, 1e-9);
}

#[test]
fn a_second_timeout_in_a_row_changes_nothing() {
    let mut cubic = cubic();
    let mut window = window(100.0, Arithmetic::Real);
    time_out(&mut cubic, &mut window, 0);
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 400) };
    cubic.on_congestion(&mut window, &again);
    assert_near(window.ssthresh, 70.0, 1e-12);
    assert_eq!(cubic.state.cwnd_prior, 100.0);
}

#[test]
fn time_without_use_of_the_window_does_not_count() {
    // ACKs at 1 s and, after two seconds that the application limits, at 3 s: t is 1 s for the latter, too.
    let (mut cubic, mut window) = after_loss_at_100(Arithmetic::Real);
    cubic.on_ack(&mut window, &ack_rtt(1000, 100));
    cubic.on_ack(&mut window, &Ack { cwnd_limited: false, ..ack_rtt(2000, 100) });
    cubic.on_ack(&mut window, &Ack { cwnd_limited: false, ..ack_rtt(3000, 100) });
    assert_eq!(cubic.state.epoch, Some(Nanos::from_millis(2000)));
    // An idle pause of one second shifts it as well, and not twice.
    cubic.on_idle_restart(&mut window, Nanos::from_millis(4000), Nanos::from_millis(1000));
    cubic.on_ack(&mut window, &Ack { cwnd_limited: false, ..ack_rtt(4000, 100) });
    assert_eq!(cubic.state.epoch, Some(Nanos::from_millis(3000)));
}

#[test]
fn undo_restores_the_curve() {
    let (mut cubic, mut window) = after_loss_at_100(Arithmetic::Real);
    cubic.on_ack(&mut window, &ack_rtt(1000, 100));
    let before = cubic.state;
    lose(&mut cubic, &mut window, 1500);
    assert_ne!(cubic.state.w_max, before.w_max);
    cubic.on_undo(&mut window, Nanos::from_millis(1600));
    assert_eq!(cubic.state.w_max, before.w_max);
    assert_eq!(cubic.state.epoch, before.epoch);
    assert_eq!(cubic.state.k, before.k);
}

#[test]
fn integer_windows_follow_the_same_curve() {
    // As above, 17.8846 of 70 credits an ACK: 4 ACKs make 71.54, one step.
    for arithmetic in [Arithmetic::Linux, Arithmetic::Linux26] {
        let (mut cubic, mut window) = after_loss_at_100(arithmetic);
        for _ in 0..3 {
            cubic.on_ack(&mut window, &ack_rtt(1000, 100));
        }
        assert_eq!(window.cwnd, 70.0);
        cubic.on_ack(&mut window, &ack_rtt(1000, 100));
        assert_eq!(window.cwnd, 71.0);
    }
}

#[test]
fn slow_start_is_the_chosen_one() {
    // HyStart++ counts at most 8 segments an ACK, standard slow start all.
    for (slow_start, cwnd) in [(SlowStartKind::HyStartPlusPlus, 18.0), (SlowStartKind::Standard, 30.0)] {
        let mut cubic = Cubic::new(CubicParameters { slow_start, ..Default::default() });
        let mut window = window_with(10.0, f64::INFINITY, Arithmetic::Real);
        cubic.init(&mut window, &Init::default());
        cubic.on_ack(&mut window, &Ack { acked: 20, ..ack_rtt(100, 100) });
        assert_eq!(window.cwnd, cwnd);
    }
}

mod generation_of_2008 {
    use crate::algorithms::cubic::v2008::{Cubic2008, Cubic2008Parameters};
    use crate::testing::{ack_rtt, acks_for_a_segment, assert_near, lose, time_out, window};
    use crate::{Ack, Arithmetic, Configurable, CongestionControl, Window};

    /// Lost at 1,000 segments; the epoch begins at 2,000 ms with the window at 799, RTTmin 100 ms (99 in jiffies).
    fn after_loss(arithmetic: Arithmetic) -> (Cubic2008, Window) {
        let mut cubic = Cubic2008::new(Cubic2008Parameters::default());
        let mut window = window(1000.0, arithmetic);
        cubic.on_ack(&mut window, &Ack { cwnd_limited: false, ..ack_rtt(1900, 100) });
        lose(&mut cubic, &mut window, 2000);
        cubic.on_ack(&mut window, &Ack { cumulative: 0, ..ack_rtt(2000, 100) });
        (cubic, window)
    }

    #[test]
    fn it_keeps_four_fifths() {
        // 1000 * 819/1024 = 799.8, 799 in integers.
        assert_eq!(after_loss(Arithmetic::Linux26).1.ssthresh, 799.0);
        assert_near(after_loss(Arithmetic::Real).1.ssthresh, 799.805, 0.001);
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
        // The epoch's 12,099 jiffies are t = 12,389, past K = 8138: target 1000 + 0.4 * 4.151^3 = 1028. At 799 that
        // is cnt 3, but 16 segments in 0.1 s allow 799 * 1000/(160 * 99) = 50; times 16/31: 25, 26 ACKs.
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
        let held = format_cnt(&cubic);
        cubic.on_ack(&mut window, &ack_rtt(6031, 100));
        assert_eq!(format_cnt(&cubic), held);
        // The target passes the window: cnt leaves its resting 100 W.
        cubic.on_ack(&mut window, &ack_rtt(90_000, 100));
        assert_ne!(format_cnt(&cubic), held);
    }

    fn format_cnt(cubic: &Cubic2008) -> alloc::string::String {
        let text = alloc::format!("{cubic:?}");
        let from = text.find(" cnt:").unwrap();
        text[from..].split(',').next().unwrap().into()
    }

    #[test]
    fn a_timeout_forgets_all() {
        let (mut cubic, mut window) = after_loss(Arithmetic::Linux26);
        window.set_cwnd(900.0);
        time_out(&mut cubic, &mut window, 3000);
        // 900 * 819/1024 = 719.8; the next epoch has cnt = 50 again, ratio 31/16: 26 ACKs.
        assert_eq!((window.cwnd, window.ssthresh), (1.0, 719.0));
        window.set_cwnd(800.0);
        // The first ACK after the episode does not count for the ratio, which is back at 2: cnt = 25.
        assert_eq!(acks_for_a_segment(&mut cubic, &mut window, &ack_rtt(4000, 100)), 26);
    }
}

mod of_linux {
    use crate::algorithms::cubic::linux::{CubicLinux, CubicLinuxParameters};
    use crate::testing::{ack_rtt, acks_for_a_segment, assert_near, lose, time_out, window, window_with};
    use crate::{Ack, Arithmetic, Configurable, CongestionControl, Init, Nanos, Window};

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
        // K = floor(1024 cbrt(300/(410/1024))) = 9300. Two seconds into the epoch and 100 ms ahead t = 2150: target
        // 1000 - floor(0.4004 * 6.982^3) = 864, cnt = 700/164 = 4. Three seconds on, t = 5222: 975, 700/275 = 2.
        for (ms, acks) in [(4000, 4), (7000, 2)] {
            let (mut cubic, mut window) = after_loss(Arithmetic::Linux);
            assert_eq!(acks_for_a_segment(&mut cubic, &mut window, &ack_rtt(ms, 100)), acks);
        }
        // In real numbers K = cbrt(299.805/0.400391) = 9.08068: W(2.1) = 1000 - 0.400391 * 6.98068^3 = 863.799, so
        // an ACK adds (863.799 - 700.195)/700.195 = 0.23365.
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
}
