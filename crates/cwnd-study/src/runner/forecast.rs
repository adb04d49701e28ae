//! How long simulated runs still take, from what those that are done have cost.
//!
//! The engine plans a cost for each run, which is an upper bound: a flow that times out all the time costs a fraction of it. How
//! much of its planned cost a run takes is alike for the repeats of a cell, and differs between cells. So a cell whose
//! repeats are known is forecast by these, and another by all runs that are done, in proportion to the planned costs.
//! [`spread_first`] puts runs first that stand for the others: after a tenth of the work the forecast is about right.

use std::collections::{BTreeMap, HashMap};

/// One in so many runs is done first, to stand for the others.
const ONE_IN: usize = 10;

/// Forecasts the end of runs that are done in parallel. Times are seconds since the beginning.
#[derive(Clone, Debug)]
pub(super) struct Forecast {
    /// How many run at once, at most.
    jobs: f64,
    /// What has not begun, by cell: how many runs, and their planned seconds.
    waiting: BTreeMap<usize, (usize, f64)>,
    /// The runs in progress: cell, planned seconds, and when they began.
    running: Vec<(usize, f64, f64)>,
    /// What is done, by cell and together.
    cells: HashMap<usize, Done>,
    all: Done,
}

/// Planned and actual seconds of runs that are done.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    planned: f64,
    cpu: f64,
    wall: f64,
}

impl Forecast {
    /// Creates the forecast of runs that wait, each with its cell and its planned seconds.
    pub fn new(runs: impl IntoIterator<Item = (usize, f64)>, jobs: usize) -> Forecast {
        let mut waiting: BTreeMap<usize, (usize, f64)> = BTreeMap::new();
        for (cell, planned) in runs {
            let (count, sum) = waiting.entry(cell).or_default();
            (*count, *sum) = (*count + 1, *sum + planned);
        }
        let (running, cells) = (Vec::new(), HashMap::new());
        Forecast { jobs: jobs.max(1) as f64, waiting, running, cells, all: Done::default() }
    }

    /// A run has begun.
    pub fn began(&mut self, cell: usize, planned: f64, now: f64) {
        self.gone(cell, planned);
        self.running.push((cell, planned, now));
    }

    /// A run in progress is done, and took so much of the CPU.
    pub fn done(&mut self, cell: usize, planned: f64, cpu: f64, now: f64) {
        let of = |run: &(usize, f64, f64)| run.0 == cell && run.1 == planned;
        let Some(place) = self.running.iter().position(of) else { return };
        let (_, _, began) = self.running.remove(place);
        for done in [self.cells.entry(cell).or_default(), &mut self.all] {
            done.planned += planned;
            done.cpu += cpu;
            // Shorter than its CPU time it was not, however coarse the clock is.
            done.wall += (now - began).max(cpu);
        }
    }

    /// A run that has not begun need not be done here any more.
    pub fn gone(&mut self, cell: usize, planned: f64) {
        let Some((count, sum)) = self.waiting.get_mut(&cell) else { return };
        (*count, *sum) = (*count - 1, (*sum - planned).max(0.0));
        if *count == 0 {
            self.waiting.remove(&cell);
        }
    }

    /// Returns the seconds until the last run ends; none before the first is done.
    pub fn left(&self, now: f64) -> Option<f64> {
        if self.running.is_empty() && self.waiting.is_empty() {
            return Some(0.0);
        }
        if self.all.planned <= 0.0 {
            return None;
        }
        // Threads may share their cores with others.
        let slowdown = self.all.wall / self.all.cpu.max(f64::MIN_POSITIVE);
        let seconds = |cell: usize, planned: f64| planned * self.ratio(cell) * slowdown;
        let waiting: f64 = self.waiting.iter().map(|(cell, (_, planned))| seconds(*cell, *planned)).sum();
        let running: Vec<f64> = (self.running.iter())
            .map(|(cell, planned, began)| (seconds(*cell, *planned) - (now - began)).max(0.0))
            .collect();
        // Memory may let fewer run at once than there are threads.
        let so_far: f64 = self.running.iter().map(|(_, _, began)| now - began).sum();
        let parallel = ((self.all.wall + so_far) / now.max(f64::MIN_POSITIVE)).clamp(1.0, self.jobs);
        let longest = running.iter().copied().fold(0.0, f64::max);
        Some(((waiting + running.iter().sum::<f64>()) / parallel).max(longest))
    }

    /// Returns how long runs take, as a multiple of what was planned; none before the first is done.
    pub fn pace(&self) -> Option<f64> {
        (self.all.planned > 0.0).then(|| self.all.wall / self.all.planned)
    }

    /// How much of its planned cost a run of a cell takes.
    fn ratio(&self, cell: usize) -> f64 {
        let done = self.cells.get(&cell).filter(|done| done.planned > 0.0).unwrap_or(&self.all);
        done.cpu / done.planned
    }
}

/// Puts runs first that stand for all, and leaves the order of the others: one in ten of `runs`, at even distances in
/// their order and each of another cell, as far as there are cells. `cell` tells that of a run.
pub(super) fn spread_first<T>(runs: &mut Vec<T>, cell: impl Fn(&T) -> usize) {
    let count = runs.len().div_ceil(ONE_IN);
    // The first run of each cell, in order.
    let mut seen = HashMap::new();
    let firsts: Vec<usize> =
        (0..runs.len()).filter(|run| seen.insert(cell(&runs[*run]), ()).is_none()).collect();
    let count = count.min(firsts.len());
    // The middles of as many parts of equal length.
    let chosen: Vec<usize> = (0..count).map(|i| firsts[(2 * i + 1) * firsts.len() / (2 * count)]).collect();
    let (mut first, mut rest) = (Vec::with_capacity(runs.len()), Vec::new());
    for (place, run) in runs.drain(..).enumerate() {
        if chosen.binary_search(&place).is_ok() { first.push(run) } else { rest.push(run) }
    }
    first.append(&mut rest);
    *runs = first;
}

#[cfg(test)]
mod tests;
