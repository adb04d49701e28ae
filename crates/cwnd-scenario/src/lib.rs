//! The contract between experiments and engines.
//!
//! A [`Scenario`] specifies everything that decides a result: the network (nodes, links, queues, losses), the flows, the stack
//! they run on, the duration and the seed. An [`Engine`] runs it and returns an [`Outcome`] of raw counts, from which the
//! crate `cwnd-metrics` computes throughput, loss ratios and other metrics.
//!
//! Scenarios and outcomes implement serde's traits. Their serialized form is what stores keep, so its names are stable:
//! renaming a field or variant in Rust takes a `#[serde(rename)]` that keeps the name. Times are nanoseconds, rates bit/s.
#![forbid(unsafe_code)]

mod emulation;
mod engine;
mod helpers;
mod infinite;
pub mod kinds;
mod linux_version;
mod network;
pub mod notation;
mod outcome;
mod rng;
mod scenario;
mod shared;
mod stack;
mod traffic;
mod units;

pub use emulation::{Emulation, Implementation};
pub use engine::{Cost, Engine, EngineError, Identity, Problem};
pub use helpers::{HELPER_THREAD, Helpers, SpareThreads};
pub use linux_version::LinuxVersion;
pub use network::{
    CoDel, Counting, DeliveryTimes, DeliveryTrace, Discipline, DualPi2, EcnRemark, Effects, FqCoDel,
    GilbertElliott, Jitter, JitterShape, LinkId, LinkSpec, Loss, Network, NodeId, Pie, Policer, QueueLimit,
    QueueSpec, Red, Schedule, Step, Steps, TraceError,
};
pub use notation::{NotationError, nearest};
pub use outcome::{FlowOutcome, LinkOutcome, MessageOutcome, Observed, Outcome, Sample, SampleState, Trace};
pub use rng::{Purpose, Stream, mix};
pub use scenario::{
    AlgorithmSpec, Arrivals, FlowSpec, MAX_FLOWS, MAX_SAMPLES, ReceiverBehaviour, Scenario, Ties, Transport,
    is_reserved_group, registered_name,
};
pub use shared::Shared;
pub use stack::{AccurateEcn, DelayedAck, Ecn, EcnPeer, Recovery, Stack, StackProfile};
pub use traffic::{Distribution, FlowSizes, Quantity, SizeTable, SizeTableError, Traffic, Workload};
pub use units::{ByteSize, Decimal, NotInteger, Probability, Rate, Time, UnitError};
