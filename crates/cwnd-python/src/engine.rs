//! The simulator with the classes of a Python program.

use crate::algorithm::{AlgorithmClass, Class};
use crate::raised::caught;
use cwnd_cc::CongestionControl;
use cwnd_gym::policy;
use cwnd_scenario::{
    AlgorithmSpec, Cost, Engine, EngineError, Helpers, Identity, Outcome, Problem, Scenario,
};
use cwnd_sim::{Options, Simulator, check_with, run_with_options};
use pyo3::prelude::*;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

/// The classes that a study or a simulation may name.
#[derive(Clone, Default)]
pub struct Classes(pub Vec<Arc<Class>>);

impl Classes {
    /// Collects them from Python, for a call that has nothing to do with what they raised in one before.
    pub fn new(classes: &[Py<AlgorithmClass>]) -> Classes {
        let classes = Classes(classes.iter().map(|class| Arc::clone(&class.get().0)).collect());
        classes.0.iter().for_each(|class| drop(class.take_raised()));
        classes
    }

    /// Creates the algorithm of a flow: a class, a trained policy, or a registered algorithm.
    ///
    /// # Errors
    /// There is no such algorithm, or the class raised an exception.
    pub fn build(&self, spec: &AlgorithmSpec) -> Result<Box<dyn CongestionControl>, String> {
        self.build_with(spec, &Helpers::default())
    }

    /// Does the same for a run with these helpers.
    fn build_with(
        &self,
        spec: &AlgorithmSpec,
        helpers: &Helpers,
    ) -> Result<Box<dyn CongestionControl>, String> {
        match self.find(&spec.name) {
            Some(class) => class.build(spec, helpers),
            None => policy::factory(spec),
        }
    }

    fn find(&self, name: &str) -> Option<&Arc<Class>> {
        self.0.iter().find(|class| class.name == name)
    }

    /// Takes what the first class that failed raised.
    pub fn take_raised(&self) -> Option<PyErr> {
        self.0.iter().find_map(|class| class.take_raised())
    }
}

/// The simulator with these classes.
pub struct PythonEngine {
    /// The classes.
    pub classes: Classes,
    /// Version of classes without a known source: another for each engine, so that no run of theirs is taken for one of before.
    pub unknown: String,
}

impl PythonEngine {
    /// Creates the simulator.
    pub fn new(classes: Classes) -> PythonEngine {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        PythonEngine { classes, unknown: format!("unknown:{now}.{}.{count}", std::process::id()) }
    }
}

impl Engine for PythonEngine {
    fn check(&self, scenario: &Scenario) -> Result<Cost, Vec<Problem>> {
        check_with(scenario, &|spec| self.classes.build(spec))
    }

    fn identity(&self, scenario: &Scenario) -> Identity {
        let mut identity = Simulator.identity(scenario);
        policy::identify(scenario, &mut identity);
        for class in scenario.flows.iter().filter_map(|flow| self.classes.find(&flow.algorithm.name)) {
            let digest = class.digest.as_ref().map(|digest| format!("sha256:{digest}"));
            let version = digest.unwrap_or_else(|| self.unknown.clone());
            identity.versions.insert(class.name.clone(), version);
        }
        identity
    }

    fn run(&self, scenario: &Scenario) -> Result<Outcome, EngineError> {
        self.run_with_helpers(scenario, &Helpers::default())
    }

    fn run_with_helpers(&self, scenario: &Scenario, helpers: &Helpers) -> Result<Outcome, EngineError> {
        let calls_python =
            scenario.flows.iter().any(|flow| self.classes.find(&flow.algorithm.name).is_some());
        // Threads would wait for each other at each call of Python.
        let helpers = if calls_python { helpers.without_threads() } else { helpers.clone() };
        let options = Options { helpers: helpers.clone(), ..Options::default() };
        let run = || run_with_options(scenario, &|spec| self.classes.build_with(spec, &helpers), &options);
        if !calls_python {
            return run();
        }
        // Python makes the state of a thread at its first call and drops it at the last end of one: this call lasts as long as the
        // run, so that those for its ACKs find the state there.
        Python::attach(|py| py.detach(|| caught(run)))?
    }
}
