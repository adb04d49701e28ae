//! Frames worked out by hand.

use super::*;
use cwnd_experiment::FlowGroup;
use cwnd_experiment::{ExperimentSpec, StackChoice, Topology};
use cwnd_scenario::{AlgorithmSpec, ByteSize};
use cwnd_tcp::packet::{BARE, ESTABLISHED};

/// Two hosts, 10.0.0.1 and 10.0.0.2, on one line; a receive window of 1,000 packets.
fn scenario(profile: StackProfile, bytes: Option<u64>) -> Scenario {
    let setup = ExperimentSpec {
        topology: Topology::Path,
        stack: StackChoice { profile, receive_window: Some(1000), ..StackChoice::default() },
        bytes: bytes.map(ByteSize),
        ..ExperimentSpec::default()
    };
    let algorithm = AlgorithmSpec { name: "cubic".to_owned(), ..AlgorithmSpec::default() };
    setup.scenario(&[FlowGroup::new(algorithm, 1)], 1).expect("the setup can be met")
}

fn headers(profile: StackProfile) -> Headers {
    Headers::new(&scenario(profile, None), |_| true)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Five milliseconds and a bit.
const SENT: u64 = 5_900_000;

#[test]
fn a_full_segment_of_linux() {
    let packet = Packet { sent: SENT, seq: 3, size: 1514, flags: ECT, ..Packet::default() };
    let frame = headers(StackProfile::Linux).of(&packet, None, [0, 1]);
    assert_eq!(frame.length, 1514);
    let expected = [
        "020000000001020000000000",
        "0800",
        // 1,500 bytes with ECT(0). Its sum: 4502 + 05dc + 4000 + 4006 + 0a00 + 1 + 0a00 + 2 = dee7.
        "450205dc00004000400621180a0000010a000002",
        // Segment 3 begins at 1 + 3 x 1,448 = 4,345. The window of 1,448,000 bytes needs a shift of 5, so that 65,535 is 7ff.
        "c0001389000010f900000001801007ff708a0000",
        // Stamp 5 ms + 1.
        "0101080a0000000600000000",
    ];
    assert_eq!(hex(&frame.bytes), expected.concat());
}

#[test]
fn an_ack_of_linux_with_two_blocks() {
    let (channel, flags) = (1, BARE | SACK | ECE);
    let packet = Packet { sent: SENT, seq: 3, channel, size: 86, flags, ..Packet::default() };
    let blocks = SackBlocks { len: 2, blocks: [(5, 7), (9, 10), (0, 0), (0, 0)], ecn: None };
    let frame = headers(StackProfile::Linux).of(&packet, Some(&blocks), [1, 0]);
    assert_eq!((frame.length, frame.bytes.len()), (86, 86));
    let expected = [
        "020000000000020000000001",
        "0800",
        "450000480000400040 0626ae0a0000020a000001",
        // 1,448,000 >> 5 = 45,250 = b0c2.
        "1389c00000000001000010f9d050b0c2c7a40000",
        "0101080a0000000600000006",
        // 1 + 5 x 1,448 = 7,241, then 10,137, 13,033 and 14,481.
        "0101051200001c490000279900 0032e900003891",
    ];
    assert_eq!(hex(&frame.bytes), expected.concat().replace(' ', ""));
}

#[test]
fn a_handshake_of_linux() {
    let headers = headers(StackProfile::Linux);
    let of = |channel, flags, size| {
        let packet = Packet { sent: SENT, channel, size, flags: BARE | flags, ..Packet::default() };
        let frame = headers.of(&packet, None, [0, 1]);
        assert_eq!((frame.length as usize, frame.bytes.len()), (usize::from(size), usize::from(size)));
        // From the sequence number to the window.
        hex(&frame.bytes[38..50])
    };
    // SYN with ECE and CWR, SYN and ACK with ECE, ACK. Ten words of header with options, eight without.
    assert_eq!(of(0, SYN, 74), "0000000000000000a0c2ffff");
    assert_eq!(of(1, SYN, 74), "0000000000000001a052ffff");
    assert_eq!(of(0, ESTABLISHED, 66), "0000000100000001801007ff");
    let syn = Packet { sent: SENT, size: 74, flags: BARE | SYN, ..Packet::default() };
    // MSS 1,460, SACK permitted, timestamps, shift 5.
    assert_eq!(hex(&headers.of(&syn, None, [0, 1]).bytes[54..]), "020405b40402080a000000060000000001030305");
}

#[test]
fn packets_of_ns2() {
    let headers = headers(StackProfile::Ns2);
    let of = |channel, seq, size, flags| {
        let packet = Packet { sent: SENT, seq, channel, size, flags, ..Packet::default() };
        let frame = headers.of(&packet, None, [0, 1]);
        // IP's length, TCP's numbers, header length and flags, window.
        let parts = [hex(&frame.bytes[2..4]), hex(&frame.bytes[24..36])];
        (frame.length, frame.bytes.len(), parts.join(" "))
    };
    // The first segment is a SYN. Then 1,000 bytes each, in 1,050 on the wire, and 1,040 of IP.
    assert_eq!(of(0, 0, 40, 0), (40, 40, "0028 00000000000000005002ffff".to_owned()));
    assert_eq!(of(0, 1, 1050, 0), (1050, 40, "0410 00000001000000015010ffff".to_owned()));
    assert_eq!(of(0, 2, 1050, 0), (1050, 40, "0410 000003e9000000015010ffff".to_owned()));
    assert_eq!(of(1, 1, 40, BARE), (40, 40, "0028 00000001000000015010ffff".to_owned()));
    assert_eq!(of(1, 3, 40, BARE), (40, 40, "0028 00000001000007d15010ffff".to_owned()));
}

#[test]
fn the_end_of_a_transfer() {
    // 3,000 bytes are two segments of 1,448 and one of 104.
    let headers = Headers::new(&scenario(StackProfile::Linux, Some(3000)), |_| false);
    assert_eq!([0, 1, 2, 3].map(|segment| headers.edge(0, segment)), [1, 1449, 2897, 3001]);
    // In ns-2's 1,000 bytes each, the first of which is the SYN.
    let headers = Headers::new(&scenario(StackProfile::Ns2, Some(3000)), |_| false);
    assert_eq!([0, 1, 2, 3].map(|segment| headers.edge(0, segment)), [0, 1, 1001, 2001]);
}

#[test]
fn sequence_numbers_wrap() {
    let headers = headers(StackProfile::Linux);
    // 1 + 1,448 x 2,966,164 = 4,295,005,473 = 2^32 + 38,177.
    assert_eq!(headers.edge(0, 2_966_164), 38_177);
}

#[test]
fn marks() {
    let of = |flags| codepoint(&Packet { flags, ..Packet::default() }).value();
    assert_eq!([0, ECT, ECT | ECT1, ECT | CE, ECT | ECT1 | CE].map(of), [0, 2, 1, 3, 3]);
}
