//! The search: random paths, then CMA-ES from the best of them.
//!
//! A round evaluates [`ROUND`] paths. In the first [`RANDOM_ROUNDS`] all genes are uniform. From then on a round has a generation
//! of each of [`ISLANDS`] independent CMA-ES, which begin at the best paths so far, [`RANDOM`] paths at random, and [`NEIGHBOURS`] that
//! differ from one of the best in a gene or two: a weakness that shows on few paths only has no slope that leads there, and a CMA-ES
//! loses it again. A CMA-ES that has not improved for [`PATIENCE`] generations, or whose steps
//! have become small, begins again at the best path from which none has begun.

use crate::{
    arena::{Arena, Pair},
    cma::Cma,
    path::Path,
    space::Space,
};
use cwnd_scenario::{Purpose, Stream};

/// Paths of a round.
pub const ROUND: usize = ISLANDS * POPULATION + RANDOM + NEIGHBOURS;
const RANDOM_ROUNDS: usize = 8;
const ISLANDS: usize = 3;
const POPULATION: usize = 16;
const RANDOM: usize = 6;
const NEIGHBOURS: usize = 10;
/// How many of the best paths have neighbours.
const PARENTS: usize = 8;
const PATIENCE: u32 = 20;
/// Steps in genes, at first and at the end.
const FIRST_STEP: f64 = 0.2;
const LAST_STEP: f64 = 0.01;
/// What a component costs, in units of the effect: of two paths that are about as bad, the simpler one is better.
const COMPONENT: f64 = 0.004;
/// The score of a path without values.
const NOTHING: f64 = -2.0;
/// How many of the best paths of a round, and of the best at the end, are confirmed with more seeds.
const CONFIRMED: usize = 4;
const FINALISTS: usize = 16;
/// Of two of them, and of two paths that have neighbours: how far they are apart at least, in the mean of a gene.
const APART: f64 = 0.02;

/// What is searched, and how long.
pub struct Plan<'a> {
    /// The paths.
    pub space: &'a Space,
    /// How many of them are evaluated.
    pub evaluations: usize,
    /// On how many threads; the result does not depend on it.
    pub threads: usize,
}

/// How far a search has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Paths that were evaluated.
    pub evaluations: usize,
    /// The values on the worst path so far.
    pub worst: Option<Pair>,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Found {
    /// How many paths were evaluated.
    pub evaluations: usize,
    /// On how many of them both algorithms had a value.
    pub measured: usize,
    /// The worst path, and its values with [`SEEDS`](crate::SEEDS) seeds; none if no path had values.
    pub worst: Option<(Path, Pair)>,
}

/// Searches until all evaluations are done, or `progress`, which is called after each round, returns false.
pub fn search(arena: &Arena<'_>, plan: &Plan<'_>, progress: &mut dyn FnMut(Progress) -> bool) -> Found {
    let mut state = State { space: plan.space, islands: Vec::new(), best: Vec::new() };
    let (mut done, mut round, mut measured) = (0, 0, 0);
    while done < plan.evaluations {
        // What no path has had so far, none will.
        if round == RANDOM_ROUNDS && measured == 0 {
            break;
        }
        let mut stream = Stream::new(arena.seed, Purpose::Episode, round as u64);
        let mut genes =
            if round < RANDOM_ROUNDS { state.random(&mut stream, ROUND) } else { state.ask(&mut stream) };
        genes.truncate(plan.evaluations - done);
        let paths: Vec<Path> = genes.iter().map(|genes| plan.space.path(genes)).collect();
        let pairs = arena.on_all(&paths, plan.threads, |path| arena.evaluate(path));
        measured += pairs.iter().flatten().count();
        let mut tried: Vec<Tried> = (genes.into_iter().zip(paths).zip(pairs))
            .map(|((genes, path), pair)| Tried {
                score: score(&path, pair),
                genes,
                path,
                pair,
                is_used: false,
            })
            .collect();
        done += tried.len();
        state.confirm(arena, plan.threads, &mut tried);
        round += 1;
        state.take(tried, round > RANDOM_ROUNDS);
        let worst = state.best.first().and_then(|tried| tried.pair);
        if !progress(Progress { evaluations: done, worst }) {
            break;
        }
    }
    Found { evaluations: done, measured, worst: state.worst(arena, plan.threads) }
}

/// A path that was evaluated.
#[derive(Clone)]
struct Tried {
    score: f64,
    genes: Vec<f64>,
    path: Path,
    pair: Option<Pair>,
    /// Whether an island has begun at it.
    is_used: bool,
}

struct Island {
    cma: Cma,
    /// The best score, and for how many generations it has stayed.
    best: f64,
    since: u32,
}

struct State<'a> {
    space: &'a Space,
    islands: Vec<Island>,
    /// The best paths so far, the best first.
    best: Vec<Tried>,
}

/// How many of the best paths are remembered.
const REMEMBERED: usize = 256;

impl State<'_> {
    fn random(&self, stream: &mut Stream, paths: usize) -> Vec<Vec<f64>> {
        let one = |_| (0..self.space.genes()).map(|_| stream.uniform()).collect();
        (0..paths).map(one).collect()
    }

    /// Returns a generation of each island, and paths at random.
    fn ask(&mut self, stream: &mut Stream) -> Vec<Vec<f64>> {
        let ended = |island: &Island| island.since >= PATIENCE || island.cma.sigma() < LAST_STEP;
        self.islands.retain(|island| !ended(island));
        while self.islands.len() < ISLANDS {
            let cma = Cma::new(self.start(stream), FIRST_STEP, POPULATION);
            self.islands.push(Island { cma, best: f64::NEG_INFINITY, since: 0 });
        }
        let mut all: Vec<Vec<f64>> =
            self.islands.iter_mut().flat_map(|island| island.cma.ask(stream)).collect();
        all.extend(self.random(stream, RANDOM));
        let parents = self.different(PARENTS);
        all.extend((0..NEIGHBOURS).map(|_| neighbour(&parents, stream)));
        all
    }

    /// Returns the best paths, of which no two are alike.
    fn different(&self, most: usize) -> Vec<&Tried> {
        let mut different: Vec<&Tried> = Vec::new();
        for tried in &self.best {
            if different.len() == most {
                break;
            }
            if different.iter().all(|other| distance(&other.genes, &tried.genes) > APART) {
                different.push(tried);
            }
        }
        different
    }

    /// Returns where an island begins: at the best path that differs from all where one has begun.
    fn start(&mut self, stream: &mut Stream) -> Vec<f64> {
        /// Of two paths that are different, in the mean of a gene.
        const DISTANCE: f64 = 0.15;
        let used: Vec<Vec<f64>> =
            self.best.iter().filter(|tried| tried.is_used).map(|tried| tried.genes.clone()).collect();
        let far = |genes: &[f64]| used.iter().all(|other| distance(genes, other) > DISTANCE);
        match self.best.iter_mut().find(|tried| !tried.is_used && far(&tried.genes)) {
            Some(tried) => {
                tried.is_used = true;
                tried.genes.clone()
            }
            None => (0..self.space.genes()).map(|_| stream.uniform()).collect(),
        }
    }

    /// Gives those of new paths that would be among the best the values with more seeds: on many paths an algorithm does badly with one
    /// seed only, and a search that follows these finds nothing else.
    fn confirm(&self, arena: &Arena<'_>, threads: usize, tried: &mut [Tried]) {
        let least = self.best.get(PARENTS).map_or(f64::NEG_INFINITY, |tried| tried.score);
        let mut order: Vec<usize> = (0..tried.len()).filter(|one| tried[*one].score > least).collect();
        order.sort_by(|a, b| tried[*b].score.total_cmp(&tried[*a].score));
        order.truncate(CONFIRMED);
        let paths: Vec<Path> = order.iter().map(|one| tried[*one].path.clone()).collect();
        let pairs = arena.on_all(&paths, threads, |path| arena.confirm(path));
        for (one, pair) in order.into_iter().zip(pairs) {
            tried[one].score = score(&tried[one].path, pair);
            tried[one].pair = pair;
        }
    }

    /// Updates the islands and the best paths with what a round gave.
    fn take(&mut self, tried: Vec<Tried>, of_islands: bool) {
        if of_islands && tried.len() == ROUND {
            for (island, tried) in self.islands.iter_mut().zip(tried.chunks(POPULATION)) {
                let costs: Vec<f64> = tried.iter().map(|one| outside(&one.genes) - one.score).collect();
                island.cma.tell(&costs);
                let best = tried.iter().map(|one| one.score).fold(f64::NEG_INFINITY, f64::max);
                let better = best > island.best + 1e-3;
                island.since = if better { 0 } else { island.since + 1 };
                island.best = island.best.max(best);
            }
        }
        self.best.extend(tried);
        // The sort is stable: of equal scores the earlier path comes first.
        self.best.sort_by(|a, b| b.score.total_cmp(&a.score));
        self.best.dedup_by(|a, b| a.path == b.path && !a.is_used);
        let mut kept = 0;
        self.best.retain(|tried| {
            kept += 1;
            kept <= REMEMBERED || tried.is_used
        });
    }

    /// Confirms the best paths with more seeds, and returns the worst for the algorithm.
    fn worst(&self, arena: &Arena<'_>, threads: usize) -> Option<(Path, Pair)> {
        let finalists: Vec<Path> =
            self.different(FINALISTS).into_iter().map(|tried| tried.path.clone()).collect();
        let pairs = arena.on_all(&finalists, threads, |path| arena.confirm(path));
        let mut worst: Option<(Path, Pair)> = None;
        for (path, pair) in finalists.into_iter().zip(pairs) {
            let Some(pair) = pair else { continue };
            if worst.as_ref().is_none_or(|(_, worst)| pair.effect > worst.effect) {
                worst = Some((path, pair));
            }
        }
        worst
    }
}

/// Returns genes of which on average one and a half differ from those of one of these paths, by any size of step.
fn neighbour(parents: &[&Tried], stream: &mut Stream) -> Vec<f64> {
    let index = (stream.uniform() * parents.len() as f64) as usize;
    let mut genes = parents[index.min(parents.len() - 1)].genes.clone();
    let share = 1.5 / genes.len() as f64;
    for gene in &mut genes {
        if stream.uniform() < share {
            let step = libm::pow(10.0, -3.0 * stream.uniform());
            let sign = if stream.uniform() < 0.5 { -1.0 } else { 1.0 };
            // Any other value as well: a component is there or not.
            *gene =
                if stream.uniform() < 0.3 { stream.uniform() } else { (*gene + sign * step).clamp(0.0, 1.0) };
        }
    }
    genes
}

/// Returns the mean difference of a gene.
fn distance(some: &[f64], others: &[f64]) -> f64 {
    some.iter().zip(others).map(|(a, b)| (a - b).abs()).sum::<f64>() / some.len() as f64
}

fn score(path: &Path, pair: Option<Pair>) -> f64 {
    pair.map_or(NOTHING, |pair| pair.effect) - COMPONENT * path.components.len() as f64
}

/// Returns a penalty for genes outside of 0 to 1, so that the search returns.
fn outside(genes: &[f64]) -> f64 {
    genes.iter().map(|gene| gene - gene.clamp(0.0, 1.0)).map(|over| over * over).sum()
}
