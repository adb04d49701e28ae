//! How far a search is, on standard error, and when its CPU time is over.

use cwnd_attack::{Arena, Progress, study};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{
    io::{self, IsTerminal},
    time::{Duration, Instant},
};

/// Between two lines.
const PAUSE: Duration = Duration::from_secs(5);

/// The progress of a search.
pub struct Shown<'a> {
    arena: &'a Arena<'a>,
    evaluations: usize,
    /// The CPU seconds that it may take, and those of the process when it began.
    limit: Option<f64>,
    began: f64,
    display: Display,
}

enum Display {
    /// Not at all.
    Quiet,
    /// As a bar.
    Bar(ProgressBar),
    /// As a line now and then, the last of which was written at this time.
    Lines(Instant),
}

impl<'a> Shown<'a> {
    /// Begins to show the progress, unless the user wants quiet.
    pub fn new(arena: &'a Arena<'a>, evaluations: usize, limit: Option<f64>, quiet: bool) -> Shown<'a> {
        let display = match (quiet, io::stderr().is_terminal()) {
            (true, _) => Display::Quiet,
            (false, false) => Display::Lines(Instant::now()),
            (false, true) => {
                let bar =
                    ProgressBar::with_draw_target(Some(evaluations as u64), ProgressDrawTarget::stderr());
                if let Ok(style) = ProgressStyle::with_template("  {bar:30} {pos} of {len} paths{msg}") {
                    bar.set_style(style);
                }
                Display::Bar(bar)
            }
        };
        Shown { arena, evaluations, limit, began: cpu_seconds(), display }
    }

    /// Shows it. Returns whether there is CPU time left.
    pub fn update(&mut self, progress: Progress) -> bool {
        let worst = || {
            let Some(pair) = progress.worst else { return String::new() };
            let [candidate, reference] = [pair.candidate, pair.reference].map(study::number);
            format!("; worst {}: {candidate} against {reference}", self.arena.goal.name)
        };
        match &mut self.display {
            Display::Quiet => {}
            Display::Bar(bar) => {
                bar.set_position(progress.evaluations as u64);
                bar.set_message(worst());
            }
            Display::Lines(last) => {
                if last.elapsed() >= PAUSE {
                    *last = Instant::now();
                    crate::terminal::tell!(
                        "  {} of {} paths{}",
                        progress.evaluations,
                        self.evaluations,
                        worst()
                    );
                }
            }
        }
        self.limit.is_none_or(|limit| cpu_seconds() - self.began < limit)
    }

    /// Leaves nothing of the bar.
    pub fn clear(&self) {
        if let Display::Bar(bar) = &self.display {
            bar.finish_and_clear();
        }
    }
}

/// Returns the CPU time of the process, seconds; where that is not known, the time by the clock.
fn cpu_seconds() -> f64 {
    #[cfg(target_os = "linux")]
    return cpu_time::ProcessTime::try_now().map_or(0.0, |time| time.as_duration().as_secs_f64());
    #[cfg(not(target_os = "linux"))]
    {
        static BEGAN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        return BEGAN.get_or_init(Instant::now).elapsed().as_secs_f64();
    }
}
