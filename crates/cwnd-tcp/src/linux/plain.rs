//! The short way of an ACK that acknowledges new data where nothing is missing and nothing was sent again. It does what
//! the long way would, without asking for what cannot be.

use super::{Delivery, Repair};
use crate::fault::{self, Fault};
use crate::packet::{ECE, Emit, Packet, SACK};
use crate::sender::Sender;
use cwnd_cc::{Nanos, State};

impl Sender {
    /// From now on no ACK goes the short way. Nothing may come out differently, and tests look whether that is so.
    #[doc(hidden)]
    pub fn take_every_ack_in_detail(&mut self) {
        self.handle_in_detail();
        if let Some(linux) = &mut self.linux {
            linux.in_detail = true;
        }
    }

    /// Whether an ACK goes the short way.
    #[inline(always)]
    pub(super) fn is_plain_for_linux(&mut self, packet: &Packet, cumulative: u64) -> bool {
        let una = self.una;
        if packet.flags & (SACK | ECE) != 0 || self.state != State::Open || cumulative <= una {
            return false;
        }
        let missing = self.board.sacked | self.board.lost | self.board.retransmitted;
        // What was SACKed and given up lies above.
        let known = missing == 0 && self.board.highest_sacked() <= una;
        let linux = self.linux();
        known && linux.sent.never_from <= una && !linux.timer.has_probe() && !linux.in_detail
    }

    /// It acknowledges all below `cumulative`.
    pub(super) fn on_plain_linux_ack(&mut self, now: u64, cumulative: u64, out: &mut impl Emit) {
        self.integrate_cwnd(now);
        self.ack.now = Nanos(now);
        self.newly_lost = 0;
        let prior_in_flight = (self.next - self.una) as u32;
        let acked = (cumulative - self.una) as u32;
        if let Some(records) = &mut self.records {
            (self.una..cumulative).for_each(|segment| records.on_delivered(now, segment));
        }
        let (una, least) = (self.una, self.rtt.min);
        let linux = self.linux();
        let first = linux.sent.of(una);
        let last = linux.sent.of(cumulative - 1);
        linux.rack.advance(now, cumulative - 1, last, least);
        self.una = cumulative;
        self.dup_acks = 0;
        let told = Delivery { delivered: acked, advanced: acked, ..Delivery::default() };
        let rtt = self.take_round_trip(now - first.at, now - last.at);
        self.counts.delivered += u64::from(acked);
        self.timeouts_in_row = 0;
        if !fault::is(Fault::ShortWayForgetsTimer) {
            self.set_linux_timer(now);
        }
        self.tell_linux_algorithm(now, &told, 0, true, rtt, prior_in_flight);
        self.transmit_linux(now, Repair::Nothing, out);
    }
}
