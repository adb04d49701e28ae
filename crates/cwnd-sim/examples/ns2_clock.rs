//! The dumbbell of `crates/cwnd-fidelity/data/dumbbell.tcl`, with ns-2's clock in the place of the engine's.
//!
//!     cargo run --release -p cwnd-sim --example ns2_clock -- algorithm=bic buffer=100 starts=0,0,0,0
//!
//! ns-2 keeps time in seconds, as a number in double precision: each event comes so much after the one that
//! schedules it, and each such sum is rounded. So of two packets that come to a queue at the same time in
//! whole nanoseconds one may come 1e-17 s before the other, and which one it is depends on all that came
//! before. Here the endpoints are cwnd's own (`--stack ns2`), and between them a link is what it is in ns-2:
//! two events a packet, one when it has left the transmitter and one when it arrives, at sums of the same
//! terms in the same order, and of events at the same time the one comes first that was scheduled first.
//! What then differs from ns-2 is the endpoints' doing; what differs from the engine is the clock's.
//!
//! Words and result are those of the script: `algorithm` for `module`, `buffer`, `access_buffer`, `duration`, `rate` (`1Gb`),
//! `delay` and `starts` in seconds, `payload`. There are as many flows as starts.

use cwnd_experiment::{Buffer, FlowGroup};
use cwnd_experiment::{ExperimentSpec, LineDelay, OrBottleneck, StackChoice, Topology};
use cwnd_scenario::{AlgorithmSpec, QueueLimit, Rate, Scenario, StackProfile, Time};
use cwnd_sim::host::Endpoint;
use cwnd_sim::{registered, setup};
use cwnd_tcp::packet::{Emit, Packet, SackBlocks};
use cwnd_tcp::{NEVER, SenderCounts};
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};
use std::process::ExitCode;

/// One way.
const DELAY: Time = Time::from_millis(100);
const ACCESS_DELAY: Time = Time::from_millis(1);

fn main() -> ExitCode {
    match scenario(std::env::args().skip(1)).and_then(|scenario| Run::new(&scenario)) {
        Ok(mut run) => {
            println!("result {}", run.counts());
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("ns2_clock: {why}");
            ExitCode::from(2)
        }
    }
}

/// P2's network, with what is said of it.
fn scenario(words: impl Iterator<Item = String>) -> Result<Scenario, String> {
    let mut algorithm = "cubic-2008".to_owned();
    let (mut buffer, mut access_buffer, mut duration, mut payload) = (100, 25, 150, 1000);
    let (mut bottleneck, mut delay) = (Rate(1_000_000_000), DELAY);
    let mut starts = vec![Time::ZERO; 4];
    for word in words {
        let (key, value) =
            word.split_once('=').ok_or_else(|| format!("\"{word}\" is not of the form KEY=VALUE"))?;
        let number = || value.parse::<u32>().map_err(|_| format!("{key} is \"{value}\", which is no count"));
        match key {
            "algorithm" => value.clone_into(&mut algorithm),
            "buffer" => buffer = number()?,
            "access_buffer" => access_buffer = number()?,
            "duration" => duration = number()?,
            "payload" => payload = number()?,
            "rate" => bottleneck = rate(value)?,
            "delay" => delay = seconds(value)?,
            "starts" => starts = value.split(',').map(seconds).collect::<Result<_, _>>()?,
            _ => {
                return Err(format!(
                    "there is no \"{key}\"; there are algorithm, buffer, access_buffer, duration, rate, delay, payload, \
                     starts"
                ));
            }
        }
    }
    let algorithm: AlgorithmSpec = algorithm.parse().map_err(|error| format!("algorithm: {error}"))?;
    let flows: Vec<FlowGroup> = starts
        .into_iter()
        .map(|start| FlowGroup { start: Some(start), ..FlowGroup::new(algorithm.clone(), 1) })
        .collect();
    let setup = ExperimentSpec {
        topology: Topology::Dumbbell,
        rate: bottleneck,
        access_rate: Some(OrBottleneck::Bottleneck),
        delay: LineDelay::OneWay(delay),
        access_delay: Some(ACCESS_DELAY),
        stack: StackChoice {
            profile: StackProfile::Ns2,
            packet_size: Some(payload),
            ..StackChoice::default()
        },
        buffer: Buffer::from(buffer),
        access_buffer: Some(OrBottleneck::Own(Buffer::from(access_buffer))),
        duration: Time::from_secs(duration.into()),
        start_jitter: Some(Time::ZERO),
        send_overhead: Some(Time::ZERO),
        ..ExperimentSpec::default()
    };
    let told = |problems: Vec<cwnd_scenario::Problem>| {
        problems
            .iter()
            .map(|problem| format!("{}: {}", problem.place, problem.message))
            .collect::<Vec<_>>()
            .join("; ")
    };
    setup.scenario(&flows, 1).map_err(told)
}

fn seconds(text: &str) -> Result<Time, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("\"{text}\" is no time in seconds"))?;
    if !(0.0..1e6).contains(&seconds) {
        return Err(format!("a time is {seconds} s; it can be from 0 s to 1,000,000 s"));
    }
    Ok(Time((seconds * 1e9).round() as u64))
}

/// As ns-2 has it.
fn rate(text: &str) -> Result<Rate, String> {
    let units = [("Gb", 1_000_000_000), ("Mb", 1_000_000), ("Kb", 1000)];
    let (number, unit) = units
        .into_iter()
        .find_map(|(unit, bits)| Some((text.strip_suffix(unit)?, bits)))
        .ok_or_else(|| format!("the rate is \"{text}\"; it ends in Gb, Mb or Kb"))?;
    let number: u64 =
        number.parse().map_err(|_| format!("the rate is \"{text}\", and {number} is no count"))?;
    Ok(Rate(number * unit))
}

/// What happens, as a small number: of link i the transmitter has sent a packet and takes the next (2 i), or the
/// first packet on the line is at its end (2 i + 1); from twice the links on, a timer of an endpoint may be due.
type Event = u16;

/// When something happens, and what. First the time in seconds, as the bits of a number in double precision (which have
/// the numbers' order where they are not negative); then how many events were scheduled before; then the event.
type Moment = u128;

fn event_of(moment: Moment) -> Event {
    moment as u16
}

fn seconds_of(moment: Moment) -> f64 {
    f64::from_bits((moment >> 64) as u64)
}

/// A packet between endpoints.
struct Traveller {
    packet: Packet,
    blocks: Option<SackBlocks>,
    /// How many links of its route it has come to.
    leg: usize,
}

/// A queue, a transmitter and a line.
struct Link {
    bits_per_second: f64,
    delay: f64,
    /// Packets, the one in transmission counted.
    limit: usize,
    waiting: VecDeque<Traveller>,
    busy: bool,
    /// What is on its way, in the order in which it arrives. Its first alone is among the events.
    line: VecDeque<(Moment, Traveller)>,
    dropped: u64,
}

/// All that lies between endpoints.
struct Wires {
    /// Seconds.
    now: f64,
    events: BinaryHeap<Reverse<Moment>>,
    scheduled: u64,
    links: Vec<Link>,
    /// Of each channel.
    routes: Vec<Vec<usize>>,
}

impl Wires {
    fn moment(&mut self, at: f64, event: usize) -> Moment {
        self.scheduled += 1;
        u128::from(at.to_bits()) << 64 | u128::from(self.scheduled) << 16 | event as u128
    }

    fn schedule(&mut self, at: f64, event: usize) {
        let moment = self.moment(at, event);
        self.events.push(Reverse(moment));
    }

    /// The first event has happened, and this comes instead. (Both at once are quicker than one after the other.)
    fn replace_first(&mut self, moment: Option<Moment>) {
        match (moment, self.events.peek_mut()) {
            (Some(moment), Some(mut first)) => *first = Reverse(moment),
            (None, Some(first)) => {
                PeekMut::pop(first);
            }
            (_, None) => unreachable!("it is still there"),
        }
    }

    /// A packet comes to a link. False if that drops it.
    fn enqueue(&mut self, number: usize, mut traveller: Traveller) -> bool {
        let link = &mut self.links[number];
        if link.waiting.len() + 1 >= link.limit {
            link.dropped += 1;
            return false;
        }
        traveller.leg += 1;
        link.waiting.push_back(traveller);
        if !link.busy {
            link.busy = true;
            let free = self.transmit_next(number);
            self.events.extend(free.map(Reverse));
        }
        true
    }

    /// The transmitter takes the next packet, if there is one. When it will be free again.
    fn transmit_next(&mut self, number: usize) -> Option<Moment> {
        let link = &mut self.links[number];
        let Some(traveller) = link.waiting.pop_front() else {
            link.busy = false;
            return None;
        };
        let transmission = 8.0 * f64::from(traveller.packet.size) / link.bits_per_second;
        let (arrives, free) = (self.now + (transmission + link.delay), self.now + transmission);
        let first = link.line.is_empty();
        let moment = self.moment(arrives, 2 * number + 1);
        self.links[number].line.push_back((moment, traveller));
        if first {
            self.events.push(Reverse(moment));
        }
        Some(self.moment(free, 2 * number))
    }

    /// What arrives at the end of a link, which is the first event.
    fn take_arrival(&mut self, number: usize) -> Traveller {
        let line = &mut self.links[number].line;
        let (_, traveller) = line.pop_front().expect("it was among the events");
        let next = line.front().map(|&(moment, _)| moment);
        self.replace_first(next);
        traveller
    }

    fn send(&mut self, packet: Packet, blocks: Option<SackBlocks>) -> bool {
        let first = self.routes[packet.channel as usize][0];
        self.enqueue(first, Traveller { packet, blocks, leg: 0 })
    }
}

impl Emit for Wires {
    fn emit(&mut self, _: u64, packet: Packet) -> bool {
        self.send(packet, None)
    }

    fn emit_sack(&mut self, _: u64, packet: Packet, blocks: &SackBlocks) -> bool {
        self.send(packet, Some(*blocks))
    }
}

/// A run.
struct Run {
    /// Of each flow the sender, then the receiver.
    endpoints: Vec<Endpoint>,
    /// For each endpoint, the latest that its timer was set for.
    timers: Vec<u64>,
    wires: Wires,
    /// The endpoints' clock at time zero, nanoseconds.
    origin: u64,
    /// Seconds: when the counts are taken, and when it is read what the senders know to have arrived by then.
    end: f64,
    read: f64,
    /// Links whose drops are counted: the bottleneck, and the senders' own.
    bottleneck: Vec<usize>,
    senders: Vec<usize>,
}

impl Run {
    fn new(scenario: &Scenario) -> Result<Run, String> {
        let (endpoints, origin) =
            setup::endpoints(scenario, &registered).map_err(|error| error.to_string())?;
        let endpoints: Vec<Endpoint> = endpoints.into_iter().flatten().collect();
        let end = scenario.duration.0 as f64 / 1e9;
        let delay =
            scenario.network.links.iter().map(|link| link.delay).max().unwrap_or(DELAY).0 as f64 / 1e9;
        let specs = &scenario.network.links;
        let links = specs.iter().map(|spec| Link {
            bits_per_second: spec.rate.0 as f64,
            delay: spec.delay.0 as f64 / 1e9,
            limit: match spec.queue.limit {
                QueueLimit::Packets(packets) => packets as usize,
                QueueLimit::Bytes(_) | QueueLimit::Unlimited => usize::MAX,
            },
            waiting: VecDeque::new(),
            busy: false,
            line: VecDeque::new(),
            dropped: 0,
        });
        let named =
            |is: &dyn Fn(&str) -> bool| (0..specs.len()).filter(|&link| is(&specs[link].name)).collect();
        let mut run = Run {
            timers: vec![NEVER; endpoints.len()],
            wires: Wires {
                now: 0.0,
                events: BinaryHeap::new(),
                scheduled: 0,
                links: links.collect(),
                routes: scenario
                    .flows
                    .iter()
                    .flat_map(|flow| [flow.route.clone(), flow.ack_route.clone()])
                    .collect(),
            },
            origin,
            end,
            read: end + delay + 2.0 * (ACCESS_DELAY.0 as f64 / 1e9),
            bottleneck: named(&|name| name == "bottleneck"),
            senders: named(&|name| name.starts_with("access-") && !name.ends_with("-reverse")),
            endpoints,
        };
        (0..run.endpoints.len()).for_each(|endpoint| run.set_timer(endpoint));
        Ok(run)
    }

    /// Do all that happens before a time.
    fn run_until(&mut self, end: f64) {
        while let Some(&Reverse(first)) = self.wires.events.peek() {
            let at = seconds_of(first);
            if at >= end {
                return;
            }
            self.wires.now = at;
            let event = usize::from(event_of(first));
            let link = event / 2;
            if link >= self.wires.links.len() {
                self.wires.replace_first(None);
                self.on_timer(event - 2 * self.wires.links.len());
            } else if event.is_multiple_of(2) {
                let free = self.wires.transmit_next(link);
                self.wires.replace_first(free);
            } else {
                let traveller = self.wires.take_arrival(link);
                let route = &self.wires.routes[traveller.packet.channel as usize];
                match route.get(traveller.leg) {
                    Some(&next) => {
                        self.wires.enqueue(next, traveller);
                    }
                    None => self.receive(&traveller),
                }
            }
        }
    }

    /// The endpoints' clock.
    fn clock(&self) -> u64 {
        (self.wires.now * 1e9).round() as u64 + self.origin
    }

    /// A packet is at the end of its route: data at the receiver, an ACK at the sender.
    fn receive(&mut self, traveller: &Traveller) {
        let now = self.clock();
        let endpoint = traveller.packet.channel as usize ^ 1;
        match &mut self.endpoints[endpoint] {
            Endpoint::Sender(sender) => {
                sender.on_packet(now, &traveller.packet, traveller.blocks.as_ref(), &mut self.wires);
            }
            Endpoint::Receiver(receiver) => receiver.on_packet(now, &traveller.packet, &mut self.wires),
        }
        self.set_timer(endpoint);
    }

    /// A timer of an endpoint was set for now. Timers move: it counts if it is still due.
    fn on_timer(&mut self, endpoint: usize) {
        let now = self.clock();
        if self.timers[endpoint] != now {
            return;
        }
        self.timers[endpoint] = NEVER;
        if self.endpoints[endpoint].deadline() == now {
            self.endpoints[endpoint].on_timer(now, &mut self.wires);
        }
        self.set_timer(endpoint);
    }

    /// A timer that has moved to later is set when the earlier one comes.
    fn set_timer(&mut self, endpoint: usize) {
        let deadline = self.endpoints[endpoint].deadline();
        if deadline < self.timers[endpoint] {
            self.timers[endpoint] = deadline;
            let event = 2 * self.wires.links.len() + endpoint;
            self.wires.schedule((deadline - self.origin) as f64 / 1e9, event);
        }
    }

    /// Run, and count as the script does: what a receiver has at the end is what its sender knows a way back later.
    fn counts(&mut self) -> String {
        self.run_until(self.end);
        let senders = || {
            self.endpoints.iter().filter_map(|endpoint| match endpoint {
                Endpoint::Sender(sender) => Some(sender),
                Endpoint::Receiver(_) => None,
            })
        };
        let sum = |of: fn(&SenderCounts) -> u64| senders().map(|sender| of(&sender.counts)).sum::<u64>();
        let dropped = |links: &[usize]| links.iter().map(|&link| self.wires.links[link].dropped).sum::<u64>();
        let counts = format!(
            "sent={} retransmitted={} timeouts={} cuts={} dropped={} dropped_at_senders={}",
            sum(|counts| counts.sent),
            sum(|counts| counts.retransmissions),
            sum(|counts| counts.timeouts),
            sum(|counts| counts.congestion_events),
            dropped(&self.bottleneck),
            dropped(&self.senders)
        );
        self.run_until(self.read);
        let received = self.endpoints.iter().filter_map(|endpoint| match endpoint {
            Endpoint::Sender(sender) => Some(sender.acknowledged().to_string()),
            Endpoint::Receiver(_) => None,
        });
        format!("{counts} flows={}", received.collect::<Vec<_>>().join(","))
    }
}
