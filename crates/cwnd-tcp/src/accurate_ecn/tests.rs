use super::*;

const PAYLOAD: u32 = 1460;

fn data(flags: u16) -> Packet {
    Packet { flags, ..Packet::default() }
}

fn ack(ace: u16) -> Packet {
    data(ACCURATE | ace << ACE_SHIFT)
}

/// A sender whose receiver has counted `ce_packets` CE packets, and whose ACKs cover one segment each.
fn feedback(ce_packets: u64) -> Feedback {
    Feedback { ce_packets, ..Feedback::default() }
}

fn ace(flags: u16) -> u16 {
    flags >> ACE_SHIFT & 7
}

#[test]
fn all_pairs_of_ends_agree() {
    // Section 3.1.1, table 2: who asks, who answers, and what both use.
    let request = data(SYN | request());
    for (receiver, agreed) in [
        (Capability::Accurate, Grant::Accurate),
        (Capability::Classic, Grant::Classic),
        (Capability::None, Grant::None),
    ] {
        let (grant, flags) = grant(receiver, &request);
        assert_eq!((grant, granted(&data(SYN | flags))), (agreed, agreed));
    }
    // A client that asks for classic ECN gets it from a server that can do more; one without a request gets none.
    assert_eq!(grant(Capability::Accurate, &data(SYN | ECE | CWR)), (Grant::Classic, ECE));
    assert_eq!(grant(Capability::Accurate, &data(SYN)), (Grant::None, 0));
}

#[test]
fn counters_begin_at_five_and_one() {
    let mut counters = Counters::default();
    assert_eq!(ace(counters.report()), 5);
    assert_eq!(counters.option(), EcnOption { ect0: 1, ce: 0, ect1: 1 });
}

#[test]
fn each_codepoint_has_its_counter() {
    let mut counters = Counters::default();
    for (flags, times) in [(0, 1), (ECT, 2), (ECT | ECT1, 3), (ECT | CE, 4), (ECT | ECT1 | CE, 5)] {
        (0..times).for_each(|_| _ = counters.count(&data(flags), 1000));
    }
    assert_eq!(counters.option(), EcnOption { ect0: 2001, ce: 9000, ect1: 3001 });
    // 5 + 9 = 14, modulo 8.
    assert_eq!(ace(counters.report()), 6);
}

#[test]
fn the_options_counters_wrap_at_24_bits() {
    // 11,491 packets of 1,460 bytes are 16,776,860 bytes, 356 under 2^24 = 16,777,216; the next one wraps: 1,460 - 356 = 1,104.
    let (mut counters, mut sender) = (Counters::default(), Feedback::default());
    for n in 0..11_492u64 {
        counters.count(&data(ECT | CE), PAYLOAD);
        let option = counters.option();
        let flags = counters.report();
        assert_eq!(sender.on_ack(&data(flags), Some(&option), 1, PAYLOAD), 1, "packet {n}");
    }
    assert_eq!(counters.option().ce, 1104);
    assert_eq!(sender.bytes[1], 11_492 * u64::from(PAYLOAD));
    assert_eq!(sender.ce_packets, 5 + 11_492);
}

#[test]
fn the_first_mark_and_every_second_one_are_reported_at_once() {
    let mut counters = Counters::default();
    let mut at_once = |flags: u16, leaves: bool| {
        let now = counters.count(&data(flags), 1);
        if now && leaves {
            counters.report();
        }
        now
    };
    assert!(!at_once(ECT, true));
    assert!(at_once(ECT | CE, true));
    assert!(!at_once(ECT | CE, true));
    assert!(at_once(ECT | CE, true));
    assert!(!at_once(ECT, true));
    assert!(at_once(ECT | CE, true));
}

#[test]
fn ace_wraps() {
    // From 5 over 7 and 0 to 1: two, two, and none.
    let mut sender = Feedback::default();
    assert_eq!(sender.on_ack(&ack(7), None, 2, PAYLOAD), 2);
    assert_eq!(sender.on_ack(&ack(1), None, 2, PAYLOAD), 2);
    assert_eq!(sender.on_ack(&ack(1), None, 2, PAYLOAD), 0);
    assert_eq!(sender.ce_packets, 9);
}

#[test]
fn the_examples_of_appendix_a_2_1() {
    // Two marks at least: nine segments can only be two; ten may be ten.
    for (segments, marks) in [(9, 2), (10, 10), (17, 10), (18, 18)] {
        let mut sender = feedback(8);
        assert_eq!(sender.on_ack(&ack(2), None, segments, PAYLOAD), marks, "{segments} segments");
        assert_eq!(sender.ce_packets, 8 + u64::from(marks));
    }
    // Where ACKs cover many segments anyway, the wrap is not assumed.
    let mut thinned = Feedback { segments_per_ack: 4.0, ..feedback(8) };
    assert_eq!(thinned.on_ack(&ack(2), None, 10, PAYLOAD), 2);
}

#[test]
fn the_examples_of_appendix_a_2_2() {
    // (least increment, segments, new bytes of CE, marks): a byte count above that of the least increment excludes it; one that
    // makes segments of the greatest smaller than half a segment excludes that.
    for (least, segments, bytes, marks) in [(0, 8, 1460, 8), (2, 10, 1460, 2), (7, 15, 10_200, 7)] {
        let mut sender = feedback(8);
        let option = EcnOption { ect0: 1, ce: bytes, ect1: 1 };
        assert_eq!(sender.on_ack(&ack(least), Some(&option), segments, PAYLOAD), marks);
    }
    // No bytes at all: no wrap.
    let option = EcnOption { ect0: 11_681, ce: 0, ect1: 1 };
    assert_eq!(feedback(8).on_ack(&ack(0), Some(&option), 8, PAYLOAD), 0);
}

#[test]
fn marks_that_do_not_fit_are_reported_later() {
    // Duplicates were marked: three marks with one segment delivered.
    let mut sender = Feedback::default();
    assert_eq!(sender.on_ack(&ack(0), None, 1, PAYLOAD), 1);
    assert_eq!(sender.on_ack(&ack(0), None, 5, PAYLOAD), 2);
    assert_eq!(sender.on_ack(&ack(0), None, 5, PAYLOAD), 0);
}

#[test]
fn an_ack_without_news_is_ignored() {
    let mut sender = Feedback::default();
    assert_eq!(sender.on_ack(&ack(7), None, 0, PAYLOAD), 0);
    assert_eq!(sender.ce_packets, 5);
    assert_eq!(sender.on_ack(&ack(7), None, 1, PAYLOAD), 1);
}

#[test]
fn lost_acks_lose_no_marks() {
    // Half of the packets are marked, and only every third ACK arrives.
    let (mut counters, mut sender) = (Counters::default(), Feedback::default());
    let (mut pending, mut marked) = (0, 0);
    for n in 0..300 {
        counters.count(&data(if n % 2 == 0 { ECT | CE } else { ECT }), PAYLOAD);
        pending += 1;
        let flags = counters.report();
        if n % 3 == 2 {
            marked += sender.on_ack(&data(flags), None, pending, PAYLOAD);
            pending = 0;
        }
    }
    assert_eq!((marked, sender.ce_packets), (150, 155));
}
