//! Events drawn from a seed, for runs too long for a test that can be made smaller.

use super::{Event, Sample};
use cwnd_cc::CongestionKind;
use cwnd_cc::parts::draws::Draws;

/// An endless sequence of events and of the time that passes before each.
pub struct RandomEvents(Draws);

impl RandomEvents {
    pub fn new(seed: u64) -> RandomEvents {
        RandomEvents(Draws::new(seed))
    }

    fn one_in(&mut self, of: u32) -> bool {
        self.0.below(of) == 0
    }

    /// Mostly a few; at times none, many, and more than there can be.
    fn segments(&mut self) -> u32 {
        match self.0.below(16) {
            0 => 0,
            1..=11 => 1 + self.0.below(3),
            12..=14 => 4 + self.0.below(300),
            _ if self.one_in(8) => u32::MAX,
            _ => 10_000,
        }
    }

    fn time(&mut self) -> u64 {
        match self.0.below(24) {
            0 => 0,
            1 => 1,
            2 if self.one_in(4) => u64::MAX,
            2 => 3_600_000_000_000,
            _ => 1_000 + self.0.bits() % 500_000_000,
        }
    }

    fn event(&mut self) -> Event {
        match self.0.below(128) {
            0..=3 => Event::Congestion {
                kind: [CongestionKind::Loss, CongestionKind::Ecn][self.0.below(2) as usize],
                flight_size: self.segments(),
                row: 0,
            },
            4 => Event::Congestion {
                kind: CongestionKind::Timeout,
                flight_size: self.segments(),
                row: 1 + self.0.below(3),
            },
            5..=8 => Event::RecoveryExit { moderated: self.one_in(2) },
            9 => Event::Undo,
            10 => Event::Idle { ms: self.0.below(100_000).into() },
            11..=12 => Event::Duplicate,
            13..=16 => Event::Lost { tx_in_flight: self.segments(), since: self.segments() },
            _ => Event::Ack {
                acked: self.segments(),
                cumulative: self.segments(),
                lost: if self.one_in(32) { self.segments() } else { 0 },
                rtt: if self.one_in(8) { None } else { Some(self.time()) },
                limited: !self.one_in(8),
                round: self.one_in(8),
                marked: self.one_in(8),
                recovering: self.one_in(8),
                sample: if self.one_in(8) { None } else { Some(self.sample()) },
            },
        }
    }

    fn sample(&mut self) -> Sample {
        Sample {
            delivered: self.segments(),
            interval: self.time(),
            tx_in_flight: self.segments(),
            lost: if self.one_in(8) { self.segments() } else { 0 },
            app_limited: self.one_in(8),
        }
    }
}

impl Iterator for RandomEvents {
    type Item = (Event, u64);

    fn next(&mut self) -> Option<(Event, u64)> {
        let tick = match self.0.below(32) {
            0..=7 => 0,
            8 if self.one_in(1000) => u64::MAX / 4,
            8..=9 => self.0.bits() % 2_000_000_000,
            _ => self.0.bits() % 20_000_000,
        };
        Some((self.event(), tick))
    }
}
