//! A recording of a run that has no outcome ends with the error of that run.

use cwnd_capture::{capture_with, default_points, log_with};
use cwnd_cc::{Ack, Congestion, CongestionControl, Init, Window};
use cwnd_experiment::{ExperimentSpec, FlowGroup, LineDelay, StackChoice, Topology};
use cwnd_scenario::{AlgorithmSpec, Rate, Scenario, StackProfile, Time};

/// Keeps its first window until it has seen some ACKs, and sets this window then.
struct Broken {
    acks_left: u32,
    cwnd: f64,
}

impl CongestionControl for Broken {
    fn init(&mut self, _: &mut Window, _: &Init) {}

    fn on_ack(&mut self, window: &mut Window, _: &Ack) {
        self.acks_left = self.acks_left.saturating_sub(1);
        if self.acks_left == 0 {
            window.cwnd = self.cwnd;
        }
    }

    fn on_congestion(&mut self, _: &mut Window, _: &Congestion) {}
}

fn scenario() -> Scenario {
    let setup = ExperimentSpec {
        topology: Topology::Path,
        rate: Rate(10_000_000),
        delay: LineDelay::BaseRtt(Time::from_millis(40)),
        duration: Time::from_secs(2),
        stack: StackChoice { profile: StackProfile::Linux, ..StackChoice::default() },
        ..ExperimentSpec::default()
    };
    let algorithm = AlgorithmSpec { name: "my-thing".to_owned(), ..AlgorithmSpec::default() };
    setup.scenario(&[FlowGroup::new(algorithm, 1)], 1).expect("the setup can be met")
}

/// Returns the errors of a capture, of a qlog file and of the run itself.
fn errors(cwnd: f64) -> [Option<String>; 3] {
    let scenario = scenario();
    let factory = |_: &AlgorithmSpec| -> Result<Box<dyn CongestionControl>, String> {
        Ok(Box::new(Broken { acks_left: 5, cwnd }))
    };
    let points = default_points(&scenario);
    [
        capture_with(&scenario, &factory, &points, Vec::new()).err().map(|error| error.to_string()),
        log_with(&scenario, &factory, Vec::new()).err().map(|error| error.to_string()),
        cwnd_sim::run_with(&scenario, &factory).err().map(|error| error.to_string()),
    ]
}

#[test]
fn recordings_end_with_the_error_of_the_run() {
    for (cwnd, value) in [(f64::NAN, "NaN"), (0.0, "0")] {
        let [captured, logged, run] = errors(cwnd);
        let run = run.expect("the run has no outcome");
        assert!(run.contains(&format!("flow 1: my-thing set cwnd to {value} at ")), "{run}");
        assert_eq!((captured.as_ref(), logged.as_ref()), (Some(&run), Some(&run)));
    }
    assert_eq!(errors(8.0), [None, None, None]);
}
