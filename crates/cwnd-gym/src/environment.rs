//! One environment.

use crate::action::Command;
use crate::agent::{AGENT, Agent, Control, Driver, read_observed};
use crate::datagram::Datagram;
use crate::features::History;
use crate::reward::PathFacts;
use crate::source::{episode_seed, first_rate, scenario, scenario_of_kind};
use crate::{Action, EnvConfig, FirstRate, GymError, Interval, Transport};
use cwnd_cc::CongestionControl;
use cwnd_scenario::{AlgorithmSpec, Rate, Scenario, Time};
use cwnd_sim::Simulation;
use std::sync::Arc;

/// One environment: a simulation that is halted at the end of each step.
///
/// The same configuration, seeds and actions give the same observations and rewards to the bit.
///
/// ```
/// use cwnd_gym::{Env, EnvConfig};
///
/// let mut env = Env::new(EnvConfig::aurora())?;
/// env.reset(Some(1))?;
/// let step = env.step(0.5)?;
/// assert_eq!(env.observation().len(), 30);
/// assert!(step.info.throughput_bps > 0.0 && !step.truncated);
/// # Ok::<(), cwnd_gym::GymError>(())
/// ```
pub struct Env {
    config: Arc<EnvConfig>,
    history: History,
    seed: u64,
    /// The number of the next episode under this seed.
    next_episode: u64,
    episode: Option<Episode>,
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The reward of the interval.
    pub reward: f64,
    /// The flow has delivered all its data. Endless flows never end.
    pub terminated: bool,
    /// The episode has come to its last step or to the end of the scenario.
    pub truncated: bool,
    /// What happened in the interval.
    pub info: StepInfo,
}

/// What happened in an interval, in units for reading. After a reset all but the time, the length and the seed are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepInfo {
    /// Delivered wire bytes, bit/s.
    pub throughput_bps: f64,
    /// Sent wire bytes, bit/s.
    pub send_rate_bps: f64,
    /// Mean round-trip time, seconds; zero without samples.
    pub rtt_s: f64,
    /// Packets lost, of those lost or delivered.
    pub loss_ratio: f64,
    /// Congestion window at the end, segments; of datagrams the packets in flight.
    pub cwnd: f64,
    /// Length of the interval, seconds.
    pub duration_s: f64,
    /// Simulated time at its end, seconds.
    pub time_s: f64,
    /// Seed of the episode.
    pub seed: u64,
}

struct Episode {
    world: World,
    path: PathFacts,
    seed: u64,
    /// Time, ns.
    now: u64,
    end: u64,
    rate_pps: f64,
    last: Interval,
    /// The mean round-trip time of the latest interval that had a sample, seconds.
    mean_rtt_s: f64,
    steps: u32,
    is_over: bool,
}

impl Env {
    /// Creates an environment. The first [`Env::reset`] begins its first episode, under seed 0 if it is given none.
    ///
    /// # Errors
    /// A value of the configuration is invalid, or the simulator refuses a scenario.
    pub fn new(config: EnvConfig) -> Result<Env, GymError> {
        config.check()?;
        for kind in 0..config.source.kinds() {
            let (scenario, learner) = scenario_of_kind(&config.source, &config.competitors, kind);
            Episode::new(&config, &scenario, learner, 0)?;
        }
        Ok(Env::of_checked(Arc::new(config), 0))
    }

    /// Creates another environment of a configuration that [`Env::new`] has checked, with this seed.
    pub(crate) fn of_checked(config: Arc<EnvConfig>, seed: u64) -> Env {
        let history = History::new(&config.features, config.history);
        Env { config, history, seed, next_episode: 0, episode: None }
    }

    /// Returns the configuration.
    pub fn config(&self) -> &EnvConfig {
        &self.config
    }

    pub(crate) fn shared_config(&self) -> Arc<EnvConfig> {
        Arc::clone(&self.config)
    }

    /// Begins an episode. With a seed, its first: the simulation has this seed. Without, the next one under the seed given
    /// last; [`episode_seed`] computes its seed.
    ///
    /// # Errors
    /// The simulator refuses the scenario.
    pub fn reset(&mut self, seed: Option<u64>) -> Result<StepInfo, GymError> {
        if let Some(seed) = seed {
            (self.seed, self.next_episode) = (seed, 0);
        }
        let seed = episode_seed(self.seed, self.next_episode);
        self.next_episode += 1;
        self.history.reset();
        let (scenario, learner) = scenario(&self.config.source, &self.config.competitors, seed);
        let episode = self.episode.insert(Episode::new(&self.config, &scenario, learner, seed)?);
        episode.warm_up(&self.config);
        Ok(episode.info(&Interval::default()))
    }

    /// Applies an action and runs one interval.
    ///
    /// # Errors
    /// The action is outside of its space, or there is no episode: none has begun, or the last one has ended.
    pub fn step(&mut self, action: f32) -> Result<Step, GymError> {
        self.config
            .action
            .check_value(action)
            .map_err(|message| GymError::Action { environment: 0, message })?;
        let Some(episode) = self.episode.as_mut().filter(|episode| !episode.is_over) else {
            return Err(GymError::Call("there is no episode: call `reset` first".to_owned()));
        };
        Ok(episode.step(&self.config, action, &mut self.history))
    }

    /// Returns the observation: for each of the last intervals, the oldest first, its features. Intervals before the first step
    /// count as empty.
    pub fn observation(&self) -> &[f32] {
        self.history.values()
    }

    /// Returns what happened in the last interval.
    pub fn interval(&self) -> Option<&Interval> {
        self.episode.as_ref().map(|episode| &episode.last)
    }

    /// Returns whether an episode is under way.
    pub fn is_running(&self) -> bool {
        self.episode.as_ref().is_some_and(|episode| !episode.is_over)
    }
}

impl Episode {
    fn new(config: &EnvConfig, scenario: &Scenario, learner: usize, seed: u64) -> Result<Episode, GymError> {
        let world = World::new(config, scenario, learner)?;
        let bottleneck = scenario.network.links[scenario.network.bottleneck].rate;
        let rate_bps = if bottleneck == Rate::UNLIMITED { 0.0 } else { bottleneck.0 as f64 };
        let is_rate = matches!(config.action, Action::Rate { .. });
        let draws_rate = is_rate && matches!(config.first_rate, FirstRate::OfBottleneck(..));
        if rate_bps == 0.0 && (config.reward.needs_rate() || draws_rate) {
            let message = "the bottleneck has no rate, which the reward or the first rate is a multiple of; choose \
                           others, or give it one";
            return Err(GymError::config("source", message));
        }
        let bottleneck_pps = rate_bps / (8.0 * f64::from(scenario.stack.full_packet()));
        let base_rtt = scenario.base_rtt(learner);
        Ok(Episode {
            world,
            path: PathFacts { rate_bps, base_rtt_s: base_rtt.0 as f64 * 1e-9 },
            seed,
            now: scenario.start_of(learner).0,
            end: scenario.duration.0,
            rate_pps: first_rate(config.first_rate, seed, bottleneck_pps),
            last: Interval::default(),
            mean_rtt_s: 0.0,
            steps: 0,
            is_over: false,
        })
    }

    /// Runs the time before the first observation.
    fn warm_up(&mut self, config: &EnvConfig) {
        if matches!(config.action, Action::Rate { .. }) {
            self.world.obey(Command::Rate(self.rate_pps));
        }
        let time = (config.warm_up_rtts * self.path.base_rtt_s * 1e9) as u64;
        self.now = self.now.saturating_add(time).min(self.end);
        self.world.run_until(self.now, &mut Interval::default());
    }

    fn step(&mut self, config: &EnvConfig, action: f32, history: &mut History) -> Step {
        let command = config.action.command(action, &mut self.rate_pps);
        self.world.obey(command);
        let length = config.interval.after(&self.last, self.mean_rtt_s, self.path.base_rtt_s);
        let until = self.now.saturating_add(length).min(self.end);
        let mut interval = Interval { duration_s: (until - self.now) as f64 * 1e-9, ..Interval::default() };
        let terminated = self.world.run_until(until, &mut interval);
        self.now = until;
        self.steps += 1;
        if interval.rtt_samples > 0 {
            self.mean_rtt_s = interval.rtt_mean_s;
        }
        history.push(&interval);
        let reward = config.reward.of(&interval, &history.extremes, &self.path);
        self.last = interval;
        let truncated = !terminated && (self.steps >= config.max_steps || until >= self.end);
        self.is_over = terminated || truncated;
        Step { reward, terminated, truncated, info: self.info(&interval) }
    }

    fn info(&self, interval: &Interval) -> StepInfo {
        StepInfo {
            throughput_bps: interval.throughput_bps(),
            send_rate_bps: interval.send_rate_bps(),
            rtt_s: interval.rtt_mean_s,
            loss_ratio: interval.loss_ratio(),
            cwnd: interval.cwnd,
            duration_s: interval.duration_s,
            time_s: self.now as f64 * 1e-9,
            seed: self.seed,
        }
    }
}

/// The simulation of an episode.
#[allow(clippy::large_enum_variant)] // of an environment there is one
enum World {
    Tcp(TcpFlow),
    Datagram(Datagram),
}

impl World {
    fn new(config: &EnvConfig, scenario: &Scenario, learner: usize) -> Result<World, GymError> {
        match config.transport {
            Transport::Tcp => TcpFlow::new(config, scenario, learner).map(World::Tcp),
            Transport::Datagram if !matches!(config.action, Action::Rate { .. }) => {
                let message = "datagrams have no window: take `tcp`, or actions that set the rate";
                Err(GymError::config("transport", message))
            }
            Transport::Datagram => Datagram::new(scenario, config.needs_slope())
                .map(World::Datagram)
                .map_err(|why| GymError::config("transport", format!("{why}: take `tcp`"))),
        }
    }

    /// Begins an interval with a command.
    fn obey(&mut self, command: Command) {
        match (self, command) {
            (World::Tcp(flow), command) => flow.control.set(command),
            (World::Datagram(flow), Command::Rate(pps)) => flow.set_rate(pps),
            (World::Datagram(_), Command::Window(_)) => unreachable!("`World::new` refuses such actions"),
        }
    }

    /// Does everything before a time, and writes what happened. Returns whether the flow has delivered all its data.
    fn run_until(&mut self, until: u64, interval: &mut Interval) -> bool {
        match self {
            World::Tcp(flow) => flow.run_until(until, interval),
            World::Datagram(flow) => {
                flow.run_until(until, interval);
                false
            }
        }
    }
}

struct TcpFlow {
    simulation: Simulation<'static>,
    control: Arc<Control>,
    learner: usize,
    bytes: u64,
    packet_bytes: u32,
    payload: f64,
    /// Packets sent and lost before the interval.
    sent: u64,
    lost: u64,
}

impl TcpFlow {
    fn new(config: &EnvConfig, scenario: &Scenario, learner: usize) -> Result<TcpFlow, GymError> {
        let control = Arc::new(Control::default());
        let factory = |spec: &AlgorithmSpec| -> Result<Box<dyn CongestionControl>, String> {
            if spec.name != AGENT {
                return cwnd_sim::registered(spec);
            }
            let driver = Driver::new(&config.action)?;
            Ok(Box::new(Agent::new(Arc::clone(&control), driver, config.needs_slope())))
        };
        let simulation = Simulation::with_factory(scenario, &factory)
            .map_err(|error| GymError::Scenario(error.to_string()))?;
        Ok(TcpFlow {
            simulation,
            learner,
            bytes: scenario.flows[learner].bytes.unwrap_or(u64::MAX),
            packet_bytes: scenario.stack.full_packet(),
            payload: f64::from(scenario.stack.payload),
            sent: 0,
            lost: 0,
            control,
        })
    }

    fn run_until(&mut self, until: u64, interval: &mut Interval) -> bool {
        self.simulation.run_until(Time(until));
        let flow = self.simulation.flow(self.learner);
        let mut observed = [0.0; 9];
        self.simulation.observe(self.learner, &mut observed);
        let delivered = read_observed(&observed, interval);
        interval.packet_bytes = self.packet_bytes;
        interval.sent = flow.sent.0 - self.sent;
        self.sent = flow.sent.0;
        // Of what was sent, each packet is delivered, in flight, or found to be lost. A loss that proves spurious is taken
        // back from those that follow.
        let lost = self.sent.saturating_sub(delivered + flow.in_flight).max(self.lost);
        interval.lost = lost - self.lost;
        self.lost = lost;
        interval.cwnd = flow.cwnd;
        interval.pacing_pps = flow.pacing_rate / self.payload;
        interval.srtt_s = flow.srtt.map_or(0.0, |srtt| srtt.0 as f64 * 1e-9);
        flow.delivered_bytes >= self.bytes
    }
}
