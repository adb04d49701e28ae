//! Runs of the simulator as other tools read them: packet captures for Wireshark ([`Capture`]) and qlog ([`Qlog`]).
//!
//! Neither changes anything of a run. What a capture holds that the simulator's packets do not say, and what it leaves open, is
//! told in [`headers`]; what TCP's senders mean in the words of QUIC, in [`qlog`](mod@qlog).
#![forbid(unsafe_code)]

mod capture;
pub mod headers;
pub mod pcapng;
mod points;
pub mod qlog;

pub use capture::{Capture, EPOCH_S, capture, capture_with};
pub use points::{default_points, point};
pub use qlog::{Qlog, log, log_with};
