use super::super::packet::Tcp;
use super::super::pool::Pool;
use super::*;
use etherparse::{IpNumber, Ipv4Header, TcpHeader, TcpOptionElement};

const FIRST: u32 = u32::MAX - 1999;

fn data(sequence: u32, payload: u32) -> Tcp {
    Tcp { sequence, acknowledgement: 0, payload, syn: false, ack: true, plain_ack: false }
}

/// One flow of 4,000 bytes, whose numbers go round after the second packet of 1,000.
struct Case(Accounts);

impl Case {
    fn new() -> Case {
        let mut accounts = Accounts::new([Some(4000)].into_iter(), 14);
        let syn = Tcp { syn: true, ack: false, ..data(FIRST.wrapping_sub(1), 0) };
        accounts.enters(0, &mut Meta { tcp: Some(syn), ..Meta::default() });
        Case(accounts)
    }

    /// The n-th packet enters.
    fn enters(&mut self, now: u64, n: u32) -> Meta {
        let tcp = Some(data(FIRST.wrapping_add(n * 1000), 1000));
        let mut meta = Meta { length: 1052, tcp, ..Meta::default() };
        self.0.enters(now, &mut meta);
        assert!(meta.data);
        assert_eq!(meta.offset, u64::from(n) * 1000);
        meta
    }

    /// A packet comes out.
    fn out(&mut self, now: u64, meta: &Meta) {
        let mut frame = Pool::new(1500, 1).take();
        frame.meta = *meta;
        self.0.out(now, &frame);
    }

    /// An ACK of the first `n` packets comes out at the sender.
    fn acknowledges(&mut self, now: u64, n: u32) {
        self.acknowledges_bytes(now, n * 1000);
    }

    fn acknowledges_bytes(&mut self, now: u64, bytes: u32) {
        self.acknowledges_selectively(now, bytes, &[]);
    }

    /// With SACK blocks of packets, from a first to a last one.
    fn acknowledges_selectively(&mut self, now: u64, bytes: u32, packets: &[[u32; 2]]) {
        let mut tcp = TcpHeader::new(5001, 40_000, 0, 500);
        (tcp.ack, tcp.acknowledgment_number) = (true, FIRST.wrapping_add(bytes));
        let edge = |n: u32| FIRST.wrapping_add(n * 1000);
        let blocks: Vec<(u32, u32)> = packets.iter().map(|[a, z]| (edge(*a), edge(*z + 1))).collect();
        if let [first, rest @ ..] = &blocks[..] {
            let rest = [0, 1, 2].map(|i| rest.get(i).copied());
            let options = [TcpOptionElement::Noop, TcpOptionElement::Noop];
            let sack = TcpOptionElement::SelectiveAcknowledgement(*first, rest);
            tcp.set_options(&[&options[..], &[sack]].concat()).unwrap();
        }
        let ip = Ipv4Header::new(tcp.header_len_u16(), 64, IpNumber::TCP, [198, 19, 0, 1], [198, 18, 0, 1]);
        let packet = [&ip.unwrap().to_bytes()[..], &tcp.to_bytes()[..]].concat();
        let mut frame = Pool::new(1500, 1).take();
        frame.room()[..packet.len()].copy_from_slice(&packet);
        let tcp = packet::read(&packet).unwrap().tcp;
        frame.meta = Meta { way: 1, length: packet.len() as u32, tcp, ..Meta::default() };
        self.0.out(now, &frame);
    }

    fn counts(&self) -> FlowCounts {
        self.0.counts().remove(0)
    }
}

#[test]
fn counts_what_is_new_and_what_is_not() {
    let mut case = Case::new();
    let packets: Vec<Meta> = (0..4).map(|n| case.enters(0, n)).collect();
    case.0.dropped(&packets[1]);
    case.0.lost(&packets[2]);
    case.out(5, &packets[0]);
    case.out(5, &Meta { ecn: Codepoint::Ce, ..packets[3] });
    assert_eq!(case.counts().bytes_in_order, 1000);
    let again = [case.enters(10, 1), case.enters(10, 2), case.enters(10, 3)];
    for (i, packet) in again.iter().enumerate() {
        case.out(15, packet);
        assert_eq!(case.counts().bytes_in_order, [2000, 4000, 4000][i]);
    }
    let counts = case.counts();
    assert_eq!((counts.packets_sent, counts.retransmissions), (7, 3));
    assert_eq!((counts.packets_received, counts.duplicates), (4, 1));
    assert_eq!(counts.wire_bytes_received, 4 * 1066);
    assert_eq!((counts.packets_dropped, counts.packets_lost, counts.packets_marked), (1, 1, 1));
}

#[test]
fn what_comes_beyond_a_gap_is_joined() {
    let mut account = Account::new(None);
    assert!(account.receives(1000, 2000));
    assert!(!account.receives(1200, 1800));
    assert!(account.receives(3000, 4000));
    assert!(account.receives(1900, 3100));
    assert_eq!(account.counts.bytes_in_order, 0);
    assert!(account.receives(6000, 7000));
    assert!(account.receives(0, 1000));
    assert_eq!(account.counts.bytes_in_order, 4000);
    assert!(!account.receives(0, 4000));
    assert!(account.receives(3000, 6000));
    assert_eq!(account.counts.bytes_in_order, 7000);
}

#[test]
fn round_trips_are_those_of_packets_that_were_sent_once() {
    let mut case = Case::new();
    for n in 0..3 {
        case.enters(100 * u64::from(n), n);
    }
    case.enters(400, 1);
    case.acknowledges(450, 1);
    // One of those that it acknowledges was sent again: no sample.
    case.acknowledges(500, 2);
    case.acknowledges(510, 2);
    case.acknowledges(900, 3);
    let counts = case.counts();
    assert_eq!((counts.rtt_samples, counts.rtt_sum), (2, 450 + 700));
    assert_eq!((counts.rtt_min, counts.rtt_max), (Some(450), Some(700)));
    assert_eq!(counts.acks_received, 4);
    assert_eq!(counts.completed, None);
}

#[test]
fn a_delayed_ack_measures_the_oldest_packet() {
    let mut case = Case::new();
    case.enters(0, 0);
    case.enters(10, 1);
    case.acknowledges(100, 2);
    assert_eq!((case.counts().rtt_samples, case.counts().rtt_sum), (1, 100));
}

#[test]
fn a_packet_is_measured_when_it_is_acknowledged_selectively_and_not_again() {
    let mut case = Case::new();
    for n in 0..4 {
        case.enters(10 * u64::from(n), n);
    }
    // The first is lost.
    case.acknowledges_selectively(100, 0, &[[1, 1]]);
    assert_eq!((case.counts().rtt_samples, case.counts().rtt_sum), (1, 90));
    // Of what this tells, only the third is news, and only the fourth after it.
    case.acknowledges_selectively(115, 0, &[[1, 2]]);
    case.acknowledges_selectively(120, 0, &[[3, 3], [1, 2]]);
    case.acknowledges_selectively(125, 0, &[[1, 3]]);
    assert_eq!((case.counts().rtt_samples, case.counts().rtt_sum), (3, 90 + 95 + 90));
    case.enters(130, 0);
    case.acknowledges(230, 4);
    let counts = case.counts();
    assert_eq!((counts.rtt_samples, counts.rtt_max, counts.acks_received), (3, Some(95), 5));
    assert_eq!(counts.completed, Some(230));
}

#[test]
fn what_is_reported_as_received_twice_is_no_measure() {
    let mut case = Case::new();
    for n in 0..3 {
        case.enters(0, n);
    }
    case.acknowledges(100, 2);
    // RFC 2883: the first block is below what is acknowledged.
    case.acknowledges_selectively(200, 2000, &[[0, 0]]);
    assert_eq!(case.counts().rtt_samples, 1);
}

#[test]
fn a_flow_is_complete_when_all_is_acknowledged() {
    let mut case = Case::new();
    for n in 0..4 {
        case.enters(0, n);
    }
    case.acknowledges(100, 3);
    assert!(!case.0.all_completed());
    // The FIN counts as a byte.
    case.acknowledges_bytes(200, 4001);
    assert_eq!(case.counts().completed, Some(200));
    assert!(case.0.all_completed());
}
