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
