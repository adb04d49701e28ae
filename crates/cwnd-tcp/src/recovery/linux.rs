//! Loss recovery of Linux 6.1: RACK-TLP (RFC 8985), proportional rate reduction, F-RTO (RFC 5682), undo, and bursts.
//!
//! It was written from the RFCs and from facts about Linux 6.1; `cargo xtask fidelity --linux` compares it with recordings
//! of that kernel. An ACK is processed in three files: here what it delivers and measures, in `linux/episode.rs` what that
//! does to loss recovery and the window, in `linux/output.rs` what is sent and when the timer expires.

mod buffers;
mod burst;
mod episode;
mod output;
mod rack;
mod release;
mod send_log;
mod timeout;
mod undo;

use super::{LossRecovery, SackRanges, without};
use crate::connection::AckReport;
use crate::connection::pacing::SendMode;
use crate::fault::{self, Fault};
use crate::packet::{ACCURATE, ECE, Emit, Packet, SACK, SackBlocks};
use crate::{Connection, SenderConfig, expand};
use buffers::Buffers;
use cwnd_cc::{DupAck, Nanos, State};
use cwnd_scenario::{LinuxVersion, Recovery};
use episode::Prr;
use output::{Output, Timer};
use rack::Rack;
use send_log::{SendLog, SendRecord};
use undo::{TIMESTAMP_TICK, Undo};

/// System settings of Linux that change its loss recovery and its bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinuxOptions {
    /// Whether tail loss probes are sent (`tcp_early_retrans`).
    pub tail_loss_probe: bool,
    /// A burst waits for more of the window only while less than this part of it is free (`tcp_tso_win_divisor`); with zero
    /// while fewer than four segments are free.
    pub tso_win_divisor: u32,
    /// The least segments of a burst (`tcp_min_tso_segs`).
    pub min_tso_segs: u32,
    /// Whether bursts are paced although the algorithm sets no rate, as with the queue `fq`: at twice the window for each
    /// round-trip time in slow start, and 1.2 times otherwise.
    /// The first ten segments are not paced.
    pub paced: bool,
    /// Whether a reduction of the window grows it again only on an ACK that delivers a retransmission, as in Linux 4.3 to 5.10, and
    /// not on any ACK that advances and reports no loss.
    pub cautious_reduction: bool,
    /// Whether a buffer that is too short for a burst is filled from the next one before it is sent, as from Linux 6.10 on.
    pub fills_buffers: bool,
    /// Whether losses are found as RFC 8985 says, and the window is reduced as RFC 9937 says, where Linux differs from them.
    pub follows_rfcs: bool,
}

impl Default for LinuxOptions {
    fn default() -> Self {
        LinuxOptions {
            tail_loss_probe: true,
            tso_win_divisor: 3,
            min_tso_segs: 2,
            paced: false,
            cautious_reduction: false,
            fills_buffers: false,
            follows_rfcs: false,
        }
    }
}

impl LinuxOptions {
    /// Returns the defaults of a version of Linux.
    pub fn of(version: LinuxVersion) -> LinuxOptions {
        LinuxOptions {
            cautious_reduction: version.has_cautious_reduction(),
            fills_buffers: version.fills_buffers(),
            ..LinuxOptions::default()
        }
    }
}

/// The state of Linux's recovery.
#[derive(Clone, Debug, Default)]
pub struct Linux {
    send_log: SendLog,
    rack: Rack,
    prr: Prr,
    undo: Undo,
    timer: Timer,
    output: Output,
    buffers: Buffers,
    /// What the last ACK with SACK blocks named.
    last_sack: SackRanges,
    fast_path_disabled: bool,
    options: LinuxOptions,
    /// The number of segments during which the advertised window grows, and the last one in the header's unit.
    growing: u64,
    advertised: u64,
}

/// What an ACK delivers.
#[derive(Clone, Copy, Debug, Default)]
struct Delivery {
    /// Segments delivered by it, SACKed by it, and by which it advances the cumulative acknowledgement.
    delivered: u32,
    sacked: u32,
    advanced: u32,
    /// Send times of the first and the last segment that it acknowledges for the first time and that were never
    /// retransmitted.
    acked_sent: Option<(u64, u64)>,
    /// The same of the segments that it SACKs.
    sacked_sent: Option<(u64, u64)>,
    /// Whether it acknowledges a segment that was retransmitted.
    has_retransmitted: bool,
    /// Whether it delivers a segment of before the end of the episode that was never retransmitted.
    has_original: bool,
    /// Whether it reports that a retransmitted segment arrived twice, and whether that is the loss probe alone.
    duplicate: bool,
    duplicate_of_probe: bool,
    /// The lowest delivered segment that was never retransmitted and lies below one SACKed before.
    reordered: Option<u64>,
}

impl Delivery {
    /// Takes in the delivery of a segment that was never retransmitted. Segments up to `highest` were SACKed before.
    fn add_original(&mut self, conn: &Connection, segment: u64, highest: u64) {
        self.has_original |= segment < conn.episode.end;
        if segment < highest {
            self.reordered = Some(self.reordered.map_or(segment, |lowest| lowest.min(segment)));
        }
    }
}

/// What is sent besides new data after an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    Nothing,
    /// Lost segments, before new data.
    Lost,
    /// Lost segments, but new data first (F-RTO).
    NewFirst,
}

impl LossRecovery for Linux {
    fn on_ack(
        &mut self,
        conn: &mut Connection,
        now: u64,
        packet: &Packet,
        blocks: Option<&SackBlocks>,
        out: &mut impl Emit,
    ) {
        let cumulative = expand(conn.una, packet.seq).min(conn.next);
        if packet.flags & (SACK | ECE | ACCURATE) == 0 && self.on_plain_ack(conn, now, cumulative, out) {
            return;
        }
        let is_stale = cumulative < conn.una && fault::is(Fault::StaleEcho);
        if self.options.follows_rfcs && conn.config.timestamps && !is_stale {
            self.rack.echoed = packet.sent;
        }
        if cumulative < conn.una {
            return self.on_old_ack(conn, now, packet, cumulative, blocks, out);
        }
        conn.integrate_cwnd(now);
        conn.scoreboard.cover(conn.una, conn.next);
        conn.ack.now = Nanos(now);
        conn.episode.newly_lost = 0;
        let prior_in_flight = conn.in_flight();
        let highest = conn.scoreboard.highest_sacked();
        let mut delivery = Delivery::default();
        if let Some(blocks) = blocks {
            self.take_duplicates(conn, cumulative, blocks, &mut delivery);
            self.take_blocks(conn, now, cumulative, highest, blocks, &mut delivery);
        }
        if cumulative > conn.una {
            self.acknowledge(conn, now, cumulative, highest, &mut delivery);
        }
        conn.follow_peer_window();
        self.update_reordering(conn, &delivery);
        let rtt = take_round_trip_of(conn, now, packet, &delivery);
        let mut set_timer = delivery.advanced > 0 || self.was_head_sent_since(conn, &delivery);
        let marked = conn.count_marks(packet, blocks, delivery.delivered);
        conn.counts.delivered += u64::from(delivery.delivered);
        if delivery.advanced > 0 {
            conn.episode.timeouts = 0;
        }
        self.take_probe_answer(conn, now, cumulative, &delivery);

        if delivery.advanced == 0 && conn.next > conn.una && cumulative == conn.una {
            conn.dup_acks += 1;
            let dup = DupAck { now: Nanos(now), sacked: delivery.sacked, count: conn.dup_acks };
            conn.algorithm.on_dup_ack(&mut conn.window, &dup);
        }
        let mut repair = Repair::Nothing;
        let lost_before = self.rack.lost;
        let dubious = delivery.advanced == 0 || delivery.sacked > 0 || delivery.duplicate || marked > 0;
        if dubious || conn.state != State::Open {
            let change = self.change_state(conn, now, packet, &delivery, marked > 0);
            repair = change.repair;
            set_timer &= !change.waits_for_reordering;
        }
        if set_timer {
            self.set_timer(conn, now);
        }
        let lost = (self.rack.lost - lost_before) as u32;
        conn.episode.newly_lost = lost;
        if delivery.delivered + delivery.advanced + marked + lost > 0 {
            let predicted = delivery.advanced > 0 && packet.flags & (SACK | ECE) == 0;
            self.report_ack(conn, now, &delivery, marked, predicted, rtt, prior_in_flight);
        }
        if !conn.needs.owns_recovery && matches!(conn.state, State::Recovery | State::Cwr) {
            let advanced = delivery.advanced > 0;
            self.reduce_window(conn, delivery.delivered, advanced, delivery.has_retransmitted, lost);
        }
        self.send(conn, now, repair, out);
    }

    fn on_retransmission_timer(&mut self, conn: &mut Connection, now: u64, out: &mut impl Emit) {
        self.on_timer(conn, now, out);
    }

    fn transmit(&mut self, conn: &mut Connection, now: u64, out: &mut impl Emit) {
        self.update_pacing_rate(conn);
        if conn.pacing.uses_timer() {
            // What goes first, lost segments or new data, stays as the last ACK has decided it.
            self.send_by_timer(conn, now, out);
        } else {
            self.send(conn, now, Repair::Nothing, out);
        }
    }

    /// It does what the general path would, without the checks that such an ACK passes.
    #[inline(always)]
    fn on_plain_ack(
        &mut self,
        conn: &mut Connection,
        now: u64,
        cumulative: u64,
        out: &mut impl Emit,
    ) -> bool {
        let takes = self.takes_fast_path(conn, cumulative);
        if takes {
            self.on_fast_ack(conn, now, cumulative, out);
        }
        takes
    }

    fn tracks_segments(&self) -> bool {
        true
    }

    fn disable_fast_path(&mut self) {
        self.fast_path_disabled = true;
    }
}

impl Linux {
    pub(crate) fn new(config: &SenderConfig) -> Linux {
        let growing = config.growing_window.map_or(0, |window| window.segments());
        let buffers = Buffers::new(config);
        let options = match config.recovery {
            Recovery::Rack => LinuxOptions { follows_rfcs: true, ..LinuxOptions::default() },
            _ => LinuxOptions::of(config.linux_version),
        };
        Linux { growing, buffers, options, ..Linux::default() }
    }

    /// Returns the greatest distance of reordering, segments, and how many ACKs revealed reordering.
    pub(crate) fn reordering(&self) -> (u32, u32) {
        (self.rack.degree(), self.rack.reordering_events)
    }

    pub(crate) fn set_options(&mut self, conn: &mut Connection, options: LinuxOptions) {
        self.options = options;
        if options.paced {
            conn.pacing.mode = SendMode::Paced;
        }
    }

    /// Sets the pacing rate of an algorithm that sets none.
    #[inline(always)]
    fn update_pacing_rate(&self, conn: &mut Connection) {
        if self.options.paced && !conn.needs.pacing && conn.rtt.estimator.is_known() {
            conn.window.pacing_rate = burst::usual_rate(conn) * f64::from(conn.window.mss());
        }
    }

    /// Returns whether an ACK without flags takes the fast path: it acknowledges new data, and nothing is missing or was
    /// retransmitted.
    #[inline(always)]
    fn takes_fast_path(&self, conn: &Connection, cumulative: u64) -> bool {
        let una = conn.una;
        if conn.state != State::Open || cumulative <= una || cumulative > conn.next {
            return false;
        }
        let scoreboard = &conn.scoreboard;
        let missing = scoreboard.sacked | scoreboard.lost | scoreboard.retransmitted;
        // What was SACKed and then given up by the receiver lies above `una`.
        let clean = missing == 0 && scoreboard.highest_sacked() <= una;
        let original = self.send_log.original_from <= una;
        clean && original && !self.timer.has_probe() && !self.fast_path_disabled
    }

    #[inline]
    fn on_fast_ack(&mut self, conn: &mut Connection, now: u64, cumulative: u64, out: &mut impl Emit) {
        conn.episode.newly_lost = 0;
        let prior_in_flight = conn.outstanding();
        let acked = (cumulative - conn.una) as u32;
        if let Some(records) = &mut conn.records {
            (conn.una..cumulative).for_each(|segment| records.on_delivered(now, segment));
        }
        let first = self.send_log.of(conn.una);
        let last = self.send_log.of(cumulative - 1);
        self.rack.advance(now, cumulative - 1, last, conn.rtt.estimator.min);
        conn.una = cumulative;
        conn.follow_peer_window();
        conn.dup_acks = 0;
        let delivery = Delivery { delivered: acked, advanced: acked, ..Delivery::default() };
        let rtt = take_round_trip(conn, now - first.at, now - last.at);
        conn.counts.delivered += u64::from(acked);
        conn.episode.timeouts = 0;
        let forgets = fault::is(Fault::FastPathForgetsTimer);
        // New data sets the timer for a probe again, whatever it was set for.
        let outstanding =
            conn.una < conn.next && self.options.tail_loss_probe && !self.timer.waits_for_window();
        if !outstanding && !forgets {
            self.set_timer(conn, now);
        }
        self.report_ack(conn, now, &delivery, 0, true, rtt, prior_in_flight);
        let next = conn.next;
        self.send(conn, now, Repair::Nothing, out);
        if outstanding && conn.next == next && !forgets {
            self.set_timer(conn, now);
        }
    }

    /// Processes an ACK that a later one has overtaken: its cumulative number lies below `una`. As in Linux (`old_ack` in
    /// `tcp_ack`), only its SACK blocks count. They can reveal deliveries, losses and needless retransmissions; the ACK
    /// gives no round-trip sample, no ECN echo and no growth.
    fn on_old_ack(
        &mut self,
        conn: &mut Connection,
        now: u64,
        packet: &Packet,
        cumulative: u64,
        blocks: Option<&SackBlocks>,
        out: &mut impl Emit,
    ) {
        conn.rtt.on_ignored_ack();
        let Some(blocks) = blocks else { return };
        conn.integrate_cwnd(now);
        conn.scoreboard.cover(conn.una, conn.next);
        conn.ack.now = Nanos(now);
        let highest = conn.scoreboard.highest_sacked();
        let mut delivery = Delivery::default();
        self.take_duplicates(conn, cumulative, blocks, &mut delivery);
        self.take_blocks(conn, now, conn.una, highest, blocks, &mut delivery);
        conn.follow_peer_window();
        self.update_reordering(conn, &delivery);
        if let Some(records) = &mut conn.records {
            records.discard_sample();
        }
        conn.counts.delivered += u64::from(delivery.delivered);
        let change = self.change_state(conn, now, packet, &delivery, false);
        self.send(conn, now, change.repair, out);
    }

    /// Tells the algorithm of an ACK. `predicted`: the ACK acknowledges new data and reports nothing else.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    fn report_ack(
        &mut self,
        conn: &mut Connection,
        now: u64,
        delivery: &Delivery,
        marked: u32,
        predicted: bool,
        rtt: Option<u64>,
        prior_in_flight: u32,
    ) {
        conn.ack.cwnd_limited = self.output.is_cwnd_limited(&conn.window);
        conn.ack.compat.grows_on_sack = delivery.delivered > 0 && self.rack.grows_on_sack();
        // Linux's prediction expects the window of the ACK before.
        conn.ack.compat.header_predicted = !self.advertises_another_window(conn) && predicted;
        conn.ack.compat.until_departure = Nanos(conn.pacing.until_departure(now));
        let Delivery { delivered, advanced, .. } = *delivery;
        let lost = conn.episode.newly_lost;
        conn.report_ack(now, AckReport { delivered, advanced, lost, marked, rtt, prior_in_flight });
        self.update_pacing_rate(conn);
    }

    /// Returns whether an ACK advertises another window than the one before it.
    fn advertises_another_window(&mut self, conn: &Connection) -> bool {
        if conn.una > self.growing {
            return false;
        }
        let received = conn.una + u64::from(conn.scoreboard.sacked);
        let field = conn.config.growing_window.map_or(0, |window| window.field(received));
        let is_another = field > self.advertised;
        self.advertised = self.advertised.max(field);
        is_another
    }

    /// Takes the first block of an ACK if it reports a duplicate (RFC 2883 section 4): it lies below what the ACK
    /// acknowledges, or within the second block. A duplicate of what was never retransmitted was made by the network, and
    /// says nothing.
    fn take_duplicates(
        &mut self,
        conn: &mut Connection,
        cumulative: u64,
        blocks: &SackBlocks,
        delivery: &mut Delivery,
    ) {
        let mut blocks = blocks.iter().map(|(from, to)| (expand(conn.una, from), expand(conn.una, to)));
        let Some((from, to)) = blocks.next().filter(|(from, to)| from < to) else { return };
        let within_second = blocks.next().is_some_and(|(start, end)| start <= from && to <= end);
        if from >= cumulative && !within_second {
            return;
        }
        let segments = (to - from) as u32;
        conn.counts.duplicates += u64::from(segments);
        if conn.counts.duplicates > conn.counts.retransmissions {
            return;
        }
        delivery.duplicate = true;
        delivery.duplicate_of_probe = segments == 1 && self.timer.probed() == Some(from);
        if to <= conn.una {
            self.undo.on_duplicates(to, segments);
        } else {
            for segment in from.max(conn.una)..to {
                if self.send_log.of(segment).retransmitted {
                    self.undo.on_duplicates(segment + 1, 1);
                }
            }
        }
    }

    /// Takes the segments that SACK blocks name for the first time, from `first` on, which is not below `una`.
    fn take_blocks(
        &mut self,
        conn: &mut Connection,
        now: u64,
        first: u64,
        highest: u64,
        blocks: &SackBlocks,
        delivery: &mut Delivery,
    ) {
        let mut ranges = SackRanges::default();
        for (i, (from, to)) in blocks.iter().enumerate() {
            let (from, to) = (expand(conn.una, from), expand(conn.una, to));
            ranges[i] = (from, to);
            let (from, to) = without(from.max(first), to.min(conn.next), &self.last_sack);
            for segment in from..to {
                if conn.scoreboard.is_sacked(segment) {
                    continue;
                }
                let sent = self.take_delivered(conn, now, segment);
                if !sent.retransmitted {
                    let first = delivery.sacked_sent.map_or(sent.at, |(first, _)| first);
                    delivery.sacked_sent = Some((first, sent.at));
                    delivery.add_original(conn, segment, highest);
                }
                delivery.sacked += conn.scoreboard.sack(segment, segment + 1, |_| ());
            }
        }
        delivery.delivered += delivery.sacked;
        self.last_sack = ranges;
    }

    /// Moves `una` to `to`.
    fn acknowledge(
        &mut self,
        conn: &mut Connection,
        now: u64,
        to: u64,
        highest: u64,
        delivery: &mut Delivery,
    ) {
        delivery.advanced = (to - conn.una) as u32;
        for segment in conn.una..to {
            let known = conn.scoreboard.is_sacked(segment);
            let sent =
                if known { self.send_log.of(segment) } else { self.take_delivered(conn, now, segment) };
            if sent.retransmitted {
                delivery.has_retransmitted = true;
            } else if !known {
                let first = delivery.acked_sent.map_or(sent.at, |(first, _)| first);
                delivery.acked_sent = Some((first, sent.at));
                delivery.add_original(conn, segment, highest);
            }
        }
        let known = conn.scoreboard.acknowledge(conn.una, to);
        delivery.delivered += delivery.advanced - known;
        conn.una = to;
        conn.dup_acks = 0;
    }

    /// Records the delivery of a segment that was not known to be delivered. Returns when it was sent.
    fn take_delivered(&mut self, conn: &mut Connection, now: u64, segment: u64) -> SendRecord {
        if let Some(records) = &mut conn.records {
            records.on_delivered(now, segment);
        }
        let sent = self.send_log.of(segment);
        self.rack.advance(now, segment, sent, conn.rtt.estimator.min);
        sent
    }

    /// Updates RACK's reordering window by what an ACK delivers (RFC 8985 section 6.2, steps 3 and 4).
    fn update_reordering(&mut self, conn: &Connection, delivery: &Delivery) {
        if let Some(lowest) = delivery.reordered {
            self.rack.on_reordering(lowest, self.delivered_end(conn));
        }
        // Linux ignores duplicates of probes, and all before reordering is seen.
        let counts = !delivery.duplicate_of_probe && self.rack.reordering_events > 0;
        if delivery.duplicate && (counts || self.options.follows_rfcs) {
            self.rack.on_duplicate(conn.una, conn.next);
        }
    }

    /// Returns the end of what is SACKed, or where nothing is of what is acknowledged.
    fn delivered_end(&self, conn: &Connection) -> u64 {
        let scoreboard = &conn.scoreboard;
        if scoreboard.sacked > 0 { scoreboard.highest_sacked() + 1 } else { conn.una }
    }

    /// Returns whether the first outstanding segment was sent later than what was SACKed. It has then waited less long
    /// than that round trip took, and the timer restarts.
    fn was_head_sent_since(&self, conn: &Connection, delivery: &Delivery) -> bool {
        let Some((first, _)) = delivery.sacked_sent else { return false };
        conn.una < conn.next && first < self.send_log.of(conn.una).at
    }
}

/// Takes the round-trip time that an ACK gives (RFC 6298 with Karn's rule): the smoothed one takes the first segment
/// acknowledged, or else SACKed; the algorithm receives that of the last. Where all were retransmitted, the echoed timestamp
/// decides.
fn take_round_trip_of(conn: &mut Connection, now: u64, packet: &Packet, delivery: &Delivery) -> Option<u64> {
    let acked = delivery.acked_sent.filter(|_| !delivery.has_retransmitted);
    let mut first = acked.map(|(first, _)| now - first);
    let mut last = acked.map(|(_, last)| now - last);
    if let Some((first_sacked, last_sacked)) = delivery.sacked_sent {
        first = first.or(Some(now - first_sacked));
        last = Some(now - last_sacked);
    }
    if first.is_none() && delivery.advanced > 0 && conn.config.timestamps {
        // Timestamps are whole ticks.
        first =
            Some((now / TIMESTAMP_TICK).saturating_sub(packet.sent / TIMESTAMP_TICK).max(1) * TIMESTAMP_TICK);
        last = first;
    }
    match (first, last) {
        (Some(first), Some(last)) => take_round_trip(conn, first, last),
        _ => {
            conn.rtt.on_ack_without_sample(&conn.ack);
            None
        }
    }
}

#[inline(always)]
fn take_round_trip(conn: &mut Connection, first: u64, last: u64) -> Option<u64> {
    conn.rtt.estimator.sample_in_round(first, conn.una, conn.next);
    conn.rtt.estimator.note_least(last);
    conn.rtt.on_sample(last);
    // A reduction that this ACK causes reports its sample, and not that of the ACK before.
    conn.ack.rtt = None;
    Some(last)
}
