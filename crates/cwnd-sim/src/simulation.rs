//! The engine: stages with frontiers, and no event queue.
//!
//! A stage (a host with its links, or a link that merges several inputs) has handled all events before
//! the time `done[stage]`. Nothing that it does from then on can reach a stage that waits for it before
//! `done[stage] + least latency`, so that stage may handle everything before the least of these over all
//! it waits for. Going round the stages moves the times on until all have come to the one asked for.

mod changes;

use crate::factory::Factory;
use crate::fault::{self, Fault};
use crate::graph::{self, Graph};
use crate::host::{Endpoint, Host};
use crate::link::Link;
use crate::merge::{Merge, Turn};
use crate::merging;
use crate::net::{Fate, Net};
use crate::online;
use crate::opening::Opening;
use crate::setup;
use crate::shortcut::{self, Echo};
use crate::watch::{End, Nobody, Point, Watch, Watcher};
use cwnd_cc::State;
use cwnd_scenario::{EngineError, LinkId, SampleState, Scenario, Time};
use cwnd_tcp::Sender;

/// A simulation under way.
///
/// [`Simulation::run_until`] does all that happens before a time and nothing that happens at it or later.
/// In between, the state can be looked at and the network changed; a change comes before whatever happens
/// at its time. However a run is split, its outcome is the same to the bit.
///
/// ```
/// use cwnd_scenario::build::Setup;
/// use cwnd_scenario::{AlgorithmSpec, FlowGroup, Rate, Time};
/// use cwnd_sim::Simulation;
///
/// // Two CUBIC flows over 100 Mbit/s; all else as `Setup` has it.
/// let cubic = AlgorithmSpec { name: "cubic".into(), ..AlgorithmSpec::default() };
/// let setup = Setup { rate: Rate(100_000_000), ..Setup::default() };
/// let scenario = setup.scenario(&[FlowGroup::new(cubic, 2)], 1).expect("a network that can be built");
///
/// let mut simulation = Simulation::new(&scenario)?;
/// simulation.run_until(Time::from_secs(10));
/// let before = simulation.flow(0).delivered_bytes;
///
/// // The bottleneck loses nine tenths of its rate.
/// let bottleneck = scenario.network.bottleneck;
/// simulation.set_rate(bottleneck, Rate(10_000_000)).expect("the network stays a possible one");
/// simulation.run_until(Time::from_secs(20));
/// assert!(simulation.flow(0).delivered_bytes - before < before);
/// assert!(simulation.queue_length(bottleneck) > 0);
/// assert_eq!(simulation.outcome().end, Time::from_secs(20));
/// # Ok::<(), cwnd_scenario::EngineError>(())
/// ```
pub struct Simulation {
    pub(crate) scenario: Scenario,
    pub(crate) net: Net,
    pub(crate) hosts: Vec<Host>,
    pub(crate) graph: Graph,
    /// For each channel, which endpoint of its host receives it.
    local: Vec<u32>,
    /// For each flow: the host (an index into `hosts`) and endpoint of its sender, and of its receiver.
    pub(crate) places: Vec<[(usize, usize); 2]>,
    /// The time before which each stage has handled everything.
    done: Vec<u64>,
    /// What each stage still causes looks from outside as if it happened then or later: `done`, or later at a link
    /// that knows when its next packet leaves.
    quiet: Vec<u64>,
    now: u64,
    /// The engine's clock at the scenario's time zero: handshakes may come before it.
    pub(crate) origin: u64,
    /// For each link, the waiting times that had been added up at the scenario's time zero, ns; empty until it has come.
    waited_before_zero: Vec<u128>,
    merge: Merge,
    /// For each ring, the shortcut that may stand for it.
    echoes: Vec<Echo>,
    /// Shortcuts that only hold while no flow begins.
    opening: Opening,
    /// What is watched, if anything is.
    watch: Option<Box<Watch>>,
    /// Whether senders are.
    senders_watched: bool,
    /// How far the hosts go in one round, ns: long enough to keep a stage busy, short enough for the caches.
    window: u64,
    smallest_packet: u32,
}

/// A flow, looked at from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowState {
    /// Congestion window, segments.
    pub cwnd: f64,
    /// Slow-start threshold, segments; infinite if not set.
    pub ssthresh: f64,
    /// Rate at which packets are spaced, bytes a second; infinite if they are not.
    pub pacing_rate: f64,
    /// Smoothed round-trip time; none before the first sample.
    pub srtt: Option<Time>,
    /// Segments in flight.
    pub in_flight: u64,
    /// Payload bytes acknowledged.
    pub delivered_bytes: u64,
    /// State of loss recovery.
    pub state: SampleState,
    /// Data packets sent, and retransmissions among them.
    pub sent: (u64, u64),
}

impl Simulation {
    /// Set up a scenario with the registered algorithms. It is checked first.
    pub fn new(scenario: &Scenario) -> Result<Self, EngineError> {
        Simulation::with_factory(scenario, &crate::factory::registered)
    }

    /// Set up a scenario with algorithms from elsewhere.
    pub fn with_factory(scenario: &Scenario, factory: Factory<'_>) -> Result<Self, EngineError> {
        Simulation::watching(scenario, factory, &[])
    }

    /// Set up a scenario in which packets are watched at these points (see [`Simulation::run_watched`]). That changes
    /// nothing of what happens.
    ///
    /// # Panics
    /// If there is no such link, or a point stands there twice.
    pub fn watching(
        scenario: &Scenario,
        factory: Factory<'_>,
        points: &[Point],
    ) -> Result<Self, EngineError> {
        for (i, point) in points.iter().enumerate() {
            assert!(point.link < scenario.network.links.len(), "there is no link {}", point.link);
            assert!(!points[..i].contains(point), "{point:?} is watched twice");
        }
        crate::check::check_with(scenario, factory).map_err(EngineError::Refused)?;
        let links = setup::links(scenario);
        let mut net = Net { links, fates: vec![Fate::default(); 2 * scenario.flows.len()], ..Net::default() };
        let smallest_packet = setup::smallest_packet(scenario);
        let mut graph = graph::build(scenario, &mut net, smallest_packet, points);
        if let Some(cycle) = graph::instant_cycle(&graph.waits) {
            return Err(EngineError::Refused(vec![setup::instant_cycle_problem(scenario, &graph, &cycle)]));
        }
        let (endpoints, origin) = setup::endpoints(scenario, factory)?;
        let mut per_host: Vec<Vec<Endpoint>> = graph.hosts.iter().map(|_| Vec::new()).collect();
        let mut local = vec![0; 2 * scenario.flows.len()];
        let mut channels = vec![0; graph.hosts.len()];
        let mut places = Vec::with_capacity(scenario.flows.len());
        for (flow, [sender, receiver]) in scenario.flows.iter().zip(endpoints) {
            let channel = 2 * places.len();
            let first = scenario.network.links[flow.route[0]].from;
            let last = scenario.network.links[flow.ack_route[0]].from;
            let mut place = |node, endpoint, channel: usize| {
                let host = graph.hosts.binary_search(&node).expect("flows end on hosts");
                per_host[host].push(endpoint);
                local[channel] = (per_host[host].len() - 1) as u32;
                channels[host] = channel as u32 ^ 1;
                (host, per_host[host].len() - 1)
            };
            // ACKs come to the sender, data to the receiver.
            places.push([place(first, sender, channel + 1), place(last, receiver, channel)]);
        }
        let hosts: Vec<Host> = per_host
            .into_iter()
            .zip(&mut graph.inlets)
            .zip(channels)
            .map(|((endpoints, inlets), channel)| Host::new(endpoints, std::mem::take(inlets), channel, &net))
            .collect();
        let stages = graph.waits.len();
        net.owner = graph.owners(net.rings.len(), &hosts);
        net.turns = vec![Turn::default(); net.rings.len()];
        net.wake = vec![0; hosts.len() + 1];
        net.wake[hosts.len()] = u64::MAX;
        let (mut echoes, transparent) = shortcut::find(scenario, &graph, &mut net, &hosts);
        let opening = if scenario.stack.first_packet.is_some() && !fault::is(Fault::OpensTooEarly) {
            Opening::new(transparent, scenario.flows.len())
        } else {
            shortcut::open(&transparent, &mut echoes, &mut net);
            Opening::new(Vec::new(), 0)
        };
        let watch = (!points.is_empty()).then(|| Box::new(Watch::new(points)));
        let mut simulation = Simulation {
            scenario: scenario.clone(),
            net,
            hosts,
            graph,
            local,
            places,
            done: vec![0; stages],
            quiet: vec![0; stages],
            now: 0,
            origin,
            waited_before_zero: Vec::new(),
            merge: Merge::new(scenario.ties),
            echoes,
            opening,
            watch,
            senders_watched: false,
            window: 1_000_000,
            smallest_packet,
        };
        if simulation.watch.is_some() {
            simulation.end_shortcuts();
        }
        Ok(simulation)
    }

    /// The time up to which everything has happened.
    pub fn now(&self) -> Time {
        Time(self.now.saturating_sub(self.origin))
    }

    /// Do all that happens before `time`, and nothing that happens at it or later. A time that has passed
    /// does nothing.
    pub fn run_until(&mut self, time: Time) {
        self.run_watched(time, &mut Nobody);
    }

    /// The same, and tell of the packets that pass what is watched, as soon as their fate is known. What passes in
    /// [`Simulation::run_until`] nobody hears of.
    pub fn run_watched(&mut self, time: Time, watcher: &mut dyn Watcher) {
        let stop = time.0.saturating_add(self.origin) + u64::from(fault::is(Fault::PastTheStop));
        if stop <= self.now {
            return;
        }
        while self.opening.at() < stop {
            let until = self.opening.at().max(self.now);
            self.do_all_before(until, watcher);
            self.look_at_opening(until);
        }
        self.do_all_before(stop, watcher);
        for host in self.hosts.iter().filter(|_| !fault::is(Fault::InletNotSettled)) {
            host.settle(&mut self.net, stop);
        }
        self.net.count_late_losses();
    }

    /// Watch all senders, too: [`Simulation::run_watched`] reports each event that may change a sender's state. It is for
    /// a simulation that has not begun, and changes nothing of what happens.
    pub fn watch_senders(&mut self) {
        self.senders_watched = true;
        for host in &mut self.hosts {
            for endpoint in &mut host.endpoints {
                if let Endpoint::Sender(sender) = endpoint {
                    sender.enable_event_log();
                }
            }
        }
    }

    /// Tell of the packets that have passed what is watched and wait in a queue that may still drop them. (After this
    /// they are not told of again, whatever happens.)
    pub fn end_watch(&mut self, watcher: &mut dyn Watcher) {
        if let Some(watch) = &mut self.watch {
            watch.tell_rest(self.origin, watcher);
        }
    }

    fn do_all_before(&mut self, stop: u64, watcher: &mut dyn Watcher) {
        if self.waited_before_zero.is_empty() && stop > self.origin {
            self.go_on_until(self.origin, watcher);
            let waited = self.net.links.iter().map(|link| link.waited(self.origin));
            self.waited_before_zero = waited.collect();
        }
        self.go_on_until(stop, watcher);
    }

    fn go_on_until(&mut self, stop: u64, watcher: &mut dyn Watcher) {
        if stop <= self.now {
            return;
        }
        while stop > self.now && self.go_round(stop) < stop {
            self.tell(watcher);
        }
        self.tell(watcher);
        self.now = stop;
    }

    /// Tell of what has happened to senders before a time that all hosts have come to.
    fn tell_of_senders(&mut self, watcher: &mut dyn Watcher) {
        let until = self.done[..self.hosts.len()].iter().copied().min().unwrap_or(0);
        let mut events = Vec::new();
        for (flow, [(host, endpoint), _]) in self.places.iter().enumerate() {
            let Endpoint::Sender(sender) = &mut self.hosts[*host].endpoints[*endpoint] else { continue };
            events.extend(std::iter::from_fn(|| Some((flow, sender.take_event(until)?))));
        }
        events.sort_by_key(|(flow, event)| (event.at, *flow));
        for (flow, event) in &events {
            watcher.sees_sender(*flow, event.at as i64 - self.origin as i64, event);
        }
    }

    /// Tell of what is known of senders, and of packets that have passed what is watched.
    fn tell(&mut self, watcher: &mut dyn Watcher) {
        if self.senders_watched {
            self.tell_of_senders(watcher);
        }
        let Some(watch) = &mut self.watch else { return };
        let (graph, done) = (&self.graph, &self.done);
        let is_crossed = |link: LinkId| graph.links.binary_search(&link).is_ok();
        let handled = |tap: usize, point: &Point| match point.end {
            End::Enter if is_crossed(point.link) => done[graph.stage_of(point.link)],
            _ => done[graph.tap_stage(tap)],
        };
        watch.tell(handled, &self.net, self.origin, watcher);
    }

    fn look_at_opening(&mut self, now: u64) {
        let (hosts, places) = (&self.hosts, &self.places);
        let sender = |flow: usize| sender_at(hosts, places[flow][0]);
        self.opening.look(now, &mut self.net, &mut self.echoes, sender);
    }

    /// Let every stage do what it can before `stop`; hosts stay within the window. Returns the least time
    /// that all stages have come to.
    fn go_round(&mut self, stop: u64) -> u64 {
        let least = self.done.iter().copied().min().unwrap_or(stop);
        let horizon = stop.min(least.saturating_add(self.window));
        let mut packets = 0;
        let mut ran = false;
        for stage in 0..self.done.len() {
            let is_host = stage < self.hosts.len();
            let mut limit = if is_host { horizon } else { stop };
            for wait in &self.graph.waits[stage] {
                let beyond = if fault::is(Fault::PastTheFrontier) { 1000 } else { 0 };
                limit = limit.min(self.quiet[wait.stage].saturating_add(wait.latency).saturating_add(beyond));
            }
            if limit <= self.done[stage] {
                continue;
            }
            if is_host {
                if self.net.wake[stage] < limit {
                    self.hosts[stage].run(&mut self.net, &self.local, limit);
                    self.net.wake[stage] = self.hosts[stage].next_event(&self.net);
                    ran = true;
                }
            } else {
                let handled = self.run_link(stage - self.hosts.len(), limit, stop);
                ran |= handled > 0;
                packets += handled;
            }
            self.done[stage] = limit;
            self.quiet[stage] =
                if is_host { limit } else { self.link_quiet_until(stage - self.hosts.len(), limit) };
        }
        if ran {
            self.adapt_window(packets);
        }
        if packets < self.done.len() as u64 {
            self.skip_idle_time(stop);
        }
        self.done.iter().copied().min().unwrap_or(stop)
    }

    /// Little happened in a whole round, or nothing: nothing can before the earliest event there is.
    fn skip_idle_time(&mut self, stop: u64) {
        // What has come to a host's inlet and not yet out of it may look earlier than what the host has done.
        let hosts =
            self.net.wake[..self.hosts.len()].iter().zip(&self.done).map(|(wake, done)| *wake.max(done));
        let links = self.graph.inputs.iter().flatten().map(|&ring| self.net.rings[ring as usize].next_at());
        let online = self.graph.links.iter().filter_map(|&link| self.net.links[link].online.as_ref());
        let events = online.map(|online| online.next_event());
        let taps = self.graph.taps.iter().flat_map(|tap| &tap.inputs);
        let links = links.chain(taps.map(|&ring| self.net.rings[ring as usize].next_at()));
        let next = hosts.chain(links).chain(events).min().unwrap_or(stop).min(stop);
        for stage in 0..self.done.len() {
            let done = self.done[stage].max(next);
            self.done[stage] = done;
            self.quiet[stage] = match stage.checked_sub(self.hosts.len()) {
                Some(index) if index < self.graph.links.len() => {
                    self.run_link_without_arrivals(index, done, stop);
                    self.link_quiet_until(index, done)
                }
                _ => done,
            };
        }
    }

    /// Nothing comes to a link before `limit`, but something may leave.
    fn run_link_without_arrivals(&mut self, index: usize, limit: u64, stop: u64) {
        let link = self.graph.links[index];
        if self.net.links[link].online.is_none() {
            return;
        }
        if let Some(watch) = &self.watch {
            watch.before_link(link, &mut self.net);
        }
        let turn = online::Turn { link: link as u32, inputs: &[], limit, stop };
        online::run(&mut self.net, &mut self.hosts, &mut self.echoes, &mut self.merge, &turn);
        if let Some(watch) = &mut self.watch {
            watch.after_link(link, &mut self.net);
        }
    }

    /// Some thousand packets a round keep what the stages touch in the caches; many flows want some
    /// packets each. The outcome does not depend on it.
    fn adapt_window(&mut self, packets: u64) {
        let wanted = 1024u64.max(64 * self.hosts.len() as u64);
        if packets < wanted / 2 {
            self.window = (self.window * 2).min(10_000_000_000);
        } else if packets > wanted * 2 {
            self.window = (self.window / 2).max(1000);
        }
    }

    fn run_link(&mut self, index: usize, limit: u64, stop: u64) -> u64 {
        let Some(watch) = &mut self.watch else { return self.run_link_alone(index, limit, stop) };
        let Some(&link) = self.graph.links.get(index) else {
            let point = index - self.graph.links.len();
            return watch.run_tap(point, &self.graph.taps[point], &mut self.net, &mut self.merge, limit);
        };
        watch.before_link(link, &mut self.net);
        let packets = self.run_link_alone(index, limit, stop);
        if let Some(watch) = &mut self.watch {
            watch.after_link(link, &mut self.net);
        }
        packets
    }

    fn run_link_alone(&mut self, index: usize, limit: u64, stop: u64) -> u64 {
        let link = self.graph.links[index] as u32;
        if self.net.links[link as usize].online.is_some() {
            let turn = online::Turn { link, inputs: &self.graph.inputs[index], limit, stop };
            return online::run(&mut self.net, &mut self.hosts, &mut self.echoes, &mut self.merge, &turn);
        }
        let run = merging::Run { link, inputs: &self.graph.inputs[index], limit, stop };
        merging::run(&mut self.net, &mut self.hosts, &mut self.echoes, &mut self.merge, &run)
    }

    /// What a link's stage has to say of itself when everything before `done` has been handled; see `quiet`.
    fn link_quiet_until(&mut self, index: usize, done: u64) -> u64 {
        match self.graph.links.get(index) {
            Some(&link) if self.net.links[link].online.is_some() => {
                online::quiet_until(&mut self.net, link as u32, done, self.smallest_packet)
            }
            _ => done,
        }
    }

    pub(crate) fn sender(&self, flow: usize) -> &Sender {
        sender_at(&self.hosts, self.places[flow][0])
    }

    /// Look at a flow.
    pub fn flow(&self, flow: usize) -> FlowState {
        let sender = self.sender(flow);
        FlowState {
            cwnd: sender.window().cwnd,
            ssthresh: sender.window().ssthresh,
            pacing_rate: sender.window().pacing_rate,
            srtt: sender.srtt().map(Time),
            in_flight: u64::from(sender.in_flight()),
            delivered_bytes: self.scenario.payload_of(flow, sender.acknowledged()),
            state: match sender.state() {
                State::Open => SampleState::Open,
                State::Disorder => SampleState::Disorder,
                State::Cwr => SampleState::Cwr,
                State::Recovery => SampleState::Recovery,
                State::Loss => SampleState::Loss,
            },
            sent: (sender.counts.sent, sender.counts.retransmissions),
        }
    }

    /// Whether a flow has negotiated ECN, of any kind.
    pub fn uses_ecn(&self, flow: usize) -> bool {
        self.sender(flow).uses_ecn()
    }

    /// Packets that wait at a link, without the one in transmission.
    pub fn queue_length(&self, link: LinkId) -> usize {
        self.net.links[link].waiting(self.now)
    }

    /// The links, for the outcome.
    pub(crate) fn link(&self, link: LinkId) -> &Link {
        &self.net.links[link]
    }

    /// Returns the waiting times of a link before the scenario's time zero, added up, ns. Before that time it is all there is.
    pub(crate) fn waited_before_zero(&self, link: LinkId) -> u128 {
        self.waited_before_zero.get(link).copied().unwrap_or_else(|| self.net.links[link].waited(self.now))
    }

    /// The engine's clock.
    pub(crate) fn clock(&self) -> u64 {
        self.now
    }
}

fn sender_at(hosts: &[Host], (host, endpoint): (usize, usize)) -> &Sender {
    match &hosts[host].endpoints[endpoint] {
        Endpoint::Sender(sender) => sender,
        Endpoint::Receiver(_) => unreachable!("the first place is the sender's"),
    }
}
