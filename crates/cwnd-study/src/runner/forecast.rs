//! How long simulated runs still take, from what those that are done have cost.
//!
//! The engine plans a cost for each run, which is an upper bound: a flow that times out all the time costs a fraction of it. How
//! much of its planned cost a run takes is alike for the repeats of a cell, and differs between cells. So a cell whose
//! repeats are known is forecast by these, and another by all runs that are done, in proportion to the planned costs.
//! [`pilots_first`] lets the first tenth of the runs stand for the others.

use std::collections::{BTreeMap, HashMap, HashSet};

/// The runner does one run of each group of this size first, as a sample of the others.
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
        if self.waiting.is_empty() {
            return Some(longest);
        }
        Some(((waiting + running.iter().sum::<f64>()) / parallel).max(longest))
    }

    /// Returns how long runs take, as a multiple of what was planned; none before the first is done.
    pub fn pace(&self) -> Option<f64> {
        (self.all.planned > 0.0).then(|| self.all.wall / self.all.planned)
    }

    /// Returns the CPU time that runs take, as a multiple of what was planned; none before the first is done.
    pub fn cpu_pace(&self) -> Option<f64> {
        (self.all.planned > 0.0).then(|| self.all.cpu / self.all.planned)
    }

    /// Returns the CPU seconds that a run of a cell takes; the planned ones before any run is done.
    pub fn expected(&self, cell: usize, planned: f64) -> f64 {
        if self.all.planned > 0.0 { planned * self.ratio(cell) } else { planned }
    }

    /// How much of its planned cost a run of a cell takes.
    fn ratio(&self, cell: usize) -> f64 {
        let done = self.cells.get(&cell).filter(|done| done.planned > 0.0).unwrap_or(&self.all);
        done.cpu / done.planned
    }
}

/// Puts runs first that tell what the others will cost: one in ten, each of another cell and at even distances in the order of
/// planned costs and cells; then one of each other cell. Otherwise the order stays. `of` returns the cell and the planned
/// cost of a run.
pub(super) fn pilots_first<T>(runs: &mut Vec<T>, of: impl Fn(&T) -> (usize, f64)) {
    // The first run of each cell.
    let mut seen = HashSet::new();
    let pilots: Vec<usize> = (0..runs.len()).filter(|run| seen.insert(of(&runs[*run]).0)).collect();
    let mut by_cost = pilots.clone();
    by_cost.sort_by(|a, b| {
        let (a, b) = (of(&runs[*a]), of(&runs[*b]));
        b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
    });
    let count = runs.len().div_ceil(ONE_IN).min(pilots.len());
    // The middles of as many parts of equal length.
    let spread: HashSet<usize> =
        (0..count).map(|part| by_cost[(2 * part + 1) * pilots.len() / (2 * count)]).collect();
    let pilots: HashSet<usize> = pilots.into_iter().collect();
    let rank = |place: usize| match (spread.contains(&place), pilots.contains(&place)) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => 2,
    };
    let mut ranked: Vec<(i32, T)> =
        runs.drain(..).enumerate().map(|(place, run)| (rank(place), run)).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    runs.extend(ranked.into_iter().map(|(_, run)| run));
}

#[cfg(test)]
mod tests;
