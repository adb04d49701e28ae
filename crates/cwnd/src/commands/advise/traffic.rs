//! `--short-flows`: flows that come and go next to the long ones.

use cwnd_experiment::ShortFlows;
use cwnd_scenario::Rate;
use std::str::FromStr;

/// Short flows of the candidate's own algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShortFlowsChoice {
    /// None.
    None,
    /// Those of web servers.
    Web,
    /// As a study writes them, without the algorithm.
    Stated(String),
}

/// Mean size of a web object, and the shape of the tail of sizes: that of the World Wide Web has shapes from 1.0 to 1.3
/// (Crovella and Bestavros, "Self-similarity in World Wide Web traffic", IEEE/ACM ToN 1997).
const WEB_SIZE: &str = "pareto 30 KB shape 1.2";
const WEB_MEAN_BYTES: f64 = 30e3;
/// Share of the rate that they offer, percent, as long as that is no more than a number of a second.
const WEB_LOAD: f64 = 10.0;
const WEB_MOST: f64 = 100.0;

impl ShortFlowsChoice {
    /// Returns them as a study writes them, without the algorithm; none if there are none.
    pub fn notation(&self, rate: Rate) -> Option<String> {
        match self {
            ShortFlowsChoice::None => None,
            ShortFlowsChoice::Stated(text) => Some(text.clone()),
            ShortFlowsChoice::Web => {
                let per_second = rate.0 as f64 * WEB_LOAD / 100.0 / 8.0 / WEB_MEAN_BYTES;
                Some(match per_second > WEB_MOST {
                    true => format!("rate={WEB_MOST}/s; size={WEB_SIZE}"),
                    false => format!("load={WEB_LOAD} %; size={WEB_SIZE}"),
                })
            }
        }
    }
}

impl FromStr for ShortFlowsChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<ShortFlowsChoice, String> {
        match text.trim() {
            "none" => Ok(ShortFlowsChoice::None),
            "web" => Ok(ShortFlowsChoice::Web),
            text if !text.contains('=') => Err(format!(
                "`{text}` is none: write `web`, `none`, or a load and a size such as `load=20 %; size=web-search`"
            )),
            text => {
                // Their algorithm is that of the candidate; any stands for it here.
                let whole = format!("newreno; {text}");
                let skipped = whole.len() - text.len();
                whole.parse::<ShortFlows>().map_err(|error| {
                    let column = error.column.saturating_sub(skipped).max(1);
                    format!("column {column}: {}", error.message)
                })?;
                Ok(ShortFlowsChoice::Stated(text.to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn web_traffic_is_a_tenth_of_the_rate_up_to_a_hundred_flows_a_second() {
        let of = |rate: u64| ShortFlowsChoice::Web.notation(Rate(rate)).unwrap();
        assert_eq!(of(100_000_000), "load=10 %; size=pareto 30 KB shape 1.2");
        // 240 Mbit/s x 0.1 / 8 / 30 KB = 100 a second.
        assert_eq!(of(240_000_000), "load=10 %; size=pareto 30 KB shape 1.2");
        assert_eq!(of(241_000_000), "rate=100/s; size=pareto 30 KB shape 1.2");
        for text in [of(1_000_000), of(10_000_000_000)] {
            assert!(format!("cubic; {text}").parse::<ShortFlows>().is_ok(), "{text}");
        }
    }

    #[test]
    fn what_is_stated_is_checked() {
        assert_eq!("web".parse(), Ok(ShortFlowsChoice::Web));
        assert_eq!(
            "load=5 %; size=30 KB".parse(),
            Ok(ShortFlowsChoice::Stated("load=5 %; size=30 KB".to_owned()))
        );
        let refused = |text: &str| text.parse::<ShortFlowsChoice>().unwrap_err();
        assert!(refused("wep").starts_with("`wep` is none: write `web`"));
        assert!(refused("load=5 %").contains("how large are they?"));
        assert!(
            refused("load=5 %; siz=3 KB")
                .starts_with("column 11: short flows have no `siz` (did you mean `size`?)")
        );
    }
}
