//! What holds for every discipline, over arrivals and departures that no network would make.

use cwnd_link::{
    Arrival, Codepoint, Departure, Limits, Purpose, Queue, QueueDiscipline, QueueVisitor, Stream,
};
use cwnd_scenario::{
    CoDel, Counting, Discipline, DualPi2, FqCoDel, Pie, QueueLimit, QueueSpec, Rate, Red, Time,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Wire bytes of a full packet.
const FULL: u32 = 1500;

#[derive(Clone, Copy, Debug)]
enum Event {
    Arrive {
        flow: u32,
        bytes: u32,
        plain_ack: bool,
    },
    /// What is in transmission has left, and the next is taken.
    Depart,
    /// Time passes, ns.
    Wait(u64),
}

fn event() -> impl Strategy<Value = Event> {
    let bytes = prop_oneof![4 => Just(FULL), 2 => Just(40), 1 => 1..FULL];
    prop_oneof![
        6 => (0u32..5, bytes, any::<bool>())
            .prop_map(|(flow, bytes, plain_ack)| Event::Arrive { flow, bytes, plain_ack }),
        4 => Just(Event::Depart),
        2 => prop_oneof![
            1 => Just(1),
            8 => 0u64..50_000_000,
            2 => 0u64..5_000_000_000,
            1 => Just(u64::MAX / 64)
        ].prop_map(Event::Wait),
    ]
}

/// Disciplines with parameters that let something happen within some hundred packets.
fn discipline() -> impl Strategy<Value = Discipline> {
    let codel = (1u64..20, 1u64..200, any::<bool>()).prop_map(|(target, interval, ecn)| CoDel {
        target: Time::from_millis(target),
        interval: Time::from_millis(interval),
        ecn,
    });
    let red = (0.0f64..10.0, 0.0f64..10.0, 0.01f64..1.0, any::<bool>(), any::<bool>());
    let red = (red, prop_oneof![Just(1.0), 0.001f64..0.5]).prop_map(
        |((min, width, p_max, gentle, ecn), weight)| {
            Discipline::Red(Red { min, max: min + width, p_max, weight, gentle, ecn })
        },
    );
    let fq = (codel.clone(), 1u32..8, 100u32..3000)
        .prop_map(|(codel, queues, quantum)| Discipline::FqCoDel(FqCoDel { queues, quantum, codel }));
    let pie = (1u64..20, 0u64..100, any::<bool>()).prop_map(|(ms, burst, ecn)| {
        let (target, update) = (Time::from_millis(ms), Time::from_millis(21 - ms));
        Discipline::Pie(Pie { target, update, max_burst: Time::from_millis(burst), ecn, ..Pie::default() })
    });
    let dual = (1u64..20, 0.0f64..1.0).prop_map(|(ms, classic_share)| {
        let (target, update) = (Time::from_millis(ms), Time::from_millis(21 - ms));
        Discipline::DualPi2(DualPi2 { target, update, classic_share, ..DualPi2::default() })
    });
    prop_oneof![Just(Discipline::DropTail), red, codel.prop_map(Discipline::CoDel), fq, pie, dual,]
}

fn spec(discipline: impl Strategy<Value = Discipline>) -> impl Strategy<Value = QueueSpec> {
    let limit = prop_oneof![
        3 => (0u32..30).prop_map(QueueLimit::Packets),
        2 => (0u64..30_000).prop_map(QueueLimit::Bytes),
        1 => Just(QueueLimit::Unlimited),
    ];
    let counting = prop_oneof![Just(Counting::WithTransmission), Just(Counting::WaitingOnly)];
    let threshold = prop::option::of(0u32..10);
    (limit, counting, threshold, discipline).prop_map(|(limit, counting, ecn_threshold, discipline)| {
        QueueSpec { limit, counting, ecn_threshold, discipline }
    })
}

/// A flow's packets have the same codepoint, so that they wait in one queue.
fn codepoint(flow: u32) -> Codepoint {
    [Codepoint::NotEct, Codepoint::Ect0, Codepoint::Ect1, Codepoint::Ce][flow as usize % 4]
}

/// What waits, what is in transmission, and what became of every packet.
struct Harness {
    queue: Queue<u64>,
    spec: QueueSpec,
    /// Whether the queue is first asked what leaves plainly.
    plainly: bool,
    now: u64,
    transmitting: Option<u32>,
    /// Flow and bytes of the packets that wait, by number.
    waiting: BTreeMap<u64, (u32, u32)>,
    arrived: u64,
    /// For each flow, the number of its last packet that left.
    last: BTreeMap<u32, u64>,
    left: Vec<(u64, bool)>,
    dropped: Vec<u64>,
}

/// Asks a queue what leaves plainly at a time.
struct Plainly(u64);

impl QueueVisitor<u64> for Plainly {
    type Answer = Option<Departure<u64>>;

    fn visit<D: QueueDiscipline<u64>>(self, queue: &mut D, _limits: &Limits) -> Self::Answer {
        queue.dequeue_plainly(self.0)
    }
}

impl Harness {
    fn new(spec: &QueueSpec, thinning: Option<u32>) -> Harness {
        let stream = Stream::new(1, Purpose::Queue, 0);
        Harness {
            queue: Queue::new(spec, thinning, Rate(10_000_000), FULL, stream),
            spec: *spec,
            plainly: false,
            now: 0,
            transmitting: None,
            waiting: BTreeMap::new(),
            arrived: 0,
            last: BTreeMap::new(),
            left: Vec::new(),
            dropped: Vec::new(),
        }
    }

    fn apply(&mut self, event: Event) {
        let before = self.dropped.len();
        match event {
            Event::Wait(time) => self.now += time,
            Event::Depart => {
                let plainly = if self.plainly { self.queue.visit(Plainly(self.now)) } else { None };
                let departure = plainly.or_else(|| self.queue.dequeue(self.now, &mut self.dropped));
                self.transmitting = departure.map(|departure| departure.bytes);
                self.take_out(before);
                if let Some(departure) = departure {
                    let (flow, bytes) = self.waiting.remove(&departure.packet).expect("it waited");
                    assert_eq!(bytes, departure.bytes);
                    assert!(codepoint(flow).can_be_marked() || !departure.mark);
                    let last = self.last.insert(flow, departure.packet);
                    assert!(last.is_none_or(|last| last < departure.packet), "flow {flow} is reordered");
                    self.left.push((departure.packet, departure.mark));
                } else {
                    assert_eq!(self.waiting.len(), 0);
                }
            }
            Event::Arrive { flow, bytes, plain_ack } => {
                let (number, alone) = (self.arrived, self.waiting.is_empty() && self.transmitting.is_none());
                self.arrived += 1;
                self.waiting.insert(number, (flow, bytes));
                let about = Arrival { bytes, flow, ecn: codepoint(flow), plain_ack };
                self.queue.enqueue(self.now, number, about, self.transmitting, &mut self.dropped);
                self.take_out(before);
                // RED's average may still be high when a link is idle.
                let may_drop = matches!(self.spec.discipline, Discipline::Red(_));
                assert!(!alone || may_drop || self.waiting.len() == 1, "the link was idle");
                self.check_limit();
            }
        }
        assert_eq!(self.queue.waiting(), self.waiting.len());
        assert_eq!(self.queue.waiting_bytes(), self.bytes());
        let mut waiting: Vec<u64> = self.queue.iter().copied().collect();
        waiting.sort_unstable();
        assert!(waiting.iter().eq(self.waiting.keys()));
    }

    fn bytes(&self) -> u64 {
        self.waiting.values().map(|&(_, bytes)| u64::from(bytes)).sum()
    }

    fn take_out(&mut self, from: usize) {
        for number in &self.dropped[from..] {
            assert!(self.waiting.remove(number).is_some(), "{number} was dropped but did not wait");
        }
    }

    fn check_limit(&self) {
        let counts = self.spec.counting == Counting::WithTransmission;
        let transmitting = self.transmitting.filter(|_| counts);
        let packets = self.waiting.len() as u64 + u64::from(transmitting.is_some());
        let bytes = self.bytes() + u64::from(transmitting.unwrap_or(0));
        if self.waiting.is_empty() || self.waiting.len() == 1 && self.transmitting.is_none() {
            return;
        }
        match self.spec.limit {
            QueueLimit::Packets(n) => assert!(packets <= u64::from(n), "{packets} of {n}"),
            QueueLimit::Bytes(n) => assert!(bytes <= n, "{bytes} B of {n} B"),
            QueueLimit::Unlimited => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn packets_are_conserved_ordered_and_within_the_limit(
        spec in spec(discipline()),
        thinning in prop::option::of(2u32..6),
        events in prop::collection::vec(event(), 1..600),
    ) {
        let mut harness = Harness::new(&spec, thinning);
        for event in events {
            harness.apply(event);
        }
        while harness.queue.waiting() > 0 {
            harness.apply(Event::Depart);
        }
        prop_assert_eq!(harness.arrived, (harness.left.len() + harness.dropped.len()) as u64);
        prop_assert_eq!(harness.queue.waiting_bytes(), 0);
    }

    #[test]
    fn the_same_events_give_the_same_fates(
        spec in spec(discipline()),
        events in prop::collection::vec(event(), 1..300),
    ) {
        let (mut one, mut other) = (Harness::new(&spec, None), Harness::new(&spec, None));
        for event in events {
            one.apply(event);
            other.apply(event);
            // Looking at a queue changes nothing, and a copy continues as the original does.
            other.queue = other.queue.clone();
        }
        prop_assert_eq!((one.left, one.dropped), (other.left, other.dropped));
    }

    #[test]
    fn what_leaves_plainly_would_leave(
        spec in spec(discipline()),
        thinning in prop::option::of(2u32..6),
        events in prop::collection::vec(event(), 1..600),
    ) {
        let (mut one, mut other) = (Harness::new(&spec, thinning), Harness::new(&spec, thinning));
        other.plainly = true;
        for event in events {
            one.apply(event);
            other.apply(event);
        }
        prop_assert_eq!((one.left, one.dropped), (other.left, other.dropped));
    }

    #[test]
    fn limits_and_parameters_may_change_while_packets_wait(
        first in spec(discipline()),
        second in spec(discipline()),
        events in prop::collection::vec(event(), 1..300),
    ) {
        let mut harness = Harness::new(&first, None);
        let (before, after) = events.split_at(events.len() / 2);
        before.iter().for_each(|&event| harness.apply(event));
        let waiting = harness.queue.waiting();
        let same = std::mem::discriminant(&first.discipline) == std::mem::discriminant(&second.discipline);
        if harness.queue.set_spec(&second).is_ok() {
            prop_assert!(same);
            harness.spec = second;
            // What waits already may be over the new limit; drops bring it within that or not at all.
            harness.spec.limit = QueueLimit::Unlimited;
        } else {
            prop_assert!(!same || matches!(first.discipline, Discipline::FqCoDel(_)));
        }
        prop_assert_eq!(harness.queue.waiting(), waiting);
        after.iter().for_each(|&event| harness.apply(event));
    }
}

#[test]
fn a_queue_does_not_become_one_of_another_discipline() {
    let spec = |discipline| QueueSpec {
        discipline,
        ..QueueSpec::drop_tail(QueueLimit::Packets(10), Counting::WaitingOnly)
    };
    let new = |discipline| {
        Queue::<u64>::new(&spec(discipline), None, Rate(1_000_000), FULL, Stream::new(1, Purpose::Queue, 0))
    };
    let error = new(Discipline::Red(Red::default())).set_spec(&spec(Discipline::CoDel(CoDel::default())));
    assert_eq!(
        error.unwrap_err().to_string(),
        "the queue is red and cannot become codel while the link is in use; its parameters and its limit can change: give the link a codel queue from the start"
    );
    let other = Discipline::FqCoDel(FqCoDel { queues: 8, ..FqCoDel::default() });
    assert_eq!(
        new(Discipline::FqCoDel(FqCoDel::default())).set_spec(&spec(other)).unwrap_err().to_string(),
        "FQ-CoDel has 1024 queues and cannot have 8 while the link is in use, because packets wait in them: `queues` must stay 1024"
    );
}
