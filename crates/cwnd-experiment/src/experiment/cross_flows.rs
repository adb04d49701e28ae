//! Flows in addition to an experiment's own: on each hop of a parking lot, on the wires of a satellite network.

use crate::{FlowGroup, Mix};
use cwnd_scenario::{NotationError, Problem};
use std::{fmt, str::FromStr};

use cwnd_scenario::MAX_FLOWS;

/// Cross flows, as they are said: `2` of the experiment's algorithm, or a mix such as `newreno*4,cubic*10`.
#[derive(Clone, Debug, PartialEq)]
pub enum CrossFlows {
    /// So many of the experiment's own algorithm.
    Count(u32),
    /// These.
    Mix(Mix),
}

impl CrossFlows {
    /// The flows, where the experiment's own are these.
    pub(super) fn groups(&self, own: &[FlowGroup]) -> Result<Vec<FlowGroup>, Problem> {
        let count = match self {
            CrossFlows::Mix(mix) => return Ok(mix.0.clone()),
            CrossFlows::Count(0) => return Ok(Vec::new()),
            CrossFlows::Count(count) => *count,
        };
        match own {
            [first, rest @ ..] if rest.iter().all(|group| group.algorithm == first.algorithm) => {
                Ok(vec![FlowGroup::new(first.algorithm.clone(), count)])
            }
            _ => Err(Problem {
                place: "cross_flows".to_owned(),
                message: format!("of which algorithm? Name it: `cubic*{count}`"),
            }),
        }
    }
}

impl FromStr for CrossFlows {
    type Err = NotationError;

    /// A number of flows, or a mix.
    fn from_str(text: &str) -> Result<CrossFlows, NotationError> {
        let number = text.trim();
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.parse().map(CrossFlows::Mix);
        }
        match number.parse() {
            Ok(count) if count <= MAX_FLOWS => Ok(CrossFlows::Count(count)),
            _ => {
                Err(NotationError { column: 1, message: format!("too many: {MAX_FLOWS} flows are the most") })
            }
        }
    }
}

/// As it is read.
impl fmt::Display for CrossFlows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CrossFlows::Count(count) => write!(f, "{count}"),
            CrossFlows::Mix(mix) => write!(f, "{mix}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_a_number_or_a_mix() {
        for text in ["0", "20", "cubic", "newreno*4,cubic*10"] {
            let cross: CrossFlows = text.parse().unwrap();
            assert_eq!(cross.to_string(), text);
        }
        let error = "99999999".parse::<CrossFlows>().unwrap_err();
        assert_eq!(error.message, "too many: 100000 flows are the most");
        assert!("cubic*0".parse::<CrossFlows>().is_err());
    }

    #[test]
    fn a_number_is_of_the_algorithm_of_all_others() {
        let groups =
            |text: &str| vec![text.parse::<FlowGroup>().unwrap(), "cubic; start=1 s".parse().unwrap()];
        let two = CrossFlows::Count(2);
        let said: Vec<String> =
            two.groups(&groups("cubic")).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(said, ["cubic; count=2"]);
        assert_eq!(two.groups(&groups("elastic")).unwrap_err().place, "cross_flows");
        assert_eq!(CrossFlows::Count(0).groups(&groups("elastic")), Ok(Vec::new()));
    }
}
