//! The access links of hosts.

use crate::Buffer;
use cwnd_scenario::{Discipline, Rate, Time};

/// The lines between hosts and routers, in both directions and on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// Rate.
    pub rate: Rate,
    /// Propagation delay, one way.
    pub delay: Time,
    /// What the queue before each of them holds; a sender's own queue is one of them.
    pub buffer: Buffer,
    /// What queue that is.
    pub queue: Discipline,
}
