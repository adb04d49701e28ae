use super::*;
use crate::Arithmetic;
use crate::algorithms::newreno::{NewReno, NewRenoParameters};
use crate::testing::{
    ack, assert_near, assert_observed, congestion, lose, round_trips_until, time_out, window, window_with,
};

fn agile(parameters: AgileSdParameters) -> AgileSd {
    AgileSd::new(parameters)
}

/// An Agile-SD after a loss at `cwnd` in congestion avoidance, and its window.
fn after_loss(parameters: AgileSdParameters, cwnd: f64, arithmetic: Arithmetic) -> (AgileSd, Window) {
    let mut agile = agile(parameters);
    let mut window = window(cwnd, arithmetic);
    lose(&mut agile, &mut window, 0);
    (agile, window)
}

#[test]
fn lambda_falls_with_the_gap() {
    // A loss at 100 leaves 95: gap_total = 5. lambda = 3 gap/5, within 1 to 3.
    let (agile, _) = after_loss(AgileSdParameters::default(), 100.0, Arithmetic::Real);
    for (cwnd, lambda) in [
        (95.0, 3.0),              // 3 * 5/5
        (97.5, 1.5),              // 3 * 2.5/5
        (100.0 - 5.0 / 3.0, 1.0), // 3 * (5/3)/5
        (99.0, 1.0),              // 3 * 1/5 = 0.6
        (100.0, 1.0),             // no gap
        (101.0, 1.0),             // above the loss
        (90.0, 3.0),              // 3 * 10/5 = 6: under the degraded window, after a timeout
    ] {
        assert_near(agile.lambda(cwnd), lambda, 1e-12);
    }
}

#[test]
fn growth_at_three_windows() {
    // lambda/W an ACK: 3/95, 1.5/97.5, 1/99.
    let (agile, _) = after_loss(AgileSdParameters::default(), 100.0, Arithmetic::Real);
    for (cwnd, growth) in [(95.0, 3.0 / 95.0), (97.5, 1.5 / 97.5), (99.0, 1.0 / 99.0)] {
        let mut window = window(cwnd, Arithmetic::Real);
        agile.clone().on_ack(&mut window, &ack(0));
        assert_near(window.cwnd - cwnd, growth, 1e-12);
    }
}

#[test]
fn before_the_first_loss_it_grows_as_newreno() {
    let agile = agile(AgileSdParameters::default());
    for cwnd in [1.0, 2.0, 10.0, 1000.0] {
        assert_eq!(agile.lambda(cwnd), 1.0);
    }
}

#[test]
fn lambda_max_of_one_is_newreno() {
    for arithmetic in [Arithmetic::Real, Arithmetic::Linux] {
        let (mut agile, mut ours) =
            after_loss(AgileSdParameters { lambda_max: 1.0, ..Default::default() }, 400.0, arithmetic);
        let mut newreno = NewReno::new(NewRenoParameters::default());
        let mut theirs = window(ours.cwnd, arithmetic);
        for step in 0..50_000 {
            let ack = Ack { acked: 1 + step % 3, ..ack(0) };
            agile.on_ack(&mut ours, &ack);
            newreno.on_ack(&mut theirs, &ack);
            assert_eq!(ours.cwnd, theirs.cwnd);
        }
    }
}

#[test]
fn the_worked_example_of_section_3_3() {
    // W_loss 12, W_degraded 9, RTT 20 ms. Equation 6 with lambda 4, 3, 2, 1: 5 + 6.67 + 10 + 20 = 41.67 ms,
    // where NewReno takes 4 * 20 = 80 ms.
    let epoch = |lambdas: [f64; 4]| lambdas.iter().map(|lambda| 20.0 / lambda).sum::<f64>();
    assert_near(epoch([4.0, 3.0, 2.0, 1.0]), 41.66, 0.01);
    assert_near(epoch([1.0; 4]), 80.0, 0.0);
    // Equation 1 itself, with gap_total = 3: 4*3/3, 4*2/3, 4*1/3 and the least: 5 + 7.5 + 15 + 20 = 47.5 ms.
    let parameters = AgileSdParameters { lambda_max: 4.0, beta2: 0.75, ..Default::default() };
    let (agile, _) = after_loss(parameters, 12.0, Arithmetic::Real);
    let lambdas = [9.0, 10.0, 11.0, 12.0].map(|cwnd| agile.lambda(cwnd));
    assert_near(lambdas[1], 8.0 / 3.0, 1e-12);
    assert_near(epoch(lambdas), 47.5, 1e-9);
}

#[test]
fn an_epoch_is_seven_tenths_of_newrenos() {
    // G = 100 of 2,000: (G/3) ln 3 + G/3 = 36.62 + 33.33 = 69.95 round trips.
    let (mut agile, mut window) = after_loss(AgileSdParameters::default(), 2000.0, Arithmetic::Real);
    let round_trips = round_trips_until(&mut agile, &mut window, &ack(0), |window, _| window.cwnd >= 2000.0);
    assert_near(round_trips, 69.95, 0.05);
}

#[test]
fn the_decrease_depends_on_the_state_and_ssthresh_is_one_less() {
    // 0.95 in congestion avoidance: 95, ssthresh 94; 0.90 in slow start: 90, ssthresh 89.
    for (ssthresh, left) in [(2.0, 95.0), (200.0, 90.0)] {
        let mut agile = agile(AgileSdParameters::default());
        let mut window = window_with(100.0, ssthresh, Arithmetic::Real);
        let loss = congestion(&window, CongestionKind::Loss, 0);
        agile.on_congestion(&mut window, &loss);
        assert_eq!((window.ssthresh, window.recovery_cwnd), (left - 1.0, Some(left)));
        window.cwnd = window.ssthresh;
        agile.on_recovery_exit(&mut window, Nanos::ZERO);
        assert_eq!(window.cwnd, left);
        assert!(!window.in_slow_start());
    }
}

#[test]
fn a_window_that_the_transport_lowered_further_stays_so() {
    let mut agile = agile(AgileSdParameters::default());
    let mut window = window(100.0, Arithmetic::Real);
    let loss = congestion(&window, CongestionKind::Loss, 0);
    agile.on_congestion(&mut window, &loss);
    window.cwnd = 20.0;
    agile.on_recovery_exit(&mut window, Nanos::ZERO);
    assert_eq!(window.cwnd, 20.0);
}

#[test]
fn small_windows_give_up_at_least_one_segment() {
    // 0.95 * 10 = 9.5 would be half a segment, 0.95 * 3 = 2.85; 9 and 2 are left. At 2 nothing can be given.
    for (cwnd, left) in [(10.0, 9.0), (3.0, 2.0), (2.0, 2.0), (19.0, 18.0), (40.0, 38.0)] {
        for arithmetic in [Arithmetic::Real, Arithmetic::Linux, Arithmetic::Linux26] {
            let (_, window) = after_loss(AgileSdParameters::default(), cwnd, arithmetic);
            assert_eq!(window.cwnd.max(window.recovery_cwnd.unwrap()), left, "{cwnd} {arithmetic:?}");
        }
    }
}

#[test]
fn a_timeout_restarts_at_the_initial_value() {
    let mut agile = agile(AgileSdParameters::default());
    let mut window = window(100.0, Arithmetic::Real);
    time_out(&mut agile, &mut window, 0);
    assert_eq!((window.cwnd, window.ssthresh), (2.0, 94.0));
    // Slow start up to ssthresh, then lambda_max at once: the gap is the whole of 5.
    assert_eq!(agile.lambda(94.0), 3.0);
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 0) };
    agile.on_congestion(&mut window, &again);
    assert_eq!((window.ssthresh, agile.cwnd_loss), (94.0, 100.0));
}

#[test]
fn the_authors_module_is_a_set_of_parameters() {
    let module =
        AgileSdParameters { beta2: 0.9, ssthresh_margin: 0.0, restart_cwnd: 1.0, ..Default::default() };
    let (agile, window) = after_loss(module, 1000.0, Arithmetic::Linux26);
    assert_eq!((window.ssthresh, window.cwnd, agile.cwnd_degraded), (900.0, 900.0, 900.0));
}

#[test]
fn integer_steps_keep_their_remainder() {
    // At 95 with lambda 3 a step takes 95/3 = 31.67 ACKs: 32, and 1 credit is over.
    let (mut agile, mut window) = after_loss(AgileSdParameters::default(), 100.0, Arithmetic::Linux26);
    assert_eq!(window.cwnd, 95.0);
    let acks = crate::testing::acks_for_a_segment(&mut agile, &mut window, &ack(0));
    assert_eq!(acks, 32);
}

#[test]
fn it_shows_lambda_and_the_gaps_that_make_it() {
    let (agile, mut window) = after_loss(AgileSdParameters::default(), 100.0, Arithmetic::Real);
    // A loss at 100 leaves 95; at 97.5 lambda = 3 * 2.5/5; above the loss there is no gap.
    for (cwnd, lambda, gap) in [(95.0, 3.0, 5.0), (97.5, 1.5, 2.5), (101.0, 1.0, 0.0)] {
        window.cwnd = cwnd;
        let shown = [
            ("lambda", lambda),
            ("gap_current", gap),
            ("gap_total", 5.0),
            ("w_loss", 100.0),
            ("w_degraded", 95.0),
        ];
        assert_observed(&agile, &window, &shown);
    }
    // Before the first loss there is no gap, and lambda is lambda_min.
    let unknown = [("lambda", 1.0), ("gap_current", f64::NAN), ("gap_total", f64::NAN), ("w_loss", f64::NAN)];
    assert_observed(&self::agile(AgileSdParameters::default()), &window, &unknown);
}
