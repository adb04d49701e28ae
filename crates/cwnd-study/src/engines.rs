//! The engines that answer a study's cells, by name.

use cwnd_experiment::settings::{Setting, SettingKind};
use cwnd_scenario::{Cost, Engine, EngineError, Identity, Outcome, Problem, Scenario};
use std::{collections::BTreeMap, fmt, str::FromStr, sync::Arc};

/// What answers a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EngineKind {
    /// A simulator: exact, in whatever time it takes, several runs at once.
    #[default]
    Sim,
    /// The TCP of a real kernel over an emulated network: in real time, one run at a time, while nothing else runs.
    Kernel,
    /// The same TCP in a virtual machine, whose clock is the instructions that it executes: several runs at once. The kernel is of
    /// this series; none is cwnd's choice.
    Vm(Option<KernelSeries>),
}

/// A series of Linux kernels, such as 6.12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KernelSeries {
    major: u16,
    minor: u16,
}

/// What engines are called.
const FORMS: &str = "`sim`, `kernel`, `vm`, `vm:6.18` (that series of Linux kernels)";

/// The setting that selects the engine of a cell. It is not part of the experiment; `[run]` and axes accept it in addition to
/// the experiment's settings.
pub static ENGINE: Setting = Setting {
    key: "engine",
    title: "Engine",
    about: "What answers a cell: `sim`, the simulator, or `kernel`, the TCP of the running Linux kernel over an emulated \
            network, which takes real time, root and a machine that does nothing else; or `vm`, the TCP of a Linux kernel in a \
            virtual machine with a clock of its own, which needs QEMU. `vm:6.18` is that series of kernels.",
    default: "sim",
    example: "kernel",
    kind: SettingKind::Form { what: FORMS, pattern: r"^\s*(sim|kernel|vm|vm:[0-9]+\.[0-9]+)\s*$" },
    set: |_, text| text.parse::<EngineKind>().map(drop),
    // The experiment does not know its engine; `Cell::settings` does.
    get: |_, _| None,
    measure: |_| None,
};

impl EngineKind {
    /// What it is called in a sentence.
    pub fn title(self) -> &'static str {
        match self {
            EngineKind::Sim => "the simulator",
            EngineKind::Kernel => "the kernel",
            EngineKind::Vm(_) => "the virtual machine",
        }
    }

    /// Whether real kernels do its runs: no two of them are equal.
    pub fn is_kernels(self) -> bool {
        self != EngineKind::Sim
    }

    /// Whether its runs last as long as their scenarios, and need the machine for themselves.
    pub fn is_real_time(self) -> bool {
        self == EngineKind::Kernel
    }

    /// Whether its runs are in virtual machines.
    pub fn is_vm(self) -> bool {
        matches!(self, EngineKind::Vm(_))
    }
}

impl FromStr for EngineKind {
    type Err = String;

    fn from_str(text: &str) -> Result<EngineKind, String> {
        match text.trim() {
            "sim" => return Ok(EngineKind::Sim),
            "kernel" => return Ok(EngineKind::Kernel),
            "vm" => return Ok(EngineKind::Vm(None)),
            _ => (),
        }
        let series = text.trim().strip_prefix("vm:").and_then(|series| {
            let (major, minor) = series.split_once('.')?;
            Some(KernelSeries { major: major.parse().ok()?, minor: minor.parse().ok()? })
        });
        series
            .map(|series| EngineKind::Vm(Some(series)))
            .ok_or_else(|| format!("it is none of {FORMS}: `{text}`"))
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineKind::Sim => f.pad("sim"),
            EngineKind::Kernel => f.pad("kernel"),
            EngineKind::Vm(None) => f.pad("vm"),
            EngineKind::Vm(Some(series)) => f.pad(&format!("vm:{series}")),
        }
    }
}

impl fmt::Display for KernelSeries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// An engine that any thread may use.
pub type SharedEngine = Arc<dyn Engine + Send + Sync>;

/// The engines for the cells of studies, or why there are none.
#[derive(Clone)]
pub struct Engines {
    all: BTreeMap<EngineKind, SharedEngine>,
    why_not: BTreeMap<EngineKind, String>,
    absent: SharedEngine,
}

impl Engines {
    /// A simulator alone. Cells for other engines are refused.
    pub fn new(sim: SharedEngine) -> Engines {
        let absent = Arc::new(Absent("there is no such engine here".to_owned()));
        Engines { all: BTreeMap::from([(EngineKind::Sim, sim)]), why_not: BTreeMap::new(), absent }
    }

    /// The same with an engine for cells of this kind, or why there is none here: they are refused for that reason.
    #[must_use]
    pub fn with(mut self, kind: EngineKind, engine: Result<SharedEngine, String>) -> Engines {
        let engine = engine.unwrap_or_else(|why| {
            self.why_not.insert(kind, why.clone());
            Arc::new(Absent(why))
        });
        self.all.insert(kind, engine);
        self
    }

    /// The engine for cells of this kind.
    pub fn of(&self, kind: EngineKind) -> &SharedEngine {
        self.all.get(&kind).unwrap_or(&self.absent)
    }

    /// Why there is no such engine here; none if there is.
    pub fn why_not(&self, kind: EngineKind) -> Option<&str> {
        let unknown = (!self.all.contains_key(&kind)).then_some("there is no such engine here");
        self.why_not.get(&kind).map(String::as_str).or(unknown)
    }
}

impl fmt::Debug for Engines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engines")
            .field("all", &self.all.keys())
            .field("why_not", &self.why_not)
            .finish_non_exhaustive()
    }
}

/// Stands for an engine that is not there: it takes no scenario.
struct Absent(String);

impl Absent {
    fn problem(&self) -> Vec<Problem> {
        vec![Problem { place: "engine".to_owned(), message: self.0.clone() }]
    }
}

impl Engine for Absent {
    fn check(&self, _: &Scenario) -> Result<Cost, Vec<Problem>> {
        Err(self.problem())
    }

    fn identity(&self, _: &Scenario) -> Identity {
        Identity::new("none", [])
    }

    fn run(&self, _: &Scenario) -> Result<Outcome, EngineError> {
        Err(EngineError::Refused(self.problem()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for name in ["sim", "kernel", "vm", "vm:6.12", "vm:7.0"] {
            assert_eq!(name.parse::<EngineKind>().unwrap().to_string(), name);
        }
        for wrong in ["", "ns3", "vm:", "vm:6", "vm:newest", "vm:6.12.1", "sim:6.12", "vm 6.12"] {
            let error = wrong.parse::<EngineKind>().unwrap_err();
            assert!(error.contains("`vm:6.18`") && error.ends_with(&format!("`{wrong}`")), "{error}");
        }
    }

    #[test]
    fn an_engine_that_is_not_there_says_why() {
        let none = || Arc::new(Absent("none".to_owned())) as SharedEngine;
        let series = "vm:6.18".parse().unwrap();
        let engines =
            Engines::new(none()).with(EngineKind::Kernel, Err("no root".to_owned())).with(series, Ok(none()));
        let of = |kind| engines.why_not(kind);
        assert_eq!((of(EngineKind::Sim), of(EngineKind::Kernel), of(series)), (None, Some("no root"), None));
        assert_eq!(of(EngineKind::Vm(None)), Some("there is no such engine here"));
    }
}
