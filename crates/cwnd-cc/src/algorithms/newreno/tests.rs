use super::*;
use crate::testing::{ack, acks_for_a_segment, assert_near, congestion, lose, time_out, window, window_with};
use crate::{Arithmetic, CongestionKind, State};

fn newreno() -> NewReno {
    NewReno::new(NewRenoParameters::default())
}

#[test]
fn congestion_avoidance_adds_one_over_the_window() {
    // W += 1/W: 10 + 0.1, 100 + 0.01, 1000 + 0.001.
    for (cwnd, grown) in [(10.0, 10.1), (100.0, 100.01), (1000.0, 1000.001)] {
        let mut window = window(cwnd, Arithmetic::Real);
        newreno().on_ack(&mut window, &ack(0));
        assert_near(window.cwnd, grown, 1e-12);
    }
}

#[test]
fn slow_start_hands_what_is_left_to_congestion_avoidance() {
    // From 4 with ssthresh 5, three segments: one to 5, the other two add 2/5.
    let mut window = window_with(4.0, 5.0, Arithmetic::Real);
    newreno().on_ack(&mut window, &Ack { acked: 3, ..ack(0) });
    assert_near(window.cwnd, 5.4, 1e-12);
}

#[test]
fn the_integer_arithmetics_take_a_step_after_a_window_of_acks() {
    // 10 ACKs for 10 -> 11: Linux 2.6 counts what is acknowledged as well.
    assert_eq!(acks_for_a_segment(&mut newreno(), &mut window(10.0, Arithmetic::Linux), &ack(0)), 10);
    assert_eq!(acks_for_a_segment(&mut newreno(), &mut window(10.0, Arithmetic::Linux26), &ack(0)), 10);
}

#[test]
fn a_loss_halves_the_window_to_two_at_least() {
    for (arithmetic, cwnd, left) in
        [(Arithmetic::Real, 11.0, 5.5), (Arithmetic::Linux, 11.0, 5.0), (Arithmetic::Real, 3.0, 2.0)]
    {
        let mut window = window(cwnd, arithmetic);
        lose(&mut newreno(), &mut window, 0);
        assert_eq!(window.cwnd, left);
    }
}

#[test]
fn the_counted_fraction_of_a_step_is_forgotten_at_a_loss() {
    // 9 of 20 ACKs are counted, then the window is halved to 10: a step takes 10 more, not 1.
    let mut window = window(20.0, Arithmetic::Linux);
    let mut newreno = newreno();
    for _ in 0..9 {
        newreno.on_ack(&mut window, &ack(0));
    }
    lose(&mut newreno, &mut window, 0);
    assert_eq!(acks_for_a_segment(&mut newreno, &mut window, &ack(0)), 10);
}

#[test]
fn linux_26_holds_half_of_the_threshold_in_recovery() {
    // 21 -> ssthresh 10 -> 5 while it recovers.
    let mut old = window(21.0, Arithmetic::Linux26);
    let loss = congestion(&old, CongestionKind::Loss, 0);
    newreno().on_congestion(&mut old, &loss);
    assert_eq!((old.ssthresh, old.recovery_cwnd), (10.0, Some(5.0)));
    let mut new = window(21.0, Arithmetic::Linux);
    newreno().on_congestion(&mut new, &loss);
    assert_eq!((new.ssthresh, new.recovery_cwnd), (10.0, None));
}

#[test]
fn flight_size_can_be_what_is_halved() {
    let parameters = NewRenoParameters { reduce_from: ReduceFrom::FlightSize };
    // FlightSize 40 of a window of 100 leaves 20; 120 (limited transmit) counts as the window.
    for (flight_size, left) in [(40, 20.0), (120, 50.0)] {
        let mut window = window(100.0, Arithmetic::Real);
        let loss = Congestion { flight_size, ..congestion(&window, CongestionKind::Loss, 0) };
        NewReno::new(parameters.clone()).on_congestion(&mut window, &loss);
        assert_eq!(window.ssthresh, left);
    }
}

#[test]
fn a_second_timeout_in_a_row_holds_the_threshold() {
    let mut window = window(40.0, Arithmetic::Real);
    let mut newreno = newreno();
    time_out(&mut newreno, &mut window, 0);
    assert_eq!((window.cwnd, window.ssthresh), (1.0, 20.0));
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 400) };
    newreno.on_congestion(&mut window, &again);
    assert_eq!(window.ssthresh, 20.0);
}

#[test]
fn nothing_grows_in_recovery_or_while_the_window_is_not_used() {
    let mut window = window(10.0, Arithmetic::Real);
    let mut newreno = newreno();
    newreno.on_ack(&mut window, &Ack { state: State::Recovery, ..ack(0) });
    newreno.on_ack(&mut window, &Ack { state: State::Cwr, ..ack(0) });
    newreno.on_ack(&mut window, &Ack { cwnd_limited: false, ..ack(0) });
    newreno.on_ack(&mut window, &Ack { acked: 0, ..ack(0) });
    assert_eq!(window.cwnd, 10.0);
}
