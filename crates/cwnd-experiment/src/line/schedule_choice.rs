//! How a line varies, as it is written: `10 s: 20 Mbit/s; 30 s: down; 31 s: up, 40 ms; every 60 s`.

use cwnd_scenario::notation::Piece;
use cwnd_scenario::{NotationError, Rate, Schedule, Step, Steps, Time};
use std::{fmt, str::FromStr};

/// Rate and delay of a line over time, relative to what they are at first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleChoice {
    /// At least one, in rising order of time.
    pub steps: Vec<StepChoice>,
    /// After this time it all begins again, if ever; later than the last step.
    pub every: Option<Time>,
}

/// What changes at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepChoice {
    /// When.
    pub at: Time,
    /// What becomes of the rate, if it changes.
    pub rate: Option<RateChange>,
    /// The delay from then on, if it changes.
    pub delay: Option<Time>,
}

/// What becomes of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateChange {
    /// It is this.
    To(Rate),
    /// An outage begins: nothing leaves.
    Down,
    /// An outage ends: the rate is what it was before it.
    Up,
}

impl ScheduleChoice {
    /// The schedule of a line that has this rate and delay at first. A line with a rate of its own (`own_rate`) takes
    /// outages and delays alone.
    pub fn resolve(&self, rate: Rate, delay: Time, own_rate: bool) -> Schedule {
        let (mut lit, mut up, mut delay) = (rate, true, delay);
        let mut steps = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            match step.rate {
                Some(RateChange::To(rate)) => {
                    lit = if own_rate { lit } else { rate };
                    up = true;
                }
                Some(RateChange::Down) => up = false,
                Some(RateChange::Up) => up = true,
                None => {}
            }
            delay = step.delay.unwrap_or(delay);
            steps.push(Step { at: step.at, rate: if up { lit } else { Rate(0) }, delay });
        }
        Schedule::Steps(Steps { steps, period: self.every })
    }
}

const FORM: &str = "a step is written with its time and what the line has from then on: `10 s: 20 Mbit/s`, \
                    `30 s: down`, `31 s: up, 40 ms`; the last may be `every 60 s`";

impl FromStr for ScheduleChoice {
    type Err = NotationError;

    /// Steps parted by `;`, each a time, a colon, and a rate, `down` or `up`, and a delay, or one of them; then perhaps
    /// `every` and a time.
    fn from_str(text: &str) -> Result<ScheduleChoice, NotationError> {
        let mut choice = ScheduleChoice { steps: Vec::new(), every: None };
        for piece in Piece::whole(text).split(';').map(Piece::trimmed) {
            if choice.every.is_some() {
                return Err(piece.error("`every` stands last"));
            }
            if let Some(rest) = piece.text().strip_prefix("every ") {
                let period: Time = piece.tail(rest).trimmed().quantity()?;
                if choice.steps.last().is_none_or(|last| period <= last.at) {
                    return Err(piece.error("it begins again after the last step only: give a later time"));
                }
                choice.every = Some(period);
                continue;
            }
            let step = step(piece)?;
            if let Some(last) = choice.steps.last().filter(|last| last.at >= step.at) {
                let message =
                    format!("{} does not come after {}: steps stand in order of time", step.at, last.at);
                return Err(piece.error(message));
            }
            choice.steps.push(step);
        }
        Ok(choice)
    }
}

fn step(piece: Piece<'_>) -> Result<StepChoice, NotationError> {
    let Some((at, changes)) = piece.cut(':') else { return Err(piece.error(FORM)) };
    let mut step = StepChoice { at: at.trimmed().quantity()?, rate: None, delay: None };
    for change in changes.split(',').map(Piece::trimmed) {
        let rate = match change.text() {
            "" => return Err(change.error(FORM)),
            "down" => Some(RateChange::Down),
            "up" => Some(RateChange::Up),
            "unlimited" => Some(RateChange::To(Rate::UNLIMITED)),
            // The unit distinguishes a rate from a delay.
            text if text.ends_with("/s") || text.ends_with("ps") => Some(RateChange::To(change.quantity()?)),
            _ => None,
        };
        match rate {
            Some(_) if step.rate.is_some() => return Err(change.error("a step has one rate")),
            Some(_) => step.rate = rate,
            None if step.delay.is_some() => return Err(change.error("a step has one delay")),
            None => step.delay = Some(change.quantity()?),
        }
    }
    Ok(step)
}

/// As it is read.
impl fmt::Display for ScheduleChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.steps.iter().enumerate() {
            write!(f, "{}{}: ", if index == 0 { "" } else { "; " }, step.at)?;
            match step.rate {
                Some(RateChange::To(rate)) => write!(f, "{rate}")?,
                Some(RateChange::Down) => f.write_str("down")?,
                Some(RateChange::Up) => f.write_str("up")?,
                None => {}
            }
            if let Some(delay) = step.delay {
                write!(f, "{}{delay}", if step.rate.is_some() { ", " } else { "" })?;
            }
        }
        match self.every {
            Some(period) => write!(f, "; every {period}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(text: &str) -> ScheduleChoice {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn steps(schedule: Schedule) -> (Vec<(u64, u64, u64)>, Option<Time>) {
        let Schedule::Steps(steps) = schedule else { panic!("steps") };
        let of = |step: &Step| (step.at.0 / 1_000_000_000, step.rate.0 / 1_000_000, step.delay.0 / 1_000_000);
        (steps.steps.iter().map(of).collect(), steps.period)
    }

    const TEXT: &str =
        "10 s: 20 Mbit/s; 20 s: 30 ms; 30 s: down; 31 s: up, 40 ms; 40 s: 5 Mbit/s, 1 ms; every 60 s";

    #[test]
    fn what_a_step_leaves_out_stays() {
        let schedule = choice(TEXT).resolve(Rate(50_000_000), Time::from_millis(10), false);
        let expected = [(10, 20, 10), (20, 20, 30), (30, 0, 30), (31, 20, 40), (40, 5, 1)];
        assert_eq!(steps(schedule), (expected.into(), Some(Time::from_secs(60))));
        // A direction with a rate of its own keeps it.
        let schedule = choice(TEXT).resolve(Rate(3_000_000), Time::from_millis(10), true);
        let expected = [(10, 3, 10), (20, 3, 30), (30, 0, 30), (31, 3, 40), (40, 3, 1)];
        assert_eq!(steps(schedule).0, expected);
    }

    #[test]
    fn it_reads_back_as_it_is_written() {
        assert_eq!(choice(TEXT).to_string(), TEXT);
        assert_eq!(choice(" 1 s :unlimited ").to_string(), "1 s: unlimited");
    }

    #[test]
    fn refuses_with_a_place() {
        let refused = |text: &str| text.parse::<ScheduleChoice>().unwrap_err().to_string();
        assert!(refused("").starts_with("column 1: a step is written"));
        assert!(refused("10 s").starts_with("column 1: a step is written"));
        assert!(refused("10 s: 1 Mbit/s,").starts_with("column 16: a step is written"));
        assert_eq!(refused("10: down"), "column 1: `10`: a time needs a unit: write `10 ms`, for example");
        assert!(refused("2 s: down; 1 s: up").starts_with("column 12: 1 s does not come after 2 s"));
        assert_eq!(refused("1 s: down, up"), "column 12: a step has one rate");
        assert_eq!(refused("1 s: 5 ms, 6 ms"), "column 12: a step has one delay");
        assert!(refused("1 s: 5 MB/s").starts_with("column 6: `5 MB/s`: a rate counts bits"));
        assert!(refused("1 s: down; every 1 s").starts_with("column 12: it begins again after the last"));
        assert!(refused("every 1 s").starts_with("column 1: it begins again"));
        assert!(refused("1 s: down; every 2 s; 3 s: up").starts_with("column 23: `every` stands last"));
        assert!(refused("1 s: dwn").starts_with("column 6: `dwn`"));
    }
}
