//! The simulator with the algorithms of the kernel: `elastic@kernel` is the C that `cwnd kernel load elastic` compiles to
//! BPF, here compiled natively.

use cwnd_cc::CongestionControl;
use cwnd_kernel::KernelAlgorithm;
use cwnd_scenario::{AlgorithmSpec, Engine, Identity, Scenario};
use cwnd_sim::Simulator;

/// Returns the simulator's identity; the version of an algorithm in C is the digest of its source. Without such an algorithm
/// it is the simulator's own identity, so stored results are valid for builds of both kinds.
pub fn identity(scenario: &Scenario) -> Identity {
    let mut identity = Simulator.identity(scenario);
    cwnd_gym::policy::identify(scenario, &mut identity);
    for spec in scenario.flows.iter().map(|flow| &flow.algorithm) {
        if let Some(Ok(algorithm)) = of_the_kernel(spec) {
            identity.versions.insert(spec.name.clone(), format!("sha256:{}", algorithm.source));
        }
    }
    identity
}

/// Creates an algorithm of either kind.
pub fn factory(spec: &AlgorithmSpec) -> Result<Box<dyn CongestionControl>, String> {
    let Some(algorithm) = of_the_kernel(spec) else { return cwnd_gym::policy::factory(spec) };
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
    use cwnd_experiment::ExperimentSpec;
    use cwnd_experiment::FlowGroup;

    fn identities(algorithm: &str) -> (Identity, Identity) {
        let group = FlowGroup::new(algorithm.parse().expect("a name"), 2);
        let scenario = ExperimentSpec::default().scenario(&[group], 1).expect("the setup can be met");
        (identity(&scenario), Simulator.identity(&scenario))
    }

    #[test]
    fn the_text_of_the_c_is_part_of_the_identity_and_of_nothing_else() {
        let (with_kernel, simulator) = identities("elastic");
        assert_eq!(with_kernel, simulator);
        let (with_kernel, mut simulator) = identities("elastic@kernel:beta=0.8");
        let source = cwnd_kernel::find("elastic").expect("it is there").source;
        assert_ne!(with_kernel, simulator);
        simulator.versions.insert("elastic@kernel".to_owned(), format!("sha256:{source}"));
        assert_eq!(with_kernel, simulator);
    }
}
