//! From the handshake to the last acknowledgment: RFC 9293, and what the receiver's window allows.

use crate::bench::{BARE_ACK, Bench, FULL, Far, MS, Tape, only, receiver_config, sender_config};
use crate::fake::Fake;
use cwnd_cc::{Nanos, State};
use cwnd_tcp::packet::{BARE, ESTABLISHED, Packet, SYN};
use cwnd_tcp::{NEVER, Receiver, ReceiverConfig, SYN_OPTIONS, Sender, SenderConfig};
use std::collections::VecDeque;

fn with_handshake() -> SenderConfig {
    SenderConfig { handshake: true, ..sender_config() }
}

/// The receiver's packet of the handshake, for the SYN sent at `syn`.
fn syn_ack(bench: &mut Bench, now: u64, syn: u64) -> Vec<(u64, Packet)> {
    bench.hand(now, Packet { sent: syn, flags: BARE | SYN, ..Packet::default() }, &[]);
    bench.packets()
}

#[test]
fn three_packets_come_before_the_data() {
    // RFC 9293 section 3.5: SYN; SYN and ACK; ACK, and the data behind it. RFC 6298 section 2.2 with the 80
    // ms that the handshake took: RTO = 80 + max(4*40, 200) = 280 ms from the first data.
    let mut bench = Bench::idle(SenderConfig { channel: 3, ..with_handshake() }, Fake::fixed());
    assert_eq!(bench.sender.deadline(), 0);
    bench.sender_timer(0);
    let sent = bench.packets();
    assert_eq!(sent.len(), 1);
    assert_eq!((sent[0].1.flags, sent[0].1.size), (BARE | SYN, BARE_ACK as u16 + SYN_OPTIONS));
    assert_eq!(bench.sender.established, None);

    let sent = syn_ack(&mut bench, 80 * MS, 0);
    let (now, size) = (80 * MS, BARE_ACK as u16);
    let last =
        Packet { at: now, sent: now, channel: 3, size, flags: BARE | ESTABLISHED, ..Packet::default() };
    assert_eq!(sent[0], (now, last));
    let data: Vec<u32> = sent[1..].iter().map(|(_, packet)| packet.seq).collect();
    assert_eq!(data, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(bench.sender.established, Some(80 * MS));
    assert_eq!(bench.sender.deadline(), 360 * MS);
    let init = bench.notes().init.unwrap();
    assert_eq!((init.rtt, init.sack), (Some(Nanos(80 * MS)), true));
    // A copy of it begins nothing again.
    assert!(syn_ack(&mut bench, 90 * MS, 0).iter().all(|(_, packet)| !packet.is_data()));
    assert_eq!(bench.sender.established, Some(80 * MS));
}

#[test]
fn a_lost_syn_is_sent_again_with_backoff() {
    // RFC 6298 sections 2.1 and 5.5: 1 s, then 2, then 4. Section 3: with timestamps a sample may be taken of
    // what was sent again, for the echo tells which copy was answered: 80 ms for the SYN sent at 3 s. That
    // ends the backoff: RTO = 80 + 200. (Section 5.7's 3 s stand for a sample that is missing, as Linux reads
    // it.)
    let mut bench = Bench::idle(with_handshake(), Fake::fixed());
    for at in [0, 1000, 3000] {
        assert_eq!(bench.sender.deadline(), at * MS);
        bench.sender_timer(at * MS);
        let sent = bench.packets();
        assert_eq!((sent.len(), sent[0].1.flags), (1, BARE | SYN));
    }
    assert_eq!(bench.sender.deadline(), 7000 * MS);
    syn_ack(&mut bench, 3080 * MS, 3000 * MS);
    assert_eq!(bench.sender.rtt(), (1, 80 * MS, Some((80 * MS, 80 * MS))));
    assert_eq!(bench.sender.deadline(), 3360 * MS);
}

#[test]
fn karn_takes_no_sample_of_a_syn_sent_twice() {
    // RFC 6298 section 3, without timestamps: the answer to a SYN that was sent twice measures nothing.
    let config = SenderConfig { timestamps: false, ..with_handshake() };
    let mut bench = Bench::idle(config, Fake::fixed());
    bench.run(1000 * MS);
    syn_ack(&mut bench, 1080 * MS, 1000 * MS);
    assert_eq!(bench.sender.established, Some(1080 * MS));
    assert_eq!(bench.sender.rtt().0, 0);
}

#[test]
fn a_timeout_of_the_syn_makes_the_first_timeout_three_seconds() {
    // RFC 6298 section 5.7: if the timer ran out for the SYN and RTO was under 3 s, it is 3 s when data
    // begins (no sample can have replaced it without timestamps).
    let config = SenderConfig { timestamps: false, ..with_handshake() };
    let mut bench = Bench::idle(config, Fake::fixed());
    bench.run(1000 * MS);
    syn_ack(&mut bench, 1080 * MS, 1000 * MS);
    assert_eq!(bench.sender.deadline(), 4080 * MS);
}

#[test]
fn the_receiver_answers_a_syn() {
    let mut far = Far::new(receiver_config());
    let ack = only(far.flagged(1000, 0, BARE | SYN));
    assert_eq!((ack.flags, ack.echo, ack.size), (SYN, 990, BARE_ACK as u16 + SYN_OPTIONS));
    assert_eq!(far.flagged(2000, 0, BARE | ESTABLISHED), []);
    assert_eq!((far.receiver.in_order(), far.receiver.counts.received), (0, 0));
    assert_eq!(only(far.data(2001, 0)).next, 1);
}

#[test]
fn a_flow_starts_when_it_is_told_to() {
    let mut bench = Bench::idle(SenderConfig { start: 7 * MS, ..sender_config() }, Fake::fixed());
    assert_eq!(bench.sender.deadline(), 7 * MS);
    assert_eq!(bench.run(7 * MS), (0..10).map(|i| (7 * MS, i)).collect::<Vec<_>>());
    assert_eq!(bench.sender.established, Some(7 * MS));
}

#[test]
fn the_receive_window_limits_what_is_outstanding() {
    // RFC 9293 section 3.8.6: up to SND.UNA + SND.WND. Window 10, the receiver's 4; the acknowledgment moves
    // it, a SACK does not.
    let config = SenderConfig { receive_window: 4, ..sender_config() };
    let (mut bench, sent) = Bench::start(config, Fake::fixed());
    assert_eq!(sent, [0, 1, 2, 3]);
    assert_eq!(bench.ack(100 * MS, 1), [4]);
    assert_eq!(bench.sack(101 * MS, 1, &[(2, 3)]), []);
    assert_eq!(bench.ack(102 * MS, 4), [5, 6, 7]);
}

#[test]
fn a_transfer_ends_with_a_short_segment() {
    // Three segments, the last of 300 bytes. It is complete when the last one is acknowledged.
    let config = SenderConfig { segments: 3, last_packet_size: 300, ..sender_config() };
    let mut bench = Bench::idle(config, Fake::fixed());
    bench.sender_timer(0);
    let sizes: Vec<u16> = bench.packets().iter().map(|(_, packet)| packet.size).collect();
    assert_eq!(sizes, [FULL as u16, FULL as u16, 300]);
    assert_eq!(bench.ack(100 * MS, 2), []);
    assert_eq!(bench.sender.completed, None);
    assert!(bench.notes().acks[0].app_limited);
    assert_eq!(bench.ack(110 * MS, 3), []);
    assert_eq!(bench.sender.completed, Some(110 * MS));
    assert_eq!(bench.sender.deadline(), NEVER);
    bench.ack(120 * MS, 3);
    assert_eq!(bench.sender.completed, Some(110 * MS));
}

#[test]
fn the_short_segment_is_short_again_when_it_goes_again() {
    let config = SenderConfig { segments: 2, last_packet_size: 300, ..sender_config() };
    let mut bench = Bench::started(config, Fake::reno());
    bench.ack(100 * MS, 1);
    let now = bench.sender.deadline();
    bench.sender_timer(now);
    let sent = bench.packets();
    assert_eq!((sent.len(), sent[0].1.seq, sent[0].1.size), (1, 1, 300));
}

#[test]
fn after_its_stop_a_flow_only_repairs() {
    // Ten outstanding at the stop. Nothing new goes any more; the lost segment 0 does. When all is
    // acknowledged no timer is left, and the transfer is not complete.
    let config = SenderConfig { stop: 50 * MS, ..sender_config() };
    let mut bench = Bench::started(config, Fake::fixed());
    assert!(bench.run(50 * MS).is_empty());
    assert_eq!(bench.sender.stopped, Some(50 * MS));
    let sent: Vec<u32> =
        (2..=10).flat_map(|to| bench.sack((100 + u64::from(to)) * MS, 0, &[(1, to)])).collect();
    assert_eq!(sent, [0]);
    assert_eq!(bench.ack(200 * MS, 10), []);
    assert_eq!((bench.sender.deadline(), bench.sender.completed), (NEVER, None));
}

#[test]
fn a_flow_that_stops_before_it_starts_sends_nothing() {
    let config = SenderConfig { start: 60 * MS, stop: 50 * MS, ..sender_config() };
    let mut bench = Bench::idle(config, Fake::fixed());
    assert!(bench.run(10_000 * MS).is_empty());
    assert_eq!(bench.sender.established, None);
}

/// Sender and receiver at the ends of a line of 50 ms each way that loses the first copy of one segment.
fn over_a_line(lost: Option<u32>, receiver: ReceiverConfig) -> (Sender, Receiver) {
    const DELAY: u64 = 50 * MS;
    let config = SenderConfig { segments: 20, ..sender_config() };
    let mut sender = Sender::new(config, Box::new(Fake::fixed()));
    let mut receiver = Receiver::new(receiver);
    let (mut there, mut back) = (VecDeque::new(), VecDeque::new());
    let (mut out, mut answers) = (Tape::default(), Tape::default());
    let mut to_lose = lost;
    loop {
        there.extend(out.0.drain(..).filter(|(_, packet, _)| {
            let gone = to_lose == Some(packet.seq);
            to_lose = to_lose.filter(|_| !gone);
            !gone
        }));
        back.extend(answers.0.drain(..));
        let arrives = |line: &VecDeque<(u64, Packet, _)>| line.front().map_or(NEVER, |(at, ..)| at + DELAY);
        let times = [arrives(&there), arrives(&back), receiver.deadline, sender.deadline()];
        let now = times.into_iter().min().unwrap();
        if now == NEVER {
            return (sender, receiver);
        } else if now == times[0] {
            let (_, packet, _) = there.pop_front().unwrap();
            receiver.on_packet(now, &packet, &mut answers);
        } else if now == times[1] {
            let (_, packet, blocks) = back.pop_front().unwrap();
            sender.on_packet(now, &packet, (blocks.len > 0).then_some(&blocks), &mut out);
        } else if now == times[2] {
            receiver.on_timer(now, &mut answers);
        } else {
            sender.on_timer(now, &mut out);
        }
    }
}

#[test]
fn a_whole_transfer_without_loss() {
    // 20 segments by a window of ten: 0..9 at 0, acknowledged at 100 ms, when 10..19 go: done at 200 ms.
    let (sender, receiver) = over_a_line(None, receiver_config());
    assert_eq!(sender.completed, Some(200 * MS));
    assert_eq!((sender.counts.sent, sender.counts.acks, receiver.in_order()), (20, 20, 20));
    // Acknowledged by twos it takes as long: pairs arrive together.
    let delayed = ReceiverConfig { delayed_ack: Some(40 * MS), ..receiver_config() };
    let (sender, receiver) = over_a_line(None, delayed);
    assert_eq!(sender.completed, Some(200 * MS));
    assert_eq!((sender.counts.sent, sender.counts.acks, receiver.in_order()), (20, 10, 20));
}

#[test]
fn a_whole_transfer_with_one_loss() {
    // Segment 3 is lost. At 100 ms: ACKs 1, 2, 3 let 10, 11, 12 go, the SACKs of 4 and 5 13 and 14; that of
    // 6 begins recovery: RecoverFS = 12 (3..14), ssthresh 5. RFC 6937: d = 1: ceil(5/12) = 1: 3 goes again;
    // d = 2: 1 - 1 = 0; d = 3: ceil(15/12) = 2 - 1: 15; d = 4: 0.
    // At 200 ms: SACK 10: d = 5: ceil(25/12) = 3 - 2: 16; 11: 0; 12: the pipe is 5: 0; 13 and 14: the pipe is 4:
    // 17, 18. Then the ACK of 15 ends recovery: window 5, four outstanding: 19. ACK 16: all has been sent.
    // At 300 ms the ACKs of 16..19 come: done. 21 packets were sent.
    let (sender, receiver) = over_a_line(Some(3), receiver_config());
    assert_eq!(sender.completed, Some(300 * MS));
    let counts = sender.counts;
    assert_eq!((counts.sent, counts.retransmissions, counts.timeouts), (21, 1, 0));
    assert_eq!((receiver.in_order(), receiver.counts.duplicates), (20, 0));
}

#[test]
fn the_loss_of_the_last_segment_takes_a_timeout() {
    // Segment 19 goes at 100 ms; no later one can tell that it is lost. The last ACK, of 19 segments, comes
    // at 200 ms. All samples were 100 ms, so SRTT = 100 and the floor 200 holds from some sample on (RTTVAR =
    // 50 * 0.75^n; 4 * 50 = 200 from the first): RTO 300: at 500 ms it goes again, done at 600 ms.
    let (sender, receiver) = over_a_line(Some(19), receiver_config());
    assert_eq!(sender.completed, Some(600 * MS));
    assert_eq!((sender.counts.sent, sender.counts.timeouts, receiver.in_order()), (21, 1, 20));
}

#[test]
fn the_window_is_integrated_from_the_start_of_the_connection() {
    // 10 segments from 80 ms (the end of the handshake) to 180 ms: 10 x 100 ms; none before.
    let mut bench = Bench::idle(with_handshake(), Fake::fixed());
    bench.sender_timer(0);
    assert_eq!(bench.sender.cwnd_integral(50 * MS), 0.0);
    syn_ack(&mut bench, 80 * MS, 0);
    assert_eq!(bench.sender.cwnd_integral(180 * MS), 10.0 * 100.0 * MS as f64);
}

#[test]
fn the_window_integrated_is_the_one_that_was_open_at_the_time() {
    // 10 segments until the timeout at 1 s, one until the ACK at 1.1 s (and, the window being fixed, after).
    let mut bench = Bench::started(sender_config(), Fake::fixed());
    bench.timer();
    assert_eq!(bench.sender.cwnd_integral(1000 * MS), 10.0 * 1000.0 * MS as f64);
    bench.ack(1100 * MS, 1);
    assert_eq!(bench.sender.cwnd_integral(1200 * MS), (10.0 * 1000.0 + 200.0) * MS as f64);
    // 10 segments until a loss is found at 100 ms, 4 from then on (an algorithm that sets it at once), through
    // duplicates that tell nothing and the end of recovery.
    let mut bench = Bench::started(sender_config(), Fake::at_once(4.0));
    bench.sack(100 * MS, 0, &[(1, 4)]);
    bench.sack(150 * MS, 0, &[(1, 4)]);
    bench.ack(200 * MS, 10);
    assert_eq!(bench.sender.cwnd_integral(300 * MS), (10.0 * 100.0 + 4.0 * 200.0) * MS as f64);
    // By proportional rate reduction: 10 until 100 ms. Then three of ten are SACKed and one is lost: pipe 6,
    // ssthresh 5, ceil(3 * 5 / 10) = 2 may go: window 8, until the end of recovery at 200 ms, then 5.
    let mut bench = Bench::started(sender_config(), Fake::fixed());
    bench.sack(100 * MS, 0, &[(1, 4)]);
    bench.ack(200 * MS, 10);
    assert_eq!(bench.sender.cwnd_integral(300 * MS), (10.0 + 8.0 + 5.0) * 100.0 * MS as f64);
}

#[test]
fn an_ack_that_repeats_the_last_one_is_no_duplicate_if_nothing_is_outstanding() {
    // RFC 5681 section 2: a duplicate ACK arrives while the receiver of the ACK has outstanding data.
    let mut bench = Bench::started(SenderConfig { segments: 4, ..sender_config() }, Fake::fixed());
    assert_eq!(bench.ack(100 * MS, 4), []);
    for i in 1..=4 {
        assert_eq!(bench.ack((100 + i) * MS, 4), []);
    }
    assert_eq!((bench.notes().dups.len(), bench.notes().congestions.len()), (0, 0));
    assert_eq!(bench.sender.state(), State::Open);
}

#[test]
fn a_run_of_plain_acks_sends_up_to_the_window_above_the_last_ack() {
    let mut bench = Bench::started(sender_config(), Fake::fixed());
    assert_eq!(bench.sender.plain_end(), 10);
    bench.ack(100 * MS, 4);
    assert_eq!(bench.sender.plain_end(), 14);
    // RFC 9293: the receiver's window bounds it, too.
    let mut bench = Bench::started(SenderConfig { receive_window: 6, ..sender_config() }, Fake::fixed());
    bench.ack(100 * MS, 4);
    assert_eq!(bench.sender.plain_end(), 10);
}
