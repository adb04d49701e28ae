//! What a program around the endpoint of today's Linux uses: writes, the advertised window, system settings, and `tcp_info`.

use crate::bench::{Bench, MS, sender_config, window};
use crate::fake::Fake;
use cwnd_cc::State;
use cwnd_scenario::{Purpose, Recovery, Stream};
use cwnd_tcp::packet::{BARE, Emit, Packet, SackBlocks};
use cwnd_tcp::{LinuxOptions, NEVER, SenderConfig};

/// Collects the segments that are sent, and refuses them on request.
#[derive(Default)]
struct Queue {
    packets: Vec<(u64, Packet)>,
    closed: bool,
}

impl Emit for Queue {
    fn emit(&mut self, now: u64, packet: Packet) -> bool {
        self.packets.push((now, packet));
        true
    }

    fn emit_sack(&mut self, _: u64, _: Packet, _: &SackBlocks) -> bool {
        true
    }

    fn accepts(&self) -> bool {
        !self.closed
    }
}

impl Queue {
    fn take(&mut self) -> Vec<(u64, u32, bool)> {
        self.packets.drain(..).map(|(at, packet)| (at, packet.seq, packet.is(BARE))).collect()
    }
}

/// A sender of Linux with a window of ten segments, whose application writes nothing by itself.
fn silent() -> Bench {
    let config = SenderConfig {
        window: window(10.0),
        recovery: Recovery::Linux,
        validate_cwnd: true,
        restart_after_idle: true,
        ..sender_config()
    };
    let mut bench = Bench::idle(config, Fake::fixed());
    bench.sender.set_traffic(0, None, Stream::new(1, Purpose::Traffic, 0));
    assert_eq!(bench.timer(), []);
    bench
}

#[test]
fn a_program_writes_data() {
    let mut bench = silent();
    let mut queue = Queue::default();
    bench.sender.write(5 * MS, 3, &mut queue);
    assert_eq!(queue.take(), [(5 * MS, 0, false), (5 * MS, 1, false), (5 * MS, 2, false)]);
    let info = bench.sender.tcp_info();
    assert_eq!((info.unacked, info.unsent, info.cwnd, info.state), (3, 0, 10.0, State::Open));
    // Twelve more: a burst is half of the window, 5. The two segments of room that are left are less than a third of it, and wait
    // for an ACK.
    bench.sender.write(6 * MS, 12, &mut queue);
    assert_eq!((queue.take().len(), bench.sender.tcp_info().unsent), (5, 7));
}

#[test]
fn a_closed_window_is_probed() {
    // RFC 9293 section 3.8.6.1 and RFC 6298: the first probe after one timeout, 100 + 200 ms after a sample of 100 ms, then after
    // twice the time, and so on. A probe has no data and the number before.
    let mut bench = silent();
    let mut queue = Queue::default();
    bench.sender.write(0, 2, &mut queue);
    queue.take();
    assert_eq!(bench.ack(100 * MS, 2), []);
    bench.sender.set_receive_window(100 * MS, 0);
    bench.sender.write(100 * MS, 20, &mut queue);
    assert_eq!(queue.take(), []);
    for (at, wait) in [(400, 600), (1000, 1200), (2200, 2400)] {
        assert_eq!(bench.sender.deadline(), at * MS);
        bench.sender.on_timer(at * MS, &mut queue);
        assert_eq!(queue.take(), [(at * MS, 2, true)]);
        assert_eq!(bench.sender.deadline(), (at + wait) * MS);
    }
    // An ACK that says again that the window is closed opens nothing.
    bench.sender.set_receive_window(2400 * MS, 0);
    assert_eq!(bench.sender.tcp_info().backoff, 3);
    // The window opens: the timeout is no longer doubled, and data leaves.
    bench.sender.set_receive_window(2500 * MS, 100);
    assert_eq!(bench.ack(2500 * MS, 2), [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    assert_eq!(bench.sender.tcp_info().backoff, 0);
}

#[test]
fn probes_of_the_tail_can_be_switched_off() {
    // With probes the timer waits for two round-trip times, at most for the timeout; without them for the timeout alone.
    let mut with = silent();
    let mut queue = Queue::default();
    for probes in [true, false] {
        let mut bench = silent();
        bench.sender.set_linux_options(LinuxOptions { tail_loss_probe: probes, ..LinuxOptions::default() });
        bench.sender.write(0, 2, &mut queue);
        bench.ack(100 * MS, 2);
        bench.sender.write(100 * MS, 2, &mut queue);
        let expected = if probes { 302 * MS } else { 400 * MS };
        assert_eq!(bench.sender.deadline().min(400 * MS), expected.min(400 * MS), "probes: {probes}");
    }
    with.sender.write(0, 1, &mut queue);
    assert_ne!(with.sender.deadline(), NEVER);
}

#[test]
fn reordering_is_reported() {
    // 8 is SACKed, and then 3, which was never retransmitted: reordered over the six segments from 3 to 8.
    let mut bench = silent();
    bench.sender.write(0, 10, &mut Queue::default());
    bench.sack(100 * MS, 0, &[(8, 9)]);
    let info = bench.sender.tcp_info();
    assert_eq!((info.reordering, info.reordering_events, info.sacked), (3, 0, 1));
    bench.sack(101 * MS, 0, &[(3, 4), (8, 9)]);
    let info = bench.sender.tcp_info();
    assert_eq!((info.reordering, info.reordering_events, info.sacked), (6, 1, 2));
}

#[test]
fn a_local_queue_that_refuses_packets_keeps_losses_waiting() {
    // 0 is lost by three SACKs, and its retransmission cannot leave: it stays lost, and nothing counts as retransmitted.
    let mut bench = silent();
    let mut queue = Queue { closed: true, ..Queue::default() };
    bench.sender.write(0, 4, &mut Queue::default());
    let sack = Packet { seq: 0, flags: BARE | cwnd_tcp::packet::SACK, ..Packet::default() };
    let blocks = crate::bench::blocks(&[(1, 4)]);
    bench.sender.on_packet(100 * MS, &sack, Some(&blocks), &mut queue);
    let info = bench.sender.tcp_info();
    assert_eq!((queue.take(), info.lost, info.retransmitted), (vec![], 1, 0));
    assert_eq!((info.state, info.total_retransmissions), (State::Recovery, 0));
}

#[test]
fn bursts_are_paced_from_the_eleventh_segment_on() {
    // The first ten leave at once. At 100 ms the rate is 2 x 12 segments a round trip of 100 ms, so that two segments take 100/12 ms;
    // Linux halves the first interval after a pause: 4.17 ms.
    let config = SenderConfig { recovery: Recovery::Linux, validate_cwnd: true, ..sender_config() };
    let mut bench = Bench::idle(config, Fake::fixed());
    bench.sender.set_linux_options(LinuxOptions { paced: true, ..LinuxOptions::default() });
    assert_eq!(bench.timer().len(), 10);
    assert_eq!(bench.ack(100 * MS, 2), [10, 11]);
    assert_eq!(bench.ack(101 * MS, 4), []);
    // A window that does not grow: 2 x 10 a round trip, and half of 2 x 5 ms.
    assert_eq!(bench.sender.deadline(), 105 * MS);
    assert_eq!(bench.timer(), [12, 13]);
}

#[test]
fn a_cautious_reduction_grows_only_after_a_repair() {
    // 3 of 10 are in flight after an echo on an ACK of one segment of four; ssthresh 5. Linux 5.11 and later send one segment more than
    // was delivered, 3 + 2; earlier ones only what was delivered, 3 + 1.
    for (cautious_reduction, cwnd) in [(false, 5.0), (true, 4.0)] {
        let config = SenderConfig { ecn: cwnd_cc::EcnMode::Classic, ..sender_config() };
        let config = SenderConfig { recovery: Recovery::Linux, validate_cwnd: true, ..config };
        let mut bench = Bench::idle(config, Fake::fixed());
        bench.sender.set_traffic(0, None, Stream::new(1, Purpose::Traffic, 0));
        bench.sender.set_linux_options(LinuxOptions { cautious_reduction, ..LinuxOptions::default() });
        bench.timer();
        bench.sender.write(0, 4, &mut Queue::default());
        let echo = Packet { seq: 1, flags: BARE | cwnd_tcp::packet::ECE, ..Packet::default() };
        bench.sender.on_packet(100 * MS, &echo, None, &mut Queue::default());
        assert_eq!((bench.sender.state(), bench.sender.window().cwnd), (State::Cwr, cwnd));
    }
}
