//! Queues, loss models and transmitters: state machines with time as an argument.
//!
//! Nothing here schedules anything. A queue is told when a packet arrives and when the transmitter wants
//! one; a loss model is asked for each packet that crosses a line; a [`SerialTime`] tells how long a
//! packet occupies a transmitter. So a simulator and an emulator of real links can use the same code.
#![forbid(unsafe_code)]

mod backlog;
mod drop_tail;
mod fifo;
mod line;
mod loss;
mod policer;
mod queue;
mod serial;
mod thinning;
mod transmitter;

pub use cwnd_scenario::{Purpose, Stream};
pub use fifo::{Fifo, Limits, Verdict};
pub use line::{Crossing, Line};
pub use loss::BernoulliLoss;
pub use policer::Policer;
pub use queue::{Arrival, Codepoint, Departure, OtherDiscipline, Queue};
pub use serial::SerialTime;
pub use transmitter::Transmitter;
