//! A link: a first-in first-out queue, a transmitter and a line, in closed form.
//!
//! With drop-tail at a known rate nothing about a packet's future is open once it has arrived, so its
//! departure is computed there and then: `max(arrival, when the transmitter is free) + serialisation`.
//! The queue itself is never kept; how many packets it holds is asked of the last departure times, of
//! which "at least n packets are in the system" is a single comparison: has the n-th last one left?
//! A change of rate, delay or loss at `t` redoes what had been computed beyond `t` (see [`Link::change`]).

mod change;
mod lane;
mod losses;

pub use change::Change;
pub use lane::Lane;
pub use losses::Losses;

use crate::fault::{self, Fault};
use crate::online::Online;
use cwnd_link::{Limits, SerialTime};
use cwnd_scenario::{Counting, QueueLimit, QueueSpec};
use cwnd_tcp::packet::{CE, ECT, LOST};

/// A departure that has been computed.
#[derive(Clone, Copy, Debug, Default)]
struct Departure {
    /// When the last bit leaves the transmitter.
    at: u64,
    /// The packet.
    what: Packed,
}

/// The size of a packet on the wire, and the ring that it was put into, in one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packed(u64);

impl Packed {
    const NOTHING: Packed = Packed::new(0, NOWHERE);

    /// A packet of so many bytes in this ring.
    #[inline(always)]
    pub const fn new(size: u32, ring: u32) -> Packed {
        Packed(size as u64 | (ring as u64) << 32)
    }

    fn size(self) -> u32 {
        self.0 as u32
    }

    fn ring(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// What becomes of a packet that a link takes.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// When it comes out of the line.
    pub at: u64,
    /// The ring that it goes into.
    pub ring: u32,
    /// Flags that it gets on the way.
    pub added: u16,
}

/// Where packets go from here.
#[derive(Clone, Debug)]
pub enum Next {
    /// All into one ring.
    One(u32),
    /// By channel.
    ByChannel(Box<[u32]>),
}

/// Ring number of a channel that does not come this way.
pub const NOWHERE: u32 = u32::MAX;

/// The state of a link. What every packet touches comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Link {
    /// When the transmitter is free.
    free_at: u64,
    serial: SerialTime,
    delay: u64,
    /// No packet comes out before this: after a change to a shorter delay nothing overtakes.
    not_before: u64,
    /// When the delay was last changed.
    delay_since: u64,
    /// One if a packet that leaves just as another arrives is gone, zero if it still counts (see
    /// [`Limits::transmission_counts`]; where transmission takes no time, it is gone).
    grace: u64,
    /// The same, but also one where it counts and that changes nothing: the limits allow two.
    idle_grace: u64,
    /// How long after a departure a packet must come to find nobody and to change nothing: a packet that comes
    /// just as another leaves may be the first that ever waits.
    slack: u64,
    /// The last departure before the transmitter was last idle.
    previous: u64,
    /// The packet that ended that idleness.
    first: Packed,
    /// Departures since then, if any but that packet's; then its own is the first of them.
    count: usize,
    /// An arrival that brings `count` to this, or finds it there, must look at the queue (see [`Link::look`]).
    next_look: usize,
    /// `next_look` when the link has just been idle.
    first_look: usize,
    /// An arrival that finds so many in the system asks more of the queue than whether there is room.
    alert_at: usize,
    /// Until `count` comes to this, new departures overwrite none that may still be asked for.
    room_until: usize,
    /// The two usual sizes of packets, and how long the transmitter takes for them.
    usual: [(u32, u64); 2],
    loss: Option<Box<Losses>>,
    next: Next,
    /// The departures, in a ring: the latest ones, and among them always all that are in the system.
    departures: Box<[Departure]>,
    /// It never holds two packets, whatever comes (see `shortcut.rs`).
    pub transparent: bool,
    /// Packets that came, and those among them without data.
    pub arrived: u64,
    /// See `arrived`.
    pub bare: u64,
    limits: Limits,
    /// For limits in bytes: how many of `count` have left, and the bytes of the others.
    left: usize,
    bytes_in_system: u64,
    dropped: u64,
    marked: u64,
    /// Losses on the line are counted by whoever stands at its end.
    pub lost: u64,
    /// Waiting times added up, ns.
    waited: u128,
    max_waiting: u64,
    /// Its state, if it keeps its queue; then of the rest only ways and arrivals are in use.
    pub online: Option<Box<Online>>,
}

/// What a link has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Packets that came, ACKs and data.
    pub arrived: u64,
    /// Data packets among them.
    pub data_arrived: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets marked.
    pub marked: u64,
    /// Packets lost on the line that have come to its end.
    pub lost: u64,
    /// Copies that the line made.
    pub copied: u64,
    /// Waiting times added up, nanoseconds.
    pub waited: u128,
    /// Most packets that waited at once.
    pub max_waiting: u64,
}

impl Link {
    /// An idle link.
    pub fn new(serial: SerialTime, delay: u64, queue: &QueueSpec, loss: Option<Losses>) -> Self {
        let mut link = Link {
            free_at: 0,
            grace: 1,
            idle_grace: 1,
            slack: 0,
            next_look: 0,
            first_look: 0,
            alert_at: 0,
            room_until: 0,
            usual: [(0, 0); 2],
            serial,
            delay,
            not_before: 0,
            delay_since: 0,
            previous: 0,
            first: Packed::NOTHING,
            count: 0,
            transparent: false,
            arrived: 0,
            bare: 0,
            loss: loss.map(Box::new),
            next: Next::One(NOWHERE),
            departures: vec![Departure::default(); 4].into(),
            limits: Limits::new(queue),
            left: 0,
            bytes_in_system: 0,
            dropped: 0,
            marked: 0,
            lost: 0,
            waited: 0,
            max_waiting: 0,
            online: None,
        };
        link.set_alert();
        link
    }

    /// Say which sizes packets usually have.
    pub fn set_usual_sizes(&mut self, sizes: [u32; 2]) {
        self.usual = sizes.map(|size| (size, self.serial.of(size)));
    }

    /// How long a packet of so many bytes occupies the transmitter.
    #[inline(always)]
    pub fn serial_time(&self, size: u32) -> u64 {
        let [first, second] = self.usual;
        match size {
            _ if size == first.0 => first.1,
            _ if size == second.0 => second.1,
            _ => self.serial.of(size),
        }
    }

    /// Wire bytes of a full packet, and how long the transmitter takes for one.
    pub fn full_packet(&self) -> (u32, u64) {
        self.usual[0]
    }

    fn set_alert(&mut self) {
        let Limits { drop_at, bytes, mark_at, .. } = self.limits;
        let always = if bytes == u64::MAX { u64::MAX } else { 1 };
        let alert_at = drop_at.min(mark_at).min(self.max_waiting + 1).min(always);
        // So many that not all of them are kept are in the system only after `departures` has grown.
        let kept = alert_at <= self.departures.len() as u64;
        self.alert_at = if kept { alert_at as usize } else { usize::MAX };
        self.first_look = self.alert_at.min(self.departures.len() - 2);
        self.next_look = 0;
        let timeless = self.serial == SerialTime::default();
        let gone = timeless || !self.limits.transmission_counts || fault::is(Fault::LeavesTooEarly);
        self.grace = u64::from(gone);
        self.idle_grace = u64::from(gone || (drop_at > 1 && mark_at > 1 && bytes == u64::MAX));
        let first_may_wait = self.grace == 0 && self.max_waiting == 0;
        self.slack = if first_may_wait { 1 } else { 1 - self.idle_grace };
    }

    /// Say where packets go.
    pub fn set_next(&mut self, next: Next) {
        self.next = next;
    }

    /// The ring that all its packets go into, if it is one.
    pub fn only_ring(&self) -> Option<u32> {
        match self.next {
            Next::One(ring) => Some(ring),
            Next::ByChannel(_) => None,
        }
    }

    /// What stands where a link is while it is in other hands.
    pub fn placeholder() -> Self {
        let queue = QueueSpec::drop_tail(QueueLimit::Unlimited, Counting::WaitingOnly);
        Link { departures: Box::default(), ..Link::new(SerialTime::default(), 0, &queue, None) }
    }

    /// When its transmitter is free.
    pub fn free_at(&self) -> u64 {
        self.free_at
    }

    /// Whether its line loses packets.
    pub fn loses(&self) -> bool {
        self.loss.is_some()
    }

    /// A packet that comes at `now` need not wait if the transmitter is free before `now` plus this.
    pub fn idle_grace(&self) -> u64 {
        self.idle_grace
    }

    /// A packet passes that cannot but find the link idle, though later ones may have passed already.
    /// Answers when it comes out.
    #[inline(always)]
    pub fn pass_transparent(&mut self, now: u64, size: u32, ring: u32) -> u64 {
        let departure = now + self.serial_time(size);
        if departure > self.free_at {
            self.previous = self.free_at;
            self.free_at = departure;
            self.first = Packed::new(size, ring);
            self.forget();
        } else if departure > self.previous {
            self.previous = departure;
        }
        (departure + self.delay).max(self.not_before)
    }

    /// The ring for a channel's packets.
    #[inline(always)]
    pub fn ring_of(&self, channel: u32) -> u32 {
        match &self.next {
            Next::One(ring) => *ring,
            Next::ByChannel(rings) => rings[channel as usize],
        }
    }

    /// The least time from a packet's arrival to its coming out, for packets of at least `size` bytes.
    pub fn least_latency(&self, size: u32) -> u64 {
        if let Some(online) = &self.online {
            return online.least_latency(size);
        }
        self.serial.of(size) + self.delay
    }

    /// What it has counted.
    pub fn counts(&self) -> LinkCounts {
        if let Some(online) = &self.online {
            let (arrived, lost) = (self.arrived, self.lost);
            return LinkCounts { arrived, data_arrived: arrived - self.bare, lost, ..online.counts() };
        }
        LinkCounts {
            copied: 0,
            arrived: self.arrived,
            data_arrived: self.arrived - self.bare,
            dropped: self.dropped,
            marked: self.marked,
            lost: self.lost,
            waited: self.waited,
            max_waiting: self.max_waiting,
        }
    }

    /// A packet with these flags arrives at `now`. None if it is dropped. The caller counts it as arrived.
    #[inline(always)]
    pub fn offer(&mut self, now: u64, size: u32, channel: u32, flags: u16) -> Option<Way> {
        let ring = self.ring_of(channel);
        let (free_at, mut added) =
            self.offer_packed(now, self.serial_time(size), Packed::new(size, ring), flags)?;
        if self.loss.is_some() {
            added |= self.lose();
        }
        Some(Way { at: self.out_at(free_at), ring, added })
    }

    /// When a packet that departs then comes out of the line.
    #[inline(always)]
    pub fn out_at(&self, departure: u64) -> u64 {
        (departure + self.delay).max(self.not_before)
    }

    /// The queue's and the transmitter's part of [`Link::offer`], for a packet that takes `time` to leave. Answers
    /// when it departs, and the flags that the queue gives it.
    #[inline(always)]
    pub fn offer_packed(&mut self, now: u64, time: u64, what: Packed, flags: u16) -> Option<(u64, u16)> {
        let mut added = 0;
        if self.free_at + self.slack <= now || (self.count == 0 && self.is_left(now)) {
            // Nobody is in the system, or one who just leaves: nothing to ask, and nothing to remember of
            // those before.
            self.previous = self.free_at;
            self.first = what;
            self.forget();
            self.free_at = now + time;
        } else {
            if self.count >= self.next_look {
                added = self.look(now, what.size(), flags)?;
            }
            self.waited += u128::from(self.free_at - now);
            self.free_at += time;
            self.remember(Departure { at: self.free_at, what });
        }
        Some((self.free_at, added))
    }

    /// Where one departure alone may be in the system: whether even that one is not. Else it is put down.
    #[inline]
    fn is_left(&mut self, now: u64) -> bool {
        if self.free_at < now + self.idle_grace {
            self.one_leaves();
            return true;
        }
        if self.grace == 0 && self.previous == now {
            self.remember_leaving();
        }
        self.remember_first();
        false
    }

    /// The flag of a packet that is lost on the line, if the next one is.
    #[inline(never)]
    pub fn lose(&mut self) -> u16 {
        // No more are in the system than there are departures.
        let most = self.departures.len();
        if self.loss.as_mut().is_some_and(|loss| loss.next_is_lost(most)) { LOST } else { 0 }
    }

    /// The queue's verdict on a packet that finds a long queue: none drops it, else the flags that it gets.
    #[inline(never)]
    fn judge(&mut self, now: u64, size: u32, flags: u16) -> Option<u16> {
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
        self.set_alert();
        Some(if mark { CE } else { 0 })
    }

    #[inline(always)]
    fn departure(&self, index: usize) -> &Departure {
        let mask = self.departures.len() - 1;
        // SAFETY: the length is a power of two and never zero, so `index & mask` is below it.
        unsafe { self.departures.get_unchecked(index & mask) }
    }

    /// Whether at least `n` (not zero) packets are in the system at `now`.
    fn holds(&self, n: u64, now: u64) -> bool {
        // What was overwritten had left.
        let known = n <= self.count as u64 && n <= self.departures.len() as u64;
        known && self.departure(self.count - n as usize).at >= now + self.grace
    }

    /// The same for a limit in bytes; counts the bytes of a packet that it admits.
    fn admit_bytes(&mut self, now: u64, size: u32) -> bool {
        while self.left < self.count && self.departure(self.left).at < now + self.grace {
            self.bytes_in_system -= u64::from(self.departure(self.left).what.size());
            self.left += 1;
        }
        let transmitting = u64::from(self.departure(self.left).what.size());
        let counted = self.bytes_in_system - if self.limits.transmission_counts { 0 } else { transmitting };
        let admitted = counted + u64::from(size) <= self.limits.bytes;
        self.bytes_in_system += if admitted { u64::from(size) } else { 0 };
        admitted
    }

    /// A packet leaves just as another arrives: where it still counts, the other waits, if for no time.
    #[cold]
    fn one_leaves(&mut self) {
        if self.grace == 0 && self.max_waiting == 0 {
            self.max_waiting = 1;
            self.set_alert();
        }
    }

    /// Put down the departure of a packet that leaves just now, before the one that follows. (Its size is
    /// not known any more, nor asked for: where limits count bytes, nobody comes here.)
    #[cold]
    fn remember_leaving(&mut self) {
        self.departures[0] = Departure { at: self.previous, what: Packed::NOTHING };
        self.count = 1;
    }

    /// Put down the departure of the packet that ended the last idleness.
    #[inline]
    fn remember_first(&mut self) {
        self.departures[self.count] = Departure { at: self.free_at, what: self.first };
        self.count += 1;
        self.left = 0;
        self.bytes_in_system = u64::from(self.first.size());
    }

    #[inline(always)]
    fn remember(&mut self, departure: Departure) {
        let mask = self.departures.len() - 1;
        // SAFETY: as in `departure`.
        unsafe { *self.departures.get_unchecked_mut(self.count & mask) = departure };
        self.count += 1;
    }

    /// The departures so far are not asked for any more: the link was idle.
    #[inline(always)]
    fn forget(&mut self) {
        self.count = 0;
        self.next_look = self.first_look;
    }

    /// Make room for one more departure at least, and hear the queue's verdict on a packet that may find it long.
    /// Then say how many packets may come before the next look: the queue cannot grow faster than they come.
    #[inline(never)]
    fn look(&mut self, now: u64, size: u32, flags: u16) -> Option<u16> {
        let len = self.departures.len();
        if self.count < len - 1 {
            self.room_until = len - 1;
        } else if self.count >= self.room_until {
            self.make_room(now);
        }
        // The first of the latest `alert_at`, if there are so many.
        let Some(first) = self.count.checked_sub(self.alert_at) else {
            self.next_look = self.alert_at.min(self.room_until);
            return Some(0);
        };
        let left = |n: usize| self.departure(first + n).at < now + self.grace;
        if !left(0) {
            let added = self.judge(now, size, flags)?;
            self.next_look = 1;
            return Some(added);
        }
        let quiet = match self.alert_at {
            65.. if left(63) => 64,
            9.. if left(7) => 8,
            _ => 1,
        };
        self.next_look = (self.count + quiet).min(self.room_until);
        Some(0)
    }

    /// Overwrite only what has left, and not the last departure before those in the system. Where that leaves too
    /// few places, there must be more.
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
        self.set_alert();
    }

    /// How many of the latest departures lie at `t` or later: the packets in the system just before what
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

    /// Returns whether a packet of so many bytes that comes out of the line at `out` has left the transmitter by `t`, or with
    /// `begun` whether it has begun to. The rate and the delay have not changed since it came.
    pub fn has_sent(&self, t: u64, out: u64, size: u32, begun: bool) -> bool {
        let departure = out.saturating_sub(self.delay);
        if begun { departure.saturating_sub(self.serial_time(size)) < t } else { departure <= t }
    }

    /// Packets that wait just before `t`, without the one in transmission.
    pub fn waiting(&self, t: u64) -> usize {
        if let Some(online) = &self.online {
            return online.waiting();
        }
        self.in_system(t).saturating_sub(1)
    }

    /// Waiting times up to `t`, to which everything has been handled: added up, nanoseconds.
    pub fn waited(&self, t: u64) -> u128 {
        match &self.online {
            Some(online) => online.waited(t),
            None => self.waited - self.waiting_beyond(t),
        }
    }

    /// Of the waiting times that have been added up, what lies beyond `t`.
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
