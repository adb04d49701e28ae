//! An algorithm as a scenario names it: `agile-sd:lambda_max=4`.
//!
//! Only the form is checked here; the crates that implement algorithms know which algorithms and parameters exist.

use crate::StackProfile;
use crate::notation::{NotationError, Piece};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt, str::FromStr};

/// An algorithm by its registered name, with parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AlgorithmSpec {
    /// Registered name.
    pub name: String,
    /// Parameters that differ from their defaults: numbers, switches and words as text.
    pub parameters: BTreeMap<String, String>,
    /// Parameters that the stack profile sets and `parameters` does not ([`resolved`](AlgorithmSpec::resolved)). They are no part
    /// of the name by which results call the algorithm.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub profile_parameters: BTreeMap<String, String>,
}

/// What algorithms are called elsewhere, and the names by which they are registered.
const SYNONYMS: [(&str, &str); 13] = [
    ("reno", "newreno"),
    ("new-reno", "newreno"),
    ("bbr1", "bbr"),
    ("bbrv1", "bbr"),
    ("bbr2", "bbr3"),
    ("bbrv2", "bbr3"),
    ("bbrv3", "bbr3"),
    ("ctcp", "compound"),
    ("hstcp", "highspeed"),
    ("stcp", "scalable"),
    ("h-tcp", "htcp"),
    ("elastic-tcp", "elastic"),
    ("westwood+", "westwood"),
];

/// Returns the name by which an algorithm is registered that is called `name` elsewhere, in any case of letters; none if it
/// is no such name.
pub fn registered_name(name: &str) -> Option<&'static str> {
    let known = SYNONYMS.iter().find(|(synonym, _)| synonym.eq_ignore_ascii_case(name));
    known.map(|(_, registered)| *registered)
}

impl AlgorithmSpec {
    /// The name of the algorithm that the setting `candidate` stands for: `flow = ["candidate; count=4", "cubic"]`.
    pub const CANDIDATE: &'static str = "candidate";

    /// Returns whether it stands for the algorithm of the setting `candidate`.
    pub fn is_candidate(&self) -> bool {
        self.name == AlgorithmSpec::CANDIDATE
    }

    /// Returns the algorithm as it runs on a stack: with the parameters that the stack's profile sets
    /// ([`StackProfile::parameters`]). A parameter that is set explicitly keeps its value.
    #[must_use]
    pub fn resolved(&self, profile: StackProfile) -> AlgorithmSpec {
        let of_profile = profile.parameters(&self.name).iter();
        let missing = of_profile.filter(|(name, _)| !self.parameters.contains_key(*name));
        let profile_parameters = missing.map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        AlgorithmSpec { profile_parameters, ..self.clone() }
    }

    /// Returns all parameters that differ from their defaults, those of the stack profile included.
    pub fn all_parameters(&self) -> impl Iterator<Item = (&String, &String)> {
        self.parameters.iter().chain(&self.profile_parameters)
    }

    /// Parses `NAME` or `NAME:PARAMETER=VALUE,…`. A name that algorithms have elsewhere (`reno`, `bbrv3`, `CUBIC`) becomes the
    /// one by which it is registered, so that the same algorithm has the same scenario; of other names the case of letters counts.
    ///
    /// # Errors
    /// Names and values that contain other characters, values that are missing, or parameters that are set twice.
    pub fn from_piece(piece: Piece<'_>) -> Result<AlgorithmSpec, NotationError> {
        let (name, parameters) = match piece.cut(':') {
            Some((name, parameters)) => (name.trimmed(), Some(parameters)),
            None => (piece.trimmed(), None),
        };
        name.check_word("an algorithm's name")?;
        let registered = registered_name(name.text()).map(str::to_owned);
        // Names that others have given (`MyModule@host`, `Aimd@python`) stay as they are.
        let is_ours = !name.text().contains('@') || name.text().ends_with("@kernel");
        let written = if is_ours { name.text().to_ascii_lowercase() } else { name.text().to_owned() };
        let name = registered.unwrap_or(written);
        let mut spec = AlgorithmSpec { name, ..AlgorithmSpec::default() };
        for piece in parameters.into_iter().flat_map(|p| p.split(',')) {
            let Some((key, value)) = piece.cut('=') else {
                return Err(piece.trimmed().error("a parameter is written `name=value`, after the colon"));
            };
            let (key, value) = (key.trimmed(), value.trimmed());
            key.check_word("a parameter's name")?;
            if value.text().is_empty() {
                return Err(value.error(format!("`{}` has no value", key.text())));
            }
            if let Some(at) = value.text().find(['=', '*', ';', ':']) {
                let stray = value.from(at);
                return Err(stray.error(format!("`{}` cannot stand in a value", stray.text())));
            }
            if spec.parameters.insert(key.text().to_owned(), value.text().to_owned()).is_some() {
                return Err(key.error(format!("`{}` is set twice", key.text())));
            }
        }
        Ok(spec)
    }
}

impl FromStr for AlgorithmSpec {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<AlgorithmSpec, NotationError> {
        AlgorithmSpec::from_piece(Piece::whole(text))
    }
}

impl fmt::Display for AlgorithmSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (i, (name, value)) in self.parameters.iter().enumerate() {
            write!(f, "{}{name}={value}", if i == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(name: &str, parameters: &[(&str, &str)]) -> AlgorithmSpec {
        AlgorithmSpec {
            name: name.to_owned(),
            parameters: parameters.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            ..AlgorithmSpec::default()
        }
    }

    #[track_caller]
    fn refused(text: &str) -> String {
        text.parse::<AlgorithmSpec>().expect_err(text).to_string()
    }

    #[test]
    fn reads_algorithms() {
        assert_eq!("cubic-2008".parse(), Ok(spec("cubic-2008", &[])));
        assert_eq!("cubic@kernel:c=1".parse(), Ok(spec("cubic@kernel", &[("c", "1")])));
        assert_eq!("CUBIC".parse(), Ok(spec("cubic", &[])));
        assert_eq!("Reno:ssthresh=2".parse(), Ok(spec("newreno", &[("ssthresh", "2")])));
        assert_eq!("bbrv3".parse(), Ok(spec("bbr3", &[])));
        assert_eq!("reno@kernel".parse(), Ok(spec("reno@kernel", &[])));
        assert_eq!(" agile-sd : lambda_max = 4 ".parse(), Ok(spec("agile-sd", &[("lambda_max", "4")])));
        let two = spec("agile-sd", &[("beta2", "0.9"), ("lambda_max", "4")]);
        assert_eq!("agile-sd:lambda_max=4,beta2=0.9".parse(), Ok(two.clone()));
        assert_eq!(two.to_string(), "agile-sd:beta2=0.9,lambda_max=4");
    }

    #[test]
    fn a_profile_sets_what_is_not_set() {
        let htcp = spec("htcp", &[]).resolved(StackProfile::Linux);
        assert_eq!(htcp.profile_parameters, spec("", &[("rtt_scaling", "on")]).parameters);
        // The name does not show it, a stored scenario does.
        assert_eq!(htcp.to_string(), "htcp");
        assert!(serde_json::to_string(&htcp).unwrap().contains("rtt_scaling"));
        // What is set explicitly is the same scenario as before, and wins.
        let explicit = spec("bbr", &[("pacing_margin", "0.01"), ("rules", "draft")]);
        assert_eq!(explicit.resolved(StackProfile::Linux), explicit);
        let one = spec("bbr", &[("rules", "draft")]).resolved(StackProfile::Linux);
        assert_eq!(one.profile_parameters, spec("", &[("pacing_margin", "0.01")]).parameters);
        assert_eq!(one.all_parameters().count(), 2);
        assert_eq!(spec("bbr", &[]).resolved(StackProfile::Ns2), spec("bbr", &[]));
        assert_eq!(spec("htcp@kernel", &[]).resolved(StackProfile::Linux), spec("htcp@kernel", &[]));
    }

    #[test]
    fn refuses_algorithms_with_a_place() {
        assert_eq!(refused(""), "column 1: an algorithm's name is missing here");
        assert_eq!(
            refused("cubic*2"),
            "column 6: an algorithm's name has letters, digits, `-`, `_`, `.` and `+`: `*` is none"
        );
        assert_eq!(refused("cubic:"), "column 7: a parameter is written `name=value`, after the colon");
        assert_eq!(refused("cubic:c="), "column 9: `c` has no value");
        assert_eq!(refused("cubic:=3"), "column 7: a parameter's name is missing here");
        assert_eq!(refused("cubic:c=1,c=2"), "column 11: `c` is set twice");
        assert_eq!(refused("cubic:c=1=2"), "column 10: `=2` cannot stand in a value");
        assert_eq!(
            refused("beta=3"),
            "column 5: `beta=3`: a parameter follows an algorithm's name and a colon, as in `name:a=1,b=2`"
        );
    }
}
