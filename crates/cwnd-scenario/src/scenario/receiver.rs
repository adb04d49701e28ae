//! How a flow's receiver acknowledges: as the RFCs say, or to gain by it.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// What a receiver reports to its sender. All but the honest one misbehave (RFC 9743 section 7.6): they report less congestion
/// than there was, so that their sender takes more than its share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReceiverBehaviour {
    /// It follows the RFCs.
    #[default]
    Honest,
    /// It never echoes a congestion mark.
    HideCe,
    /// It acknowledges missing segments as soon as a later one arrives, and so conceals losses.
    ConcealLosses,
    /// It conceals losses, and acknowledges this many segments beyond the last one that arrived (S. Savage and others, TCP
    /// Congestion Control with a Misbehaving Receiver, CCR 29(5), 1999).
    Optimistic(u32),
}

impl ReceiverBehaviour {
    /// The most segments that an optimistic receiver acknowledges ahead.
    pub const MOST_AHEAD: u32 = 100_000;

    /// Returns whether it follows the RFCs.
    pub fn is_honest(&self) -> bool {
        *self == ReceiverBehaviour::Honest
    }

    /// Returns whether it acknowledges segments that are missing.
    pub fn conceals_losses(&self) -> bool {
        matches!(self, ReceiverBehaviour::ConcealLosses | ReceiverBehaviour::Optimistic(_))
    }

    /// Returns how many segments it acknowledges that have not arrived.
    pub fn ahead(&self) -> u32 {
        if let ReceiverBehaviour::Optimistic(ahead) = self { *ahead } else { 0 }
    }
}

const OPTIMISTIC: &str = "optimistic";

/// Parses `honest`, `hide-ce`, `conceal-losses` or `optimistic:SEGMENTS`.
impl FromStr for ReceiverBehaviour {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "honest" => Ok(ReceiverBehaviour::Honest),
            "hide-ce" => Ok(ReceiverBehaviour::HideCe),
            "conceal-losses" => Ok(ReceiverBehaviour::ConcealLosses),
            _ => {
                let ahead = text.strip_prefix(OPTIMISTIC).and_then(|rest| rest.strip_prefix(':'));
                let ahead = ahead.and_then(|ahead| ahead.trim().parse().ok());
                let ahead = ahead.filter(|ahead| (1..=Self::MOST_AHEAD).contains(ahead));
                ahead.map(ReceiverBehaviour::Optimistic).ok_or_else(|| {
                    format!(
                        "`{text}` is not a receiver's behaviour: write `honest`, `hide-ce`, `conceal-losses` or \
                         `{OPTIMISTIC}:20` (1 to {} segments)",
                        Self::MOST_AHEAD
                    )
                })
            }
        }
    }
}

/// Writes it as it is read.
impl fmt::Display for ReceiverBehaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReceiverBehaviour::Honest => f.write_str("honest"),
            ReceiverBehaviour::HideCe => f.write_str("hide-ce"),
            ReceiverBehaviour::ConcealLosses => f.write_str("conceal-losses"),
            ReceiverBehaviour::Optimistic(ahead) => write!(f, "{OPTIMISTIC}:{ahead}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ReceiverBehaviour;

    #[test]
    fn behaviours_are_written_as_they_are_read() {
        for text in ["honest", "hide-ce", "conceal-losses", "optimistic:20"] {
            let read: ReceiverBehaviour = text.parse().unwrap();
            assert_eq!(read.to_string(), text);
        }
        for wrong in ["", "optimistic", "optimistic:0", "optimistic:100001", "optimistic:x", "hide"] {
            assert!(wrong.parse::<ReceiverBehaviour>().unwrap_err().contains("write `honest`"), "{wrong}");
        }
    }
}
