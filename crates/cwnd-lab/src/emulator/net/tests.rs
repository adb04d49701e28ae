use super::*;
use crate::emulator::packet;
use crate::ends::ETHERNET;
use cwnd_link::{Codepoint, Counting, Loss, QueueLimit, QueueSpec, Rate, Time};
use cwnd_net::Delivery;

/// Packets that there is memory for at first: more than any test sends.
const PACKETS: usize = 2500;

struct Case {
    net: Net,
    out: Vec<Delivery<Frame>>,
}

/// 8 Mbit/s (a byte a microsecond), 1 ms.
fn link(name: &str) -> LinkSpec {
    LinkSpec::new(name, 0, 1, Rate(8_000_000), Time::from_millis(1))
}

impl Case {
    /// A single flow over a link, and back over none that matters.
    fn new(link: LinkSpec) -> Case {
        let back = LinkSpec::new("back", 1, 0, Rate::UNLIMITED, Time::ZERO);
        let inside = Inside {
            accounts: Accounts::new([None].into_iter(), ETHERNET),
            pool: Pool::new(2048, PACKETS),
            bottleneck: 0,
        };
        let net = network(&[link, back], vec![vec![0], vec![1]], &Settings::default(), inside).unwrap();
        Case { net, out: Vec::new() }
    }

    fn advance(&mut self, now: u64) {
        self.out.extend(std::iter::from_fn(|| self.net.next_delivery(now)));
    }

    /// Sends a data packet of this many wire bytes that can carry a mark.
    fn send(&mut self, at: u64, bytes: u32) {
        self.advance(at);
        let mut frame = self.net.observer_mut().pool.take();
        let length = bytes - ETHERNET;
        let room = frame.room();
        room[..20].fill(0);
        room[0] = 0x45;
        room[1] = 2;
        room[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        frame.meta = Meta { length, ecn: Codepoint::Ect0, data: true, ..Meta::default() };
        self.net.send(at, 0, frame);
    }

    /// Lets all come out, and checks that all memory comes back.
    fn end(&mut self) {
        self.advance(u64::MAX - 1);
        assert_eq!(self.net.packets().count(), 0);
        let copied = self.net.counts(0, 0).copied as usize;
        let free = self.net.observer().pool.free();
        assert_eq!(free + self.out.len(), PACKETS + copied);
    }
}

#[test]
fn marks_are_written_into_packets() {
    let mut marking = link("marking");
    marking.queue.ecn_threshold = Some(1);
    let mut case = Case::new(marking);
    (0..6).for_each(|_| case.send(0, 1000));
    case.end();
    let is_marked = |out: &&Delivery<Frame>| {
        packet::read(out.packet.bytes()).is_some_and(|header| header.ecn == Codepoint::Ce)
    };
    // The first is in transmission; the second and the third find none and one waiting.
    assert_eq!(case.net.counts(0, 0).marked, 3);
    assert_eq!(case.out.iter().filter(is_marked).count(), 3);
}

#[test]
fn dropped_lost_and_copied_packets_are_in_the_accounts_of_their_flow() {
    let mut bad = link("bad");
    bad.queue = QueueSpec::drop_tail(QueueLimit::Packets(5), Counting::WaitingOnly);
    bad.loss = Loss::Bernoulli(0.1);
    bad.effects.duplication = 0.1;
    let mut case = Case::new(bad);
    (0..2000).for_each(|i| case.send(i * 300_000, 100 + i as u32 % 700));
    case.end();
    let flow = &case.net.observer().accounts.counts()[0];
    let of_flow = (flow.packets_dropped, flow.packets_lost, flow.packets_copied);
    let link = case.net.counts(0, 0);
    assert_eq!(of_flow, (link.dropped, link.lost, link.copied));
    assert!(link.dropped > 100 && link.lost > 100 && link.copied > 100, "{link:?}");
}

#[test]
fn what_the_bottleneck_sent_says_when_and_after_what() {
    let mut case = Case::new(link("bottleneck"));
    [0, 0, 5_000_000].into_iter().for_each(|at| case.send(at, 1000));
    case.end();
    let sent = |out: &Delivery<Frame>| out.packet.meta.sent.unwrap();
    let expected = [(1_000_000, 1000, 1), (2_000_000, 2000, 1), (6_000_000, 3000, 2)];
    let expected = expected.map(|(at, bytes, busy_periods)| Sent { at, bytes, busy_periods });
    assert!(case.out.iter().map(sent).eq(expected));
}

#[test]
fn progress_counts_the_links_that_have_sent_a_packet() {
    let mut losing = link("losing");
    losing.loss = Loss::Bernoulli(1.0);
    for (link, on_line) in [(link("good"), 1), (losing, 0)] {
        let mut case = Case::new(link);
        (0..3).for_each(|_| case.send(0, 1000));
        // One is on the line, one in transmission, and one waits.
        case.advance(1_500_000);
        let crossed = |begun| progress(&case.net, begun).map(|(_, links)| links).sum::<usize>();
        assert_eq!((crossed(false), crossed(true)), (on_line, on_line + 1));
    }
}
