//! Implementations of QUIC, and their congestion control by name.

use crate::Error;
use clap::ValueEnum;
use cwnd_quic::AlgorithmError;
use cwnd_scenario::{AlgorithmSpec, nearest};
use serde::Serialize;
use std::fmt;

/// An implementation of QUIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stack {
    /// noq.
    Noq,
    /// quinn.
    Quinn,
}

impl Stack {
    /// All of them.
    pub const ALL: [Stack; 2] = [Stack::Noq, Stack::Quinn];

    /// Returns its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Stack::Noq => "noq",
            Stack::Quinn => "quinn",
        }
    }

    /// Returns the names of its own algorithms, without `@noq` or `@quinn`.
    pub fn own(self) -> [&'static str; 3] {
        match self {
            Stack::Noq => cwnd_quic::noq::OWN,
            Stack::Quinn => cwnd_quic::quinn::OWN,
        }
    }
}

impl fmt::Display for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The congestion control of an endpoint.
#[derive(Clone)]
pub struct Algorithm {
    text: String,
    factory: Factory,
}

/// What a transport configuration takes.
#[derive(Clone)]
pub(crate) enum Factory {
    Noq(cwnd_quic::noq::Factory),
    Quinn(cwnd_quic::quinn::Factory),
}

impl Algorithm {
    /// Returns an algorithm of cwnd, as `NAME` or `NAME:PARAMETER=VALUE,…`, or one of the implementation, as `cubic@noq` or
    /// `cubic@quinn`.
    ///
    /// # Errors
    /// A message that proposes the nearest name, or the allowed values of a parameter.
    pub fn new(stack: Stack, text: &str) -> Result<Algorithm, Error> {
        let spec: AlgorithmSpec = text.parse().map_err(Error::at(format!("`{text}`")))?;
        let factory = match spec.name.split_once('@') {
            Some((name, of)) => own(stack, name, of, &spec)?,
            None => match stack {
                Stack::Noq => Factory::Noq(cwnd_quic::noq::factory(text).map_err(|e| explain(stack, e))?),
                Stack::Quinn => {
                    Factory::Quinn(cwnd_quic::quinn::factory(text).map_err(|e| explain(stack, e))?)
                }
            },
        };
        Ok(Algorithm { text: spec.to_string(), factory })
    }

    /// Returns the implementation that it is for.
    pub fn stack(&self) -> Stack {
        match self.factory {
            Factory::Noq(_) => Stack::Noq,
            Factory::Quinn(_) => Stack::Quinn,
        }
    }

    pub(crate) fn factory(&self) -> &Factory {
        &self.factory
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Algorithm").field(&self.text).field(&self.stack()).finish()
    }
}

/// Returns the algorithm `name` of the implementation `of`.
fn own(stack: Stack, name: &str, of: &str, spec: &AlgorithmSpec) -> Result<Factory, Error> {
    let list = |stack: Stack| stack.own().map(|own| format!("{own}@{stack}")).join(", ");
    if of != stack.name() {
        let message = match Stack::ALL.into_iter().find(|stack| stack.name() == of) {
            Some(other) => format!(
                "`{name}@{of}` is an algorithm of {other}: use `--stack {other}`, or one of {}",
                list(stack)
            ),
            None => format!("no implementation is called `{of}`; {stack} has {}", list(stack)),
        };
        return Err(Error::new(message));
    }
    if spec.all_parameters().next().is_some() {
        return Err(Error::new(format!("`{name}@{of}` takes no parameters; the algorithms of cwnd do")));
    }
    let factory = match stack {
        Stack::Noq => cwnd_quic::noq::own(name).map(Factory::Noq),
        Stack::Quinn => cwnd_quic::quinn::own(name).map(Factory::Quinn),
    };
    factory.ok_or_else(|| Error::new(format!("{stack} has no `{name}` of its own; it has {}", list(stack))))
}

/// Returns the error for a text that names no algorithm of cwnd, with the nearest names.
fn explain(stack: Stack, error: AlgorithmError) -> Error {
    let AlgorithmError::Unknown(name) = error else { return Error::new(error.to_string()) };
    let own = stack.own().map(|own| format!("{own}@{stack}"));
    let names = cwnd_cc::all().iter().map(|info| info.name).chain(own.iter().map(String::as_str));
    let hint = nearest(&name, names).map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
    let known: Vec<&str> = cwnd_cc::all().iter().map(|info| info.name).collect();
    Error::new(format!(
        "no algorithm is called `{name}`{hint}\n  of cwnd: {}\n  of {stack}: {}",
        known.join(", "),
        own.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(stack: Stack, text: &str) -> String {
        Algorithm::new(stack, text).unwrap_err().to_string()
    }

    #[test]
    fn every_name_has_a_factory() {
        for stack in Stack::ALL {
            let own = stack.own().map(|own| format!("{own}@{stack}"));
            let names = cwnd_cc::all().iter().map(|info| info.name).chain(own.iter().map(String::as_str));
            for name in names {
                let algorithm = Algorithm::new(stack, name).unwrap();
                assert_eq!((algorithm.stack(), algorithm.to_string().as_str()), (stack, name));
            }
        }
    }

    #[test]
    fn errors_name_what_was_meant() {
        let unknown = message(Stack::Noq, "cubik");
        assert!(
            unknown.starts_with("no algorithm is called `cubik`; did you mean `cubic`?\n  of cwnd: "),
            "{unknown}"
        );
        assert!(unknown.ends_with("\n  of noq: cubic@noq, newreno@noq, bbr3@noq"), "{unknown}");
        assert_eq!(
            message(Stack::Quinn, "bbr3@quinn"),
            "quinn has no `bbr3` of its own; it has cubic@quinn, newreno@quinn, bbr@quinn"
        );
        assert_eq!(
            message(Stack::Quinn, "cubic@noq"),
            "`cubic@noq` is an algorithm of noq: use `--stack noq`, or one of cubic@quinn, newreno@quinn, bbr@quinn"
        );
        assert!(
            message(Stack::Noq, "cubic@kernel").starts_with("no implementation is called `kernel`; noq has ")
        );
        assert!(message(Stack::Noq, "cubic@noq:beta=0.5").contains("takes no parameters"));
        assert!(message(Stack::Noq, "cubic:beta=2").contains("a number from 0.1 to 0.95"));
    }
}
