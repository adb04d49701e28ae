//! Delay, loss and duplication between a transmitter and the other end.

mod chance;
mod jitter;
mod slots;
#[cfg(test)]
mod tests;

use crate::change::ChangeError;
use crate::timeline::{Place, Timeline};
use crate::{LossModel, Purpose, Stream};
use chance::Chance;
use cwnd_scenario::{LinkSpec, Loss, Schedule, Time};
pub use jitter::JitterSource;
use slots::Slots;

/// The result for a packet on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// Time at which it leaves the line. A lost packet keeps its place until then.
    pub at: u64,
    /// Whether it is lost.
    pub lost: bool,
    /// Whether it is duplicated; the copy follows directly. Never true for a lost packet.
    pub twice: bool,
}

/// A line: the part of a link after the transmitter.
///
/// In this order: it is held until the next slot, if the link has slots (at whole multiples of the slot since time zero of
/// the scenario; one that leaves exactly then continues at once); it takes the propagation delay that was in force when it left
/// the transmitter, and its jitter; and if it would overtake the one before it, it waits for that one, unless the jitter
/// reorders. Whether it is lost or doubled changes nothing of this, for itself or for those behind it. Each packet draws its
/// jitter, lost or not; only those that are not lost are asked whether they come twice.
#[derive(Clone, Debug)]
pub struct Line {
    /// The delay in force, until `next_step`.
    delay: u64,
    next_step: u64,
    /// When the latest packet came out.
    last_out: u64,
    /// It delays, and does nothing else.
    plain: bool,
    reorders: bool,
    loss: LossModel,
    effects: Option<Box<Effects>>,
    delays: Timeline<u64>,
    place: Place,
    own_delay: u64,
    /// The scenario's time zero, and what decides the draws.
    origin: u64,
    seed: u64,
    index: u64,
}

/// What a [`Line`] does while it only delays, for whoever sends many packets over it: less to look at, and nothing to write
/// down but at the end ([`Line::passed`]).
#[derive(Clone, Copy, Debug)]
pub struct SteadyLine {
    delay: u64,
    /// A packet that departs then or later may meet something else.
    ends: u64,
    last_out: u64,
    /// Number of packets that have crossed.
    crossed: u64,
}

impl SteadyLine {
    /// When a packet comes out that has left the transmitter at `departure`, if that is known. If it does not answer,
    /// [`Line::cross`] is to be asked, after [`Line::passed`].
    #[inline(always)]
    pub fn cross(&mut self, departure: u64) -> Option<u64> {
        if departure >= self.ends {
            return None;
        }
        self.crossed += 1;
        self.last_out = self.last_out.max(departure + self.delay);
        Some(self.last_out)
    }
}

/// What few lines have.
#[derive(Clone, Debug)]
struct Effects {
    slots: Option<Slots>,
    jitter: Option<JitterSource>,
    duplication: Chance,
    /// What a jitter would draw from, while there is none.
    jitter_stream: Option<Stream>,
}

impl Line {
    /// An empty line. The scenario's time zero is `origin` on the clock of all that follows; `index` is the link's
    /// number, which decides its draws together with the seed.
    pub fn new(link: &LinkSpec, origin: u64, seed: u64, index: u64) -> Line {
        let stream = |purpose| Stream::new(seed, purpose, index);
        let spec = &link.effects;
        let effects = (spec.slot.is_some() || spec.jitter.is_some() || spec.duplication > 0.0)
            .then(|| Effects::new(spec, origin, stream(Purpose::Jitter), stream(Purpose::Duplication)));
        let steps = match &link.schedule {
            Some(Schedule::Steps(steps)) => Some(steps),
            Some(Schedule::Trace(_)) | None => None,
        };
        let delays = Timeline::new(steps, link.delay.0, |step| step.delay.0);
        let place = delays.start(origin);
        let mut line = Line {
            delay: link.delay.0,
            next_step: delays.next_at(place),
            last_out: 0,
            plain: false,
            reorders: spec.jitter.is_some_and(|jitter| jitter.reorders),
            loss: LossModel::new(&link.loss, stream(Purpose::Loss)),
            effects: effects.map(Box::new),
            delays,
            place,
            own_delay: link.delay.0,
            origin,
            seed,
            index,
        };
        line.see_whether_plain();
        line
    }

    /// A packet has left the transmitter at `departure`, which is never earlier than the last one.
    #[inline(always)]
    pub fn cross(&mut self, departure: u64) -> Crossing {
        if !self.plain || departure >= self.next_step {
            return self.cross_otherwise(departure);
        }
        self.loss.skip(1);
        let at = (departure + self.delay).max(self.last_out);
        self.last_out = at;
        Crossing { at, lost: false, twice: false }
    }

    /// What [`Line::cross`] answers as long as the line only delays, by what it does now.
    #[inline]
    pub fn steady(&self) -> SteadyLine {
        let ends = if self.plain { self.next_step } else { 0 };
        SteadyLine { delay: self.delay, ends, last_out: self.last_out, crossed: 0 }
    }

    /// Packets have crossed it, and [`SteadyLine::cross`] was asked about them.
    pub fn passed(&mut self, steady: &SteadyLine) {
        self.loss.skip(steady.crossed);
        self.last_out = steady.last_out;
    }

    #[inline(never)]
    fn cross_otherwise(&mut self, departure: u64) -> Crossing {
        if departure >= self.next_step {
            self.pass_steps(departure.saturating_add(1));
        }
        let lost = self.loss.next_is_lost();
        let mut twice = false;
        let mut at = departure + self.delay;
        if let Some(effects) = &mut self.effects {
            at += effects.late(departure);
            twice = !lost && effects.duplication.comes();
        }
        if !self.reorders {
            at = at.max(self.last_out);
            self.last_out = at;
        }
        Crossing { at, lost, twice }
    }

    /// Whether packets may overtake each other. If not, [`Crossing::at`] never falls from one packet to the next.
    #[inline(always)]
    pub fn reorders(&self) -> bool {
        self.reorders
    }

    /// The least time that a packet ever takes from its departure to the other end, over all of the schedule.
    pub fn least_delay(&self) -> u64 {
        self.delays.values().fold(self.delay.min(self.own_delay), u64::min)
    }

    /// The link's own propagation delay changes at `now`, before all else that happens then, for packets that depart from
    /// now on: it holds until the schedule's next step, if there is one, and wherever the schedule leaves the link its own
    /// delay.
    pub fn set_delay(&mut self, now: u64, delay: Time) {
        self.pass_steps(now);
        self.delay = delay.0;
        self.own_delay = delay.0;
        self.delays.set_own(delay.0);
    }

    /// Lose something else from the next packet on (see [`LossModel::set`]).
    pub fn set_loss(&mut self, loss: &Loss) {
        self.loss.set(loss);
        self.see_whether_plain();
    }

    /// Have these slots, this jitter and this duplication from the next packet on; the draws continue. Without a jitter packets
    /// of a line that reorders may still overtake each other where its delay becomes shorter.
    ///
    /// # Errors
    /// [`ChangeError::Reordering`]: the jitter would allow reordering on a line created without it, or the other way round.
    pub fn set_effects(&mut self, spec: &cwnd_scenario::Effects) -> Result<(), ChangeError> {
        if spec.jitter.is_some_and(|jitter| jitter.reorders != self.reorders) {
            return Err(ChangeError::Reordering);
        }
        let fresh = |purpose| Stream::new(self.seed, purpose, self.index);
        let (jitter, duplication) = match self.effects.take() {
            None => (fresh(Purpose::Jitter), fresh(Purpose::Duplication)),
            Some(effects) => {
                let unused = effects.jitter_stream;
                let jitter = effects.jitter.map(JitterSource::into_stream).or(unused);
                (jitter.unwrap_or_else(|| fresh(Purpose::Jitter)), effects.duplication.into_stream())
            }
        };
        self.effects = Some(Box::new(Effects::new(spec, self.origin, jitter, duplication)));
        self.see_whether_plain();
        Ok(())
    }

    fn see_whether_plain(&mut self) {
        self.plain = self.effects.is_none() && !self.reorders && self.loss.never_loses();
    }

    #[inline(never)]
    fn pass_steps(&mut self, end: u64) {
        if let Some(delay) = self.delays.pass_before(&mut self.place, end) {
            self.delay = delay;
        }
        self.next_step = self.delays.next_at(self.place);
    }
}

impl Effects {
    fn new(spec: &cwnd_scenario::Effects, origin: u64, jitter: Stream, duplication: Stream) -> Effects {
        let mut unused = Some(jitter);
        Effects {
            slots: spec.slot.and_then(|slot| Slots::new(slot.0, origin)),
            jitter: spec.jitter.and_then(|jitter| Some(JitterSource::new(jitter.shape, unused.take()?))),
            duplication: Chance::new(spec.duplication, duplication),
            jitter_stream: unused,
        }
    }

    /// Returns the additional delay of a packet that departs now.
    fn late(&mut self, departure: u64) -> u64 {
        let held = self.slots.as_mut().map_or(0, |slots| slots.next(departure) - departure);
        held + self.jitter.as_mut().map_or(0, JitterSource::draw)
    }
}
