use super::*;
use crate::packet::SackBlocks;
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

/// The engine's runs of plain ACKs take the sizes of packets and ACKs from here, and not from the packets.
#[test]
fn the_template_of_plain_acks_is_the_ack_that_is_sent() {
    let mut receiver = receiver(7, 1, 1);
    let template = Packet { channel: 1, size: 40, flags: BARE, ..Packet::default() };
    assert_eq!(receiver.plain_sizes(), Some((1000, template)));
    let mut acks = Acks::default();
    let packet = Packet { at: 3, sent: 2, seq: 7, size: 1000, ..Packet::default() };
    receiver.on_packet(3, &packet, &mut acks);
    assert_eq!(acks.0, [Packet { at: 3, sent: 2, seq: 8, ..template }]);
    // Segment 8 is missing: the ACK of 9 has a SACK block.
    receiver.on_packet(4, &Packet { seq: 9, ..packet }, &mut acks);
    assert_eq!(receiver.plain_sizes(), None);
}

/// A run of plain packets does what [`Receiver::on_packet`] does with each of them: the same ACKs, the same timer and the same
/// receiver afterwards. Pauses begin quick ACKs, and PSH is acknowledged at once.
#[test]
fn a_run_of_plain_packets_is_those_packets_one_by_one() {
    const MS: u64 = 1_000_000;
    let honest = receiver(0, 1, 1).config;
    let config = ReceiverConfig { linux: true, delayed_ack: Some(40 * MS), ..honest };
    let (mut one_by_one, mut in_runs) = (Receiver::new(config.clone()), Receiver::new(config));
    let (mut now, mut segment) = (0, 0);
    let mut taken = 0;
    for run in 0..200 {
        let (mut expected, mut found) = (Acks::default(), Acks::default());
        let length = 1 + mix(run) % 9;
        let arrivals: Vec<(u64, u32, bool)> = (0..length)
            .map(|i| {
                let draw = mix(1_000 * run + i);
                now += if draw.is_multiple_of(40) { 700 * MS } else { draw % (3 * MS) };
                segment += 1;
                (now, segment - 1, draw >> 32 & 15 == 0)
            })
            .collect();
        let packet = |&(at, seq, push): &(u64, u32, bool)| {
            let flags = if push { PUSH } else { 0 };
            Packet { at, sent: at - 5.min(at), seq, channel: 0, aux: 0, size: 1000, flags }
        };
        for arrival in &arrivals {
            while one_by_one.deadline < arrival.0 {
                one_by_one.on_timer(one_by_one.deadline, &mut expected);
            }
            one_by_one.on_packet(arrival.0, &packet(arrival), &mut expected);
        }
        let mut left = arrivals.iter().map(packet).peekable();
        while left.peek().is_some() {
            if let Some(mut run) = in_runs.delayed_ack_run() {
                let (size, template) = run.sizes();
                assert_eq!(size, 1000);
                while let Some(next) = left.next_if(|next| run.takes(next.at, next.sent, next.seq)) {
                    taken += 1;
                    if let Some((sent, seq)) = run.take(next.at, next.sent, next.is(PUSH)) {
                        found.0.push(Packet { at: next.at, sent, seq, ..template });
                    }
                }
                run.end();
            }
            // What ends a run is a timer that expires first.
            if let Some(next) = left.peek() {
                assert!(in_runs.deadline < next.at);
                in_runs.on_timer(in_runs.deadline, &mut found);
            }
        }
        assert_eq!(found.0, expected.0, "run {run}");
        assert_eq!((in_runs.counts, in_runs.deadline), (one_by_one.counts, one_by_one.deadline), "run {run}");
    }
    assert_eq!((taken, one_by_one.counts.received), (u64::from(segment), u64::from(segment)));
}
