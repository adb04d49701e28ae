//! Lines that draw for each packet: whether it is lost, and its jitter.
//!
//! Both are drawn when a packet is accepted, in the order in which packets cross the line. A live change takes back what was drawn
//! for those that have not left the transmitter.

use super::ClosedForm;
use crate::fault::{self, Fault};
use crate::link::draws::Draws;
use crate::ring::Ring;
use cwnd_link::{JitterSource, LossModel, Stream};
use cwnd_scenario::{JitterShape, Loss};
use cwnd_tcp::packet::LOST;

/// What a line draws for each packet.
#[derive(Clone, Debug, Default)]
pub(super) struct RandomLine {
    losses: Option<Draws<LossModel>>,
    jitter: Option<Jitter>,
}

/// A jitter on a line on which no packet overtakes another.
#[derive(Clone, Debug)]
struct Jitter {
    draws: Draws<JitterSource>,
    /// Whether packets draw now.
    on: bool,
}

impl ClosedForm {
    /// Returns whether the line draws for each packet.
    pub fn has_random_line(&self) -> bool {
        self.random_line.is_some()
    }

    /// Returns whether the line had jitter from the beginning.
    pub fn has_jitter(&self) -> bool {
        self.random_line.as_ref().is_some_and(|line| line.jitter.is_some())
    }

    /// Lets the line of an idle link lose packets.
    pub fn begin_losses(&mut self, loss: &Loss, stream: Stream) {
        self.random_line.get_or_insert_default().losses = Some(Draws::losses(loss, stream));
    }

    /// Lets the line of an idle link have jitter.
    pub fn begin_jitter(&mut self, shape: JitterShape, stream: Stream) {
        let jitter = Jitter { draws: Draws::jitter(shape, stream), on: true };
        self.random_line.get_or_insert_default().jitter = Some(jitter);
    }

    /// Does [`ClosedForm::cross`] where the line draws.
    #[inline(never)]
    pub(super) fn cross_random_line(&mut self, departure: u64) -> (u64, u16) {
        // There are never more packets in the system than stored departures.
        let most = self.departures.len();
        let losses = self.random_line.as_mut().and_then(|line| line.losses.as_mut());
        let lost = losses.is_some_and(|losses| losses.draw(most));
        (self.end_of_random_line(departure), if lost { LOST } else { 0 })
    }

    /// Returns when the next packet reaches the end of the line, which leaves the transmitter at `departure`, and draws its jitter.
    #[inline(always)]
    fn end_of_random_line(&mut self, departure: u64) -> u64 {
        let most = self.departures.len();
        let late = match self.jitter() {
            None => return self.end_of_line(departure),
            Some(jitter) if jitter.on => jitter.draws.draw(most),
            Some(_) => 0,
        };
        self.not_before = self.end_of_line(departure + late);
        self.not_before
    }

    /// Lets the packets of the departures from `first` on cross the line again, after a change of it or of when they leave. They lie
    /// at `places` of `rings`.
    pub(super) fn cross_again(&mut self, first: usize, places: &[(u32, usize)], rings: &mut [Ring]) {
        if self.has_jitter() {
            self.not_before = self.last_out(places, rings);
        }
        for (&(ring, depth), i) in places.iter().zip(first..) {
            let at = self.end_of_random_line(self.departure(i).at);
            rings[ring as usize].change_from_last(depth, |packet| packet.at = at);
        }
    }

    /// Returns when the last packet that has left the transmitter reaches the end of the line, if it has not done so.
    fn last_out(&self, places: &[(u32, usize)], rings: &[Ring]) -> u64 {
        let last = |ring: u32| {
            let not_left = places.iter().filter(|(place, _)| *place == ring).count();
            rings[ring as usize].nth_from_end(not_left).map_or(0, |packet| packet.at)
        };
        self.next.all().into_iter().map(last).max().unwrap_or(0)
    }

    /// Withdraws the jitter of the latest `n` packets, which [cross the line again](ClosedForm::cross_again).
    pub(super) fn take_back_jitter(&mut self, n: usize) {
        if let Some(Jitter { draws, on: true }) = self.jitter() {
            draws.take_back(n);
        }
    }

    fn jitter(&mut self) -> Option<&mut Jitter> {
        self.random_line.as_mut()?.jitter.as_mut()
    }

    /// Changes the jitter of a line that had some from the beginning, from `t` on. The random stream continues.
    pub fn set_jitter(&mut self, t: u64, shape: Option<JitterShape>, rings: &mut [Ring]) {
        self.store_unstored_first();
        let first = self.count - self.in_system(t);
        let places = self.places(first, rings.len());
        self.take_back_jitter(places.len());
        if let Some(jitter) = self.jitter() {
            jitter.on = shape.is_some();
            if let Some(shape) = shape {
                jitter.draws.set_shape(shape);
            }
        }
        self.cross_again(first, &places, rings);
    }

    /// Changes the loss model from `t` on, and the stream to draw from if nothing was lost before. Withdraws the losses drawn
    /// for packets that have not crossed the line yet, and draws again.
    pub(super) fn set_loss(&mut self, t: u64, loss: &Loss, stream: Stream, rings: &mut [Ring]) {
        let drawn = self.random_line.as_ref().is_some_and(|line| line.losses.is_some());
        if drawn && fault::is(Fault::OldLosses) {
            return;
        }
        self.store_unstored_first();
        let places = self.places(self.count - self.in_system(t), rings.len());
        let line = self.random_line.get_or_insert_default();
        let losses = match &mut line.losses {
            Some(losses) => {
                losses.take_back(places.len());
                losses
            }
            none => {
                let mut losses = Draws::losses(&Loss::None, stream);
                losses.skip(self.arrivals.packets - self.dropped - places.len() as u64);
                none.insert(losses)
            }
        };
        losses.set(loss);
        let most = self.departures.len();
        for &(ring, depth) in &places {
            let lost = losses.draw(most);
            rings[ring as usize].change_from_last(depth, |packet| {
                packet.flags = if lost { packet.flags | LOST } else { packet.flags & !LOST };
            });
        }
    }
}
