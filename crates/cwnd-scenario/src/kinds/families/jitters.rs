//! Kinds of jitter.

use super::parameter;
use crate::kinds::{
    kind::{Kind, Parameter, any, read, write},
    value::{ParameterValue, Value, ValueType},
};
use crate::{Jitter, JitterShape, NotationError, Time};
use std::{fmt, str::FromStr};

/// Delays that are drawn.
const DELAY: ValueType = ValueType::Time(Time(1), Time::from_secs(1_000));

/// `reorder`, which every kind has.
const REORDER: Parameter<Jitter> = parameter!("reorder", Jitter { reorders, .. } => *reorders, ValueType::Switch, "", "Packets may overtake each other; else one that would waits for the one before it.", "");

const fn new(shape: JitterShape) -> Jitter {
    Jitter { shape, reorders: false }
}

pub(in crate::kinds) static JITTERS: &[Kind<Jitter>] = &[
    Kind {
        name: "uniform",
        title: "Uniform",
        about: "Each packet is late by anything up to this time.",
        source: "",
        bare: true,
        is: |jitter| matches!(jitter.shape, JitterShape::Uniform(_)),
        new: || new(JitterShape::Uniform(Time::ZERO)),
        parameters: &[
            parameter!("most", Jitter { shape: JitterShape::Uniform(most), .. } => *most, DELAY, "", "The greatest delay.", "", required),
            REORDER,
        ],
        check: any,
    },
    Kind {
        name: "exponential",
        title: "Exponential",
        about: "Delays with an exponential distribution, cut off at ten times the mean.",
        source: "",
        bare: true,
        is: |jitter| matches!(jitter.shape, JitterShape::Exponential(_)),
        new: || new(JitterShape::Exponential(Time::ZERO)),
        parameters: &[
            parameter!("mean", Jitter { shape: JitterShape::Exponential(mean), .. } => *mean, DELAY, "", "The mean before it is cut off.", "", required),
            REORDER,
        ],
        check: any,
    },
    Kind {
        name: "normal",
        title: "Normal",
        about: "Delays with a normal distribution, cut off at zero and at the mean plus five deviations.",
        source: "",
        bare: true,
        is: |jitter| matches!(jitter.shape, JitterShape::Normal(..)),
        new: || new(JitterShape::Normal(Time::ZERO, Time::ZERO)),
        parameters: &[
            parameter!("mean", Jitter { shape: JitterShape::Normal(mean, _), .. } => *mean, DELAY, "", "The mean before it is cut off.", "", required),
            parameter!("deviation", Jitter { shape: JitterShape::Normal(_, deviation), .. } => *deviation, DELAY, "", "The standard deviation before it is cut off.", "", required),
            REORDER,
        ],
        check: any,
    },
    Kind {
        name: "sometimes",
        title: "Sometimes",
        about: "With this probability a packet is late by this time, else by nothing: with `reorder`, those behind it \
                overtake it.",
        source: "",
        bare: true,
        is: |jitter| matches!(jitter.shape, JitterShape::Sometimes(..)),
        new: || new(JitterShape::Sometimes(0.0, Time::ZERO)),
        parameters: &[
            parameter!("probability", Jitter { shape: JitterShape::Sometimes(probability, _), .. } => *probability, ValueType::Probability, "", "The probability.", "", required),
            parameter!("by", Jitter { shape: JitterShape::Sometimes(_, by), .. } => *by, DELAY, "", "How late it is.", "", required),
            REORDER,
        ],
        check: any,
    },
];

impl FromStr for Jitter {
    type Err = NotationError;

    /// A kind of jitter with its times, and perhaps `reorder`: `uniform:5 ms`, `sometimes:0.01,10 ms,reorder`.
    fn from_str(text: &str) -> Result<Jitter, NotationError> {
        read(JITTERS, "jitters", text)
    }
}

/// As it is read.
impl fmt::Display for Jitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(JITTERS, self, f)
    }
}
