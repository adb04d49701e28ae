//! The engines that answer a study's cells, by name.

use cwnd_experiment::settings::{Setting, SettingKind};
use cwnd_scenario::{Cost, Engine, EngineError, Identity, Outcome, Problem, Scenario};
use std::{fmt, sync::Arc};

/// What answers a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EngineKind {
    /// A simulator: exact, in whatever time it takes, several runs at once.
    #[default]
    Sim,
    /// The TCP of a real kernel over an emulated network: in real time, one run at a time, while nothing else runs.
    Kernel,
    /// The same TCP in a virtual machine, whose clock is the instructions that it executes: several runs at once.
    Vm,
}

/// The setting that selects the engine of a cell. It is not part of the experiment; `[run]` and axes accept it in addition to
/// the experiment's settings.
pub static ENGINE: Setting = Setting {
    key: "engine",
    title: "Engine",
    about: "What answers a cell: `sim`, the simulator, or `kernel`, the TCP of the running Linux kernel over an emulated \
            network, which takes real time, root and a machine that does nothing else; or `vm`, the TCP of a Linux kernel in a \
            virtual machine with a clock of its own, which needs QEMU.",
    default: "sim",
    example: "kernel",
    kind: SettingKind::Word(&EngineKind::NAMES),
    set: |_, text| match EngineKind::find(text) {
        Some(_) => Ok(()),
        None => Err(format!("it is none of {}: `{text}`", EngineKind::NAMES.join(", "))),
    },
    // The experiment does not know its engine; `Cell::settings` does.
    get: |_, _| None,
    measure: |_| None,
};

impl EngineKind {
    /// All of them, in the order in which their runs are done.
    pub const ALL: [EngineKind; 3] = [EngineKind::Sim, EngineKind::Kernel, EngineKind::Vm];
    /// Their names, in the same order.
    pub const NAMES: [&str; 3] = ["sim", "kernel", "vm"];

    /// By which study files and flags call it.
    pub fn name(self) -> &'static str {
        EngineKind::NAMES[self as usize]
    }

    /// The engine of this name.
    pub fn find(name: &str) -> Option<EngineKind> {
        EngineKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What it is called in a sentence.
    pub fn title(self) -> &'static str {
        match self {
            EngineKind::Sim => "the simulator",
            EngineKind::Kernel => "the kernel",
            EngineKind::Vm => "the virtual machine",
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
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An engine that any thread may use.
pub type SharedEngine = Arc<dyn Engine + Send + Sync>;

/// An engine for each kind of cells, or why there is none.
#[derive(Clone)]
pub struct Engines {
    sim: SharedEngine,
    kernel: SharedEngine,
    why_no_kernel: Option<String>,
    vm: SharedEngine,
    why_no_vm: Option<String>,
}

impl Engines {
    /// A simulator, and a kernel engine or why there is none here. Cells for an engine that is not there are refused for
    /// that reason. There are no virtual machines unless [`Engines::with_vm`] adds them.
    pub fn new(sim: SharedEngine, kernel: Result<SharedEngine, String>) -> Engines {
        let (kernel, why_no_kernel) = or_absent(kernel);
        let (vm, why_no_vm) =
            or_absent(Err("virtual machines are made by the command `cwnd` alone".to_owned()));
        Engines { sim, kernel, why_no_kernel, vm, why_no_vm }
    }

    /// The same with an engine of virtual machines, or why there is none here.
    #[must_use]
    pub fn with_vm(self, vm: Result<SharedEngine, String>) -> Engines {
        let (vm, why_no_vm) = or_absent(vm);
        Engines { vm, why_no_vm, ..self }
    }

    /// The engine for cells of this kind.
    pub fn of(&self, kind: EngineKind) -> &SharedEngine {
        match kind {
            EngineKind::Sim => &self.sim,
            EngineKind::Kernel => &self.kernel,
            EngineKind::Vm => &self.vm,
        }
    }

    /// Why there is no such engine here; none if there is.
    pub fn why_not(&self, kind: EngineKind) -> Option<&str> {
        match kind {
            EngineKind::Sim => None,
            EngineKind::Kernel => self.why_no_kernel.as_deref(),
            EngineKind::Vm => self.why_no_vm.as_deref(),
        }
    }
}

/// Returns an engine, or what stands for it and why.
fn or_absent(engine: Result<SharedEngine, String>) -> (SharedEngine, Option<String>) {
    match engine {
        Ok(engine) => (engine, None),
        Err(why) => (Arc::new(Absent(why.clone())), Some(why)),
    }
}

impl fmt::Debug for Engines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engines")
            .field("why_no_kernel", &self.why_no_kernel)
            .field("why_no_vm", &self.why_no_vm)
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
