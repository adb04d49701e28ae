//! When a Linux receiver acknowledges: what it does beyond delaying the ACK of the first of two packets.

use crate::NEVER;

/// So many ACKs go at once when data comes for the first time, or again after a long pause, or when what comes is old.
const QUICK: u32 = 16;

/// The same when a mark comes.
const FEW: u32 = 2;

/// SACKs beyond so many for the same segment expected are compressed.
const UNCOMPRESSED: u32 = 3;

/// So many are kept at most.
const MOST_KEPT: u32 = 44;

/// A compressed SACK waits for a twentieth of the round-trip time, but not longer than this, ns ...
const MOST_WAIT: u64 = 1_000_000;
/// ... and so much longer as the timer may be late.
const SLACK: u64 = 100_000;

/// The receiver's own least retransmission timeout, ns: a pause of data that is longer ends what it knows of their pace.
const LEAST_TIMEOUT: u64 = 200_000_000;

/// When an ACK goes.
pub enum AckTime {
    Now,
    /// At this time, if none goes before.
    At(u64),
}

/// What it keeps in mind.
#[derive(Clone, Debug)]
pub struct AckPolicy {
    /// So many ACKs go at once.
    quick: u32,
    /// The window that is advertised grows with each of so many packets more.
    growing: u64,
    /// Up to there the last ACK told.
    pub acknowledged_to: u64,
    /// SACKs that went at once, and SACKs that wait, with this segment expected.
    uncompressed: u32,
    kept: u32,
    expected: u64,
    /// When the ones that wait go.
    compressed_at: u64,
    syn_at: u64,
    /// The round-trip time of the handshake; zero if there was none.
    rtt: u64,
    /// When data came in order last.
    data_at: u64,
}

impl Default for AckPolicy {
    fn default() -> Self {
        AckPolicy {
            quick: 0,
            growing: 0,
            acknowledged_to: 0,
            uncompressed: 0,
            kept: 0,
            expected: 0,
            compressed_at: NEVER,
            syn_at: 0,
            rtt: 0,
            data_at: NEVER,
        }
    }
}

impl AckPolicy {
    /// Those of a receiver whose window grows with each of so many packets.
    pub fn new(growing: u64) -> AckPolicy {
        AckPolicy { growing, ..AckPolicy::default() }
    }

    /// Data comes that was not there before. While the window that is advertised grows, it is told of at once.
    pub fn on_data(&mut self) {
        if self.growing > 0 {
            self.growing -= 1;
            self.quick |= 1;
        }
    }

    pub fn on_syn(&mut self, now: u64) {
        self.syn_at = now;
    }

    pub fn on_established(&mut self, now: u64) {
        self.rtt = now - self.syn_at;
    }

    /// Data comes that was expected.
    pub fn on_data_in_order(&mut self, now: u64) {
        let timeout = self.rtt + LEAST_TIMEOUT.max(2 * self.rtt);
        if self.data_at == NEVER || now - self.data_at > timeout {
            self.enter_quickack();
        }
        self.data_at = now;
    }

    /// The next ACKs go at once.
    pub fn enter_quickack(&mut self) {
        self.quick = QUICK;
    }

    /// Two go at once.
    pub fn enter_quickack_briefly(&mut self) {
        self.quick = self.quick.max(FEW);
    }

    pub fn is_quick(&self) -> bool {
        self.quick > 0
    }

    /// An ACK goes that tells of all below `next`.
    pub fn on_ack(&mut self, next: u64) {
        self.quick = self.quick.saturating_sub(1);
        self.acknowledged_to = next;
        self.kept = 0;
        self.compressed_at = NEVER;
    }

    /// Data is there beyond a hole at `next`: the first SACKs go at once, later ones together.
    pub fn compress(&mut self, now: u64, next: u64) -> AckTime {
        if self.kept >= MOST_KEPT {
            return AckTime::Now;
        }
        if self.expected != next {
            self.expected = next;
            self.uncompressed = 0;
        }
        if self.uncompressed < UNCOMPRESSED {
            self.uncompressed += 1;
            return AckTime::Now;
        }
        self.kept += 1;
        if self.compressed_at == NEVER {
            let wait = if self.rtt == 0 { MOST_WAIT } else { MOST_WAIT.min(self.rtt / 20) };
            self.compressed_at = now + wait + SLACK;
        }
        AckTime::At(self.compressed_at)
    }
}
