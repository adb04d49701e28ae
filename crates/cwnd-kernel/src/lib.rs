//! The algorithms in C, for the Linux kernel, and what holds them against the Rust.
//!
//! Each algorithm is one file of `bpf/`, compiled twice. To BPF, it is a `struct_ops` program of
//! `tcp_congestion_ops` that the module `load` puts into the running kernel (feature `load`; it needs clang). Natively it
//! stands behind [`native()`] as a [`cwnd_cc::CongestionControl`] like any other, so that a simulator can run what the
//! kernel runs, and so that both can be driven through the same events and compared.
//!
//! A compiled BPF object could stand there as well: whatever answers [`cwnd_cc::CongestionControl`] can.

mod catalogue;
#[cfg(feature = "load")]
pub mod load;
mod native;
mod operations;
mod state;

pub use catalogue::{KernelAlgorithm, KernelParameter, all, find, find_or_explain, read_parameters};
pub use native::native;
pub use operations::Values;
pub use state::{PRIVATE_WORDS, SocketState};
