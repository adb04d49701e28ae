//! How far all studies together have come, on standard error.

use crate::commands::run::{Prepared, duration, running};
use cwnd_study::runner::{Progress, Status};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{
    io::{self, IsTerminal},
    time::{Duration, Instant},
};

/// Between two lines, where nobody looks at a bar.
const PAUSE: Duration = Duration::from_secs(10);

/// One display for all studies.
pub struct Shared {
    shown: Shown,
    threads: usize,
    /// What the cells of the study are called.
    cells: Vec<String>,
    /// Missing runs of all studies, and of those that are done.
    total: usize,
    before: usize,
    /// Seconds planned for the studies that come later.
    later_s: f64,
    /// How long runs take, as a multiple of what was planned.
    pace: f64,
    /// The study that is run.
    name: String,
}

enum Shown {
    Quiet,
    Bar(ProgressBar),
    Lines(Instant),
}

impl Shared {
    /// Says what is about to be done.
    pub fn new(studies: &[Prepared], threads: usize, quiet: bool) -> Shared {
        let total = studies.iter().map(|study| study.plan.missing()).sum();
        let present: usize = studies.iter().map(|study| study.plan.present).sum();
        let wall_s: f64 = studies.iter().map(|study| study.plan.wall_s(threads)).sum();
        let shown = match (quiet || total == 0, io::stderr().is_terminal()) {
            (true, _) => Shown::Quiet,
            (false, false) => Shown::Lines(Instant::now()),
            (false, true) => {
                let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::stderr());
                if let Ok(style) = ProgressStyle::with_template("  {bar:30} {pos} of {len} runs done, {msg}")
                {
                    bar.set_style(style);
                }
                Shown::Bar(bar)
            }
        };
        if !matches!(shown, Shown::Quiet) {
            let stored = if present > 0 { format!("; {present} are stored already") } else { String::new() };
            let expected = Duration::try_from_secs_f64(wall_s).unwrap_or(Duration::MAX);
            crate::terminal::tell!(
                "{} studies: {total} runs to do on {threads} {}, about {}{stored}",
                studies.len(),
                if threads == 1 { "thread" } else { "threads" },
                duration(expected)
            );
        }
        Shared {
            shown,
            threads,
            cells: Vec::new(),
            total,
            before: 0,
            later_s: wall_s,
            pace: 1.0,
            name: String::new(),
        }
    }

    /// A study begins.
    pub fn begin(&mut self, study: &Prepared) {
        self.name.clone_from(&study.study.name);
        let labels = (0..study.study.cells.len()).map(|cell| study.study.cell_label(cell));
        self.cells = labels.collect();
        self.later_s -= study.plan.wall_s(self.threads);
        if !matches!(self.shown, Shown::Quiet) {
            study.plan.notes.iter().for_each(|note| crate::terminal::tell!("note: {note}"));
        }
    }

    /// A study is done.
    pub fn end(&mut self, study: &Prepared) {
        self.before += study.plan.missing();
    }

    /// Leaves nothing of the bar.
    pub fn clear(&self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }

    fn rest(&self, status: &Status) -> String {
        let failed = if status.failed > 0 { format!(", {} failed", status.failed) } else { String::new() };
        let later = Duration::try_from_secs_f64(self.later_s.max(0.0) * self.pace);
        let left = status.left.map(|left| left.saturating_add(later.unwrap_or(Duration::MAX)));
        let left = left.map(|left| format!(", about {} left in all", duration(left)));
        format!("{}{failed}{}{}", self.name, left.unwrap_or_default(), running(status, &self.cells))
    }
}

impl Progress for Shared {
    fn update(&mut self, status: &Status) {
        self.pace = status.pace.unwrap_or(self.pace);
        let (done, rest) = (self.before + status.stored, self.rest(status));
        match &mut self.shown {
            Shown::Quiet => {}
            Shown::Bar(bar) => {
                bar.set_position(done as u64);
                bar.set_message(crate::terminal::printable(&rest).into_owned());
            }
            Shown::Lines(last) => {
                if last.elapsed() >= PAUSE {
                    *last = Instant::now();
                    crate::terminal::tell!("  {done} of {} runs done, {rest}", self.total);
                }
            }
        }
    }
}
