//! How much a queue holds, as it is written: packets, bytes, or a part of the path's capacity.

use crate::threshold::whole_packets;
use cwnd_scenario::{ByteSize, Decimal, NotInteger, QueueLimit, Rate, Time, UnitError};
use std::{fmt, str::FromStr};

/// How much a queue holds.
///
/// Read from a number of packets (`1000`), a part of the bandwidth-delay product (`0.5 BDP`), packets a flow
/// (`2/flow`), the largest of such terms (`max(1 BDP, 2/flow)`), bytes (`64 KB`), or `unlimited`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// So many packets: the largest of these terms (usually there is one).
    Packets(Vec<BufferTerm>),
    /// So many bytes.
    Bytes(u64),
    /// Any number.
    Unlimited,
}

/// A number of packets, said in one of three ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferTerm {
    /// The number itself.
    Fixed(u32),
    /// So many bandwidth-delay products: bottleneck rate x largest base RTT (propagation alone) / wire size of a
    /// full packet, rounded to the nearest, at least 1.
    Bdp(Decimal),
    /// So many for each flow (reverse flows are not counted).
    PerFlow(u32),
}

/// What a [`Buffer`] is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferContext {
    /// Rate of the bottleneck.
    pub rate: Rate,
    /// Largest base round-trip time of the flows.
    pub base_rtt: Time,
    /// Wire size of a full packet, bytes.
    pub full_packet: u32,
    /// How many flows there are, reverse ones excepted.
    pub flows: u32,
}

impl BufferContext {
    /// Packets in one bandwidth-delay product, rounded to the nearest, at least 1; none if the rate is unlimited.
    pub fn bdp_packets(&self) -> Option<u64> {
        let millionths = 1_000_000;
        self.bdp(millionths)
    }

    fn bdp(&self, millionths: u128) -> Option<u64> {
        if self.rate == Rate::UNLIMITED {
            return None;
        }
        let bits =
            u128::from(self.rate.0).checked_mul(u128::from(self.base_rtt.0))?.checked_mul(millionths)?;
        let packet = u128::from(self.full_packet.max(1)) * 8 * 1_000_000_000 * 1_000_000;
        let packets = bits.checked_add(packet / 2)? / packet;
        Some(u64::try_from(packets).unwrap_or(u64::MAX).max(1))
    }
}

impl Buffer {
    /// Returns the larger of this buffer and a number of packets, of 1,500 bytes each where the buffer counts bytes.
    pub fn at_least(&self, packets: u32) -> Buffer {
        match self {
            Buffer::Unlimited => Buffer::Unlimited,
            Buffer::Bytes(bytes) => Buffer::Bytes((*bytes).max(u64::from(packets) * 1_500)),
            Buffer::Packets(terms) => {
                let fixed = |term: &BufferTerm| matches!(term, BufferTerm::Fixed(_));
                let most = terms.iter().filter_map(|term| match term {
                    BufferTerm::Fixed(fixed) => Some(*fixed),
                    BufferTerm::Bdp(_) | BufferTerm::PerFlow(_) => None,
                });
                let most = BufferTerm::Fixed(most.fold(packets, u32::max));
                let others = terms.iter().copied().filter(|term| !fixed(term));
                Buffer::Packets(others.chain([most]).collect())
            }
        }
    }

    /// The limit in a network of which `context` speaks.
    ///
    /// # Errors
    /// A bandwidth-delay product of an unlimited bottleneck, a result that does not fit, and a number of bytes
    /// that holds no full packet.
    pub fn resolve(&self, context: &BufferContext) -> Result<QueueLimit, UnitError> {
        match self {
            Buffer::Unlimited => Ok(QueueLimit::Unlimited),
            Buffer::Bytes(bytes) if *bytes < u64::from(context.full_packet) => Err(UnitError::new(format!(
                "{} hold no packet of {} bytes: give at least that",
                ByteSize(*bytes),
                context.full_packet
            ))),
            Buffer::Bytes(bytes) => Ok(QueueLimit::Bytes(*bytes)),
            Buffer::Packets(terms) => {
                let mut most = 1;
                for term in terms {
                    most = most.max(term.resolve(context)?);
                }
                Ok(QueueLimit::Packets(most))
            }
        }
    }
}

impl BufferTerm {
    fn resolve(self, context: &BufferContext) -> Result<u32, UnitError> {
        let packets = match self {
            BufferTerm::Fixed(packets) => Some(u64::from(packets)),
            BufferTerm::PerFlow(packets) => u64::from(packets).checked_mul(u64::from(context.flows)),
            BufferTerm::Bdp(_) if context.rate == Rate::UNLIMITED => {
                return Err(UnitError::new(
                    "a bandwidth-delay product needs a bottleneck with a rate: give packets, bytes or `unlimited`",
                ));
            }
            BufferTerm::Bdp(factor) => factor.to_integer(1_000_000).ok().and_then(|m| context.bdp(m)),
        };
        packets.and_then(|packets| u32::try_from(packets).ok()).ok_or_else(|| {
            UnitError::new(format!("`{self}` comes to more than {} packets: write `unlimited`", u32::MAX))
        })
    }
}

impl From<u32> for Buffer {
    /// So many packets.
    fn from(packets: u32) -> Buffer {
        Buffer::Packets(vec![BufferTerm::Fixed(packets)])
    }
}

const FORMS: &str = "a buffer is written `1000` (packets), `1 BDP`, `2/flow`, `max(1 BDP, 2/flow)`, `64 KB` or \
                     `unlimited`";

impl FromStr for Buffer {
    type Err = UnitError;

    /// See [`Buffer`].
    fn from_str(text: &str) -> Result<Buffer, UnitError> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("unlimited") {
            return Ok(Buffer::Unlimited);
        }
        if let Some(rest) = text.strip_prefix("max") {
            let rest = rest.trim();
            let inner = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).ok_or_else(|| {
                UnitError::new("the largest of several is written `max(1 BDP, 2/flow)`, with both brackets")
            })?;
            let terms = inner.split(',').map(|term| match parse_one(term)? {
                One::Term(term) => Ok(term),
                One::Bytes(_) => Err(UnitError::new(format!(
                    "`{}`: `max` compares packets, and bytes are none: give packets, `BDP` or `/flow`",
                    term.trim()
                ))),
            });
            return terms.collect::<Result<_, _>>().map(Buffer::Packets);
        }
        match parse_one(text)? {
            One::Term(term) => Ok(Buffer::Packets(vec![term])),
            One::Bytes(bytes) => Ok(Buffer::Bytes(bytes)),
        }
    }
}

enum One {
    Term(BufferTerm),
    Bytes(u64),
}

fn parse_one(text: &str) -> Result<One, UnitError> {
    let (number, unit) = Decimal::split_unit(text).map_err(|error| {
        let plain = error.message.ends_with("does not begin with a number");
        if plain { UnitError::new(format!("{}: {FORMS}", error.message)) } else { error }
    })?;
    if number.is_zero() {
        return Err(UnitError::new("it must hold something: 1 packet is the least"));
    }
    let compact: String = unit.chars().filter(|c| !c.is_whitespace()).collect();
    match compact.as_str() {
        "" | "packets" | "packet" => whole_packets(number).map(|n| One::Term(BufferTerm::Fixed(n))),
        "BDP" => match number.to_integer(1_000_000) {
            Ok(millionths) if millionths <= 1_000_000_000 => Ok(One::Term(BufferTerm::Bdp(number))),
            Ok(_) | Err(NotInteger::Overflow) => {
                Err(UnitError::new("it is too large: 1000 BDP are the most"))
            }
            Err(_) => Err(UnitError::new("it is too small: a millionth of a BDP is the least")),
        },
        "/flow" | "packets/flow" | "packet/flow" => {
            whole_packets(number).map(|n| One::Term(BufferTerm::PerFlow(n)))
        }
        _ => parse_bytes(text, unit).map(One::Bytes),
    }
}

fn parse_bytes(text: &str, unit: &str) -> Result<u64, UnitError> {
    text.parse::<ByteSize>().map(|size| size.0).map_err(|error| {
        if !error.message.starts_with("unknown unit") {
            return error;
        }
        let meant = ["BDP", "/flow", "packets", "KB", "MB", "GB"]
            .into_iter()
            .find(|known| known.eq_ignore_ascii_case(unit) || strsim::damerau_levenshtein(known, unit) <= 1);
        let hint = meant.map(|known| format!(" (did you mean `{known}`?)")).unwrap_or_default();
        UnitError::new(format!("unknown unit `{unit}`{hint}: {FORMS}"))
    })
}

impl fmt::Display for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Buffer::Unlimited => f.write_str("unlimited"),
            Buffer::Bytes(bytes) => write!(f, "{}", ByteSize(*bytes)),
            Buffer::Packets(terms) => match terms.as_slice() {
                [one] => write!(f, "{one}"),
                many => {
                    f.write_str("max(")?;
                    for (i, term) in many.iter().enumerate() {
                        write!(f, "{}{term}", if i == 0 { "" } else { ", " })?;
                    }
                    f.write_str(")")
                }
            },
        }
    }
}

impl fmt::Display for BufferTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BufferTerm::Fixed(packets) => write!(f, "{packets}"),
            BufferTerm::Bdp(factor) => write!(f, "{factor} BDP"),
            BufferTerm::PerFlow(packets) => write!(f, "{packets}/flow"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: BufferContext = BufferContext {
        rate: Rate(100_000_000),
        base_rtt: Time::from_millis(80),
        full_packet: 1_040,
        flows: 5,
    };

    #[track_caller]
    fn resolved(text: &str) -> QueueLimit {
        let buffer: Buffer = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        buffer.resolve(&CONTEXT).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[track_caller]
    fn refused(text: &str) -> String {
        text.parse::<Buffer>().expect_err(text).message
    }

    #[test]
    fn resolves_every_form() {
        // 100e6 x 0.08 / (8 x 1040) = 961.54 packets.
        assert_eq!(resolved("5"), QueueLimit::Packets(5));
        assert_eq!(resolved("5 packets"), QueueLimit::Packets(5));
        assert_eq!(resolved("1 BDP"), QueueLimit::Packets(962));
        assert_eq!(resolved("0.5 BDP"), QueueLimit::Packets(481));
        assert_eq!(resolved("0.0001BDP"), QueueLimit::Packets(1));
        assert_eq!(resolved("2/flow"), QueueLimit::Packets(10));
        assert_eq!(resolved("max(1 BDP, 2/flow)"), QueueLimit::Packets(962));
        assert_eq!(resolved("max( 0.001 BDP ,2 / flow, 3)"), QueueLimit::Packets(10));
        assert_eq!(resolved("64 KB"), QueueLimit::Bytes(64_000));
        assert_eq!(resolved("unlimited"), QueueLimit::Unlimited);
    }

    #[test]
    fn a_half_packet_rounds_up() {
        // 8 Mbit/s x 1.5 ms = 12,000 bits = 1.5 packets of 1,000 bytes.
        let context =
            BufferContext { rate: Rate(8_000_000), base_rtt: Time(1_500_000), full_packet: 1_000, flows: 1 };
        assert_eq!(context.bdp_packets(), Some(2));
    }

    #[test]
    fn refuses_with_a_reason() {
        assert_eq!(refused("0"), "it must hold something: 1 packet is the least");
        assert_eq!(refused("0 BDP"), "it must hold something: 1 packet is the least");
        assert_eq!(refused("-5"), "it must not be negative");
        assert_eq!(refused("1e18"), "it is too large: 4294967295 packets are the most");
        assert_eq!(refused("2.5"), "`2.5` is not a whole number of packets");
        assert_eq!(refused("1e9 BDP"), "it is too large: 1000 BDP are the most");
        assert_eq!(refused("1 bdp"), format!("unknown unit `bdp` (did you mean `BDP`?): {FORMS}"));
        assert_eq!(refused("lots"), format!("`lots` does not begin with a number: {FORMS}"));
        assert!(refused("max(1 BDP").starts_with("the largest of several is written"));
        assert!(refused("max(64 KB, 1)").starts_with("`64 KB`: `max` compares packets"));
        assert_eq!(refused("max(1 BDP, )"), "a value is missing");
    }

    #[test]
    fn refuses_what_the_network_cannot_hold() {
        let unlimited = BufferContext { rate: Rate::UNLIMITED, ..CONTEXT };
        let one: Buffer = "1 BDP".parse().unwrap();
        assert!(one.resolve(&unlimited).unwrap_err().message.contains("needs a bottleneck with a rate"));
        let small: Buffer = "500 B".parse().unwrap();
        let message = small.resolve(&CONTEXT).unwrap_err().message;
        assert_eq!(message, "500 B hold no packet of 1040 bytes: give at least that");
        let vast = BufferContext { rate: Rate::MOST, base_rtt: Time::LONGEST, full_packet: 40, flows: 1 };
        let many: Buffer = "1000 BDP".parse().unwrap();
        assert!(many.resolve(&vast).unwrap_err().message.contains("write `unlimited`"));
    }

    #[test]
    fn is_written_as_it_is_read() {
        for text in ["5", "1 BDP", "0.5 BDP", "2/flow", "max(1 BDP, 2/flow)", "64 KB", "unlimited"] {
            assert_eq!(text.parse::<Buffer>().unwrap().to_string(), text);
        }
    }
}
