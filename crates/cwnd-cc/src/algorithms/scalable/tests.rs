use super::*;
use crate::testing::{
    ack, acks_for_a_segment, assert_near, congestion, lose, round_trips_until, time_out, window, window_with,
};
use crate::{Arithmetic, CongestionKind};

fn scalable() -> Scalable {
    Scalable::new(ScalableParameters::default())
}

#[test]
fn growth_is_a_hundredth_of_a_segment_in_large_windows_and_renos_in_small_ones() {
    // min(W, 100) acknowledged segments for one: 1/50, 1/100, 1/100.
    for (cwnd, growth) in [(50.0, 0.02), (100.0, 0.01), (10_000.0, 0.01)] {
        let mut window = window(cwnd, Arithmetic::Real);
        scalable().on_ack(&mut window, &ack(0));
        assert_near(window.cwnd - cwnd, growth, 1e-11);
    }
}

#[test]
fn a_loss_is_made_up_for_in_the_same_number_of_round_trips_at_any_rate() {
    // From 0.875 W to W at 1 % a round trip, spread over its segments, so e^0.01: ln(1/0.875)/0.01 = 13.35.
    for peak in [1000.0, 20_000.0] {
        let mut window = window(peak, Arithmetic::Real);
        let mut scalable = scalable();
        lose(&mut scalable, &mut window, 0);
        let round_trips =
            round_trips_until(&mut scalable, &mut window, &ack(0), |window, _| window.cwnd >= peak);
        assert_near(round_trips, 13.35, 0.01);
    }
}

#[test]
fn a_loss_costs_an_eighth_rounded_down_in_integers() {
    // 804/8 = 100.5: 703.5 are left, or 704 where 100 are given up. 3/8: 2.625, or 3; of 2 at least 2 are left.
    for (arithmetic, cwnd, left) in [
        (Arithmetic::Real, 804.0, 703.5),
        (Arithmetic::Linux, 804.0, 704.0),
        (Arithmetic::Real, 3.0, 2.625),
        (Arithmetic::Linux, 3.0, 3.0),
        (Arithmetic::Real, 2.0, 2.0),
    ] {
        let mut window = window(cwnd, arithmetic);
        lose(&mut scalable(), &mut window, 0);
        assert_eq!(window.cwnd, left, "{cwnd}");
    }
}

#[test]
fn the_integer_arithmetics_take_a_step_after_so_many_acks() {
    // 100 in Linux, one more in Linux 2.6; with the kernel's own 50 the 51 of its old versions.
    let kernel = || Scalable::new(ScalableParameters { ai_cnt: 50.0, ..Default::default() });
    let steps = |mut scalable: Scalable, arithmetic| {
        acks_for_a_segment(&mut scalable, &mut window(1000.0, arithmetic), &ack(0))
    };
    assert_eq!(steps(scalable(), Arithmetic::Linux), 100);
    assert_eq!(steps(kernel(), Arithmetic::Linux), 50);
    assert_eq!(steps(kernel(), Arithmetic::Linux26), 51);
}

#[test]
fn a_timeout_costs_an_eighth_too_and_a_second_one_nothing_more() {
    let mut window = window(800.0, Arithmetic::Real);
    let mut scalable = scalable();
    time_out(&mut scalable, &mut window, 0);
    assert_eq!((window.cwnd, window.ssthresh), (1.0, 700.0));
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 400) };
    scalable.on_congestion(&mut window, &again);
    assert_eq!(window.ssthresh, 700.0);
}

#[test]
fn slow_start_hands_over_to_scalable_growth() {
    // From 498 to 500 with two segments, the other three add 3/100.
    let mut window = window_with(498.0, 500.0, Arithmetic::Real);
    scalable().on_ack(&mut window, &Ack { acked: 5, ..ack(0) });
    assert_near(window.cwnd, 500.03, 1e-12);
}

#[test]
fn linux_26_holds_half_of_the_threshold_in_recovery() {
    // 801 - 100 = 701, half of it 350.
    let mut window = window(801.0, Arithmetic::Linux26);
    let loss = congestion(&window, CongestionKind::Loss, 0);
    scalable().on_congestion(&mut window, &loss);
    assert_eq!((window.ssthresh, window.recovery_cwnd), (701.0, Some(350.0)));
}
