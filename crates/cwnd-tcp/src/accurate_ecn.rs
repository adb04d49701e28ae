//! Accurate ECN feedback (RFC 9768): negotiation, the receiver's counters, and how the sender reads them.
//!
//! - A SYN asks for it with all three flags (AE, CWR, ECE), and the SYN/ACK grants it. A receiver that knows only RFC 3168 sees a
//!   request for classic ECN, and one without ECN sees nothing (section 3.1.1). [`Grant`] is what came of it.
//! - The receiver counts packets that arrive with CE, from 5 (section 3.2.1). Every ACK carries the last three bits (ACE).
//! - With the option, ACKs without SACK blocks also carry the last 24 bits of the bytes that arrived as ECT(0), CE and ECT(1)
//!   (section 3.2.3). SACK blocks and timestamps leave no room for it.
//! - An ACK leaves at once for the first CE after another mark, and for every second CE (section 3.2.2.5.1).
//! - The sender adds the least increment that ACE allows. Where an ACK covers eight segments or more, ACE may have wrapped: then the
//!   greatest increment that fits is assumed (appendix A.2.1), unless the option's bytes exclude it (A.2.2), or ACKs have
//!   covered many segments before.
//! - An ACK that reports nothing new is ignored, because it may have been overtaken.
//!
//! Not modelled: ECN-capable SYNs and ACKs (so that a SYN's own field is always Not-ECT), the tests for mangled flags of the
//! handshake, and the fall-back to a SYN without flags after it was lost twice.

use crate::packet::{ACCURATE, ACE_SHIFT, CE, CWR, ECE, ECT, ECT1, EcnOption, Packet, SYN};

/// The initial value of the count of CE packets, and of the bytes of ECT(0) and ECT(1) (section 3.2.1).
const FIRST_CE_PACKETS: u64 = 5;
const FIRST_BYTES: u64 = 1;
/// ACE counts modulo this.
const ACE_MODULUS: u64 = 8;
/// The option's counters count modulo this.
const OPTION_MODULUS: u64 = 1 << 24;
/// CE packets after which an ACK leaves.
const CE_PER_ACK: u32 = 2;
/// Segments for each ACK, on average, from which a wrap of ACE is not assumed: "well below 8" ends here (appendix A.2.1).
const SEGMENTS_PER_ACK: f64 = 4.0;
/// Wire bytes of the option: 11, and one of padding.
pub const OPTION_SIZE: u32 = 12;

/// The ECN feedback that an end is capable of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Capability {
    /// Accurate ECN.
    #[default]
    Accurate,
    /// RFC 3168 only.
    Classic,
    /// No ECN.
    None,
}

/// The feedback that a handshake has agreed on.
pub type Grant = Capability;

/// Returns the flags of a SYN that asks for accurate feedback.
pub(crate) fn request() -> u16 {
    ACCURATE | ECE | CWR
}

/// Returns the feedback that a receiver of this capability grants to a SYN, and the flags of its SYN/ACK.
pub(crate) fn grant(capability: Capability, syn: &Packet) -> (Grant, u16) {
    debug_assert!(syn.is(SYN));
    match capability {
        // The code for a SYN that arrived as Not-ECT is (0,1,0).
        Capability::Accurate if syn.is(request()) => (Grant::Accurate, ACCURATE | CWR),
        Capability::Accurate | Capability::Classic if syn.is(ECE | CWR) => (Grant::Classic, ECE),
        _ => (Grant::None, 0),
    }
}

/// Returns the feedback that a SYN/ACK grants.
pub(crate) fn granted(syn_ack: &Packet) -> Grant {
    match (syn_ack.is(ACCURATE), syn_ack.is(ECE)) {
        (true, _) => Grant::Accurate,
        (false, true) => Grant::Classic,
        (false, false) => Grant::None,
    }
}

/// The counters of a receiver: r.cep, r.e0b, r.ceb and r.e1b.
#[derive(Clone, Debug)]
pub(crate) struct Counters {
    ce_packets: u64,
    bytes: [u64; 3],
    /// Whether the last packet carried CE, and CE packets since the last ACK.
    last_was_ce: bool,
    ce_unreported: u32,
}

impl Default for Counters {
    fn default() -> Counters {
        Counters {
            ce_packets: FIRST_CE_PACKETS,
            bytes: [FIRST_BYTES, 0, FIRST_BYTES],
            last_was_ce: false,
            ce_unreported: 0,
        }
    }
}

impl Counters {
    /// Counts a data packet. Returns whether an ACK must leave at once.
    pub fn count(&mut self, packet: &Packet, payload: u32) -> bool {
        let ce = packet.is(CE);
        let place = match packet.flags & (ECT | ECT1) {
            _ if ce => Some(1),
            0 => None,
            ECT => Some(0),
            _ => Some(2),
        };
        if let Some(place) = place {
            self.bytes[place] += u64::from(payload);
        }
        let begins = ce && !self.last_was_ce;
        self.last_was_ce = ce;
        self.ce_packets += u64::from(ce);
        self.ce_unreported += u32::from(ce);
        begins || self.ce_unreported >= CE_PER_ACK
    }

    /// Returns the flags that an ACK carries now.
    pub fn report(&mut self) -> u16 {
        self.ce_unreported = 0;
        ACCURATE | ((self.ce_packets % ACE_MODULUS) as u16) << ACE_SHIFT
    }

    /// Returns the option that an ACK carries now.
    pub fn option(&self) -> EcnOption {
        let [ect0, ce, ect1] = self.bytes.map(|bytes| (bytes % OPTION_MODULUS) as u32);
        EcnOption { ect0, ce, ect1 }
    }
}

/// What a sender knows of its receiver's counters: s.cep, s.e0b, s.ceb and s.e1b.
#[derive(Clone, Debug)]
pub(crate) struct Feedback {
    /// CE packets.
    pub ce_packets: u64,
    /// Bytes that arrived as ECT(0), CE and ECT(1).
    pub bytes: [u64; 3],
    /// Segments that ACKs have reported, a moving average.
    segments_per_ack: f64,
    /// Marks that no ACK has reported to the algorithm, because it delivered fewer segments.
    unreported: u64,
}

impl Default for Feedback {
    fn default() -> Feedback {
        Feedback {
            ce_packets: FIRST_CE_PACKETS,
            bytes: [FIRST_BYTES, 0, FIRST_BYTES],
            segments_per_ack: 0.0,
            unreported: 0,
        }
    }
}

impl Feedback {
    /// Processes an ACK that delivers `delivered` segments of `payload` bytes. Returns how many of them carried a mark, as far as
    /// they fit; the rest is added to the next ACK.
    pub fn on_ack(
        &mut self,
        packet: &Packet,
        option: Option<&EcnOption>,
        delivered: u32,
        payload: u32,
    ) -> u32 {
        if delivered == 0 || !packet.is(ACCURATE) {
            return 0;
        }
        let ce_bytes = option.map(|option| self.read_option(option));
        self.unreported += self.increment(packet, ce_bytes, delivered, payload);
        self.segments_per_ack += (f64::from(delivered) - self.segments_per_ack) / 8.0;
        let marked = self.unreported.min(u64::from(delivered));
        self.unreported -= marked;
        marked as u32
    }

    /// Adds what the option reports. Returns the new bytes of CE.
    fn read_option(&mut self, option: &EcnOption) -> u64 {
        let before = self.bytes[1];
        for (bytes, field) in self.bytes.iter_mut().zip([option.ect0, option.ce, option.ect1]) {
            *bytes += (u64::from(field) + OPTION_MODULUS - *bytes % OPTION_MODULUS) % OPTION_MODULUS;
        }
        self.bytes[1] - before
    }

    /// Adds what ACE reports. Returns the new CE packets.
    fn increment(&mut self, packet: &Packet, ce_bytes: Option<u64>, delivered: u32, payload: u32) -> u64 {
        let ace = u64::from(packet.flags >> ACE_SHIFT) % ACE_MODULUS;
        let least = (ace + ACE_MODULUS - self.ce_packets % ACE_MODULUS) % ACE_MODULUS;
        let packets = u64::from(delivered);
        let mut increment = least;
        if packets >= least + ACE_MODULUS {
            let greatest = packets - (packets - least) % ACE_MODULUS;
            let is_safe = match ce_bytes {
                // A.2.2, with a safety factor of 2.
                Some(bytes) => {
                    bytes <= u64::from(payload) * least && 2 * bytes < u64::from(payload) * greatest
                }
                None => self.segments_per_ack >= SEGMENTS_PER_ACK,
            };
            if !is_safe {
                increment = greatest;
            }
        }
        self.ce_packets += increment;
        increment
    }
}

#[cfg(test)]
mod tests;
