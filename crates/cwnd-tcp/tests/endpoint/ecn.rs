//! Congestion marks: RFC 3168 section 6.1 and RFC 8257 section 3.

use crate::bench::{Answer, Bench, Far, MS, only, receiver_config, sender_config};
use crate::fake::Fake;
use cwnd_cc::{CongestionKind, EcnMode, Needs, State};
use cwnd_tcp::packet::{BARE, CE, CWR, ECE, ECT, Packet};
use cwnd_tcp::{ReceiverConfig, SenderConfig};

fn sender(ecn: EcnMode) -> SenderConfig {
    SenderConfig { ecn, ..sender_config() }
}

fn receiver(ecn: EcnMode, delayed_ack: Option<u64>) -> Far {
    Far::new(ReceiverConfig { ecn, delayed_ack, ..receiver_config() })
}

fn echoes(answers: &[Answer]) -> Vec<(u32, bool)> {
    answers.iter().map(|ack| (ack.next, ack.flags & ECE != 0)).collect()
}

/// The flags of the data on the tape, by segment.
fn flags(packets: &[(u64, Packet)]) -> Vec<(u32, u16)> {
    packets.iter().map(|(_, packet)| (packet.seq, packet.flags)).collect()
}

fn hand_ack(bench: &mut Bench, now: u64, seq: u32, flags: u16) -> Vec<(u32, u16)> {
    let packet = Packet { sent: now - 100 * MS, seq, flags: flags | BARE, ..Packet::default() };
    bench.hand(now, packet, &[]);
    self::flags(&bench.packets())
}

#[test]
fn data_is_ecn_capable_only_when_negotiated() {
    for (ecn, expected) in [(EcnMode::Off, 0), (EcnMode::Classic, ECT), (EcnMode::Exact, ECT)] {
        let mut bench = Bench::started(sender(ecn), Fake::fixed());
        assert_eq!(hand_ack(&mut bench, 100 * MS, 1, 0), [(10, expected)]);
    }
}

#[test]
fn the_classic_echo_lasts_until_cwr() {
    // 6.1.3: ECE on every ACK from the mark until a packet with CWR; that one's ACK has none.
    let mut far = receiver(EcnMode::Classic, None);
    let mut answers = Vec::new();
    for (i, flags) in [ECT, ECT | CE, ECT, ECT, ECT | CWR, ECT].into_iter().enumerate() {
        answers.extend(far.flagged(1000 + i as u64, i as u32, flags));
    }
    assert_eq!(echoes(&answers), [(1, false), (2, true), (3, true), (4, true), (5, false), (6, false)]);
    assert_eq!(far.receiver.counts.marked, 1);
}

#[test]
fn a_marked_packet_with_cwr_keeps_the_echo() {
    // 6.1.3: CWR ends the earlier echo, but the packet's own mark begins another.
    let mut far = receiver(EcnMode::Classic, None);
    far.flagged(1000, 0, ECT | CE);
    assert_eq!(echoes(&far.flagged(1001, 1, ECT | CE | CWR)), [(2, true)]);
    assert_eq!(echoes(&far.flagged(1002, 2, ECT)), [(3, true)]);
    assert_eq!(echoes(&far.flagged(1003, 3, ECT | CWR)), [(4, false)]);
}

#[test]
fn marks_are_ignored_when_ecn_is_off() {
    let mut far = receiver(EcnMode::Off, None);
    assert_eq!(echoes(&far.flagged(1000, 0, CE)), [(1, false)]);
    let mut bench = Bench::started(sender(EcnMode::Off), Fake::fixed());
    bench.flagged(100 * MS, 1, &[], ECE);
    assert_eq!((bench.sender.state(), bench.notes().congestions.len()), (State::Open, 0));
}

#[test]
fn an_echo_reduces_and_cwr_goes_with_the_next_new_data() {
    // 6.1.2: the window is reduced as for a loss, and CWR is set on the first new data packet after that, and
    // on no other. Window 10, ssthresh 5: FlightSize 9 at the reduction; the first ACK lets one go.
    let mut bench = Bench::started(sender(EcnMode::Classic), Fake::fixed());
    assert_eq!(hand_ack(&mut bench, 100 * MS, 1, ECE), [(10, ECT | CWR)]);
    assert_eq!(bench.sender.state(), State::Cwr);
    assert_eq!(bench.windows().1, 5.0);
    let more: Vec<(u32, u16)> =
        (2..10).flat_map(|k| hand_ack(&mut bench, (100 + u64::from(k)) * MS, k, ECE)).collect();
    assert!(!more.is_empty() && more.iter().all(|&(_, flags)| flags == ECT), "{more:?}");
    assert_eq!(bench.notes().episodes(CongestionKind::Ecn), 1);
}

/// A path without losses on which a segment arrives every millisecond, in order; those of `marked` get a
/// mark. Returns the sender after 60 segments.
fn loop_with_marks(ecn: EcnMode, marked: &[u32]) -> Bench {
    let mut bench = Bench::idle(sender(ecn), Fake::fixed());
    let mut far = receiver(ecn, None);
    let mut line = std::collections::VecDeque::new();
    let start = bench.sender.deadline();
    bench.sender_timer(start);
    line.extend(bench.packets());
    for step in 1..=60u64 {
        let Some((_, mut packet)) = line.pop_front() else { break };
        if packet.flags & ECT != 0 && marked.contains(&packet.seq) {
            packet.flags |= CE;
        }
        let now = 100 * MS + step * MS;
        let ack = only(far.flagged(now, packet.seq, packet.flags));
        hand_ack_onto(&mut bench, now, &ack);
        line.extend(bench.packets());
    }
    bench
}

fn hand_ack_onto(bench: &mut Bench, now: u64, ack: &Answer) {
    let flags = ack.flags | BARE;
    bench.hand(now, Packet { sent: now - 100 * MS, seq: ack.next, flags, ..Packet::default() }, &[]);
}

#[test]
fn one_mark_reduces_once_around_the_whole_loop() {
    // 6.1.2: at most one reduction a window of data. Segment 3 is marked. Its ACK (4) carries ECE, the window
    // falls, CWR goes with the next new segment, and until that arrives every ACK still carries ECE: those of
    // the segments outstanding at the reduction, the last included. None of them may reduce again.
    let bench = loop_with_marks(EcnMode::Classic, &[3]);
    assert_eq!(bench.notes().episodes(CongestionKind::Ecn), 1);
    assert_eq!(bench.sender.counts.congestion_events, 1);
    assert_eq!(bench.windows().1, 5.0);
}

#[test]
fn two_marks_in_one_window_reduce_once() {
    let bench = loop_with_marks(EcnMode::Classic, &[3, 5]);
    assert_eq!(bench.notes().episodes(CongestionKind::Ecn), 1);
}

#[test]
fn a_mark_of_the_next_window_reduces_again() {
    // Segments 3 and 30: the second was sent long after the first reduction was over.
    let bench = loop_with_marks(EcnMode::Classic, &[3, 30]);
    assert_eq!(bench.notes().episodes(CongestionKind::Ecn), 2);
}

#[test]
fn exact_marks_reduce_once_a_window() {
    // RFC 8257 section 3.5: at most once a window of data. 3, 4, 5 are marked: each ACK mirrors its packet.
    let bench = loop_with_marks(EcnMode::Exact, &[3, 4, 5]);
    let notes = bench.notes();
    assert_eq!(notes.episodes(CongestionKind::Ecn), 1);
    let marked: Vec<usize> = (0..10).filter(|&i| notes.acks[i].marked > 0).collect();
    assert_eq!(marked, [3, 4, 5]);
}

#[test]
fn marks_alone_begin_no_episode_where_none_is_wanted() {
    // Needs::marks_only: the marks are told with the ACKs, the window stays, and growth is not held up.
    let needs = Needs { marks_only: true, ..Needs::default() };
    let mut bench = Bench::started(sender(EcnMode::Exact), Fake { needs, ..Fake::reno() });
    for seq in 1..=5 {
        hand_ack(&mut bench, 100 * MS + u64::from(seq) * MS, seq, ECE);
    }
    let notes = bench.notes();
    assert!(notes.congestions.is_empty());
    assert!(notes.acks.iter().all(|ack| ack.marked == 1 && ack.state == State::Open));
    assert_eq!(bench.windows().0, 15.0);
}

#[test]
fn a_loss_after_an_exact_mark_is_answered_too() {
    // RFC 8257 section 3.5: losses are answered as ever, also in a window of data that a mark has reduced. A
    // classic mark stands for the loss (RFC 3168 section 6.1.2).
    for (ecn, losses) in [(EcnMode::Exact, 1), (EcnMode::Classic, 0)] {
        let mut bench = Bench::started(sender(ecn), Fake::fixed());
        hand_ack(&mut bench, 100 * MS, 1, ECE);
        bench.sack(101 * MS, 1, &[(2, 5)]);
        let notes = bench.notes();
        assert_eq!(notes.episodes(CongestionKind::Ecn), 1);
        assert_eq!(notes.episodes(CongestionKind::Loss), losses, "{ecn:?}");
        assert_eq!(bench.sender.state(), State::Recovery);
    }
}

#[test]
fn cwr_follows_every_reduction() {
    // 6.1.2: CWR goes with the first new data after a reduction for any reason: a fast retransmit or a
    // timeout as well as an echo. Fast retransmit of 0 with nothing else; the next new segment has it.
    let mut bench = Bench::started(sender(EcnMode::Classic), Fake::at_once(8.0));
    bench.hand(100 * MS, Packet { flags: BARE, ..Packet::default() }, &[(1, 4)]);
    let sent = flags(&bench.packets());
    assert_eq!(sent, [(0, 0), (10, ECT | CWR)], "after a fast retransmit");
    let sent = hand_ack(&mut bench, 200 * MS, 10, 0);
    assert!(sent.iter().all(|&(_, flags)| flags == ECT), "{sent:?}");

    let mut bench = Bench::started(sender(EcnMode::Classic), Fake::reno());
    bench.timer();
    let sent = hand_ack(&mut bench, 1100 * MS, 10, 0);
    assert_eq!(sent[0].1, ECT | CWR, "after a timeout: {sent:?}");
}

#[test]
fn a_loss_in_the_window_of_an_echo_reduces_no_further() {
    // 6.1.2: once a window, whether by echo or by loss. The ACK of 0 echoes a mark; then 1 is found lost.
    let mut bench = Bench::started(sender(EcnMode::Classic), Fake::fixed());
    bench.flagged(100 * MS, 1, &[], ECE);
    let sent = bench.flagged(101 * MS, 1, &[(2, 5)], ECE);
    assert_eq!(sent[0], 1);
    assert_eq!(bench.sender.state(), State::Recovery);
    assert_eq!((bench.notes().congestions.len(), bench.windows().1), (1, 5.0));
}

#[test]
fn without_sack_it_is_repaired_at_once_all_the_same() {
    // RFC 6582's recover is set by recoveries and timeouts, not by echoes: the third duplicate of 1 in the
    // window of the echo retransmits 1 at once.
    let config = SenderConfig { sack: false, ..sender(EcnMode::Classic) };
    let mut bench = Bench::started(config, Fake::fixed());
    bench.flagged(100 * MS, 1, &[], ECE);
    assert_eq!(bench.sender.state(), State::Cwr);
    let sent: Vec<u32> = (1..=3).flat_map(|k| bench.flagged((100 + k) * MS, 1, &[], ECE)).collect();
    assert_eq!(sent.last(), Some(&1), "{sent:?}");
    assert_eq!(bench.notes().congestions.len(), 1);
}

#[test]
fn retransmissions_are_not_ecn_capable() {
    // 6.1.5: no ECT on retransmitted data, and CWR waits for new data.
    let mut bench = Bench::started(sender(EcnMode::Classic), Fake::at_once(8.0));
    bench.hand(100 * MS, Packet { flags: BARE, ..Packet::default() }, &[(1, 4)]);
    let sent = flags(&bench.packets());
    assert_eq!(sent[0], (0, 0));
    assert!(sent[1..].iter().all(|&(_, flags)| flags & ECT != 0));
}

#[test]
fn the_exact_echo_mirrors_each_packet() {
    let mut far = receiver(EcnMode::Exact, None);
    let mut answers = Vec::new();
    for (i, flags) in [ECT, ECT | CE, ECT | CE, ECT].into_iter().enumerate() {
        answers.extend(far.flagged(1000 + i as u64, i as u32, flags));
    }
    assert_eq!(echoes(&answers), [(1, false), (2, true), (3, true), (4, false)]);
}

#[test]
fn a_change_of_the_mark_first_acknowledges_what_came_before() {
    // RFC 8257 section 3.2: with delayed ACKs a change of the mark sends at once, with the old mark, what
    // was not acknowledged yet, so that no ACK covers packets of both kinds.
    let mut far = receiver(EcnMode::Exact, Some(40 * MS));
    assert_eq!(far.flagged(MS, 0, ECT), []);
    let answers = far.flagged(2 * MS, 1, ECT | CE);
    assert_eq!(echoes(&answers)[0], (1, false));
    // The other way round. DCTCP.CE is false at first, so 0 is a change and acknowledged alone; 1 waits.
    let mut far = receiver(EcnMode::Exact, Some(40 * MS));
    assert_eq!(echoes(&far.flagged(MS, 0, ECT | CE)), [(1, true)]);
    assert_eq!(far.flagged(2 * MS, 1, ECT | CE), []);
    let answers = far.flagged(3 * MS, 2, ECT);
    assert_eq!(echoes(&answers)[0], (2, true));
}

#[test]
fn a_change_of_the_mark_is_itself_acknowledged_at_once() {
    // RFC 8257 section 3.2: when CE and DCTCP.CE differ, DCTCP.CE changes and an immediate ACK is sent, which
    // reflects the new state. With nothing waiting that is the one ACK; with something waiting it follows
    // the ACK of that (the section's two ACKs). Equal marks then wait for a second packet as usual.
    let mut far = receiver(EcnMode::Exact, Some(40 * MS));
    far.flagged(MS, 0, ECT);
    far.flagged(2 * MS, 1, ECT);
    assert_eq!(echoes(&far.flagged(3 * MS, 2, ECT | CE)), [(3, true)]);
    assert_eq!(echoes(&far.flagged(4 * MS, 3, ECT | CE)), []);
    assert_eq!(echoes(&far.flagged(5 * MS, 4, ECT)), [(4, true), (5, false)]);
}

#[test]
fn equal_marks_are_acknowledged_by_twos() {
    let mut far = receiver(EcnMode::Exact, Some(40 * MS));
    far.flagged(MS, 0, ECT | CE);
    far.timer_if_set();
    assert_eq!(echoes(&far.flagged(60 * MS, 1, ECT | CE)), []);
    assert_eq!(echoes(&far.flagged(61 * MS, 2, ECT | CE)), [(3, true)]);
}

#[test]
fn marked_counts_what_the_echo_covers() {
    // Ack::marked: segments newly delivered by an ACK that echoes. An ACK of two with ECE marks two (RFC
    // 8257 section 3.3 counts them so), one without ECE none.
    for ecn in [EcnMode::Classic, EcnMode::Exact] {
        let mut bench = Bench::started(sender(ecn), Fake::fixed());
        bench.flagged(100 * MS, 2, &[], ECE);
        bench.flagged(101 * MS, 4, &[], 0);
        bench.flagged(102 * MS, 5, &[], ECE);
        let told: Vec<u32> = bench.notes().acks.iter().map(|ack| ack.marked).collect();
        assert_eq!(told, [2, 0, 1]);
    }
}
