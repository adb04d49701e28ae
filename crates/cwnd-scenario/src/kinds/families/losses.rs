//! Kinds of losses.

use super::parameter;
use crate::kinds::{
    kind::{Kind, Parameter, any, read, write},
    value::{ParameterValue, Value, ValueType},
};
use crate::{GilbertElliott, Loss, NotationError, Probability};
use std::{fmt, str::FromStr};

pub(in crate::kinds) static LOSSES: &[Kind<Loss>] = &[
    Kind {
        name: "none",
        title: "No loss",
        about: "Nothing is lost; `0` says the same.",
        source: "",
        bare: false,
        is: |loss| matches!(loss, Loss::None),
        new: || Loss::None,
        parameters: &[],
        check: any,
    },
    Kind {
        name: "bernoulli",
        title: "Independent losses",
        about: "Each packet is lost with the same probability, which may stand alone: `1e-3`.",
        source: "",
        bare: true,
        is: |loss| matches!(loss, Loss::Bernoulli(_)),
        new: || Loss::Bernoulli(0.0),
        parameters: &[
            parameter!("probability", Loss::Bernoulli(probability) => *probability, ValueType::Probability, "", "The probability.", "", required),
        ],
        check: any,
    },
    Kind {
        name: "gilbert-elliott",
        title: "Losses in bursts",
        about: "A line that is good or bad: a chain of two states that makes a step before each packet. It is bad for \
                `to_bad / (to_bad + to_good)` of all packets, and a bad stretch has `1 / to_good` packets in the mean.",
        source: "E. N. Gilbert, Capacity of a Burst-Noise Channel, BSTJ 39, 1960; E. O. Elliott, Estimates of Error Rates \
                 for Codes on Burst-Noise Channels, BSTJ 42, 1963",
        bare: false,
        is: |loss| matches!(loss, Loss::GilbertElliott(_)),
        new: || {
            Loss::GilbertElliott(GilbertElliott { to_bad: 0.0, to_good: 1.0, loss_good: 0.0, loss_bad: 1.0 })
        },
        parameters: &[
            parameter!("to_bad", Loss::GilbertElliott(chain) => chain.to_bad, ValueType::Probability, "", "Probability that a good line is bad at the next packet.", "", required),
            parameter!("to_good", Loss::GilbertElliott(chain) => chain.to_good, ValueType::Probability, "", "Probability that a bad line is good at the next packet.", "", required),
            parameter!("loss_good", Loss::GilbertElliott(chain) => chain.loss_good, ValueType::Probability, "", "Probability that a good line loses a packet.", "Gilbert's model"),
            parameter!("loss_bad", Loss::GilbertElliott(chain) => chain.loss_bad, ValueType::Probability, "", "Probability that a bad line loses a packet.", "the simple Gilbert model"),
        ],
        check: any,
    },
    Kind {
        name: "nth",
        title: "Given packets",
        about: "The packets of these numbers are lost: the first that crosses the line is 1.",
        source: "",
        bare: true,
        is: |loss| matches!(loss, Loss::Nth(_)),
        new: || Loss::Nth(Vec::new()),
        parameters: &[
            parameter!("numbers", Loss::Nth(numbers) => *numbers, ValueType::Counts, "", "The numbers.", "", required),
        ],
        check: any,
    },
];

impl FromStr for Loss {
    type Err = NotationError;

    /// A probability (`1e-3`, `0.1 %`), or a kind of loss: `gilbert-elliott:to_bad=1e-4,to_good=0.1`, `nth:5,17`.
    fn from_str(text: &str) -> Result<Loss, NotationError> {
        let begins = |c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '-');
        let loss = match text.trim_start().starts_with(begins) {
            true => match text.parse::<Probability>() {
                Ok(probability) => Loss::Bernoulli(probability.value()),
                Err(error) => return Err(NotationError { column: 1, message: error.message }),
            },
            false => read(LOSSES, "losses", text)?,
        };
        Ok(if loss == Loss::Bernoulli(0.0) { Loss::None } else { loss })
    }
}

/// As it is read; a probability alone.
impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loss::Bernoulli(probability) => write!(f, "{}", Value::Number(*probability)),
            other => write(LOSSES, other, f),
        }
    }
}
