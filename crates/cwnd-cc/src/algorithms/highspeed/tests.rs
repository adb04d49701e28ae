use super::*;
use crate::testing::{ack, acks_for_a_segment, assert_near, lose, time_out, window, window_with};
use crate::{Arithmetic, CongestionKind};

fn highspeed() -> HighSpeed {
    HighSpeed::new(HighSpeedParameters::default())
}

#[test]
fn growth_at_the_tables_windows() {
    // a(w)/w with the values worked out at the response function: 1/38, 2.0058/118, 8.0108/1058,
    // 30.0053/10661.
    for (cwnd, a) in [(20.0, 1.0), (38.0, 1.0), (118.0, 2.0058), (1058.0, 8.0108), (10_661.0, 30.0053)] {
        let mut window = window(cwnd, Arithmetic::Real);
        highspeed().on_ack(&mut window, &ack(0));
        assert_near((window.cwnd - cwnd) * cwnd, a, 3e-4);
    }
}

#[test]
fn the_decrease_at_the_tables_windows() {
    // w (1 - b): 38 * 0.5, 118 * 0.55895, 1058 * 0.67305, 10661 * 0.79324, and 0.9 of what is beyond the function.
    for (cwnd, left) in
        [(38.0, 19.0), (118.0, 65.956), (1058.0, 712.09), (10_661.0, 8456.7), (200_000.0, 180_000.0)]
    {
        let mut window = window(cwnd, Arithmetic::Real);
        lose(&mut highspeed(), &mut window, 0);
        assert_near(window.cwnd, left, left * 1e-5);
    }
}

#[test]
fn integers_use_the_table() {
    // 1000 is in the row of 1058: a = 8, so a step takes 1000/8 = 125 ACKs. A loss costs 83/256 of it, 324.2.
    for arithmetic in [Arithmetic::Linux, Arithmetic::Linux26] {
        let mut window = window(1000.0, arithmetic);
        let mut highspeed = highspeed();
        assert_eq!(acks_for_a_segment(&mut highspeed, &mut window, &ack(0)), 125);
        window.set_cwnd(1000.0);
        lose(&mut highspeed, &mut window, 0);
        assert_eq!(window.cwnd, 676.0);
    }
}

#[test]
fn growth_turns_from_renos_to_its_own_above_38() {
    // At 38 a = 1. At 39: b = 0.5 - 0.4 * 0.025975/7.68901 = 0.49865, 39^0.8 = 18.744,
    // 0.078 * 18.744 * 0.99730/1.50135 = 0.9712, so 1 still; at 50: 50^0.8 = 22.865, b = 0.48572, 1.1441.
    for (cwnd, a) in [(38.0, 1.0), (39.0, 1.0), (50.0, 1.1441)] {
        let mut window = window(cwnd, Arithmetic::Real);
        highspeed().on_ack(&mut window, &ack(0));
        assert_near((window.cwnd - cwnd) * cwnd, a, 1e-4);
    }
}

#[test]
fn a_timeout_costs_b_too() {
    // 1058 * 0.67305 = 712.09.
    let mut window = window(1058.0, Arithmetic::Real);
    let mut highspeed = highspeed();
    time_out(&mut highspeed, &mut window, 0);
    assert_eq!(window.cwnd, 1.0);
    assert_near(window.ssthresh, 712.09, 0.01);
    let again =
        Congestion { timeouts: 2, ..crate::testing::congestion(&window, CongestionKind::Timeout, 400) };
    let held = window.ssthresh;
    highspeed.on_congestion(&mut window, &again);
    assert_eq!(window.ssthresh, held);
}

#[test]
fn limited_slow_start_can_be_chosen() {
    // At 400 with max_ssthresh 100: K = 8, 1/8 a segment; with 200: K = 4. The standard one adds a segment.
    for (slow_start, max_ssthresh, growth) in [
        (SlowStartKind::Standard, 100.0, 1.0),
        (SlowStartKind::Limited, 100.0, 0.125),
        (SlowStartKind::Limited, 200.0, 0.25),
    ] {
        let mut highspeed = HighSpeed::new(HighSpeedParameters { slow_start, max_ssthresh });
        let mut window = window_with(400.0, 1000.0, Arithmetic::Real);
        highspeed.init(&mut window, &Init::default());
        highspeed.on_ack(&mut window, &ack(0));
        assert_eq!(window.cwnd, 400.0 + growth);
    }
}

#[test]
fn the_modules_give_up_by_the_row_in_which_they_last_grew() {
    // 118 segments are in row 2, 112/256, and grow by two for each window. 119 are in row 3, 104/256, but no ACK has looked
    // that up: a loss costs 119 112/256 = 52.06, and not 48.3.
    let mut highspeed = highspeed();
    let mut window = window(118.0, Arithmetic::Linux);
    assert_eq!(acks_for_a_segment(&mut highspeed, &mut window, &ack(0)), 59);
    lose(&mut highspeed, &mut window, 0);
    assert_eq!(window.cwnd, 67.0);
}
