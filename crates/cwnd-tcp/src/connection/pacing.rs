//! When packets leave after the window has let them go: pacing and send overhead.

use cwnd_cc::Window;
use cwnd_scenario::Stream;

/// The longest interval between two paced packets, ns.
const MAX_INTERVAL: f64 = 1e12;

/// Number of segments that leave before Linux paces.
const UNPACED: u64 = 10;

/// The transmission of data packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendMode {
    /// At once when the window allows it.
    Immediate,
    /// By the release timer, after a random send overhead: each packet after its own, with Linux's rules all that may leave
    /// together.
    Delayed,
    /// By the release timer, at the algorithm's pacing rate plus any send overhead, with Linux's rules in bursts.
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
    /// With Linux's rules: how much later than its slot the last burst left, as far as the next slots are not earlier for it.
    credit: Option<u64>,
    overhead: u64,
    overhead_stream: Stream,
}

impl Pacing {
    pub fn new(paced: bool, linux: bool, overhead: u64, overhead_stream: Stream) -> Pacing {
        let mode = match (paced, overhead) {
            (true, _) => SendMode::Paced,
            (false, 0) => SendMode::Immediate,
            (false, _) => SendMode::Delayed,
        };
        Pacing {
            mode,
            forced: false,
            slot: 0,
            next_slot: 0,
            credit: linux.then_some(0),
            overhead,
            overhead_stream,
        }
    }

    /// Returns whether packets leave by the release timer.
    #[inline(always)]
    pub fn uses_timer(&self) -> bool {
        self.mode != SendMode::Immediate
    }

    /// Draws a send overhead, ns.
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

    /// Uses the slot of the next packet of a burst, which leaves together with the one before.
    pub fn continue_burst(&mut self) {
        self.slot = self.next_slot;
    }

    /// Returns when pacing lets the next packet go; 0 if nothing was paced yet.
    pub fn next_slot(&self) -> u64 {
        self.next_slot
    }

    /// Returns how long pacing holds back the next packet.
    pub fn until_departure(&self, now: u64) -> u64 {
        self.next_slot.saturating_sub(now)
    }

    /// Uses the slot of a packet that leaves at once, whether its time has come or not.
    pub fn take_slot(&mut self, now: u64) {
        self.schedule(now, false);
    }

    /// Computes the next slot after a packet has left, of `sent` that have left when its burst is over. Returns whether the next
    /// packet follows back to back.
    ///
    /// Linux does not pace the first ten segments. A burst that leaves later than its slot, because the window or the
    /// application had nothing more for it, shortens the interval after it by that time, but at most by half.
    pub fn on_sent(&mut self, window: &Window, sent: u64) -> bool {
        let rate = window.pacing_rate;
        // No other value is legal (`Connection::check_window`): the run ends with an error, and nothing follows from the next slot.
        let is_rate = rate > 0.0 && rate < f64::INFINITY;
        if self.mode != SendMode::Paced || !is_rate {
            return false;
        }
        let interval = f64::from(window.mss()) / rate * 1e9;
        let mut interval = interval.min(MAX_INTERVAL) as u64;
        if let Some(credit) = &mut self.credit {
            if sent < UNPACED {
                interval = 0;
            }
            let taken = (*credit).min(interval / 2);
            *credit -= taken;
            interval -= taken;
        }
        self.next_slot = self.slot + interval;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_cc::WindowConfig;

    const MS: u64 = 1_000_000;

    /// A pacing schedule and a window of which a segment takes 1 ms.
    fn paced(linux: bool) -> (Pacing, Window) {
        let pacing = Pacing::new(true, linux, 0, Stream::new(1, cwnd_scenario::Purpose::SendOverhead, 0));
        let mut window = Window::new(&WindowConfig::default());
        window.pacing_rate = f64::from(window.mss()) * 1000.0;
        (pacing, window)
    }

    #[test]
    fn linux_does_not_pace_the_first_ten_segments() {
        for (linux, expected) in [(true, 0), (false, 9 * MS)] {
            let (mut pacing, window) = paced(linux);
            for sent in 1..10 {
                pacing.schedule(0, sent > 1);
                assert!(pacing.on_sent(&window, sent));
            }
            assert_eq!(pacing.until_departure(0), expected);
            pacing.schedule(0, true);
            pacing.on_sent(&window, 10);
            assert_eq!(pacing.until_departure(0), expected + MS);
        }
    }

    #[test]
    fn in_linux_a_late_burst_shortens_the_interval_after_it() {
        // The next slot is at 1 ms. A burst of two that leaves at 1.3 ms takes 2 ms, less the 0.3 ms; one that leaves at 9 ms half
        // of the two. Without Linux's rules both take 2 ms.
        for (linux, at, expected) in [
            (true, 1_300_000, 1_700_000),
            (true, 9 * MS, MS),
            (false, 1_300_000, 2 * MS),
            (false, 9 * MS, 2 * MS),
        ] {
            let (mut pacing, window) = paced(linux);
            pacing.schedule(0, false);
            pacing.on_sent(&window, 20);
            assert_eq!(pacing.until_departure(0), MS);
            pacing.schedule(at, false);
            pacing.on_sent(&window, 22);
            pacing.continue_burst();
            pacing.on_sent(&window, 22);
            assert_eq!(pacing.until_departure(at), expected, "{linux} {at}");
        }
    }
}
