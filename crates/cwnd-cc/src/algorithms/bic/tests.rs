use super::*;
use crate::testing::{ack, acks_for_a_segment, assert_near, congestion, lose, time_out, window};

fn bic() -> Bic {
    Bic::new(BicParameters::default())
}

/// A BIC that has lost at `w_max`.
fn lost_at(w_max: f64) -> Bic {
    Bic { w_max, ..bic() }
}

/// Segments a round trip at a window.
fn growth(mut bic: Bic, cwnd: f64) -> f64 {
    let mut window = window(cwnd, Arithmetic::Real);
    bic.on_ack(&mut window, &ack(0));
    (window.cwnd - cwnd) * cwnd
}

#[test]
fn the_search_takes_a_quarter_of_the_gap_within_bounds() {
    // Wmax 1000. 800: 200/4 = 50, so 16. 936: 16. 960: 10. 992: 2. 996: 1, so 0.2. 999: 0.2.
    for (cwnd, expected) in
        [(800.0, 16.0), (936.0, 16.0), (960.0, 10.0), (992.0, 2.0), (996.0, 0.2), (999.0, 0.2)]
    {
        assert_near(growth(lost_at(1000.0), cwnd), expected, 1e-8);
    }
}

#[test]
fn probing_beyond_is_the_search_mirrored() {
    // 1000 and 1003: 0.2. 1004: 4/3. 1030: 10. 1047: 47/3 = 15.67. 1048: 16. 1060 and 2000: 16.
    for (cwnd, expected) in [
        (1000.0, 0.2),
        (1003.0, 0.2),
        (1004.0, 4.0 / 3.0),
        (1030.0, 10.0),
        (1047.0, 47.0 / 3.0),
        (1048.0, 16.0),
        (1060.0, 16.0),
        (2000.0, 16.0),
    ] {
        assert_near(growth(lost_at(1000.0), cwnd), expected, 1e-8);
    }
}

#[test]
fn small_windows_are_renos() {
    // 14: one segment a round trip, and half at a loss, although Wmax is far; 15: (100 - 15)/4 = 21, so 16.
    assert_near(growth(lost_at(100.0), 14.0), 1.0, 1e-10);
    assert_near(growth(lost_at(100.0), 15.0), 16.0, 1e-10);
    for (cwnd, left) in [(14.0, 7.0), (3.0, 2.0)] {
        let mut window = window(cwnd, Arithmetic::Real);
        lose(&mut bic(), &mut window, 0);
        assert_eq!(window.cwnd, left);
    }
}

#[test]
fn before_the_first_loss_a_window_grows_by_a_twentieth() {
    // Above a Wmax of 0: 20/3 = 6.67 at 20, 16 at 100; and at least W/20: 50 at 1000.
    for (cwnd, expected) in [(20.0, 20.0 / 3.0), (100.0, 16.0), (1000.0, 50.0)] {
        assert_near(growth(bic(), cwnd), expected, 1e-8);
    }
}

#[test]
fn a_loss_keeps_four_fifths_and_an_earlier_one_lowers_the_target() {
    // 1024 -> 819, Wmax 1024. At 900 < 1024: Wmax = 900 * 1843/2048 = 809.912, 900 -> 719.824.
    let mut bic = bic();
    let mut window = window(1024.0, Arithmetic::Real);
    lose(&mut bic, &mut window, 0);
    assert_eq!((window.cwnd, bic.w_max), (819.0, 1024.0));
    window.set_cwnd(900.0);
    lose(&mut bic, &mut window, 0);
    assert_near(bic.w_max, 809.912, 1e-3);
    assert_near(window.cwnd, 719.824, 1e-3);
    // A loss at Wmax is not an earlier one.
    let mut again = lost_at(900.0);
    window.set_cwnd(900.0);
    lose(&mut again, &mut window, 0);
    assert_eq!(again.w_max, 900.0);
    // Without fast convergence Wmax is the window.
    let mut plain = Bic::new(BicParameters { fast_convergence: false, ..Default::default() });
    plain.w_max = 1024.0;
    window.set_cwnd(900.0);
    lose(&mut plain, &mut window, 0);
    assert_eq!(plain.w_max, 900.0);
}

#[test]
fn the_papers_constants_give_the_papers_rule() {
    // Midpoint, S_max 32, S_min 0.01: from 800 to 1000 half is 100, so 32; from 960: 20; from 999: 0.01.
    let paper = BicParameters { beta: 0.875, s_max: 32.0, s_min: 0.01, divisor: 2.0, ..Default::default() };
    for (cwnd, expected) in [(800.0, 32.0), (960.0, 20.0), (999.0, 0.01)] {
        assert_near(growth(Bic { w_max: 1000.0, ..Bic::new(paper.clone()) }, cwnd), expected, 1e-8);
    }
}

#[test]
fn integers_round_the_gap_and_the_acks_of_a_step() {
    // Wmax 1000 from 951: 49/4 = 12, 951/12 = 79. From 993: 7/4 = 1, so 0.2: 4965. The first ACK, of one segment, makes
    // the average 32 - 2 + 1 = 31 sixteenths: 79 x 16/31 = 40 ACKs, and 4965 x 16/31 = 2562.
    for (cwnd, acks) in [(951.0, 40), (993.0, 2562)] {
        let mut window = window(cwnd, Arithmetic::Linux);
        assert_eq!(acks_for_a_segment(&mut lost_at(1000.0), &mut window, &ack(0)), acks);
    }
}

#[test]
fn in_integers_small_windows_are_renos_whatever_an_ack_acknowledges() {
    // At 14 segments, 14 of them, though the ratio is 31 sixteenths: 14 x 16/31 = 7 would be twice as fast. ns-2's module takes
    // the ACK after. At 15 the step is (100 - 15)/4 = 21, so 16: each of 15 would be more than one, and one it is at least.
    for (arithmetic, cwnd, acks) in [
        (Arithmetic::Linux, 14.0, 14),
        (Arithmetic::Linux26, 14.0, 15),
        (Arithmetic::Linux, 15.0, 1),
        (Arithmetic::Linux26, 15.0, 2),
    ] {
        let mut window = window(cwnd, arithmetic);
        assert_eq!(
            acks_for_a_segment(&mut lost_at(100.0), &mut window, &ack(0)),
            acks,
            "{arithmetic:?} {cwnd}"
        );
    }
}

#[test]
fn a_timeout_forgets_what_an_ack_acknowledges() {
    let mut bic = Bic { ack_ratio: 17, ..bic() };
    time_out(&mut bic, &mut window(100.0, Arithmetic::Linux26), 0);
    assert_eq!(bic.ack_ratio, 32);
    let mut bic = Bic { ack_ratio: 17, ..bic };
    lose(&mut bic, &mut window(100.0, Arithmetic::Linux26), 0);
    assert_eq!(bic.ack_ratio, 17);
}

#[test]
fn a_count_that_comes_out_even_is_whole() {
    // Wmax 1000, above it: 1021 segments are 21 over it, and 1021 x 3/21 = 145.86; 1029 x 3/29 = 106.45; 1050 x 3/50 is
    // over s_max's 48, so 1050/16 = 65.6; 1008 x 3/8 = 378 and 1020 x 3/20 = 153, even.
    let bic = lost_at(1000.0);
    for (cwnd, cnt) in [(1021.0, 145), (1029.0, 106), (1050.0, 65), (1008.0, 378), (1020.0, 153)] {
        assert_eq!(bic.count(cwnd), cnt, "{cwnd}");
    }
    // Of all windows up to there none is off by what floating point makes of a third, a fifth or a twentieth.
    for over in 4..48u32 {
        assert_eq!(bic.count(f64::from(1000 + over)), (1000 + over) * 3 / over);
    }
    for cwnd in 100..5000u32 {
        let lost = lost_at(f64::from(cwnd));
        assert_eq!(lost.count(f64::from(cwnd)), cwnd * 5);
        assert_eq!(Bic { w_max: 0.0, ..lost }.count(f64::from(cwnd)), (cwnd / 16).min(20));
    }
}

#[test]
fn linux_26_divides_by_the_segments_of_an_ack() {
    // The ratio goes from 32/16 to 31/16 with the first ACK and stays: 32 - 2 + 1 = 31, 31 - 1 + 1 = 31. So 79
    // becomes 79 * 16/31 = 40, and the step comes with the ACK after.
    let mut window = window(951.0, Arithmetic::Linux26);
    let mut bic = lost_at(1000.0);
    assert_eq!(acks_for_a_segment(&mut bic, &mut window, &ack(0)), 41);
    assert_eq!(bic.ack_ratio, 31);
}

#[test]
fn linux_26_holds_a_count_for_31_ms() {
    // Ratio 31: 79 * 16/31 = 40, which stands though the ratio goes to 31 - 1 + 40 = 70, by which 79 would become 18
    // (ACKs for four segments keep it over 64, for which it is 19).
    let mut window = window(951.0, Arithmetic::Linux26);
    let mut bic = lost_at(1000.0);
    bic.on_ack(&mut window, &ack(0));
    bic.on_ack(&mut window, &Ack { cumulative: 40, ..ack(0) });
    assert_eq!(bic.ack_ratio, 70);
    for _ in 0..20 {
        bic.on_ack(&mut window, &Ack { cumulative: 4, ..ack(31) });
    }
    assert_eq!(window.cwnd, 951.0);
    bic.on_ack(&mut window, &Ack { cumulative: 4, ..ack(32) });
    assert_eq!(window.cwnd, 952.0);
}

#[test]
fn a_timeout_forgets_the_target_and_an_undo_brings_it_back() {
    // 2048 * 819/1024 = 1638.
    let mut bic = lost_at(1000.0);
    let mut window = window(2048.0, Arithmetic::Real);
    time_out(&mut bic, &mut window, 0);
    assert_eq!((window.cwnd, window.ssthresh, bic.w_max), (1.0, 1638.0, 0.0));
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 400) };
    bic.on_congestion(&mut window, &again);
    assert_eq!(window.ssthresh, 1638.0);
    bic.on_undo(&mut window, Nanos::ZERO);
    assert_eq!(bic.w_max, 1000.0);
}

#[test]
fn the_ratio_counts_what_is_acknowledged_while_nothing_is_wrong() {
    // 32 - 2 + 4 = 34 sixteenths.
    for (cumulative, state, ratio) in
        [(4, State::Open, 34), (0, State::Open, 32), (4, State::Disorder, 32), (4, State::Recovery, 32)]
    {
        let mut bic = bic();
        bic.on_ack(&mut window(100.0, Arithmetic::Linux26), &Ack { cumulative, state, ..ack(0) });
        assert_eq!(bic.ack_ratio, ratio);
    }
}
