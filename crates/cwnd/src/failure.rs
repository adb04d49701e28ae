//! How a command fails.

use cwnd_scenario::Problem;
use std::process::ExitCode;

/// Why a command gave up, and with which exit code.
#[derive(Debug)]
pub struct Failure {
    message: String,
    code: u8,
}

impl Failure {
    /// What was asked for is wrong: exit code 2, as for a flag that does not parse.
    pub fn bad_input(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), code: 2 }
    }

    /// What was asked for is right, but it could not be done: exit code 1.
    pub fn broken(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), code: 1 }
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

    /// Print the message, and give the exit code.
    pub fn report(self) -> ExitCode {
        eprintln!("error: {}", self.message);
        ExitCode::from(self.code)
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
