use super::*;
use cwnd_scenario::mix;

/// A receiver that expects segment `next` and holds each of the following segments with a probability of 15/16.
fn receiver(next: u64, length: u64, seed: u64) -> Receiver {
    let mut receiver = Receiver::new(ReceiverConfig {
        channel: 1,
        packet_size: 1000,
        ack_size: 40,
        sack_sizes: (4, 8),
        sack_blocks: 3,
        sack_memory: 8,
        delayed_ack: None,
        ecn: EcnMode::Off,
        timer: TimerWheel::default(),
        paws: false,
        accurate_ecn: false,
        ecn_capability: Capability::default(),
        ecn_option: false,
        data_overhead: 0,
        linux: false,
        growing_window: 0,
        behaviour: cwnd_scenario::ReceiverBehaviour::Honest,
    });
    receiver.next = next;
    for segment in (next + 1..next + length).filter(|segment| !mix(seed ^ segment).is_multiple_of(16)) {
        receiver.hold(segment);
    }
    receiver
}

#[test]
fn held_runs_are_found_as_segment_by_segment() {
    for seed in 0..40 {
        let (next, length) = (mix(seed) % 1000, 1 + mix(seed + 1) % 900);
        let receiver = receiver(next, length, seed);
        for segment in next + 1..next + length + 70 {
            let (mut from, mut to) = (segment, segment);
            while from > next + 1 && receiver.holds(from - 1) {
                from -= 1;
            }
            while receiver.holds(to) {
                to += 1;
            }
            if receiver.holds(segment) {
                assert_eq!(receiver.first_held_before(segment), from, "seed {seed}, segment {segment}");
            }
            assert_eq!(receiver.first_missing_from(segment), to, "seed {seed}, segment {segment}");
        }
    }
}

/// Collects ACKs.
#[derive(Default)]
struct Acks(Vec<Packet>);

impl Emit for Acks {
    fn emit(&mut self, _now: u64, packet: Packet) -> bool {
        self.0.push(packet);
        true
    }

    fn emit_sack(&mut self, _now: u64, packet: Packet, _blocks: &SackBlocks) -> bool {
        self.0.push(packet);
        true
    }
}

/// What a receiver of this behaviour acknowledges when segments 0, 2 and 3 arrive, the last of them marked, and whether it
/// echoes the mark.
fn acknowledged(behaviour: ReceiverBehaviour) -> (Vec<u32>, bool, u64) {
    let honest = receiver(0, 1, 1).config;
    let mut receiver = Receiver::new(ReceiverConfig { behaviour, ecn: EcnMode::Classic, ..honest });
    let mut acks = Acks::default();
    for (at, seq, flags) in [(1, 0, 0), (2, 2, 0), (3, 3, CE)] {
        let packet = Packet { at, sent: at, seq, size: 1000, flags, ..Packet::default() };
        receiver.on_packet(at, &packet, &mut acks);
    }
    let echoes = acks.0.iter().any(|ack| ack.is(ECE));
    (acks.0.iter().map(|ack| ack.seq).collect(), echoes, receiver.counts.marked)
}

#[test]
fn misbehaving_receivers_hide_congestion() {
    assert_eq!(acknowledged(ReceiverBehaviour::Honest), (vec![1, 1, 1], true, 1));
    assert_eq!(acknowledged(ReceiverBehaviour::HideCe), (vec![1, 1, 1], false, 1));
    assert_eq!(acknowledged(ReceiverBehaviour::ConcealLosses), (vec![1, 3, 4], true, 1));
    assert_eq!(acknowledged(ReceiverBehaviour::Optimistic(10)), (vec![11, 13, 14], true, 1));
}
