//! Where the path of an episode comes from.

use crate::GymError;
use crate::agent::AGENT;
use cwnd_scenario::{
    AlgorithmSpec, Counting, DelayedAck, FlowSpec, LinkSpec, Loss, Network, Purpose, QueueLimit, QueueSpec,
    Rate, ReceiverBehaviour, Scenario, Stack, Stream, Ties, Time, Traffic, Transport, mix,
};
use serde::{Deserialize, Serialize};

/// Where the path of an episode comes from. All draws are from the episode's seed, which is also that of the simulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A path with one bottleneck, drawn from ranges.
    Paths(PathRanges),
    /// One of these scenarios, each as likely: the cells of a study. The flow whose algorithm is called `agent` learns, or the
    /// first one if none is.
    Scenarios(Vec<Scenario>),
}

/// Ranges of a path with one bottleneck between two hosts. Each value is uniform between the two given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PathRanges {
    /// The bottleneck's rate, full packets a second.
    pub rate_pps: (f64, f64),
    /// Propagation delay, seconds one way. Both directions have the same.
    pub delay_s: (f64, f64),
    /// The natural logarithm of the queue limit: the queue holds `1 + floor(e^x)` packets, the one in transmission included.
    pub ln_queue: (f64, f64),
    /// The probability that a data packet is lost on the line.
    pub loss: (f64, f64),
    /// Wire bytes of a full packet; 67 to 65,014.
    pub packet_bytes: u32,
    /// Whether flows begin with a handshake and receivers delay ACKs, as Linux does. Otherwise data begins at once, and each
    /// packet is acknowledged at once. All else is as in Linux.
    pub delayed_acks: bool,
}

/// The rate at which a flow begins.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum FirstRate {
    /// Uniform between two multiples of the bottleneck's rate. PCC-RL has 0.3 to 1.5.
    OfBottleneck(f64, f64),
    /// Packets a second.
    Packets(f64),
}

impl PathRanges {
    /// Returns the ranges of PCC-RL's `network_sim.py`: 100 to 500 packets of 1,500 bytes a second (1.2 to 6 Mbit/s), 50 to
    /// 500 ms one way, queues of 2 to 2,981 packets, losses of 0 to 5 %.
    pub fn aurora() -> PathRanges {
        PathRanges {
            rate_pps: (100.0, 500.0),
            delay_s: (0.05, 0.5),
            ln_queue: (0.0, 8.0),
            loss: (0.0, 0.05),
            packet_bytes: 1500,
            delayed_acks: false,
        }
    }

    /// Returns ranges for Orca's actions: 500 to 16,000 packets of 1,514 bytes a second (6 to 194 Mbit/s), 2 to 200 ms one way,
    /// queues of 2 to 59,875 packets, no losses on the line, and delayed ACKs.
    pub fn orca() -> PathRanges {
        PathRanges {
            rate_pps: (500.0, 16_000.0),
            delay_s: (0.002, 0.2),
            ln_queue: (0.0, 11.0),
            loss: (0.0, 0.0),
            packet_bytes: 1514,
            delayed_acks: true,
        }
    }

    fn check(&self) -> Result<(), GymError> {
        let range = |place: &str, (low, high): (f64, f64), least: f64, most: f64| {
            if least <= low && low <= high && high <= most {
                return Ok(());
            }
            let message =
                format!("is {low} to {high}; it must be within {least} to {most}, the lower value first");
            Err(GymError::config(&format!("source.paths.{place}"), message))
        };
        range("rate-pps", self.rate_pps, 1.0, 1e8)?;
        range("delay-s", self.delay_s, 1e-6, 1e3)?;
        range("ln-queue", self.ln_queue, 0.0, 20.0)?;
        range("loss", self.loss, 0.0, 0.99)?;
        if !(67..=65_014).contains(&self.packet_bytes) {
            let message = format!("is {}; it must be 67 to 65,014", self.packet_bytes);
            return Err(GymError::config("source.paths.packet-bytes", message));
        }
        Ok(())
    }

    fn draw(&self, seed: u64) -> Scenario {
        let mut stream = Stream::new(seed, Purpose::Episode, 0);
        let mut draw = |(low, high): (f64, f64)| low + (high - low) * stream.uniform();
        let packet_bits = 8.0 * f64::from(self.packet_bytes);
        let rate = Rate((draw(self.rate_pps) * packet_bits) as u64);
        let delay = Time((draw(self.delay_s) * 1e9) as u64);
        let packets = 1 + libm::exp(draw(self.ln_queue)) as u32;
        let loss = draw(self.loss);
        let mut forward = LinkSpec::new("bottleneck", 0, 1, rate, delay);
        forward.queue = QueueSpec::drop_tail(QueueLimit::Packets(packets), Counting::WithTransmission);
        if loss > 0.0 {
            forward.loss = Loss::Bernoulli(loss);
        }
        let reverse = LinkSpec::new("reverse", 1, 0, Rate::UNLIMITED, delay);
        Scenario {
            network: Network {
                nodes: vec!["sender".to_owned(), "receiver".to_owned()],
                links: vec![forward, reverse],
                bottleneck: 0,
            }
            .into(),
            flows: vec![agent_flow()].into(),
            arrivals: None,
            stack: self.stack(),
            duration: LONGEST,
            warm_up: Time::ZERO,
            seed,
            start_jitter: Time::ZERO,
            send_overhead: Time::ZERO,
            ties: Ties::default(),
            sample: None,
        }
    }

    fn stack(&self) -> Stack {
        const ETHERNET: u32 = 14;
        let stack = Stack::linux(self.packet_bytes - ETHERNET, true, LARGEST_WINDOW);
        if self.delayed_acks {
            return stack;
        }
        Stack { handshake: false, delayed_ack: DelayedAck::Off, ..stack }
    }
}

/// The duration of a drawn path's scenario: more than any episode's.
const LONGEST: Time = Time(1 << 47);

/// The window that receivers advertise on a drawn path, segments.
const LARGEST_WINDOW: u32 = 1 << 20;

fn agent_flow() -> FlowSpec {
    FlowSpec {
        algorithm: agent(),
        route: vec![0],
        ack_route: vec![1],
        start: Time::ZERO,
        stop: None,
        bytes: None,
        traffic: Traffic::Bulk,
        deadline: None,
        group: None,
        short: false,
        reverse: false,
        receiver: ReceiverBehaviour::Honest,
        transport: Transport::Tcp,
    }
}

fn agent() -> AlgorithmSpec {
    AlgorithmSpec { name: AGENT.to_owned(), ..AlgorithmSpec::default() }
}

impl Source {
    pub(crate) fn check(&self) -> Result<(), GymError> {
        match self {
            Source::Paths(ranges) => ranges.check(),
            Source::Scenarios(scenarios) if scenarios.is_empty() => {
                Err(GymError::config("source.scenarios", "there are none; an episode needs at least 1"))
            }
            Source::Scenarios(_) => Ok(()),
        }
    }

    /// How many different scenarios must be tried to know that all can run; drawn paths are alike.
    pub(crate) fn kinds(&self) -> usize {
        match self {
            Source::Paths(_) => 1,
            Source::Scenarios(scenarios) => scenarios.len(),
        }
    }
}

/// Returns the seed of an episode: `seed` itself for episode 0, and for later ones a mix of both. It is the seed of the
/// episode's simulation and of everything that is drawn for it, so an environment that is reset with this seed repeats the
/// episode.
pub fn episode_seed(seed: u64, episode: u64) -> u64 {
    if episode == 0 { seed } else { mix(mix(seed) ^ episode) }
}

/// Returns the scenario of an episode, and which of its flows learns.
pub fn scenario(source: &Source, competitors: &[AlgorithmSpec], seed: u64) -> (Scenario, usize) {
    let scenario = match source {
        Source::Paths(ranges) => ranges.draw(seed),
        Source::Scenarios(scenarios) => {
            let index = Stream::new(seed, Purpose::Episode, 0).below(scenarios.len() as u64);
            scenarios[index as usize].with_seed(seed)
        }
    };
    prepared(competitors, scenario)
}

/// Returns the scenario of the given number, with which [`scenario`] could begin an episode.
pub fn scenario_of_kind(source: &Source, competitors: &[AlgorithmSpec], kind: usize) -> (Scenario, usize) {
    match source {
        Source::Paths(ranges) => prepared(competitors, ranges.draw(0)),
        Source::Scenarios(scenarios) => prepared(competitors, scenarios[kind].clone()),
    }
}

fn prepared(competitors: &[AlgorithmSpec], mut scenario: Scenario) -> (Scenario, usize) {
    let learner = scenario.flows.iter().position(|flow| flow.algorithm.name == AGENT).unwrap_or(0);
    if let Some(flow) = scenario.flows.get_mut(learner) {
        flow.algorithm = agent();
        let flow = flow.clone();
        // Short flows come last.
        let end = scenario.lasting_flows();
        let competitor =
            |algorithm: &AlgorithmSpec| FlowSpec { algorithm: algorithm.clone(), ..flow.clone() };
        scenario.flows.splice(end..end, competitors.iter().map(competitor));
    }
    (scenario, learner)
}

/// Returns the first rate of an episode, packets a second.
pub fn first_rate(first: FirstRate, seed: u64, bottleneck_pps: f64) -> f64 {
    match first {
        FirstRate::Packets(pps) => pps,
        FirstRate::OfBottleneck(low, high) => {
            let uniform = Stream::new(seed, Purpose::Episode, 1).uniform();
            (low + (high - low) * uniform) * bottleneck_pps
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_within_auroras_ranges_and_cover_them() {
        let source = Source::Paths(PathRanges::aurora());
        let (mut shortest, mut largest) = (u32::MAX, 0);
        for seed in 0..2000 {
            let (scenario, learner) = scenario(&source, &[], seed);
            let link = &scenario.network.links[0];
            assert_eq!((learner, scenario.seed), (0, seed));
            assert!((1_200_000..=6_000_000).contains(&link.rate.0));
            assert!((50_000_000..=500_000_000).contains(&link.delay.0));
            let QueueLimit::Packets(packets) = link.queue.limit else { panic!("packets") };
            assert!((2..=2981).contains(&packets));
            (shortest, largest) = (shortest.min(packets), largest.max(packets));
            let rate = first_rate(FirstRate::OfBottleneck(0.3, 1.5), seed, 100.0);
            assert!((30.0..=150.0).contains(&rate));
        }
        assert_eq!((shortest, largest > 2900), (2, true));
    }

    #[test]
    fn the_first_episode_has_the_seed_itself() {
        assert_eq!(episode_seed(7, 0), 7);
        let mut seeds: Vec<u64> = (0..100).flat_map(|s| (0..100).map(move |e| episode_seed(s, e))).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 10_000);
    }
}
