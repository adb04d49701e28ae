//! Versions of Linux, whose endpoints differ.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A version of Linux, 4.3 to 7.3: its rules apply where versions differ. It is written as `6.12`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LinuxVersion {
    /// The first number.
    pub major: u32,
    /// The second one.
    pub minor: u32,
}

impl LinuxVersion {
    /// The version of the recordings that `--stack linux` is compared with.
    pub const RECORDED: LinuxVersion = LinuxVersion::new(6, 1);
    /// Of older ones it is not known in what they differ.
    const OLDEST: LinuxVersion = LinuxVersion::new(4, 3);
    /// Nor of newer ones.
    const NEWEST: LinuxVersion = LinuxVersion::new(7, 3);

    /// Returns the version of these numbers.
    pub const fn new(major: u32, minor: u32) -> LinuxVersion {
        LinuxVersion { major, minor }
    }

    /// Returns whether it is [`LinuxVersion::RECORDED`].
    pub fn is_recorded(&self) -> bool {
        *self == LinuxVersion::RECORDED
    }

    /// Returns whether HyStart follows rounds from 16 segments up only (Linux 5.16 to 6.13).
    pub fn has_late_hystart_rounds(self) -> bool {
        (LinuxVersion::new(5, 16)..LinuxVersion::new(6, 14)).contains(&self)
    }

    /// Returns whether a reduction grows the window again only on an ACK that delivers a retransmission (Linux 4.3 to 5.10).
    pub fn has_cautious_reduction(self) -> bool {
        self < LinuxVersion::new(5, 11)
    }

    /// Returns whether a buffer that is too short for a burst is filled from the next one before it is sent (from Linux 6.10 on).
    pub fn fills_buffers(self) -> bool {
        self >= LinuxVersion::new(6, 10)
    }
}

/// The version of the recordings.
impl Default for LinuxVersion {
    fn default() -> LinuxVersion {
        LinuxVersion::RECORDED
    }
}

impl FromStr for LinuxVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<LinuxVersion, String> {
        let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
        let version = match (major.parse(), minor.parse()) {
            (Ok(major), Ok(minor)) => Some(LinuxVersion { major, minor }),
            _ => None,
        };
        let (oldest, newest) = (LinuxVersion::OLDEST, LinuxVersion::NEWEST);
        match version {
            None => Err(format!(
                "`{text}` is not a version of Linux; write one from {oldest} to {newest}, such as 6.12"
            )),
            Some(version) if version < oldest => Err(format!(
                "Linux {version} is older than the rules that are known; write {oldest} or later"
            )),
            Some(version) if version > newest => Err(format!(
                "Linux {version} is newer than the rules that are known; write {newest}, or an earlier one"
            )),
            Some(version) => Ok(version),
        }
    }
}

impl fmt::Display for LinuxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl TryFrom<String> for LinuxVersion {
    type Error = String;

    fn try_from(text: String) -> Result<LinuxVersion, String> {
        text.parse()
    }
}

impl From<LinuxVersion> for String {
    fn from(version: LinuxVersion) -> String {
        version.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_numbers_and_not_fractions() {
        let version = |text: &str| text.parse::<LinuxVersion>();
        assert!(version("6.9").unwrap() < version("6.10").unwrap());
        assert_eq!(version("7").unwrap(), LinuxVersion::new(7, 0));
        assert_eq!(version("6.12").unwrap().to_string(), "6.12");
        let refused = [
            (&["6.x", "new", "", "-6.1", "6.1.5"][..], "write one from 4.3 to 7.3"),
            (&["4.2", "4"], "write 4.3 or later"),
            (&["7.4", "99"], "write 7.3, or an earlier one"),
        ];
        for (versions, hint) in refused {
            for wrong in versions {
                let why = version(wrong).unwrap_err();
                assert!(why.contains(hint), "{wrong}: {why}");
            }
        }
        assert_eq!(version("7.3").unwrap(), LinuxVersion::NEWEST);
    }

    #[test]
    fn rules_begin_and_end_with_their_versions() {
        let of = |text: &str| text.parse::<LinuxVersion>().unwrap();
        assert!(of("5.10").has_cautious_reduction() && !of("5.11").has_cautious_reduction());
        assert!(!of("6.9").fills_buffers() && of("6.10").fills_buffers());
        assert!(!of("5.15").has_late_hystart_rounds() && of("5.16").has_late_hystart_rounds());
        assert!(of("6.13").has_late_hystart_rounds() && !of("6.14").has_late_hystart_rounds());
    }
}
