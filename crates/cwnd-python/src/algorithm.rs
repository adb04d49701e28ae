//! Algorithms that are Python classes.

use crate::errors::InputError;
use crate::events::{PyAck, PyCongestion, PyDupAck, PyInit, PyLostPacket, PyWindow};
use crate::raised::Raised;
use cwnd_cc::{
    Ack, Congestion, CongestionControl, DupAck, EcnMode, Init, LostPacket, Nanos, Needs, Observable,
    Observation, Window,
};
use cwnd_scenario::{AlgorithmSpec, EngineError, Helpers};
use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    types::{PyDict, PyString},
};
use std::{
    panic,
    sync::{Arc, Mutex},
};

/// A class of Python that runs flows, under a name such as `Aimd@python`.
#[pyclass(frozen, module = "cwnd")]
pub struct AlgorithmClass(pub Arc<Class>);

/// What is known of a class.
pub struct Class {
    /// Its name with `@python`.
    pub name: String,
    /// The digest of its source; none if that is not known, and then its runs are never taken for equal.
    pub digest: Option<String>,
    class: Py<PyAny>,
    needs: Needs,
    observables: &'static [Observable],
    /// Which of the methods that need not be there it has.
    has: Optional,
    /// What the first instance that failed raised.
    raised: Mutex<Option<PyErr>>,
}

#[derive(Clone, Copy, Debug)]
struct Optional {
    init: bool,
    recovery_exit: bool,
    undo: bool,
    idle_restart: bool,
    dup_ack: bool,
    packet_lost: bool,
}

#[pymethods]
impl AlgorithmClass {
    /// Describes a class: its name with `@python`, the digest of its source if it is known, the names and units of the attributes
    /// that it shows, and the names of its methods.
    #[new]
    fn new(
        class: Bound<'_, PyAny>,
        name: String,
        digest: Option<String>,
        observables: Vec<(String, String)>,
        methods: Vec<String>,
    ) -> PyResult<AlgorithmClass> {
        let has = |method: &str| methods.iter().any(|one| one == method);
        for needed in ["on_ack", "on_congestion"] {
            if !has(needed) {
                return Err(PyTypeError::new_err(format!("{name} needs a method `{needed}`")));
            }
        }
        let wrong = |attribute: &str, value: &Bound<'_, PyAny>, valid: &str| {
            let class = name.trim_end_matches("@python");
            value.repr().map_or_else(
                |error| error,
                |shown| PyTypeError::new_err(format!("{class}.{attribute} is {shown}; it can be {valid}")),
            )
        };
        let switch = |attribute: &str| {
            let value = class.getattr(attribute)?;
            value.extract::<bool>().map_err(|_| wrong(attribute, &value, "True or False"))
        };
        let ecn = class.getattr("ecn")?;
        let ecn = match ecn.extract::<Option<String>>().ok().as_ref().map(Option::as_deref) {
            Some(None) => None,
            Some(Some("classic")) => Some(EcnMode::Classic),
            Some(Some("exact")) => Some(EcnMode::Exact),
            _ => return Err(wrong("ecn", &ecn, "None, \"classic\" or \"exact\"")),
        };
        let needs = Needs {
            rate_samples: switch("rate_samples")?,
            lost_packets: has("on_packet_lost"),
            pacing: switch("pacing")?,
            owns_recovery: switch("owns_recovery")?,
            ecn,
            ..Needs::default()
        };
        // Names live as long as the process, since those of registered algorithms do; a class has some words of them.
        let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
        let shown =
            observables.into_iter().map(|(name, unit)| Observable::new(leak(name), "", leak(unit), ""));
        let class = Class {
            digest,
            class: class.unbind(),
            needs,
            observables: Box::leak(shown.collect::<Vec<_>>().into_boxed_slice()),
            has: Optional {
                init: has("init"),
                recovery_exit: has("on_recovery_exit"),
                undo: has("on_undo"),
                idle_restart: has("on_idle_restart"),
                dup_ack: has("on_dup_ack"),
                packet_lost: has("on_packet_lost"),
            },
            raised: Mutex::new(None),
            name,
        };
        Ok(AlgorithmClass(Arc::new(class)))
    }

    /// The name by which studies call it.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }
}

impl Class {
    /// Creates the algorithm of a flow. Its parameters are keyword arguments: numbers where they look like numbers. When the helpers of
    /// its run say that nobody wants the outcome any more, it ends the run instead of calling Python.
    ///
    /// # Errors
    /// What the class raised, with its traceback.
    pub fn build(
        self: &Arc<Self>,
        spec: &AlgorithmSpec,
        helpers: &Helpers,
    ) -> Result<Box<dyn CongestionControl>, String> {
        Python::attach(|py| {
            let arguments = PyDict::new(py);
            for (name, text) in &spec.parameters {
                set_argument(&arguments, name, text)?;
            }
            let instance = self.class.bind(py).call((), Some(&arguments))?;
            PythonAlgorithm::new(py, Arc::clone(self), &instance, helpers.clone())
        })
        .map(|algorithm| Box::new(algorithm) as Box<dyn CongestionControl>)
        .map_err(|error: PyErr| format!("{spec}: {}", self.keep(error)))
    }

    /// Refuses an instance that lacks an attribute that is to be recorded.
    fn check_observables(&self, instance: &Bound<'_, PyAny>) -> PyResult<()> {
        for shown in self.observables {
            if !instance.hasattr(shown.name)? {
                let attributes: Vec<String> = instance.dir()?.extract()?;
                let names = attributes.iter().map(String::as_str).filter(|name| !name.starts_with("__"));
                let hint = cwnd_scenario::nearest(shown.name, names)
                    .map(|meant| format!(" (did you mean `{meant}`?)"))
                    .unwrap_or_default();
                return Err(InputError::new_err(format!(
                    "{}: `observables` has `{}`, which is no attribute of its instances{hint}; set it in `__init__`, to None if it \
                     is not known yet",
                    self.name, shown.name
                )));
            }
        }
        Ok(())
    }

    /// Keeps what was raised, if it is the first, and returns it as a text with its traceback.
    fn keep(&self, error: PyErr) -> String {
        let text = Python::attach(|py| described(py, &error));
        if let Ok(mut raised) = self.raised.lock() {
            raised.get_or_insert(error);
        }
        text
    }

    /// Ends the run in which Python raised this: the panic is caught where the run began.
    fn end_run(&self, error: PyErr) {
        let text = self.keep(error);
        panic::resume_unwind(Box::new(Raised(text)));
    }

    /// Takes what was raised.
    pub fn take_raised(&self) -> Option<PyErr> {
        self.raised.lock().ok()?.take()
    }
}

fn set_argument(arguments: &Bound<'_, PyDict>, name: &str, text: &str) -> PyResult<()> {
    if let Ok(whole) = text.parse::<i64>() {
        return arguments.set_item(name, whole);
    }
    if let Ok(number) = text.parse::<f64>() {
        return arguments.set_item(name, number);
    }
    match text {
        "true" => arguments.set_item(name, true),
        "false" => arguments.set_item(name, false),
        _ => arguments.set_item(name, text),
    }
}

/// Returns what Python would print of an exception.
fn described(py: Python<'_>, error: &PyErr) -> String {
    let format = || -> PyResult<String> {
        // Before Python 3.12 an exception that was caught here does not have its traceback.
        let exception = (error.get_type(py), error.value(py), error.traceback(py));
        let lines = py.import("traceback")?.call_method1("format_exception", exception)?;
        PyString::new(py, "").call_method1("join", (lines,))?.extract()
    };
    format().map_or_else(|_| error.to_string(), |text| text.trim_end().to_owned())
}

/// The algorithm of one flow.
struct PythonAlgorithm {
    class: Arc<Class>,
    helpers: Helpers,
    instance: Py<PyAny>,
    window: Py<PyWindow>,
    ack: Py<PyAck>,
    /// Bound methods of what is called often.
    on_ack: Py<PyAny>,
    on_congestion: Py<PyAny>,
}

impl PythonAlgorithm {
    fn new(
        py: Python<'_>,
        class: Arc<Class>,
        instance: &Bound<'_, PyAny>,
        helpers: Helpers,
    ) -> PyResult<PythonAlgorithm> {
        // `init` may make the others.
        if !class.has.init {
            class.check_observables(instance)?;
        }
        Ok(PythonAlgorithm {
            class,
            helpers,
            instance: instance.clone().unbind(),
            window: Py::new(py, PyWindow(Window::new(&cwnd_cc::WindowConfig::default())))?,
            ack: Py::new(py, PyAck::default())?,
            on_ack: instance.getattr("on_ack")?.unbind(),
            on_congestion: instance.getattr("on_congestion")?.unbind(),
        })
    }

    /// Lets Python work on the window. What it raises ends the run.
    fn call(&self, window: &mut Window, work: impl FnOnce(Python<'_>) -> PyResult<()>) {
        if self.helpers.is_stopped() {
            panic::resume_unwind(Box::new(Raised(EngineError::stopped().to_string())));
        }
        let done = Python::attach(|py| {
            self.window.borrow_mut(py).0.clone_from(window);
            work(py)?;
            window.clone_from(&self.window.borrow(py).0);
            Ok(())
        });
        done.unwrap_or_else(|error| self.class.end_run(error));
    }

    /// Reads an attribute that is recorded: NaN if it is None.
    ///
    /// # Errors
    /// There is no such attribute, or it is not a number.
    fn observed(&self, py: Python<'_>, name: &str) -> PyResult<f64> {
        let value = self.instance.bind(py).getattr(name)?;
        if value.is_none() {
            return Ok(f64::NAN);
        }
        value.extract().map_err(|_| {
            let shown = value.repr().map_or_else(|_| "an object".to_owned(), |text| text.to_string());
            InputError::new_err(format!(
                "{}: the observable `{name}` is {shown}; it must be a number, or None as long as it is not known",
                self.class.name
            ))
        })
    }

    fn method(&self, py: Python<'_>, name: &str, argument: Py<PyAny>) -> PyResult<()> {
        self.instance.call_method1(py, name, (&self.window, argument)).map(drop)
    }

    fn method_at(&self, py: Python<'_>, name: &str, now: Nanos) -> PyResult<()> {
        self.instance.call_method1(py, name, (&self.window, now.as_secs_f64())).map(drop)
    }
}

impl CongestionControl for PythonAlgorithm {
    fn init(&mut self, window: &mut Window, init: &Init) {
        if self.class.has.init {
            self.call(window, |py| {
                self.method(py, "init", Py::new(py, PyInit(*init))?.into_any())?;
                self.class.check_observables(self.instance.bind(py))
            });
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.call(window, |py| {
            self.ack.borrow_mut(py).0 = *ack;
            self.on_ack.call1(py, (&self.window, &self.ack)).map(drop)
        });
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        self.call(window, |py| {
            let congestion = Py::new(py, PyCongestion(*congestion))?;
            self.on_congestion.call1(py, (&self.window, congestion)).map(drop)
        });
    }

    fn on_recovery_exit(&mut self, window: &mut Window, now: Nanos) {
        if self.class.has.recovery_exit {
            self.call(window, |py| self.method_at(py, "on_recovery_exit", now));
        }
    }

    fn on_undo(&mut self, window: &mut Window, now: Nanos) {
        if self.class.has.undo {
            self.call(window, |py| self.method_at(py, "on_undo", now));
        }
    }

    fn on_idle_restart(&mut self, window: &mut Window, now: Nanos, idle: Nanos) {
        if self.class.has.idle_restart {
            self.call(window, |py| {
                let arguments = (&self.window, now.as_secs_f64(), idle.as_secs_f64());
                self.instance.call_method1(py, "on_idle_restart", arguments).map(drop)
            });
        }
    }

    fn on_dup_ack(&mut self, window: &mut Window, dup: &DupAck) {
        if self.class.has.dup_ack {
            self.call(window, |py| self.method(py, "on_dup_ack", Py::new(py, PyDupAck(*dup))?.into_any()));
        }
    }

    fn on_packet_lost(&mut self, window: &mut Window, lost: &LostPacket) {
        if self.class.has.packet_lost {
            self.call(window, |py| {
                self.method(py, "on_packet_lost", Py::new(py, PyLostPacket(*lost))?.into_any())
            });
        }
    }

    fn needs(&self) -> Needs {
        self.class.needs
    }

    fn observables(&self) -> &'static [Observable] {
        self.class.observables
    }

    fn observe(&self, _: &Window, _: &Observation, values: &mut [f64]) {
        let read = Python::attach(|py| {
            for (value, shown) in values.iter_mut().zip(self.class.observables) {
                *value = self.observed(py, shown.name)?;
            }
            Ok(())
        });
        read.unwrap_or_else(|error| self.class.end_run(error));
    }
}
