//! Where engines come from.

use crate::{failure::Failure, interrupt};
use clap::ValueEnum;
use cwnd_sim::Simulator;
use cwnd_study::{EngineKind, Engines, SharedEngine};
use std::sync::{Arc, atomic::AtomicBool};

/// `--engine`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    /// The simulator: exact, and as fast as the machine.
    Sim,
    /// The TCP of the running Linux kernel over an emulated network: in real time; needs root, and a machine that does
    /// nothing else.
    Kernel,
}

impl From<EngineName> for EngineKind {
    fn from(name: EngineName) -> EngineKind {
        match name {
            EngineName::Sim => EngineKind::Sim,
            EngineName::Kernel => EngineKind::Kernel,
        }
    }
}

/// An engine for each kind of cells, or why there is none here. Those in real time end their runs when the
/// [flag](interrupt::flag) is set.
pub fn all() -> Engines {
    let laboratory = laboratory(interrupt::flag()).and_then(|laboratory| host().map(|()| laboratory));
    Engines::new(Arc::new(Simulator), laboratory)
}

/// The engine of a kind.
///
/// # Errors
/// If there is none here, with the reason.
pub fn engine(kind: EngineKind) -> Result<SharedEngine, Failure> {
    let engines = all();
    match engines.why_not(kind) {
        Some(why) => Err(Failure::bad_input(format!("--engine {kind}: {why}"))),
        None => Ok(Arc::clone(engines.of(kind))),
    }
}

/// The laboratory of real kernels, which ends a run when `stop` is set. This is the only place that knows it.
fn laboratory(_stop: Arc<AtomicBool>) -> Result<SharedEngine, String> {
    Err("this cwnd was built without the laboratory of real kernels; `--engine sim` simulates".to_owned())
}

/// Whether this machine can run it at all.
#[cfg(target_os = "linux")]
fn host() -> Result<(), String> {
    use std::{fs, os::unix::fs::MetadataExt, path::Path};
    let user =
        fs::metadata("/proc/self").map_err(|error| format!("who runs this cannot be told: {error}"))?;
    able(user.uid(), Path::new("/dev/net/tun").exists())
}

#[cfg(not(target_os = "linux"))]
fn host() -> Result<(), String> {
    Err(format!("real kernels are run on Linux alone, and this is {}", std::env::consts::OS))
}

/// Whether a user of this number can run it, on a machine that makes network devices or not.
#[cfg(target_os = "linux")]
fn able(user: u32, makes_devices: bool) -> Result<(), String> {
    match (user, makes_devices) {
        (0, true) => Ok(()),
        (0, false) => Err("real kernels need network devices, and there is no /dev/net/tun: `modprobe tun` \
                           makes it, or a container that lets it in (`--device /dev/net/tun`)"
            .to_owned()),
        _ => Err("real kernels need network namespaces, and root to make them: run it with sudo".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_always_a_simulator() {
        let engines = all();
        assert_eq!(engines.why_not(EngineKind::Sim), None);
        assert!(engine(EngineKind::Sim).is_ok());
        // Whether there is a laboratory is up to the machine; that it says so is not.
        assert_eq!(engine(EngineKind::Kernel).is_err(), engines.why_not(EngineKind::Kernel).is_some());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_a_machine_lacks_is_told() {
        assert_eq!(able(0, true), Ok(()));
        assert!(able(1_000, true).unwrap_err().contains("sudo"));
        assert!(able(0, false).unwrap_err().contains("/dev/net/tun"));
    }
}
