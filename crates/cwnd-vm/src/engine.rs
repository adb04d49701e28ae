//! The laboratory in a virtual machine, as an engine.

use crate::initramfs::Job;
use crate::kernel::{Kernel, default_folder};
use crate::machine::Machine;
use cwnd_lab::{Lab, PacketObserver};
use cwnd_scenario::{Cost, Engine, EngineError, Identity, Outcome, Problem, Scenario, Trace};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Counts up whenever what a run answers changes, so that stored results are told apart.
pub const VERSION: u32 = 8;

/// The kernel of runs that name none.
pub const DEFAULT_KERNEL: &str = "6.12";

/// Seconds of the host's CPU that booting takes, about.
const BOOT_S: f64 = 4.5;
/// Seconds of the host's CPU for each packet, and for each second of the scenario.
const PACKET_S: f64 = 250e-6;
const SECOND_S: f64 = 0.5;

/// The engine of kernels in virtual machines.
#[derive(Clone, Debug)]
pub struct VirtualKernel {
    machine: Machine,
    stop: Arc<AtomicBool>,
}

impl VirtualKernel {
    /// Creates an engine whose runs are over the newest kernel of this version (see [`Kernel::find`]), which is fetched if need be.
    /// Runs end soon, as failed, once `stop` is true.
    ///
    /// # Errors
    /// Something is missing, or the kernel cannot be had.
    pub fn new(version: &str, stop: Arc<AtomicBool>) -> Result<VirtualKernel, String> {
        let missing = crate::missing();
        if !missing.is_empty() {
            return Err(missing.join("; "));
        }
        let kernel = Kernel::find(version, &default_folder())?;
        Ok(VirtualKernel { machine: Machine::new(kernel)?, stop })
    }

    /// Runs a scenario while its packets are captured. Returns them too, as a file of pcapng. The capture takes time of the machine's
    /// processor, so that the outcome may differ from that of [`Engine::run`].
    ///
    /// # Errors
    /// See [`Engine::run`].
    pub fn run_captured(&self, scenario: &Scenario) -> Result<(Outcome, Vec<u8>), EngineError> {
        let answer = "cwnd lab answer scenario.json --pcap packets.pcapng > result 2> said";
        self.ask(scenario, &format!("{answer} && cat packets.pcapng >> result"))
    }

    /// Has the machine run commands that write an answer into `result`, and why they failed into `said`. Returns the outcome, and
    /// what comes after it.
    fn ask(&self, scenario: &Scenario, commands: &str) -> Result<(Outcome, Vec<u8>), EngineError> {
        let cost = self.check(scenario).map_err(EngineError::Refused)?;
        // Other programs share the processor.
        let expected = Duration::try_from_secs_f64(10.0 * cost.wall_s).unwrap_or(Duration::MAX);
        let machine = Machine { at_most: expected.max(self.machine.at_most), ..self.machine.clone() };
        let text = serde_json::to_vec(scenario).map_err(|error| EngineError::Failed(error.to_string()))?;
        let job = Job {
            script: format!("{commands} || {{ code=$?; cat said > result; exit $code; }}"),
            files: vec![("scenario.json".to_owned(), text)],
            ..Job::default()
        };
        let ended = machine.run(&job, &self.stop, |_| ()).map_err(EngineError::Failed)?;
        if ended.code != 0 {
            let why = match String::from_utf8_lossy(&ended.result).trim() {
                "" => format!(
                    "cwnd ended with {} in the machine and said nothing (137: it was killed, as when memory is short)",
                    ended.code
                ),
                why => why.to_owned(),
            };
            return Err(EngineError::Failed(why));
        }
        let mut rest = &ended.result[..];
        let outcome = Answer::read(&mut rest)
            .map_err(|error| EngineError::Failed(format!("the machine's answer cannot be read: {error}")))?;
        Ok((outcome, rest.to_vec()))
    }
}

impl Engine for VirtualKernel {
    fn check(&self, scenario: &Scenario) -> Result<Cost, Vec<Problem>> {
        let cost = cwnd_lab::check_elsewhere(scenario)?;
        let seconds = scenario.duration.as_secs_f64();
        let cpu_s = BOOT_S + seconds * SECOND_S + cost.packets * PACKET_S;
        let memory = f64::from(self.machine.memory) * f64::from(1 << 20);
        if cost.memory > memory / 2.0 {
            let message = format!(
                "it holds about {:.0} MB of packets, and a virtual machine has {} MiB of memory: take a smaller buffer or delay",
                cost.memory / 1e6,
                self.machine.memory
            );
            return Err(vec![Problem { place: "network".to_owned(), message }]);
        }
        Ok(Cost { cpu_s, wall_s: cpu_s, memory, ..cost })
    }

    fn identity(&self, _: &Scenario) -> Identity {
        let Kernel { release, digest, .. } = &self.machine.kernel;
        Identity::new(
            "cwnd-vm",
            [
                ("cwnd-vm", VERSION.to_string()),
                ("cwnd-lab", cwnd_lab::VERSION.to_string()),
                ("cwnd", env!("CARGO_PKG_VERSION").to_owned()),
                ("kernel", format!("{release} {}", &digest[..16])),
            ],
        )
    }

    fn run(&self, scenario: &Scenario) -> Result<Outcome, EngineError> {
        self.ask(scenario, "cwnd lab answer scenario.json > result 2> said").map(|(outcome, _)| outcome)
    }
}

/// What a virtual machine answers. Outcomes are serialized without their samples.
#[derive(Deserialize, Serialize)]
struct Answer {
    outcome: Outcome,
    trace: Option<Trace>,
}

impl Answer {
    fn write(mut outcome: Outcome) -> Result<Vec<u8>, String> {
        let (mut bytes, trace) = (Vec::new(), outcome.trace.take());
        ciborium::into_writer(&Answer { outcome, trace }, &mut bytes).map_err(|error| error.to_string())?;
        Ok(bytes)
    }

    /// Reads an answer, and leaves what comes after it.
    fn read(bytes: &mut &[u8]) -> Result<Outcome, String> {
        let Answer { outcome, trace } = ciborium::from_reader(bytes).map_err(|error| error.to_string())?;
        Ok(Outcome { trace, ..outcome })
    }
}

/// Runs a scenario over the kernel of the machine that this program is in, while an observer is shown the packets: what a virtual machine
/// is asked to do.
///
/// # Errors
/// See [`Engine::run`].
pub fn answer(scenario: &[u8], observer: Option<Box<dyn PacketObserver>>) -> Result<Vec<u8>, String> {
    let scenario: Scenario =
        serde_json::from_slice(scenario).map_err(|error| format!("the scenario: {error}"))?;
    let outcome = Lab::default().run_observed(&scenario, observer).map_err(|error| error.to_string())?;
    Answer::write(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_scenario::{FlowOutcome, Observed, Sample, SampleState, Time};

    #[test]
    fn an_answer_keeps_its_samples_and_what_json_has_not() {
        let sample = Sample {
            time_index: 0,
            flow: 0,
            cwnd: 10.5,
            ssthresh: f64::INFINITY,
            rtt: None,
            delivered_bytes: 1,
            in_flight: 2,
            sent: Some((3, 0)),
            state: SampleState::Open,
        };
        let observed = Observed { flow: 0, name: "alpha".to_owned(), values: vec![f64::NAN] };
        let trace = Trace {
            queues: vec!["a-b".to_owned()],
            samples: vec![sample],
            queue_lengths: vec![vec![7]],
            times: vec![Time(5)],
            observed: vec![observed],
        };
        let flow = FlowOutcome { ssthresh: f64::INFINITY, cwnd: 0.1, ..FlowOutcome::default() };
        let outcome = Outcome { flows: vec![flow], trace: Some(trace), ..Outcome::default() };
        let mut written = Answer::write(outcome.clone()).unwrap();
        written.extend(b"packets");
        let mut rest = &written[..];
        assert_eq!(Answer::read(&mut rest).unwrap(), outcome);
        assert_eq!(rest, b"packets");
    }
}
