//! `cargo xtask fidelity`: ns-2.35 itself and `--stack ns2`, side by side.
//!
//! ns-2.35 runs its TCP-Linux agents over the dumbbell of `xtask/fidelity/dumbbell.tcl`; cwnd runs its own
//! algorithms over the same network. Four flows are run once with nothing random (all start at 0; whoever wins
//! a tie wins it every time, so small differences grow), and then with several seeds, where means can be
//! compared: with random starts, and with random sending times as well. Single flows are compared window by
//! window.

mod cells;
mod ns2;
mod ours;

use crate::options::Options;
use crate::statistics::{deviation, mean};
use crate::table::{cells, table};
use cells::{CELLS, Cell, Chance, Pair, Run, SINGLES, Setting, Single};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Its options, for the list.
pub const OPTIONS: &str = "[--ns2] [--seeds 3]";

const NS2: &str = "--ns2";
const SEEDS: &str = "--seeds";

/// Run both, and print what they say.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    // ns-2 is the only reference there is, so that `--ns2` goes without saying.
    let options = Options::new(arguments, &[SEEDS], &[NS2])?;
    let seeds = options.number(SEEDS, 3)? as u64;
    let begin = Instant::now();
    let simulators = Simulators { cwnd: crate::json::build_cwnd()?, ns: ns2::find()? };
    let answers = simulators.run_all(jobs(seeds))?;

    println!("Four flows (P2's table 3): 1 Gbit/s, RTT 204 ms, access queues of 25, 150 s");
    println!("\n  All start at the same time, and nothing is random\n");
    print!("{}", four_flows(&answers, Kind::Together));
    println!("\n  Starts within 204 ms; mean of {seeds} ± standard deviation\n");
    print!("{}", four_flows(&answers, Kind::Starts));
    println!(
        "\n  Starts within 204 ms, and each sending up to 8.4 us late; mean of {seeds} ± standard deviation\n"
    );
    print!("{}", four_flows(&answers, Kind::Sending));
    println!(
        "\n  Throughput counts headers; resent is of all packets sent; cuts are those of all flows. With random"
    );
    println!("  starts it is the senders' own queues that drop, whatever the buffer: 100 stands for 500.");
    for single in &SINGLES {
        println!("\n{}\n", single.title);
        print!("{}", windows(single, &answers));
    }
    println!("\n{} runs in {:.0} s", 2 * answers.0.len(), begin.elapsed().as_secs_f64());
    Ok(true)
}

/// A scenario that both run.
struct Job {
    setting: &'static Setting,
    pair: &'static Pair,
    chance: Chance,
}

/// Everything to be run, the long ones first, so that all cores have something to do until the end.
fn jobs(seeds: u64) -> Vec<Job> {
    let single = |single: &'static Single| {
        single.pairs.iter().map(|pair| Job { setting: &single.setting, pair, chance: Chance::None })
    };
    let mut chances = vec![Chance::None];
    chances.extend((1..=seeds).map(|seed| Chance::Starts { seed }));
    chances.extend((1..=seeds).map(|seed| Chance::Sending { seed }));
    let cell = |cell: &'static Cell| {
        let chances = if cell.also_random { &chances[..] } else { &chances[..1] };
        let job = |&chance: &Chance| Job { setting: &cell.setting, pair: &cell.pair, chance };
        chances.iter().map(job).collect::<Vec<_>>()
    };
    SINGLES.iter().flat_map(single).chain(CELLS.iter().flat_map(cell)).collect()
}

struct Simulators {
    cwnd: PathBuf,
    ns: PathBuf,
}

/// What ns-2 and cwnd answer.
struct Answer {
    theirs: Run,
    ours: Run,
}

impl Simulators {
    /// Run all jobs on all cores.
    fn run_all(&self, jobs: Vec<Job>) -> Result<Answers, String> {
        let next = AtomicUsize::new(0);
        let answers: Mutex<Vec<(usize, Result<Answer, String>)>> = Mutex::new(Vec::new());
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..cores {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(job) = jobs.get(index) else { return };
                        eprintln!("{} of {}: {}", index + 1, jobs.len(), job.pair);
                        let answer = self.answer(job);
                        answers.lock().unwrap_or_else(|e| e.into_inner()).push((index, answer));
                    }
                });
            }
        });
        let mut answers = answers.into_inner().unwrap_or_else(|e| e.into_inner());
        answers.sort_by_key(|(index, _)| *index);
        let answers: Result<Vec<Answer>, String> = answers.into_iter().map(|(_, answer)| answer).collect();
        Ok(Answers(jobs.into_iter().zip(answers?).collect()))
    }

    fn answer(&self, job: &Job) -> Result<Answer, String> {
        let theirs = ns2::run(&self.ns, job.setting, job.pair.module, job.chance)?;
        let ours = ours::run(&self.cwnd, job.setting, job.pair.algorithm, job.chance)?;
        Ok(Answer { theirs, ours })
    }
}

/// All that was asked, with the answers.
struct Answers(Vec<(Job, Answer)>);

/// What is random, whatever the seed.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Together,
    Starts,
    Sending,
}

impl Answers {
    /// The answers for a setting and an algorithm, by their seeds.
    fn of(&self, setting: &Setting, pair: &Pair, kind: Kind) -> Vec<&Answer> {
        let kind_of = |chance: Chance| match chance {
            Chance::None => Kind::Together,
            Chance::Starts { .. } => Kind::Starts,
            Chance::Sending { .. } => Kind::Sending,
        };
        let asked = |job: &Job| job.setting == setting && job.pair == pair && kind_of(job.chance) == kind;
        self.0.iter().filter(|(job, _)| asked(job)).map(|(_, answer)| answer).collect()
    }
}

fn four_flows(answers: &Answers, kind: Kind) -> String {
    let head = [
        cells(&["", "", "throughput", "Mbit/s", "", "Jain", "", "resent", "%", "cuts", ""]),
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
    let row = |cell: &Cell| {
        let answers = answers.of(&cell.setting, &cell.pair, kind);
        let both = |of: fn(&Run) -> f64| {
            let theirs: Vec<f64> = answers.iter().map(|answer| of(&answer.theirs)).collect();
            let ours: Vec<f64> = answers.iter().map(|answer| of(&answer.ours)).collect();
            [theirs, ours]
        };
        let throughput = both(|run| run.throughput_mbps);
        let [theirs, ours] = throughput.each_ref().map(|values| mean(values));
        let rates = throughput.map(|values| match kind {
            Kind::Together => format!("{:.2}", mean(&values)),
            _ => format!("{:.1} ± {:.1}", mean(&values), deviation(&values)),
        });
        let means =
            |of: fn(&Run) -> f64, digits: usize| both(of).map(|values| format!("{:.digits$}", mean(&values)));
        let name = [cell.pair.to_string(), cell.setting.buffer.to_string()];
        let difference = [format!("{:+.1}", (ours / theirs - 1.0) * 100.0)];
        let jain = means(|run| run.jain, 3);
        let resent = means(|run| run.resent * 100.0, 3);
        let cuts = means(|run| run.cuts as f64, 0);
        [&name[..], &rates, &difference, &jain, &resent, &cuts].concat()
    };
    let shown = CELLS.iter().filter(|cell| cell.also_random || kind == Kind::Together);
    table(&[0], &head, &shown.map(row).collect::<Vec<_>>())
}

/// The windows of a single flow over time.
fn windows(single: &Single, answers: &Answers) -> String {
    let answers: Vec<&Answer> =
        single.pairs.iter().flat_map(|pair| answers.of(&single.setting, pair, Kind::Together)).collect();
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
    let steps = single.setting.duration / single.shown;
    let mut rows: Vec<Vec<String>> = (1..=steps)
        .map(|step| {
            let time = step * single.shown;
            row(format!("{time} s"), &|run| {
                let at = (f64::from(time) / single.setting.sample).round() as usize - 1;
                run.windows.get(at).map_or("–".to_owned(), |window| format!("{window:.0}"))
            })
        })
        .collect();
    rows.push(row(format!("first {} at", single.landmark), &|run| {
        let at = run.windows.iter().position(|&window| window >= single.landmark);
        at.map_or("never".to_owned(), |at| format!("{:.1} s", (at + 1) as f64 * single.setting.sample))
    }));
    let most = |run: &Run| run.windows.iter().copied().fold(0.0, f64::max);
    rows.push(row("greatest".to_owned(), &|run| format!("{:.0}", most(run))));
    rows.push(row("mean".to_owned(), &|run| format!("{:.0}", mean(&run.windows))));
    rows.push(row("Mbit/s".to_owned(), &|run| format!("{:.1}", run.throughput_mbps)));
    rows.push(row("cuts".to_owned(), &|run| run.cuts.to_string()));
    table(&[0], &head, &rows)
}
