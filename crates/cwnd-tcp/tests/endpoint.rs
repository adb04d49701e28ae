//! The TCP endpoint against vectors worked out by hand.
//!
//! Each test drives a sender or a receiver alone: it hands packets to the endpoint, lets its timers expire, and compares
//! what the endpoint sends with what the named section of the named RFC requires. The derivation is written above each
//! vector. No expected value was copied from the implementation.

#[path = "endpoint/accurate_ecn.rs"]
mod accurate_ecn;
#[path = "endpoint/application.rs"]
mod application;
#[path = "endpoint/bench.rs"]
mod bench;
#[path = "endpoint/delayed_ack.rs"]
mod delayed_ack;
#[path = "endpoint/ecn.rs"]
mod ecn;
#[path = "endpoint/event_log.rs"]
mod event_log;
#[path = "endpoint/fake.rs"]
mod fake;
#[path = "endpoint/lifetime.rs"]
mod lifetime;
#[path = "endpoint/linux.rs"]
mod linux;
#[path = "endpoint/linux_host.rs"]
mod linux_host;
#[path = "endpoint/linux_spurious.rs"]
mod linux_spurious;
#[path = "endpoint/newreno.rs"]
mod newreno;
#[path = "endpoint/ns2.rs"]
mod ns2;
#[path = "endpoint/pacing.rs"]
mod pacing;
#[path = "endpoint/rack.rs"]
mod rack;
#[path = "endpoint/rate_samples.rs"]
mod rate_samples;
#[path = "endpoint/reduction.rs"]
mod reduction;
#[path = "endpoint/rto.rs"]
mod rto;
#[path = "endpoint/sack_blocks.rs"]
mod sack_blocks;
#[path = "endpoint/sack_recovery.rs"]
mod sack_recovery;
#[path = "endpoint/timeout.rs"]
mod timeout;
#[path = "endpoint/validation.rs"]
mod validation;
