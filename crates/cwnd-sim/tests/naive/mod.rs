//! A simulator that is as naive as it can be: one heap of events, queues that really hold their packets,
//! and an event for everything that happens to each packet. It is slow and obviously right, and the engine
//! is held against it.
//!
//! What the two share is what knows nothing of engines: the endpoints (`cwnd_sim::tcp`), and from
//! `cwnd-link` the time that a packet takes, the loss models, and the machines of links that are not plain. The
//! queues of plain links are `cwnd_link::Fifo`, which the engine does without.
//!
//! Simultaneous events come in this order, which is also the engine's:
//!
//! 1. Transmissions that end. A packet that leaves a link at `t` is gone for an arrival at `t`; but where the
//!    queue's limit counts the packet in transmission, it still counts for that.
//! 2. Hosts and links, each after all from which something can come to it in no time at all.
//!    - At a host arrivals come first, by the number of the last link that they crossed; then the timers, in
//!      the order of the endpoints (by flow, the sender before the receiver).
//!    - At a link arrivals come by what feeds it: hosts by node number, then links by number. Where turns decide, the
//!      arrival goes first whose source had its turn longest ago; what comes from one source at one time stays together.
//! 3. What is the same in all this is first in, first out.
//!
//! A packet that a host sends is at the host's link at once, within the event that sends it. If others feed
//! that link too, it arrives there like theirs, at the same time but in the order above.

mod outcome;
mod wires;

use cwnd_link::{Purpose, Stream};
use cwnd_scenario::{Effects, EngineError, LinkId, Loss, QueueSpec, Rate, Scenario, Time, Traffic};
use cwnd_sim::host::Endpoint;
use cwnd_sim::{Factory, setup};
use cwnd_tcp::NEVER;
use wires::{Event, Traveller, Wires};

/// A run under way.
pub struct Naive {
    scenario: Scenario,
    /// Of each flow the sender, then the receiver.
    endpoints: Vec<Endpoint>,
    wires: Wires,
    now: u64,
    origin: u64,
    /// Events handled so far.
    handled: u64,
}

impl Naive {
    /// Set up a scenario that has been checked. None if things would happen in no time, round in a circle.
    pub fn new(scenario: &Scenario, factory: Factory<'_>) -> Result<Option<Naive>, EngineError> {
        let (endpoints, origin) = setup::endpoints(scenario, factory)?;
        let mut endpoints: Vec<Endpoint> = endpoints.into_iter().flatten().collect();
        for endpoint in &mut endpoints {
            if let Endpoint::Sender(sender) = endpoint {
                sender.disable_fast_paths();
            }
        }
        let Some(wires) = Wires::new(scenario) else { return Ok(None) };
        let mut naive = Naive { scenario: scenario.clone(), endpoints, wires, now: 0, origin, handled: 0 };
        (0..naive.endpoints.len()).for_each(|endpoint| naive.set_timer(endpoint));
        Ok(Some(naive))
    }

    /// Do all that happens before `time`, and nothing that happens at it or later; but stop earlier when so
    /// many events have been handled since the start: between two times, and not before the scenario's time
    /// zero. Returns whether it came to `time`.
    pub fn run_within(&mut self, time: Time, events: u64) -> bool {
        without_fault(|| self.run(time, events))
    }

    fn run(&mut self, time: Time, events: u64) -> bool {
        let stop = time.0.saturating_add(self.origin);
        let mut last = 0;
        while let Some(at) = self.wires.next_at().filter(|&at| at < stop) {
            if self.handled >= events && at > last && at >= self.origin {
                self.now = self.now.max(at);
                return false;
            }
            last = at;
            let event = self.wires.pop().expect("there is one");
            self.handle(at, event);
        }
        self.now = self.now.max(stop);
        true
    }

    /// When the next event comes, if that is after the scenario's time zero.
    pub fn next_at(&self) -> Option<Time> {
        self.wires.next_at().and_then(|at| at.checked_sub(self.origin)).map(Time)
    }

    /// The link at which the next event happens, if it does at one.
    pub fn next_link(&self) -> Option<LinkId> {
        self.wires.next_link()
    }

    /// How far it has come.
    pub fn now(&self) -> Time {
        Time(self.now.saturating_sub(self.origin))
    }

    /// How many events it has handled.
    pub fn handled(&self) -> u64 {
        self.handled
    }

    fn handle(&mut self, now: u64, event: Event) {
        match event {
            Event::TransmissionEnds { link, transmission } => {
                self.handled += u64::from(self.wires.transmission_ends(now, link, transmission));
            }
            Event::Asks { link } => self.wires.asks(now, link),
            Event::Arrives { packet } => {
                self.handled += 1;
                if let Some(traveller) = self.wires.arrives(now, packet) {
                    self.receive(now, traveller);
                }
            }
            Event::Timer { endpoint } => {
                // Timers move, earlier or later: this one counts if it is still due.
                if self.endpoints[endpoint].deadline() == now {
                    self.handled += 1;
                    self.endpoints[endpoint].on_timer(now, &mut self.wires);
                    self.set_timer(endpoint);
                }
            }
        }
    }

    /// A packet has come to the end of its route: data to the receiver, ACKs to the sender.
    fn receive(&mut self, now: u64, traveller: Traveller) {
        let endpoint = traveller.packet.channel as usize ^ 1;
        match &mut self.endpoints[endpoint] {
            Endpoint::Sender(sender) => {
                sender.on_packet(now, &traveller.packet, traveller.blocks.as_ref(), &mut self.wires);
            }
            Endpoint::Receiver(receiver) => receiver.on_packet(now, &traveller.packet, &mut self.wires),
        }
        self.set_timer(endpoint);
    }

    fn set_timer(&mut self, endpoint: usize) {
        let at = self.endpoints[endpoint].deadline();
        if at != NEVER {
            self.wires.schedule(at, Event::Timer { endpoint });
        }
    }

    /// Change a link's rate: for the bits that remain of the packet in transmission, and for those behind
    /// it. False, and nothing changes, if things would then happen in no time, round in a circle.
    pub fn set_rate(&mut self, link: LinkId, rate: Rate) -> bool {
        let accepted = self.wires.set_rate(self.now, link, rate);
        if accepted {
            self.scenario.network.links[link].rate = rate;
        }
        accepted
    }

    /// Change a link's delay, for packets that leave the transmitter from now on; none overtakes those that
    /// left before. False as for `set_rate`.
    pub fn set_delay(&mut self, link: LinkId, delay: Time) -> bool {
        let accepted = self.wires.set_delay(self.now, link, delay.0);
        if accepted {
            self.scenario.network.links[link].delay = delay;
        }
        accepted
    }

    /// Change what a link loses, for packets whose transmission ends from now on.
    pub fn set_loss(&mut self, link: LinkId, loss: Loss) {
        self.wires.set_loss(link, &loss);
        self.scenario.network.links[link].loss = loss;
    }

    /// Change a link's queue, for packets that arrive from now on. False, and nothing changes, if it is another
    /// discipline.
    pub fn set_queue(&mut self, link: LinkId, queue: QueueSpec) -> bool {
        let accepted = self.wires.set_queue(link, &queue);
        if accepted {
            self.scenario.network.links[link].queue = queue;
        }
        accepted
    }

    /// Change what else a link does. False, and nothing changes, if it cannot do that.
    pub fn set_effects(&mut self, link: LinkId, effects: Effects) -> bool {
        let old = self.scenario.network.links[link].effects;
        let accepted = self.wires.set_effects(link, &old, &effects);
        if accepted {
            self.scenario.network.links[link].effects = effects;
        }
        accepted
    }

    /// Let a flow's application give data in another way, or none.
    pub fn set_traffic(&mut self, flow: usize, traffic: Option<Traffic>) {
        let stream = Stream::new(self.scenario.seed, Purpose::Traffic, flow as u64);
        if let Endpoint::Sender(sender) = &mut self.endpoints[2 * flow] {
            sender.set_traffic(self.now, traffic.as_ref(), stream);
        }
        self.set_timer(2 * flow);
    }

    /// Let a flow send no new data from now on.
    pub fn stop_flow(&mut self, flow: usize) {
        if let Endpoint::Sender(sender) = &mut self.endpoints[2 * flow] {
            sender.stop(self.now);
        }
        self.set_timer(2 * flow);
    }
}

/// The endpoints are the engine's own: a fault in them would be on both sides, so here it is out.
fn without_fault<T>(run: impl FnOnce() -> T) -> T {
    #[cfg(feature = "faults")]
    let fault = cwnd_sim::fault::set(None);
    let done = run();
    #[cfg(feature = "faults")]
    cwnd_sim::fault::set(fault);
    done
}
