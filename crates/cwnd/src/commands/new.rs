//! `cwnd new`: a study to begin with.

mod text;

use crate::{catalogue, failure::Failure, output, terminal};
use clap::Args;
use cwnd_experiment::settings;
use cwnd_scenario::{Rate, Time};
use cwnd_study::Study;
use std::{
    fs::File,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

const EXAMPLES: &str = "\
Examples:
  A study of CUBIC and BBR over 20 Mbit/s and 50 ms, in `buffers.toml`:
    cwnd new buffers --algorithms cubic,bbr --rate '20 Mbit/s' --rtt '50 ms'
    cwnd check buffers.toml
    cwnd run buffers.toml";

/// Write a commented study to begin with: algorithms against the size of the bottleneck's buffer.
///
/// On a terminal it asks for what the flags do not say. It never overwrites a file.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Flags {
    /// The file, with or without `.toml`; the study is named after it.
    #[arg(value_name = "NAME")]
    name: PathBuf,

    /// Which algorithms are compared, with commas between them [default: cubic,bbr].
    #[arg(long, value_name = "LIST", value_parser = algorithms)]
    algorithms: Option<Algorithms>,

    /// The bottleneck's rate [default: 10 Mbit/s].
    #[arg(long, value_name = "RATE", value_parser = rate)]
    rate: Option<Rate>,

    /// The base round-trip time [default: 40 ms].
    #[arg(long, value_name = "TIME", value_parser = rtt)]
    rtt: Option<Time>,
}

/// Names of algorithms, each with its parameters.
#[derive(Clone, Debug, PartialEq)]
struct Algorithms(Vec<String>);

/// What the study is about.
struct Choices {
    algorithms: Algorithms,
    rate: Rate,
    rtt: Time,
}

/// Do what the flags ask.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    let path = file(&flags.name)?;
    let asks = io::stdin().is_terminal() && io::stderr().is_terminal();
    let choices = Choices {
        algorithms: answer(asks, "Which algorithms?", "cubic,bbr", &flags.algorithms, &algorithms)?,
        rate: answer(asks, "What is the bottleneck's rate?", "10 Mbit/s", &flags.rate, &rate)?,
        rtt: answer(asks, "What is the base round-trip time?", "40 ms", &flags.rtt, &rtt)?,
    };
    let text = text::of(&choices);
    // What is too large or too small for the rest of the study.
    let shown = path.display().to_string();
    Study::parse("new", &shown, &text, &catalogue::check)
        .map_err(|error| Failure::bad_input(format!("these answers make no study: {error}")))?;
    let written = File::create_new(&path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => taken(&path),
        _ => Failure::broken(format!("cannot write `{shown}`: {error}")),
    })?;
    let quoted = output::quoted(&shown);
    output::print(&format!(
        "wrote {shown}\n  cwnd check {quoted}    # what it runs and costs\n  cwnd run {quoted}      # run it, and write its \
         report\n"
    ))
}

/// The file of a study's name.
///
/// # Errors
/// If it is there already, or cannot be there.
fn file(name: &Path) -> Result<PathBuf, Failure> {
    let toml = name.extension().is_some_and(|extension| extension == "toml");
    let path = match name.file_name().map(|name| name.to_os_string()) {
        Some(_) if toml => name.to_owned(),
        Some(mut file) => {
            file.push(".toml");
            name.with_file_name(file)
        }
        None => {
            let message =
                format!("`{}` is not the name of a file: write `my-study`, for example", name.display());
            return Err(Failure::bad_input(message));
        }
    };
    if path.symlink_metadata().is_ok() {
        return Err(taken(&path));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder.filter(|folder| !folder.is_dir()) {
        None => Ok(path),
        Some(folder) => {
            let shown = folder.display();
            Err(Failure::bad_input(format!("there is no directory `{shown}`: `mkdir -p {shown}` makes it")))
        }
    }
}

fn taken(path: &Path) -> Failure {
    Failure::bad_input(format!(
        "`{}` is there already, and is not overwritten: choose another name",
        path.display()
    ))
}

/// Returns what a flag says, else what a person answers, else what is usual.
fn answer<T: Clone>(
    asks: bool,
    question: &str,
    usual: &str,
    said: &Option<T>,
    parse: &dyn Fn(&str) -> Result<T, String>,
) -> Result<T, Failure> {
    if let Some(said) = said {
        return Ok(said.clone());
    }
    loop {
        let mut line = String::new();
        if asks {
            let _ = write!(io::stderr(), "{question} [{usual}] ");
            let read = io::stdin().read_line(&mut line);
            if read.map_err(|error| Failure::broken(format!("cannot read the answer: {error}")))? == 0 {
                return Err(Failure::bad_input("no answer: nothing is written"));
            }
        }
        let text = Some(line.trim()).filter(|line| !line.is_empty()).unwrap_or(usual);
        match parse(text) {
            Ok(value) => return Ok(value),
            Err(why) if asks => terminal::tell!("  {why}"),
            Err(why) => return Err(Failure::bad_input(why)),
        }
    }
}

fn algorithms(text: &str) -> Result<Algorithms, String> {
    let setting = settings::find("algorithm").ok_or("there is no such setting")?;
    let mut names: Vec<String> = Vec::new();
    for part in parts(text) {
        let name = crate::setting_flags::checked(setting, &part)?;
        if names.contains(&name) {
            return Err(format!("`{name}` is there twice: name it once"));
        }
        names.push(name);
    }
    match names.is_empty() {
        true => Err("name at least one algorithm, such as `cubic`; `cwnd algorithms` lists all".to_owned()),
        false => Ok(Algorithms(names)),
    }
}

/// Splits a list at its commas, but not between the parameters of an algorithm (`agile-sd:lambda_max=4,beta2=0.9`).
fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        match parts.last_mut().filter(|last| last.contains(':') && part.contains('=') && !part.contains(':'))
        {
            Some(last) => *last += &format!(",{part}"),
            None => parts.push(part.to_owned()),
        }
    }
    parts
}

fn rate(text: &str) -> Result<Rate, String> {
    match text.parse() {
        Ok(Rate::UNLIMITED) => Err("a bottleneck has a rate: write `10 Mbit/s`, for example".to_owned()),
        parsed => parsed.map_err(|error: cwnd_scenario::UnitError| error.to_string()),
    }
}

fn rtt(text: &str) -> Result<Time, String> {
    match text.parse() {
        Ok(Time(0)) => Err("a round trip takes some time: write `40 ms`, for example".to_owned()),
        parsed => parsed.map_err(|error: cwnd_scenario::UnitError| error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_split_between_algorithms() {
        assert_eq!(parts("cubic, bbr,"), ["cubic", "bbr"]);
        assert_eq!(
            parts("agile-sd:lambda_max=4,beta2=0.9,cubic"),
            ["agile-sd:lambda_max=4,beta2=0.9", "cubic"]
        );
        assert!(algorithms("cubic,cubik").unwrap_err().contains("did you mean `cubic`?"));
        assert!(algorithms("cubic,cubic").unwrap_err().contains("twice"));
        assert!(algorithms(" , ").unwrap_err().contains("at least one algorithm"));
    }

    #[test]
    fn every_answer_makes_a_study() {
        for (list, rate, rtt) in [
            ("cubic,bbr", "10 Mbit/s", "40 ms"),
            ("newreno", "1 kbit/s", "10 s"),
            ("agile-sd:lambda_max=4,beta2=0.9,cubic", "10 Gbit/s", "1 us"),
        ] {
            let algorithms = algorithms(list).unwrap();
            let (rate, rtt) = (super::rate(rate).unwrap(), super::rtt(rtt).unwrap());
            let text = text::of(&Choices { algorithms, rate, rtt });
            let study = Study::parse("a", "a.toml", &text, &catalogue::check);
            assert!(study.is_ok(), "{}\n{text}", study.unwrap_err());
        }
    }
}
