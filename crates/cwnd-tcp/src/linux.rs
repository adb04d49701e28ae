//! The sender of today's Linux: RACK-TLP (RFC 8985), proportional rate reduction, F-RTO, undo, and bursts.
//!
//! What follows was put together from the RFCs and from facts about Linux 6.1; the recordings that
//! `cargo xtask fidelity --linux` holds it against are of that. Without SACK the sender is the one of `recovery.rs`.

mod duplicates;
mod output;
mod plain;
mod rack;
mod reduction;
mod sent;
mod state;
mod timer;
mod undo;

use super::sender::Sender;
use super::{NEVER, expand};
use crate::packet::{ECE, Emit, Packet, SACK, SackBlocks};
use cwnd_cc::{DupAck, Nanos, State};
pub(super) use output::Leave;
use output::Use;
use rack::Rack;
use reduction::Reduction;
use sent::Sent;
use timer::Timer;
use undo::Undo;

/// What a sender of this kind knows beyond the others.
#[derive(Clone, Debug, Default)]
pub(super) struct Linux {
    pub sent: Sent,
    rack: Rack,
    reduction: Reduction,
    undo: Undo,
    timer: Timer,
    pub usage: Use,
    /// No ACK goes the short way.
    in_detail: bool,
}

/// What an ACK delivered.
#[derive(Clone, Copy, Debug, Default)]
struct Delivery {
    /// Segments delivered by it, SACKed by it, and by which it advanced the cumulative acknowledgement.
    delivered: u32,
    sacked: u32,
    advanced: u32,
    /// When the first and the last segment of those were sent that it acknowledges for the first time and that were
    /// never retransmitted.
    acked_sent: Option<(u64, u64)>,
    /// The same of those that it SACKs.
    sacked_sent: Option<(u64, u64)>,
    /// A segment that was retransmitted is acknowledged.
    has_retransmitted: bool,
    /// A segment of before the recovery point that was never retransmitted is delivered.
    has_original: bool,
    /// What was sent again came twice, and whether that was the probe alone.
    duplicate: bool,
    duplicate_of_probe: bool,
    /// The lowest segment delivered that was never retransmitted and lies below one SACKed before.
    reordered: Option<u64>,
}

/// What to send beside new data after an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repair {
    Nothing,
    /// What is lost.
    Lost,
    /// New data first (F-RTO).
    New,
}

impl Sender {
    /// An ACK.
    pub(super) fn on_ack_linux(
        &mut self,
        now: u64,
        packet: &Packet,
        blocks: Option<&SackBlocks>,
        out: &mut impl Emit,
    ) {
        let cumulative = expand(self.una, packet.seq).min(self.next);
        if self.is_plain_for_linux(packet, cumulative) {
            return self.on_plain_linux_ack(now, cumulative, out);
        }
        if cumulative < self.una {
            return self.on_old_linux_ack(now, packet, cumulative, blocks, out);
        }
        self.integrate_cwnd(now);
        self.board.cover(self.una, self.next);
        self.ack.now = Nanos(now);
        self.newly_lost = 0;
        let prior_in_flight = self.in_flight();
        let highest = self.board.highest_sacked();

        let mut told = Delivery::default();
        if let Some(blocks) = blocks {
            self.take_duplicates(cumulative, blocks, &mut told);
            self.take_linux_blocks(now, cumulative, highest, blocks, &mut told);
        }
        if cumulative > self.una {
            self.acknowledge_linux(now, cumulative, highest, &mut told);
        }
        self.note_reordering(&told, highest);
        if told.duplicate && !told.duplicate_of_probe {
            let (una, next) = (self.una, self.next);
            self.linux().rack.on_duplicate(una, next);
        }
        let rtt = self.sample_round_trip(now, packet, &told);
        let mut set_timer = told.advanced > 0 || self.was_head_sent_since(&told);
        let marked = self.note_marks(packet, told.delivered);
        self.counts.delivered += u64::from(told.delivered);
        if told.advanced > 0 {
            self.timeouts_in_row = 0;
        }
        self.take_probe_answer(now, cumulative, &told);

        let duplicate = told.advanced == 0 && self.next > self.una && cumulative == self.una;
        if duplicate {
            self.dup_acks += 1;
            let dup = DupAck { now: Nanos(now), sacked: told.sacked, count: self.dup_acks };
            self.algorithm.on_dup_ack(&mut self.window, &dup);
        }
        let mut repair = Repair::Nothing;
        let lost_before = self.linux().rack.lost;
        let dubious = told.advanced == 0 || told.sacked > 0 || told.duplicate || marked > 0;
        if dubious || self.state != State::Open {
            let changed = self.change_linux_state(now, packet, &told, marked > 0);
            repair = changed.repair;
            set_timer &= !changed.waits_for_reordering;
        }
        if set_timer {
            self.set_linux_timer(now);
        }
        self.newly_lost = (self.linux().rack.lost - lost_before) as u32;
        let lost = self.newly_lost;
        if told.delivered + told.advanced + marked + lost > 0 {
            let plain = told.advanced > 0 && packet.flags & (SACK | ECE) == 0;
            self.tell_linux_algorithm(now, &told, marked, plain, rtt, prior_in_flight);
        }
        if !self.needs.owns_recovery && matches!(self.state, State::Recovery | State::Cwr) {
            self.reduce_linux_window(told.delivered, told.advanced > 0, lost);
        }
        self.transmit_linux(now, repair, out);
    }

    /// Processes an ACK that a later one has overtaken: its cumulative number lies below `una`. As in Linux
    /// (`old_ack` in `tcp_ack`), only its SACK blocks count. They can reveal deliveries, losses and needless
    /// retransmissions; the ACK gives no round-trip sample, no ECN echo and no growth.
    fn on_old_linux_ack(
        &mut self,
        now: u64,
        packet: &Packet,
        cumulative: u64,
        blocks: Option<&SackBlocks>,
        out: &mut impl Emit,
    ) {
        self.silent_acks += 1;
        let Some(blocks) = blocks else { return };
        self.integrate_cwnd(now);
        self.board.cover(self.una, self.next);
        self.ack.now = Nanos(now);
        let highest = self.board.highest_sacked();
        let mut told = Delivery::default();
        self.take_duplicates(cumulative, blocks, &mut told);
        self.take_linux_blocks(now, self.una, highest, blocks, &mut told);
        self.note_reordering(&told, highest);
        if told.duplicate && !told.duplicate_of_probe {
            let (una, next) = (self.una, self.next);
            self.linux().rack.on_duplicate(una, next);
        }
        if let Some(records) = &mut self.records {
            records.discard_sample();
        }
        self.counts.delivered += u64::from(told.delivered);
        let changed = self.change_linux_state(now, packet, &told, false);
        self.transmit_linux(now, changed.repair, out);
    }

    /// `plain`: the ACK acknowledges and says nothing else.
    fn tell_linux_algorithm(
        &mut self,
        now: u64,
        told: &Delivery,
        marked: u32,
        plain: bool,
        rtt: Option<u64>,
        prior_in_flight: u32,
    ) {
        let usage = self.linux().usage;
        self.ack.cwnd_limited = usage.is_limited(&self.window);
        // While it grows, every ACK advertises another window.
        self.ack.predicted = plain && self.una > self.config.growing_window;
        let lost = self.newly_lost;
        self.tell_algorithm(now, told.delivered, told.advanced, lost, marked, rtt, prior_in_flight);
    }

    fn linux(&mut self) -> &mut Linux {
        self.linux.as_mut().expect("a sender of this kind has it")
    }

    /// What SACK blocks name for the first time, from `first` on, which is not below `una`. What the ACK before said
    /// already is taken off first.
    fn take_linux_blocks(
        &mut self,
        now: u64,
        first: u64,
        highest: u64,
        blocks: &SackBlocks,
        told: &mut Delivery,
    ) {
        let mut said = [(0, 0); 4];
        for (i, (from, to)) in blocks.iter().enumerate() {
            let (from, to) = (expand(self.una, from), expand(self.una, to));
            said[i] = (from, to);
            let (from, to) = super::recovery::without(from.max(first), to.min(self.next), &self.said);
            for segment in from..to {
                if self.board.is_sacked(segment) {
                    continue;
                }
                let sent = self.note_delivered(now, segment);
                if !sent.again {
                    let first = told.sacked_sent.map_or(sent.at, |(first, _)| first);
                    told.sacked_sent = Some((first, sent.at));
                    told.has_original |= segment < self.recover;
                    if segment < highest {
                        told.reordered = Some(told.reordered.map_or(segment, |lowest| lowest.min(segment)));
                    }
                }
                told.sacked += self.board.sack(segment, segment + 1, |_| ());
            }
        }
        told.delivered += told.sacked;
        self.said = said;
    }

    /// `una` moves to `to`.
    fn acknowledge_linux(&mut self, now: u64, to: u64, highest: u64, told: &mut Delivery) {
        told.advanced = (to - self.una) as u32;
        for segment in self.una..to {
            let known = self.board.is_sacked(segment);
            let sent = if known { self.linux().sent.of(segment) } else { self.note_delivered(now, segment) };
            if sent.again {
                told.has_retransmitted = true;
            } else if !known {
                let first = told.acked_sent.map_or(sent.at, |(first, _)| first);
                told.acked_sent = Some((first, sent.at));
                told.has_original |= segment < self.recover;
                if segment < highest {
                    told.reordered = Some(told.reordered.map_or(segment, |lowest| lowest.min(segment)));
                }
            }
        }
        let known = self.board.acknowledge(self.una, to);
        told.delivered += told.advanced - known;
        self.una = to;
        self.dup_acks = 0;
    }

    /// A segment is delivered that was not known to be. When it was sent.
    fn note_delivered(&mut self, now: u64, segment: u64) -> sent::When {
        if let Some(records) = &mut self.records {
            records.on_delivered(now, segment);
        }
        let least = self.rtt.min;
        let linux = self.linux();
        let sent = linux.sent.of(segment);
        linux.rack.advance(now, segment, sent, least);
        sent
    }

    /// The round-trip time that the ACK gives (RFC 6298 with Karn's rule): the smoothed one takes the first segment
    /// acknowledged, or else SACKed; the algorithm is told that of the last. Where all were retransmitted, the echoed
    /// timestamp tells.
    fn sample_round_trip(&mut self, now: u64, packet: &Packet, told: &Delivery) -> Option<u64> {
        let acked = told.acked_sent.filter(|_| !told.has_retransmitted);
        let (mut first, mut last) = match acked {
            Some((first, last)) => (Some(now - first), Some(now - last)),
            None => (None, None),
        };
        if let Some((first_sacked, last_sacked)) = told.sacked_sent {
            first = first.or(Some(now - first_sacked));
            last = Some(now - last_sacked);
        }
        if first.is_none() && told.advanced > 0 && self.config.timestamps {
            first = Some(now - packet.sent);
            last = first;
        }
        match (first, last) {
            (Some(first), Some(last)) => self.take_round_trip(first, last),
            _ => {
                self.silent_acks += 1;
                self.latest_rtt = self.ack.rtt.map_or(self.latest_rtt, |latest| latest.0);
                None
            }
        }
    }

    fn take_round_trip(&mut self, first: u64, last: u64) -> Option<u64> {
        self.rtt.sample_in_round(first, self.una, self.next);
        self.rtt.note_least(last);
        self.rtt.backoff = 0;
        self.latest_rtt = last;
        Some(last)
    }

    /// The timer starts anew also where what was SACKed was sent after the first outstanding segment was: that one has
    /// then waited less long than the round trip took.
    fn was_head_sent_since(&mut self, told: &Delivery) -> bool {
        let Some((first, _)) = told.sacked_sent else { return false };
        let una = self.una;
        una < self.next && first < self.linux().sent.of(una).at
    }

    /// All that the timers hang on is gone.
    fn is_all_acknowledged(&self) -> bool {
        self.una == self.next
    }

    fn stop_linux_timer(&mut self) {
        self.rto_at = NEVER;
    }
}
