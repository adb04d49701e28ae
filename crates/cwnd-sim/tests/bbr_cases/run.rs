//! One flow over one path, which is changed while it runs.

use crate::watch::{self, Inside, Log, Seen};
use cwnd_experiment::{Buffer, FlowGroup};
use cwnd_experiment::{ExperimentSpec, LineDelay, LineOptions, StackChoice, Topology};
use cwnd_scenario::{AlgorithmSpec, Rate, StackProfile, Time, Traffic};
use cwnd_sim::Simulation;

/// Wire bytes of a full packet of the linux stack.
pub const PACKET: f64 = 1514.0;

/// The link that carries data, and the one that carries ACKs.
pub const FORWARD: usize = 0;
pub const BACK: usize = 1;

/// A path, and what there is on it from the beginning.
#[derive(Clone, Debug)]
pub struct Path {
    /// Bits a second.
    pub rate: u64,
    /// Microseconds, both ways.
    pub rtt_us: u64,
    /// What its queue holds, in bandwidth-delay products (and 10 packets at least).
    pub buffer: f64,
    pub forward: LineOptions,
    pub reverse: LineOptions,
    pub traffic: Traffic,
    pub seed: u64,
}

impl Path {
    /// A path with this rate and round-trip time, and two bandwidth-delay products of buffer.
    pub fn new(rate: u64, rtt_us: u64) -> Path {
        Path {
            rate,
            rtt_us,
            buffer: 2.0,
            forward: LineOptions::default(),
            reverse: LineOptions::default(),
            traffic: Traffic::Bulk,
            seed: 1,
        }
    }

    /// What the link carries, in full segments a second.
    pub fn segments_per_second(&self) -> f64 {
        segments(self.rate)
    }

    /// The bandwidth-delay product, segments.
    pub fn bdp(&self) -> f64 {
        self.segments_per_second() * self.rtt()
    }

    /// The round-trip time, seconds.
    pub fn rtt(&self) -> f64 {
        self.rtt_us as f64 * 1e-6
    }

    /// The flow that runs over it.
    pub fn run<A: Inside>(&self) -> Run<A> {
        let buffer = (self.buffer * self.bdp()).max(10.0) as u32;
        let setup = ExperimentSpec {
            topology: Topology::Path,
            rate: Rate(self.rate),
            delay: LineDelay::BaseRtt(Time(self.rtt_us * 1000)),
            buffer: Buffer::from(buffer),
            forward: self.forward.clone(),
            reverse: self.reverse.clone(),
            stack: StackChoice {
                profile: StackProfile::Linux,
                receive_window: Some(200_000),
                ..StackChoice::default()
            },
            duration: Time::from_secs(1000),
            start_jitter: Some(Time::ZERO),
            send_overhead: Some(Time::ZERO),
            traffic: self.traffic,
            ..ExperimentSpec::default()
        };
        let algorithm = AlgorithmSpec { name: A::NAME.to_owned(), ..AlgorithmSpec::default() };
        let scenario = setup.scenario(&[FlowGroup::new(algorithm, 1)], self.seed).expect("a possible path");
        let log = Log::default();
        let simulation = Simulation::with_factory(&scenario, &watch::factory::<A>(&log));
        let simulation = simulation.unwrap_or_else(|error| panic!("{error}"));
        Run { simulation, log, step: Time((self.rtt_us * 10).max(20_000)), looked_at: 0 }
    }
}

/// What a rate carries, in full segments a second.
pub fn segments(rate: u64) -> f64 {
    rate as f64 / 8.0 / PACKET
}

/// A run under way.
pub struct Run<A: Inside> {
    pub simulation: Simulation<'static>,
    log: Log<A::Look>,
    /// How far it goes before it looks again: a hundredth of a round-trip time.
    step: Time,
    looked_at: usize,
}

impl<A: Inside> Run<A> {
    /// Go on until something is seen that has not been seen before, and say what it was. It stops within a hundredth of a
    /// round-trip time after that.
    #[track_caller]
    pub fn until(
        &mut self,
        most_s: f64,
        what: &str,
        is_it: impl Fn(&Seen<A::Look>) -> bool,
    ) -> Seen<A::Look> {
        let end = self.now() + most_s;
        loop {
            if let Some(seen) = self.look(&is_it) {
                return seen;
            }
            assert!(self.now() < end, "within {most_s} s there is no {what}");
            let next = Time(self.simulation.now().0 + self.step.0);
            self.simulation.run_until(next);
        }
    }

    fn look(&mut self, is_it: &impl Fn(&Seen<A::Look>) -> bool) -> Option<Seen<A::Look>> {
        let log = self.log.lock().expect("nobody panics with it");
        let found = (self.looked_at..log.len()).find(|&i| is_it(&log[i]));
        self.looked_at = found.map_or(log.len(), |i| i + 1);
        found.map(|i| log[i])
    }

    /// Continues for a number of seconds.
    pub fn go_on(&mut self, seconds: f64) {
        let next = Time(self.simulation.now().0 + (seconds * 1e9) as u64);
        self.simulation.run_until(next);
        self.looked_at = self.log.lock().expect("nobody panics with it").len();
    }

    /// The time, seconds.
    pub fn now(&self) -> f64 {
        self.simulation.now().as_secs_f64()
    }

    /// All that was seen, from this entry on.
    pub fn since(&self, mark: usize) -> Vec<Seen<A::Look>> {
        self.log.lock().expect("nobody panics with it")[mark..].to_vec()
    }

    /// How much was seen so far, for [`Run::since`].
    pub fn mark(&self) -> usize {
        self.looked_at
    }

    pub fn set_rate(&mut self, link: usize, rate: u64) {
        self.simulation.set_rate(link, Rate(rate)).expect("a possible rate");
    }

    /// Live data at this rate of payload.
    pub fn limit_application(&mut self, rate: u64) {
        self.simulation.set_traffic(0, Traffic::Live(Rate(rate))).expect("a possible rate");
    }
}
