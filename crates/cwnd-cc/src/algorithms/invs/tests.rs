use super::*;
use crate::Arithmetic;
use crate::testing::{
    ack, ack_rtt, acks_for_a_segment, assert_near, assert_observed, congestion, lose, time_out, window,
    window_with,
};

fn invs() -> Invs {
    Invs::new(InvsParameters::default())
}

const fn ms(ms: u64) -> Nanos {
    Nanos::from_millis(ms)
}

/// One with that k and Wsp.
fn paced(k: f64, saturation: f64) -> Invs {
    let mut invs = invs();
    invs.goal.saturation = saturation;
    invs.pace = Some((1.0 / k, 1.0 / (k * saturation)));
    invs
}

/// One that knows a path of 100 ms and 1000 segments a second, so of 100 segments, and this queue.
fn on_path(parameters: InvsParameters, queue: f64, greatest_queue: f64) -> Invs {
    let mut invs = Invs::new(parameters);
    invs.path = Path { rtt_min: ms(100), bandwidth: 1000.0, queue, greatest_queue, ..Path::default() };
    invs
}

#[test]
fn k_at_paths_from_slow_to_the_reference() {
    // log2(1 s/RTTmin) log2(500 Mbit/BDP).
    // 100 Mbit/s, 80 ms: 8 Mbit, log2 12.5 * log2 62.5 = 3.64386 * 5.96578 = 21.738.
    // 100 Mbit/s, 100 ms: 10 Mbit, log2 10 * log2 50 = 3.32193 * 5.64386 = 18.748.
    // 10 Mbit/s, 10 ms: 0.1 Mbit, log2 100 * log2 5000 = 6.64386 * 12.28771 = 81.638.
    // 1 Gbit/s, 500 ms: 500 Mbit, log2 2 * log2 1 = 0, so 1.
    // 80 Mbit/s, 300 ms: 24 Mbit, log2 3.3333 * log2 20.8333 = 1.73697 * 4.38082 = 7.609.
    // 4 Mbit/s, 300 ms: 1.2 Mbit, 1.73697 * log2 416.667 = 1.73697 * 8.70275 = 15.116.
    for (mbits, rtt_ms, k) in [
        (100.0, 80.0, 21.738),
        (100.0, 100.0, 18.748),
        (10.0, 10.0, 81.638),
        (1000.0, 500.0, 1.0),
        (80.0, 300.0, 7.609),
        (4.0, 300.0, 15.116),
    ] {
        let rtt = rtt_ms / 1000.0;
        assert_near(increase_factor(&InvsParameters::default(), rtt, mbits * 1e6 * rtt), k, 1e-3);
    }
}

#[test]
fn k_is_one_beyond_either_reference() {
    // 2 s, or 1 Gbit: one logarithm is -1. Both: their product would be 1 again, and with 4 s and 2 Gbit 4.
    for (rtt, bits) in [(2.0, 1e6), (0.1, 1e9), (2.0, 1e9), (4.0, 2e9)] {
        assert_eq!(increase_factor(&InvsParameters::default(), rtt, bits), 1.0);
    }
}

#[test]
fn growth_on_both_sides_of_the_saturation_point() {
    // k = 20, Wsp = 1000. 500: 500/(20 * 1000) = 0.025. 900: 100/20000 = 0.005. 1200: 200/(20 * 1200) = 0.0083333.
    // 2000: 1000/40000 = 0.025. 999.5 and 1000: within a segment, 1/W.
    for (cwnd, growth) in [
        (500.0, 0.025),
        (900.0, 0.005),
        (1200.0, 1.0 / 120.0),
        (2000.0, 0.025),
        (999.5, 1.0 / 999.5),
        (1000.0, 0.001),
    ] {
        let mut window = window(cwnd, Arithmetic::Real);
        paced(20.0, 1000.0).on_ack(&mut window, &ack(0));
        assert_near(window.cwnd - cwnd, growth, 1e-10);
    }
}

#[test]
fn before_an_estimate_it_is_reno_and_before_a_loss_it_grows_by_one_over_k() {
    let mut start = window(100.0, Arithmetic::Real);
    invs().on_ack(&mut start, &ack(0));
    assert_near(start.cwnd, 100.01, 1e-12);
    // Wsp = 0: (100 - 0)/(20 * 100) = 1/20.
    let mut later = window(100.0, Arithmetic::Real);
    paced(20.0, 0.0).on_ack(&mut later, &ack(0));
    assert_near(later.cwnd, 100.05, 1e-12);
}

#[test]
fn an_ack_for_very_many_does_not_pass_the_saturation_point() {
    // 10,000 * 500/(1 * 1000) would be 5,000 segments more.
    let mut window = window(500.0, Arithmetic::Real);
    paced(1.0, 1000.0).on_ack(&mut window, &Ack { acked: 10_000, ..ack(0) });
    assert_eq!(window.cwnd, 1000.0);
}

#[test]
fn the_window_is_at_least_renos() {
    // beta 0.8: slope 3 * 0.2/1.8 = 1/3 a round trip. From 80 % of 1000, 30 round trips of 100 ms: 810. k is so
    // large that the window would still be 800.
    let mut invs = paced(1e9, 1000.0);
    invs.goal.w_max = 1000.0;
    let mut window = window(800.0, Arithmetic::Real);
    let at = |at_ms: u64, acked: u32| Ack { acked, srtt: ms(100), ..ack(at_ms) };
    invs.on_ack(&mut window, &at(5000, 1));
    assert_near(window.cwnd, 800.0, 1e-4);
    invs.on_ack(&mut window, &at(8000, 100));
    assert_near(window.cwnd, 810.0, 1e-6);
    // A pause of the application does not count, and each segment acknowledged is worth one at most.
    invs.on_idle_restart(&mut window, ms(68_000), ms(60_000));
    invs.on_ack(&mut window, &at(68_000, 1));
    assert_near(window.cwnd, 810.0, 1e-4);
    invs.on_ack(&mut window, &at(128_000, 2));
    assert_near(window.cwnd, 812.0, 1e-4);
}

#[test]
fn a_window_lowered_to_the_bdp_stays_there() {
    // W_TCP begins at the 100 that are left, not at 0.8 * 400.
    let mut invs = on_path(InvsParameters::default(), 0.0, 100.0);
    let mut window = window(400.0, Arithmetic::Real);
    lose(&mut invs, &mut window, 0);
    assert_near(window.cwnd, 100.0, 1e-9);
    invs.on_ack(&mut window, &ack_rtt(0, 100));
    assert!(window.cwnd < 101.0, "{}", window.cwnd);
}

/// What is left of a window at a loss with these buffer estimates.
fn left(threshold: Threshold, cwnd: f64, queue: f64, greatest_queue: f64) -> f64 {
    let mut window = window(cwnd, Arithmetic::Real);
    let parameters = InvsParameters { threshold, ..Default::default() };
    lose(&mut on_path(parameters, queue, greatest_queue), &mut window, 0);
    window.cwnd
}

#[test]
fn the_queue_tells_congestion_from_other_losses() {
    // delta 30, maxbuffer 100: 30 are congestion, 0.8 * 120 = 96; 29 are not, BDP 100, and 90 is less than it.
    assert_near(left(Threshold::Margin, 120.0, 30.0, 100.0), 96.0, 1e-9);
    assert_near(left(Threshold::Margin, 120.0, 29.0, 100.0), 100.0, 1e-9);
    assert_near(left(Threshold::Margin, 90.0, 29.0, 100.0), 90.0, 1e-9);
    // maxbuffer 20 is under delta: 20, or nine tenths of it, 18.
    for (threshold, queue, expected) in [
        (Threshold::Literal, 20.0, 96.0),
        (Threshold::Literal, 19.0, 100.0),
        (Threshold::Margin, 18.0, 96.0),
        (Threshold::Margin, 17.9, 100.0),
    ] {
        assert_near(left(threshold, 120.0, queue, 20.0), expected, 1e-9);
    }
}

#[test]
fn the_last_round_trip_can_be_what_counts() {
    let parameters = InvsParameters { threshold: Threshold::LastRtt, ..Default::default() };
    for (round_queue, last_round_queue, expected) in
        [(20.0, 1.0, 96.0), (1.0, 20.0, 96.0), (1.0, 19.0, 100.0)]
    {
        let mut invs = on_path(parameters.clone(), 1.0, 20.0);
        invs.path.round_queue = round_queue;
        invs.path.last_round_queue = last_round_queue;
        let mut window = window(120.0, Arithmetic::Real);
        lose(&mut invs, &mut window, 0);
        assert_near(window.cwnd, expected, 1e-9);
    }
}

#[test]
fn a_loss_without_an_estimate_and_a_mark_are_congestion() {
    let mut window = window(120.0, Arithmetic::Real);
    lose(&mut invs(), &mut window, 0);
    assert_near(window.cwnd, 96.0, 1e-9);
    let mark = congestion(&window, CongestionKind::Ecn, 0);
    on_path(InvsParameters::default(), 0.0, 100.0).on_congestion(&mut window, &mark);
    assert_near(window.ssthresh, 76.8, 1e-9);
}

#[test]
fn the_saturation_point_follows_the_window_before_the_loss() {
    // First loss at 1000: Wsp 1000, and again. Earlier, at 900: 900 * 0.9 = 810. At 850 >= 810: 850.
    let mut invs = invs();
    for (cwnd, saturation) in [(1000.0, 1000.0), (1000.0, 1000.0), (900.0, 810.0), (850.0, 850.0)] {
        let mut window = window(cwnd, Arithmetic::Real);
        lose(&mut invs, &mut window, 0);
        assert_near(invs.goal.saturation, saturation, 1e-9);
    }
    let mut window = window(100.0, Arithmetic::Real);
    invs.on_undo(&mut window, ms(0));
    assert_near(invs.goal.saturation, 810.0, 1e-9);
    // A loss that is none of congestion moves it too, unless told otherwise.
    for (only, saturation) in [(false, 720.0), (true, 1000.0)] {
        let parameters = InvsParameters { wsp_on_congestion_only: only, ..Default::default() };
        let mut invs = on_path(parameters, 0.0, 100.0);
        invs.goal.saturation = 1000.0;
        window.set_cwnd(800.0);
        lose(&mut invs, &mut window, 0);
        assert_near(invs.goal.saturation, saturation, 1e-9);
    }
}

#[test]
fn bandwidth_is_sampled_each_round_trip_and_averaged() {
    // The first ACK begins a span; 110 segments in 110 ms, longer than the RTT of 100 ms: 1000 a second. Then 220 in
    // 110 ms: 1000 + 1000/8 = 1125. At 150 ms the queue is 50 ms of 1125 a second, 56.25.
    let mut invs = invs();
    let mut window = window(1000.0, Arithmetic::Real);
    let mut at = |invs: &mut Invs, ms: u64, rtt_ms: u64, acked: u32| {
        invs.on_ack(&mut window, &Ack { acked, cumulative: 0, ..ack_rtt(ms, rtt_ms) });
    };
    at(&mut invs, 0, 100, 50);
    at(&mut invs, 100, 100, 100);
    assert_eq!(invs.path.bandwidth, 0.0);
    at(&mut invs, 110, 100, 10);
    assert_near(invs.path.bandwidth, 1000.0, 1e-9);
    // 100 segments of 1448 B are 1.1584 Mbit: log2 10 * log2 431.63 = 3.32193 * 8.75365 = 29.079.
    assert_near(1.0 / invs.pace.unwrap().0, 29.079, 1e-3);
    at(&mut invs, 220, 100, 220);
    assert_near(invs.path.bandwidth, 1125.0, 1e-9);
    at(&mut invs, 230, 150, 10);
    assert_near(invs.path.queue, 56.25, 1e-9);
    at(&mut invs, 231, 120, 1);
    assert_near(invs.path.queue, 22.5, 1e-9);
    assert_near(invs.path.greatest_queue, 56.25, 1e-9);
}

#[test]
fn a_far_higher_rtt_over_a_whole_round_trip_may_be_a_new_path() {
    // 100 ms, then 1150 ms: 1050 ms more than RTTmin, over max(1 s, 0.2 s). 1000 ms more, at 1100 ms, are not enough.
    for (reset, rtt_ms, expected_ms) in [(true, 1150, 1150), (true, 1100, 100), (false, 1150, 100)] {
        let mut invs = Invs::new(InvsParameters { rtt_min_reset: reset, ..Default::default() });
        let mut window = window(100.0, Arithmetic::Real);
        invs.on_ack(&mut window, &ack_rtt(0, 100));
        invs.on_ack(&mut window, &Ack { round_start: true, ..ack_rtt(1000, rtt_ms) });
        invs.on_ack(&mut window, &Ack { round_start: true, ..ack_rtt(2000, rtt_ms) });
        assert_eq!(invs.path.rtt_min, ms(expected_ms));
    }
}

#[test]
fn a_timeout_forgets_the_queues_and_keeps_the_bandwidth() {
    let mut invs = on_path(InvsParameters::default(), 40.0, 100.0);
    let mut window = window_with(150.0, 2.0, Arithmetic::Real);
    time_out(&mut invs, &mut window, 0);
    assert_near(window.ssthresh, 120.0, 1e-9);
    assert_eq!((window.cwnd, invs.path.greatest_queue, invs.path.bandwidth), (1.0, 0.0, 1000.0));
    assert_eq!(invs.goal.saturation, 150.0);
    // maxbuffer then grows again from any queue: 10 ms of 1000 a second.
    invs.on_ack(&mut window, &Ack { cumulative: 0, ..ack_rtt(0, 110) });
    assert_near(invs.path.greatest_queue, 10.0, 1e-9);
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 400) };
    invs.on_congestion(&mut window, &again);
    assert_eq!((window.ssthresh, invs.goal.saturation), (120.0, 150.0));
}

#[test]
fn integers_keep_the_fraction_of_a_step() {
    // 0.025 an ACK: 40 ACKs.
    let steps = acks_for_a_segment(&mut paced(20.0, 1000.0), &mut window(500.0, Arithmetic::Linux), &ack(0));
    assert!((40..=41).contains(&steps), "{steps}");
}

#[test]
fn renos_window_begins_at_beta_wmax_or_lower() {
    let mut invs = invs();
    invs.goal.w_max = 1000.0;
    for (cwnd, w_tcp) in [(900.0, 800.0), (700.0, 700.0)] {
        assert_eq!(invs.begin_epoch(cwnd, ms(5)), (ms(5), w_tcp));
    }
}

#[test]
fn after_a_loss_it_approaches_the_new_saturation_point() {
    // k = 20, a loss at 2000: from 1600 on 400/(20 * 2000) = 0.01 for each acknowledged segment; and as it was
    // before, beyond 1000, 600/(20 * 1600) = 0.01875, if that loss was none.
    let mut invs = paced(20.0, 1000.0);
    lose(&mut invs, &mut window(2000.0, Arithmetic::Real), 0);
    let growth = |invs: &Invs| {
        let mut window = window(1600.0, Arithmetic::Real);
        invs.clone().on_ack(&mut window, &ack(0));
        window.cwnd - 1600.0
    };
    assert_near(growth(&invs), 0.01, 1e-10);
    invs.on_undo(&mut window(1600.0, Arithmetic::Real), ms(0));
    assert_near(growth(&invs), 0.018_75, 1e-10);
    // Back under 1000: 100/(20 * 1000) from 900 on.
    let mut window = window(900.0, Arithmetic::Real);
    invs.on_ack(&mut window, &ack(0));
    assert_near(window.cwnd, 900.005, 1e-10);
}

#[test]
fn a_new_estimate_renews_both_paces() {
    // 100 segments of 1448 B, as above: k = 29.079; 900 is 100 under Wsp, and an ACK adds 100/(k 1000).
    let mut invs = on_path(InvsParameters::default(), 0.0, 0.0);
    invs.goal.saturation = 1000.0;
    invs.renew_pace(1448);
    let mut window = window(900.0, Arithmetic::Real);
    invs.on_ack(&mut window, &ack(0));
    assert_near(1.0 / (10.0 * (window.cwnd - 900.0)), 29.079, 1e-3);
}

#[test]
fn k_without_logarithms_and_k_that_is_fixed() {
    // 100 Mbit/s, 80 ms: 1/0.08 * 500/8 = 12.5 * 62.5 = 781.25, times 0.0278: 21.719. 160 ms: a quarter of it, 5.430.
    let linear = InvsParameters { factor: Factor::Linear, c: 0.0278, ..InvsParameters::default() };
    assert_near(increase_factor(&linear, 0.08, 8e6), 21.718_75, 1e-9);
    assert_near(increase_factor(&linear, 0.16, 16e6), 5.429_687_5, 1e-9);
    // 1 s and 500 Mbit: 0.0278, so 1.
    assert_eq!(increase_factor(&linear, 1.0, 500e6), 1.0);
    let fixed = InvsParameters { factor: Factor::Fixed, fixed_k: 33.0, ..InvsParameters::default() };
    assert_eq!(increase_factor(&fixed, 0.08, 8e6), 33.0);
    assert_eq!(increase_factor(&fixed, 2.0, 1e9), 33.0);
}

#[test]
fn growth_as_equation_7_prints_it() {
    // k = 20, beta 0.8: of the gap 0.8 * 19.2/20 = 0.768 is left after a round trip. From 800 of 1000 the window gains
    // 0.232 * 200 = 46.4 in a round trip of 800 ACKs, 0.058 each; equation 1 gives 200/20000 = 0.01.
    let parameters = InvsParameters { growth: Growth::Equation7, ..InvsParameters::default() };
    let mut invs = Invs { parameters, ..paced(20.0, 1000.0) };
    let mut below = window(800.0, Arithmetic::Real);
    invs.on_ack(&mut below, &ack(0));
    assert_near(below.cwnd - 800.0, 0.058, 1e-12);
    // Equation 7 says nothing of what is above the saturation point: 200/(20 * 1200).
    let mut above = window(1200.0, Arithmetic::Real);
    invs.on_ack(&mut above, &ack(0));
    assert_near(above.cwnd - 1200.0, 1.0 / 120.0, 1e-12);
}

#[test]
fn renos_window_as_equation_15_prints_it() {
    // beta 0.8: 3 * 1.8/0.2 = 27 a round trip instead of 1/3. From 800, one round trip of 100 ms: 827.
    let parameters = InvsParameters { slope: Slope::Printed, ..InvsParameters::default() };
    let mut invs = Invs { goal: paced(1e9, 1000.0).goal, ..Invs::new(parameters) };
    invs.pace = Some((1e-9, 1e-12));
    invs.goal.w_max = 1000.0;
    let mut window = window(800.0, Arithmetic::Real);
    let at = |at_ms: u64, acked: u32| Ack { acked, srtt: ms(100), ..ack(at_ms) };
    invs.on_ack(&mut window, &at(5000, 1));
    invs.on_ack(&mut window, &at(5100, 100));
    assert_near(window.cwnd, 827.0, 1e-4);
}

#[test]
fn a_fixed_threshold_ignores_how_long_the_queue_can_be() {
    // The queue never holds more than 10 packets; delta is 30.
    let is_congested = |threshold, queue, greatest_queue| {
        let parameters = InvsParameters { threshold, ..InvsParameters::default() };
        let invs = on_path(parameters, queue, greatest_queue);
        invs.path.is_congested(&invs.parameters)
    };
    assert!(!is_congested(Threshold::Fixed, 10.0, 10.0));
    assert!(is_congested(Threshold::Fixed, 30.0, 100.0));
    assert!(is_congested(Threshold::Margin, 10.0, 10.0));
}

#[test]
fn it_shows_the_slope_of_equation_1() {
    // k 5 and Wsp 100: at 80 segments (100 - 80) 80/(5 100) = 3.2 a round trip, at 120 20/5 = 4, and 1 at Wsp.
    for (cwnd, slope) in [(80.0, 3.2), (120.0, 4.0), (100.0, 1.0)] {
        let window = window(cwnd, Arithmetic::Real);
        assert_observed(&paced(5.0, 100.0), &window, &[("k", 5.0), ("w_sp", 100.0), ("slope", slope)]);
    }
}

#[test]
fn it_shows_the_estimates_of_the_path() {
    // 1000 segments of 1448 B a second are 11.584 Mbit/s, and 100 in a round trip of 100 ms.
    let mut window = window(120.0, Arithmetic::Real);
    let mut invs = on_path(InvsParameters::default(), 20.0, 40.0);
    assert_eq!(window.mss(), 1448);
    let shown = [
        ("bandwidth", 11.584e6),
        ("bdp", 100.0),
        ("buffer", 20.0),
        ("buffer_max", 40.0),
        ("w_max", f64::NAN),
    ];
    assert_observed(&invs, &window, &shown);
    lose(&mut invs, &mut window, 0);
    assert_observed(&invs, &window, &[("w_max", 120.0), ("w_sp", 120.0)]);
    let unknown = ["k", "w_sp", "bandwidth", "bdp", "buffer", "buffer_max"].map(|name| (name, f64::NAN));
    assert_observed(&self::invs(), &window, &unknown);
}
