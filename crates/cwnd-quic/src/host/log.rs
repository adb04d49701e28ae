//! What the implementation of a QUIC flow's sender writes about its connection: qlog.

use crate::host::check_with;
use crate::host::run::Run;
use cwnd_scenario::{EngineError, Scenario, Time};
use cwnd_sim::Factory;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// How much simulated time passes between two writes to the file, so that memory stays bounded.
const STEP: Time = Time::from_millis(100);

/// What a connection has written and nobody has taken yet.
#[derive(Clone, Debug, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs a whole scenario, and writes what the implementation of the QUIC flow number `flow` (from 0) says of its sender: qlog as JSON
/// text sequences, in the version and with the events of the implementation. Times are ms after the scenario's time zero; the
/// handshake may begin before.
///
/// # Errors
/// The flow is no QUIC flow, the scenario is refused, a connection fails, or `out` cannot be written.
pub fn log(
    scenario: &Scenario,
    flow: usize,
    factory: Factory<'_>,
    out: &mut dyn Write,
) -> Result<(), EngineError> {
    if scenario.flows.get(flow).is_none_or(|flow| flow.transport.is_tcp()) {
        return Err(EngineError::Failed(format!("flow {} is no QUIC flow", flow + 1)));
    }
    check_with(scenario, factory).map_err(EngineError::Refused)?;
    let log = Log::default();
    let mut run = Run::with_log(scenario, factory, Some((flow, log.clone())))?;
    let mut time = Time::ZERO;
    while time < scenario.duration {
        time = Time(time.0.saturating_add(STEP.0)).min(scenario.duration);
        run.until(time)?;
        out.write_all(&log.take()).map_err(|error| EngineError::Failed(error.to_string()))?;
    }
    Ok(())
}
