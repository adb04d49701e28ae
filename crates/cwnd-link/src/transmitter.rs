//! Transmitters: the departure times of packets.

use crate::SerialTime;
use crate::opportunities::Opportunities;
use crate::timeline::{Place, Timeline};
use cwnd_scenario::{Rate, Schedule};

/// A transmitter: packets leave it one after the other, each when its last bit has been sent.
///
/// - At a constant rate a packet takes what [`SerialTime`] says.
/// - Where the rate changes in steps, a step applies to the bits that remain of the packet in transmission, as
///   [`SerialTime::convert`] computes them, rounded to whole nanoseconds at each step; one at the very moment at which
///   a packet begins applies to all of it. At a rate of zero it stands still. Before time zero of the scenario the rate
///   is the link's own, and so it is in each period before its first step.
/// - With a [`cwnd_scenario::DeliveryTrace`] packets leave at its opportunities only. A packet that finds the transmitter
///   idle leaves at one that comes strictly later; one that waited may use what is left of the opportunity at which
///   the one before it left.
#[derive(Clone, Debug)]
pub struct Transmitter {
    /// Transmission time at the current rate; none at a rate of zero.
    pace: Pace,
    /// The last packet size and its transmission time, because most packets have one size.
    latest: (u32, u64),
    /// Until here the pace holds and there is no trace: a packet that has left by then needs nothing else.
    steady_until: u64,
    /// When the latest packet began, and what was left of it then; or after a live change that.
    began: u64,
    left: Left,
    paces: Timeline<Pace>,
    place: Place,
    /// The link's own pace.
    own: Pace,
    /// The fastest pace that there ever is.
    fastest: Pace,
    /// Whether each outage ends.
    goes_on: bool,
    trace: Option<Box<Opportunities>>,
}

/// What a [`Transmitter`] does while its rate does not change, for whoever serves many packets: less to look at, and nothing
/// to write down but for the latest of them ([`Transmitter::began`]).
#[derive(Clone, Copy, Debug)]
pub struct Steady {
    serial: SerialTime,
    /// A packet size and its transmission time.
    latest: (u32, u64),
    until: u64,
}

impl Steady {
    /// Largest departure time that it may return.
    pub fn end_by(&mut self, until: u64) {
        self.until = self.until.min(until);
    }

    /// Returns when a packet that begins at `now` leaves, if that takes time and is not too late to be known. Otherwise the
    /// caller uses [`Transmitter::finish`].
    #[inline(always)]
    pub fn finish(&mut self, now: u64, bytes: u32) -> Option<u64> {
        if bytes != self.latest.0 {
            self.latest = (bytes, self.serial.of(bytes));
        }
        let leaves = now.wrapping_add(self.latest.1);
        (leaves > now && leaves <= self.until).then_some(leaves)
    }
}

/// Returns the transmission time of a packet; none at a rate of zero.
type Pace = Option<SerialTime>;

/// The remaining part of a packet.
#[derive(Clone, Copy, Debug)]
enum Left {
    /// A number of bytes.
    Bytes(u32),
    /// The bits that take this time, ns, at a rate.
    Time(u64, SerialTime),
}

impl Left {
    fn at(self, serial: SerialTime) -> u64 {
        match self {
            Left::Bytes(bytes) => serial.of(bytes),
            Left::Time(time, old) => serial.convert(time, old),
        }
    }
}

/// Progress of a packet at a given time.
enum Reached {
    /// It leaves at this time, which is not later.
    Left(u64),
    /// This is left of it.
    Remains(Left),
}

impl Transmitter {
    /// Creates an idle transmitter. The scenario's time zero is `origin` on the clock of all later calls.
    pub fn new(rate: Rate, schedule: Option<&Schedule>, origin: u64) -> Transmitter {
        let (steps, trace) = match schedule {
            None => (None, None),
            Some(Schedule::Steps(steps)) => (Some(steps), None),
            Some(Schedule::Trace(trace)) => (None, Some(Box::new(Opportunities::new(trace, origin)))),
        };
        let own = pace(rate);
        let paces = Timeline::new(steps, own, |step| pace(step.rate));
        let mut transmitter = Transmitter {
            pace: own,
            latest: (0, 0),
            steady_until: 0,
            began: 0,
            left: Left::Bytes(0),
            place: paces.start(origin),
            paces,
            own,
            fastest: None,
            goes_on: false,
            trace,
        };
        transmitter.settle();
        transmitter
    }

    /// Returns when a packet of this size in wire bytes (at most 65,535) leaves that begins at `now`, which is never earlier than the
    /// last answer; `u64::MAX` if never. `waited`: it waited behind another one, until that had left just now.
    #[inline]
    pub fn finish(&mut self, now: u64, bytes: u32, waited: bool) -> u64 {
        self.began = now;
        self.left = Left::Bytes(bytes);
        let leaves = now.saturating_add(self.latest.1);
        if bytes == self.latest.0 && leaves <= self.steady_until && now < self.steady_until {
            return leaves;
        }
        self.finish_otherwise(now, bytes, waited)
    }

    /// What [`Transmitter::finish`] answers as long as the rate is what it is.
    #[inline]
    pub fn steady(&self) -> Steady {
        let until = if self.pace.is_some() { self.steady_until } else { 0 };
        Steady { serial: self.pace.unwrap_or_default(), latest: self.latest, until }
    }

    /// Records that the latest packet, of this size in bytes, began at `now`: [`Steady::finish`] was asked when it leaves.
    pub fn began(&mut self, now: u64, bytes: u32) {
        self.began = now;
        self.left = Left::Bytes(bytes);
    }

    #[inline(never)]
    fn finish_otherwise(&mut self, now: u64, bytes: u32, waited: bool) -> u64 {
        if let Some(serial) = self.pace
            && now < self.steady_until
        {
            self.latest = (bytes, serial.of(bytes));
            let leaves = now + self.latest.1;
            if leaves <= self.steady_until {
                return leaves;
            }
        }
        self.finish_varying(now, bytes, waited)
    }

    /// Returns the least time that a packet of this size in bytes takes, over all of the schedule; `u64::MAX` if it never leaves.
    /// With a trace it is nothing: packets may share an opportunity.
    pub fn least_time(&self, bytes: u32) -> u64 {
        if self.trace.is_some() {
            return 0;
        }
        self.fastest.map_or(u64::MAX, |serial| serial.of(bytes))
    }

    /// The link's own rate changes at `now`, before all else that happens then: it holds until the schedule's next step,
    /// if there is one, and wherever the schedule leaves the link its own rate. With a trace it changes nothing. At a
    /// rate of zero the transmitter stands still.
    ///
    /// Returns the new departure time of the packet in transmission, if there is one, which would have left at `leaves`.
    pub fn set_rate(&mut self, now: u64, rate: Rate, leaves: Option<u64>) -> Option<u64> {
        let remains = leaves.map(|_| match self.reach(now) {
            Reached::Left(_) => Left::Time(0, SerialTime::default()),
            Reached::Remains(left) => left,
        });
        self.pass_steps(now);
        self.own = pace(rate);
        self.set_pace(self.own);
        self.paces.set_own(self.own);
        self.settle();
        if self.trace.is_some() {
            return leaves;
        }
        self.left = remains?;
        self.began = now;
        match self.reach(u64::MAX) {
            Reached::Left(leaves) => Some(leaves),
            Reached::Remains(_) => Some(u64::MAX),
        }
    }

    #[inline(never)]
    fn finish_varying(&mut self, now: u64, bytes: u32, waited: bool) -> u64 {
        if let Some(trace) = &mut self.trace {
            return trace.leave(now, bytes, waited);
        }
        self.pass_steps(now.saturating_add(1));
        match self.reach(u64::MAX) {
            // What is rounded at the steps may not add up to less than the bound that is promised.
            Reached::Left(leaves) => leaves.max(now.saturating_add(self.least_time(bytes))),
            Reached::Remains(_) => u64::MAX,
        }
    }

    /// Advances permanently over the steps before `end`.
    fn pass_steps(&mut self, end: u64) {
        if let Some(pace) = self.paces.pass_before(&mut self.place, end) {
            self.set_pace(pace);
        }
        self.set_steady();
    }

    /// Returns the progress of the latest packet at `end`, if it began no later.
    fn reach(&self, end: u64) -> Reached {
        let Transmitter { began: mut at, mut left, mut pace, mut place, .. } = *self;
        loop {
            let next = self.paces.next_at(place).min(end);
            if let Some(serial) = pace {
                let time = left.at(serial);
                let leaves = at.saturating_add(time);
                if leaves <= next {
                    return Reached::Left(leaves);
                }
                left = Left::Time(time - next.saturating_sub(at), serial);
            }
            // Where all steps are outages, to wait for the last one would be to wait for ever.
            if next == end || (pace.is_none() && !self.goes_on) {
                return Reached::Remains(left);
            }
            at = next;
            pace = self.paces.step(&mut place).unwrap_or(pace);
        }
    }

    /// Computes the values that follow from the rates.
    fn settle(&mut self) {
        let all = self.paces.values().chain([self.own, self.pace]);
        self.fastest = all.flatten().min_by_key(|serial| serial.slope());
        self.goes_on = self.paces.values().any(|pace| pace.is_some());
        self.set_steady();
    }

    fn set_pace(&mut self, pace: Pace) {
        self.pace = pace;
        // No packet is of no bytes, so that the next one is computed again.
        self.latest = (0, 0);
    }

    fn set_steady(&mut self) {
        let steady = self.trace.is_none() && self.pace.is_some();
        self.steady_until = if steady { self.paces.next_at(self.place) } else { 0 };
    }
}

fn pace(rate: Rate) -> Pace {
    (rate > Rate(0)).then(|| SerialTime::new(rate))
}

#[cfg(test)]
mod tests;
