//! The steady state of Invs: the simulated window against the model that is derived from the paper's equations 1 and 5.

use cwnd_experiment::{Buffer, FlowGroup};
use cwnd_experiment::{ExperimentSpec, LineDelay, StackChoice, Topology};
use cwnd_metrics::RunMetrics;
use cwnd_models::invs::{increase_factor, steady::Cycle};
use cwnd_scenario::{AlgorithmSpec, Engine, Rate, Scenario, StackProfile, Time};
use cwnd_sim::Simulator;

const PAYLOAD: f64 = 1_500.0;
const WIRE: f64 = 1_550.0;
const BETA: f64 = 0.8;

struct Path {
    rate: f64,
    rtt: f64,
}

impl Path {
    /// Packets that the pipe holds.
    fn pipe(&self) -> f64 {
        self.rate * self.rtt / (8.0 * WIRE)
    }

    /// One flow for 800 s, after 200 s that do not count, with a buffer of one bandwidth-delay product.
    fn scenario(&self) -> Scenario {
        let setup = ExperimentSpec {
            topology: Topology::Path,
            rate: Rate(self.rate as u64),
            delay: LineDelay::BaseRtt(Time((self.rtt * 1e9) as u64)),
            buffer: Buffer::from(self.pipe() as u32),
            stack: StackChoice {
                profile: StackProfile::Ns2,
                packet_size: Some(PAYLOAD as u32),
                ..StackChoice::default()
            },
            duration: Time::from_secs(1_000),
            warm_up: Time::from_secs(200),
            ..ExperimentSpec::default()
        };
        let invs = AlgorithmSpec { name: "invs".to_owned(), ..AlgorithmSpec::default() };
        setup.scenario(&[FlowGroup::new(invs, 1)], 1).expect("the setup can be met")
    }

    fn model(&self) -> Cycle {
        // The flow estimates the product from what it delivers: payload.
        let k = increase_factor(1.0, self.rtt, self.rate * PAYLOAD / WIRE * self.rtt);
        Cycle { room: 2.0 * self.pipe(), k, beta: BETA }
    }
}

#[test]
fn the_mean_window_is_that_of_the_model() {
    for (megabits, rtt) in [(100.0, 0.08), (100.0, 0.1), (50.0, 0.2), (200.0, 0.08)] {
        let path = Path { rate: megabits * 1e6, rtt };
        let (scenario, model) = (path.scenario(), path.model());
        let metrics = RunMetrics::new(&scenario, &Simulator.run(&scenario).expect("it runs"));
        let mean = metrics.flows[0].cwnd_mean.expect("it started");
        let expected = model.mean_window_in_queue();
        assert!((mean / expected - 1.0).abs() < 0.01, "{megabits} Mbit/s, {rtt} s: {mean} and {expected}");
        // Over 800 s an epoch more or less is some percent.
        let losses = metrics.congestion_events as f64;
        let epochs = 2.0 * metrics.packets_sent as f64 / model.packets();
        assert!((losses - epochs).abs() < 2.0 + 0.05 * epochs, "{megabits}, {rtt}: {losses} and {epochs}");
    }
}
