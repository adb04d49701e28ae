//! How a command fails.

use crate::{interrupt, terminal::tell};
use cwnd_scenario::Problem;
use cwnd_study::{StoreError, StoreErrorKind};

/// Why a command gave up, and with which exit code.
#[derive(Debug)]
pub struct Failure {
    /// What stands before the message.
    label: &'static str,
    message: String,
    code: u8,
}

impl Failure {
    /// What was asked for is wrong: exit code 2, as for a flag that does not parse.
    pub fn bad_input(message: impl Into<String>) -> Failure {
        Failure { label: "error: ", message: message.into(), code: 2 }
    }

    /// What was asked for is right, but it could not be done: exit code 1.
    pub fn broken(message: impl Into<String>) -> Failure {
        Failure { label: "error: ", message: message.into(), code: 1 }
    }

    /// Two things that were compared differ: exit code 1, as of `diff`.
    pub fn differs(message: impl Into<String>) -> Failure {
        Failure { label: "", message: message.into(), code: 1 }
    }

    /// There was too little to decide by: exit code 3.
    #[cfg(feature = "kernel")]
    pub fn undecided(message: impl Into<String>) -> Failure {
        Failure { label: "", message: message.into(), code: 3 }
    }

    /// The user stopped it: the exit code is that of the signal, as shells have it.
    pub fn stopped(message: impl Into<String>) -> Failure {
        Failure { label: "", message: message.into(), code: interrupt::exit_code() }
    }

    /// A store that cannot be used: bad input if it is none, or another's.
    pub fn store(error: &StoreError) -> Failure {
        match error.kind {
            StoreErrorKind::Missing | StoreErrorKind::Foreign => Failure::bad_input(error.to_string()),
            StoreErrorKind::Damaged | StoreErrorKind::Unwritable | StoreErrorKind::Other => {
                Failure::broken(error.to_string())
            }
        }
    }

    /// A program that was run failed with this exit code. The message is empty if the program has said why.
    #[cfg(target_os = "linux")]
    pub fn of_program(code: u8, message: impl Into<String>) -> Failure {
        Failure { label: "", message: message.into(), code }
    }

    /// Everything that is wrong with what was asked for, in one message.
    pub fn problems(problems: &[Problem]) -> Failure {
        Failure::bad_input(match problems {
            [one] => one.to_string(),
            many => {
                let lines: Vec<String> = many.iter().map(|problem| format!("\n  {problem}")).collect();
                format!("{} things are wrong{}", many.len(), lines.concat())
            }
        })
    }

    /// Whether what was asked for is wrong.
    pub fn is_bad_input(&self) -> bool {
        self.code == 2
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Prints the message, if there is one, and returns the exit code.
    pub fn report(self) -> u8 {
        if !self.message.is_empty() {
            tell!("{}{}", self.label, self.message);
        }
        self.code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_become_one_message() {
        let problem = |place: &str| Problem { place: place.to_owned(), message: "it is wrong".to_owned() };
        assert_eq!(Failure::problems(&[problem("--rtt")]).message, "--rtt: it is wrong");
        assert_eq!(
            Failure::problems(&[problem("--rtt"), problem("--per")]).message,
            "2 things are wrong\n  --rtt: it is wrong\n  --per: it is wrong"
        );
    }
}
