//! The simulator with the algorithms of the kernel: `elastic@kernel` is the C that `cwnd kernel load elastic` compiles to
//! BPF, here compiled natively.

use cwnd_cc::CongestionControl;
use cwnd_scenario::{AlgorithmSpec, Cost, Engine, EngineError, Outcome, Problem, Scenario};
use cwnd_sim::{Simulator, check_with, registered, run_with};

/// The simulator, for algorithms of both kinds.
pub struct WithKernel;

impl Engine for WithKernel {
    fn check(&self, scenario: &Scenario) -> Result<Cost, Vec<Problem>> {
        check_with(scenario, &factory)
    }

    fn identity(&self, scenario: &Scenario) -> String {
        format!("{}\nthe kernel's C of cwnd {}", Simulator.identity(scenario), env!("CARGO_PKG_VERSION"))
    }

    fn run(&self, scenario: &Scenario) -> Result<Outcome, EngineError> {
        run_with(scenario, &factory)
    }
}

fn factory(spec: &AlgorithmSpec) -> Result<Box<dyn CongestionControl>, String> {
    let Some(name) = spec.name.strip_suffix("@kernel") else { return registered(spec) };
    let algorithm = cwnd_kernel::find_or_explain(name)?;
    let parameters: Vec<(String, String)> = spec.parameters.clone().into_iter().collect();
    cwnd_kernel::native(algorithm, &parameters)
}
