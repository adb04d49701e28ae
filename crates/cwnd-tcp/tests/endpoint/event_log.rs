//! The log of a sender's events.

use crate::bench::{Bench, MS, sender_config, window};
use crate::fake::Fake;
use cwnd_tcp::{NEVER, SenderConfig};

#[test]
fn events_before_a_time_are_taken_in_order() {
    let mut bench = Bench::idle(sender_config(), Fake::fixed());
    bench.sender.enable_event_log();
    bench.timer();
    bench.ack(100 * MS, 1);
    bench.ack(101 * MS, 2);
    let mut times = |until| -> Vec<u64> {
        std::iter::from_fn(|| bench.sender.take_event(until)).map(|event| event.at).collect()
    };
    assert_eq!(times(100 * MS), [0]);
    assert_eq!(times(100 * MS + 1), [100 * MS]);
    assert_eq!(times(NEVER), [101 * MS]);
}

#[test]
fn the_application_limits_when_it_has_no_data_and_the_window_has_room() {
    // Six segments and a window of four. The first two ACKs let the last two segments go. From the second on there is no more data,
    // but the window is full until the third.
    let config = SenderConfig { segments: 6, window: window(4.0), ..sender_config() };
    let mut bench = Bench::idle(config, Fake::fixed());
    bench.sender.enable_event_log();
    bench.timer();
    (1..=4).for_each(|i| _ = bench.ack((99 + i) * MS, i as u32));
    let events: Vec<(u32, bool)> = std::iter::from_fn(|| bench.sender.take_event(NEVER))
        .map(|event| (event.in_flight, event.app_limited))
        .collect();
    assert_eq!(events, [(4, false), (4, false), (4, false), (3, true), (2, true)]);
}

#[test]
fn a_receive_window_that_is_smaller_than_the_window_is_no_lack_of_data() {
    let config = SenderConfig { receive_window: 3, window: window(4.0), ..sender_config() };
    let mut bench = Bench::idle(config, Fake::fixed());
    bench.sender.enable_event_log();
    assert_eq!(bench.timer(), [0, 1, 2]);
    let event = bench.sender.take_event(NEVER).unwrap();
    assert_eq!((event.in_flight, event.app_limited), (3, false));
}
