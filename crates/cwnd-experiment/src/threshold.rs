//! The queue length from which packets are marked.

use cwnd_scenario::{Decimal, NotInteger, QueueLimit, UnitError};
use std::{fmt, str::FromStr};

/// The queue length over which arriving packets are marked.
///
/// Read from `20` (packets) or `20 %` (of the queue's limit).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnThreshold {
    /// So many packets.
    Packets(u32),
    /// This percentage of the queue's limit, rounded down: a queue is over 20 % of 13 packets when it is over
    /// 2.
    Percent(Decimal),
}

impl EcnThreshold {
    /// The threshold in packets, in a queue with this limit; a limit in bytes counts full packets of
    /// `full_packet` bytes.
    ///
    /// # Errors
    /// A percentage of an unlimited queue is nothing.
    pub fn resolve(self, limit: QueueLimit, full_packet: u32) -> Result<u32, UnitError> {
        let percent = match self {
            EcnThreshold::Packets(packets) => return Ok(packets),
            EcnThreshold::Percent(percent) => percent,
        };
        let limit = match limit {
            QueueLimit::Packets(packets) => u64::from(packets),
            QueueLimit::Bytes(bytes) => bytes / u64::from(full_packet.max(1)),
            QueueLimit::Unlimited => {
                return Err(UnitError::new(
                    "a percentage of an unlimited queue is nothing: give a number of packets, such as `20`",
                ));
            }
        };
        let millionths = percent.to_integer(1_000_000).unwrap_or(0);
        let packets = u128::from(limit) * millionths / 100_000_000;
        Ok(u32::try_from(packets).unwrap_or(u32::MAX))
    }
}

impl FromStr for EcnThreshold {
    type Err = UnitError;

    /// A whole number of packets, or a percentage up to 100.
    fn from_str(text: &str) -> Result<EcnThreshold, UnitError> {
        let (number, unit) = Decimal::split_unit(text)?;
        match unit {
            "" | "packets" | "packet" => whole_packets(number).map(EcnThreshold::Packets),
            "%" => match number.to_integer(1_000_000) {
                Ok(millionths) if millionths <= 100_000_000 => Ok(EcnThreshold::Percent(number)),
                _ => Err(UnitError::new("it must lie between 0 % and 100 % of the queue's limit")),
            },
            _ => Err(UnitError::new(format!(
                "unknown unit `{unit}`: a threshold is a number of packets, such as `20`, or a part of the queue's limit, such as `20 %`"
            ))),
        }
    }
}

impl fmt::Display for EcnThreshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EcnThreshold::Packets(packets) => write!(f, "{packets}"),
            EcnThreshold::Percent(percent) => write!(f, "{percent} %"),
        }
    }
}

/// A whole number of packets that fits.
pub(crate) fn whole_packets(number: Decimal) -> Result<u32, UnitError> {
    let most = format!("it is too large: {} packets are the most", u32::MAX);
    match number.to_integer(1) {
        Ok(value) if Decimal::new(value.try_into().unwrap_or(u64::MAX), 0) != number && value <= 1 << 32 => {
            Err(UnitError::new(format!("`{number}` is not a whole number of packets")))
        }
        Ok(value) => u32::try_from(value).map_err(|_| UnitError::new(most)),
        Err(NotInteger::Vanishes) => {
            Err(UnitError::new(format!("`{number}` is not a whole number of packets")))
        }
        Err(NotInteger::Overflow) => Err(UnitError::new(most)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str) -> String {
        text.parse::<EcnThreshold>().expect_err(text).message
    }

    #[test]
    fn reads_packets_and_percentages() {
        let twenty = EcnThreshold::Percent(Decimal::new(20, 0));
        assert_eq!("20".parse(), Ok(EcnThreshold::Packets(20)));
        assert_eq!("20%".parse(), Ok(twenty));
        assert_eq!("20 %".parse(), Ok(twenty));
        assert_eq!("0".parse(), Ok(EcnThreshold::Packets(0)));
        assert_eq!(twenty.to_string(), "20 %");
    }

    #[test]
    fn a_percentage_is_of_the_limit_and_rounds_down() {
        let twenty = EcnThreshold::Percent(Decimal::new(20, 0));
        assert_eq!(twenty.resolve(QueueLimit::Packets(100), 1050), Ok(20));
        assert_eq!(twenty.resolve(QueueLimit::Packets(13), 1050), Ok(2));
        assert_eq!(twenty.resolve(QueueLimit::Bytes(64_000), 1_000), Ok(12));
        assert!(twenty.resolve(QueueLimit::Unlimited, 1050).is_err());
        assert_eq!(EcnThreshold::Packets(7).resolve(QueueLimit::Unlimited, 1050), Ok(7));
    }

    #[test]
    fn refuses_with_a_reason() {
        assert_eq!(refused("120 %"), "it must lie between 0 % and 100 % of the queue's limit");
        assert_eq!(refused("2.5"), "`2.5` is not a whole number of packets");
        assert_eq!(refused("0.2"), "`0.2` is not a whole number of packets");
        assert_eq!(refused("1e18"), "it is too large: 4294967295 packets are the most");
        assert!(refused("20 ms").starts_with("unknown unit `ms`: a threshold is a number of packets"));
    }
}
