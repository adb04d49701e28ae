use super::*;
use crate::testing::{ack, ack_rtt, acks_for_a_segment, congestion, time_out, window, window_with};
use crate::{CongestionKind, Nanos};

fn module(overflow_32bit: bool) -> CompoundNs2 {
    CompoundNs2::new(CompoundNs2Parameters { overflow_32bit, ..Default::default() })
}

/// A round trip that does not end.
const ENDLESS: SentRound =
    SentRound { acknowledged: 1, sent: u64::MAX, end: u64::MAX, before: 0, awaits_ack: false };

/// A module in congestion avoidance that sent `sent` segments in the round trip that now ends, which it
/// measured at `rtt_us` with `base_us` the least of all.
fn end_of_round(module: &mut CompoundNs2, dwnd: f64, sent: u64, base_us: u64, rtt_us: u64) -> f64 {
    module.delay_window = dwnd;
    module.round =
        SentRound { acknowledged: sent + 1, sent: 2 * sent + 1, end: sent, ..SentRound::default() };
    (module.base_rtt, module.round_rtt, module.samples) = (base_us, rtt_us, 3);
    module.end_round();
    assert_eq!((module.round.before, module.round.end), (sent, 2 * sent + 1));
    module.delay_window
}

#[test]
fn the_delay_window_grows_and_gives_way_in_whole_segments() {
    // 1,000 segments, no queue: floor(1000^0.75/8) - 1 = floor(22.2) - 1 = 21.
    assert_eq!(end_of_round(&mut module(false), 100.0, 1000, 100_001, 100_001), 121.0);
    // 10,000: 1000/8 - 1 = 124 exactly. 10: floor(5.6/8) = 0, no growth.
    assert_eq!(end_of_round(&mut module(false), 100.0, 10_000, 100_001, 100_001), 224.0);
    assert_eq!(end_of_round(&mut module(false), 100.0, 10, 100_001, 100_001), 100.0);
    // RTT 110 ms: 2000 - floor(2000 * 100,001/110,001) = 2000 - 1818 = 182 half segments, so dwnd loses 91.
    assert_eq!(end_of_round(&mut module(false), 100.0, 1000, 100_001, 110_001), 9.0);
    assert_eq!(end_of_round(&mut module(false), 90.0, 1000, 100_001, 110_001), 0.0);
}

#[test]
fn the_product_wraps_at_32_bits_if_asked() {
    // 2 * 10,526 * 204,001 = 4,294,629,052 is under 2^32 = 4,294,967,296: no queue, dwnd += floor(1039.4/8)
    // - 1 = 128.
    assert_eq!(end_of_round(&mut module(true), 5000.0, 10_526, 204_001, 204_001), 5128.0);
    // 2 * 10,527 * 204,001 = 4,295,037,054 wraps to 69,758, which is 0 round trips: diff = 21,054 half
    // segments.
    assert_eq!(end_of_round(&mut module(true), 5000.0, 10_527, 204_001, 204_001), 0.0);
    assert_eq!(end_of_round(&mut module(false), 5000.0, 10_527, 204_001, 204_001), 5128.0);
}

#[test]
fn a_round_trip_of_two_samples_is_skipped() {
    let mut module = module(false);
    module.delay_window = 50.0;
    module.round = SentRound { acknowledged: 1001, sent: 2001, end: 1000, ..SentRound::default() };
    (module.base_rtt, module.round_rtt, module.samples) = (100_001, 100_001, 2);
    module.end_round();
    assert_eq!(module.delay_window, 50.0);
}

#[test]
fn recovery_holds_half_of_the_threshold_and_the_loss_window_absorbs_the_cut() {
    // 601 + 400 segments: ssthresh 500, 250 during recovery. At 500 the loss window of 601 exceeds what is
    // left, so it takes all of it and dwnd goes.
    let mut module = module(false);
    let mut window = window(1001.0, Arithmetic::Linux26);
    let loss = congestion(&window, CongestionKind::Loss, 0);
    module.on_congestion(&mut window, &loss);
    assert_eq!((window.ssthresh, window.recovery_cwnd), (500.0, Some(250.0)));
    (module.loss_window, module.delay_window) = (601.0, 400.0);
    module.reconcile(500.0, Arithmetic::Real);
    assert_eq!((module.loss_window, module.delay_window), (500.0, 0.0));
    // Where both parts fit, dwnd stays and the loss window gives: 501 + 400 in 600.
    (module.loss_window, module.delay_window) = (501.0, 400.0);
    module.reconcile(600.0, Arithmetic::Real);
    assert_eq!((module.loss_window, module.delay_window), (200.0, 400.0));
}

#[test]
fn the_end_of_a_recovery_begins_a_round_trip() {
    let mut module = module(false);
    let mut window = window(100.0, Arithmetic::Linux26);
    module.on_ack(&mut window, &Ack { sent: 101, ..ack_rtt(0, 100) });
    assert_eq!((module.round.before, module.round.end), (0, 101));
    let loss = congestion(&window, CongestionKind::Loss, 0);
    module.on_congestion(&mut window, &loss);
    window.cwnd = 25.0;
    module.on_ack(&mut window, &Ack { state: State::Recovery, ..ack_rtt(100, 100) });
    assert_eq!(window.cwnd, 25.0);
    let last = Ack { state: State::Recovery, cumulative: 150, sent: 202, ..ack_rtt(200, 100) };
    module.on_ack(&mut window, &last);
    window.cwnd = window.ssthresh;
    module.on_recovery_exit(&mut window, Nanos::ZERO);
    // 202 were sent; the base stays where the round trip of the loss began. The next ACK is of slow start, at ssthresh 50.
    assert_eq!((module.round.before, module.round.end, module.samples), (0, 202, 0));
    module.on_ack(&mut window, &Ack { sent: 203, ..ack_rtt(200, 100) });
    assert_eq!((window.cwnd, module.samples), (51.0, 1));
}

#[test]
fn slow_start_is_of_the_loss_window() {
    // The loss window of 40 is under ssthresh 50 though the sum is 100: one segment an ACK.
    let mut module = module(false);
    let mut window = window_with(100.0, 50.0, Arithmetic::Linux26);
    module.started = true;
    module.round = ENDLESS;
    (module.loss_window, module.delay_window) = (40.0, 60.0);
    module.on_ack(&mut window, &ack(0));
    assert_eq!((window.cwnd, module.loss_window), (101.0, 41.0));
    // From 51 on a step takes exactly the window's worth of ACKs: 111.
    (module.loss_window, module.delay_window) = (51.0, 60.0);
    window.set_cwnd(111.0);
    assert_eq!(acks_for_a_segment(&mut module, &mut window, &ack(0)), 111);
}

#[test]
fn a_timeout_leaves_the_loss_window_alone() {
    let mut module = module(false);
    let mut window = window(1000.0, Arithmetic::Linux26);
    module.started = true;
    (module.loss_window, module.delay_window) = (400.0, 600.0);
    time_out(&mut module, &mut window, 0);
    assert_eq!((window.cwnd, window.ssthresh), (1.0, 500.0));
    module.on_ack(&mut window, &Ack { state: State::Loss, ..ack(10) });
    assert_eq!((window.cwnd, module.loss_window, module.delay_window), (2.0, 2.0, 0.0));
}

#[test]
fn idle_restart_forgets_and_undo_fills_the_loss_window() {
    let mut module = module(false);
    let mut window = window(100.0, Arithmetic::Linux26);
    module.started = true;
    (module.loss_window, module.delay_window, module.base_rtt) = (30.0, 20.0, 1000);
    module.on_undo(&mut window, Nanos::ZERO);
    assert_eq!((module.loss_window, module.delay_window), (80.0, 20.0));
    module.on_idle_restart(&mut window, Nanos::ZERO, Nanos::ZERO);
    module.on_ack(&mut window, &Ack { cwnd_limited: false, ..ack_rtt(0, 100) });
    assert_eq!((module.loss_window, module.delay_window, module.base_rtt), (100.0, 0.0, u64::MAX));
}

#[test]
fn what_the_transport_did_is_done_to_the_loss_window_where_it_fits() {
    // Raised from 70 to 100; as it is; lowered to what one of the parts just fills; lowered under either.
    for (parts, cwnd, expected) in [
        ((50.0, 20.0), 100.0, (80.0, 20.0)),
        ((50.0, 20.0), 70.0, (50.0, 20.0)),
        ((500.0, 400.0), 500.0, (100.0, 400.0)),
        ((100.0, 500.0), 500.0, (0.0, 500.0)),
        ((100.0, 501.0), 500.0, (500.0, 0.0)),
        ((501.0, 100.0), 500.0, (500.0, 0.0)),
    ] {
        let mut module = module(false);
        (module.loss_window, module.delay_window) = parts;
        module.reconcile(cwnd, Arithmetic::Real);
        assert_eq!((module.loss_window, module.delay_window), expected);
    }
}

#[test]
fn slow_start_that_counts_segments_ends_at_the_threshold() {
    // The loss window is 10 under ssthresh, then half a segment.
    for (loss_window, acked, step) in [(40.0, 4, 4.0), (40.0, 20, 10.0), (49.5, 3, 1.0)] {
        let mut module = CompoundNs2 { loss_window, ..module(false) };
        let mut window = window_with(100.0, 50.0, Arithmetic::Linux);
        module.grow_loss_window(&mut window, acked);
        assert_eq!((window.cwnd, module.loss_window), (100.0 + step, loss_window + step));
    }
}

#[test]
fn a_queue_of_gamma_makes_the_delay_window_give_way() {
    // 240 - 240 * 75/100 = 60 half segments are gamma = 30: dwnd loses 30. With gamma 31 it grows by
    // floor(120^0.75/8) - 1 = 3.
    assert_eq!(end_of_round(&mut module(false), 100.0, 120, 75, 100), 70.0);
    let mut later = CompoundNs2::new(CompoundNs2Parameters { gamma: 31.0, ..Default::default() });
    assert_eq!(end_of_round(&mut later, 100.0, 120, 75, 100), 103.0);
}

#[test]
fn samples_are_microseconds_and_one_more() {
    let mut module = CompoundNs2 { started: true, round: ENDLESS, ..module(false) };
    let mut window = window(100.0, Arithmetic::Linux26);
    module.loss_window = 100.0;
    for (rtt, base, round, samples) in [
        (100_000_499, 100_001, 100_001, 1),
        (99_999_500, 100_001, 100_001, 2),
        (99_999_499, 100_000, 100_000, 3),
    ] {
        module.on_ack(&mut window, &Ack { rtt: Some(Nanos(rtt)), ..ack(0) });
        assert_eq!((module.base_rtt, module.round_rtt, module.samples), (base, round, samples));
    }
}

#[test]
fn the_window_of_a_recovery_is_a_segment_at_least() {
    // ssthresh 5 leaves floor(2.5); ssthresh 2, of a window of 1, leaves 1.
    for (cwnd, ssthresh, held) in [(10.0, 5.0, 2.0), (1.0, 2.0, 1.0)] {
        let mut window = window(cwnd, Arithmetic::Linux26);
        let loss = congestion(&window, CongestionKind::Loss, 0);
        module(false).on_congestion(&mut window, &loss);
        assert_eq!((window.ssthresh, window.recovery_cwnd), (ssthresh, Some(held)));
    }
}

#[test]
fn fourth_roots_are_newtons_in_integers() {
    // 125: from 2^1, (6 + 15)/4 = 5, (15 + 1)/4 = 4, where the true root is 3.34.
    // 1: from 2^(1/4) = 1, (3 + 1)/4 = 1. 16: 2, (6 + 16/8)/4 = 2. 10^12: from 2^10, (3072 + 931)/4 = 1000, 24 away; then
    // (3000 + 1000)/4 = 1000.
    // 300^3 = 27,000,000: from 2^6, (192 + 102)/4 = 73, (219 + 69)/4 = 72.
    // 24,300^3 = 14,348,907,000,000: from 2^11, (6144 + 1670)/4 = 1953, (5859 + 1926)/4 = 1946, (5838 + 1947)/4 = 1946.
    for (a, root) in [
        (0, 0),
        (125, 4),
        (1, 1),
        (16, 2),
        (1_000_000_000_000, 1000),
        (27_000_000, 72),
        (14_348_907_000_000, 1946),
    ] {
        assert_eq!(fourth_root(a), root, "{a}");
    }
}

#[test]
fn in_ns_2_the_module_sets_its_own_window_again() {
    // The transport raised the window to 20 at the end of a timeout's slow start; the module's parts are 9 and 2, and an ACK
    // below ssthresh adds one: 12. Where the transport is another, what it raised is the loss window's: 18 + 1 + 2.
    for (arithmetic, expected) in [(Arithmetic::Linux26, 12.0), (Arithmetic::Linux, 21.0)] {
        let mut module = module(false);
        (module.loss_window, module.delay_window) = (9.0, 2.0);
        module.round = ENDLESS;
        module.started = true;
        let mut window = window_with(20.0, 30.0, arithmetic);
        module.on_ack(&mut window, &ack(1));
        assert_eq!(window.cwnd, expected, "{arithmetic:?}");
    }
}
