//! Accurate ECN feedback (RFC 9768) between a sender and a receiver.

use crate::bench::{Answer, Bench, Far, MS, only, receiver_config, sender_config};
use crate::fake::Fake;
use cwnd_cc::{CongestionKind, EcnMode, Needs};
use cwnd_tcp::accurate_ecn::Capability;
use cwnd_tcp::packet::{ACCURATE, ACE_SHIFT, BARE, CE, CWR, ECE, ECT, ECT1, Packet, SYN};
use cwnd_tcp::{ReceiverConfig, SenderConfig};

/// A sender that asks in its handshake.
fn asks(ecn: EcnMode) -> SenderConfig {
    SenderConfig { ecn, accurate_ecn: true, l4s: true, handshake: true, ..sender_config() }
}

fn receiver(capability: Capability, delayed_ack: Option<u64>, option: bool) -> Far {
    Far::new(ReceiverConfig {
        accurate_ecn: true,
        ecn_capability: capability,
        ecn_option: option,
        delayed_ack,
        ..receiver_config()
    })
}

fn ace(answers: &[Answer]) -> Vec<(u32, u16)> {
    answers.iter().map(|ack| (ack.next, ack.flags >> ACE_SHIFT & 7)).collect()
}

/// Shakes hands with a receiver of this capability. Returns the flags of the SYN, of the SYN/ACK, and of the first data.
fn shake(bench: &mut Bench, far: &mut Far) -> (u16, u16, u16) {
    bench.sender_timer(bench.sender.deadline());
    let (_, syn) = bench.packets()[0];
    let answer = only(far.flagged(50 * MS, 0, syn.flags));
    let syn_ack = Packet { sent: 0, flags: answer.flags | BARE, ..Packet::default() };
    bench.hand(100 * MS, syn_ack, &[]);
    let data = bench.packets().into_iter().find(|(_, packet)| packet.is_data()).expect("data").1;
    (syn.flags & !BARE, answer.flags, data.flags)
}

#[test]
fn a_handshake_grants_what_the_receiver_can() {
    // Section 3.1: the SYN has all three flags. A capable receiver answers (0,1,0), one of RFC 3168 (0,0,1), others nothing.
    // Scalable flows send ECT(1) only with accurate feedback, since RFC 9331 section 4.3 asks for it; others ECT(0).
    for (ecn, capability, answer, data) in [
        (EcnMode::Exact, Capability::Accurate, ACCURATE | CWR, ECT | ECT1),
        (EcnMode::Exact, Capability::Classic, ECE, ECT),
        (EcnMode::Exact, Capability::None, 0, 0),
        (EcnMode::Classic, Capability::Accurate, ACCURATE | CWR, ECT),
        (EcnMode::Classic, Capability::Classic, ECE, ECT),
    ] {
        let mut bench = Bench::idle(asks(ecn), Fake::fixed());
        let mut far = receiver(capability, None, false);
        let expected = (SYN | ACCURATE | ECE | CWR, SYN | answer, data);
        assert_eq!(shake(&mut bench, &mut far), expected, "{ecn:?}, {capability:?}");
    }
}

#[test]
fn a_fall_back_to_classic_ecn_has_its_echo_and_its_episodes() {
    // An algorithm that wants marks alone gets episodes, since only they send CWR.
    let needs = Needs { ecn: Some(EcnMode::Exact), marks_only: true, ..Needs::default() };
    let mut bench = Bench::idle(asks(EcnMode::Exact), Fake { needs, ..Fake::fixed() });
    let mut far = receiver(Capability::Classic, None, true);
    shake(&mut bench, &mut far);
    assert_eq!(only(far.flagged(150 * MS, 0, ECT | CE)).flags, ECE);
    assert_eq!(only(far.flagged(151 * MS, 1, ECT)).flags, ECE);
    bench.flagged(200 * MS, 1, &[], ECE);
    assert_eq!(bench.notes().episodes(CongestionKind::Ecn), 1);
}

#[test]
fn every_ack_carries_the_counter() {
    // From 5: a mark makes 6, and it stays there, without an echo that waits for CWR.
    let mut far = receiver(Capability::Accurate, None, false);
    let mut answers = Vec::new();
    for (i, flags) in [ECT, ECT | CE, ECT, ECT | CE, ECT | CE, ECT | CE].into_iter().enumerate() {
        answers.extend(far.flagged(1000 + i as u64, i as u32, flags));
    }
    // 5, 6, 6, 7, 8 and 9; the last two are 0 and 1 in three bits. Bit 11 says that there is a counter.
    let values: Vec<u16> = ace(&answers).iter().map(|(_, value)| *value).collect();
    assert_eq!(values, [5, 6, 6, 7, 0, 1]);
    assert!(answers.iter().all(|ack| ack.flags & ACCURATE != 0 && ack.flags & (ECE | CWR) == 0));
}

#[test]
fn a_delayed_ack_does_not_wait_for_new_marks() {
    // The first mark after others leaves at once; of a row of marks every second one does.
    let mut far = receiver(Capability::Accurate, Some(40 * MS), false);
    let mut sent = Vec::new();
    for (i, flags) in [ECT, ECT | CE, ECT | CE, ECT | CE, ECT, ECT | CE].into_iter().enumerate() {
        sent.push(far.flagged(1000 + i as u64, i as u32, flags).len());
    }
    assert_eq!(sent, [0, 1, 0, 1, 0, 1]);
}

#[test]
fn the_option_takes_twelve_bytes_and_gives_way_to_sack_blocks() {
    let mut far = receiver(Capability::Accurate, None, true);
    let (plain, holed) = (only(far.flagged(1000, 0, ECT)), only(far.flagged(1001, 2, ECT)));
    let bare = receiver_config().ack_size as u16;
    assert_eq!((plain.size, plain.blocks.len()), (bare + 12, 0));
    assert_eq!((holed.size, holed.blocks.len()), (bare + 4 + 8, 1));
}

#[test]
fn the_sender_counts_marks_whichever_acks_arrive() {
    // Segments 3, 5 and 6 are marked; the ACKs of 0 to 4 and of 6 are lost. The next ones report two marks and one.
    let needs = Needs { marks_only: true, ..Needs::default() };
    let config = SenderConfig { handshake: false, ..asks(EcnMode::Exact) };
    let mut bench = Bench::started(config, Fake { needs, ..Fake::reno() });
    let mut far = receiver(Capability::Accurate, None, false);
    for seq in 0..9u32 {
        let now = 100 * MS + u64::from(seq) * MS;
        let flags = if [3, 5, 6].contains(&seq) { ECT | CE } else { ECT };
        let ack = only(far.flagged(now, seq, flags));
        if seq == 5 || seq > 6 {
            bench.flagged(now, ack.next, &[], ack.flags);
        }
    }
    let marked: Vec<u32> = bench.notes().acks.iter().map(|ack| ack.marked).collect();
    assert_eq!(marked, [2, 1, 0]);
}

#[test]
fn an_algorithm_of_episodes_reduces_once_a_window() {
    let config = SenderConfig { handshake: false, ..asks(EcnMode::Classic) };
    let mut bench = Bench::started(config, Fake::fixed());
    let mut far = receiver(Capability::Accurate, None, false);
    for seq in 0..5u32 {
        let now = 100 * MS + u64::from(seq) * MS;
        let ack = only(far.flagged(now, seq, ECT | CE));
        bench.flagged(now, ack.next, &[], ack.flags);
    }
    assert_eq!(bench.notes().episodes(CongestionKind::Ecn), 1);
}
