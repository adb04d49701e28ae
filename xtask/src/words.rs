//! `cargo xtask words`: where the project does not use the field's words.
//!
//! The glossary gives a standard term for each word that this project once made up. `xtask/words.tsv` records how often each
//! still occurs. The number may only fall: the check fails when a word comes back, and when the record is out of date.

use crate::command::{output, root};
use crate::options::Options;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::process::Command;

pub const OPTIONS: &str = "[--check] [--record]";

/// A word or phrase that is not used, and what is used instead. An underscore or a letter beside it makes it another word.
const GLOSSARY: &[(&str, &str)] = &[
    // Phrases.
    ("so many", "a number, or `n`"),
    ("such a", "a, this"),
    ("for nothing", "needlessly, spuriously"),
    ("anew", "again"),
    ("at leisure", "on the general path"),
    ("told of", "reported"),
    ("tells of", "reports"),
    ("tell of", "report"),
    ("is told", "is reported"),
    ("reckons", "computes"),
    ("reckoned", "computed"),
    ("Answers", "Returns"),
    ("beside", "next to, with, against"),
    ("hangs on", "depends on"),
    ("go on", "continue"),
    ("goes on", "continues"),
    ("heeded", "obeyed"),
    ("whatever it be", "any"),
    ("crowd", "many flows"),
    ("crowds", "many-flow runs"),
    ("twins", "Rust/C equivalence tests"),
    ("zoo", "algorithm x path matrix"),
    ("hot way", "hot path"),
    ("long way", "general path"),
    ("short way", "fast path"),
    ("believable", "valid"),
    ("doubts", "validity warnings"),
    // Identifiers.
    ("Echo", "InlineReceiver"),
    ("Peer", "HostEndpoint"),
    ("Solo", "SingleEndpointPath"),
    ("Opening", "FirstPacketGuard"),
    ("Sighting", "PacketEvent"),
    ("Watcher", "PacketObserver"),
    ("Nobody", "NoopObserver"),
    ("Moment", "SenderEvent"),
    ("Journal", "EventLog"),
    ("Looks", "SeriesStyles"),
    ("Look", "SeriesStyle"),
    ("Habits", "AckPolicy"),
    ("hurry_a_little", "enter_quickack"),
    ("Setup", "ExperimentSpec"),
    ("Experiment", "ExperimentSpec"),
    ("Draft", "ExperimentSpec"),
    ("is_believable", "is_valid"),
    ("Way", "LinkVerdict, Direction, Route, Trajectory"),
    ("Held", "QueuedPacket"),
    ("Takes", "ValueType"),
    ("Said", "RawArgument"),
    ("Ran", "RunSummary"),
    ("bury", "drop_packet"),
    ("graves", "dropped"),
    ("Fate", "PacketCounts"),
    ("reduce_to", "set_ssthresh_for_loss"),
    ("alert_at", "check_threshold"),
    ("grace", "departure_tie_ns"),
    ("slack", "departure_tie_ns"),
];

const RECORD: &str = "xtask/words.tsv";

/// Lists the words; with `--check` compares their numbers with the record, with `--record` writes the record.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let options = Options::new(arguments, &[], &["--check", "--record"])?;
    let found = occurrences()?;
    let counts = counts(&found);
    let path = root().join(RECORD);
    if options.has("--record") {
        fs::write(&path, counts).map_err(|error| format!("{RECORD} cannot be written: {error}"))?;
        return Ok(true);
    }
    if !options.has("--check") {
        for (word, instead) in GLOSSARY {
            for place in found.get(word).into_iter().flatten() {
                println!("{place}: `{word}`: {instead}");
            }
        }
        return Ok(true);
    }
    let recorded = fs::read_to_string(&path).map_err(|error| format!("{RECORD} cannot be read: {error}"))?;
    let problems = problems(&recorded, &counts);
    problems.iter().for_each(|problem| println!("{problem}"));
    if problems.is_empty() {
        println!("{RECORD} is current");
    }
    Ok(problems.is_empty())
}

/// Returns the places of each word, as `file:line`.
fn occurrences() -> Result<BTreeMap<&'static str, Vec<String>>, String> {
    let files = output(Command::new("git").args(["ls-files", "*.rs", "*.md", "*.toml"]).current_dir(root()))?;
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    // The changelog tells what was; the glossary itself has all words.
    for file in files.lines().filter(|file| !["CHANGELOG.md", "xtask/src/words.rs"].contains(file)) {
        let Ok(text) = fs::read_to_string(root().join(file)) else { continue };
        for (number, line) in text.lines().enumerate() {
            for (word, _) in GLOSSARY.iter().filter(|(word, _)| contains(line, word)) {
                found.entry(word).or_default().push(format!("{file}:{}", number + 1));
            }
        }
    }
    Ok(found)
}

/// Checks whether a line contains a word, not as a part of another, and not as the name of a setting (`beside = "cubic"`).
fn contains(line: &str, word: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        let is_name =
            after.trim_start().starts_with('=') || (before.ends_with('"') && after.starts_with('"'));
        !is_name && !is_part(before.chars().next_back()) && !is_part(after.chars().next())
    })
}

fn counts(found: &BTreeMap<&str, Vec<String>>) -> String {
    GLOSSARY.iter().fold(String::new(), |mut text, (word, _)| {
        let _ = writeln!(text, "{word}\t{}", found.get(word).map_or(0, Vec::len));
        text
    })
}

/// Compares the numbers of words with the record.
fn problems(recorded: &str, counts: &str) -> Vec<String> {
    let parse = |text: &str| -> BTreeMap<String, usize> {
        let pairs = text.lines().filter_map(|line| line.split_once('\t'));
        pairs.filter_map(|(word, count)| Some((word.to_owned(), count.parse().ok()?))).collect()
    };
    let (recorded, now) = (parse(recorded), parse(counts));
    GLOSSARY
        .iter()
        .filter_map(|(word, instead)| {
            let (before, now) = (recorded.get(*word).copied().unwrap_or(0), now[*word]);
            match now.cmp(&before) {
                std::cmp::Ordering::Greater => Some(format!(
                    "`{word}` occurs {now} times, {before} are recorded: write {instead}; `cargo xtask words` lists the places"
                )),
                std::cmp::Ordering::Less => Some(format!(
                    "`{word}` occurs {now} times, {before} are recorded: record it with `cargo xtask words --record`"
                )),
                std::cmp::Ordering::Equal => None,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_whole_words() {
        assert!(contains("/// Of so many packets.", "so many"));
        assert!(contains("struct Way;", "Way") && contains("Way", "Way"));
        assert!(
            !contains("where = { beside = \"cubic\" }", "beside") && !contains("x = \"beside\"", "beside")
        );
        assert!(!contains("WayPoint", "Way") && !contains("my_Way", "Way") && !contains("Highway", "Way"));
    }

    #[test]
    fn a_word_that_comes_back_is_a_problem_and_so_is_an_old_record() {
        let counts = |many: usize| {
            let found = BTreeMap::from([("so many", vec!["a.rs:1".to_owned(); many])]);
            super::counts(&found)
        };
        assert_eq!(problems(&counts(2), &counts(2)), [] as [String; 0]);
        assert!(
            problems(&counts(2), &counts(3))[0]
                .starts_with("`so many` occurs 3 times, 2 are recorded: write")
        );
        assert!(problems(&counts(2), &counts(1))[0].contains("--record"));
    }
}
