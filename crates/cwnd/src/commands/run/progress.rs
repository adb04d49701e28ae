//! How far a study has come, on standard error: a bar for a person, now and then a line for a file.

use cwnd_study::{
    EngineKind, Study,
    runner::{Plan, Progress, Status},
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{
    io::{self, IsTerminal},
    time::{Duration, Instant},
};

/// Shows the progress.
pub struct Shown {
    display: Display,
    /// What the cells are called, to tell which run in real time is on.
    cells: Vec<String>,
}

/// Whether a line tells beforehand how many runs there are and how long they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Announce {
    /// It does, and progress is shown.
    Always,
    /// It does if the runs may take more than a minute; progress is shown.
    IfLong,
    /// Neither is shown.
    Never,
}

impl Announce {
    /// Returns what a study that is kept takes: never if the user wants quiet.
    pub fn of(quiet: bool) -> Announce {
        if quiet { Announce::Never } else { Announce::Always }
    }
}

enum Display {
    /// Not at all.
    Quiet,
    /// As a bar.
    Bar(ProgressBar),
    /// As a line now and then, the last of which was written at this time.
    Lines(Instant),
}

/// Between two lines.
const PAUSE: Duration = Duration::from_secs(5);

impl Shown {
    /// Says what is about to be done, and begins to show how far it has come.
    pub fn new(study: &Study, plan: &Plan, threads: usize, announce: Announce) -> Shown {
        let in_real_time = plan.missing_of(EngineKind::Kernel) > 0;
        let names = (0..study.cells.len()).filter(|_| in_real_time).map(|cell| study.cell_label(cell));
        Shown { display: Display::new(study, plan, threads, announce), cells: names.collect() }
    }

    /// Leaves nothing of the bar.
    pub fn clear(&self) {
        if let Display::Bar(bar) = &self.display {
            bar.finish_and_clear();
        }
    }
}

impl Display {
    fn new(study: &Study, plan: &Plan, threads: usize, announce: Announce) -> Display {
        const LONG: f64 = 60.0;
        if announce == Announce::Never {
            return Display::Quiet;
        }
        for note in &plan.notes {
            crate::terminal::tell!("note: {note}");
        }
        if plan.missing() == 0 {
            return Display::Quiet;
        }
        if announce == Announce::Always || plan.wall_s(threads) > LONG {
            crate::terminal::tell!("{}", announcement(study, plan, threads));
        }
        if !io::stderr().is_terminal() {
            return Display::Lines(Instant::now());
        }
        let bar = ProgressBar::with_draw_target(Some(plan.missing() as u64), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("  {bar:30} {pos} of {len} runs done{msg}");
        if let Ok(style) = style {
            bar.set_style(style);
        }
        Display::Bar(bar)
    }
}

impl Progress for Shown {
    fn update(&mut self, status: &Status) {
        let rest = || rest(status) + &running(status, &self.cells);
        match &mut self.display {
            Display::Quiet => {}
            Display::Bar(bar) => {
                bar.set_position(status.stored as u64);
                bar.set_message(crate::terminal::printable(&rest()).into_owned());
            }
            Display::Lines(last) => {
                if last.elapsed() >= PAUSE {
                    *last = Instant::now();
                    crate::terminal::tell!("  {} of {} runs done{}", status.stored, status.total, rest());
                }
            }
        }
    }
}

fn rest(status: &Status) -> String {
    let failed = if status.failed > 0 { format!(", {} failed", status.failed) } else { String::new() };
    match status.left {
        Some(left) => format!("{failed}, about {} left", duration(left)),
        None => failed,
    }
}

/// The run in real time that is on, and how far it is.
pub fn running(status: &Status, cells: &[String]) -> String {
    let Some(running) = &status.running else { return String::new() };
    let cell = cells.get(running.cell).filter(|label| !label.is_empty());
    let cell = cell.map(|label| format!("{label}, ")).unwrap_or_default();
    let (elapsed, expected) = (running.elapsed.as_secs(), running.expected.as_secs_f64().ceil());
    format!("; on {}: {cell}repeat {}, {elapsed} of {expected} s", running.engine, running.repeat + 1)
}

fn announcement(study: &Study, plan: &Plan, threads: usize) -> String {
    let present = match plan.present {
        0 => String::new(),
        present => format!("; {present} are stored already"),
    };
    let expected = Duration::try_from_secs_f64(plan.wall_s(threads)).unwrap_or(Duration::MAX);
    let phases: Vec<_> = plan.engines().into_iter().map(|kind| (kind, plan.missing_of(kind))).collect();
    let (how, runs) = (how(&phases, threads), if plan.missing() == 1 { "run" } else { "runs" });
    format!("{}: {} {runs} to do {how}, about {}{present}", study.name, plan.missing(), duration(expected))
}

/// Says how the runs of each engine are done, in their order.
fn how(phases: &[(EngineKind, usize)], threads: usize) -> String {
    let threads = if threads == 1 { "on 1 thread".to_owned() } else { format!("on {threads} threads") };
    let of = |kind: EngineKind| match kind {
        EngineKind::Sim => threads.clone(),
        EngineKind::Kernel => "in real time, one by one".to_owned(),
        EngineKind::Vm(None) => format!("in virtual machines, {threads}"),
        EngineKind::Vm(Some(series)) => format!("in virtual machines with Linux {series}, {threads}"),
    };
    match phases {
        [(kind, _)] => of(*kind),
        several => {
            let each = several.iter().map(|(kind, runs)| format!("{runs} {}", of(*kind)));
            format!("({})", each.collect::<Vec<_>>().join(", then "))
        }
    }
}

/// A duration as people say it.
pub fn duration(time: Duration) -> String {
    match time.as_secs() {
        0 if time < Duration::from_millis(50) => "an instant".to_owned(),
        0..10 => format!("{:.1} s", time.as_secs_f64()),
        seconds @ 10..100 => format!("{seconds} s"),
        seconds @ 100..6_000 => format!("{} min", (seconds + 30) / 60),
        seconds => format!("{} h", (seconds + 1_800) / 3_600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_study::runner::Running;

    #[test]
    fn a_run_in_real_time_does_not_look_dead() {
        let on = Running {
            engine: EngineKind::Kernel,
            cell: 1,
            repeat: 0,
            elapsed: Duration::from_millis(34_900),
            expected: Duration::from_secs(100),
        };
        let status = Status { running: Some(on), ..Status::default() };
        let cells = ["20 ms".to_owned(), "80 ms".to_owned()];
        assert_eq!(running(&status, &cells), "; on kernel: 80 ms, repeat 1, 34 of 100 s");
        assert_eq!(running(&status, &["".to_owned(), "".to_owned()]), "; on kernel: repeat 1, 34 of 100 s");
        assert_eq!(running(&Status::default(), &cells), "");
    }

    #[test]
    fn every_engine_that_has_runs_to_do_is_announced() {
        let (vm, series) = (EngineKind::Vm(None), "vm:6.18".parse().unwrap());
        for (phases, threads, text) in [
            (&[(EngineKind::Sim, 3)][..], 1, "on 1 thread"),
            (&[(vm, 1)], 2, "in virtual machines, on 2 threads"),
            (&[(EngineKind::Kernel, 2)], 2, "in real time, one by one"),
            (
                &[(EngineKind::Sim, 8), (EngineKind::Kernel, 2), (series, 4)],
                2,
                "(8 on 2 threads, then 2 in real time, one by one, then 4 in virtual machines with Linux 6.18, on 2 threads)",
            ),
        ] {
            assert_eq!(how(phases, threads), text);
        }
    }

    #[test]
    fn durations() {
        for (seconds, text) in [
            (0.04, "an instant"),
            (0.06, "0.1 s"),
            (9.97, "10.0 s"),
            (10.0, "10 s"),
            (99.9, "99 s"),
            (100.0, "2 min"),
            (5_999.0, "100 min"),
            (6_000.0, "2 h"),
        ] {
            assert_eq!(duration(Duration::from_secs_f64(seconds)), text);
        }
    }
}
