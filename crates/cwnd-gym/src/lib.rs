#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod action;
mod agent;
mod config;
mod datagram;
mod environment;
mod error;
mod features;
mod interval;
pub mod policy;
mod pool;
mod reward;
mod source;
mod vector;

pub use action::{Action, ActionSpace, WindowStep};
pub use agent::AGENT;
pub use config::{EnvConfig, IntervalLength, Transport};
pub use environment::{Env, Step, StepInfo};
pub use error::GymError;
pub use features::Feature;
pub use interval::Interval;
pub use reward::Reward;
pub use source::{FirstRate, PathRanges, Source, episode_seed};
pub use vector::{Autoreset, Batch, InfoColumns, VectorEnv};
