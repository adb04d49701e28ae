//! `cargo xtask fidelity`: ns-2.35 itself and `--stack ns2`, side by side.
//!
//! ns-2.35 runs its TCP-Linux agents over the dumbbell of `xtask/fidelity/dumbbell.tcl`; cwnd runs its own
//! algorithms over the same network. Four flows are run once with nothing random (all start at 0; whoever wins
//! a tie wins it every time, so small differences grow), and with starts and sending times drawn by several
//! seeds, where means can be compared. Single flows are compared window by window.

mod cells;
mod ns2;
mod ours;

use crate::options::Options;
use crate::statistics::{deviation, mean};
use crate::table::{cells, table};
use cells::{CELLS, Pair, Run, SINGLES, Setting, Single};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Its options, for the list.
pub const OPTIONS: &str = "[--ns2] [--seeds 3]";

const NS2: &str = "--ns2";
const SEEDS: &str = "--seeds";

/// Run both, and print what they say.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let options = Options::new(arguments, &[SEEDS], &[NS2])?;
    let seeds = options.number(SEEDS, 3)? as u64;
    let begin = Instant::now();
    let simulators = Simulators { cwnd: crate::json::build_cwnd()?, ns: ns2::find()? };

    // The long ones first, so that all cores have something to do until the end.
    let jobs: Vec<Job> = SINGLES
        .iter()
        .flat_map(|single| single.pairs.iter().map(|pair| Job { setting: &single.setting, pair, seed: None }))
        .chain(CELLS.iter().flat_map(|cell| {
            (0..=seeds).map(|seed| Job {
                setting: &cell.setting,
                pair: &cell.pair,
                seed: (seed > 0).then_some(seed),
            })
        }))
        .collect();
    let answers = Answers { answers: simulators.run_all(&jobs)?, jobs };

    println!("Four flows (P2's table 3): 1 Gbit/s, RTT 204 ms, access queues of 25, 150 s");
    println!("\n  All start at the same time, and nothing is random\n");
    print!("{}", together(&answers));
    println!("\n  Starts within 204 ms, sending within 8.4 us; means of {seeds} ± standard deviation\n");
    print!("{}", by_chance(&answers));
    println!(
        "\n  Throughput counts headers; lost is (sent - received)/sent; cuts are reductions of all flows."
    );
    for single in &SINGLES {
        println!("\n{}\n", single.title);
        print!("{}", windows(single, &answers));
    }
    println!("\n{} runs in {:.0} s", 2 * answers.jobs.len(), begin.elapsed().as_secs_f64());
    Ok(true)
}

struct Simulators {
    cwnd: std::path::PathBuf,
    ns: std::path::PathBuf,
}

/// A scenario that both run.
struct Job {
    setting: &'static Setting,
    pair: &'static Pair,
    /// Without a seed nothing is random.
    seed: Option<u64>,
}

/// What ns-2 and cwnd answer.
struct Answer {
    theirs: Run,
    ours: Run,
}

impl Simulators {
    /// Run all jobs on all cores; the answers are in the order of the jobs.
    fn run_all(&self, jobs: &[Job]) -> Result<Vec<Answer>, String> {
        let next = AtomicUsize::new(0);
        let answers: Mutex<Vec<(usize, Result<Answer, String>)>> = Mutex::new(Vec::new());
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..cores {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(job) = jobs.get(index) else { return };
                        let answer = self.answer(job);
                        answers.lock().unwrap_or_else(|e| e.into_inner()).push((index, answer));
                    }
                });
            }
        });
        let mut answers = answers.into_inner().unwrap_or_else(|e| e.into_inner());
        answers.sort_by_key(|(index, _)| *index);
        answers.into_iter().map(|(_, answer)| answer).collect()
    }

    fn answer(&self, job: &Job) -> Result<Answer, String> {
        let chance = job.seed.map_or_else(|| "nothing random".to_owned(), |seed| format!("seed {seed}"));
        eprintln!(
            "{}, {} flow(s), buffer {}: {chance}",
            job.pair.algorithm, job.setting.flows, job.setting.buffer
        );
        let theirs = ns2::run(&self.ns, job.setting, job.pair.module, job.seed)?;
        let ours = ours::run(&self.cwnd, job.setting, job.pair.algorithm, job.seed)?;
        Ok(Answer { theirs, ours })
    }
}

/// All that was asked, and the answers to it.
struct Answers {
    jobs: Vec<Job>,
    answers: Vec<Answer>,
}

impl Answers {
    /// The answers for a setting and an algorithm: with nothing random, or by the seeds.
    fn of(&self, setting: &Setting, pair: &Pair, random: bool) -> Vec<&Answer> {
        let asked = |job: &Job| job.setting == setting && job.pair == pair && job.seed.is_some() == random;
        let both = self.jobs.iter().zip(&self.answers);
        both.filter(|(job, _)| asked(job)).map(|(_, answer)| answer).collect()
    }
}

fn together(answers: &Answers) -> String {
    let head = [
        cells(&["", "", "throughput", "Mbit/s", "", "Jain", "", "lost", "%", "cuts", ""]),
        cells(&[
            "algorithm (module)",
            "buffer",
            "ns-2.35",
            "cwnd",
            "%",
            "ns-2.35",
            "cwnd",
            "ns-2.35",
            "cwnd",
            "ns-2.35",
            "cwnd",
        ]),
    ];
    let rows: Vec<Vec<String>> = CELLS
        .iter()
        .flat_map(|cell| {
            answers.of(&cell.setting, &cell.pair, false).into_iter().map(move |answer| (cell, answer))
        })
        .map(|(cell, Answer { theirs, ours })| {
            vec![
                cell.pair.to_string(),
                cell.setting.buffer.to_string(),
                format!("{:.2}", theirs.throughput_mbps),
                format!("{:.2}", ours.throughput_mbps),
                format!("{:+.1}", (ours.throughput_mbps / theirs.throughput_mbps - 1.0) * 100.0),
                format!("{:.3}", theirs.jain),
                format!("{:.3}", ours.jain),
                format!("{:.3}", theirs.unreceived * 100.0),
                format!("{:.3}", ours.unreceived * 100.0),
                theirs.cuts.to_string(),
                ours.cuts.to_string(),
            ]
        })
        .collect();
    table(&head, &rows)
}

fn by_chance(answers: &Answers) -> String {
    let head = [
        cells(&["", "", "throughput", "Mbit/s", "", "Jain", "", "lost", "%"]),
        cells(&[
            "algorithm (module)",
            "buffer",
            "ns-2.35",
            "cwnd",
            "%",
            "ns-2.35",
            "cwnd",
            "ns-2.35",
            "cwnd",
        ]),
    ];
    let row = |cell: &cells::Cell| {
        let answers = answers.of(&cell.setting, &cell.pair, true);
        let theirs =
            |of: fn(&Run) -> f64| answers.iter().map(|answer| of(&answer.theirs)).collect::<Vec<_>>();
        let ours = |of: fn(&Run) -> f64| answers.iter().map(|answer| of(&answer.ours)).collect::<Vec<_>>();
        let throughput = |values: &[f64]| format!("{:.1} ± {:.1}", mean(values), deviation(values));
        let (their_rates, our_rates) = (theirs(|run| run.throughput_mbps), ours(|run| run.throughput_mbps));
        vec![
            cell.pair.to_string(),
            cell.setting.buffer.to_string(),
            throughput(&their_rates),
            throughput(&our_rates),
            format!("{:+.1}", (mean(&our_rates) / mean(&their_rates) - 1.0) * 100.0),
            format!("{:.3}", mean(&theirs(|run| run.jain))),
            format!("{:.3}", mean(&ours(|run| run.jain))),
            format!("{:.3}", mean(&theirs(|run| run.unreceived)) * 100.0),
            format!("{:.3}", mean(&ours(|run| run.unreceived)) * 100.0),
        ]
    };
    table(&head, &CELLS.iter().map(row).collect::<Vec<_>>())
}

/// The windows of a single flow over time.
fn windows(single: &Single, answers: &Answers) -> String {
    let answers: Vec<&Answer> =
        single.pairs.iter().flat_map(|pair| answers.of(&single.setting, pair, false)).collect();
    let names = single.pairs.iter().flat_map(|pair| [pair.to_string(), String::new()]);
    let columns = single.pairs.iter().flat_map(|_| cells(&["ns-2.35", "cwnd"]));
    let head = [
        std::iter::once(String::new()).chain(names).collect(),
        std::iter::once("cwnd at".to_owned()).chain(columns).collect(),
    ];
    let row = |name: String, of: &dyn Fn(&Run) -> String| {
        let values = answers.iter().flat_map(|answer| [of(&answer.theirs), of(&answer.ours)]);
        std::iter::once(name).chain(values).collect::<Vec<String>>()
    };
    let steps = (single.setting.duration / single.shown) as usize;
    let mut rows: Vec<Vec<String>> = (1..=steps)
        .map(|step| {
            let time = step as u32 * single.shown;
            row(format!("{time} s"), &|run| {
                let at = (f64::from(time) / single.setting.sample).round() as usize - 1;
                run.windows.get(at).map_or("–".to_owned(), |window| format!("{window:.0}"))
            })
        })
        .collect();
    let most = |run: &Run| run.windows.iter().copied().fold(0.0, f64::max);
    rows.push(row("greatest".to_owned(), &|run| format!("{:.0}", most(run))));
    rows.push(row("mean".to_owned(), &|run| format!("{:.0}", mean(&run.windows))));
    rows.push(row("Mbit/s".to_owned(), &|run| format!("{:.1}", run.throughput_mbps)));
    rows.push(row("cuts".to_owned(), &|run| run.cuts.to_string()));
    table(&head, &rows)
}
