//! Many environments, stepped together.

use crate::pool::Pool;
use crate::{Env, EnvConfig, GymError, StepInfo};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// When an environment whose episode has ended begins the next one, as Gymnasium 1.1 defines it
/// (`gymnasium.vector.AutoresetMode`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Autoreset {
    /// In the next step, which ignores the environment's action, has a reward of 0, and returns the first observation.
    #[default]
    NextStep,
    /// In the same step, which returns the first observation of the new episode; the last one is in
    /// [`Batch::final_observations`].
    SameStep,
    /// Never: the caller resets it, with a mask.
    Disabled,
}

/// What a reset or a step returns, with one entry for each environment. The buffers are allocated once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Observations, one environment after the other.
    pub observations: Vec<f32>,
    /// Rewards of the step.
    pub rewards: Vec<f64>,
    /// Episodes that have ended because the flow has delivered all its data.
    pub terminated: Vec<bool>,
    /// Episodes that have ended because of their length.
    pub truncated: Vec<bool>,
    /// What happened in the interval; after a reset, only time and seed.
    pub info: InfoColumns,
    /// Environments that [`Autoreset::SameStep`] has reset in this step. The fields below are valid for these.
    pub has_final: Vec<bool>,
    /// Last observations of their episodes.
    pub final_observations: Vec<f32>,
    /// What happened in the last intervals of their episodes.
    pub final_info: InfoColumns,
}

/// [`StepInfo`] by columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InfoColumns {
    /// [`StepInfo::throughput_bps`].
    pub throughput_bps: Vec<f64>,
    /// [`StepInfo::send_rate_bps`].
    pub send_rate_bps: Vec<f64>,
    /// [`StepInfo::rtt_s`].
    pub rtt_s: Vec<f64>,
    /// [`StepInfo::loss_ratio`].
    pub loss_ratio: Vec<f64>,
    /// [`StepInfo::cwnd`].
    pub cwnd: Vec<f64>,
    /// [`StepInfo::duration_s`].
    pub duration_s: Vec<f64>,
    /// [`StepInfo::time_s`].
    pub time_s: Vec<f64>,
    /// [`StepInfo::seed`].
    pub seed: Vec<u64>,
}

/// Environments that are stepped together, by a pool of threads that lives as long as they do.
///
/// Each environment has seeds of its own, so the results do not depend on the number of threads.
///
/// ```
/// use cwnd_gym::{Autoreset, EnvConfig, VectorEnv};
///
/// let mut envs = VectorEnv::new(EnvConfig::aurora(), 8, Autoreset::NextStep, 2)?;
/// envs.reset(Some(&[0, 1, 2, 3, 4, 5, 6, 7]), None)?;
/// let batch = envs.step(&[0.0; 8])?;
/// assert_eq!(batch.observations.len(), 8 * 30);
/// assert!(batch.info.throughput_bps.iter().all(|bps| *bps > 0.0));
/// # Ok::<(), cwnd_gym::GymError>(())
/// ```
pub struct VectorEnv {
    config: Arc<EnvConfig>,
    autoreset: Autoreset,
    pool: Pool<Part>,
    batch: Batch,
    /// Environments that have an episode, or get one by the next step.
    has_begun: Vec<bool>,
    is_over: Vec<bool>,
}

/// The most environments.
const MOST: usize = 1 << 20;
/// The most threads.
const MOST_THREADS: usize = 1024;
/// How many parts each thread has in the mean: intervals differ in packets.
const PARTS_A_THREAD: usize = 4;

impl VectorEnv {
    /// Creates `environments` environments and `threads` threads, the caller's included; 0 for as many threads as there are
    /// cores. Until it is given a seed, environment i has seed i.
    ///
    /// # Errors
    /// See [`Env::new`]. The numbers of environments or threads are out of range, or a thread cannot be created.
    pub fn new(
        config: EnvConfig,
        environments: usize,
        autoreset: Autoreset,
        threads: usize,
    ) -> Result<VectorEnv, GymError> {
        if !(1..=MOST).contains(&environments) {
            let message = format!("is {environments}; it must be 1 to {MOST}");
            return Err(GymError::config("environments", message));
        }
        if threads > MOST_THREADS {
            let message = format!("is {threads}; it must be at most {MOST_THREADS}, or 0 for one a core");
            return Err(GymError::config("threads", message));
        }
        let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let threads = if threads == 0 { cores() } else { threads }.min(environments);
        let config = Env::new(config)?.shared_config();
        let count = if threads == 1 { 1 } else { environments.min(PARTS_A_THREAD * threads) };
        let part = |index: usize| {
            let range = index * environments / count..(index + 1) * environments / count;
            Part::new(&config, range.start, range.len(), autoreset)
        };
        let pool = Pool::new((0..count).map(part).collect(), threads, Part::work)
            .map_err(|error| GymError::config("threads", error.to_string()))?;
        Ok(VectorEnv {
            autoreset,
            pool,
            batch: Batch::new(environments, config.observation_length()),
            has_begun: vec![false; environments],
            is_over: vec![false; environments],
            config,
        })
    }

    /// Returns the number of environments.
    #[allow(clippy::len_without_is_empty)] // there is always one
    pub fn len(&self) -> usize {
        self.has_begun.len()
    }

    /// Returns the configuration.
    pub fn config(&self) -> &EnvConfig {
        &self.config
    }

    /// Returns when environments begin their next episode.
    pub fn autoreset(&self) -> Autoreset {
        self.autoreset
    }

    /// Returns what the last reset or step has returned.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// Begins an episode in each environment, or in those of a mask: with seeds the first under these, without the next one.
    /// Entries of other environments keep their values.
    ///
    /// # Errors
    /// An array has another length than there are environments, or the simulator refuses a scenario.
    pub fn reset(&mut self, seeds: Option<&[u64]>, mask: Option<&[bool]>) -> Result<&Batch, GymError> {
        self.check_length("seeds", seeds.map_or(self.len(), <[u64]>::len))?;
        self.check_length("the mask", mask.map_or(self.len(), <[bool]>::len))?;
        let is_meant = |index: usize| mask.is_none_or(|mask| mask[index]);
        self.run(|index, cell| {
            cell.task =
                if is_meant(index) { Task::Reset(seeds.map(|seeds| seeds[index])) } else { Task::Nothing };
        })
    }

    /// Applies one action in each environment and runs one interval.
    ///
    /// # Errors
    /// There is not one action for each environment, or one is outside of its space; an environment has never been reset; with
    /// [`Autoreset::Disabled`], an episode has ended. No environment is stepped then.
    pub fn step(&mut self, actions: &[f32]) -> Result<&Batch, GymError> {
        self.check_length("actions", actions.len())?;
        let refuse = |index: usize, rule: &str| {
            let message = format!("environment {index} {rule}");
            Err(GymError::Call(message))
        };
        if let Some(index) = self.has_begun.iter().position(|has_begun| !has_begun) {
            return refuse(index, "has no episode: call `reset` first");
        }
        let ended = self.is_over.iter().position(|is_over| *is_over);
        if let Some(index) = ended.filter(|_| self.autoreset == Autoreset::Disabled) {
            return refuse(index, "has ended its episode: call `reset` with a mask");
        }
        for (environment, action) in actions.iter().enumerate() {
            // Whoever steps does not know an action for an environment that only begins.
            if !self.is_over[environment] {
                let checked = self.config.action.check_value(*action);
                checked.map_err(|message| GymError::Action { environment, message })?;
            }
        }
        let is_over = std::mem::take(&mut self.is_over);
        let result = self
            .run(|index, cell| {
                cell.task = if is_over[index] { Task::Reset(None) } else { Task::Step(actions[index]) };
            })
            .map(|_| ());
        if result.is_err() {
            self.is_over = is_over;
        }
        result.map(|()| &self.batch)
    }

    fn check_length(&self, what: &str, length: usize) -> Result<(), GymError> {
        if length == self.len() {
            return Ok(());
        }
        let rule =
            format!("{what}: there are {length}; there must be {}, one for each environment", self.len());
        Err(GymError::Call(rule))
    }

    /// Gives each environment a task, lets the threads do them, and collects the results.
    fn run(&mut self, mut assign: impl FnMut(usize, &mut Cell)) -> Result<&Batch, GymError> {
        for index in 0..self.pool.parts() {
            let mut part = self.pool.part(index);
            let first = part.first;
            part.cells.iter_mut().enumerate().for_each(|(i, cell)| assign(first + i, cell));
        }
        self.pool.run();
        self.is_over.resize(self.has_begun.len(), false);
        let mut error = None;
        for index in 0..self.pool.parts() {
            let mut part = self.pool.part(index);
            let first = part.first;
            self.batch.take(first, &part.batch);
            for (i, cell) in part.cells.iter_mut().enumerate() {
                self.has_begun[first + i] |= matches!(cell.task, Task::Reset(_));
                self.is_over[first + i] = self.has_begun[first + i] && !cell.env.is_running();
                if error.is_none() {
                    error = cell.error.take();
                }
            }
        }
        match error {
            Some(error) => Err(error),
            None => Ok(&self.batch),
        }
    }
}

/// Some of the environments, with buffers of their own.
struct Part {
    first: usize,
    autoreset: Autoreset,
    cells: Vec<Cell>,
    batch: Batch,
}

struct Cell {
    env: Env,
    task: Task,
    error: Option<GymError>,
}

#[derive(Clone, Copy)]
enum Task {
    Nothing,
    Reset(Option<u64>),
    Step(f32),
}

impl Part {
    fn new(config: &Arc<EnvConfig>, first: usize, count: usize, autoreset: Autoreset) -> Part {
        let cell = |index: usize| {
            let env = Env::of_checked(Arc::clone(config), index as u64);
            Cell { env, task: Task::Nothing, error: None }
        };
        Part {
            first,
            autoreset,
            cells: (first..first + count).map(cell).collect(),
            batch: Batch::new(count, config.observation_length()),
        }
    }

    fn work(&mut self) {
        for (index, cell) in self.cells.iter_mut().enumerate() {
            let result = match cell.task {
                Task::Nothing => Ok(()),
                Task::Reset(seed) => reset(&mut cell.env, seed, index, &mut self.batch),
                Task::Step(action) => {
                    step(&mut cell.env, action, self.autoreset == Autoreset::SameStep, index, &mut self.batch)
                }
            };
            cell.error = result.err();
        }
    }
}

fn reset(env: &mut Env, seed: Option<u64>, index: usize, batch: &mut Batch) -> Result<(), GymError> {
    let info = env.reset(seed)?;
    batch.rewards[index] = 0.0;
    (batch.terminated[index], batch.truncated[index], batch.has_final[index]) = (false, false, false);
    batch.info.set(index, &info);
    row(&mut batch.observations, index, env.observation());
    Ok(())
}

fn step(env: &mut Env, action: f32, resets: bool, index: usize, batch: &mut Batch) -> Result<(), GymError> {
    let step = env.step(action)?;
    batch.rewards[index] = step.reward;
    (batch.terminated[index], batch.truncated[index]) = (step.terminated, step.truncated);
    let has_final = resets && (step.terminated || step.truncated);
    batch.has_final[index] = has_final;
    if has_final {
        row(&mut batch.final_observations, index, env.observation());
        batch.final_info.set(index, &step.info);
        batch.info.set(index, &env.reset(None)?);
    } else {
        batch.info.set(index, &step.info);
    }
    row(&mut batch.observations, index, env.observation());
    Ok(())
}

fn row(values: &mut [f32], index: usize, row: &[f32]) {
    values[index * row.len()..][..row.len()].copy_from_slice(row);
}

impl Batch {
    fn new(environments: usize, observation_length: usize) -> Batch {
        let observations = vec![0.0; environments * observation_length];
        let (rewards, flags) = (vec![0.0; environments], vec![false; environments]);
        let info = InfoColumns::new(environments);
        Batch {
            final_observations: observations.clone(),
            observations,
            rewards,
            terminated: flags.clone(),
            truncated: flags.clone(),
            has_final: flags,
            final_info: info.clone(),
            info,
        }
    }

    /// Copies the entries of a part, whose first environment has this number.
    fn take(&mut self, first: usize, part: &Batch) {
        let width = part.observations.len() / part.rewards.len().max(1);
        copy(&mut self.observations, first * width, &part.observations);
        copy(&mut self.rewards, first, &part.rewards);
        copy(&mut self.terminated, first, &part.terminated);
        copy(&mut self.truncated, first, &part.truncated);
        self.info.take(first, &part.info);
        copy(&mut self.has_final, first, &part.has_final);
        if part.has_final.contains(&true) {
            copy(&mut self.final_observations, first * width, &part.final_observations);
            self.final_info.take(first, &part.final_info);
        }
    }
}

fn copy<T: Copy>(to: &mut [T], first: usize, from: &[T]) {
    to[first..first + from.len()].copy_from_slice(from);
}

impl InfoColumns {
    fn new(environments: usize) -> InfoColumns {
        let column = vec![0.0; environments];
        InfoColumns {
            throughput_bps: column.clone(),
            send_rate_bps: column.clone(),
            rtt_s: column.clone(),
            loss_ratio: column.clone(),
            cwnd: column.clone(),
            duration_s: column.clone(),
            time_s: column,
            seed: vec![0; environments],
        }
    }

    fn set(&mut self, index: usize, info: &StepInfo) {
        self.throughput_bps[index] = info.throughput_bps;
        self.send_rate_bps[index] = info.send_rate_bps;
        self.rtt_s[index] = info.rtt_s;
        self.loss_ratio[index] = info.loss_ratio;
        self.cwnd[index] = info.cwnd;
        self.duration_s[index] = info.duration_s;
        self.time_s[index] = info.time_s;
        self.seed[index] = info.seed;
    }

    fn take(&mut self, first: usize, part: &InfoColumns) {
        copy(&mut self.throughput_bps, first, &part.throughput_bps);
        copy(&mut self.send_rate_bps, first, &part.send_rate_bps);
        copy(&mut self.rtt_s, first, &part.rtt_s);
        copy(&mut self.loss_ratio, first, &part.loss_ratio);
        copy(&mut self.cwnd, first, &part.cwnd);
        copy(&mut self.duration_s, first, &part.duration_s);
        copy(&mut self.time_s, first, &part.time_s);
        copy(&mut self.seed, first, &part.seed);
    }
}
