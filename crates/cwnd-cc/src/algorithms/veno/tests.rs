use super::*;
use crate::testing::{
    ack, ack_rtt, acks_for_a_segment, assert_near, congestion, lose, time_out, window, window_with,
};
use crate::{Arithmetic, CongestionKind};

/// A flow that measured 100 ms at least, and `rtt_ms` the last time.
fn measured(rtt_ms: u64) -> Veno {
    let mut veno = Veno::new(VenoParameters::default());
    let mut aside = window(10.0, Arithmetic::Real);
    for rtt in [100, 100, rtt_ms] {
        veno.on_ack(&mut aside, &Ack { cumulative: 0, ..ack_rtt(0, rtt) });
    }
    veno
}

#[test]
fn growth_is_renos_until_three_segments_are_queued() {
    // At 100 segments 103 ms queue 2.91 and 104 ms 3.85; at 10, 142 ms 2.96 and 143 ms 3.01; at 1000, 100.3
    // would be three: 101 ms are 9.9.
    for (cwnd, rtt, grown) in [
        (10.0, 142, 0.1),
        (10.0, 143, 0.05),
        (100.0, 103, 0.01),
        (100.0, 104, 0.005),
        (1000.0, 100, 0.001),
        (1000.0, 101, 0.000_5),
    ] {
        let mut window = window(cwnd, Arithmetic::Real);
        measured(rtt).on_ack(&mut window, &ack(0));
        assert_near(window.cwnd - cwnd, grown, 1e-12);
    }
}

#[test]
fn whole_windows_take_a_step_in_every_second_round_trip() {
    // Linux 2.6: the eleventh ACK finds a count of ten and makes a step. At 11 the twelfth more forgets the count, and the
    // same again is the next step. Today's begins with a count that is forgotten.
    for (arithmetic, expected) in [(Arithmetic::Linux26, [11, 24]), (Arithmetic::Linux, [22, 24])] {
        let (mut veno, mut window) = (measured(200), window(10.0, arithmetic));
        veno.init(&mut window, &Init::default());
        let queued = ack_rtt(0, 200);
        let steps = [(); 2].map(|()| acks_for_a_segment(&mut veno, &mut window, &queued));
        assert_eq!(steps, expected);
    }
    // In Linux 2.6 an ACK without a sample says that all is queued, as the next loss takes it, too.
    let mut veno = measured(100);
    let mut unknown = window(10.0, Arithmetic::Linux26);
    veno.init(&mut unknown, &Init::default());
    assert_eq!(acks_for_a_segment(&mut veno, &mut unknown, &ack(0)), 11);
    unknown.set_cwnd(10.0);
    lose(&mut veno, &mut unknown, 0);
    assert_eq!(unknown.cwnd, 5.0);
    let path = ack_rtt(0, 100);
    assert_eq!(acks_for_a_segment(&mut veno, &mut window(10.0, Arithmetic::Linux26), &path), 11);
    assert_eq!(acks_for_a_segment(&mut measured(100), &mut window(10.0, Arithmetic::Linux), &ack(0)), 10);
}

#[test]
fn a_loss_without_a_queue_costs_a_fifth() {
    for (rtt, left) in [(103, 80.0), (104, 50.0)] {
        let mut window = window(100.0, Arithmetic::Real);
        lose(&mut measured(rtt), &mut window, 0);
        assert_eq!((window.cwnd, window.ssthresh), (left, left));
    }
}

#[test]
fn three_samples_are_needed_to_blame_the_link() {
    let mut veno = Veno::new(VenoParameters::default());
    let mut window = window(100.0, Arithmetic::Real);
    for _ in 0..2 {
        veno.on_ack(&mut window, &Ack { cumulative: 0, ..ack_rtt(0, 100) });
    }
    lose(&mut veno, &mut window, 0);
    assert_eq!(window.cwnd, 50.0);
    // And again after a recovery.
    let mut veno = measured(100);
    lose(&mut veno, &mut window, 0);
    lose(&mut veno, &mut window, 0);
    assert_eq!(window.cwnd, 20.0);
}

#[test]
fn a_timeout_sets_the_threshold_as_a_loss_does() {
    let mut veno = measured(100);
    let mut window = window(100.0, Arithmetic::Real);
    time_out(&mut veno, &mut window, 0);
    assert_eq!((window.cwnd, window.ssthresh), (1.0, 80.0));
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 0) };
    veno.on_congestion(&mut window, &again);
    assert_eq!(window.ssthresh, 80.0);
}

#[test]
fn slow_start_is_standard() {
    let mut window = window_with(4.0, 5.0, Arithmetic::Real);
    measured(200).on_ack(&mut window, &Ack { acked: 3, ..ack(0) });
    // One to 5; there 2.5 are queued, under beta, so the other two add 2/5.
    assert_near(window.cwnd, 5.4, 1e-12);
}
