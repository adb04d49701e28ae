//! What a link can become while packets are on it.

use cwnd_scenario::{Discipline, LinkSpec, Schedule};
use std::fmt;
use std::mem::discriminant;

/// Checks whether a link can become another one while it is in use.
///
/// Rate, delay, losses, the queue's limit, and the parameters of its discipline can change at any time, and so can effects other
/// than ACK thinning. Names and ends are not compared. Whether packets may overtake each other depends on how the line began, which
/// neither description says: [`Line::set_effects`](crate::Line::set_effects) checks that.
///
/// # Errors
///
/// The first change that is impossible.
///
/// ```
/// use cwnd_link::{Discipline, LinkSpec, Rate, Time, check_change};
///
/// let link = LinkSpec::new("bottleneck", 0, 1, Rate(10_000_000), Time::from_millis(20));
/// assert_eq!(check_change(&link, &LinkSpec { rate: Rate(5_000_000), ..link.clone() }), Ok(()));
///
/// let mut other = link.clone();
/// other.queue.discipline = "codel".parse::<Discipline>().expect("a discipline");
/// let error = check_change(&link, &other).expect_err("drop-tail cannot become CoDel");
/// assert!(error.to_string().starts_with("the queue is drop-tail and cannot become codel"));
/// ```
pub fn check_change(is: &LinkSpec, wanted: &LinkSpec) -> Result<(), ChangeError> {
    if is.schedule != wanted.schedule {
        return Err(ChangeError::Schedule);
    }
    if is.rate != wanted.rate {
        check_rate(is)?;
    }
    check_discipline(&is.queue.discipline, &wanted.queue.discipline)?;
    if is.effects.ack_thinning != wanted.effects.ack_thinning {
        return Err(ChangeError::AckThinning);
    }
    Ok(())
}

/// Checks whether the rate of a link can be set while the link is in use, to any value: also to the one that it has.
///
/// # Errors
///
/// [`ChangeError::TraceRate`].
pub fn check_rate(link: &LinkSpec) -> Result<(), ChangeError> {
    match &link.schedule {
        Some(Schedule::Trace(trace)) => {
            Err(ChangeError::TraceRate { link: link.name.clone(), trace: trace.name.clone() })
        }
        Some(Schedule::Steps(_)) | None => Ok(()),
    }
}

/// Checks whether a queue can have another discipline, or other parameters of its own, while packets may be waiting.
///
/// # Errors
///
/// [`ChangeError::Discipline`] or [`ChangeError::Queues`].
pub fn check_discipline(is: &Discipline, wanted: &Discipline) -> Result<(), ChangeError> {
    if discriminant(is) != discriminant(wanted) {
        return Err(ChangeError::Discipline { is: is.name(), wanted: wanted.name() });
    }
    if let (Discipline::FqCoDel(is), Discipline::FqCoDel(wanted)) = (is, wanted) {
        let (has, wanted) = (is.queues.max(1), wanted.queues.max(1));
        if has != wanted {
            return Err(ChangeError::Queues { has, wanted });
        }
    }
    Ok(())
}

/// A change that a link cannot make while it is in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeError {
    /// Another schedule or delivery trace.
    Schedule,
    /// Another rate, where a delivery trace says when packets leave.
    TraceRate {
        /// The name of the link.
        link: String,
        /// The name of the trace; may be empty.
        trace: String,
    },
    /// Another queue discipline.
    Discipline {
        /// The name of the current one, as settings write it.
        is: &'static str,
        /// The name of the requested one.
        wanted: &'static str,
    },
    /// FQ-CoDel with another number of queues.
    Queues {
        /// Its number of queues.
        has: u32,
        /// The requested number.
        wanted: u32,
    },
    /// Another ACK thinning.
    AckThinning,
    /// A jitter that reorders on a line that began without one, or the other way round.
    Reordering,
}

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChangeError::Schedule => f.write_str(
                "a schedule or a delivery trace cannot change while the link is in use: give the link this one from the start",
            ),
            ChangeError::TraceRate { link, trace } => {
                let trace = if trace.is_empty() {
                    "a delivery trace".to_owned()
                } else {
                    format!("the delivery trace `{trace}`")
                };
                write!(
                    f,
                    "the rate of `{link}` cannot change, because {trace} says when its packets leave; its delay can: give the link a \
                     rate or a schedule instead of the trace"
                )
            }
            ChangeError::Discipline { is, wanted } => write!(
                f,
                "the queue is {is} and cannot become {wanted} while the link is in use; its parameters and its limit can change: give \
                 the link a {wanted} queue from the start"
            ),
            ChangeError::Queues { has, wanted } => write!(
                f,
                "FQ-CoDel has {has} queues and cannot have {wanted} while the link is in use, because packets wait in them: \
                 `queues` must stay {has}"
            ),
            ChangeError::AckThinning => f.write_str(
                "ACK thinning cannot change while the link is in use: give the link this ACK thinning from the start",
            ),
            ChangeError::Reordering => f.write_str(
                "whether packets overtake each other on a line cannot change while the link is in use: a jitter must reorder if \
                 the line did from the start, and otherwise not",
            ),
        }
    }
}

impl std::error::Error for ChangeError {}
