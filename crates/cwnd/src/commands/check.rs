//! `cwnd check`: what a study would run and cost, before anything runs.

use super::run::{self, Scale};
use crate::{catalogue, engines, failure::Failure, memory::MemoryFlags, output, terminal};
use clap::Args;
use cwnd_report::{
    figure_file,
    table::{Align, Table},
    topology,
};
use cwnd_scenario::{Cost, Problem, Scenario, nearest};
use cwnd_study::{
    EngineKind, Engines, Study,
    memory::{MemoryBudget, size},
    runner::RunError,
};
use std::{
    path::{Path, PathBuf},
    thread,
};

/// Tell what a study would run, and about what it would cost, without running anything.
///
/// Reports every error of the file with its place. Costs are estimates: times hold within a factor of
/// about two on a fast machine that does nothing else. Runs of some milliseconds take more.
#[derive(Args)]
pub struct Flags {
    /// The study file.
    #[arg(value_name = "STUDY")]
    study: PathBuf,

    /// How much of it would be run.
    #[arg(long, value_name = "SCALE", value_enum, default_value_t = Scale::Paper)]
    scale: Scale,

    /// What would answer all cells, instead of what the file says: `sim`, `kernel`, `vm`, or `vm:6.18` for that series of kernels;
    /// of a study with an axis of engines its cells for this one alone.
    #[arg(long, value_name = "ENGINE")]
    engine: Option<EngineKind>,

    /// Draw the network of a cell, as `.svg`, `.png` or `.pdf`: nodes, links with what they do, and the courses of flows.
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,

    /// Which cell's network is drawn: its number from 1 on, or its labels as `cwnd check` writes them (`cubic, 5`)
    /// [default: the first].
    #[arg(long, value_name = "CELL", requires = "topology")]
    cell: Option<String>,

    /// How many threads: each does one run, and those that are left help with large runs [default: one a core].
    #[arg(long, alias = "jobs", value_name = "N", value_parser = crate::numbers::threads, allow_hyphen_values = true)]
    threads: Option<u16>,

    #[command(flatten)]
    memory: MemoryFlags,
}

/// Bytes of a stored run, and for each of its flows.
const STORED_RUN: f64 = 1_000.0;
const STORED_FLOW: f64 = 100.0;
/// Bytes of a sample of a flow in a trace, and of a queue's length, as they are stored.
const STORED_SAMPLE: f64 = 20.0;
const STORED_LENGTH: f64 = 2.0;

/// Do what the flags ask. What `cwnd run` refuses is refused here, in the same words.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    let study = Study::load(&flags.study, &catalogue::check);
    let study = study.map_err(|error| Failure::bad_input(error.to_string()))?.at_scale(flags.scale.into());
    let study = run::on_engine(study, flags.engine)?;
    if let Some(path) = &flags.topology {
        figure_file::check_writable(path)
            .map_err(|error| Failure::bad_input(format!("--topology: {error}")))?;
    }
    let cell = cell(&study, flags.cell.as_deref())?;
    let cost = cost(&engines::of_study(&study), &study)?;
    let memory = flags.memory.budget();
    if let Err(memory) = memory.check(cost.memory) {
        return Err(run::refused(&study, &RunError::TooLarge { cell: cost.largest, memory }));
    }
    let threads =
        flags.threads.map_or_else(|| thread::available_parallelism().map_or(1, usize::from), usize::from);
    for note in study.whole().notes() {
        terminal::tell!("note: {note}");
    }
    output::print(&text(&study, &cost, threads, memory, terminal::columns()))?;
    match &flags.topology {
        Some(path) => draw(&study, cell, path),
        None => Ok(()),
    }
}

/// The cell whose network is meant: the first, if none is said.
///
/// # Errors
/// There is no such cell.
pub fn cell(study: &Study, said: Option<&str>) -> Result<usize, Failure> {
    let Some(said) = said.map(str::trim) else { return Ok(0) };
    let labels: Vec<String> = (0..study.cells.len()).map(|cell| study.cell_label(cell)).collect();
    if let Some(cell) = labels.iter().position(|label| label == said) {
        return Ok(cell);
    }
    match said.parse::<usize>() {
        Ok(number) if (1..=labels.len()).contains(&number) => Ok(number - 1),
        Ok(_) => Err(Failure::bad_input(format!("--cell: the study has cells 1 to {}", labels.len()))),
        Err(_) => {
            let meant = nearest(said, labels.iter().map(String::as_str));
            let hint =
                meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_else(|| ":".to_owned());
            let message = format!("--cell: no cell is called `{said}`{hint} the first is `{}`", labels[0]);
            Err(Failure::bad_input(message))
        }
    }
}

fn draw(study: &Study, cell: usize, path: &Path) -> Result<(), Failure> {
    let label = study.cell_label(cell);
    let title = if label.is_empty() { study.name.clone() } else { format!("{}: {label}", study.name) };
    let svg = topology::svg(&study.cells[cell].scenario, &title);
    let missing = figure_file::write_figure(&svg, path);
    let missing = missing.map_err(|error| Failure::broken(format!("--topology: {error}")))?;
    super::report::note_missing_characters(&missing);
    output::print(&format!("  wrote {}\n\n", path.display()))
}

/// What all runs of a study cost.
#[derive(Default)]
pub struct StudyCost {
    /// How many there are.
    pub runs: u64,
    sampled: u64,
    traced: u64,
    packets: f64,
    /// CPU seconds of all that are simulated.
    pub cpu_s: f64,
    /// CPU seconds of the longest of them.
    longest_s: f64,
    /// How many are in real time, and their seconds by the clock.
    real: (u64, f64),
    /// How many are in virtual machines, and their CPU seconds.
    vm: (u64, f64),
    /// Why some of these cannot be done here, if they cannot.
    why_not: Option<String>,
    /// Bytes of the largest run.
    pub memory: f64,
    /// Its cell.
    largest: usize,
    /// Bytes that stay on disk.
    disk: f64,
}

/// The cost of all runs. Runs of the kernel that cannot be done here last as long as their scenarios.
///
/// # Errors
/// What the simulator does not take, cell by cell.
pub fn cost(engines: &Engines, study: &Study) -> Result<StudyCost, Failure> {
    let mut total = StudyCost::default();
    let mut problems: Vec<(usize, Problem)> = Vec::new();
    for cell in 0..study.cells.len() {
        // Repeats differ in their seeds and in whether they are traced, from the first on.
        let traced = (0..study.repeats).take_while(|repeat| study.is_traced(cell, *repeat)).count() as u32;
        for (repeat, count, traced) in [(0, traced, true), (traced, study.repeats - traced, false)] {
            if count == 0 {
                continue;
            }
            let count = if study.is_run_once(cell) { 1 } else { count };
            let scenario = study.scenario(cell, repeat);
            let kind = study.cells[cell].engine;
            let mut cost = engines.of(kind).check(&scenario);
            let here_only = || kind.is_real_time() && engines::is_possible_elsewhere(&scenario);
            if let Err(found) = &cost
                && here_only()
            {
                // What this machine's kernel can do says nothing of the file.
                let why = engines.why_not(kind).map(str::to_owned);
                let why = why.unwrap_or_else(|| run::refusal(study, cell, found));
                total.why_not.get_or_insert(why);
                let wall_s = scenario.duration.as_secs_f64();
                cost = Ok(Cost { packets: 0.0, cpu_s: 0.0, wall_s, memory: 0.0 });
            }
            match cost {
                Ok(cost) => {
                    if cost.memory > total.memory {
                        (total.memory, total.largest) = (cost.memory, cell);
                    }
                    total.add(kind, &scenario, &cost, f64::from(count), traced);
                }
                Err(found) => problems.extend(found.into_iter().map(|problem| (cell, problem))),
            }
        }
    }
    match problems.len() {
        0 => Ok(total),
        _ => {
            let labelled = |cell: usize, problem: Problem| match study.cell_label(cell).as_str() {
                "" => problem,
                label => Problem { place: format!("{} ({label})", problem.place), ..problem },
            };
            Err(run::refused_at(study, &problems, labelled))
        }
    }
}

impl StudyCost {
    fn add(&mut self, kind: EngineKind, scenario: &Scenario, cost: &Cost, count: f64, traced: bool) {
        self.runs += count as u64;
        self.packets += cost.packets * count;
        if kind.is_vm() {
            self.vm = (self.vm.0 + count as u64, self.vm.1 + cost.cpu_s * count);
        }
        match kind.is_real_time() {
            true => self.real = (self.real.0 + count as u64, self.real.1 + cost.wall_s * count),
            false => {
                self.cpu_s += cost.cpu_s * count;
                self.longest_s = self.longest_s.max(cost.cpu_s);
            }
        }
        let flows = scenario.flows.len() as f64;
        self.disk += count * (STORED_RUN + STORED_FLOW * flows);
        if let Some(sample) = scenario.sample {
            self.sampled += count as u64;
            if traced {
                self.traced += count as u64;
                let samples = scenario.duration.0 as f64 / sample.0.max(1) as f64 + 1.0;
                let queues = scenario.network.links.len() as f64;
                self.disk += count * samples * (flows * STORED_SAMPLE + queues * STORED_LENGTH);
            }
        }
    }
}

fn text(
    study: &Study,
    cost: &StudyCost,
    threads: usize,
    memory: MemoryBudget,
    columns: Option<usize>,
) -> String {
    // The longest run may begin last.
    let wall = (cost.cpu_s / threads as f64).max(cost.longest_s);
    let points: Vec<String> =
        study.axes.iter().map(|axis| format!("{} {}", axis.points.len(), axis.name)).collect();
    let grid: usize = study.axes.iter().map(|axis| axis.points.len()).product();
    let skipped = match grid - study.cells.len() {
        0 => String::new(),
        skipped => format!(", {skipped} of the grid skipped"),
    };
    let threads_text = if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
    let once = match (0..study.cells.len()).filter(|cell| study.is_run_once(*cell)).count() {
        0 => String::new(),
        count => format!(", {count} of them once"),
    };
    let (cells, repeats) = (counted(study.cells.len(), "cell"), counted(study.repeats as usize, "repeat"));
    let runs = format!("{} ({cells} x {repeats}{once})", cost.runs);
    let traces = match (cost.traced, cost.sampled) {
        (0, 0) => "none".to_owned(),
        (traced, sampled) if traced == sampled => format!("{traced} runs"),
        (traced, sampled) => format!("{traced} runs; {sampled} are sampled for their metrics"),
    };
    let threaded = cost.runs - cost.real.0;
    let simulated = threaded - cost.vm.0;
    let mut time = format!("about {}", duration(wall + cost.real.1));
    if threaded > 0 {
        time += &format!(" on {threads_text}");
    }
    let mut rows = vec![
        ("grid", if points.is_empty() { "one cell".to_owned() } else { points.join(" x ") + &skipped }),
        ("runs", runs),
        ("traces", traces),
        ("packets", format!("about {} data packets and ACKs", count(cost.packets))),
        ("CPU time", format!("about {}", duration(cost.cpu_s))),
        ("time", time),
        (
            "memory",
            format!(
                "up to {} a run, {} together",
                size(cost.memory),
                size((cost.memory * threads as f64).min(memory.bytes))
            ),
        ),
        ("disk", format!("about {}", size(cost.disk))),
        ("shown", shown(study)),
    ];
    if cost.real.0 + cost.vm.0 > 0 {
        let of = |runs: u64, how: String| format!("{runs} {}, {how}", if runs == 1 { "run" } else { "runs" });
        let part = |cpu_s: f64| duration(cpu_s / threads as f64);
        let sim = of(simulated, format!("about {} on {threads_text}", part(cost.cpu_s - cost.vm.1)));
        let vm = of(cost.vm.0, format!("about {} in virtual machines, on {threads_text}", part(cost.vm.1)));
        let kernel = of(cost.real.0, format!("about {} in real time, one by one", duration(cost.real.1)));
        let at = rows.iter().position(|(name, _)| *name == "time").map_or(rows.len(), |time| time + 1);
        rows.splice(
            at..at,
            [
                (simulated, ("  simulator", sim)),
                (cost.vm.0, ("  vm", vm)),
                (cost.real.0, ("  kernel", kernel)),
            ]
            .into_iter()
            .filter_map(|(runs, row)| (runs > 0).then_some(row)),
        );
    }
    let mut table = Table::new([("study", Align::Left), (study.name.as_str(), Align::Left)]).indent(2);
    // The names, two gaps of two characters, and the values.
    let names = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let width = columns.map_or(usize::MAX, |columns| columns.saturating_sub(names + 4).max(20));
    for (name, value) in &rows {
        for (i, line) in output::wrapped_to(width, value, 0).lines().enumerate() {
            table.row([if i == 0 { name } else { "" }, line]);
        }
    }
    let end = match &cost.why_not {
        None => "Nothing is wrong with it. `cwnd run` runs it.".to_owned(),
        Some(why) => {
            format!("Nothing is wrong with the file, but the kernel's runs cannot be done here: {why}.")
        }
    };
    format!("\n{table}\n{}\n", output::wrapped_to(columns.unwrap_or(usize::MAX), &end, 2))
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn shown(study: &Study) -> String {
    [
        counted(study.figures.len(), "figure"),
        counted(study.tables.len(), "table"),
        counted(study.claims.len(), "claim"),
    ]
    .join(", ")
}

fn count(number: f64) -> String {
    match number {
        n if n >= 1e9 => format!("{:.1} billion", n / 1e9),
        n if n >= 1e6 => format!("{:.0} million", n / 1e6),
        n => format!("{n:.0}"),
    }
}

/// A time as people say it.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{:.0} ms", (s * 1e3).ceil()),
        s if s < 120.0 => format!("{:.0} s", s.ceil()),
        s if s < 7_200.0 => format!("{:.0} min", (s / 60.0).ceil()),
        s => format!("{:.1} h", s / 3_600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(lines: &str) -> Study {
        let text = format!("title = \"A\"\nquestion = \"B\"\n{lines}");
        Study::parse("a", "a.toml", &text, &catalogue::check).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn every_run_is_counted() {
        let study = study(
            "[scenario]\nduration = \"10 s\"\n[run]\nrepeats = 5\n[trace]\nrepeats = 2\nwhere = { v = \"cubic\" }\n\
             [[axes]]\nname = \"v\"\nkey = \"algorithm\"\nvalues = [\"cubic\", \"elastic\"]\n\
             [[axes]]\nname = \"b\"\nkey = \"buffer\"\nvalues = [5, 50]\n[[skip]]\nv = \"elastic\"\nb = 5",
        );
        let Ok(cost) = cost(&engines::of_study(&study), &study) else { panic!("it can be run") };
        assert_eq!((cost.runs, cost.traced, cost.sampled), (15, 4, 4));
        // 15 runs of one flow, and 4 x 101 samples of it and of six queues.
        assert_eq!(cost.disk, 15.0 * 1_100.0 + 4.0 * 101.0 * (20.0 + 12.0));
        // 10 s at 1 Gbit/s are 1.19 million packets of 1,050 B, and as many ACKs.
        assert!((20e6..40e6).contains(&cost.packets), "{}", cost.packets);
        let text = text(&study, &cost, 2, MemoryBudget::stated(1_000), None);
        for part in [
            "2 v x 2 b, 1 of the grid skipped",
            "15 (3 cells x 5 repeats)",
            "4 runs",
            "on 2 threads",
            "a run, 1 KB together",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn what_the_engine_refuses_names_its_cell() {
        let study = study(
            "[scenario]\nalgorithm = \"cubic\"\n\
             [[axes]]\nname = \"w\"\nkey = \"receive-window\"\nvalues = [100, 2000000000]",
        );
        let Err(failure) = cost(&engines::of_study(&study), &study) else { panic!("it is refused") };
        let failure = format!("{failure:?}");
        assert!(failure.contains("receive_window (2000000000)") && !failure.contains("(100)"), "{failure}");
    }

    #[test]
    fn times_are_written_shortly() {
        assert_eq!(
            (duration(0.0123), duration(59.2), duration(121.0)),
            ("13 ms".into(), "60 s".into(), "3 min".into())
        );
    }
}
