use super::*;
use crate::testing::{
    ack, ack_rtt, acks_for_a_segment, assert_near, assert_observed, lose, round_trips_until, time_out,
    window, window_with,
};
use crate::{Arithmetic, Nanos};

fn elastic(parameters: ElasticParameters) -> Elastic {
    Elastic::new(parameters)
}

/// An Elastic-TCP that has seen RTTmax and then RTTcur.
fn measured(parameters: ElasticParameters, max_ms: u64, current_ms: u64) -> Elastic {
    let mut elastic = elastic(parameters);
    let mut scratch = window(10.0, Arithmetic::Real);
    elastic.on_ack(&mut scratch, &ack_rtt(0, max_ms));
    elastic.on_ack(&mut scratch, &ack_rtt(0, current_ms));
    elastic
}

#[test]
fn the_root_is_of_the_product() {
    // rho = 200/100 = 2, W = 50: WWF = sqrt(2 * 50) = 10, so W += 10/50.
    let mut window = window(50.0, Arithmetic::Real);
    measured(ElasticParameters::default(), 200, 100).on_ack(&mut window, &ack(0));
    assert_near(window.cwnd, 50.2, 1e-12);
}

#[test]
fn the_literal_reading_takes_the_root_of_the_ratio_alone() {
    // sqrt(2) * 50 = 70.71, so W += sqrt(2).
    let mut window = window(50.0, Arithmetic::Real);
    let literal = ElasticParameters { wwf: Wwf::Literal, ..Default::default() };
    measured(literal, 200, 100).on_ack(&mut window, &ack(0));
    assert_near(window.cwnd, 51.414_213_56, 1e-8);
}

#[test]
fn growth_at_three_windows() {
    // rho = 1: sqrt(100)/100 = 0.1. rho = 1.21 at 10,000: sqrt(12,100)/10,000 = 0.011.
    // rho = 4 at 25: sqrt(100)/25 = 0.4.
    for (max, current, cwnd, growth) in
        [(100, 100, 100.0, 0.1), (121, 100, 1e4, 0.011), (400, 100, 25.0, 0.4)]
    {
        let mut window = window(cwnd, Arithmetic::Real);
        measured(ElasticParameters::default(), max, current).on_ack(&mut window, &ack(0));
        assert_near(window.cwnd - cwnd, growth, 1e-12);
    }
}

#[test]
fn an_epoch_takes_twice_the_difference_of_the_roots() {
    // From 5,000 to 10,000 at rho = 1: 2 (100 - 70.71) = 58.58 round trips.
    let mut window = window(5000.0, Arithmetic::Real);
    let mut elastic = measured(ElasticParameters::default(), 100, 100);
    let round_trips =
        round_trips_until(&mut elastic, &mut window, &ack(0), |window, _| window.cwnd >= 10_000.0);
    assert_near(round_trips, 58.58, 0.01);
}

#[test]
fn integer_steps_keep_their_remainder() {
    // W = 100, rho = 1: each ACK is worth 10 of the 100 that a step takes, in both arithmetics. From 101 a
    // step takes 101/sqrt(101) = 10.05, so 11 ACKs, and what is over counts for the next.
    for arithmetic in [Arithmetic::Linux, Arithmetic::Linux26] {
        let mut elastic = measured(ElasticParameters::default(), 100, 100);
        let mut window = window(100.0, arithmetic);
        assert_eq!(acks_for_a_segment(&mut elastic, &mut window, &ack(0)), 10);
        assert_eq!(acks_for_a_segment(&mut elastic, &mut window, &ack(0)), 11);
        assert_eq!(acks_for_a_segment(&mut elastic, &mut window, &ack(0)), 10);
    }
}

#[test]
fn the_decrease_is_by_beta() {
    for (beta, left) in [(0.5, 500.0), (0.8, 800.0)] {
        let mut window = window(1000.0, Arithmetic::Real);
        lose(&mut elastic(ElasticParameters { beta, ..Default::default() }), &mut window, 0);
        assert_eq!(window.cwnd, left);
    }
}

#[test]
fn the_greatest_round_trip_time_survives_unless_told_otherwise() {
    for (reset, kept) in [(false, 200_000_000), (true, 0)] {
        let parameters = ElasticParameters { rttmax_reset_on_rto: reset, ..Default::default() };
        let mut elastic = measured(parameters, 200, 100);
        let mut window = window(100.0, Arithmetic::Real);
        lose(&mut elastic, &mut window, 0);
        assert_eq!(elastic.rtt_max, 200_000_000);
        time_out(&mut elastic, &mut window, 0);
        assert_eq!(elastic.rtt_max, kept);
        assert_eq!((window.cwnd, window.ssthresh), (1.0, 25.0));
    }
}

#[test]
fn slow_start_is_the_standard_one_and_is_measured_if_asked() {
    for (sample, max) in [(true, 300_000_000), (false, 0)] {
        let mut elastic = elastic(ElasticParameters { sample_in_slow_start: sample, ..Default::default() });
        let mut window = window_with(10.0, 1000.0, Arithmetic::Real);
        elastic.on_ack(&mut window, &ack_rtt(0, 300));
        assert_eq!((window.cwnd, elastic.rtt_max), (11.0, max));
    }
}

#[test]
fn no_sample_or_a_zero_one_is_not_a_division_by_zero() {
    // Without a sample rho is 1: sqrt(100)/100.
    let mut window = window(100.0, Arithmetic::Real);
    let mut elastic = elastic(ElasticParameters::default());
    elastic.on_ack(&mut window, &ack(0));
    assert_near(window.cwnd, 100.1, 1e-12);
    elastic.on_ack(&mut window, &Ack { rtt: Some(Nanos::ZERO), ..ack(0) });
    assert!(window.cwnd.is_finite());
}

#[test]
fn it_shows_wwf_and_the_round_trip_times_that_make_it() {
    // Of 200 and 100 ms at 50 segments: UR = 1/2, WWF = sqrt(2 * 50) = 10.
    let window = window(50.0, Arithmetic::Real);
    let shown = [("wwf", 10.0), ("utilisation", 0.5), ("rtt_current", 0.1), ("rtt_max", 0.2)];
    assert_observed(&measured(ElasticParameters::default(), 200, 100), &window, &shown);
    // Before the first sample nothing is known.
    assert_observed(&elastic(Default::default()), &window, &shown.map(|(name, _)| (name, f64::NAN)));
}
