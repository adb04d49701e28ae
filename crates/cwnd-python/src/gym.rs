//! Learning environments: the native half of `cwnd.gym`.
//!
//! A step runs without the interpreter's lock. Its results are copied once, from the buffers of `cwnd_gym` into new arrays of NumPy, so
//! that what an earlier step returned stays as it was.

use crate::errors::{CwndError, InputError};
use crate::study::Study;
use cwnd_gym::{
    ActionSpace, Autoreset, Batch, EnvConfig, GymError, InfoColumns, Source, StepInfo, policy::Policy,
};
use cwnd_scenario::{AlgorithmSpec, Time};
use cwnd_study::Named;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Mutex;

/// Returns a preset's configuration ("aurora" or "orca") as JSON; None if there is no such preset.
#[pyfunction]
pub fn gym_preset(name: &str) -> Option<String> {
    match name {
        "aurora" => Some(EnvConfig::aurora().to_json()),
        "orca" => Some(EnvConfig::orca().to_json()),
        _ => None,
    }
}

/// Returns a time, such as "20 ms", in nanoseconds.
#[pyfunction]
pub fn gym_time(text: &str) -> PyResult<u64> {
    text.parse().map(|time: Time| time.0).map_err(|error| InputError::new_err(error.to_string()))
}

/// Returns an algorithm with its parameters, such as "cubic" or "agile-sd:lambda_max=4", as JSON.
#[pyfunction]
pub fn gym_algorithm(text: &str) -> PyResult<String> {
    let spec: AlgorithmSpec = text.parse().map_err(|error| InputError::new_err(format!("{error}")))?;
    cwnd::embedding::check_name(Named::Algorithm(&spec)).map_err(InputError::new_err)?;
    serde_json::to_string(&spec).map_err(|error| InputError::new_err(error.to_string()))
}

/// What an environment is, read from JSON; with a study, episodes are drawn from its cells.
#[pyclass(frozen, module = "cwnd._cwnd")]
pub struct GymConfig(EnvConfig);

#[pymethods]
impl GymConfig {
    #[new]
    fn new(json: &str, study: Option<&Study>) -> PyResult<GymConfig> {
        let mut config = EnvConfig::from_json(json).map_err(refused)?;
        // Before anything of its size is allocated.
        config.check().map_err(refused)?;
        if let Some(study) = study {
            let cells = 0..study.cells();
            config.source = Source::Scenarios(cells.map(|cell| study.scenario_of(cell)).collect());
        }
        Ok(GymConfig(config))
    }

    /// The least and the greatest value of each number of an observation.
    #[getter]
    fn bounds<'py>(&self, py: Python<'py>) -> (Numbers<'py>, Numbers<'py>) {
        let (low, high) = self.0.observation_bounds();
        (PyArray1::from_vec(py, low), PyArray1::from_vec(py, high))
    }

    /// The least and the greatest action.
    #[getter]
    fn action_bounds(&self) -> Option<(f32, f32)> {
        match self.0.action_space() {
            ActionSpace::Box { low, high } => Some((low, high)),
            ActionSpace::Discrete(_) => None,
        }
    }

    /// How many actions there are to choose from.
    #[getter]
    fn choices(&self) -> Option<usize> {
        match self.0.action_space() {
            ActionSpace::Box { .. } => None,
            ActionSpace::Discrete(count) => Some(count),
        }
    }
}

type Numbers<'py> = Bound<'py, PyArray1<f32>>;
type Reals<'py> = Bound<'py, PyArray1<f64>>;
type Flags<'py> = Bound<'py, PyArray1<bool>>;
type Rows<'py> = Bound<'py, PyArray2<f32>>;
/// The fields of `StepInfo`, in its order.
type Info<'py> = ([Reals<'py>; 7], Bound<'py, PyArray1<u64>>);
/// Which environments have ended an episode in the step and begun the next, their last observations, and what happened in their last
/// intervals.
type Final<'py> = (Flags<'py>, Rows<'py>, Info<'py>);
type VectorStep<'py> = (Rows<'py>, Reals<'py>, Flags<'py>, Flags<'py>, Info<'py>, Option<Final<'py>>);

/// Environments that are stepped together.
#[pyclass(frozen, module = "cwnd._cwnd")]
pub struct GymVector {
    envs: Mutex<cwnd_gym::VectorEnv>,
    width: usize,
}

#[pymethods]
impl GymVector {
    #[new]
    fn new(
        py: Python<'_>,
        config: &GymConfig,
        environments: usize,
        autoreset: &str,
        threads: usize,
    ) -> PyResult<GymVector> {
        let autoreset = match autoreset {
            "next-step" => Autoreset::NextStep,
            "same-step" => Autoreset::SameStep,
            "disabled" => Autoreset::Disabled,
            other => {
                let message = format!("there is no autoreset `{other}`: next-step, same-step, disabled");
                return Err(InputError::new_err(message));
            }
        };
        let (config, width) = (config.0.clone(), config.0.observation_length());
        let envs = py.detach(|| cwnd_gym::VectorEnv::new(config, environments, autoreset, threads));
        Ok(GymVector { envs: Mutex::new(envs.map_err(refused)?), width })
    }

    /// Begins an episode in each environment, or in those of a mask.
    fn reset<'py>(
        &self,
        py: Python<'py>,
        seeds: Option<Vec<u64>>,
        mask: Option<Vec<bool>>,
    ) -> PyResult<(Rows<'py>, Info<'py>)> {
        py.detach(|| self.with(|envs| envs.reset(seeds.as_deref(), mask.as_deref()).map(drop)))?;
        self.read(|batch| Ok((rows(py, &batch.observations, self.width)?, info(py, &batch.info))))
    }

    /// Steps each environment.
    fn step<'py>(&self, py: Python<'py>, actions: PyReadonlyArray1<'py, f32>) -> PyResult<VectorStep<'py>> {
        // An array with gaps is copied; others are as long as a batch is small.
        let actions = actions.as_array().to_vec();
        py.detach(|| self.with(|envs| envs.step(&actions).map(drop)))?;
        self.read(|batch| {
            let ended = if batch.has_final.contains(&true) {
                let mask = PyArray1::from_slice(py, &batch.has_final);
                let last = rows(py, &batch.final_observations, self.width)?;
                Some((mask, last, info(py, &batch.final_info)))
            } else {
                None
            };
            Ok((
                rows(py, &batch.observations, self.width)?,
                PyArray1::from_slice(py, &batch.rewards),
                PyArray1::from_slice(py, &batch.terminated),
                PyArray1::from_slice(py, &batch.truncated),
                info(py, &batch.info),
                ended,
            ))
        })
    }
}

impl GymVector {
    fn with(&self, work: impl FnOnce(&mut cwnd_gym::VectorEnv) -> Result<(), GymError>) -> PyResult<()> {
        let mut envs = self.envs.lock().map_err(|_| broken())?;
        work(&mut envs).map_err(refused)
    }

    fn read<T>(&self, work: impl FnOnce(&Batch) -> PyResult<T>) -> PyResult<T> {
        work(self.envs.lock().map_err(|_| broken())?.batch())
    }
}

fn rows<'py>(py: Python<'py>, values: &[f32], width: usize) -> PyResult<Rows<'py>> {
    PyArray1::from_slice(py, values).reshape([values.len() / width, width])
}

fn info<'py>(py: Python<'py>, columns: &InfoColumns) -> Info<'py> {
    let column = |values: &[f64]| PyArray1::from_slice(py, values);
    let columns_of_reals = [
        column(&columns.throughput_bps),
        column(&columns.send_rate_bps),
        column(&columns.rtt_s),
        column(&columns.loss_ratio),
        column(&columns.cwnd),
        column(&columns.duration_s),
        column(&columns.time_s),
    ];
    (columns_of_reals, PyArray1::from_slice(py, &columns.seed))
}

/// One environment.
#[pyclass(frozen, module = "cwnd._cwnd")]
pub struct GymEnv(Mutex<cwnd_gym::Env>);

type InfoRow = ([f64; 7], u64);

#[pymethods]
impl GymEnv {
    #[new]
    fn new(py: Python<'_>, config: &GymConfig) -> PyResult<GymEnv> {
        let config = config.0.clone();
        let env = py.detach(|| cwnd_gym::Env::new(config)).map_err(refused)?;
        Ok(GymEnv(Mutex::new(env)))
    }

    /// Begins an episode.
    fn reset<'py>(&self, py: Python<'py>, seed: Option<u64>) -> PyResult<(Numbers<'py>, InfoRow)> {
        py.detach(|| {
            let mut env = self.0.lock().map_err(|_| broken())?;
            let info = env.reset(seed).map_err(refused)?;
            Ok((env.observation().to_vec(), row(&info)))
        })
        .map(|(observation, info)| (PyArray1::from_vec(py, observation), info))
    }

    /// Applies an action and runs one interval.
    fn step<'py>(&self, py: Python<'py>, action: f32) -> PyResult<(Numbers<'py>, f64, bool, bool, InfoRow)> {
        let (observation, step) = py.detach(|| {
            let mut env = self.0.lock().map_err(|_| broken())?;
            let step = env.step(action).map_err(refused)?;
            PyResult::Ok((env.observation().to_vec(), step))
        })?;
        let observation = PyArray1::from_vec(py, observation);
        Ok((observation, step.reward, step.terminated, step.truncated, row(&step.info)))
    }
}

fn row(info: &StepInfo) -> InfoRow {
    let numbers = [
        info.throughput_bps,
        info.send_rate_bps,
        info.rtt_s,
        info.loss_ratio,
        info.cwnd,
        info.duration_s,
        info.time_s,
    ];
    (numbers, info.seed)
}

/// A trained policy.
#[pyclass(frozen, module = "cwnd.gym", name = "Policy")]
pub struct GymPolicy(Policy);

#[pymethods]
impl GymPolicy {
    /// Reads a policy from the text of its file.
    #[new]
    fn new(json: &str) -> PyResult<GymPolicy> {
        Policy::from_json(json).map(GymPolicy).map_err(refused)
    }

    /// Reads a policy from a file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<GymPolicy> {
        Policy::read(&path).map(GymPolicy).map_err(refused)
    }

    /// Creates a policy for an environment, from its layers as JSON.
    #[staticmethod]
    fn of(config: &GymConfig, activation: &str, layers: &str) -> PyResult<GymPolicy> {
        let activation = serde_json::from_value(activation.into())
            .map_err(|_| InputError::new_err(format!("there is no activation `{activation}`: tanh, relu")))?;
        let layers =
            serde_json::from_str(layers).map_err(|error| InputError::new_err(format!("layers: {error}")))?;
        Policy::new(&config.0, activation, layers).map(GymPolicy).map_err(refused)
    }

    /// The text of its file.
    fn to_json(&self) -> String {
        self.0.to_json()
    }

    /// Whether actions are numbers of choices.
    #[getter]
    fn is_discrete(&self) -> bool {
        matches!(self.0.action.space(), ActionSpace::Discrete(_))
    }

    /// Returns the actions for observations, one in a row.
    fn act<'py>(&self, py: Python<'py>, observations: PyReadonlyArray2<'py, f32>) -> PyResult<Numbers<'py>> {
        let width = self.0.history * self.0.features.len();
        if observations.shape()[1] != width {
            let found = observations.shape()[1];
            let message = format!("observations have {found} numbers; the policy needs {width}");
            return Err(InputError::new_err(message));
        }
        let observations = observations.as_array();
        let act = |row: numpy::ndarray::ArrayView1<'_, f32>| self.0.act(&row.to_vec());
        Ok(PyArray1::from_vec(py, observations.rows().into_iter().map(act).collect()))
    }
}

/// What is wrong with a configuration, an action, a call or a policy.
fn refused(error: GymError) -> PyErr {
    InputError::new_err(error.to_string())
}

fn broken() -> PyErr {
    CwndError::new_err("the environment has ended, because a step failed")
}
