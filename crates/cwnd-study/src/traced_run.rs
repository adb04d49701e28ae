//! A run with its samples.

use cwnd_scenario::Trace;

/// What the name of a value of an algorithm's state begins with, in figures and as a column of files.
pub const STATE: &str = "state.";

/// A run with its samples, as figures and trace files take it.
#[derive(Clone, Copy, Debug)]
pub struct TracedRun<'a> {
    /// Name of the run: its algorithm with its parameters, or the text of the mix.
    pub algorithm: &'a str,
    /// The algorithm of every flow, in the scenario's order, where they differ. Flows past the end of this
    /// list (all of them, if it is empty) run [`TracedRun::algorithm`].
    pub flow_algorithms: &'a [&'a str],
    /// Seed of the run.
    pub seed: u64,
    /// Its samples.
    pub trace: &'a Trace,
    /// Name of the bottleneck among [`Trace::queues`].
    pub bottleneck: &'a str,
}

impl<'a> TracedRun<'a> {
    /// The algorithm of a flow (an index into the scenario's flows).
    pub fn algorithm_of(&self, flow: usize) -> &'a str {
        self.flow_algorithms.get(flow).copied().unwrap_or(self.algorithm)
    }
}
