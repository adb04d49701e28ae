//! The flags that say a network of one way between two hosts.

use super::super::compare::NetworkFlags;
use crate::failure::Failure;
use clap::Args;
use cwnd_scenario::{
    AlgorithmSpec, Buffer, EcnThreshold, FlowGroup, Probability, Problem, Rate, Scenario, StackProfile, Time,
    build::{LineDelay, Setup, StackChoice, Topology},
};

/// A network of one way between two hosts.
#[derive(Args)]
pub struct LinkFlags {
    /// Rate of the link, counted on wire bytes: those of the packet, and 14 of Ethernet [default: 100 Mbit/s; with
    /// --rate-trace its mean].
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub rate: Option<Rate>,

    /// Delay, one way [default: 20 ms].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, conflicts_with = "rtt")]
    pub delay: Option<Time>,

    /// Round-trip time without queues, instead of the delay.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub rtt: Option<Time>,

    /// What the queue of each direction holds: `1 BDP`, `100` packets, `64 KB`.
    #[arg(long, value_name = "BUFFER", default_value = "1 BDP", allow_hyphen_values = true)]
    pub buffer: Buffer,

    /// Packet error rate, from the first end to the second (`1e-5`, `0.1 %`).
    #[arg(
        long,
        value_name = "PROBABILITY",
        default_value = "0",
        allow_hyphen_values = true,
        conflicts_with = "loss"
    )]
    pub per: Probability,

    /// Mark packets that find more than so many packets (`50`), or more than such a part of the queue's limit (`20%`).
    #[arg(long, value_name = "THRESHOLD", allow_hyphen_values = true)]
    pub ecn_threshold: Option<EcnThreshold>,

    /// Bytes of the largest IP packet.
    #[arg(long, value_name = "BYTES", default_value = "1500")]
    pub mtu: u32,

    /// Seed of all that is random.
    #[arg(long, value_name = "N", default_value = "1")]
    pub seed: u64,

    /// What else is said of the network.
    #[command(flatten)]
    pub network: NetworkFlags,
}

impl LinkFlags {
    /// The scenario whose network it is, of one flow.
    ///
    /// # Errors
    /// What is wrong, by the flag.
    pub fn scenario(&self) -> Result<Scenario, Failure> {
        let delay = self.delay.unwrap_or(Time::from_millis(20));
        let setup = Setup {
            topology: Topology::Path,
            rate: self.rate.unwrap_or(Rate(100_000_000)),
            delay: self.rtt.map_or(LineDelay::OneWay(delay), LineDelay::BaseRtt),
            buffer: self.buffer.clone(),
            per: self.per,
            ecn_threshold: self.ecn_threshold,
            stack: StackChoice {
                profile: StackProfile::Linux,
                mtu: Some(self.mtu),
                ..StackChoice::default()
            },
            ..Setup::default()
        };
        let by_flag = |problem: Problem| {
            let flag = problem.place.rsplit('.').next().unwrap_or_default().replace('_', "-");
            Problem { place: format!("--{flag}"), ..problem }
        };
        let setup = self.network.setup(setup, self.rate)?;
        let flow = FlowGroup::new(AlgorithmSpec { name: "cubic".into(), ..AlgorithmSpec::default() }, 1);
        setup.scenario(&[flow], self.seed).map_err(|problems| {
            let problems: Vec<Problem> = problems.into_iter().map(by_flag).collect();
            Failure::problems(&problems)
        })
    }
}

/// A network of this rate and round-trip time with a buffer of one pipe, and so many flows of CUBIC for so long.
///
/// # Errors
/// What is wrong with them.
pub fn plain(rate: Rate, rtt: Time, flows: u32, duration: Time) -> Result<Scenario, Failure> {
    let setup = Setup {
        topology: Topology::Path,
        rate,
        delay: LineDelay::BaseRtt(rtt),
        stack: StackChoice { profile: StackProfile::Linux, ..StackChoice::default() },
        duration,
        ..Setup::default()
    };
    let cubic = AlgorithmSpec { name: "cubic-linux".into(), ..AlgorithmSpec::default() };
    setup.scenario(&[FlowGroup::new(cubic, flows)], 1).map_err(|problems| Failure::problems(&problems))
}
