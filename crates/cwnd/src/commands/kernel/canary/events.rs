//! What happens to a canary, as text or as a line of JSON each.

use super::GroupStatus;
use cwnd_kernel::load::{Ending, Groups, Verdict};
use cwnd_scenario::Time;
use serde::{Serialize, Serializer};
use std::path::Path;

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event<'a> {
    /// New connections are drawn from now on.
    Begin {
        cgroup: &'a Path,
        congestion_control: &'a str,
        /// None for what connections would get without the canary.
        rest: Option<&'a str>,
        /// The share of new connections that get it, from 0 to 1.
        share: f64,
        #[serde(rename = "until_s", serialize_with = "seconds")]
        until: Time,
    },
    /// A judgement.
    Judgement { canary: GroupStatus, rest: GroupStatus, verdict: &'static str, why: Option<&'a str> },
    /// The canary has ended.
    End {
        ending: &'static str,
        why: Option<&'a str>,
        /// Open canaries that have gone back so far to what they had before.
        returned: u64,
        /// The file that keeps the selection of it (`--promote`).
        selection: Option<&'a Path>,
    },
}

fn seconds<S: Serializer>(time: &Time, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

impl<'a> Event<'a> {
    pub fn judgement(groups: &Groups, verdict: &'a Verdict) -> Event<'a> {
        let [canary, rest] = [&groups.canary, &groups.rest].map(|group| GroupStatus::new(&group.total()));
        let (verdict, why) = match verdict {
            Verdict::TooFew(why) => ("too-few", Some(why.as_str())),
            Verdict::Worse(why) => ("worse", Some(why.as_str())),
            Verdict::Undecided(why) => ("undecided", Some(why.as_str())),
            Verdict::Within => ("within", None),
        };
        Event::Judgement { canary, rest, verdict, why }
    }

    pub fn end(ending: &'a Ending, returned: u64, selection: Option<&'a Path>) -> Event<'a> {
        let (ending, why) = match ending {
            Ending::Kept => ("within", None),
            Ending::Worse(why) => ("worse", Some(why.as_str())),
            Ending::Undecided(why) => ("undecided", Some(why.as_str())),
            Ending::TooFew(why) => ("too-few", Some(why.as_str())),
            Ending::Unloaded(name) => ("unloaded", Some(name.as_str())),
            Ending::Stopped => ("stopped", None),
        };
        Event::End { ending, why, returned, selection }
    }

    /// As a line of JSON.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("its keys are texts") + "\n"
    }

    /// As a line for people; nothing for the end, whose text depends on what follows.
    pub fn text(&self) -> String {
        match self {
            Event::Begin { cgroup, congestion_control, share, until, .. } => format!(
                "{} % of the new connections of {} get {congestion_control}, for {until}; Ctrl-C ends it\n",
                // Without what a binary fraction adds.
                (1e6 * share).round() / 1e4,
                cgroup.display()
            ),
            Event::Judgement { canary, rest, verdict, .. } => {
                let verdict = match *verdict {
                    "too-few" => "too few to judge",
                    "undecided" => "not yet enough connections to tell",
                    "within" => "within the bounds",
                    worse => worse,
                };
                format!("canary {}; rest {}; {verdict}\n", canary.in_words(), rest.in_words())
            }
            Event::End { .. } => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_is_a_line() {
        let verdict = Verdict::TooFew("the canary has 0 connections".to_owned());
        let judgement = Event::judgement(&Groups::default(), &verdict);
        let json: serde_json::Value = serde_json::from_str(&judgement.json()).unwrap();
        assert_eq!((&json["event"], &json["verdict"]), (&"judgement".into(), &"too-few".into()));
        assert_eq!(json["why"], "the canary has 0 connections");
        assert_eq!(json["canary"]["connections"], 0);
        assert_eq!(
            judgement.text(),
            "canary 0 connections, 0.000 % retransmitted, 0.00 ms; rest 0 connections, 0.000 % retransmitted, 0.00 ms; \
             too few to judge\n"
        );
        let begin = Event::Begin {
            cgroup: Path::new("/sys/fs/cgroup/a"),
            congestion_control: "cwnd_new",
            rest: None,
            share: 0.07,
            until: Time::from_secs(600),
        };
        assert_eq!(
            begin.text(),
            "7 % of the new connections of /sys/fs/cgroup/a get cwnd_new, for 600 s; Ctrl-C ends it\n"
        );
        assert!(begin.json().starts_with("{\"event\":\"begin\",\"cgroup\":\"/sys/fs/cgroup/a\""));
        let end = Event::end(&Ending::Stopped, 3, None).json();
        assert_eq!(
            end,
            "{\"event\":\"end\",\"ending\":\"stopped\",\"why\":null,\"returned\":3,\"selection\":null}\n"
        );
    }
}
