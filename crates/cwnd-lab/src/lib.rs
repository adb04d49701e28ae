//! A laboratory of real kernels: the same scenario as the simulator's, answered by the TCP of this host's Linux.
//!
//! ```text
//!  namespace of senders                  this process                   namespace of receivers
//!  sockets ─ kernel's TCP ─ TUN ══ queues, transmitters, lines ══ TUN ─ kernel's TCP ─ sockets
//! ```
//!
//! Two network namespaces hang on an emulator of the whole network, whose queues, losses, rates and schedules are those of
//! `cwnd-link`. All flows are sent from one namespace and received in the other; which links a flow crosses is told by
//! its receiver's address. [`Testbed::add_hosts`] puts several hosts behind each end. Nothing of it has a name on the host or outlives
//! the process, however that ends, except [`Named`] and [`Outside`], which [`clean_up`] removes after a kill.
//!
//! [`Lab`] is the engine. Its runs take real time and the whole machine, and each carries an [`Emulation`] that says whether the
//! machine was fast enough. A packet that anything but the emulator's queues drops fails the run.
#![cfg(target_os = "linux")]

pub mod address;
mod algorithms;
mod check;
pub mod doctor;
pub mod drill;
mod drops;
mod emulator;
mod ends;
mod forwarding;
mod guard;
pub mod host;
mod hosts;
mod live;
mod module_states;
mod named;
mod namespace;
mod outcome;
mod outside;
pub mod probe;
pub mod program;
mod receivers;
pub mod requests;
mod resolver;
mod run;
mod socket;
pub mod socket_diag;
mod states;
mod system;
mod testbed;
mod traffic;
mod tun;

pub use check::check_elsewhere;
pub use emulator::{Counts, End, FlowCounts, LinkCounts, PacketObserver, Record, Snapshot};
pub use ends::Settings;
pub use guard::{Guard, Server};
pub use hosts::Hosts;
pub use live::{LiveFlow, LiveFlows, LiveNetwork};
pub use named::{Named, check_name, clean_up};
pub use namespace::{Namespace, end_with_this_thread};
pub use outcome::{TOO_LATE, validity_warnings};
pub use outside::Outside;
pub use program::Program;
pub use resolver::Resolver;
pub use socket::{PORT, TcpInfo};
pub use testbed::Testbed;

use cwnd_scenario::{Cost, Engine, EngineError, Identity, Implementation, Outcome, Problem, Scenario};
use host::HostTime;
pub use host::VIRTUAL_TIME;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

#[cfg(doc)]
use cwnd_scenario::Emulation;

/// Counts up whenever what a run answers changes, so that stored results are told apart.
pub const VERSION: u32 = 5;

/// The engine of real kernels.
#[derive(Clone, Debug)]
pub struct Lab {
    time: HostTime,
    stop: Arc<AtomicBool>,
}

impl Lab {
    /// One whose runs end soon, as failed, once `stop` is true.
    pub fn new(stop: Arc<AtomicBool>) -> Lab {
        Lab { time: HostTime::of_this_host(), stop }
    }

    /// One that emulates as on a host whose time is virtual, wherever it is.
    pub fn in_virtual_time() -> Lab {
        Lab { time: HostTime::Virtual, stop: Arc::default() }
    }

    /// Run a scenario while a watcher sees the packets.
    ///
    /// # Errors
    /// See [`Engine::run`].
    pub fn run_observed(
        &self,
        scenario: &Scenario,
        watcher: Option<Box<dyn PacketObserver>>,
    ) -> Result<Outcome, EngineError> {
        self.check(scenario).map_err(EngineError::Refused)?;
        run::run(scenario, watcher, None, self.time, &self.stop)
    }

    /// Runs a scenario and tells `live` meanwhile what its sockets tell, every 10 ms.
    ///
    /// # Errors
    /// See [`Engine::run`].
    pub fn run_live(&self, scenario: &Scenario, live: &Arc<LiveFlows>) -> Result<Outcome, EngineError> {
        self.check(scenario).map_err(EngineError::Refused)?;
        run::run(scenario, None, Some(Arc::clone(live)), self.time, &self.stop)
    }
}

impl Default for Lab {
    fn default() -> Lab {
        Lab::new(Arc::default())
    }
}

impl Engine for Lab {
    fn check(&self, scenario: &Scenario) -> Result<Cost, Vec<Problem>> {
        check::check(scenario)
    }

    /// Returns the versions of this host, and what runs each algorithm there. No two runs are equal here: equal identities
    /// mean the same machine, kernel and implementations.
    fn identity(&self, scenario: &Scenario) -> Identity {
        let versions = [
            ("cwnd-lab", VERSION.to_string()),
            ("kernel", host::kernel()),
            ("host", host::name()),
            ("cwnd", env!("CARGO_PKG_VERSION").to_owned()),
        ];
        let mut identity = Identity::new("cwnd-lab", versions);
        for Implementation { algorithm, by } in algorithms::implementations(scenario) {
            identity.versions.insert(format!("algorithm {algorithm}"), by);
        }
        identity
    }

    fn run(&self, scenario: &Scenario) -> Result<Outcome, EngineError> {
        self.run_observed(scenario, None)
    }
}

/// Keep this host's CPUs from sleeping for as long as the answer lives: to wake one takes up to milliseconds in a virtual machine
/// (the kernel's `Documentation/power/pm_qos_interface`). The kernel forgets it when the process ends.
fn keep_awake() -> io::Result<File> {
    let mut latency = OpenOptions::new().write(true).open("/dev/cpu_dma_latency")?;
    latency.write_all(&0i32.to_ne_bytes())?;
    Ok(latency)
}

/// Let the calling thread run before all that is not real-time.
fn real_time() -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: 10 };
    // SAFETY: the structure lives as long as the call; 0 is the calling thread.
    match unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
