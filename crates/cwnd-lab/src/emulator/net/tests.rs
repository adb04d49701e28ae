use super::*;
use cwnd_scenario::{Counting, Effects, Loss, QueueLimit, QueueSpec, Rate, Time};

/// Writes down what becomes of packets: when each came out, by its length.
#[derive(Default)]
struct Diary {
    out: Vec<(u64, u32)>,
    dropped: Vec<u32>,
    lost: Vec<u32>,
    copied: Vec<u32>,
    marked: usize,
}

impl Observer for Diary {
    fn dropped(&mut self, pool: &Pool, slot: Slot) {
        self.dropped.push(pool.meta(slot).length);
    }
    fn lost(&mut self, pool: &Pool, slot: Slot) {
        self.lost.push(pool.meta(slot).length);
    }
    fn copied(&mut self, pool: &Pool, slot: Slot) {
        self.copied.push(pool.meta(slot).length);
    }
    fn out(&mut self, pool: &mut Pool, at: u64, slot: Slot) {
        self.out.push((at, pool.meta(slot).length));
        let header = packet::read(pool.bytes(slot));
        self.marked += usize::from(header.is_some_and(|header| header.ecn == Codepoint::Ce));
        pool.give_back(slot);
    }
}

struct Case {
    net: Net,
    pool: Pool,
    diary: Diary,
    now: u64,
}

/// 8 Mbit/s (a byte a microsecond), 1 ms.
fn link(name: &str) -> LinkSpec {
    LinkSpec::new(name, 0, 1, Rate(8_000_000), Time::from_millis(1))
}

impl Case {
    fn new(links: Vec<LinkSpec>, ways: Vec<Vec<u32>>) -> Case {
        let network = Network { nodes: vec!["a".into(), "b".into()], links, bottleneck: 0 };
        let net = Net::new(&network, ways, 1500, 0, 0, 1);
        Case { net, pool: Pool::new(2048, 0), diary: Diary::default(), now: 0 }
    }

    fn enter(&mut self, at: u64, way: Way, length: u32) {
        assert!(at >= self.now);
        self.now = at;
        self.net.advance(&mut self.pool, at, &mut self.diary);
        let slot = self.pool.take();
        // An IPv4 header that can carry a mark.
        let room = self.pool.room(slot);
        room[..20].fill(0);
        room[0] = 0x45;
        room[1] = 2;
        room[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        let ecn = Codepoint::Ect0;
        *self.pool.meta_mut(slot) =
            super::super::pool::Meta { length, way, ecn, data: true, ..Default::default() };
        self.net.enter(&mut self.pool, at, slot, &mut self.diary);
    }

    /// Let all come out, and hold the counts against each other.
    fn end(&mut self) {
        self.net.advance(&mut self.pool, u64::MAX - 1, &mut self.diary);
        assert_eq!((self.pool.used(), self.net.packets().count()), (0, 0));
        for link in 0..self.net.links() {
            let counts = self.net.counts(link, self.now);
            let gone = counts.dropped + counts.lost + counts.delivered;
            assert_eq!(counts.arrived + counts.copied, gone, "{counts:?}");
        }
    }
}

#[test]
fn a_packet_takes_its_transmission_and_the_delay_of_each_link() {
    let mut case = Case::new(vec![link("one"), link("two")], vec![vec![0, 1]]);
    case.enter(5_000, 0, 1000);
    case.enter(5_000, 0, 500);
    case.end();
    // 1 ms of transmission and 1 ms of delay on each; the second follows in its own time.
    assert_eq!(case.diary.out, [(4_005_000, 1000), (4_505_000, 500)]);
}

#[test]
fn flows_share_a_link_and_part_after_it() {
    let mut slow = link("far");
    slow.delay = Time::from_millis(10);
    let mut case = Case::new(vec![link("shared"), slow], vec![vec![0], vec![], vec![0, 1]]);
    case.enter(0, 2, 1000);
    case.enter(0, 0, 999);
    case.end();
    assert_eq!(case.diary.out, [(1_999_000 + 1_000_000, 999), (13_000_000, 1000)]);
    // A way without links takes no time.
    case.enter(case.now, 1, 7);
    assert_eq!(case.diary.out.last(), Some(&(case.now, 7)));
}

#[test]
fn a_full_queue_drops_and_counts() {
    let mut full = link("full");
    full.queue = QueueSpec::drop_tail(QueueLimit::Packets(2), Counting::WaitingOnly);
    let mut case = Case::new(vec![full], vec![vec![0]]);
    (1..=5).for_each(|length| case.enter(0, 0, 1000 + length));
    assert_eq!(case.diary.dropped, [1004, 1005]);
    case.now = 1_001_000;
    case.net.advance(&mut case.pool, 1_001_000, &mut case.diary);
    let counts = case.net.counts(0, 1_001_000);
    assert_eq!((counts.arrived, counts.dropped, counts.max_waiting), (5, 2, 2));
    assert_eq!(counts.waiting_integral, 2 * 1_001_000);
    assert_eq!(case.net.waiting(0), 1);
    case.end();
    assert_eq!(case.net.counts(0, case.now).sent_bytes, 1001 + 1002 + 1003);
}

#[test]
fn marks_are_written_into_packets() {
    let mut marking = link("marking");
    marking.queue.ecn_threshold = Some(1);
    let mut case = Case::new(vec![marking], vec![vec![0]]);
    (0..6).for_each(|_| case.enter(0, 0, 1000));
    case.end();
    let marked = case.net.counts(0, 0).marked as usize;
    assert!(marked >= 3 && case.diary.marked == marked, "{marked} {}", case.diary.marked);
}

#[test]
fn losses_copies_and_jitter_keep_every_packet_in_the_accounts() {
    let mut bad = link("bad");
    bad.loss = Loss::Bernoulli(0.1);
    bad.effects = Effects {
        duplication: 0.1,
        jitter: Some(cwnd_scenario::Jitter {
            shape: cwnd_scenario::JitterShape::Uniform(Time::from_millis(5)),
            reorders: true,
        }),
        ..Effects::default()
    };
    let mut case = Case::new(vec![bad, link("good")], vec![vec![0, 1]]);
    (0..2000).for_each(|i| case.enter(i * 300_000, 0, 100 + i as u32 % 700));
    case.end();
    let counts = case.net.counts(0, case.now);
    assert!((150..250).contains(&counts.lost), "{counts:?}");
    assert!((130..230).contains(&counts.copied), "{counts:?}");
    assert_eq!(
        (case.diary.lost.len(), case.diary.copied.len()),
        (counts.lost as usize, counts.copied as usize)
    );
    assert_eq!(case.diary.out.len() as u64, 2000 - counts.lost + counts.copied);
    assert!(case.diary.out.is_sorted_by_key(|(at, _)| *at));
}

#[test]
fn what_the_bottleneck_sent_says_when_and_after_what() {
    struct Sents(Vec<(u64, u64, u32)>);
    impl Observer for Sents {
        fn dropped(&mut self, _: &Pool, _: Slot) {}
        fn lost(&mut self, _: &Pool, _: Slot) {}
        fn copied(&mut self, _: &Pool, _: Slot) {}
        fn out(&mut self, pool: &mut Pool, _: u64, slot: Slot) {
            let sent = pool.meta(slot).sent.unwrap();
            self.0.push((sent.at, sent.bytes, sent.rests));
        }
    }
    let mut case = Case::new(vec![link("bottleneck")], vec![vec![0]]);
    let mut sents = Sents(Vec::new());
    for at in [0, 0, 5_000_000] {
        case.net.advance(&mut case.pool, at, &mut sents);
        let slot = case.pool.take();
        *case.pool.meta_mut(slot) = super::super::pool::Meta { length: 1000, ..Default::default() };
        case.net.enter(&mut case.pool, at, slot, &mut sents);
    }
    case.net.advance(&mut case.pool, 100_000_000, &mut sents);
    assert_eq!(sents.0, [(1_000_000, 1000, 1), (2_000_000, 2000, 1), (6_000_000, 3000, 2)]);
}
