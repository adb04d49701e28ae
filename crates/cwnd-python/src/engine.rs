//! The simulator with the classes of a Python program.

use crate::algorithm::{AlgorithmClass, Class};
use crate::lock;
use crate::raised::caught;
use cwnd_cc::CongestionControl;
use cwnd_gym::policy;
use cwnd_scenario::{
    AlgorithmSpec, Cost, Engine, EngineError, Helpers, Identity, Outcome, Problem, Scenario,
};
use cwnd_sim::{Options, Simulator, check_with, run_with_options};
use pyo3::{exceptions::PyKeyboardInterrupt, prelude::*};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
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
    /// The threads that run classes now, as `threading.get_ident` numbers them.
    threads: Mutex<Vec<u64>>,
}

/// How long runs may take to end after their classes were interrupted.
const PATIENCE: Duration = Duration::from_secs(2);

impl PythonEngine {
    /// Creates the simulator.
    pub fn new(classes: Classes) -> PythonEngine {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        PythonEngine::of_version(classes, format!("unknown:{now}.{}.{count}", std::process::id()))
    }

    /// Creates the simulator with this version of classes without a known source.
    pub fn of_version(classes: Classes, unknown: String) -> PythonEngine {
        PythonEngine { classes, unknown, threads: Mutex::default() }
    }

    /// Ends a call that ran this engine: returns what a class raised, and [interrupts](PythonEngine::interrupt) what was left behind.
    pub fn end(&self, py: Python<'_>) -> Option<PyErr> {
        let raised = self.classes.take_raised();
        self.interrupt(py);
        raised
    }

    /// Raises `KeyboardInterrupt` in classes whose runs were left behind in the middle of an event, such as an endless loop, and waits for
    /// them to end. A thread that continues while the interpreter ends would abort the program. Without `ctypes` they continue.
    fn interrupt(&self, py: Python<'_>) {
        let (begin, mut interrupted) = (Instant::now(), Vec::new());
        loop {
            let threads = lock(&self.threads).clone();
            if threads.is_empty() || begin.elapsed() >= PATIENCE {
                return;
            }
            for thread in
                threads.into_iter().filter(|thread| !interrupted.contains(thread)).collect::<Vec<_>>()
            {
                if interrupt(py, thread).is_err() {
                    return;
                }
                interrupted.push(thread);
            }
            py.detach(|| thread::sleep(Duration::from_millis(1)));
        }
    }

    /// Runs what calls classes, on a thread that [`PythonEngine::interrupt`] knows meanwhile.
    fn known<T: Send>(&self, py: Python<'_>, run: impl FnOnce() -> T + Send) -> PyResult<T> {
        let this: u64 = py.import("threading")?.call_method0("get_ident")?.extract()?;
        lock(&self.threads).push(this);
        // What it raises otherwise is caught in the run.
        let done = py.detach(run);
        lock(&self.threads).retain(|thread| *thread != this);
        Ok(done)
    }
}

fn interrupt(py: Python<'_>, thread: u64) -> PyResult<()> {
    let ctypes = py.import("ctypes")?;
    let number = ctypes.getattr("c_ulong")?.call1((thread,))?;
    let exception = ctypes.getattr("py_object")?.call1((py.get_type::<PyKeyboardInterrupt>(),))?;
    ctypes.getattr("pythonapi")?.call_method1("PyThreadState_SetAsyncExc", (number, exception)).map(drop)
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
        Python::attach(|py| self.known(py, || caught(run)))
            .map_err(|error| EngineError::Failed(error.to_string()))??
    }
}
