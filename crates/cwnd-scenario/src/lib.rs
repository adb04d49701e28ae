//! The question and the answer of an experiment.
//!
//! A [`Scenario`] says everything that decides a result: the network (nodes, links, queues, losses), the
//! flows, the stack they run on, the duration and the seed. An [`Engine`] answers it with an [`Outcome`]
//! of raw counts; [`metrics`] turns those into throughput, loss ratios and the rest, defined once.
#![forbid(unsafe_code)]

pub mod build;
mod engine;
pub mod metrics;
mod notation;
mod outcome;
mod scenario;
mod stack;
pub mod statistics;
mod units;

pub use engine::{Cost, Engine, EngineError, Problem};
pub use notation::{FlowGroup, Mix, NotationError, nearest};
pub use outcome::{FlowOutcome, LinkOutcome, Outcome, Sample, SampleState, Trace};
pub use scenario::{
    AlgorithmSpec, Counting, FlowSpec, LinkId, LinkSpec, Loss, Network, NodeId, QueueLimit, QueueSpec,
    Scenario,
};
pub use stack::{DelayedAck, Ecn, Recovery, Stack, StackProfile};
pub use units::{
    Buffer, BufferContext, BufferTerm, ByteSize, Decimal, EcnThreshold, Probability, Rate, Time, UnitError,
};
