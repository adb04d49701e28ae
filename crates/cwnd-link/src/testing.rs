//! Helpers for the tests of all disciplines.

use crate::{Arrival, Codepoint, Limits, Purpose, Stream};
use cwnd_scenario::{Counting, QueueLimit, QueueSpec};

/// Wire bytes of a full packet.
pub const FULL: u32 = 1000;
/// A millisecond.
pub const MS: u64 = 1_000_000;

/// A packet of a flow.
pub fn packet(flow: u32, bytes: u32, ecn: Codepoint) -> Arrival {
    Arrival { bytes, flow, ecn, plain_ack: false }
}

/// A full packet that cannot be marked.
pub fn full() -> Arrival {
    packet(0, FULL, Codepoint::NotEct)
}

/// A full packet that can be marked.
pub fn markable() -> Arrival {
    packet(0, FULL, Codepoint::Ect0)
}

pub fn unlimited() -> Limits {
    limits(QueueLimit::Unlimited)
}

/// A limit on what waits.
pub fn limits(limit: QueueLimit) -> Limits {
    Limits::new(&QueueSpec::drop_tail(limit, Counting::WaitingOnly))
}

pub fn stream() -> Stream {
    Stream::new(1, Purpose::Queue, 0)
}

#[track_caller]
pub fn assert_near(is: f64, should_be: f64) {
    assert!((is - should_be).abs() <= 1e-12 * should_be.abs(), "{is:e} instead of {should_be:e}");
}
