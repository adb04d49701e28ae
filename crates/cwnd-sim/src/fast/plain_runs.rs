//! Runs of plain packets: in order, without flags, and each finds the links of the host idle.
//!
//! Values that depend on the run and not on the packet are computed once. The links are updated at the end of the run.

use super::lane::Lane;
use super::single_endpoint::{InletPort, OutputPort};
use crate::link::PacketInRing;
use crate::ring::Ring;
use cwnd_tcp::packet::{BARE, PUSH, Packet};
use cwnd_tcp::{DelayedAckRun, PlainRun, Receiver, SendMode, Sender};

/// Handles plain ACKs that come to a sender.
#[inline(always)]
pub fn of_sender(sender: &mut Sender, inlet: &mut InletPort<'_>, output: &mut OutputPort<'_>, limit: u64) {
    let Some(run) = sender.plain_run() else { return of_tracking_sender(sender, inlet, output, limit) };
    let Some(lane) = inlet.open_lane(run.ack_size) else { return };
    let mut acks = PlainAcks::new(inlet.raw, lane, run.ack_size);
    match sender.run_mode() {
        _ if output.link.has_random_line() => run_in_general(sender, &mut acks, output, limit),
        Some(SendMode::Immediate) => run_at_once(sender, &mut acks, output, limit, &run),
        Some(SendMode::Delayed) => run_after_overhead(sender, &mut acks, output, limit, &run),
        Some(SendMode::Paced) | None => run_in_general(sender, &mut acks, output, limit),
    }
    let (lane, taken) = (acks.inlet, acks.taken);
    inlet.close_lane(lane, taken, run.ack_size, true);
}

/// Handles plain ACKs that come to a sender whose strategy has a fast path of its own.
#[inline(never)]
fn of_tracking_sender(
    sender: &mut Sender,
    inlet: &mut InletPort<'_>,
    output: &mut OutputPort<'_>,
    limit: u64,
) {
    let Some(ack_size) = sender.tracked_ack_size() else { return };
    let Some(lane) = inlet.open_lane(ack_size) else { return };
    let mut acks = PlainAcks::new(inlet.raw, lane, ack_size);
    while let Some(ack) = acks.next(sender) {
        if ack.arrival >= limit {
            break;
        }
        // Packets precede timers.
        sender.run_timers(ack.arrival, output);
        if !sender.on_tracked_ack(ack.arrival, ack.acked, output) {
            break;
        }
        acks.take(&ack);
    }
    let (lane, taken) = (acks.inlet, acks.taken);
    inlet.close_lane(lane, taken, ack_size, true);
}

/// Handles full data packets that come to a receiver in order.
#[inline(always)]
pub fn of_receiver(
    receiver: &mut Receiver,
    inlet: &mut InletPort<'_>,
    output: &mut OutputPort<'_>,
    limit: u64,
) {
    match receiver.delayed_ack_run() {
        Some(run) => acknowledge_later(run, inlet, output, limit),
        None => acknowledge_at_once(receiver, inlet, output, limit),
    }
}

/// Handles packets that are acknowledged as Linux does, with delayed ACKs.
#[inline(never)]
fn acknowledge_later(
    mut run: DelayedAckRun<'_>,
    inlet: &mut InletPort<'_>,
    output: &mut OutputPort<'_>,
    limit: u64,
) {
    let (size, ack) = run.sizes();
    let Some(mut data_lane) = inlet.open_lane(size) else { return };
    let first = inlet.raw.next_at().saturating_add(data_lane.lead);
    let Some(mut ack_lane) = Lane::open(output.link, u32::from(ack.size), first) else { return };
    let (mut packets, mut acks) = (0, 0);
    // Size and flags.
    let (full, push) = (u64::from(size), u64::from(PUSH) << 16);
    while let Some([at, sent, sequence, rest]) = inlet.raw.first_words() {
        let arrival = at + data_lane.lead;
        let plain = rest >> 32 & !push == full;
        let idle = at >= data_lane.ready && arrival >= ack_lane.ready;
        if !plain || !idle || arrival >= limit || !run.takes(arrival, sent, sequence as u32) {
            break;
        }
        packets += 1;
        data_lane.pass(at);
        inlet.raw.skip();
        if let Some((echo, next)) = run.take(arrival, sent, rest >> 32 != full) {
            acks += 1;
            ack_lane.pass(arrival);
            output.behind.push(Packet { at: arrival + ack_lane.lead, sent: echo, seq: next, ..ack });
        }
    }
    inlet.close_lane(data_lane, packets, size, false);
    ack_lane.close(output.link, acks, PacketInRing::new(u32::from(ack.size), output.behind_id), true);
    run.end();
}

/// Handles packets that are each acknowledged at once.
#[inline(always)]
fn acknowledge_at_once(
    receiver: &mut Receiver,
    inlet: &mut InletPort<'_>,
    output: &mut OutputPort<'_>,
    limit: u64,
) {
    let Some((size, ack)) = receiver.plain_sizes() else { return };
    let Some(mut data_lane) = inlet.open_lane(size) else { return };
    let first = inlet.raw.next_at().saturating_add(data_lane.lead);
    let Some(mut ack_lane) = Lane::open(output.link, u32::from(ack.size), first) else { return };
    let mut packets = 0;
    let mut echo = 0;
    let mut next = receiver.expected();
    while let Some([at, sent, sequence, rest]) = inlet.raw.first_words() {
        let arrival = at + data_lane.lead;
        let plain = rest >> 32 == u64::from(size) && sequence as u32 == next;
        if !plain || arrival >= limit || at < data_lane.ready || arrival < ack_lane.ready {
            break;
        }
        next = next.wrapping_add(1);
        packets += 1;
        echo = sent;
        data_lane.pass(at);
        ack_lane.pass(arrival);
        inlet.raw.skip();
        output.behind.push(Packet { at: arrival + ack_lane.lead, sent: echo, seq: next, ..ack });
    }
    inlet.close_lane(data_lane, packets, size, false);
    ack_lane.close(output.link, packets, PacketInRing::new(u32::from(ack.size), output.behind_id), true);
    receiver.took_plain(packets, echo);
}

/// Plain ACKs at the head of an inlet.
struct PlainAcks<'a> {
    raw: &'a mut Ring,
    inlet: Lane,
    /// Size and flags of a plain ACK, as its words have them.
    plain: u64,
    /// Number of ACKs taken.
    taken: u64,
}

/// A plain ACK.
struct PlainAck {
    /// When it arrives at the inlet.
    at: u64,
    /// When it arrives at the sender.
    arrival: u64,
    /// The timestamp that it echoes.
    sent: u64,
    /// Segments that it acknowledges for the first time.
    acked: u32,
}

impl<'a> PlainAcks<'a> {
    #[inline(always)]
    fn new(raw: &'a mut Ring, inlet: Lane, ack_size: u32) -> PlainAcks<'a> {
        PlainAcks { raw, inlet, plain: u64::from(ack_size) | u64::from(BARE) << 16, taken: 0 }
    }

    /// Returns the next packet if it is a plain ACK that finds the inlet's link idle.
    #[inline(always)]
    fn next(&self, sender: &Sender) -> Option<PlainAck> {
        let [at, sent, sequence, rest] = self.raw.first_words()?;
        let acked = sender.newly_acked(sequence as u32);
        let plain = rest >> 32 == self.plain && acked.wrapping_sub(1) < i32::MAX as u32;
        (plain && at >= self.inlet.ready).then(|| PlainAck { at, arrival: at + self.inlet.lead, sent, acked })
    }

    #[inline(always)]
    fn take(&mut self, ack: &PlainAck) {
        self.raw.skip();
        self.inlet.pass(ack.at);
        self.taken += 1;
    }
}

/// Handles plain ACKs of a sender whose packets leave as soon as the window allows.
#[inline(never)]
fn run_at_once(
    sender: &mut Sender,
    acks: &mut PlainAcks<'_>,
    output: &mut OutputPort<'_>,
    limit: u64,
    run: &PlainRun,
) {
    // Packets precede timers.
    let limit = limit.min(run.other_at.saturating_add(1));
    let mut full = FullPackets::new(output, run);
    let (mut now, mut until) = (0, limit.min(run.rto_at.saturating_add(1)));
    while let Some(ack) = acks.next(sender) {
        if ack.arrival >= until {
            break;
        }
        if acks.taken == 0 {
            sender.begin_plain();
        }
        acks.take(&ack);
        now = ack.arrival;
        until = limit.min(now + run.least_timeout);
        let end = sender.take_plain(now, ack.sent, ack.acked);
        if sender.ends_before(end) {
            sender.send_plain(now, end, output);
        } else {
            while let Some(segment) = sender.next_before(end) {
                full.send(output, now, segment);
            }
            sender.note_plain_use();
        }
    }
    output.link.arrivals.packets += full.packets;
    sender.counts.sent += full.packets;
    if acks.taken > 0 {
        sender.end_plain(now, acks.taken);
    }
}

/// Handles plain ACKs of a sender whose packets leave after a random overhead.
#[inline(never)]
fn run_after_overhead(
    sender: &mut Sender,
    acks: &mut PlainAcks<'_>,
    output: &mut OutputPort<'_>,
    limit: u64,
    run: &PlainRun,
) {
    let turn = sender.start_stop_or_turn();
    let limit = limit.min(turn.saturating_add(1));
    let mut full = FullPackets::new(output, run);
    let mut release = sender.release_at();
    let mut end = sender.plain_end();
    if sender.ends_before(end) {
        return run_in_general(sender, acks, output, limit);
    }
    // The retransmission timer runs from `since`, if that is known, and precedes the release.
    let mut until = limit.min(run.rto_at);
    let mut since = None;
    let mut last_data = false;
    while let Some(ack) = acks.next(sender) {
        let arrival = ack.arrival;
        // Packets precede timers, and the other timers precede the release.
        while release < arrival && release < until.min(turn) {
            let now = release;
            if sender.is_quiet() {
                since = Some(now);
                until = limit.min(now + run.least_timeout);
            }
            release = sender.release(now, release, end, |segment| full.send(output, now, segment));
        }
        if arrival >= until || release < arrival {
            break;
        }
        if acks.taken == 0 {
            sender.begin_plain();
        }
        acks.take(&ack);
        let now = arrival;
        since = Some(now);
        until = limit.min(now + run.least_timeout);
        end = sender.take_plain(now, ack.sent, ack.acked);
        if sender.ends_before(end) {
            last_data = true;
            break;
        }
        release = sender.release(now, release, end, |segment| full.send(output, now, segment));
    }
    output.link.arrivals.packets += full.packets;
    sender.counts.sent += full.packets;
    sender.end_plain_releasing(since, acks.taken, release);
    if let (true, Some(now)) = (last_data, since) {
        sender.send_last(now, output);
    }
}

/// Handles plain ACKs one by one: of a sender that is paced or watched, or whose output link's line draws for each packet.
#[inline(never)]
fn run_in_general(sender: &mut Sender, acks: &mut PlainAcks<'_>, output: &mut OutputPort<'_>, limit: u64) {
    while let Some(ack) = acks.next(sender) {
        if ack.arrival >= limit || ack.arrival > sender.deadline() {
            break;
        }
        acks.take(&ack);
        sender.on_plain_ack(ack.arrival, ack.sent, ack.acked, output);
    }
}

/// Full data packets that leave a host over its output link.
struct FullPackets {
    /// Number of packets sent.
    packets: u64,
    /// Serialisation time of one packet.
    time: u64,
    packet: PacketInRing,
    /// The third and fourth word of a packet, but for the segment.
    words: [u64; 2],
}

impl FullPackets {
    #[inline(always)]
    fn new(output: &OutputPort<'_>, run: &PlainRun) -> FullPackets {
        FullPackets {
            packets: 0,
            time: output.link.serial_time(run.packet_size),
            packet: PacketInRing::new(run.packet_size, output.behind_id),
            words: [u64::from(run.channel) << 32, u64::from(run.packet_size) << 32],
        }
    }

    #[inline(always)]
    fn send(&mut self, output: &mut OutputPort<'_>, now: u64, segment: u64) {
        self.packets += 1;
        let sequence = self.words[0] | segment & 0xFFFF_FFFF;
        match output.link.enqueue(now, self.time, self.packet, 0) {
            Some((departure, _)) => {
                output.behind.push_words(output.link.end_of_line(departure), now, sequence, self.words[1]);
            }
            None => output.drop_packet([now, now, sequence, self.words[1]]),
        }
    }
}
