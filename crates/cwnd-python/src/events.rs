//! What an algorithm in Python is told, and the window that it moves.
//!
//! An object of each kind is made once for a flow and refilled for every event, since making one costs as much as the call. An
//! algorithm that keeps one must copy what it needs.

use cwnd_cc::{
    Ack, Congestion, CongestionKind, DupAck, EcnMode, Init, LostPacket, Nanos, RateSample, State, Window,
};
use pyo3::prelude::*;

/// Seconds; NaN where the time is not known.
fn seconds(time: Nanos) -> f64 {
    if time == Nanos::MAX { f64::NAN } else { time.as_secs_f64() }
}

fn state(state: State) -> &'static str {
    match state {
        State::Open => "open",
        State::Disorder => "disorder",
        State::Cwr => "cwr",
        State::Recovery => "recovery",
        State::Loss => "loss",
    }
}

/// The congestion window of a flow, in segments.
#[pyclass(name = "Window", module = "cwnd")]
pub struct PyWindow(pub Window);

#[pymethods]
impl PyWindow {
    /// Congestion window, segments.
    #[getter]
    fn cwnd(&self) -> f64 {
        self.0.cwnd
    }
    #[setter]
    fn set_cwnd(&mut self, segments: f64) -> PyResult<()> {
        self.0.set_cwnd(finite("cwnd", segments)?);
        Ok(())
    }
    /// Slow-start threshold, segments; infinite until it is set.
    #[getter]
    fn ssthresh(&self) -> f64 {
        self.0.ssthresh
    }
    #[setter]
    fn set_ssthresh(&mut self, segments: f64) -> PyResult<()> {
        self.0.set_ssthresh_for_loss(positive("ssthresh", segments)?);
        Ok(())
    }
    /// Rate at which packets are spaced, bytes a second of payload; infinite if they are not.
    #[getter]
    fn pacing_rate(&self) -> f64 {
        self.0.pacing_rate
    }
    #[setter]
    fn set_pacing_rate(&mut self, rate: f64) -> PyResult<()> {
        self.0.pacing_rate = positive("pacing_rate", rate)?;
        Ok(())
    }
    /// The window to hold during recovery, if not the stack's own choice, segments.
    #[getter]
    fn recovery_cwnd(&self) -> Option<f64> {
        self.0.recovery_cwnd
    }
    #[setter]
    fn set_recovery_cwnd(&mut self, segments: Option<f64>) -> PyResult<()> {
        self.0.recovery_cwnd = segments.map(|segments| finite("recovery_cwnd", segments)).transpose()?;
        Ok(())
    }
    /// The window after a timeout, segments.
    #[getter]
    fn restart_cwnd(&self) -> f64 {
        self.0.restart_cwnd
    }
    #[setter]
    fn set_restart_cwnd(&mut self, segments: f64) -> PyResult<()> {
        self.0.restart_cwnd = finite("restart_cwnd", segments)?;
        Ok(())
    }
    /// Bytes of payload in a segment.
    #[getter]
    fn mss(&self) -> u32 {
        self.0.mss()
    }
    /// Whether the window is under the slow-start threshold.
    #[getter]
    fn in_slow_start(&self) -> bool {
        self.0.in_slow_start()
    }
    /// Grows by `acked` segments, but not over the threshold. Returns how many segments are left for congestion avoidance.
    fn slow_start(&mut self, acked: u32) -> u32 {
        self.0.slow_start(acked)
    }
    /// Grows by one segment for each `per_segment` acknowledged ones, in the stack's arithmetic (Linux counts whole segments).
    fn increase(&mut self, acked: u32, per_segment: f64) -> PyResult<()> {
        self.0.increase(acked, positive("per_segment", per_segment)?);
        Ok(())
    }
    fn __repr__(&self) -> String {
        format!("<cwnd.Window: cwnd={} ssthresh={}>", self.0.cwnd, self.0.ssthresh)
    }
}

fn positive(name: &str, value: f64) -> PyResult<f64> {
    if value > 0.0 {
        return Ok(value);
    }
    Err(pyo3::exceptions::PyValueError::new_err(format!("{name} is {value}; it must be a number over 0")))
}

/// Refuses an infinite window, too: the stack would take it as the receive window without a word.
fn finite(name: &str, value: f64) -> PyResult<f64> {
    if value != f64::INFINITY {
        return positive(name, value);
    }
    Err(pyo3::exceptions::PyValueError::new_err(format!(
        "{name} is infinite; it must be a finite number over 0"
    )))
}

/// An ACK that acknowledged or SACKed segments, or carried ECN marks.
#[pyclass(name = "Ack", module = "cwnd")]
#[derive(Default)]
pub struct PyAck(pub Ack);

#[pymethods]
impl PyAck {
    /// The time, seconds on the connection's clock.
    #[getter]
    fn now(&self) -> f64 {
        self.0.now.as_secs_f64()
    }
    /// Segments acknowledged or SACKed for the first time.
    #[getter]
    fn acked(&self) -> u32 {
        self.0.acked
    }
    /// Of them, those that are acknowledged cumulatively.
    #[getter]
    fn cumulative(&self) -> u32 {
        self.0.cumulative
    }
    /// Segments found lost by this ACK.
    #[getter]
    fn lost(&self) -> u32 {
        self.0.lost
    }
    /// Segments that it says were marked (ECN).
    #[getter]
    fn marked(&self) -> u32 {
        self.0.marked
    }
    /// The round-trip time that it measured, seconds; None if it did not.
    #[getter]
    fn rtt(&self) -> Option<f64> {
        self.0.rtt.map(seconds)
    }
    /// Smoothed round-trip time, seconds.
    #[getter]
    fn srtt(&self) -> f64 {
        seconds(self.0.srtt)
    }
    /// Smallest round-trip time so far, seconds; NaN before the first.
    #[getter]
    fn min_rtt(&self) -> f64 {
        seconds(self.0.min_rtt)
    }
    /// Segments in flight after it.
    #[getter]
    fn in_flight(&self) -> u32 {
        self.0.in_flight
    }
    /// Segments in flight before it.
    #[getter]
    fn prior_in_flight(&self) -> u32 {
        self.0.prior_in_flight
    }
    /// State of loss recovery: "open", "disorder", "cwr", "recovery" or "loss".
    #[getter]
    fn state(&self) -> &'static str {
        state(self.0.state)
    }
    /// Whether the window is what held the sender back.
    #[getter]
    fn cwnd_limited(&self) -> bool {
        self.0.cwnd_limited
    }
    /// Whether the application was.
    #[getter]
    fn app_limited(&self) -> bool {
        self.0.app_limited
    }
    /// Whether a round trip begins with it.
    #[getter]
    fn round_start(&self) -> bool {
        self.0.round_start
    }
    /// Round trips so far.
    #[getter]
    fn round(&self) -> u64 {
        self.0.round
    }
    /// Segments delivered so far.
    #[getter]
    fn delivered(&self) -> u64 {
        self.0.delivered
    }
    /// Segments sent so far.
    #[getter]
    fn sent(&self) -> u64 {
        self.0.sent
    }
    /// The delivery-rate sample, if the class asks for them (`rate_samples = True`).
    #[getter]
    fn rate(&self) -> Option<PyRateSample> {
        self.0.rate.map(PyRateSample)
    }
    /// Whether the window may grow: something was acknowledged in order, the window was full, and no recovery is on.
    #[getter]
    fn may_grow(&self) -> bool {
        self.0.may_grow()
    }
}

/// A sample of the rate at which segments are delivered (as in Linux and the draft on delivery rate estimation).
#[pyclass(name = "RateSample", module = "cwnd", frozen)]
pub struct PyRateSample(RateSample);

#[pymethods]
impl PyRateSample {
    /// Segments delivered over the interval.
    #[getter]
    fn delivered(&self) -> u64 {
        self.0.delivered
    }
    /// Segments that had been delivered when the acknowledged one was sent.
    #[getter]
    fn prior_delivered(&self) -> u64 {
        self.0.prior_delivered
    }
    /// The interval, seconds.
    #[getter]
    fn interval(&self) -> f64 {
        seconds(self.0.interval)
    }
    /// Whether the application held the sender back in it.
    #[getter]
    fn app_limited(&self) -> bool {
        self.0.app_limited
    }
    /// Segments in flight when the acknowledged one was sent.
    #[getter]
    fn tx_in_flight(&self) -> u32 {
        self.0.tx_in_flight
    }
    /// Segments lost over the interval.
    #[getter]
    fn lost(&self) -> u64 {
        self.0.lost
    }
    /// The rate, segments a second; 0 if the interval is empty.
    #[getter]
    fn segments_per_second(&self) -> f64 {
        self.0.segments_per_second()
    }
}

/// The beginning of a congestion episode.
#[pyclass(name = "Congestion", module = "cwnd", frozen)]
pub struct PyCongestion(pub Congestion);

#[pymethods]
impl PyCongestion {
    /// The time, seconds.
    #[getter]
    fn now(&self) -> f64 {
        self.0.now.as_secs_f64()
    }
    /// "loss", "ecn" or "timeout".
    #[getter]
    fn kind(&self) -> &'static str {
        match self.0.kind {
            CongestionKind::Loss => "loss",
            CongestionKind::Ecn => "ecn",
            CongestionKind::Timeout => "timeout",
        }
    }
    /// Segments in flight.
    #[getter]
    fn in_flight(&self) -> u32 {
        self.0.in_flight
    }
    /// Segments found lost.
    #[getter]
    fn lost(&self) -> u32 {
        self.0.lost
    }
    /// The last round-trip time, seconds.
    #[getter]
    fn rtt(&self) -> f64 {
        seconds(self.0.rtt)
    }
    /// Smoothed round-trip time, seconds.
    #[getter]
    fn srtt(&self) -> f64 {
        seconds(self.0.srtt)
    }
    /// Smallest round-trip time, seconds.
    #[getter]
    fn min_rtt(&self) -> f64 {
        seconds(self.0.min_rtt)
    }
    /// How many timeouts in a row this is; 0 for other kinds.
    #[getter]
    fn timeouts(&self) -> u32 {
        self.0.timeouts
    }
    /// Whether the flow was in slow start.
    #[getter]
    fn in_slow_start(&self) -> bool {
        self.0.in_slow_start
    }
}

/// A duplicate ACK.
#[pyclass(name = "DupAck", module = "cwnd", frozen)]
pub struct PyDupAck(pub DupAck);

#[pymethods]
impl PyDupAck {
    /// The time, seconds.
    #[getter]
    fn now(&self) -> f64 {
        self.0.now.as_secs_f64()
    }
    /// Segments that it SACKed.
    #[getter]
    fn sacked(&self) -> u32 {
        self.0.sacked
    }
    /// The how many-th in a row it is.
    #[getter]
    fn count(&self) -> u32 {
        self.0.count
    }
}

/// A segment that was declared lost.
#[pyclass(name = "LostPacket", module = "cwnd", frozen)]
pub struct PyLostPacket(pub LostPacket);

#[pymethods]
impl PyLostPacket {
    /// The time, seconds.
    #[getter]
    fn now(&self) -> f64 {
        self.0.now.as_secs_f64()
    }
    /// When it was sent, seconds.
    #[getter]
    fn sent(&self) -> f64 {
        self.0.sent.as_secs_f64()
    }
    /// Segments in flight when it was sent.
    #[getter]
    fn tx_in_flight(&self) -> u32 {
        self.0.tx_in_flight
    }
    /// Segments lost so far.
    #[getter]
    fn lost(&self) -> u64 {
        self.0.lost
    }
}

/// The beginning of a connection.
#[pyclass(name = "Init", module = "cwnd", frozen)]
pub struct PyInit(pub Init);

#[pymethods]
impl PyInit {
    /// The time, seconds.
    #[getter]
    fn now(&self) -> f64 {
        self.0.now.as_secs_f64()
    }
    /// Seed of the algorithm's own choices: use it for `random.Random(init.seed)`, so that runs can be repeated.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed
    }
    /// What ECN gives: "off", "classic" (one echo a round trip) or "exact" (all marks).
    #[getter]
    fn ecn(&self) -> &'static str {
        match self.0.ecn {
            EcnMode::Off => "off",
            EcnMode::Classic => "classic",
            EcnMode::Exact => "exact",
        }
    }
    /// Whether the peer sends SACK.
    #[getter]
    fn sack(&self) -> bool {
        self.0.sack
    }
    /// The round-trip time of the handshake, seconds; None if it is not known.
    #[getter]
    fn rtt(&self) -> Option<f64> {
        self.0.rtt.map(seconds)
    }
    /// Bytes that the flow will send, if that is known.
    #[getter]
    fn bytes(&self) -> Option<u64> {
        self.0.hints.bytes
    }
}
