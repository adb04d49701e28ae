//! A drop-tail queue, a transmitter and a line, in closed form as long as rate and delay are constant.
//!
//! With drop-tail at a known rate, the departure of a packet is fixed when the packet arrives: the later of its arrival
//! and the time at which the transmitter is free, plus its serialisation time. The link therefore stores departure times
//! and no packets. "At least n packets are in the system" is one comparison: has the n-th last packet left?
//! A live change at `t` computes again what lies beyond `t` (see [`ClosedForm::change`]), and so does a [step](Steps).

mod change;
mod random_line;
mod steps;

pub use change::Change;
pub use steps::Steps;

use super::{Arrivals, LinkCounts, NOWHERE, NextRing};
use crate::fault::{self, Fault};
use cwnd_link::{Limits, SerialTime};
use cwnd_scenario::{Counting, QueueLimit, QueueSpec};
use cwnd_tcp::packet::{BARE, CE, ECT};
use random_line::RandomLine;

/// A departure that has been computed.
#[derive(Clone, Copy, Debug, Default)]
struct Departure {
    /// When the last bit leaves the transmitter.
    at: u64,
    packet: PacketInRing,
}

/// The size of a packet on the wire and the ring that it was put into, in one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketInRing(u64);

impl PacketInRing {
    pub const NONE: PacketInRing = PacketInRing::new(0, NOWHERE);

    /// Creates the entry of a packet of `size` bytes in this ring.
    #[inline(always)]
    pub const fn new(size: u32, ring: u32) -> PacketInRing {
        PacketInRing(size as u64 | (ring as u64) << 32)
    }

    fn size(self) -> u32 {
        self.0 as u32
    }

    fn ring(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// The path of a packet that a link accepts.
#[derive(Clone, Copy, Debug)]
pub struct LinkVerdict {
    /// When it reaches the end of the line.
    pub at: u64,
    /// The ring that it goes into.
    pub ring: u32,
    /// Flags that it gets on the way.
    pub added: u16,
}

/// The state of a link in closed form. The fields that every packet touches come first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct ClosedForm {
    /// When the transmitter is free.
    free_at: u64,
    serial: SerialTime,
    delay: u64,
    /// No packet reaches the end of the line before this: nothing overtakes after a change to a shorter delay. With jitter, when
    /// the last packet reaches it.
    not_before: u64,
    /// When the delay was last changed.
    delay_since: u64,
    /// 1 if a packet that departs at the time of an arrival is gone, 0 if it still counts against the limits (see
    /// [`Limits::transmission_counts`]; where transmission takes no time, it is gone).
    departure_tie_ns: u64,
    /// The same, but also 1 where such a packet counts without effect, because the limits allow two.
    idle_tie_ns: u64,
    /// A packet that arrives at least this long after the last departure finds the link idle and changes no statistic.
    /// (One that arrives at the time of a departure may be the first that ever waits.)
    idle_margin_ns: u64,
    /// The last departure before the transmitter was last idle.
    previous: u64,
    /// The packet that ended that idle time.
    first: PacketInRing,
    /// Departures since then. While there is only that packet's, it is not stored, and this is 0.
    count: usize,
    /// An arrival that finds this many packets in the system is decided by [`ClosedForm::decide`].
    check_threshold: usize,
    /// Until `count` reaches this, new departures overwrite only departures that nobody needs.
    room_until: usize,
    /// The two usual packet sizes and their serialisation times.
    usual: [(u32, u64); 2],
    /// What the line draws for each packet, if it does.
    random_line: Option<Box<RandomLine>>,
    /// Where packets go.
    pub next: NextRing,
    /// The latest departures in a ring, among them always all that are in the system.
    departures: Box<[Departure]>,
    /// Packets that came. Whoever calls [`ClosedForm::offer`] counts them.
    pub arrivals: Arrivals,
    limits: Limits,
    /// For limits in bytes: how many of `count` have left, and the bytes of the others.
    left: usize,
    bytes_in_system: u64,
    dropped: u64,
    marked: u64,
    /// Sum of the waiting times, ns.
    waited: u128,
    max_waiting: u64,
    /// How rate and delay change, if they do.
    steps: Option<Box<Steps>>,
}

impl ClosedForm {
    /// Creates an idle link.
    pub fn new(serial: SerialTime, delay: u64, queue: &QueueSpec) -> Self {
        let mut link = ClosedForm {
            serial,
            delay,
            departures: vec![Departure::default(); 4].into(),
            limits: Limits::new(queue),
            ..ClosedForm::placeholder()
        };
        link.set_threshold();
        link.forget_departures();
        link
    }

    /// Returns a link that carries no packet (see [`super::Link::placeholder`]).
    pub(super) fn placeholder() -> Self {
        ClosedForm {
            free_at: 0,
            serial: SerialTime::default(),
            delay: 0,
            not_before: 0,
            delay_since: 0,
            departure_tie_ns: 1,
            idle_tie_ns: 1,
            idle_margin_ns: 0,
            previous: 0,
            first: PacketInRing::NONE,
            count: 0,
            check_threshold: 0,
            room_until: 0,
            usual: [(0, 0); 2],
            random_line: None,
            next: NextRing::One(NOWHERE),
            departures: Box::default(),
            arrivals: Arrivals::default(),
            limits: Limits::new(&QueueSpec::drop_tail(QueueLimit::Unlimited, Counting::WaitingOnly)),
            left: 0,
            bytes_in_system: 0,
            dropped: 0,
            marked: 0,
            waited: 0,
            max_waiting: 0,
            steps: None,
        }
    }

    /// Sets how rate and delay change.
    pub fn set_steps(&mut self, steps: Steps) {
        self.steps = Some(Box::new(steps));
    }

    /// Returns how rate and delay change, if they do.
    pub fn steps(&self) -> Option<&Steps> {
        self.steps.as_deref()
    }

    /// Sets the usual packet sizes, that of a full packet first.
    pub fn set_usual_sizes(&mut self, sizes: [u32; 2]) {
        self.usual = sizes.map(|size| (size, self.serial.of(size)));
    }

    /// Returns how long a packet of `size` bytes occupies the transmitter.
    #[inline(always)]
    pub fn serial_time(&self, size: u32) -> u64 {
        let [first, second] = self.usual;
        match size {
            _ if size == first.0 => first.1,
            _ if size == second.0 => second.1,
            _ => self.serial.of(size),
        }
    }

    /// Returns the wire bytes of a full packet and its serialisation time.
    pub fn full_packet(&self) -> (u32, u64) {
        self.usual[0]
    }

    fn set_threshold(&mut self) {
        let Limits { drop_at, bytes, mark_at, .. } = self.limits;
        let always = if bytes == u64::MAX { u64::MAX } else { 1 };
        let threshold = drop_at.min(mark_at).min(self.max_waiting + 1).min(always);
        // More packets than `departures` has entries are in the system only after it has grown.
        let stored = threshold <= self.departures.len() as u64;
        self.check_threshold = if stored { threshold as usize } else { usize::MAX };
        let instant = self.serial == SerialTime::default();
        let gone = instant || !self.limits.transmission_counts || fault::is(Fault::LeavesTooEarly);
        self.departure_tie_ns = u64::from(gone);
        self.idle_tie_ns = u64::from(gone || (drop_at > 1 && mark_at > 1 && bytes == u64::MAX));
        let first_may_wait = self.departure_tie_ns == 0 && self.max_waiting == 0;
        self.idle_margin_ns = if first_may_wait { 1 } else { 1 - self.idle_tie_ns };
    }

    /// Returns when the transmitter is free.
    pub fn free_at(&self) -> u64 {
        self.free_at
    }

    /// Returns whether the limits allow two packets in the system.
    pub fn admits_two(&self) -> bool {
        self.idle_tie_ns == 1
    }

    /// Returns how long after the last departure a packet must arrive to find the link idle without changing a
    /// statistic, ns.
    #[inline(always)]
    pub fn idle_margin(&self) -> u64 {
        self.idle_margin_ns
    }

    /// Returns the earliest time at which a packet may reach the end of the line.
    #[inline(always)]
    pub fn not_before(&self) -> u64 {
        self.not_before
    }

    /// Returns the propagation delay, ns.
    #[inline(always)]
    pub fn delay(&self) -> u64 {
        self.delay
    }

    /// Returns the departures before and at the end of the last busy time, if all packets of it found the link idle.
    #[inline(always)]
    pub fn last_departures(&self) -> [u64; 2] {
        [self.previous, self.free_at]
    }

    /// Records the last two departures of packets that found the link idle; `packet` is the last of them.
    #[inline(always)]
    pub fn set_last_departures(&mut self, [previous, last]: [u64; 2], packet: PacketInRing) {
        (self.previous, self.free_at, self.first) = (previous, last, packet);
        self.forget_departures();
    }

    /// Records a departure that is later than the last but one and earlier than the last.
    #[inline(always)]
    pub fn set_departure_before_last(&mut self, departure: u64) {
        self.previous = departure;
    }

    /// Returns the least time from a packet's arrival to the end of the line, for packets of at least `size` bytes.
    pub fn least_latency(&self, size: u32) -> u64 {
        self.steps.as_ref().map_or(self.serial.of(size) + self.delay, |steps| steps.least_latency(size))
    }

    /// Returns the counts.
    pub fn counts(&self) -> LinkCounts {
        let Arrivals { packets, bare } = self.arrivals;
        LinkCounts {
            arrived: packets,
            data_arrived: packets - bare,
            dropped: self.dropped,
            marked: self.marked,
            copied: 0,
            max_waiting: self.max_waiting,
        }
    }

    /// Accepts or drops a packet with these flags that arrives at `now`, and counts it. `None` means dropped.
    #[inline(always)]
    pub fn accept(&mut self, now: u64, size: u32, channel: u32, flags: u16) -> Option<LinkVerdict> {
        self.arrivals.packets += 1;
        self.arrivals.bare += u64::from(flags & BARE);
        self.offer(now, size, channel, flags)
    }

    /// Like [`ClosedForm::accept`], but the caller counts the packet.
    #[inline(always)]
    pub fn offer(&mut self, now: u64, size: u32, channel: u32, flags: u16) -> Option<LinkVerdict> {
        let ring = self.next.of(channel);
        let packet = PacketInRing::new(size, ring);
        let (departure, added) = self.enqueue(now, self.serial_time(size), packet, flags)?;
        let (at, lost) = self.cross(departure);
        Some(LinkVerdict { at, ring, added: added | lost })
    }

    /// Returns when the next packet reaches the end of the line, which leaves the transmitter at `departure`, and the flag of a lost
    /// packet if it is lost there.
    #[inline(always)]
    pub fn cross(&mut self, departure: u64) -> (u64, u16) {
        if self.random_line.is_some() {
            return self.cross_random_line(departure);
        }
        (self.end_of_line(departure), 0)
    }

    /// Returns when a packet reaches the end of a line that only delays, which leaves the transmitter at `departure`.
    #[inline(always)]
    pub fn end_of_line(&self, departure: u64) -> u64 {
        (departure + self.delay).max(self.not_before)
    }

    /// Does the part of the queue and the transmitter in [`ClosedForm::offer`], for a packet that occupies the
    /// transmitter for `time`. Returns when it departs and the flags that the queue gives it.
    #[inline(always)]
    pub fn enqueue(&mut self, now: u64, time: u64, packet: PacketInRing, flags: u16) -> Option<(u64, u16)> {
        let mut added = 0;
        if self.free_at + self.idle_margin_ns <= now || (self.count == 0 && self.has_left(now)) {
            // The system is empty, or its only packet departs now: the limits do not matter.
            self.set_last_departures([self.free_at, now + time], packet);
        } else {
            if self.count >= self.room_until {
                self.make_room(now);
            }
            if let Some(first) = self.count.checked_sub(self.check_threshold)
                && self.departure(first).at >= now + self.departure_tie_ns
            {
                added = self.decide(now, packet.size(), flags)?;
            }
            self.waited += u128::from(self.free_at - now);
            self.free_at += time;
            self.store(Departure { at: self.free_at, packet });
        }
        Some((self.free_at, added))
    }

    /// Lets packets cross that occupy the transmitter for `time` each, in order of arrival, as long as each finds the link idle or is
    /// queued with no limit in sight. Each comes as the time at which it arrives and the place of the time at which it reaches the
    /// end of the line. Returns how many crossed; what became of the next is for [`ClosedForm::enqueue`] to say.
    #[inline(always)]
    pub fn cross_alike<'a>(
        &mut self,
        time: u64,
        packet: PacketInRing,
        packets: impl Iterator<Item = (u64, &'a mut u64)>,
    ) -> usize {
        if self.random_line.is_some() || self.free_at + self.delay < self.not_before {
            return 0;
        }
        // What changes is in registers, which the compiler cannot know to be apart from the packets' memory.
        let departures = &mut *self.departures;
        let (mask, delay) = (departures.len() - 1, self.delay);
        let (margin, tie, threshold) = (self.idle_margin_ns, self.departure_tie_ns, self.check_threshold);
        let (mut previous, mut first, mut free_at) = (self.previous, self.first, self.free_at);
        let (mut count, mut room_until, mut waited) = (self.count, self.room_until, self.waited);
        let mut crossed = 0;
        for (now, out) in packets {
            if free_at + margin <= now {
                (previous, first, free_at) = (free_at, packet, now + time);
                (count, room_until) = (0, mask);
            } else {
                if count == 0 {
                    // As `has_left` does, but for the exceptions.
                    if free_at < now + self.idle_tie_ns || (tie == 0 && previous == now) {
                        break;
                    }
                    departures[0] = Departure { at: free_at, packet: first };
                    (count, self.left, self.bytes_in_system) = (1, 0, u64::from(first.size()));
                }
                let waits = |first: usize| departures[first & mask].at >= now + tie;
                if count >= room_until || count.checked_sub(threshold).is_some_and(waits) {
                    break;
                }
                waited += u128::from(free_at - now);
                free_at += time;
                departures[count & mask] = Departure { at: free_at, packet };
                count += 1;
            }
            *out = free_at + delay;
            crossed += 1;
        }
        (self.previous, self.first, self.free_at) = (previous, first, free_at);
        (self.count, self.room_until, self.waited) = (count, room_until, waited);
        crossed
    }

    /// Where only one departure may be in the system: returns whether not even that one is. Otherwise stores it.
    #[inline]
    fn has_left(&mut self, now: u64) -> bool {
        if self.free_at < now + self.idle_tie_ns {
            self.note_tie();
            return true;
        }
        if self.departure_tie_ns == 0 && self.previous == now {
            self.store_leaving();
        }
        self.store_first();
        false
    }

    /// Decides about a packet that finds at least `check_threshold` packets in the system. `None` drops it; otherwise
    /// returns its flags.
    #[inline(never)]
    fn decide(&mut self, now: u64, size: u32, flags: u16) -> Option<u16> {
        let full = self.holds(self.limits.drop_at + u64::from(fault::is(Fault::RoomForOneMore)), now);
        if full || self.limits.bytes != u64::MAX && !self.admit_bytes(now, size) {
            self.dropped += 1;
            return None;
        }
        while self.holds(self.max_waiting + 1, now) {
            self.max_waiting += 1;
        }
        let late = u64::from(fault::is(Fault::MarkTooLate));
        let mark = flags & ECT != 0 && self.holds(self.limits.mark_at.saturating_add(late), now);
        self.marked += u64::from(mark);
        self.set_threshold();
        Some(if mark { CE } else { 0 })
    }

    #[inline(always)]
    fn departure(&self, index: usize) -> &Departure {
        let mask = self.departures.len() - 1;
        // SAFETY: the length is a power of two and never zero, so `index & mask` is below it.
        unsafe { self.departures.get_unchecked(index & mask) }
    }

    /// Returns whether at least `n` (not zero) packets are in the system at `now`.
    fn holds(&self, n: u64, now: u64) -> bool {
        // Overwritten departures have left.
        let known = n <= self.count as u64 && n <= self.departures.len() as u64;
        known && self.departure(self.count - n as usize).at >= now + self.departure_tie_ns
    }

    /// Returns whether a limit in bytes admits a packet, and counts its bytes if so.
    fn admit_bytes(&mut self, now: u64, size: u32) -> bool {
        while self.left < self.count && self.departure(self.left).at < now + self.departure_tie_ns {
            self.bytes_in_system -= u64::from(self.departure(self.left).packet.size());
            self.left += 1;
        }
        let transmitting = u64::from(self.departure(self.left).packet.size());
        let counted = self.bytes_in_system - if self.limits.transmission_counts { 0 } else { transmitting };
        let admitted = counted + u64::from(size) <= self.limits.bytes;
        self.bytes_in_system += if admitted { u64::from(size) } else { 0 };
        admitted
    }

    /// A packet departs at the time of an arrival. Where it still counts, the arrival waits, for no time.
    #[cold]
    fn note_tie(&mut self) {
        if self.departure_tie_ns == 0 && self.max_waiting == 0 {
            self.max_waiting = 1;
            self.set_threshold();
        }
    }

    /// Stores the departure of a packet that leaves at this moment, before the one that follows. (Its size is not
    /// known any more. Limits in bytes need it, but never come here.)
    #[cold]
    fn store_leaving(&mut self) {
        self.departures[0] = Departure { at: self.previous, packet: PacketInRing::NONE };
        self.count = 1;
    }

    /// Stores the departure of the packet that ended the last idle time.
    #[inline]
    fn store_first(&mut self) {
        self.departures[self.count] = Departure { at: self.free_at, packet: self.first };
        self.count += 1;
        self.left = 0;
        self.bytes_in_system = u64::from(self.first.size());
    }

    #[inline(always)]
    fn store(&mut self, departure: Departure) {
        let mask = self.departures.len() - 1;
        // SAFETY: as in `departure`.
        unsafe { *self.departures.get_unchecked_mut(self.count & mask) = departure };
        self.count += 1;
    }

    /// Forgets all departures: the link was idle.
    #[inline(always)]
    fn forget_departures(&mut self) {
        self.count = 0;
        self.room_until = self.departures.len() - 1;
    }

    /// Makes room for at least one more departure. Overwrites only those that have left, and not the last one before
    /// those in the system.
    #[inline(never)]
    fn make_room(&mut self, now: u64) {
        let kept = self.in_system(now) + 1;
        if kept > self.departures.len() / 4 * 3 {
            self.grow();
        }
        self.room_until = self.count + (self.departures.len() - kept);
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let old = self.departures.len();
        let mut departures = vec![Departure::default(); old * 2].into_boxed_slice();
        for i in self.count.saturating_sub(old)..self.count {
            departures[i & (old * 2 - 1)] = self.departures[i & (old - 1)];
        }
        self.departures = departures;
        self.set_threshold();
    }

    /// Returns how many of the latest departures lie at `t` or later: the packets in the system just before what
    /// happens at `t`.
    fn in_system(&self, t: u64) -> usize {
        let (mut fewest, mut most) = (0, self.count.min(self.departures.len()));
        while fewest < most {
            let n = (fewest + most).div_ceil(2);
            if self.departure(self.count - n).at >= t {
                fewest = n;
            } else {
                most = n - 1;
            }
        }
        fewest
    }

    /// Returns how many packets wait just before `t`, without the one in transmission.
    pub fn waiting(&self, t: u64) -> usize {
        self.in_system(t).saturating_sub(1)
    }

    /// Returns the sum of all waiting times up to `t`, ns; everything before `t` must have been handled.
    pub fn waited(&self, t: u64) -> u128 {
        self.waited - self.waiting_beyond(t)
    }

    /// Returns the part of the counted waiting times that lies beyond `t`.
    fn waiting_beyond(&self, t: u64) -> u128 {
        if fault::is(Fault::WaitingBeyondTheEnd) {
            return 0;
        }
        let mask = self.departures.len() - 1;
        let n = self.in_system(t);
        // A packet waits until the one before it has left.
        (1..n).map(|i| u128::from(self.departures[(self.count - n + i - 1) & mask].at - t)).sum()
    }
}

#[cfg(test)]
mod tests;
