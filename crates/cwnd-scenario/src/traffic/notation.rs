//! Distributions and applications in one line of text: `exponential 2 s`, `on-off:exponential 2 s,1 s`,
//! `responses:size=web-search,think=exponential 1 s`, `pulses:10 Mbit/s,100 ms,900 ms`, `media:5 Mbit/s,40 ms,200 ms`.

use super::{Distribution, Quantity, Traffic, Workload};
use crate::notation::{NotationError, Piece, nearest};
use crate::{Rate, Time};
use std::{fmt, str::FromStr};

const BULK: &str = "bulk";
const ON_OFF: &str = "on-off";
const LIVE: &str = "live";
const RESPONSES: &str = "responses";
const PULSES: &str = "pulses";
const MEDIA: &str = "media";
const KINDS: [&str; 6] = [BULK, ON_OFF, LIVE, RESPONSES, PULSES, MEDIA];

const EXPONENTIAL: &str = "exponential";
const UNIFORM: &str = "uniform";
const PARETO: &str = "pareto";
const LOGNORMAL: &str = "lognormal";
/// The words between the two numbers of a distribution.
const TO: &str = "to";
const SHAPE: &str = "shape";
const SIGMA: &str = "sigma";

impl<T: Quantity> FromStr for Distribution<T> {
    type Err = NotationError;

    /// `2 s`, `exponential 2 s`, `uniform 1 s to 3 s`, `pareto 30 KB shape 1.2`, `lognormal 30 KB sigma 2`, and of sizes
    /// `web-search` and `data-mining`.
    fn from_str(text: &str) -> Result<Distribution<T>, NotationError> {
        Distribution::from_piece(Piece::whole(text).trimmed())
    }
}

impl<T: Quantity> Distribution<T> {
    /// Parses a distribution, as [`FromStr`] does, within a longer text.
    ///
    /// # Errors
    /// See [`FromStr`].
    pub fn from_piece(piece: Piece<'_>) -> Result<Distribution<T>, NotationError> {
        if piece.text().is_empty() {
            return Err(piece.error(format!(
                "a distribution of {} is missing here: {}",
                T::NAME,
                examples::<T>()
            )));
        }
        let (word, rest) = piece.first_word();
        let two = |middle: &str| {
            rest.cut_at_word(middle).ok_or_else(|| {
                let example = T::EXAMPLE;
                let example = match word.text() {
                    UNIFORM => format!("uniform {} to {example}", T::from_units(T::LEAST).write()),
                    PARETO => format!("pareto {example} shape 1.2"),
                    _ => format!("lognormal {example} sigma 2"),
                };
                rest.error(format!("`{middle}` is missing: write `{example}`, for example"))
            })
        };
        let read = match word.text() {
            EXPONENTIAL => Distribution::Exponential(quantity(rest)?),
            UNIFORM => two(TO)
                .and_then(|(least, most)| Ok(Distribution::Uniform(quantity(least)?, quantity(most)?)))?,
            PARETO => two(SHAPE)
                .and_then(|(mean, shape)| Ok(Distribution::Pareto(quantity(mean)?, shape.number()?)))?,
            LOGNORMAL => two(SIGMA)
                .and_then(|(mean, sigma)| Ok(Distribution::Lognormal(quantity(mean)?, sigma.number()?)))?,
            text => match Workload::ALL.into_iter().find(|workload| workload.name() == text) {
                Some(workload) if rest.text().is_empty() => Distribution::Measured(workload),
                Some(_) => return Err(rest.error(format!("`{text}` stands alone"))),
                None if text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+')) => {
                    Distribution::Constant(quantity(piece)?)
                }
                None => return Err(word.error(unknown::<T>(text))),
            },
        };
        match read.problem() {
            Some(problem) => Err(piece.error(problem)),
            None => Ok(read),
        }
    }
}

fn quantity<T: Quantity>(piece: Piece<'_>) -> Result<T, NotationError> {
    if piece.text().is_empty() {
        return Err(piece.error(format!("a value is missing here: write `{}`, for example", T::EXAMPLE)));
    }
    T::read(piece.text()).map_err(|error| piece.error(format!("`{}`: {}", piece.text(), error.message)))
}

fn words<T: Quantity>() -> Vec<&'static str> {
    let workloads = Workload::ALL.iter().map(|workload| workload.name()).filter(|_| T::IS_MEASURED);
    [EXPONENTIAL, UNIFORM, PARETO, LOGNORMAL].into_iter().chain(workloads).collect()
}

fn unknown<T: Quantity>(text: &str) -> String {
    let hint =
        nearest(text, words::<T>()).map(|word| format!(" (did you mean `{word}`?)")).unwrap_or_default();
    format!("`{text}` is no distribution of {}{hint}: {}", T::NAME, examples::<T>())
}

fn examples<T: Quantity>() -> String {
    format!(
        "write `{0}` for always the same, or `exponential {0}`, or one of {1}",
        T::EXAMPLE,
        words::<T>().join(", ")
    )
}

/// Write it as it is read.
impl<T: Quantity> fmt::Display for Distribution<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Distribution::Constant(value) => f.write_str(&value.write()),
            Distribution::Exponential(mean) => write!(f, "{EXPONENTIAL} {}", mean.write()),
            Distribution::Uniform(least, most) => {
                write!(f, "{UNIFORM} {} {TO} {}", least.write(), most.write())
            }
            Distribution::Pareto(mean, shape) => write!(f, "{PARETO} {} {SHAPE} {shape}", mean.write()),
            Distribution::Lognormal(mean, sigma) => write!(f, "{LOGNORMAL} {} {SIGMA} {sigma}", mean.write()),
            Distribution::Measured(workload) => f.write_str(workload.name()),
        }
    }
}

impl FromStr for Traffic {
    type Err = NotationError;

    /// `bulk`, `on-off:ON,OFF`, `live:5 Mbit/s` or `responses:size=SIZE,think=TIME`, where ON, OFF, SIZE and TIME are
    /// distributions. Without `think` the next message comes at once.
    fn from_str(text: &str) -> Result<Traffic, NotationError> {
        Traffic::from_piece(Piece::whole(text).trimmed())
    }
}

impl Traffic {
    /// Parses traffic, as [`FromStr`] does, within a longer text.
    ///
    /// # Errors
    /// See [`FromStr`].
    pub fn from_piece(piece: Piece<'_>) -> Result<Traffic, NotationError> {
        let (kind, rest) = match piece.cut(':') {
            Some((kind, rest)) => (kind.trimmed(), Some(rest.trimmed())),
            None => (piece.trimmed(), None),
        };
        let wanted = |example: &str| {
            rest.filter(|rest| !rest.text().is_empty()).ok_or_else(|| {
                kind.error(format!("`{0}` needs to be told more: `{0}:{example}`, for example", kind.text()))
            })
        };
        match kind.text() {
            BULK => match rest {
                None => Ok(Traffic::Bulk),
                Some(rest) => Err(rest.error(format!("`{BULK}` stands alone"))),
            },
            ON_OFF => {
                let rest = wanted("exponential 2 s,exponential 1 s")?;
                let Some((on, off)) = rest.cut(',') else {
                    let message = "a comma parts the time on from the time off: `on-off:exponential 2 s,1 s`";
                    return Err(rest.error(message));
                };
                let traffic = Traffic::OnOff {
                    on: Distribution::from_piece(on.trimmed())?,
                    off: Distribution::from_piece(off.trimmed())?,
                };
                traffic.problem().map_or(Ok(traffic), |problem| Err(rest.error(problem)))
            }
            LIVE => {
                let rest = wanted("5 Mbit/s")?;
                let traffic = Traffic::Live(rest.quantity()?);
                traffic.problem().map_or(Ok(traffic), |problem| Err(rest.error(problem)))
            }
            RESPONSES => responses(wanted("size=web-search,think=exponential 1 s")?),
            PULSES => {
                let rest = wanted(PULSES_EXAMPLE)?;
                let parts: Vec<Piece<'_>> = rest.split(',').collect();
                let [rate, on, off] = parts[..] else {
                    let message =
                        format!("a rate, the length of a burst and the pause: `{PULSES}:{PULSES_EXAMPLE}`");
                    return Err(rest.error(message));
                };
                let traffic = Traffic::Pulses {
                    rate: rate.trimmed().quantity()?,
                    on: on.trimmed().quantity()?,
                    off: off.trimmed().quantity()?,
                };
                traffic.problem().map_or(Ok(traffic), |problem| Err(rest.error(problem)))
            }
            MEDIA => {
                let rest = wanted(MEDIA_EXAMPLE)?;
                let parts: Vec<Piece<'_>> = rest.split(',').collect();
                let [rate, interval, deadline] = parts[..] else {
                    let message = format!(
                        "the encoder's greatest rate, the time between frames and their deadline: `{MEDIA}:{MEDIA_EXAMPLE}`"
                    );
                    return Err(rest.error(message));
                };
                let traffic = Traffic::Media {
                    rate: rate.trimmed().quantity()?,
                    interval: interval.trimmed().quantity()?,
                    deadline: deadline.trimmed().quantity()?,
                };
                traffic.problem().map_or(Ok(traffic), |problem| Err(rest.error(problem)))
            }
            "" => Err(kind.error(format!("it is missing here: one of {}", KINDS.join(", ")))),
            text => {
                let hint =
                    nearest(text, KINDS).map(|kind| format!(" (did you mean `{kind}`?)")).unwrap_or_default();
                Err(kind
                    .error(format!("there is no traffic `{text}`{hint}: it is one of {}", KINDS.join(", "))))
            }
        }
    }

    /// What is wrong with it, and what would be right; none if nothing is.
    pub fn problem(&self) -> Option<String> {
        match self {
            Traffic::Bulk => None,
            Traffic::OnOff { on, off } => on.problem().or_else(|| off.problem()).or_else(|| {
                let often = on.mean() + off.mean() < LEAST_TURN;
                often.then(|| "on and off together must take 1 us or more in the mean".to_owned())
            }),
            Traffic::Live(rate) => rate_problem(*rate, "a live stream has"),
            Traffic::Pulses { rate, on, off } => rate_problem(*rate, "bursts have").or_else(|| {
                let short = (*on == Time::ZERO) || ((on.0.saturating_add(off.0)) as f64) < LEAST_TURN;
                short.then(|| "a burst takes some time, and with its pause 1 us or more".to_owned())
            }),
            Traffic::Media { rate, interval, deadline } => {
                rate_problem(*rate, "an encoder has").or_else(|| {
                    let wrong = *interval < LEAST_INTERVAL || *deadline == Time::ZERO;
                    wrong.then(|| format!("frames are {LEAST_INTERVAL} or more apart and have a deadline"))
                })
            }
            Traffic::Responses { size, think } => size.problem().or_else(|| think.problem()),
        }
    }
}

/// What is wrong with the rate of a source, if anything is.
fn rate_problem(rate: Rate, whose: &str) -> Option<String> {
    (rate == Rate::UNLIMITED || rate.0 < LEAST_RATE)
        .then(|| format!("{whose} a rate of {} or more: write `5 Mbit/s`, for example", Rate(LEAST_RATE)))
}

/// The rate, burst and pause of the paper's attack, scaled to a path of 10 Mbit/s.
const PULSES_EXAMPLE: &str = "10 Mbit/s,100 ms,900 ms";
/// 25 frames a second of a call.
const MEDIA_EXAMPLE: &str = "5 Mbit/s,40 ms,200 ms";
/// The shortest time between frames.
const LEAST_INTERVAL: Time = Time::from_millis(1);
/// Turns of an application that take less, ns, in the mean would fill a run with nothing else.
const LEAST_TURN: f64 = 1e3;
/// The slowest live stream, bit/s.
const LEAST_RATE: u64 = 1_000;

fn responses(rest: Piece<'_>) -> Result<Traffic, NotationError> {
    let (mut size, mut think) = (None, None);
    for part in rest.split(',') {
        let Some((key, value)) = part.cut('=') else {
            return Err(part.trimmed().error("a part of it is written `size=…` or `think=…`"));
        };
        let (key, value) = (key.trimmed(), value.trimmed());
        let again = match key.text() {
            "size" => size.replace(Distribution::from_piece(value)?).is_some(),
            "think" => think.replace(Distribution::from_piece(value)?).is_some(),
            text => {
                let hint = nearest(text, ["size", "think"]).map(|key| format!(" (did you mean `{key}`?)"));
                return Err(key.error(format!(
                    "`{RESPONSES}` have no `{text}`{}: they take size and think",
                    hint.unwrap_or_default()
                )));
            }
        };
        if again {
            return Err(key.error(format!("`{}` is said twice", key.text())));
        }
    }
    let size =
        size.ok_or_else(|| rest.error("the size of messages is missing: `size=web-search`, for example"))?;
    Ok(Traffic::Responses { size, think: think.unwrap_or(Distribution::Constant(Time::ZERO)) })
}

/// Write it as it is read.
impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Traffic::Bulk => f.write_str(BULK),
            Traffic::OnOff { on, off } => write!(f, "{ON_OFF}:{on},{off}"),
            Traffic::Live(rate) => write!(f, "{LIVE}:{rate}"),
            Traffic::Responses { size, think } => write!(f, "{RESPONSES}:size={size},think={think}"),
            Traffic::Pulses { rate, on, off } => write!(f, "{PULSES}:{rate},{on},{off}"),
            Traffic::Media { rate, interval, deadline } => {
                write!(f, "{MEDIA}:{rate},{interval},{deadline}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_and_written_back() {
        for text in [
            "bulk",
            "on-off:exponential 2 s,exponential 1 s",
            "on-off:uniform 1 s to 3 s,pareto 500 ms shape 1.5",
            "on-off:2 s,0 s",
            "live:5 Mbit/s",
            "pulses:10 Mbit/s,100 ms,900 ms",
            "media:5 Mbit/s,40 ms,200 ms",
            "responses:size=web-search,think=exponential 1 s",
            "responses:size=lognormal 30 KB sigma 2,think=0 s",
        ] {
            let traffic: Traffic = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(traffic.to_string(), text);
        }
        let spaced: Traffic = " responses : think = 1 s , size = data-mining ".parse().unwrap();
        assert_eq!(spaced.to_string(), "responses:size=data-mining,think=1 s");
        let at_once: Traffic = "responses:size=30 KB".parse().unwrap();
        assert_eq!(at_once.to_string(), "responses:size=30 KB,think=0 s");
        for text in
            ["30 KB", "exponential 30 KB", "uniform 1 KB to 1 MB", "pareto 30 KB shape 1.2", "data-mining"]
        {
            assert_eq!(text.parse::<Distribution<u64>>().unwrap().to_string(), text);
        }
    }

    #[track_caller]
    fn refused(text: &str) -> String {
        text.parse::<Traffic>().expect_err(text).to_string()
    }

    #[test]
    fn refuses_with_a_place_and_what_would_be_right() {
        assert_eq!(
            refused("on-of:2 s,1 s"),
            "column 1: there is no traffic `on-of` (did you mean `on-off`?): it is one of bulk, on-off, live, responses, pulses, media"
        );
        assert_eq!(refused("live"), "column 1: `live` needs to be told more: `live:5 Mbit/s`, for example");
        assert!(refused("bulk:1").starts_with("column 6: `bulk` stands alone"));
        assert!(refused("on-off:2 s").starts_with("column 8: a comma parts the time on"));
        assert!(refused("on-off:2 s,exponental 1 s").starts_with(
            "column 12: `exponental` is no distribution of times (did you mean `exponential`?): write `2 s` for always"
        ));
        assert_eq!(
            refused("on-off:uniform 1 s,2 s"),
            "column 16: `to` is missing: write `uniform 0 s to 2 s`, for example"
        );
        assert_eq!(
            refused("on-off:exponential 2 s,web-search"),
            "column 24: web-search is a distribution of sizes, not of times"
        );
        assert!(refused("on-off:0 s,0 s").contains("1 us or more in the mean"));
        assert!(refused("responses:think=1 s").starts_with("column 11: the size of messages is missing"));
        assert!(refused("responses:size=1 KB,sizes=2 KB").contains("no `sizes` (did you mean `size`?)"));
        assert!(refused("responses:size=1 KB,size=2 KB").contains("`size` is said twice"));
        assert!(refused("responses:size=pareto 1 KB shape 1").contains("shape is 1.01 or more"));
        assert!(
            refused("live:unlimited").starts_with("column 6: a live stream has a rate of 1 kbit/s or more")
        );
    }
}
