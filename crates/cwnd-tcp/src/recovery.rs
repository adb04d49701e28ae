//! Loss recovery as a strategy: what a sender does with an ACK off the fast path, when its retransmission timer expires,
//! and what it sends when.
//!
//! A strategy owns the state of its loss recovery and drives the [`Connection`], which knows no strategy. There are three:
//! [`Rfc`] (RFC 6675 and RFC 6582), [`Ns2`] (ns-2.35's TCP-Linux agent) and [`Linux`] (RACK-TLP and PRR).
//! `Sender::new` selects one of them, and [`AnyRecovery`] is the only place where a call depends on which.

mod dup_ack;
pub(crate) mod linux;
pub(crate) mod ns2;
mod retransmissions;
pub(crate) mod rfc;
mod send_times;

use crate::Connection;
use crate::fault::{self, Fault};
use crate::packet::{Emit, Packet, SackBlocks};
use linux::Linux;
use ns2::Ns2;
use rfc::Rfc;

/// Duplicate ACKs, or SACKed segments, that mean a loss while no reordering was seen (RFC 5681 section 3.2, and RFC 8985's
/// RACK.dup_thresh).
pub(crate) const DUP_THRESH: u32 = 3;

/// A loss-recovery strategy.
pub trait LossRecovery {
    /// Processes an ACK on the general path, and sends what it allows.
    fn on_ack(
        &mut self,
        conn: &mut Connection,
        now: u64,
        packet: &Packet,
        blocks: Option<&SackBlocks>,
        out: &mut impl Emit,
    );

    /// Processes the expiry of the retransmission timer.
    fn on_retransmission_timer(&mut self, conn: &mut Connection, now: u64, out: &mut impl Emit);

    /// Sends what the window allows now.
    fn transmit(&mut self, conn: &mut Connection, now: u64, out: &mut impl Emit);

    /// Processes an ACK without flags on the strategy's own fast path, and sends what it allows. Returns false, and has done
    /// nothing, if the ACK takes the general path.
    fn on_plain_ack(
        &mut self,
        conn: &mut Connection,
        now: u64,
        cumulative: u64,
        out: &mut impl Emit,
    ) -> bool {
        let _ = (conn, now, cumulative, out);
        false
    }

    /// Returns whether the strategy keeps a record of each segment. If so, it takes round-trip time samples without
    /// timestamps, validates the congestion window itself, and has its own fast path instead of the shared one.
    fn tracks_segments(&self) -> bool {
        false
    }

    /// Turns off the strategy's own fast path, if it has one.
    fn disable_fast_path(&mut self) {}
}

/// Any of the strategies, so that engines can hold senders of all profiles.
#[allow(clippy::large_enum_variant)] // a sender is one piece of memory: with ten thousand flows each further one is in no near cache
pub enum AnyRecovery {
    /// RFC 6675 and RFC 6582.
    Rfc(Rfc),
    /// ns-2.35's TCP-Linux.
    Ns2(Ns2),
    /// Linux 6.1.
    Linux(Linux),
}

/// Calls a method of the strategy at hand.
macro_rules! dispatch {
    ($any:expr, $recovery:ident => $call:expr) => {
        match $any {
            AnyRecovery::Rfc($recovery) => $call,
            AnyRecovery::Ns2($recovery) => $call,
            AnyRecovery::Linux($recovery) => $call,
        }
    };
}

impl LossRecovery for AnyRecovery {
    #[inline(always)]
    fn on_ack(
        &mut self,
        conn: &mut Connection,
        now: u64,
        packet: &Packet,
        blocks: Option<&SackBlocks>,
        out: &mut impl Emit,
    ) {
        dispatch!(self, recovery => recovery.on_ack(conn, now, packet, blocks, out));
    }

    #[inline(always)]
    fn on_retransmission_timer(&mut self, conn: &mut Connection, now: u64, out: &mut impl Emit) {
        dispatch!(self, recovery => recovery.on_retransmission_timer(conn, now, out));
    }

    #[inline(always)]
    fn transmit(&mut self, conn: &mut Connection, now: u64, out: &mut impl Emit) {
        dispatch!(self, recovery => recovery.transmit(conn, now, out));
    }

    #[inline(always)]
    fn on_plain_ack(
        &mut self,
        conn: &mut Connection,
        now: u64,
        cumulative: u64,
        out: &mut impl Emit,
    ) -> bool {
        dispatch!(self, recovery => recovery.on_plain_ack(conn, now, cumulative, out))
    }

    fn tracks_segments(&self) -> bool {
        dispatch!(self, recovery => recovery.tracks_segments())
    }

    fn disable_fast_path(&mut self) {
        dispatch!(self, recovery => recovery.disable_fast_path());
    }
}

/// The ranges that the SACK blocks of an ACK named. Every ACK of an episode repeats most of what the one before it named;
/// without taking that off first, an episode would cost the square of its length.
pub(crate) type SackRanges = [(u64, u64); 4];

/// Returns what is left of `from..to` when its ends are cut off where a known range covers them.
pub(crate) fn without(mut from: u64, mut to: u64, known: &SackRanges) -> (u64, u64) {
    for &(start, end) in known {
        if start <= from {
            from = from.max(end + u64::from(fault::is(Fault::KnownRangeTooLong)));
        } else if to <= end {
            to = to.min(start);
        }
    }
    (from, to)
}
