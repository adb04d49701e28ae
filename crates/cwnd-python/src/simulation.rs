//! One run that can be halted, looked at and changed.

use crate::engine::Classes;
use crate::errors::{self, InputError};
use crate::lock;
use crate::raised::{STEP, caught};
use crate::study::Study;
use cwnd_metrics::{RunMetrics, Scope};
use cwnd_scenario::{LinkId, Rate, Scenario, Time};
use cwnd_sim::CountedRun;
use pyo3::{
    prelude::*,
    types::{PyAny, PyBool},
};
use std::{
    collections::BTreeMap,
    str::FromStr,
    sync::Mutex,
    thread::{self, ThreadId},
};

/// A run of the simulator, halted at a time.
#[pyclass(frozen, module = "cwnd._cwnd")]
pub struct Simulation {
    /// None after an algorithm has failed, or anything has panicked, in the middle of it. Algorithms may be moved between threads, not shared.
    run: Mutex<Option<CountedRun<'static>>>,
    /// The thread that works with the run, if one does.
    worker: Mutex<Option<ThreadId>>,
    scenario: Scenario,
    classes: Classes,
}

/// The state of a flow at the time at which its simulation is halted.
#[pyclass(frozen, get_all, module = "cwnd")]
pub struct Flow {
    /// The algorithm, with its parameters.
    algorithm: String,
    /// Congestion window, segments.
    cwnd: f64,
    /// Slow-start threshold, segments; infinite if it is not set.
    ssthresh: f64,
    /// Rate at which packets are spaced, bytes a second; infinite if they are not.
    pacing_rate: f64,
    /// Smoothed round-trip time, seconds; None before the first sample.
    srtt: Option<f64>,
    /// Segments in flight.
    in_flight: u64,
    /// Payload bytes acknowledged.
    delivered_bytes: u64,
    /// State of loss recovery.
    state: &'static str,
    /// Data packets sent.
    sent: u64,
    /// Of these, retransmissions.
    retransmissions: u64,
    /// What its algorithm shows of its state.
    observables: BTreeMap<String, f64>,
}

#[pymethods]
impl Flow {
    fn __repr__(&self) -> String {
        format!(
            "<cwnd.Flow: {} cwnd={:.1} in_flight={} state={} delivered={} B>",
            self.algorithm, self.cwnd, self.in_flight, self.state, self.delivered_bytes
        )
    }
}

#[pymethods]
impl Simulation {
    /// Begins a cell of a study.
    #[new]
    fn new(study: &Study, cell: &Bound<'_, PyAny>, repeat: &Bound<'_, PyAny>) -> PyResult<Simulation> {
        let scenario = study.simulated_scenario(cell, repeat)?;
        let classes = study.classes();
        let simulation =
            caught(|| cwnd_sim::Simulation::with_factory(&scenario, &|spec| classes.build(spec)));
        match simulation.and_then(|made| made) {
            Ok(simulation) => {
                let run = Mutex::new(Some(CountedRun::new(simulation)));
                Ok(Simulation { run, worker: Mutex::new(None), scenario, classes })
            }
            Err(error) => Err(classes.take_raised().unwrap_or_else(|| errors::engine(error))),
        }
    }

    /// Does all that happens before a time, and nothing at it or later.
    fn run_until(&self, py: Python<'_>, time: &Bound<'_, PyAny>) -> PyResult<()> {
        let until = self::time(time)?;
        // In steps, so that Ctrl-C is seen; how a run is cut does not change it.
        loop {
            py.check_signals()?;
            let now = self.with(py, |simulation| simulation.now())?;
            let next = now.0.saturating_add(STEP.0).min(until.0);
            if let Err(error) = py.detach(|| self.advance(Time(next))) {
                return Err(self.classes.take_raised().unwrap_or(error));
            }
            if next >= until.0 {
                return Ok(());
            }
        }
    }

    /// The time, seconds.
    #[getter]
    fn now(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |simulation| simulation.now().as_secs_f64())
    }

    /// The duration of the scenario, seconds.
    #[getter]
    fn duration(&self) -> f64 {
        self.scenario.duration.as_secs_f64()
    }

    /// The names of the links.
    #[getter]
    fn links(&self) -> Vec<String> {
        self.scenario.network.links.iter().map(|link| link.name.clone()).collect()
    }

    /// How many flows there are.
    fn __len__(&self) -> usize {
        self.scenario.flows.len()
    }

    /// The state of a flow, counted from 0.
    fn flow(&self, index: &Bound<'_, PyAny>) -> PyResult<Flow> {
        let py = index.py();
        let index = self.flow_index(index)?;
        let spec = &self.scenario.flows[index];
        let (now, observables) = self
            .with(py, |simulation| {
                let names = simulation.observables(index);
                let mut values = vec![f64::NAN; names.len()];
                caught(|| simulation.observe(index, &mut values))?;
                Ok((
                    simulation.flow(index),
                    names.iter().map(|one| one.name.to_owned()).zip(values).collect(),
                ))
            })?
            .map_err(|error| self.classes.take_raised().unwrap_or_else(|| errors::engine(error)))?;
        Ok(Flow {
            algorithm: spec.algorithm.to_string(),
            cwnd: now.cwnd,
            ssthresh: now.ssthresh,
            pacing_rate: now.pacing_rate,
            srtt: now.srtt.map(|rtt| rtt.as_secs_f64()),
            in_flight: now.in_flight,
            delivered_bytes: now.delivered_bytes,
            state: now.state.name(),
            sent: now.sent.0,
            retransmissions: now.sent.1,
            observables,
        })
    }

    /// Packets that wait at a link; the bottleneck if none is named.
    #[pyo3(signature = (link = None))]
    fn queue(&self, py: Python<'_>, link: Option<&str>) -> PyResult<usize> {
        let link = self.link(link)?;
        self.with(py, |simulation| simulation.queue_length(link))
    }

    /// Changes a link's rate (a text such as "10 Mbit/s", or bit/s) from now on.
    #[pyo3(signature = (rate, link = None))]
    fn set_rate(&self, rate: &Bound<'_, PyAny>, link: Option<&str>) -> PyResult<()> {
        let py = rate.py();
        let rate: Rate = quantity(rate, "a rate", "bit/s", "\"10 Mbit/s\", or bit/s")?;
        let link = self.link(link)?;
        self.with(py, |simulation| simulation.set_rate(link, rate))?
            .map_err(|problem| errors::problem(&problem))
    }

    /// Changes a link's propagation delay (a text such as "20 ms", or seconds) for packets that leave it from now on.
    #[pyo3(signature = (delay, link = None))]
    fn set_delay(&self, delay: &Bound<'_, PyAny>, link: Option<&str>) -> PyResult<()> {
        let (py, delay) = (delay.py(), time(delay)?);
        let link = self.link(link)?;
        self.with(py, |simulation| simulation.set_delay(link, delay))?
            .map_err(|problem| errors::problem(&problem))
    }

    /// Stops a flow: it sends no new data from now on.
    fn stop_flow(&self, index: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, index) = (index.py(), self.flow_index(index)?);
        self.with(py, |simulation| simulation.stop_flow(index))
    }

    /// The metrics of the run up to now, as JSON: counted from the end of its warm-up, once that has come. It has those of
    /// [`RunMetrics`], and all others of a run that is not sampled, by name; null if a metric of whole runs cannot be measured.
    fn metrics(&self, py: Python<'_>) -> PyResult<String> {
        let (outcome, scenario) =
            self.with_run(py, |run| (run.outcome(), run.simulation.measured_scenario()))?;
        let failed = |error: serde_json::Error| errors::CwndError::new_err(error.to_string());
        let mut all: BTreeMap<String, serde_json::Value> =
            serde_json::to_value(RunMetrics::new(&scenario, &outcome))
                .and_then(serde_json::from_value)
                .map_err(failed)?;
        // What both have is the same number, and a count there is a whole one.
        for (name, value) in cwnd_metrics::values(&scenario, &outcome) {
            all.entry(name).or_insert(value.into());
        }
        let of_run = |metric: &&cwnd_metrics::Metric| metric.is_of(Scope::Run) && !metric.is_of_emulation();
        for metric in cwnd_metrics::all().filter(of_run).filter(|metric| !metric.needs_samples()) {
            all.entry(metric.name.to_owned()).or_default();
        }
        serde_json::to_string(&all).map_err(failed)
    }
}

impl Simulation {
    /// Works with the simulation.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut cwnd_sim::Simulation) -> T + Send,
    ) -> PyResult<T> {
        self.with_run(py, |run| work(&mut run.simulation))
    }

    fn with_run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut CountedRun<'static>) -> T + Send,
    ) -> PyResult<T> {
        // Whoever works with the run may need the interpreter for its algorithms, so that it must not be held while waiting.
        py.detach(|| {
            self.alone(|kept| {
                let mut run = kept.take().ok_or_else(ended)?;
                let done = work(&mut run);
                *kept = Some(run);
                Ok(done)
            })
        })
    }

    /// Runs until a time. A simulation whose algorithm raised an exception, or set a value that no window may have, is gone.
    fn advance(&self, until: Time) -> PyResult<()> {
        self.alone(|kept| {
            let mut run = kept.take().ok_or_else(ended)?;
            let advanced = || {
                run.until(until);
                run
            };
            let run = caught(advanced).map_err(errors::engine)?;
            if let Some(error) = run.simulation.failure() {
                return Err(errors::engine(error));
            }
            *kept = Some(run);
            Ok(())
        })
    }

    /// Waits until no other thread works with the run, and does so itself.
    ///
    /// # Errors
    /// If this thread works with it already: an algorithm asks for what calls it.
    fn alone<T>(&self, work: impl FnOnce(&mut Option<CountedRun<'static>>) -> PyResult<T>) -> PyResult<T> {
        let this = Some(thread::current().id());
        if *lock(&self.worker) == this {
            return Err(errors::CwndError::new_err(
                "an algorithm cannot look at or change the simulation that calls it; its window and its ACKs tell what it may know",
            ));
        }
        let mut kept = lock(&self.run);
        *lock(&self.worker) = this;
        let _ended = AtEnd(|| *lock(&self.worker) = None);
        work(&mut kept)
    }

    fn flow_index(&self, index: &Bound<'_, PyAny>) -> PyResult<usize> {
        errors::index(index, "flow", self.scenario.flows.len(), "the simulation")
    }

    fn link(&self, name: Option<&str>) -> PyResult<LinkId> {
        let Some(name) = name else { return Ok(self.scenario.network.bottleneck) };
        let links = &self.scenario.network.links;
        links.iter().position(|link| link.name == name).ok_or_else(|| {
            let known: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
            InputError::new_err(format!("there is no link `{name}`; there are {}", known.join(", ")))
        })
    }
}

fn ended() -> PyErr {
    errors::CwndError::new_err("the simulation has ended, because an algorithm failed or was interrupted")
}

/// Does something when it is dropped, also by a panic.
struct AtEnd<F: FnMut()>(F);

impl<F: FnMut()> Drop for AtEnd<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// A time: a text with its unit, or seconds.
fn time(value: &Bound<'_, PyAny>) -> PyResult<Time> {
    quantity(value, "a time", "s", "\"100 ms\", or seconds")
}

/// A quantity: a text with its unit, or a number of a unit, which is read as its text would be and has the same limits.
fn quantity<T: FromStr<Err: std::fmt::Display>>(
    value: &Bound<'_, PyAny>,
    what: &str,
    unit: &str,
    example: &str,
) -> PyResult<T> {
    let text = match (value.extract::<String>(), value.extract::<f64>()) {
        (Ok(text), _) => text,
        (_, Ok(number)) if number.is_finite() && number >= 0.0 && !value.is_instance_of::<PyBool>() => {
            format!("{number} {unit}")
        }
        _ => return Err(InputError::new_err(format!("{value} is not {what}: write {example}"))),
    };
    text.parse().map_err(|error: T::Err| InputError::new_err(format!("{value}: {error}")))
}
