//! Where engines come from.

use crate::{failure::Failure, interrupt, simulator::Simulator};
use cwnd_scenario::{Engine, Scenario};
use cwnd_sim::Shortcuts;
use cwnd_study::{EngineKind, Engines, KernelSeries, SharedEngine, Study};
use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
};

/// The engines that a study needs: of others nobody looks whether they are there.
pub fn of_study(study: &Study) -> Engines {
    of_study_with(study, None)
}

/// Like [`of_study`], with a simulator that takes these shortcuts; `None` for all.
pub fn of_study_with(study: &Study, shortcuts: Option<Shortcuts>) -> Engines {
    select(study, shortcuts, &interrupt::flag())
}

/// Like [`of_study`], but runs in real time end when this flag is set.
#[cfg(feature = "serve")]
pub fn of_study_until(study: &Study, stop: &Arc<AtomicBool>) -> Engines {
    select(study, None, stop)
}

fn select(study: &Study, shortcuts: Option<Shortcuts>, stop: &Arc<AtomicBool>) -> Engines {
    of_kinds(&study.engines(), shortcuts, stop)
}

/// Engines of these kinds. Others are not looked for: to prepare a kernel for virtual machines can take minutes.
fn of_kinds(kinds: &[EngineKind], shortcuts: Option<Shortcuts>, stop: &Arc<AtomicBool>) -> Engines {
    let none = Engines::new(Arc::new(Simulator::new(shortcuts)));
    kinds.iter().fold(none, |engines, &kind| match kind {
        EngineKind::Sim => engines,
        EngineKind::Kernel => engines.with(kind, laboratory(stop).map(shared)),
        EngineKind::Vm(series) => engines.with(kind, virtual_machines(series, stop).map(shared)),
    })
}

fn shared(engine: impl Engine + Send + Sync + 'static) -> SharedEngine {
    Arc::new(engine)
}

/// The engine of a kind.
///
/// # Errors
/// If there is none here, with the reason.
pub fn engine(kind: EngineKind) -> Result<SharedEngine, Failure> {
    let engines = of_kinds(&[kind], None, &interrupt::flag());
    match engines.why_not(kind) {
        Some(why) => Err(Failure::bad_input(format!("--engine {kind}: {why}"))),
        None => Ok(Arc::clone(engines.of(kind))),
    }
}

/// Whether a real kernel of some host can run this scenario.
#[cfg(target_os = "linux")]
pub fn is_possible_elsewhere(scenario: &Scenario) -> bool {
    cwnd_lab::check_elsewhere(scenario).is_ok()
}

/// There are no real kernels here that could tell.
#[cfg(not(target_os = "linux"))]
pub fn is_possible_elsewhere(_: &Scenario) -> bool {
    true
}

/// The engine of a kind, which captures the packets of these runs, each into its file. The simulator captures none: its runs are
/// repeated for that.
///
/// # Errors
/// If there is no such engine here, with the reason.
#[cfg(target_os = "linux")]
pub fn capturing(kind: EngineKind, files: Vec<(Scenario, PathBuf)>) -> Result<SharedEngine, Failure> {
    use crate::recording::Capturing;
    let stop = interrupt::flag();
    let engine = match kind {
        EngineKind::Sim => return engine(kind),
        EngineKind::Kernel => laboratory(&stop).map(|lab| shared(Capturing::new(lab, files))),
        EngineKind::Vm(series) => virtual_machines(series, &stop).map(|vm| shared(Capturing::new(vm, files))),
    };
    engine.map_err(|why| Failure::bad_input(format!("--engine {kind}: {why}")))
}

/// Elsewhere there are no real kernels.
///
/// # Errors
/// Always, with the reason.
#[cfg(not(target_os = "linux"))]
pub fn capturing(kind: EngineKind, _: Vec<(Scenario, PathBuf)>) -> Result<SharedEngine, Failure> {
    engine(kind)
}

/// The laboratory of real kernels, which ends a run when `stop` is set, or why this machine cannot have one.
#[cfg(target_os = "linux")]
fn laboratory(stop: &Arc<AtomicBool>) -> Result<cwnd_lab::Lab, String> {
    match cwnd_lab::doctor::missing().as_slice() {
        [] => Ok(cwnd_lab::Lab::new(Arc::clone(stop))),
        missing => Err(format!("this machine cannot run real kernels: {}", missing.join("; "))),
    }
}

/// Elsewhere there is none; the type stands for an engine that is never made.
#[cfg(not(target_os = "linux"))]
fn laboratory(_: &Arc<AtomicBool>) -> Result<Simulator, String> {
    Err(format!("real kernels are run on Linux alone, and this is {}", std::env::consts::OS))
}

/// Kernels in virtual machines, whose runs end when `stop` is set, or why this machine cannot have them.
#[cfg(target_os = "linux")]
fn virtual_machines(
    series: Option<KernelSeries>,
    stop: &Arc<AtomicBool>,
) -> Result<cwnd_vm::VirtualKernel, String> {
    let series = series.map_or_else(|| cwnd_vm::DEFAULT_KERNEL.to_owned(), |series| series.to_string());
    cwnd_vm::VirtualKernel::new(&series, Arc::clone(stop))
}

/// Elsewhere there are none; the type stands for an engine that is never made.
#[cfg(not(target_os = "linux"))]
fn virtual_machines(_: Option<KernelSeries>, _: &Arc<AtomicBool>) -> Result<Simulator, String> {
    Err(format!("virtual machines are made on Linux alone, and this is {}", std::env::consts::OS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_always_a_simulator() {
        let engines = of_kinds(&[EngineKind::Kernel], None, &interrupt::flag());
        assert_eq!(engines.why_not(EngineKind::Sim), None);
        assert!(engine(EngineKind::Sim).is_ok());
        assert!(engines.why_not(EngineKind::Vm(None)).is_some());
        // Whether there is a laboratory is up to the machine; that it says so is not.
        assert_eq!(engine(EngineKind::Kernel).is_err(), engines.why_not(EngineKind::Kernel).is_some());
    }
}
