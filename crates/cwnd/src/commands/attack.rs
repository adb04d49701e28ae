//! `cwnd attack`: a search for the path on which an algorithm does worst against another.
//!
//! `cwnd_attack` searches, shrinks and writes the study. Here are its flags, its progress ([`progress`]), the run of the found
//! study in its directory, and the replay over this host's kernel ([`replay`]).

mod progress;
mod replay;

use super::{
    evaluate,
    run::{self, Announce, Prepared},
};
use crate::{
    catalogue, engines, failure::Failure, interrupt, memory::MemoryFlags, output, simulator::Simulator,
};
use clap::Args;
use cwnd_attack::{Arena, Base, FAMILIES, Family, Found, Goal, Path as AttackedPath, Plan, Space, study};
use cwnd_scenario::{AlgorithmSpec, Rate, Time};
use cwnd_study::{Study, output_file};
use progress::Shown;
use std::{
    fs,
    path::{Path, PathBuf},
};

const EXAMPLES: &str = "\
Examples:
  Where does BBR leave more of a link unused than CUBIC?
    cwnd attack bbr --against cubic

  The losses that delay Elastic-TCP most, in a longer search:
    cwnd attack elastic --metric rtt_mean_s --vary loss,buffer --evaluations 50000

  With parameters, from another seed, and without the kernel:
    cwnd attack agile-sd:lambda_max=4 --against newreno --seed 7 --no-replay

docs/how-to/attack.md describes the search and its result.";

/// Search for the path on which an algorithm does worst against another, and write a study of it.
///
/// Varies rate, delay, buffer, losses, a policer and cross traffic of one path. It removes everything that does not matter from the
/// worst path, writes it as a study, runs it, and replays it over this host's kernel where that is possible. The same flags give the
/// same study, on any number of threads.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Flags {
    /// The algorithm, perhaps with parameters (`elastic`, `agile-sd:lambda_max=4`), or a TOML file of parameters.
    #[arg(value_name = "ALGORITHM")]
    algorithm: String,

    /// What it is compared with, on the same path.
    #[arg(long, value_name = "ALGORITHM", default_value = "cubic")]
    against: String,

    /// By what they are compared: a metric of which more or less is better (`cwnd metrics`), of the flow under test.
    #[arg(long, value_name = "METRIC", default_value = "utilisation")]
    metric: String,

    /// What varies, parted by commas: rate, delay, buffer, loss, policer, cross.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "rate,delay,buffer,loss,policer,cross"
    )]
    vary: Vec<Family>,

    /// Rate of the bottleneck, up to 1 Gbit/s; steps vary it from a twentieth to twice this.
    #[arg(long, value_name = "RATE", default_value = "10 Mbit/s", value_parser = rate)]
    rate: Rate,

    /// How long a run is, 1 s to 1000 s.
    #[arg(long, value_name = "TIME", default_value = "5 s", value_parser = duration)]
    duration: Time,

    /// Packets of the longest burst of losses, 1 to 1000. A burst that is longer than a flight also takes the retransmissions after
    /// timeouts, one by one.
    #[arg(long, value_name = "N", default_value_t = Base::BURST, value_parser = clap::value_parser!(u64).range(1..=1000), allow_hyphen_values = true)]
    longest_burst: u64,

    /// How many paths are evaluated: a run of both algorithms each.
    #[arg(long, value_name = "N", default_value = "10000", value_parser = evaluations, allow_hyphen_values = true)]
    evaluations: u32,

    /// End the search after this much CPU time, if it comes before the evaluations. How far the search comes then depends on the
    /// machine; the study names the number of evaluations that gives it again.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    seconds: Option<f64>,

    /// Seed of the search and of the runs.
    #[arg(long, value_name = "N", default_value = "1", value_parser = seed, allow_hyphen_values = true)]
    seed: u64,

    /// How many threads; the result does not depend on it [default: one a core].
    #[arg(long, value_name = "N", value_parser = crate::numbers::threads, allow_hyphen_values = true)]
    threads: Option<u16>,

    /// Directory of the study and its results [default: results/attack/ALGORITHM-against-REFERENCE].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Do not replay the study over this host's kernel.
    #[arg(long)]
    no_replay: bool,

    #[command(flatten)]
    memory: MemoryFlags,

    /// Open the report with the system's program for it.
    #[arg(long)]
    open: bool,

    /// Show no progress.
    #[arg(long, short)]
    quiet: bool,
}

/// The study's file in its directory, and the name of the study.
const FILE: &str = "weakness.toml";
const NAME: &str = "weakness";

/// An effect under this is none: a hundredth.
const NO_EFFECT: f64 = 0.01;

/// Do what the flags ask.
pub fn run(flags: Flags) -> Result<(), Failure> {
    let arena = Arena {
        engine: &Simulator::default(),
        candidate: algorithm(&flags.algorithm).map_err(Failure::bad_input)?,
        reference: algorithm(&flags.against)
            .map_err(|why| Failure::bad_input(format!("--against: {why}")))?,
        goal: Goal::new(&flags.metric).map_err(|why| Failure::bad_input(format!("--metric: {why}")))?,
        seed: flags.seed,
    };
    if arena.candidate == arena.reference {
        return Err(Failure::bad_input(format!(
            "--against: `{}` is the algorithm itself: name another, or other parameters",
            arena.reference
        )));
    }
    let directory = flags.out.clone().unwrap_or_else(|| usual_directory(&arena));
    check_directory(&directory)?;

    let (found, stopped) = search(&flags, &arena)?;
    let command = command(&flags, &arena, found.evaluations);
    let (candidate, reference) = (&arena.candidate, &arena.reference);
    let worst = found.worst.filter(|(_, pair)| pair.effect >= NO_EFFECT);
    let after = || format!("stopped after {} evaluations", found.evaluations);
    if found.measured == 0 && !stopped {
        return Err(Failure::bad_input(format!(
            "--metric {}: on none of {} paths did both algorithms have a value of `{}` (flows on them do not end, for \
             example, and send no messages): take another of `cwnd metrics`",
            flags.metric, found.evaluations, arena.goal.name
        )));
    }
    let Some((path, before)) = worst else {
        if stopped {
            return Err(Failure::stopped(format!("{}, which found no such path", after())));
        }
        return output::print(&format!(
            "\n  No path was found on which {candidate} does worse than {reference} by {}: {} were evaluated{}.\n\n",
            arena.goal.name,
            found.evaluations,
            match found.evaluations - found.measured {
                0 => String::new(),
                without => format!(", of which {without} had no value"),
            }
        ));
    };
    // What does not matter is removed by more runs.
    let (path, pair) = if stopped { (path, before) } else { cwnd_attack::shrink(&arena, &path, before) };
    let about = study::About { command: &command, evaluations: found.evaluations, found: before, pair };
    let text = study::text(&arena, &path, &about);
    let file = directory.join(FILE);
    let study = Study::parse(NAME, FILE, &text, &catalogue::check)
        .map_err(|error| Failure::broken(format!("the study that was found cannot be read: {error}")))?;
    let engines = engines::of_study(&study);
    let again = format!("cwnd run {}", output::quoted(&file.to_string_lossy()));
    if stopped {
        output_file::write_text(&file, &text).map_err(|error| Failure::broken(error.to_string()))?;
        return Err(Failure::stopped(format!(
            "{}: the worst path so far, with an effect of {}, is in {}; `{again} --out {}` runs it, and `{command}` finds it again",
            after(),
            study::number(before.effect),
            file.display(),
            output::quoted(&directory.to_string_lossy())
        )));
    }
    let mut prepared =
        Prepared::new(study.clone(), engines, Some(directory.clone()), again.clone(), flags.memory.budget())?;
    output_file::write_text(&file, &text).map_err(|error| Failure::broken(error.to_string()))?;
    let (ran, _) = prepared.run_shown(flags.threads, Announce::Never)?;
    if ran.stopped {
        return Err(prepared.stopped(&ran));
    }
    let page = super::report::page(&prepared.results()?, &directory)?;

    output::print(&summary(&arena, &path, &about))?;
    if !flags.no_replay {
        output::print(&replay::text(&arena, &path, &about, flags.quiet)?)?;
    }
    output::print(&format!(
        "  study in {}, report in {}\n  run it again: {again} --out {}\n  find it again: {command}\n\n",
        file.display(),
        page.display(),
        output::quoted(&directory.to_string_lossy()),
    ))?;
    if flags.open {
        super::report::open(&page)?;
    }
    run::failed(ran.failures.len(), true)
}

/// Searches, and shows the progress. Returns what was found, and whether the user has stopped it.
fn search(flags: &Flags, arena: &Arena<'_>) -> Result<(Found, bool), Failure> {
    let base = Base { rate: flags.rate.0, duration: flags.duration.0, longest_burst: flags.longest_burst };
    let space = Space::new(base, &flags.vary);
    let plan =
        Plan { space: &space, evaluations: flags.evaluations as usize, threads: run::threads(flags.threads) };
    let stop = interrupt::catch().map_err(Failure::broken)?;
    let mut shown = Shown::new(arena, plan.evaluations, flags.seconds, flags.quiet);
    let found = cwnd_attack::search(arena, &plan, &mut |progress| {
        shown.update(progress) && !stop.load(std::sync::atomic::Ordering::Relaxed)
    });
    shown.clear();
    Ok((found, stop.load(std::sync::atomic::Ordering::Relaxed)))
}

/// Returns what was found, in words.
fn summary(arena: &Arena<'_>, path: &AttackedPath, about: &study::About<'_>) -> String {
    let Arena { candidate, reference, goal, .. } = arena;
    let pair = about.pair;
    let mut text = format!("\n{candidate} against {reference}: the worst path of {}\n\n", about.evaluations);
    for (key, texts) in path.settings().iter().filter(|(key, _)| *key != "loss") {
        text += &format!("  {key:<10} {}\n", texts.join(&format!("\n  {:<10} ", "")));
    }
    for (_, texts) in path.settings().iter().filter(|(key, _)| *key == "loss") {
        let notes = path.notes();
        text += &format!(
            "  {:<10} {}\n",
            "loss",
            if notes.is_empty() { texts.concat() } else { notes.join("; ") }
        );
    }
    let unit = if goal.metric.unit.is_empty() { String::new() } else { format!(", {}", goal.metric.unit) };
    let width = candidate.to_string().len().max(reference.to_string().len()).max(6);
    text +=
        &format!("\n  {}{unit} ({}), means of {} seeds\n", goal.metric.title, goal.name, cwnd_attack::SEEDS);
    for (name, value) in [
        (candidate.to_string(), pair.candidate),
        (reference.to_string(), pair.reference),
        ("effect".to_owned(), pair.effect),
    ] {
        text += &format!("    {name:<width$}  {:>8}\n", study::number(value));
    }
    text + &format!(
        "\n  The effect is {}. It was {} before everything was removed\n  that does not matter.\n\n",
        if goal.is_share() { "the difference" } else { "the difference divided by the larger value" },
        study::number(about.found.effect)
    )
}

/// Reads an algorithm or a file of parameters; one of a kernel is not simulated.
fn algorithm(text: &str) -> Result<AlgorithmSpec, String> {
    let name = evaluate::candidate(text).map_err(|failure| failure.message().to_owned())?;
    let spec: AlgorithmSpec = name.parse().map_err(|error| format!("`{name}`: {error}"))?;
    if spec.name.contains('@') && !spec.name.ends_with("@kernel") {
        return Err(format!("`{spec}` is not simulated here: name an algorithm of `cwnd algorithms`"));
    }
    Ok(spec)
}

fn usual_directory(arena: &Arena<'_>) -> PathBuf {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '=' | ',');
    let name = format!("{}-against-{}", arena.candidate, arena.reference);
    let name: String = name.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
    Path::new("results").join("attack").join(name)
}

/// Finds out before the search whether its result can be written.
fn check_directory(directory: &Path) -> Result<(), Failure> {
    fs::create_dir_all(directory).map_err(|error| {
        Failure::bad_input(format!("--out: cannot make `{}`: {error}", directory.display()))
    })?;
    let file = directory.join(FILE);
    if file.is_dir() {
        return Err(Failure::bad_input(format!("--out: `{}` is a directory", file.display())));
    }
    Ok(())
}

/// Returns the command that gives the same study: what tells where and how fast is left out.
fn command(flags: &Flags, arena: &Arena<'_>, evaluations: usize) -> String {
    let mut words = vec!["cwnd attack".to_owned(), output::quoted(&arena.candidate.to_string())];
    let mut option = |name: &str, value: &str| words.push(format!("--{name} {}", output::quoted(value)));
    option("against", &arena.reference.to_string());
    option("metric", &flags.metric);
    let mut families = flags.vary.clone();
    families.sort_unstable();
    families.dedup();
    if families.len() < FAMILIES.len() {
        option("vary", &families.iter().map(Family::to_string).collect::<Vec<_>>().join(","));
    }
    option("rate", &flags.rate.to_string());
    option("duration", &flags.duration.to_string());
    if flags.longest_burst != Base::BURST {
        option("longest-burst", &flags.longest_burst.to_string());
    }
    option("evaluations", &evaluations.to_string());
    option("seed", &flags.seed.to_string());
    words.join(" ")
}

fn rate(text: &str) -> Result<Rate, String> {
    let rate: Rate = text.parse().map_err(|error: cwnd_scenario::UnitError| error.message)?;
    match rate.0 {
        100_000..=1_000_000_000 => Ok(rate),
        _ => Err("it is from 100 kbit/s to 1 Gbit/s".to_owned()),
    }
}

fn duration(text: &str) -> Result<Time, String> {
    let time: Time = text.parse().map_err(|error: cwnd_scenario::UnitError| error.message)?;
    match (Time::from_secs(1)..=Time::from_secs(1_000)).contains(&time) {
        true => Ok(time),
        false => Err("it is from 1 s to 1000 s".to_owned()),
    }
}

fn evaluations(text: &str) -> Result<u32, String> {
    const MOST: u32 = 10_000_000;
    match crate::numbers::whole(text)? {
        0 => Err("there must be at least 1".to_owned()),
        count if count <= MOST => Ok(count),
        _ => Err(format!("too many: {MOST} evaluations are the most")),
    }
}

/// A seed after which there is room for those of the repeats.
fn seed(text: &str) -> Result<u64, String> {
    const MOST: u64 = i64::MAX as u64 - cwnd_attack::SEEDS as u64;
    match crate::numbers::whole(text)? {
        seed if seed <= MOST => Ok(seed),
        _ => Err(format!("{MOST} is the greatest seed")),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds.is_finite() => Ok(seconds),
        _ => Err("it is a number of seconds over 0, such as `30`".to_owned()),
    }
}
