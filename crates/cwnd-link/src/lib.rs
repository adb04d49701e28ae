//! Queues, loss models and transmitters: state machines with time as an argument.
//!
//! This crate schedules nothing. A queue is told when a packet arrives and when the transmitter wants one; a loss model is
//! asked for each packet that crosses a line; a [`SerialTime`] tells how long a packet occupies a transmitter. So a simulator
//! and an emulator of real links can use the same code.
//!
//! A packet passes a [`Policer`], waits in a [`Queue`], leaves a [`Transmitter`] whose rate may vary, and crosses a [`Line`]
//! that delays, loses, holds up and doubles. Each of them has bounds that a simulator may look ahead by:
//! [`Transmitter::least_time`] and [`Line::least_delay`]. [`check_change`] says what a link can become while it is in use.
//!
//! [`Queue`] is a queue of any discipline. Each discipline is described in a module of its own, with its equations, its
//! parameters and their defaults, and all in which it differs from its source: [`drop_tail`], [`thinning`], [`red`],
//! [`codel`], [`fq_codel`], [`pie`], [`dual_pi2`].
#![forbid(unsafe_code)]

mod backlog;
mod change;
pub mod codel;
mod discipline;
pub mod drop_tail;
pub mod dual_pi2;
pub mod fq_codel;
mod limits;
mod line;
mod loss;
mod opportunities;
mod periodic;
pub mod pie;
mod policer;
mod queue;
pub mod red;
mod serial;
#[cfg(test)]
mod testing;
pub mod thinning;
mod timeline;
mod transmitter;

pub use change::{ChangeError, check_change, check_discipline, check_rate};
/// What links are specified by, and the streams of random numbers that they draw from.
pub use cwnd_scenario::{
    Counting, Discipline, EcnRemark, Effects, Jitter, JitterShape, LinkSpec, Loss, Purpose, QueueLimit,
    QueueSpec, Rate, Schedule, Stream, Time,
};
pub use discipline::{Arrival, Codepoint, Departure, QueueDiscipline, QueueVisitor};
pub use limits::Limits;
pub use line::{Crossing, JitterSource, Line, SteadyLine};
pub use loss::{BernoulliLoss, GilbertElliottLoss, LossModel};
pub use policer::Policer;
pub use queue::Queue;
pub use serial::SerialTime;
pub use timeline::{Place, Timeline};
pub use transmitter::{Steady, Transmitter};
