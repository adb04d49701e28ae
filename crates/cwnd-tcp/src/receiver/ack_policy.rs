//! When a Linux receiver acknowledges, beyond delaying the ACK of the first of two packets: quick ACKs and SACK compression.

use crate::NEVER;
use crate::fault::{self, Fault};

/// ACKs sent at once when data arrives for the first time, again after a long pause, or a second time.
const QUICK_ACKS: u32 = 16;

/// The same when a congestion mark arrives.
const QUICK_ACKS_ON_MARK: u32 = 2;

/// SACKs sent at once while the same segment is expected; later ones are compressed.
const UNCOMPRESSED: u32 = 3;

/// The most SACKs held back at a time.
const MAX_COMPRESSED: u32 = 44;

/// A compressed SACK waits for a twentieth of the round-trip time, but not longer than this, ns.
const MAX_WAIT: u64 = 1_000_000;
/// How late the timer of a compressed SACK may be, ns.
const SLACK: u64 = 100_000;

/// The receiver's own minimum retransmission timeout, ns. A longer pause of data ends its estimate of their pace.
const LEAST_TIMEOUT: u64 = 200_000_000;

/// When an ACK is sent.
pub enum AckTime {
    Now,
    /// At this time, unless another is sent before.
    At(u64),
}

/// The state of the policy.
#[derive(Clone, Debug)]
pub struct AckPolicy {
    /// ACKs that are still sent at once.
    quick: u32,
    /// Packets that still let the advertised window grow.
    growing: u64,
    /// The segment expected by the last ACK.
    pub acknowledged_to: u64,
    /// SACKs sent at once, and SACKs held back, while the segment `expected` is expected.
    uncompressed: u32,
    compressed: u32,
    expected: u64,
    /// When those held back are sent.
    compressed_at: u64,
    syn_at: u64,
    /// The round-trip time of the handshake; zero if there was none.
    rtt: u64,
    /// When data arrived in order last, and how long a pause of it may be.
    data_at: u64,
    pause: u64,
}

impl Default for AckPolicy {
    fn default() -> Self {
        AckPolicy {
            quick: 0,
            growing: 0,
            acknowledged_to: 0,
            uncompressed: 0,
            compressed: 0,
            expected: 0,
            compressed_at: NEVER,
            syn_at: 0,
            rtt: 0,
            data_at: NEVER,
            pause: LEAST_TIMEOUT,
        }
    }
}

impl AckPolicy {
    /// Creates the policy of a receiver whose advertised window grows with each of `growing` packets.
    pub fn new(growing: u64) -> AckPolicy {
        AckPolicy { growing, ..AckPolicy::default() }
    }

    /// Records the arrival of new data. While the advertised window grows, the data is acknowledged at once.
    pub fn on_data(&mut self) {
        if self.growing > 0 {
            self.growing -= 1;
            self.quick |= 1;
        }
    }

    /// Records the arrival of the SYN.
    pub fn on_syn(&mut self, now: u64) {
        self.syn_at = now;
    }

    /// Records the end of the handshake.
    pub fn on_established(&mut self, now: u64) {
        self.rtt = now - self.syn_at;
        self.pause = self.rtt + LEAST_TIMEOUT.max(2 * self.rtt);
    }

    /// Records the arrival of the segment expected next.
    #[inline(always)]
    pub fn on_data_in_order(&mut self, now: u64) {
        if self.data_at == NEVER || now - self.data_at > self.pause {
            self.enter_quickack();
        }
        self.data_at = now;
    }

    /// Sends the next ACKs at once, as a new connection does (`tcp_enter_quickack_mode` in Linux).
    pub fn enter_quickack(&mut self) {
        self.quick = QUICK_ACKS - u32::from(fault::is(Fault::OneQuickAckLess));
    }

    /// Sends two ACKs at once.
    pub fn enter_quickack_briefly(&mut self) {
        self.quick = self.quick.max(QUICK_ACKS_ON_MARK);
    }

    /// Returns whether the next ACK is sent at once.
    pub fn is_quick(&self) -> bool {
        self.quick > 0
    }

    /// Records an ACK of everything below `next`.
    pub fn on_ack(&mut self, next: u64) {
        self.quick = self.quick.saturating_sub(1);
        self.acknowledged_to = next;
        self.compressed = 0;
        self.compressed_at = NEVER;
    }

    /// Returns when data beyond a hole at `next` is SACKed: the first SACKs are sent at once, later ones together.
    pub fn compress(&mut self, now: u64, next: u64) -> AckTime {
        if self.compressed >= MAX_COMPRESSED {
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
        self.compressed += 1;
        if self.compressed_at == NEVER {
            let wait = if self.rtt == 0 { MAX_WAIT } else { MAX_WAIT.min(self.rtt / 20) };
            self.compressed_at = now + wait + SLACK;
        }
        AckTime::At(self.compressed_at)
    }
}
