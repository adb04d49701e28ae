//! Packets that leave by a timer: pacing, and the time that a sender takes to let a packet go.

use crate::bench::{Bench, FULL, MS, sender_config};
use crate::fake::Fake;
use cwnd_cc::Needs;
use cwnd_scenario::{Purpose, Recovery, Stream};
use cwnd_tcp::SenderConfig;

/// Packets without headers, so that payload and wire bytes are the same 1,000.
fn without_headers() -> SenderConfig {
    SenderConfig { packet_size: 1000, first_packet_size: 1000, last_packet_size: 1000, ..sender_config() }
}

/// A fixed window, paced at the given number of bytes per second.
fn paced(rate: f64) -> Fake {
    let needs = Needs { pacing: true, ..Needs::default() };
    Fake { pacing_rate: Some(rate), needs, ..Fake::fixed() }
}

/// 1,000 bytes take 1 ms.
const RATE: f64 = 1e6;

#[test]
fn packets_are_spaced_by_the_rate() {
    let mut bench = Bench::idle(without_headers(), paced(RATE));
    let expected: Vec<(u64, u32)> = (0..10).map(|i| (i * MS, i as u32)).collect();
    assert_eq!(bench.run(90 * MS), expected);
    // The window is full; what the ACKs at 100 ms let go is spaced as well, from their time on.
    assert_eq!(bench.ack(100 * MS, 2), [10]);
    assert_eq!(bench.run(150 * MS), [(101 * MS, 11)]);
}

#[test]
fn an_idle_time_earns_no_burst() {
    // The last packet left at 9 ms. At 100 ms three may go: at 100, 101 and 102, not at once for the time
    // that went unused.
    let mut bench = Bench::idle(without_headers(), paced(RATE));
    bench.run(90 * MS);
    assert_eq!(bench.ack(100 * MS, 3), [10]);
    assert_eq!(bench.run(150 * MS), [(101 * MS, 11), (102 * MS, 12)]);
}

#[test]
fn a_packet_waits_for_the_rate_and_then_for_the_window() {
    // At 4.5 ms the ACK of 0..3 comes (5 are sent by then): it changes nothing about the spacing.
    let mut bench = Bench::idle(without_headers(), paced(RATE));
    bench.run(4 * MS);
    bench.rtt = 4 * MS;
    assert_eq!(bench.ack(4 * MS + MS / 2, 4), []);
    let expected: Vec<(u64, u32)> = (5..14).map(|i| (i * MS, i as u32)).collect();
    assert_eq!(bench.run(50 * MS), expected);
}

#[test]
fn retransmissions_are_spaced_too() {
    // The ACK of 1 at 100 ms lets 10 go; SACKs of 2, 3, 4 at once make two more go, at 101 and 102 ms, ahead
    // of which 1 is: recovery begins before anything but 10 has left.
    let mut bench = Bench::idle(without_headers(), paced(RATE));
    bench.run(90 * MS);
    assert_eq!(bench.ack(100 * MS, 1), [10]);
    assert_eq!(bench.sack(100 * MS, 1, &[(2, 5)]), []);
    assert_eq!(bench.run(101 * MS)[0], (101 * MS, 1));
}

#[test]
fn send_overhead_does_not_slow_the_pace() {
    // One packet a millisecond, each up to 0.9 ms late by a draw of its own: the hundredth leaves within the
    // hundredth millisecond, not some 45 ms after it.
    const O: u64 = 9 * MS / 10;
    let config = SenderConfig { send_overhead: O, window: crate::bench::window(100.0), ..without_headers() };
    let mut bench = Bench::idle(config, paced(RATE));
    let mut stream = Stream::new(1, Purpose::SendOverhead, 0);
    let expected: Vec<(u64, u32)> = (0..100).map(|i| (u64::from(i) * MS + stream.below(O), i)).collect();
    assert_eq!(bench.run(150 * MS), expected);
}

#[test]
fn an_infinite_rate_spaces_nothing() {
    let mut bench = Bench::idle(without_headers(), paced(f64::INFINITY));
    assert_eq!(bench.run(0).len(), 10);
}

#[test]
fn the_rate_counts_payload_bytes() {
    // Window::pacing_rate: bytes a second as an algorithm computes them, cwnd * mss / rtt; headers are the
    // transport's concern. So a flow that paces at that rate sends its window in a round trip: ten segments
    // of 1,000 bytes (1,050 on the wire) in 100 ms, one every 10 ms.
    let mut bench = Bench::idle(sender_config(), paced(10.0 * 1000.0 / 0.1));
    let expected: Vec<(u64, u32)> = (0..10).map(|i| (i * 10 * MS, i as u32)).collect();
    assert_eq!(bench.run(99 * MS), expected);
}

/// Departures of a window of ten and, for the ACKs at the given times, of one segment each.
fn departures(send_overhead: u64, acks: &[u64]) -> Vec<u64> {
    let config = SenderConfig { send_overhead, ..sender_config() };
    let mut bench = Bench::idle(config, Fake::fixed());
    let mut left = Vec::new();
    for (i, &at) in acks.iter().enumerate() {
        left.extend(bench.run(at));
        bench.hand(at, ack_packet(at, i as u32 + 1), &[]);
    }
    left.extend(bench.run(acks.last().unwrap() + 50 * MS));
    left.into_iter().map(|(at, _)| at).collect()
}

fn ack_packet(at: u64, seq: u32) -> cwnd_tcp::packet::Packet {
    let flags = cwnd_tcp::packet::BARE;
    cwnd_tcp::packet::Packet { sent: at - 90 * MS, seq, flags, ..Default::default() }
}

#[test]
fn send_overhead_comes_after_the_later_of_trigger_and_last_departure() {
    // One draw u uniform in [0, O) a packet: departure = max(trigger, last departure) + u. The first ten are
    // triggered at 0, the others by the ACKs: two at the same time, one soon after, one much later.
    const O: u64 = MS;
    let acks = [100 * MS, 100 * MS, 100 * MS + MS / 10, 130 * MS];
    let left = departures(O, &acks);
    let triggers = [0; 10].into_iter().chain(acks);
    let mut stream = Stream::new(1, Purpose::SendOverhead, 0);
    let mut last = 0;
    let mut expected = Vec::new();
    for trigger in triggers {
        last = last.max(trigger) + stream.below(O);
        expected.push(last);
    }
    assert_eq!(left, expected);
    for (pair, trigger) in left.windows(2).zip(&[[0; 9].as_slice(), &acks].concat()) {
        let wait = pair[1] - pair[0].max(*trigger);
        assert!(wait < O, "{wait}");
    }
}

#[test]
fn without_send_overhead_packets_leave_at_once() {
    let acks = [100 * MS, 100 * MS, 100 * MS + MS / 10];
    assert_eq!(departures(0, &acks), [[0; 10].as_slice(), &acks].concat());
}

#[test]
fn a_packet_that_waits_keeps_its_departure() {
    // A second ACK while a packet waits draws nothing: each packet has one wait. O = 40 ms; the wait of the
    // first packet after the window is known from the stream: it leaves then, whatever comes between.
    const O: u64 = 40 * MS;
    let config = SenderConfig { send_overhead: O, window: crate::bench::window(1.0), ..sender_config() };
    let mut bench = Bench::idle(config, Fake::fixed());
    let mut stream = Stream::new(1, Purpose::SendOverhead, 0);
    let first = stream.below(O);
    assert_eq!(bench.run(50 * MS), [(first, 0)]);
    let second = 100 * MS + stream.below(O);
    assert_eq!(bench.ack(100 * MS, 1), []);
    assert_eq!(bench.ack(100 * MS + 1, 1), []);
    assert_eq!(bench.run(200 * MS), [(second, 1)]);
}

#[test]
fn in_linux_what_may_leave_leaves_together() {
    // One draw for the window of ten, which leaves in bursts of five, and one for what the ACK at 100 ms lets go: two segments, and
    // with them the two of the ACK that comes while they wait.
    const O: u64 = 40 * MS;
    let config = SenderConfig { send_overhead: O, recovery: Recovery::Linux, ..sender_config() };
    let mut bench = Bench::idle(config, Fake::fixed());
    let mut stream = Stream::new(1, Purpose::SendOverhead, 0);
    let first = stream.below(O);
    let expected: Vec<(u64, u32)> = (0..10).map(|segment| (first, segment)).collect();
    assert_eq!(bench.run(50 * MS), expected);
    let second = 100 * MS + stream.below(O);
    assert_eq!(bench.ack(100 * MS, 2), []);
    assert_eq!(bench.ack(100 * MS + 1, 4), []);
    let expected: Vec<(u64, u32)> = (10..14).map(|segment| (second, segment)).collect();
    assert_eq!(bench.run(150 * MS), expected);
}

#[test]
fn in_linux_retransmissions_leave_together() {
    // A SACK of 3 to 9 at 100 ms reveals the loss of 0 to 2. All of them may be sent again, since nothing else is in flight.
    const O: u64 = 40 * MS;
    let config = SenderConfig { send_overhead: O, recovery: Recovery::Linux, ..sender_config() };
    let mut bench = Bench::idle(config, Fake::fixed());
    let mut stream = Stream::new(1, Purpose::SendOverhead, 0);
    stream.below(O);
    bench.run(50 * MS);
    let left = 100 * MS + stream.below(O);
    assert_eq!(bench.sack(100 * MS, 0, &[(3, 10)]), []);
    let sent = bench.run(150 * MS);
    assert_eq!(sent[..3], [(left, 0), (left, 1), (left, 2)]);
    assert!(sent.iter().all(|(at, _)| *at == left), "{left} {sent:?}");
}

#[test]
fn in_linux_a_burst_that_pacing_held_back_waits_for_the_next_ack() {
    // The first ten segments leave unpaced, in bursts of two, since no round trip is known; the last two take until 2 ms. Until then
    // ACKs make room for four, which leave together.
    let config = SenderConfig { recovery: Recovery::Linux, ..without_headers() };
    let mut bench = Bench::idle(config, paced(RATE));
    assert_eq!(bench.run(0).len(), 10);
    bench.rtt = MS;
    assert_eq!(bench.ack(MS, 2), []);
    assert_eq!(bench.ack(3 * MS / 2, 4), []);
    let four = |at: u64, first: u32| -> Vec<(u64, u32)> { (first..first + 4).map(|i| (at, i)).collect() };
    assert_eq!(bench.run(5 * MS), four(2 * MS, 10));
    // Pacing lets the next burst go at 6 ms, when two would be less than a third of the window. The next ACK is due: they wait for it
    // although nothing has left for 4 ms, since pacing held them back so long.
    assert_eq!(bench.ack(11 * MS / 2, 6), []);
    assert_eq!(bench.run(13 * MS / 2 - 1), []);
    assert_eq!(bench.ack(13 * MS / 2, 8), [14, 15, 16, 17]);
}

#[test]
fn in_linux_a_burst_has_the_room_of_all_acks_before_its_slot() {
    // The first ten segments take until 2 ms. The ACK at 1 ms makes room for four, and the next one for a fifth.
    let config = SenderConfig { recovery: Recovery::Linux, ..without_headers() };
    let mut bench = Bench::idle(config, paced(RATE));
    bench.run(0);
    bench.rtt = MS;
    assert_eq!(bench.ack(MS, 4), []);
    assert_eq!(bench.ack(3 * MS / 2, 5), []);
    let five: Vec<(u64, u32)> = (10..15).map(|segment| (2 * MS, segment)).collect();
    assert_eq!(bench.run(5 * MS), five);
}

#[test]
fn in_linux_what_is_lost_of_a_burst_is_sent_again_as_a_burst() {
    // Segments 10 to 13 leave together at 2 ms, and others later. SACKs of the others alone reveal that the four are lost.
    let config = SenderConfig { recovery: Recovery::Linux, ..without_headers() };
    let mut bench = Bench::idle(config, paced(RATE));
    bench.run(0);
    bench.rtt = MS;
    bench.ack(MS, 2);
    bench.ack(3 * MS / 2, 4);
    bench.run(2 * MS);
    bench.ack(3 * MS, 10);
    let end = bench.run(6 * MS).last().unwrap().1 + 1;
    bench.sack(7 * MS, 10, &[(14, end)]);
    let again = bench.run(20 * MS).into_iter().filter(|(_, segment)| (10..14).contains(segment));
    let again: Vec<(u64, u32)> = again.collect();
    let four: Vec<(u64, u32)> = (10..14).map(|segment| (again[0].0, segment)).collect();
    assert_eq!(again, four);
}

#[test]
fn the_wire_size_is_what_is_sent() {
    let mut bench = Bench::idle(sender_config(), paced(RATE));
    bench.sender_timer(0);
    assert_eq!(bench.packets()[0].1.size, FULL as u16);
}
