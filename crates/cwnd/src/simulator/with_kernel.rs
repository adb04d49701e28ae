//! The simulator with the algorithms of the kernel: `elastic@kernel` is the C that `cwnd kernel load elastic` compiles to
//! BPF, here compiled natively.

use cwnd_cc::CongestionControl;
use cwnd_kernel::KernelAlgorithm;
use cwnd_scenario::{AlgorithmSpec, Engine, Scenario};
use cwnd_sim::{Simulator, registered};
use std::collections::BTreeMap;

/// The identity of runs with algorithms of both kinds.
pub struct Identity;

impl Identity {
    /// Returns the simulator's identity, and for each algorithm in C the digest of its text. Where there is none it is the
    /// simulator's own, so that stored runs are valid for builds of both kinds.
    pub fn identity(&self, scenario: &Scenario) -> String {
        let in_c: BTreeMap<&str, &str> = scenario
            .flows
            .iter()
            .filter_map(|flow| of_the_kernel(&flow.algorithm)?.ok())
            .map(|algorithm| (algorithm.name, algorithm.source))
            .collect();
        let mut identity = Simulator.identity(scenario);
        for (name, source) in in_c {
            identity += &format!("\n{name} in C {source}");
        }
        identity
    }
}

/// Creates an algorithm of either kind.
pub fn factory(spec: &AlgorithmSpec) -> Result<Box<dyn CongestionControl>, String> {
    let Some(algorithm) = of_the_kernel(spec) else { return registered(spec) };
    let parameters: Vec<(String, String)> = spec.parameters.clone().into_iter().collect();
    cwnd_kernel::native(algorithm?, &parameters)
}

/// The algorithm in C, if it is one that is meant.
fn of_the_kernel(spec: &AlgorithmSpec) -> Option<Result<&'static KernelAlgorithm, String>> {
    spec.name.strip_suffix("@kernel").map(cwnd_kernel::find_or_explain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_scenario::FlowGroup;
    use cwnd_scenario::build::Setup;

    fn identity(algorithm: &str) -> (String, String) {
        let group = FlowGroup::new(algorithm.parse().expect("a name"), 2);
        let scenario = Setup::default().scenario(&[group], 1).expect("the setup can be met");
        (Identity.identity(&scenario), Simulator.identity(&scenario))
    }

    #[test]
    fn the_text_of_the_c_is_part_of_the_identity_and_of_nothing_else() {
        let (with_kernel, simulator) = identity("elastic");
        assert_eq!(with_kernel, simulator);
        let (with_kernel, simulator) = identity("elastic@kernel:beta=0.8");
        let source = cwnd_kernel::find("elastic").expect("it is there").source;
        assert_eq!(with_kernel, format!("{simulator}\nelastic in C {source}"));
    }
}
