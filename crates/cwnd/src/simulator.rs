//! The simulator as this build has it: with the registered algorithms, trained policies (`policy:file=FILE.json`), and with the
//! feature `kernel` the kernel's algorithms, `elastic@kernel`. With the feature `quic` it hands scenarios with QUIC flows to the
//! engine of `cwnd-quic`.

#[cfg(feature = "kernel")]
mod with_kernel;

#[cfg(not(feature = "kernel"))]
use cwnd_gym::policy::factory;
use cwnd_scenario::{Cost, Engine, EngineError, Helpers, Identity, Outcome, Problem, Scenario};
use cwnd_sim::{Options, Shortcuts, check_with, run_with_options};
use std::io::Write;
#[cfg(feature = "kernel")]
use with_kernel::{factory, identity};

#[cfg(not(feature = "kernel"))]
fn identity(scenario: &Scenario) -> Identity {
    let mut identity = cwnd_sim::Simulator.identity(scenario);
    cwnd_gym::policy::identify(scenario, &mut identity);
    identity
}

/// The simulator, with the shortcuts that it may take. No outcome depends on them, so they are not part of the identity.
#[derive(Default)]
pub struct Simulator {
    options: Options,
}

impl Simulator {
    /// Creates a simulator that takes these shortcuts; `None` for all.
    pub fn new(shortcuts: Option<Shortcuts>) -> Simulator {
        Simulator { options: Options { shortcuts: shortcuts.unwrap_or_default(), ..Options::default() } }
    }
}

impl Engine for Simulator {
    fn check(&self, scenario: &Scenario) -> Result<Cost, Vec<Problem>> {
        #[cfg(feature = "quic")]
        if cwnd_quic::host::has_quic(scenario) {
            return cwnd_quic::host::check_with(scenario, &factory);
        }
        check_with(scenario, &factory)
    }

    fn identity(&self, scenario: &Scenario) -> Identity {
        let identity = identity(scenario);
        #[cfg(feature = "quic")]
        let identity = cwnd_quic::host::identified(scenario, identity);
        identity
    }

    fn run(&self, scenario: &Scenario) -> Result<Outcome, EngineError> {
        run(scenario, &self.options)
    }

    fn run_with_helpers(&self, scenario: &Scenario, helpers: &Helpers) -> Result<Outcome, EngineError> {
        let options = Options { helpers: helpers.clone(), ..self.options.clone() };
        run(scenario, &options)
    }
}

fn run(scenario: &Scenario, options: &Options) -> Result<Outcome, EngineError> {
    #[cfg(feature = "quic")]
    if cwnd_quic::host::has_quic(scenario) {
        return cwnd_quic::host::run_with_helpers(scenario, &factory, &options.helpers);
    }
    run_with_options(scenario, &factory, options)
}

/// Writes what the implementation of a QUIC flow's sender says of its connection.
///
/// # Errors
/// The run fails, or the file cannot be written.
#[cfg(feature = "quic")]
pub fn log_connection(scenario: &Scenario, flow: usize, out: &mut dyn Write) -> Result<(), EngineError> {
    cwnd_quic::host::log(scenario, flow, &factory, out)
}

/// A program without QUIC refuses QUIC flows before it runs anything.
#[cfg(not(feature = "quic"))]
pub fn log_connection(_: &Scenario, flow: usize, _: &mut dyn Write) -> Result<(), EngineError> {
    Err(EngineError::Failed(format!("flow {}: this program was built without the feature `quic`", flow + 1)))
}
