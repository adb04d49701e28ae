//! When packets leave after the window has let them go: pacing and send overhead.

use cwnd_cc::Window;
use cwnd_scenario::Stream;

/// The longest interval between two paced packets, ns.
const MAX_INTERVAL: f64 = 1e12;

/// The transmission of data packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendMode {
    /// At once when the window allows it.
    Immediate,
    /// By the release timer, after a random send overhead for each packet.
    Delayed,
    /// By the release timer, at the algorithm's pacing rate plus any send overhead.
    Paced,
}

/// The release schedule. Each packet has a slot: the time at which pacing lets it go. The slots follow from the pacing
/// rate alone, so that the send overhead of one packet does not delay the next.
#[derive(Clone, Debug)]
pub(crate) struct Pacing {
    pub mode: SendMode,
    /// One packet may leave regardless of the window (RFC 6675 section 5, step 4.3).
    pub forced: bool,
    /// The slot of the packet that waits or left last.
    slot: u64,
    /// The slot of the packet after it.
    next_slot: u64,
    /// Linux's credit: how long nothing was paced before the burst under way, ns. It shortens intervals by at most half. `None` if
    /// no credit is given.
    pub credit: Option<u64>,
    overhead: u64,
    overhead_stream: Stream,
}

impl Pacing {
    pub fn new(paced: bool, overhead: u64, overhead_stream: Stream) -> Pacing {
        let mode = match (paced, overhead) {
            (true, _) => SendMode::Paced,
            (false, 0) => SendMode::Immediate,
            (false, _) => SendMode::Delayed,
        };
        Pacing { mode, forced: false, slot: 0, next_slot: 0, credit: None, overhead, overhead_stream }
    }

    /// Returns whether packets leave by the release timer.
    #[inline(always)]
    pub fn uses_timer(&self) -> bool {
        self.mode != SendMode::Immediate
    }

    /// Draws the send overhead of one packet, ns.
    #[inline(always)]
    pub fn draw_overhead(&mut self) -> u64 {
        self.overhead_stream.below(self.overhead)
    }

    /// Returns when the next packet leaves. With `back_to_back` its slot follows the last one even if that time has
    /// passed.
    pub fn schedule(&mut self, now: u64, back_to_back: bool) -> u64 {
        let overhead = self.draw_overhead();
        self.slot = if back_to_back { self.next_slot } else { now.max(self.next_slot) };
        if let Some(credit) = &mut self.credit {
            *credit = self.slot - self.next_slot;
        }
        now.max(self.slot + overhead)
    }

    /// Returns when the next packet of a burst leaves, which does not wait for its slot.
    pub fn schedule_in_burst(&mut self, now: u64) -> u64 {
        let overhead = self.draw_overhead();
        self.slot = self.next_slot;
        now + overhead
    }

    /// Computes the next slot after a packet has left. Returns whether the next packet follows back to back.
    pub fn on_sent(&mut self, window: &Window) -> bool {
        let rate = window.pacing_rate;
        if self.mode != SendMode::Paced || !rate.is_finite() || rate <= 0.0 {
            return false;
        }
        let interval = f64::from(window.mss()) / rate * 1e9;
        let mut interval = interval.min(MAX_INTERVAL) as u64;
        if let Some(credit) = &mut self.credit {
            let spent = (interval / 2).min(*credit);
            *credit -= spent;
            interval -= spent;
        }
        self.next_slot = self.slot + interval;
        true
    }
}
