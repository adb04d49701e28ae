//! Packets over links, against times and counts worked out by hand.

use cwnd_link::{Codepoint, Counting, Effects, LinkSpec, Loss, QueueLimit, QueueSpec, Rate, Time};
use cwnd_net::{
    Arrival, Delivery, Driver, Host, LinkId, Network, NetworkError, Observer, Output, Packet, Place, Route,
    Settings,
};
use cwnd_scenario::{Jitter, JitterShape};

/// Wire bytes, which also tell packets apart.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bytes(u32);

impl Packet for Bytes {
    fn arrival(&self) -> Arrival {
        Arrival { bytes: self.0, flow: 0, ecn: Codepoint::Ect0, plain_ack: false }
    }

    fn mark(&mut self) {}
}

/// The sizes of packets by what became of them.
#[derive(Default)]
struct Diary {
    dropped: Vec<u32>,
    lost: Vec<u32>,
    copied: Vec<u32>,
}

impl Observer<Bytes> for Diary {
    fn dropped(&mut self, _: u64, _: LinkId, packet: Bytes) {
        self.dropped.push(packet.0);
    }

    fn lost(&mut self, _: u64, _: LinkId, packet: Bytes) {
        self.lost.push(packet.0);
    }

    fn copied(&mut self, _: u64, _: LinkId, copy: &mut Bytes) {
        self.copied.push(copy.0);
    }
}

const MS: u64 = 1_000_000;

/// 8 Mbit/s (a byte a microsecond), 1 ms.
fn link(name: &str, from: usize, to: usize) -> LinkSpec {
    LinkSpec::new(name, from, to, Rate(8_000_000), Time::from_millis(1))
}

fn route(links: &[LinkId]) -> Route {
    Route { from: 0, to: 1, links: links.to_vec() }
}

fn network(links: &[LinkSpec], routes: &[&[LinkId]]) -> Network<Bytes, Diary> {
    let routes = routes.iter().map(|links| route(links)).collect();
    Network::with_observer(links, routes, &Settings::default(), Diary::default()).unwrap()
}

/// Sends a packet after all that happens before.
fn send(net: &mut Network<Bytes, Diary>, out: &mut Vec<(u64, u32)>, at: u64, route: usize, bytes: u32) {
    out.extend(deliveries(net, at - 1));
    net.send(at, route, Bytes(bytes));
}

fn deliveries(net: &mut Network<Bytes, Diary>, until: u64) -> impl Iterator<Item = (u64, u32)> + '_ {
    let delivered = move || net.next_delivery(until);
    std::iter::from_fn(delivered).map(|Delivery { at, packet, .. }| (at, packet.0))
}

/// Lets all come out, and checks that no packet is missing in a link's counts.
fn end(net: &mut Network<Bytes, Diary>, out: &mut Vec<(u64, u32)>) {
    out.extend(deliveries(net, u64::MAX - 1));
    assert_eq!(net.packets().count(), 0);
    for link in 0..net.links() {
        let counts = net.counts(link, 0);
        let gone = counts.dropped + counts.lost + counts.delivered;
        assert_eq!(counts.arrived + counts.copied, gone, "{counts:?}");
    }
}

#[test]
fn a_packet_takes_its_transmission_and_the_delay_of_each_link() {
    let mut net = network(&[link("one", 0, 1), link("two", 1, 2)], &[&[0, 1]]);
    let mut out = Vec::new();
    send(&mut net, &mut out, 5_000, 0, 1000);
    send(&mut net, &mut out, 5_000, 0, 500);
    end(&mut net, &mut out);
    // 1 ms of transmission and 1 ms of delay on each; the second follows in its own time.
    assert_eq!(out, [(4_005_000, 1000), (4_505_000, 500)]);
}

#[test]
fn flows_share_a_link_and_part_after_it() {
    let far = LinkSpec { delay: Time::from_millis(10), ..link("far", 1, 2) };
    let mut net = network(&[link("shared", 0, 1), far], &[&[0], &[0, 1]]);
    let mut out = Vec::new();
    send(&mut net, &mut out, 1, 1, 1000);
    send(&mut net, &mut out, 1, 0, 999);
    end(&mut net, &mut out);
    assert_eq!(out, [(2_999_001, 999), (13_000_001, 1000)]);
}

#[test]
fn a_full_queue_drops_and_counts() {
    let queue = QueueSpec::drop_tail(QueueLimit::Packets(2), Counting::WaitingOnly);
    let mut net = network(&[LinkSpec { queue, ..link("full", 0, 1) }], &[&[0]]);
    let accepted = [1001, 1002, 1003, 1004, 1005].map(|bytes| net.send(0, 0, Bytes(bytes)));
    // Only one node feeds the link: what it drops it drops at once.
    assert_eq!(accepted, [true, true, true, false, false]);
    assert_eq!(net.observer().dropped, [1004, 1005]);
    assert_eq!(net.next_delivery(1_001_000), None);
    let places: Vec<Place> = net.packets().map(|(_, carried)| carried.place).collect();
    assert_eq!(places, [Place::Line { lost: false }, Place::Transmitter, Place::Queue]);
    assert_eq!(net.waiting(0), 1);
    let counts = net.counts(0, 1_001_000);
    assert_eq!((counts.arrived, counts.dropped, counts.max_waiting), (5, 2, 2));
    assert_eq!((counts.waiting_integral, counts.busy_periods), (2 * 1_001_000, 1));
    end(&mut net, &mut Vec::new());
    assert_eq!(net.counts(0, 0).sent_bytes, 1001 + 1002 + 1003);
}

#[test]
fn losses_copies_and_jitter_keep_every_packet_in_the_counts() {
    let jitter = Jitter { shape: JitterShape::Uniform(Time::from_millis(5)), reorders: true };
    let effects = Effects { duplication: 0.1, jitter: Some(jitter), ..Effects::default() };
    let bad = LinkSpec { loss: Loss::Bernoulli(0.1), effects, ..link("bad", 0, 1) };
    let mut net = network(&[bad, link("good", 1, 2)], &[&[0, 1]]);
    let mut out = Vec::new();
    (1..=2000).for_each(|i| send(&mut net, &mut out, i * 300_000, 0, 100 + i as u32 % 700));
    end(&mut net, &mut out);
    let counts = net.counts(0, 0).clone();
    assert!((150..250).contains(&counts.lost), "{counts:?}");
    assert!((130..230).contains(&counts.copied), "{counts:?}");
    let Diary { lost, copied, .. } = net.observer();
    assert_eq!((lost.len() as u64, copied.len() as u64), (counts.lost, counts.copied));
    assert_eq!(out.len() as u64, 2000 - counts.lost + counts.copied);
    assert!(out.is_sorted_by_key(|(at, _)| *at));
    // Some overtook others: their sizes would rise by one from each to the next.
    assert!(out.windows(2).any(|pair| pair[1].1 < pair[0].1 && pair[0].1 - pair[1].1 < 100));
}

#[test]
fn no_packet_comes_before_the_announced_time() {
    let jitter = Jitter { shape: JitterShape::Uniform(Time::from_millis(5)), reorders: true };
    let effects = Effects { duplication: 0.1, jitter: Some(jitter), ..Effects::default() };
    let bad = LinkSpec { loss: Loss::Bernoulli(0.1), effects, ..link("bad", 0, 1) };
    // Packets of the second route come out where those of the first continue.
    let mut net = network(&[bad, link("good", 1, 2)], &[&[0, 1], &[0]]);
    let (mut came, mut announced_later) = (0, 0);
    for i in 1..=2000 {
        let at = i * 600_000;
        while let Some(before) = net.no_delivery_before().filter(|before| *before < at) {
            announced_later += usize::from(before > net.next_event().unwrap());
            assert_eq!(net.next_delivery(before - 1), None);
            came += usize::from(net.next_delivery(before).is_some());
        }
        net.send(at, i as usize % 2, Bytes(100 + i as u32 % 700));
    }
    assert!(came > 1500, "{came}");
    assert!(announced_later > 500, "{announced_later}");
}

#[test]
fn the_first_packet_comes_at_the_announced_time() {
    let mut net = network(&[link("one", 0, 1)], &[&[0]]);
    assert_eq!(net.no_delivery_before(), None);
    net.send(0, 0, Bytes(1000));
    // Its last bit leaves at 1 ms, and is 1 ms on its way.
    assert_eq!((net.next_event(), net.no_delivery_before()), (Some(MS), Some(2 * MS)));
    assert_eq!(net.next_delivery(MS), None);
    assert_eq!((net.next_event(), net.no_delivery_before()), (Some(2 * MS), Some(2 * MS)));
    assert!(net.next_delivery(2 * MS).is_some());
}

#[test]
fn a_changed_delay_changes_the_announced_time() {
    let mut net = network(&[link("one", 0, 1), link("two", 1, 2)], &[&[0, 1]]);
    net.send(0, 0, Bytes(1000));
    // The transmission over the second link is not known before the packet comes to it.
    assert_eq!((net.next_event(), net.no_delivery_before()), (Some(MS), Some(3 * MS)));
    net.set_delay(0, 1, Time::from_millis(5)).unwrap();
    assert_eq!(net.no_delivery_before(), Some(7 * MS));
    assert_eq!(net.next_delivery(7 * MS), None);
    assert_eq!(net.no_delivery_before(), Some(8 * MS));
    assert_eq!(net.next_delivery(8 * MS).map(|delivery| delivery.at), Some(8 * MS));
}

#[test]
fn of_many_events_the_next_is_announced() {
    let jitter = Jitter { shape: JitterShape::Uniform(Time::from_millis(500)), reorders: true };
    let mut net = network(
        &[LinkSpec { effects: Effects { jitter: Some(jitter), ..Effects::default() }, ..link("one", 0, 1) }],
        &[&[0]],
    );
    (0..100).for_each(|_| assert!(net.send(0, 0, Bytes(1000))));
    // Most are on the line, and each of them is an event; the next one is mostly the end of a transmission.
    for at in 90..99 {
        while net.next_delivery(at * MS).is_some() {}
        assert_eq!(net.no_delivery_before(), net.next_event());
    }
}

#[test]
fn a_lost_packet_is_gone_at_the_end_of_the_line() {
    let mut net = network(&[LinkSpec { loss: Loss::Bernoulli(1.0), ..link("lossy", 0, 1) }], &[&[0]]);
    net.send(0, 0, Bytes(1000));
    assert_eq!(net.next_delivery(2 * MS - 1), None);
    assert_eq!(net.packets().map(|(_, carried)| carried.place).next(), Some(Place::Line { lost: true }));
    assert_eq!(net.next_delivery(2 * MS), None);
    assert_eq!((net.packets().count(), net.observer().lost.len()), (0, 1));
}

#[test]
fn a_new_rate_applies_to_the_remaining_bits() {
    let mut net = network(&[link("varying", 0, 1)], &[&[0]]);
    net.send(0, 0, Bytes(1000));
    net.send(0, 0, Bytes(1000));
    assert_eq!(net.next_delivery(MS / 4), None);
    // Three quarters remain, at a quarter of the rate: 3 ms. Then 4 ms for the second.
    net.set_rate(MS / 4, 0, Rate(2_000_000)).unwrap();
    net.set_delay(MS / 4, 0, Time::from_millis(2)).unwrap();
    let mut out = Vec::new();
    end(&mut net, &mut out);
    assert_eq!(out, [(5 * MS + MS / 4, 1000), (9 * MS + MS / 4, 1000)]);
}

/// Sends a packet back for each that it gets, and at the times of its timer.
struct Echo {
    route: usize,
    timers: Vec<u64>,
    heard: Vec<(u64, u32)>,
}

impl Host<Bytes> for Echo {
    fn on_packet(&mut self, now: u64, packet: Bytes, out: &mut dyn Output<Bytes>) {
        self.heard.push((now, packet.0));
        if packet.0 > 100 {
            out.send(self.route, Bytes(packet.0 - 100));
        }
    }

    fn on_timer(&mut self, now: u64, out: &mut dyn Output<Bytes>) {
        self.heard.push((now, 0));
        self.timers.remove(0);
        out.send(self.route, Bytes(300));
    }

    fn next_timer(&self) -> Option<u64> {
        self.timers.first().copied()
    }
}

fn echoes(links: &[LinkSpec], timers: [Vec<u64>; 2]) -> Result<Driver<Bytes, Echo>, NetworkError> {
    let routes = [(0, 1), (1, 0)].map(|(from, to)| Route { from, to, links: vec![from] });
    let network = Network::new(links, routes.to_vec(), &Settings::default())?;
    let hosts = timers.into_iter().enumerate();
    Driver::new(network, hosts.map(|(route, timers)| Echo { route, timers, heard: Vec::new() }).collect())
}

#[test]
fn hosts_respond_and_their_timers_come_after_arrivals_of_the_same_time() {
    // 300 B arrive at 1.3 ms, and the answer of 200 B at 2.5 ms; that of 100 B at 3.6 ms.
    let mut driver = echoes(&[link("there", 0, 1), link("back", 1, 0)], [vec![0], vec![1_300_000]]).unwrap();
    driver.run_until(3_600_000);
    assert_eq!(driver.hosts()[1].heard, [(1_300_000, 300), (1_300_000, 0)]);
    // The answer precedes what the timer sends.
    assert_eq!(driver.hosts()[0].heard, [(0, 0), (2_500_000, 200), (2_800_000, 300)]);
    driver.run_until(3_600_001);
    assert_eq!(driver.hosts()[1].heard.last(), Some(&(3_600_000, 100)));
    // A timer that is set from outside, later than the last event.
    driver.run_until(10 * MS);
    driver.with_host(0, |host, _| host.timers.push(11 * MS));
    driver.run_until(12 * MS);
    assert_eq!(driver.hosts()[0].heard.last(), Some(&(11 * MS, 0)));
}

#[test]
fn networks_without_an_order_are_refused() {
    let instant = |from, to| LinkSpec::new("instant", from, to, Rate::UNLIMITED, Time::ZERO);
    let none = || [Vec::new(), Vec::new()];
    let refused = |links: &[LinkSpec]| echoes(links, none()).err();
    assert_eq!(refused(&[instant(0, 1), instant(1, 0)]), Some(NetworkError::InstantCircle));
    assert_eq!(refused(&[instant(0, 1), link("back", 1, 0)]), None);
    assert_eq!(refused(&[link("there", 0, 1), link("back", 2, 0)]), Some(NetworkError::Host(1)));

    let mut driver = echoes(&[instant(0, 1), link("back", 1, 0)], none()).unwrap();
    let net = driver.network_mut();
    assert_eq!(net.set_delay(0, 1, Time::ZERO), Ok(()));
    assert_eq!(net.set_rate(0, 1, Rate::UNLIMITED), Err(NetworkError::InstantCircle));
    assert_eq!(net.set_delay(0, 0, Time::from_millis(1)), Ok(()));
    assert_eq!(net.set_rate(0, 1, Rate::UNLIMITED), Ok(()));

    let unjoined = [link("one", 0, 1), link("two", 0, 1)];
    for links in [vec![0, 1], vec![], vec![2]] {
        let refused = Network::<Bytes>::new(&unjoined, vec![route(&links)], &Settings::default()).err();
        assert_eq!(refused, Some(NetworkError::Route(0)));
    }
}

/// Packets from two links arrive at a third at one time. The link with the lower number comes first; by turn, the link whose
/// last packet came earlier.
#[test]
fn simultaneous_arrivals_have_a_written_order() {
    let feeder = |from| LinkSpec::new("feeder", from, 2, Rate(8_000_000), Time::from_millis(1));
    let links = [feeder(0), feeder(1), link("shared", 2, 3)];
    let routes = [(0, [0, 2]), (1, [1, 2])];
    let routes = routes.map(|(from, links)| Route { from, to: 2, links: links.to_vec() }).to_vec();
    for (ties_by_turn, expected) in [(false, [101, 100, 110, 111]), (true, [101, 100, 111, 110])] {
        let settings = Settings { ties_by_turn, ..Settings::default() };
        let mut net: Network<Bytes> = Network::new(&links, routes.clone(), &settings).unwrap();
        let mut out = Vec::new();
        // They arrive at 1.101 ms and 1.150 ms, and both at 2.111 ms.
        for (at, route, bytes) in [(0, 1, 101), (50_000, 0, 100), (MS, 1, 111), (MS + 1000, 0, 110)] {
            out.extend(std::iter::from_fn(|| net.next_delivery(at)));
            net.send(at, route, Bytes(bytes));
        }
        out.extend(std::iter::from_fn(|| net.next_delivery(u64::MAX - 1)));
        let sizes: Vec<u32> = out.iter().map(|delivery| delivery.packet.0).collect();
        assert_eq!(sizes, expected, "{ties_by_turn}");
    }
}
