//! Tests of congestion control by scripts: packetdrill scripts against cwnd's simulated TCP endpoint, and files of events
//! against one algorithm.
//!
//! # Scripts
//!
//! [`parse`] reads a script of [packetdrill](https://github.com/google/packetdrill), and [`run`] plays it in virtual time: packets
//! of the script arrive at the endpoint, the application's calls write data, timers expire, and each packet that the script
//! expects is compared with the one that has left. The [`Outcome`] has the first difference, with the mechanism of TCP that it
//! concerns.
//!
//! ```
//! use cwnd_drill::{Settings, parse, run};
//!
//! let script = "
//!     0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
//!    +0 bind(3, ..., ...) = 0
//!    +0 listen(3, 1) = 0
//!    +0 < S 0:0(0) win 65535 <mss 1000,nop,nop,sackOK>
//!    +0 > S. 0:0(0) ack 1 <...>
//!   +.1 < . 1:1(0) ack 1 win 65535
//!    +0 accept(3, ..., ...) = 4
//!    +0 write(4, ..., 2000) = 2000
//!    +0 > P. 1:2001(2000) ack 1
//!    +0 %{ assert tcpi_snd_cwnd == 10 }%
//! ";
//! let script = parse(script).unwrap();
//! let outcome = run(&script, Settings::default(), &|_| None).unwrap();
//! assert!(outcome.passed());
//! ```
//!
//! # How a script drives the endpoint
//!
//! The sender of `cwnd-tcp` counts segments and has no handshake with options. The [socket] of this crate does the
//! handshake itself and configures the sender by its result: segment size, SACK, timestamps, ECN, window scale, and the round-trip
//! time of the handshake as the first sample. It maps the bytes of writes, ACKs and SACK blocks to segments, and the sender's
//! segments back to packets.
//!
//! # Events
//!
//! [`events`] drives one algorithm of `cwnd-cc` without packets.
#![forbid(unsafe_code)]

pub mod code;
mod cursor;
mod endpoint;
pub mod events;
mod file;
mod mechanism;
mod parser;
pub mod report;
mod runner;
pub mod script;
pub mod settings;
pub mod socket;
mod stream;

pub use cursor::{Place, ScriptError};
pub use endpoint::{Endpoint, Sent, Trigger};
pub use file::{FileError, run_file, run_file_with};
pub use mechanism::Mechanism;
pub use parser::parse;
pub use runner::{Difference, Outcome, run, run_with};
pub use settings::{Loader, Note, Settings};
