use super::*;
use crate::Arithmetic;
use crate::testing::{ack, assert_near, congestion, lose, round_trip, time_out, window, window_with};

fn compound(parameters: CompoundParameters) -> Compound {
    Compound::new(parameters)
}

/// The first ACK of a round trip after one whose least RTT was `rtt_ms`, on a path of 100 ms.
fn end_of_round(compound: &mut Compound, window: &mut Window, rtt_ms: u64) {
    round_trip(compound, window, 100, rtt_ms);
}

#[test]
fn the_loss_window_grows_as_reno_over_the_whole_window() {
    // cwnd += 1/win, whatever share of it dwnd has.
    for (win, growth) in [(10.0, 0.1), (100.0, 0.01), (1000.0, 0.001)] {
        let mut compound = Compound { delay_window: win / 2.0, ..compound(Default::default()) };
        let mut window = window(win, Arithmetic::Real);
        compound.on_ack(&mut window, &ack(0));
        assert_near(window.cwnd - win, growth, 1e-12);
    }
}

#[test]
fn the_delay_window_grows_while_little_is_queued() {
    // No queue: dwnd += 100^0.75/8 - 1 = 31.623/8 - 1 = 2.95285. At 10,000: 1000/8 - 1 = 124. At 38: 0.913;
    // W_low keeps 37 out.
    for (win, growth) in [(100.0, 2.952_85), (10_000.0, 124.0), (38.0, 0.913_14), (37.0, 0.0)] {
        let mut compound = compound(Default::default());
        let mut window = window(win, Arithmetic::Real);
        end_of_round(&mut compound, &mut window, 100);
        assert_near(window.cwnd - win, growth, 1e-4);
        assert_near(compound.delay_window, growth, 1e-4);
    }
}

#[test]
fn the_delay_window_gives_way_to_a_queue() {
    // 1,000 (1 - 100/110) = 90.909 segments are queued, over gamma = 30: dwnd 400 -> 309.091, and the
    // window with it.
    let mut compound = Compound { delay_window: 400.0, ..compound(Default::default()) };
    let mut window = window(1000.0, Arithmetic::Real);
    end_of_round(&mut compound, &mut window, 110);
    assert_near(compound.delay_window, 309.090_909, 1e-6);
    assert_near(window.cwnd, 909.090_909, 1e-6);
    // A dwnd of 50 would go under zero.
    let mut small = Compound { delay_window: 50.0, ..Compound::new(Default::default()) };
    let mut window = crate::testing::window(1000.0, Arithmetic::Real);
    end_of_round(&mut small, &mut window, 110);
    assert_eq!((small.delay_window, window.cwnd), (0.0, 950.0));
}

#[test]
fn giving_way_is_no_way_back_to_slow_start() {
    // Since a loss that left 190 the window has grown to 200, with dwnd 150. Then 200 (1 - 100/125) = 40 are
    // queued, over gamma: dwnd is 110 and the window 160, and so is ssthresh (one under it for Linux 2.6, where
    // a window at ssthresh is in slow start). Reno's growth continues from there.
    for (arithmetic, ssthresh) in [(Arithmetic::Real, 160.0), (Arithmetic::Linux26, 159.0)] {
        let mut compound = Compound { delay_window: 150.0, ..compound(Default::default()) };
        let mut window = window_with(200.0, 190.0, arithmetic);
        end_of_round(&mut compound, &mut window, 125);
        assert_eq!((window.cwnd, window.ssthresh, compound.delay_window), (160.0, ssthresh, 110.0));
        assert!(!window.in_slow_start());
    }
    // What stays over ssthresh leaves it alone: 400 (1 - 100/125) = 80 are queued, 320 is over 100.
    let mut compound = Compound { delay_window: 350.0, ..compound(Default::default()) };
    let mut window = window_with(400.0, 100.0, Arithmetic::Real);
    end_of_round(&mut compound, &mut window, 125);
    assert_eq!((window.cwnd, window.ssthresh), (320.0, 100.0));
}

#[test]
fn gamma_is_where_growth_turns() {
    // 300 (1 - 100/RTT) is 29.7 at 111 ms and 32.1 at 112 ms.
    for (rtt, grows) in [(111, true), (112, false)] {
        let mut compound = Compound { delay_window: 100.0, ..compound(Default::default()) };
        let mut window = window(300.0, Arithmetic::Real);
        end_of_round(&mut compound, &mut window, rtt);
        assert_eq!(compound.delay_window > 100.0, grows);
    }
    // Of 120 a quarter is queued, just gamma = 30: dwnd gives way.
    let mut compound = Compound { delay_window: 100.0, ..compound(Default::default()) };
    let mut window = window(120.0, Arithmetic::Real);
    round_trip(&mut compound, &mut window, 75, 100);
    assert_eq!((compound.delay_window, window.cwnd), (70.0, 90.0));
}

#[test]
fn both_parts_halve_at_a_loss() {
    // cwnd 60 and dwnd 40: cwnd 30, dwnd = 100/2 - 30 = 20.
    let mut compound = Compound { delay_window: 40.0, ..compound(Default::default()) };
    let mut window = window(100.0, Arithmetic::Real);
    lose(&mut compound, &mut window, 0);
    assert_eq!((window.cwnd, compound.delay_window), (50.0, 20.0));
    // beta = 0.2 leaves 80: cwnd halves all the same, dwnd = 80 - 30 = 50.
    let mut gentle = Compound {
        delay_window: 40.0,
        ..Compound::new(CompoundParameters { beta: 0.2, ..Default::default() })
    };
    let mut window = crate::testing::window(100.0, Arithmetic::Real);
    lose(&mut gentle, &mut window, 0);
    assert_eq!((window.cwnd, gentle.delay_window), (80.0, 50.0));
}

#[test]
fn whole_windows_keep_whole_parts() {
    // 101 with dwnd 41: half the loss window is 30, dwnd = floor(50.5 - 30) = 20, together 50.
    let mut compound = Compound { delay_window: 41.0, ..compound(Default::default()) };
    let mut window = window(101.0, Arithmetic::Linux);
    lose(&mut compound, &mut window, 0);
    assert_eq!((window.cwnd, compound.delay_window), (50.0, 20.0));
    // 100^0.75/8 - 1 = 2.95: two segments.
    let mut window = crate::testing::window(100.0, Arithmetic::Linux);
    end_of_round(&mut compound, &mut window, 100);
    assert_eq!((window.cwnd, compound.delay_window), (102.0, 22.0));
}

#[test]
fn gamma_follows_what_the_loss_window_queues() {
    // cwnd 60 of 100 with a fifth queued (RTT 125 ms): diff_reno = 12, gamma = 0.75 * 30 + 0.25 * 0.75 * 12
    // = 24.75.
    let mut compound = Compound { delay_window: 40.0, ..compound(Default::default()) };
    let mut window = window(100.0, Arithmetic::Real);
    end_of_round(&mut compound, &mut window, 125);
    lose(&mut compound, &mut window, 0);
    assert_near(compound.gamma, 24.75, 1e-9);
    // A second loss without a measurement in between changes nothing.
    lose(&mut compound, &mut window, 0);
    assert_near(compound.gamma, 24.75, 1e-9);
    // It stays within 5 to 30.
    compound.reno_queued = Some(1e6);
    lose(&mut compound, &mut window, 0);
    assert_eq!(compound.gamma, 30.0);
    for _ in 0..20 {
        compound.reno_queued = Some(0.0);
        lose(&mut compound, &mut window, 0);
    }
    assert_eq!(compound.gamma, 5.0);
}

#[test]
fn the_first_publication_keeps_gamma() {
    let mut compound = Compound2006::new(Default::default());
    let mut window = window(100.0, Arithmetic::Real);
    // 20 segments are queued: dwnd grows by 2.95285 as above, and so does the window.
    round_trip(&mut compound, &mut window, 100, 125);
    assert_near(window.cwnd, 102.952_85, 1e-4);
    lose(&mut compound, &mut window, 0);
    assert_eq!(compound.0.gamma, 30.0);
}

#[test]
fn a_timeout_leaves_renos_window() {
    let mut compound = Compound { delay_window: 40.0, ..compound(Default::default()) };
    let mut window = window(100.0, Arithmetic::Real);
    time_out(&mut compound, &mut window, 0);
    assert_eq!((window.cwnd, window.ssthresh, compound.delay_window), (1.0, 50.0, 0.0));
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 0) };
    compound.on_congestion(&mut window, &again);
    assert_eq!(window.ssthresh, 50.0);
}

#[test]
fn slow_start_leaves_the_delay_window_alone() {
    let mut compound = compound(Default::default());
    let mut window = window_with(100.0, 1000.0, Arithmetic::Real);
    end_of_round(&mut compound, &mut window, 100);
    compound.on_ack(&mut window, &ack(0));
    assert_eq!((window.cwnd, compound.delay_window), (101.0, 0.0));
}

#[test]
fn a_round_trip_without_a_sample_or_with_a_zero_one_is_harmless() {
    let mut compound = compound(Default::default());
    let mut window = window(100.0, Arithmetic::Real);
    compound.on_ack(&mut window, &Ack { acked: 0, round_start: true, ..ack(0) });
    assert_eq!(window.cwnd, 100.0);
    end_of_round(&mut compound, &mut window, 0);
    assert!(window.cwnd.is_finite() && compound.delay_window >= 0.0);
}

#[test]
fn an_undo_leaves_no_more_to_the_delay_window_than_there_is() {
    // The loss window is what the sum has beyond dwnd, and is not negative.
    for (win, delay_window) in [(100.0, 80.0), (50.0, 50.0)] {
        let mut compound = Compound { delay_window: 80.0, ..compound(Default::default()) };
        compound.on_undo(&mut window(win, Arithmetic::Real), Nanos::ZERO);
        assert_eq!(compound.delay_window, delay_window);
    }
}
