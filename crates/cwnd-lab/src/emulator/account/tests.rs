use super::super::packet::Tcp;
use super::*;

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

    /// An ACK of the first `n` packets comes out at the sender.
    fn acknowledges(&mut self, now: u64, n: u32) {
        self.acknowledges_bytes(now, n * 1000);
    }

    fn acknowledges_bytes(&mut self, now: u64, bytes: u32) {
        let tcp = Tcp { acknowledgement: FIRST.wrapping_add(bytes), ..data(0, 0) };
        self.0.out(now, &Meta { way: 1, length: 52, tcp: Some(tcp), ..Meta::default() });
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
    case.0.out(5, &packets[0]);
    case.0.out(5, &Meta { ecn: Codepoint::Ce, ..packets[3] });
    assert_eq!(case.counts().bytes_in_order, 1000);
    let again = [case.enters(10, 1), case.enters(10, 2), case.enters(10, 3)];
    for (i, packet) in again.iter().enumerate() {
        case.0.out(15, packet);
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
    assert_eq!(account.ahead, BTreeMap::from([(1000, 4000)]));
    assert!(account.receives(6000, 7000));
    assert!(account.receives(0, 1000));
    assert_eq!(account.counts.bytes_in_order, 4000);
    assert!(!account.receives(0, 4000));
    assert!(account.receives(3000, 6000));
    assert_eq!(account.counts.bytes_in_order, 7000);
    assert!(account.ahead.is_empty());
}

#[test]
fn round_trips_are_those_of_packets_that_were_sent_once() {
    let mut case = Case::new();
    for n in 0..3 {
        case.enters(100 * u64::from(n), n);
    }
    case.enters(400, 1);
    case.acknowledges(450, 1);
    // The latest that it acknowledges was sent again: no sample.
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
