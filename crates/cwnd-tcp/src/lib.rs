//! The TCP endpoint: what a sender and a receiver do with packets and timers.
//!
//! An endpoint is a state machine: it is handed a packet or told that its timer has come, and hands
//! packets to an [`Emit`](packet::Emit). It knows nothing of links or engines.

mod application;
mod copies;
#[doc(hidden)]
pub mod fault;
mod journal;
mod linux;
pub mod packet;
mod plain;
mod rate;
mod receiver;
mod recovery;
mod rtt;
mod scoreboard;
mod send_times;
mod sender;
mod transmit;

pub use application::{Application, Message};
pub use journal::{Moment, RoundTrips};
#[doc(hidden)]
pub use plain::{Leave, PlainRun};
pub use receiver::{Receiver, ReceiverConfig, ReceiverCounts};
pub use sender::{SYN_OPTIONS, Sender, SenderConfig, SenderCounts};

/// No time: a timer that is not set.
pub const NEVER: u64 = u64::MAX;

/// The full number of a sequence number known modulo 2^32, the one nearest to `near`.
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
