//! The engine: stages with frontiers, and no event queue.
//!
//! A stage (a host with its links, or a link that merges several inputs) has handled all events before the time
//! `done[stage]`. Nothing that it does from then on can reach a stage that waits for it before `done[stage]` plus the
//! least latency between them. That stage may therefore handle everything before the least of these sums. Rounds over all
//! stages advance the times until all have come to the requested one.

mod changes;

use crate::factory::Factory;
use crate::fast::{FastPath, Shortcuts};
use crate::fault::{self, Fault};
use crate::graph::{self, Graph};
use crate::host::{Endpoint, Host};
use crate::link::Link;
use crate::merge::{Merge, Turn};
use crate::net::{Net, PacketCounts};
use crate::setup;
use crate::stage::{self, GeneralPath, LinkRun, StageRunner, Stages};
use crate::watch::{End, NoopObserver, PacketObserver, Point, Watch};
use cwnd_cc::{Observable, State};
use cwnd_scenario::{EngineError, LinkId, SampleState, Scenario, Time};
use cwnd_tcp::Sender;

/// A simulation.
///
/// [`Simulation::run_until`] does all that happens before a time and nothing that happens at it or later. Between calls, the
/// state can be read and the network changed; a change comes before whatever happens at its time. However a run is split, its
/// outcome is the same to the bit.
///
/// ```
/// use cwnd_experiment::{ExperimentSpec, FlowGroup};
/// use cwnd_scenario::{AlgorithmSpec, Rate, Time};
/// use cwnd_sim::Simulation;
///
/// // Two CUBIC flows over 100 Mbit/s; all else as `ExperimentSpec` has it.
/// let cubic = AlgorithmSpec { name: "cubic".into(), ..AlgorithmSpec::default() };
/// let setup = ExperimentSpec { rate: Rate(100_000_000), ..ExperimentSpec::default() };
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
    pub(crate) stages: Stages,
    /// Runs the stages: the general path or the fast path.
    runner: Box<dyn StageRunner>,
    pub(crate) graph: Graph,
    /// The time before which each stage has handled everything.
    done: Vec<u64>,
    /// What each stage still causes looks from outside as if it happened then or later: `done`, or later at a link
    /// that knows when its next packet leaves.
    quiet: Vec<u64>,
    now: u64,
    /// The engine's clock at the scenario's time zero: handshakes may come before it.
    pub(crate) origin: u64,
    /// For each link, the sum of the waiting times at the scenario's time zero, ns; empty until it has come.
    waited_before_zero: Vec<u128>,
    /// The observer, if there is one.
    watch: Option<Box<Watch>>,
    /// Whether senders are observed.
    senders_watched: bool,
    /// How far the hosts advance in one round, ns: long enough to keep a stage busy, short enough for the caches.
    window: u64,
    smallest_packet: u32,
}

/// Options of a simulation. No outcome depends on them.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The shortcuts that it may take. Without [`Shortcuts::NONE`] it takes all that hold.
    pub shortcuts: Shortcuts,
    /// Points at which packets are observed (see [`Simulation::run_observed`]). Then it takes the general path.
    pub points: Vec<Point>,
}

/// The state of a flow.
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
    /// Creates the simulation of a scenario with the registered algorithms. The scenario is checked first.
    ///
    /// # Errors
    /// The scenario is refused, or an algorithm cannot be created.
    pub fn new(scenario: &Scenario) -> Result<Self, EngineError> {
        Simulation::with_factory(scenario, &crate::factory::registered)
    }

    /// Creates the simulation of a scenario with algorithms of this factory.
    ///
    /// # Errors
    /// See [`Simulation::new`].
    pub fn with_factory(scenario: &Scenario, factory: Factory<'_>) -> Result<Self, EngineError> {
        Simulation::with_options(scenario, factory, &Options::default())
    }

    /// Creates the simulation of a scenario with these options.
    ///
    /// # Errors
    /// See [`Simulation::new`].
    ///
    /// # Panics
    /// If there is no such link, or a point is listed twice.
    pub fn with_options(
        scenario: &Scenario,
        factory: Factory<'_>,
        options: &Options,
    ) -> Result<Self, EngineError> {
        let points = &options.points[..];
        for (i, point) in points.iter().enumerate() {
            assert!(point.link < scenario.network.links.len(), "there is no link {}", point.link);
            assert!(!points[..i].contains(point), "{point:?} is observed twice");
        }
        crate::check::check_with(scenario, factory).map_err(EngineError::Refused)?;
        let links = setup::links(scenario);
        let mut net = Net {
            lost: vec![0; links.len()],
            links,
            packet_counts: vec![PacketCounts::default(); 2 * scenario.flows.len()],
            ..Net::default()
        };
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
            .map(|((endpoints, inlets), channel)| Host::new(endpoints, std::mem::take(inlets), channel))
            .collect();
        net.owner = graph.owners(net.rings.len(), &hosts);
        net.turns = vec![Turn::default(); net.rings.len()];
        net.wake = vec![0; hosts.len()];
        net.wake.resize(hosts.len() + 1 + graph.inputs.iter().map(Vec::len).sum::<usize>(), u64::MAX);
        // The one place that chooses the path. Shortcuts pass by the points at which packets are observed.
        let runner: Box<dyn StageRunner> = if options.shortcuts == Shortcuts::NONE || !points.is_empty() {
            Box::new(GeneralPath)
        } else {
            Box::new(FastPath::new(options.shortcuts, scenario, &graph, &net, &hosts))
        };
        let stages = graph.waits.len();
        Ok(Simulation {
            scenario: scenario.clone(),
            stages: Stages { net, hosts, local, places, merge: Merge::new(scenario.ties) },
            runner,
            graph,
            done: vec![0; stages],
            quiet: vec![0; stages],
            now: 0,
            origin,
            waited_before_zero: Vec::new(),
            watch: (!points.is_empty()).then(|| Box::new(Watch::new(points))),
            senders_watched: false,
            window: 1_000_000,
            smallest_packet,
        })
    }

    /// Returns the time up to which everything has happened.
    pub fn now(&self) -> Time {
        Time(self.now.saturating_sub(self.origin))
    }

    /// Does everything that happens before `time`, and nothing that happens at it or later. A time that has passed does
    /// nothing.
    pub fn run_until(&mut self, time: Time) {
        self.run_observed(time, &mut NoopObserver);
    }

    /// Like [`Simulation::run_until`], and reports packets that pass the [observed points](Options::points) as soon as
    /// their fate is known. [`Simulation::run_until`] reports to nobody.
    pub fn run_observed(&mut self, time: Time, observer: &mut dyn PacketObserver) {
        let stop = time.0.saturating_add(self.origin) + u64::from(fault::is(Fault::PastTheStop));
        if stop <= self.now {
            return;
        }
        while self.runner.next_review() < stop {
            let until = self.runner.next_review().max(self.now);
            self.do_all_before(until, observer);
            self.runner.review(&mut self.stages, until);
        }
        self.do_all_before(stop, observer);
        for (i, host) in self.stages.hosts.iter().enumerate().filter(|_| !fault::is(Fault::InletNotSettled)) {
            // Nothing lies before `stop` in the inlets of a host that wakes later.
            if self.stages.net.wake[i] < stop {
                host.settle(&mut self.stages.net, stop);
            }
        }
    }

    /// Observes all senders, too: [`Simulation::run_observed`] reports each event at a sender. Call it before the
    /// simulation begins. It does not change the outcome.
    pub fn watch_senders(&mut self) {
        self.senders_watched = true;
        for host in &mut self.stages.hosts {
            for endpoint in &mut host.endpoints {
                if let Endpoint::Sender(sender) = endpoint {
                    sender.enable_event_log();
                }
            }
        }
    }

    /// Reports the packets that have passed an observed point and wait in a queue that may still drop them. (After this
    /// they are not reported again.)
    pub fn end_observation(&mut self, observer: &mut dyn PacketObserver) {
        if let Some(watch) = &mut self.watch {
            watch.report_rest(self.origin, observer);
        }
    }

    fn do_all_before(&mut self, stop: u64, observer: &mut dyn PacketObserver) {
        if self.waited_before_zero.is_empty() && stop > self.origin {
            self.go_on_until(self.origin, observer);
            let waited = self.stages.net.links.iter().map(|link| link.waited(self.origin));
            self.waited_before_zero = waited.collect();
        }
        self.go_on_until(stop, observer);
    }

    fn go_on_until(&mut self, stop: u64, observer: &mut dyn PacketObserver) {
        if stop <= self.now {
            return;
        }
        while stop > self.now && self.go_round(stop) < stop {
            self.report(observer);
        }
        self.report(observer);
        self.now = stop;
    }

    /// Reports the events at senders before a time that all hosts have come to.
    fn report_senders(&mut self, observer: &mut dyn PacketObserver) {
        let until = self.done[..self.stages.hosts.len()].iter().copied().min().unwrap_or(0);
        let mut events = Vec::new();
        for (flow, [(host, endpoint), _]) in self.stages.places.iter().enumerate() {
            let Endpoint::Sender(sender) = &mut self.stages.hosts[*host].endpoints[*endpoint] else {
                continue;
            };
            events.extend(std::iter::from_fn(|| Some((flow, sender.take_event(until)?))));
        }
        events.sort_by_key(|(flow, event)| (event.at, *flow));
        for (flow, event) in &events {
            observer.on_sender_event(*flow, event.at as i64 - self.origin as i64, event);
        }
    }

    /// Reports events at senders, and packets that have passed observed points.
    fn report(&mut self, observer: &mut dyn PacketObserver) {
        if self.senders_watched {
            self.report_senders(observer);
        }
        let Some(watch) = &mut self.watch else { return };
        let (graph, done) = (&self.graph, &self.done);
        let is_crossed = |link: LinkId| graph.links.binary_search(&link).is_ok();
        let handled = |tap: usize, point: &Point| match point.end {
            End::Enter if is_crossed(point.link) => done[graph.stage_of(point.link)],
            _ => done[graph.tap_stage(tap)],
        };
        watch.report(handled, &self.stages.net, self.origin, observer);
    }

    /// Lets every stage handle what it can before `stop`; hosts stay within the window. Returns the least time that all
    /// stages have come to.
    fn go_round(&mut self, stop: u64) -> u64 {
        let least = self.done.iter().copied().min().unwrap_or(stop);
        let horizon = stop.min(least.saturating_add(self.window));
        let mut packets = 0;
        let mut ran = false;
        for stage in 0..self.done.len() {
            let is_host = stage < self.stages.hosts.len();
            let mut limit = if is_host { horizon } else { stop };
            for &(other, latency) in self.graph.waits_of(stage) {
                let beyond = if fault::is(Fault::PastTheFrontier) { 1000 } else { 0 };
                limit = limit.min(self.quiet[other as usize].saturating_add(latency).saturating_add(beyond));
            }
            if limit <= self.done[stage] {
                continue;
            }
            if is_host {
                if self.stages.net.wake[stage] < limit {
                    self.runner.run_host(&mut self.stages, stage, limit);
                    let Stages { net, hosts, .. } = &mut self.stages;
                    net.wake[stage] = hosts[stage].next_event(net);
                    ran = true;
                }
            } else {
                let handled = self.run_link(stage - self.stages.hosts.len(), limit, stop);
                ran |= handled > 0;
                packets += handled;
            }
            self.done[stage] = limit;
            self.quiet[stage] =
                if is_host { limit } else { self.link_quiet_until(stage - self.stages.hosts.len(), limit) };
        }
        if ran {
            self.adapt_window(packets);
        }
        if packets < self.done.len() as u64 {
            self.skip_idle_time(stop);
        }
        self.done.iter().copied().min().unwrap_or(stop)
    }

    /// Advances all stages to the earliest event there is, after a round in which little or nothing happened.
    fn skip_idle_time(&mut self, stop: u64) {
        // Packets in a host's inlet that have not left it may look earlier than what the host has done.
        let hosts = self.stages.net.wake[..self.stages.hosts.len()]
            .iter()
            .zip(&self.done)
            .map(|(wake, done)| *wake.max(done));
        let links = self.stages.net.wake[self.stages.hosts.len() + 1..].iter().copied();
        let queued = self.graph.links.iter().filter_map(|&link| self.stages.net.links[link].queued());
        let events = queued.map(|link| link.next_event());
        let taps = self.graph.taps.iter().flat_map(|tap| &tap.inputs);
        let links = links.chain(taps.map(|&ring| self.stages.net.rings[ring as usize].next_at()));
        let next = hosts.chain(links).chain(events).min().unwrap_or(stop).min(stop);
        for stage in 0..self.done.len() {
            let done = self.done[stage].max(next);
            self.done[stage] = done;
            self.quiet[stage] = match stage.checked_sub(self.stages.hosts.len()) {
                Some(index) if index < self.graph.links.len() => {
                    self.run_link_without_arrivals(index, done, stop);
                    self.link_quiet_until(index, done)
                }
                _ => done,
            };
        }
    }

    /// Lets packets leave a link to which nothing comes before `limit`.
    fn run_link_without_arrivals(&mut self, index: usize, limit: u64, stop: u64) {
        let link = self.graph.links[index];
        if matches!(self.stages.net.links[link], Link::Queued(_)) {
            self.run_observed_link(&LinkRun { link: link as u32, inputs: &[], limit, stop });
        }
    }

    /// Adapts the window. With about a thousand packets a round, the memory of the stages stays in the caches; many flows
    /// need some packets each. The outcome does not depend on it.
    fn adapt_window(&mut self, packets: u64) {
        let wanted = 1024u64.max(64 * self.stages.hosts.len() as u64);
        if packets < wanted / 2 {
            self.window = (self.window * 2).min(10_000_000_000);
        } else if packets > wanted * 2 {
            self.window = (self.window / 2).max(1000);
        }
    }

    /// Lets a link or a tap handle everything before `limit`. Returns how many packets it handled.
    fn run_link(&mut self, index: usize, limit: u64, stop: u64) -> u64 {
        if let Some(&link) = self.graph.links.get(index) {
            let inputs = std::mem::take(&mut self.graph.inputs[index]);
            let handled =
                self.run_observed_link(&LinkRun { link: link as u32, inputs: &inputs, limit, stop });
            self.graph.inputs[index] = inputs;
            return handled;
        }
        let point = index - self.graph.links.len();
        let Some(watch) = &mut self.watch else { return 0 };
        let Stages { net, merge, .. } = &mut self.stages;
        watch.run_tap(point, &self.graph.taps[point], net, merge, limit)
    }

    fn run_observed_link(&mut self, run: &LinkRun<'_>) -> u64 {
        let link = run.link as usize;
        if let Some(watch) = &self.watch {
            watch.before_link(link, &mut self.stages.net);
        }
        let packets = self.runner.run_link(&mut self.stages, run);
        if let Some(watch) = &mut self.watch {
            watch.after_link(link, &mut self.stages.net);
        }
        packets
    }

    /// Returns `quiet` of a link's stage when everything before `done` has been handled.
    fn link_quiet_until(&mut self, index: usize, done: u64) -> u64 {
        match self.graph.links.get(index) {
            Some(&link) => stage::quiet_until(&mut self.stages.net, link as u32, done, self.smallest_packet),
            None => done,
        }
    }

    pub(crate) fn sender(&self, flow: usize) -> &Sender {
        self.stages.sender(flow)
    }

    /// Returns the state of a flow.
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

    /// Returns what the algorithm of a flow shows of its state.
    pub fn observables(&self, flow: usize) -> &'static [Observable] {
        self.sender(flow).observables()
    }

    /// Writes the present values of a flow's [`observables`](Self::observables) into `values`, which is as long; NaN where the
    /// algorithm does not know one yet.
    pub fn observe(&self, flow: usize, values: &mut [f64]) {
        self.sender(flow).observe(self.clock(), values);
    }

    /// Returns whether a flow has negotiated ECN, of any kind.
    pub fn uses_ecn(&self, flow: usize) -> bool {
        self.sender(flow).uses_ecn()
    }

    /// Returns how many packets wait at a link, without the one in transmission.
    pub fn queue_length(&self, link: LinkId) -> usize {
        self.stages.net.links[link].waiting(self.now)
    }

    /// Returns a link.
    pub(crate) fn link(&self, link: LinkId) -> &Link {
        &self.stages.net.links[link]
    }

    /// Returns the sum of the waiting times of a link before the scenario's time zero, ns. Before that time these are all.
    pub(crate) fn waited_before_zero(&self, link: LinkId) -> u128 {
        self.waited_before_zero
            .get(link)
            .copied()
            .unwrap_or_else(|| self.stages.net.links[link].waited(self.now))
    }

    /// Returns the engine's clock.
    pub(crate) fn clock(&self) -> u64 {
        self.now
    }
}
