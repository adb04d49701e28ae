//! The engine: stages with frontiers, and no event queue.
//!
//! A stage (a host with its links, or a link that merges several inputs) has handled all events before the time
//! `done[stage]`. Nothing that it does from then on can reach a stage that waits for it before `done[stage]` plus the
//! least latency between them. That stage may therefore handle everything before the least of these sums. Rounds over all
//! stages advance the times until all have come to the requested one.

mod changes;
mod failure;
mod measured;
mod round;
mod threads;

use crate::factory::Factory;
use crate::fast::{FastPath, Shortcuts};
use crate::fault::{self, Fault};
use crate::graph::{self, Graph};
use crate::host::{Endpoint, Host};
use crate::link::Link;
use crate::merge::{Merge, Turn};
use crate::net::{Net, PacketCounts};
use crate::setup;
use crate::short_list::ShortList;
use crate::stage::{GeneralPath, SharedRunner, StageRunner, Stages};
use crate::watch::{End, NoopObserver, PacketObserver, Point, Watch};
use cwnd_cc::{Observable, State};
use cwnd_scenario::{EngineError, Helpers, LinkId, SampleState, Scenario, Time};
use cwnd_tcp::Sender;
pub use failure::illegal_value;
use measured::LineChange;
use round::Frontiers;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use threads::{Sharing, StageCrew};

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
pub struct Simulation<'s> {
    /// The threads that it uses, if any. They are gone before the stages that they use.
    crew: Option<StageCrew>,
    /// The threads that it may use.
    helpers: Helpers,
    /// Whether it also does what gains nothing (see [`Options::eager`]).
    eager: bool,
    /// Packets that links have handled in the last round.
    packets: u64,
    sharing: Sharing,
    /// The scenario as live changes have left it. A run without changes needs no copy.
    pub(crate) scenario: Cow<'s, Scenario>,
    /// The live changes of rates and delays, in the order of time.
    line_changes: Vec<LineChange>,
    pub(crate) stages: Stages,
    /// Runs the stages: the general path or the fast path.
    runner: Box<dyn StageRunner>,
    /// Its part for hosts and for several threads.
    shared_runner: Arc<dyn SharedRunner>,
    pub(crate) graph: Graph,
    frontiers: Frontiers,
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
    /// The time that all stages have come to.
    least: u64,
    /// The time that inline receivers may come to: at least that of the other stages.
    receivers_stop: u64,
    smallest_packet: u32,
    /// Links in closed form whose rate and delay change by a schedule.
    stepped: Vec<LinkId>,
}

/// Options of a simulation. No outcome depends on them.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The shortcuts that it may take. Without [`Shortcuts::NONE`] it takes all that hold.
    pub shortcuts: Shortcuts,
    /// Points at which packets are observed (see [`Simulation::run_observed`]). Then it takes the general path, on one thread.
    pub points: Vec<Point>,
    /// The threads that it may use besides the one that runs it. It takes them when it has enough to do for them. If they say that it is to
    /// stop, it does nothing any more, and can only be dropped.
    pub helpers: Helpers,
    /// Use threads also for a few packets, batches also for a few hosts, and closed forms also between steps that are close
    /// together: for tests.
    #[doc(hidden)]
    pub eager: bool,
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

impl Simulation<'static> {
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
        Simulation::create(Cow::Owned(scenario.clone()), factory, options)
    }
}

impl<'s> Simulation<'s> {
    /// Like [`Simulation::with_options`], without a copy of a scenario that outlives the simulation.
    ///
    /// # Errors
    /// See [`Simulation::new`].
    ///
    /// # Panics
    /// See [`Simulation::with_options`].
    pub fn create(
        kept: Cow<'s, Scenario>,
        factory: Factory<'_>,
        options: &Options,
    ) -> Result<Self, EngineError> {
        let scenario = &*kept;
        let points = &options.points[..];
        for (i, point) in points.iter().enumerate() {
            assert!(point.link < scenario.network.links.len(), "there is no link {}", point.link);
            assert!(!points[..i].contains(point), "{point:?} is observed twice");
        }
        crate::check::find_problems(scenario, factory).map_err(EngineError::Refused)?;
        let links = setup::links(scenario, options.eager);
        let has_steps = |link: &Link| matches!(link, Link::ClosedForm(link) if link.steps().is_some());
        let stepped = (0..links.len()).filter(|&link| has_steps(&links[link])).collect();
        let mut net = Net {
            lost: vec![0; links.len()],
            links: links.into(),
            packet_counts: vec![PacketCounts::default(); 2 * scenario.flows.len()],
            ..Net::default()
        };
        let smallest_packet = setup::smallest_packet(scenario);
        let mut graph = graph::build(scenario, &mut net, smallest_packet, points);
        if let Some(cycle) = graph::instant_cycle(&graph.waits) {
            return Err(EngineError::Refused(vec![setup::instant_cycle_problem(scenario, &graph, &cycle)]));
        }
        let (endpoints, origin) = setup::endpoints(scenario, factory)?;
        let mut per_host: Vec<ShortList<Endpoint>> = graph.hosts.iter().map(|_| ShortList::None).collect();
        let mut local = vec![0; 2 * scenario.flows.len()];
        let mut channels = vec![0; graph.hosts.len()];
        let mut places = Vec::with_capacity(scenario.flows.len());
        for (flow, [sender, receiver]) in scenario.flows.iter().zip(endpoints) {
            let channel = 2 * places.len();
            let first = scenario.network.links[flow.route[0]].from;
            let last = scenario.network.links[flow.ack_route[0]].from;
            let mut place = |node, endpoint, channel: usize| {
                let host = graph.host_stage(node);
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
            .zip(std::mem::take(&mut graph.inlets))
            .zip(channels)
            .map(|((endpoints, inlets), channel)| Host::new(endpoints, inlets, channel))
            .collect();
        net.owner = graph.owners(net.rings.len(), &hosts);
        net.turns = vec![Turn::default(); net.rings.len()].into();
        let inputs = graph.inputs.iter().map(Vec::len).sum();
        let wake_of_hosts = (0..=hosts.len()).map(|_| AtomicU64::new(0));
        net.wake = wake_of_hosts.chain((0..inputs).map(|_| AtomicU64::new(u64::MAX))).collect();
        // The one place that chooses the path. Shortcuts pass by the points at which packets are observed.
        let runner: Box<dyn StageRunner> = if options.shortcuts == Shortcuts::NONE || !points.is_empty() {
            Box::new(GeneralPath)
        } else {
            Box::new(FastPath::new(options.shortcuts, scenario, &graph, &net, &hosts))
        };
        let stages = graph.waits.len();
        Ok(Simulation {
            crew: None,
            helpers: options.helpers.clone(),
            eager: options.eager,
            packets: 0,
            sharing: Sharing::default(),
            stages: Stages { net, hosts: hosts.into(), local, places, merge: Merge::new(scenario.ties) },
            shared_runner: runner.shared(),
            runner,
            graph,
            frontiers: Frontiers::new(stages),
            now: 0,
            origin,
            waited_before_zero: Vec::new(),
            watch: (!points.is_empty()).then(|| Box::new(Watch::new(points))),
            senders_watched: false,
            window: 1_000_000,
            least: 0,
            receivers_stop: 0,
            smallest_packet,
            stepped,
            scenario: kept,
            line_changes: Vec::new(),
        })
    }

    /// Whether it was told to stop ([`Options::helpers`]).
    pub(crate) fn is_stopped(&self) -> bool {
        self.helpers.is_stopped()
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
        self.run_with_receivers(time, time, observer);
    }

    /// Like [`Simulation::run_until`], but inline receivers may be ahead, up to `receivers`. Until that time only senders and queue
    /// lengths may be read, and nothing may be changed. A receiver is ahead only where nothing waits at its links.
    pub(crate) fn run_senders_until(&mut self, time: Time, receivers: Time) {
        self.run_with_receivers(time, receivers, &mut NoopObserver);
    }

    fn run_with_receivers(&mut self, time: Time, receivers: Time, observer: &mut dyn PacketObserver) {
        let on_clock =
            |time: Time| time.0.saturating_add(self.origin) + u64::from(fault::is(Fault::PastTheStop));
        let (stop, receivers) = (on_clock(time), on_clock(receivers.max(time)));
        if stop <= self.now || self.helpers.is_stopped() {
            return;
        }
        while let next = self.runner.next_review().min(self.next_step())
            && next < stop
        {
            let until = next.max(self.now);
            self.do_all_before(until, until, observer);
            if self.helpers.is_stopped() {
                return;
            }
            if self.runner.next_review() <= until {
                self.runner.review(&mut self.stages, until);
            }
            if self.next_step() <= until {
                self.step_links(until);
            }
        }
        let receivers = receivers.min(self.runner.next_review()).min(self.next_step());
        self.do_all_before(stop, receivers, observer);
        if !self.helpers.is_stopped() {
            self.settle_inlets(stop);
        }
    }

    /// Lets what reached the links of inlets before `stop` cross them, when everything before `stop` has been done.
    fn settle_inlets(&mut self, stop: u64) {
        for (i, host) in self.stages.hosts.iter().enumerate().filter(|_| !fault::is(Fault::InletNotSettled)) {
            // Nothing lies before `stop` in the inlets of a host that wakes later.
            if self.stages.net.wake[i].load(Ordering::Relaxed) < stop {
                host.settle(&mut self.stages.net, stop);
            }
        }
    }

    /// Observes all senders, too: [`Simulation::run_observed`] reports each event at a sender. Call it before the
    /// simulation begins. It does not change the outcome.
    pub fn watch_senders(&mut self) {
        self.senders_watched = true;
        for host in self.stages.hosts.as_mut_slice() {
            for endpoint in host.endpoints.iter_mut() {
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

    /// Does everything before `stop`, and inline receivers at most what is before `receivers`.
    fn do_all_before(&mut self, stop: u64, receivers: u64, observer: &mut dyn PacketObserver) {
        if self.waited_before_zero.is_empty() && stop > self.origin {
            self.receivers_stop = self.origin;
            self.go_on_until(self.origin, observer);
            if self.helpers.is_stopped() {
                return;
            }
            self.settle_inlets(self.origin);
            let waited = self.stages.net.links.iter().map(|link| link.waited(self.origin));
            self.waited_before_zero = waited.collect();
        }
        self.receivers_stop = receivers;
        self.go_on_until(stop, observer);
    }

    fn go_on_until(&mut self, stop: u64, observer: &mut dyn PacketObserver) {
        if stop <= self.now {
            return;
        }
        while self.go_round(stop) < stop {
            self.report(observer);
            // The stages are not at one time then: nothing but dropping the simulation is left.
            if self.helpers.is_stopped() {
                self.leave_threads();
                return;
            }
        }
        self.report(observer);
        self.leave_threads();
        self.now = stop;
    }

    /// Reports the events at senders before a time that all hosts have come to.
    fn report_senders(&mut self, observer: &mut dyn PacketObserver) {
        let until = (0..self.stages.hosts.len())
            .map(|host| self.frontiers.done(self.graph.packed_waits.leader(host)))
            .min()
            .unwrap_or(0);
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
        let (graph, frontiers) = (&self.graph, &self.frontiers);
        let is_crossed = |link: LinkId| graph.links.binary_search(&link).is_ok();
        let handled = |tap: usize, point: &Point| match point.end {
            End::Enter if is_crossed(point.link) => frontiers.done(graph.stage_of(point.link)),
            _ => frontiers.done(graph.tap_stage(tap)),
        };
        watch.report(handled, &self.stages.net, self.origin, observer);
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

    /// Returns whether packets are observed at points of links.
    pub(crate) fn is_observed(&self) -> bool {
        self.watch.is_some()
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
