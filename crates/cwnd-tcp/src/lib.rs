//! The TCP endpoint: what a sender and a receiver do with packets and timers.
//!
//! An endpoint is a state machine without I/O: an engine hands it packets and tells it when its timer expires, and it hands
//! packets to an [`Emit`](packet::Emit). It knows nothing of links or engines.
//!
//! A [`Sender`] is a [`Connection`], which is the same for every stack profile, and a loss-recovery strategy
//! ([`LossRecovery`]), which the profile selects.

pub mod accurate_ecn;
mod application;
mod config;
mod connection;
mod fast_path;
#[doc(hidden)]
pub mod fault;
mod growing_window;
pub mod packet;
pub mod prefetch;
mod rate;
mod receiver;
mod recovery;
mod rtt;
mod scoreboard;
mod sender;
mod timer_wheel;
mod transmit;

pub use application::{Application, Message};
pub use config::{SenderConfig, SenderCounts};
pub use connection::Connection;
pub use connection::event_log::{RoundTrips, SenderEvent};
#[doc(hidden)]
pub use connection::pacing::SendMode;
pub use connection::tcp_info::TcpInfo;
#[doc(hidden)]
pub use fast_path::PlainRun;
pub use growing_window::GrowingWindow;
#[doc(hidden)]
pub use receiver::DelayedAckRun;
pub use receiver::{Receiver, ReceiverConfig, ReceiverCounts};
pub use recovery::{
    AnyRecovery, LossRecovery,
    linux::{Linux, LinuxOptions},
    ns2::Ns2,
    rfc::Rfc,
};
pub use sender::{SYN_OPTIONS, Sender};
pub use timer_wheel::TimerWheel;

/// The time of a timer that is not set.
pub const NEVER: u64 = u64::MAX;

/// Returns the sequence number nearest to `near` whose value modulo 2^32 is `low`.
#[inline(always)]
pub(crate) fn expand(near: u64, low: u32) -> u64 {
    near.wrapping_add(i64::from(low.wrapping_sub(near as u32) as i32) as u64)
}

#[cfg(test)]
mod tests {
    use super::expand;

    #[test]
    fn sequence_numbers_wrap() {
        let near = (3u64 << 32) + 5;
        assert_eq!(expand(near, 7), (3 << 32) + 7);
        assert_eq!(expand(near, u32::MAX), (3 << 32) - 1);
        assert_eq!(expand(near, 5), near);
        assert_eq!(expand(0, 100), 100);
    }
}
