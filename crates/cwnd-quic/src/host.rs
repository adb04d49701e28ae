//! QUIC flows in simulated time: noq and quinn as hosts of `cwnd-net`'s network, next to TCP flows.
//!
//! [`run_with`] runs a scenario of which some flows have a QUIC [transport](cwnd_scenario::Transport). It takes the same scenario
//! as `cwnd-sim` and returns the same kind of outcome. Links, queues and TCP endpoints are the same state machines; the network is
//! driven event by event, so that it can carry real datagrams. Scenarios with TCP flows only go to `cwnd-sim`.
//!
//! Both implementations are state machines without I/O that take the time as an argument. The run gives them simulated time and seeds
//! every random choice that they let a caller seed. Two cannot be seeded:
//!
//! - The X25519 key of each TLS handshake comes from the operating system. It changes the bytes of ciphertexts and no length,
//!   so outcomes do not depend on it.
//! - The own BBRs of noq and quinn draw when they probe, from the operating system's random numbers. Runs with these
//!   [two](is_unseeded) differ; all others have one outcome for a seed.
//!
//! The table of what an outcome's fields mean for a QUIC flow is in `docs/quic-simulation.md`.

mod check;
mod end;
mod engine;
mod log;
mod meter;
#[path = "host/stacks/noq.rs"]
mod noq;
mod outcome;
mod packet;
#[path = "host/stacks/quinn.rs"]
mod quinn;
mod ranges;
mod run;
mod seeds;
mod tls;

pub use check::{check_own, check_with, has_quic, is_unseeded};
pub use engine::{IMPLEMENTATIONS, VERSION, identified, run_with, run_with_helpers};
pub use log::log;
