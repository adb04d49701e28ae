#![doc = include_str!("../README.md")]
//!
//! # Conventions
//!
//! Time is an argument, and the seed of an algorithm's own choices comes with [`Init`]. Every transcendental function
//! comes from `libm`, so that the same events give the same bits on every machine.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

#[macro_use]
mod parameters;
pub mod algorithms;
mod compat;
mod event;
mod info;
mod observable;
pub mod parts;
#[cfg(test)]
mod testing;
mod time;
pub mod transport;
mod window;

pub use algorithms::{all, find};
pub use compat::{AckCompat, CompatNeeds};
pub use event::{
    Ack, Congestion, CongestionKind, DupAck, EcnMode, FlowHints, Frame, Init, LostPacket, Needs, RateSample,
    State,
};
pub use info::{AlgorithmInfo, Configurable, Signal, build};
pub use observable::{Observable, Observation};
pub use parameters::{
    Parameter, ParameterError, ParameterKind, ParameterSet, ParameterValue, Parameters, Setting,
};
pub use time::Nanos;
pub use window::{Arithmetic, IllegalValue, Window, WindowConfig};

/// A congestion control algorithm of one flow.
///
/// The transport calls one method for each event and passes the flow's [`Window`]. Each method documents its event and what the
/// transport has done before the call. The events follow Linux's `tcp_congestion_ops`, so that an algorithm can also be
/// written as a kernel module.
pub trait CongestionControl: Send {
    /// Starts a connection. The window has the stack's initial values, which the algorithm may change.
    fn init(&mut self, _window: &mut Window, _init: &Init) {}

    /// Handles an ACK that acknowledged or SACKed segments, or carried ECN marks.
    ///
    /// The transport calls it in every state, after loss detection and the change of state that the ACK caused. The algorithm
    /// grows the window only if [`Ack::may_grow`] returns true, and takes its measurements always.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);

    /// Handles the beginning of a congestion episode, once per window of data: a loss was detected, an ECN echo arrived, or
    /// the retransmission timer expired.
    ///
    /// The algorithm sets the threshold with [`Window::set_ssthresh_for_loss`]. It may set `window.recovery_cwnd` and
    /// `window.restart_cwnd`. The transport then moves `window.cwnd` (at once, or by proportional rate reduction); during the
    /// call it is still the window before the event.
    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion);

    /// Handles the end of recovery. The transport has set the window, usually to `ssthresh`.
    fn on_recovery_exit(&mut self, _window: &mut Window, _now: Nanos) {}

    /// Handles a congestion event that proved spurious. The transport has restored `cwnd` and `ssthresh` to at least their
    /// values before the event.
    fn on_undo(&mut self, _window: &mut Window, _now: Nanos) {}

    /// Handles the first transmission after the flow had nothing in flight for `idle`.
    fn on_idle_restart(&mut self, _window: &mut Window, _now: Nanos, _idle: Nanos) {}

    /// Handles a duplicate ACK, which acknowledges nothing new cumulatively.
    fn on_dup_ack(&mut self, _window: &mut Window, _dup: &DupAck) {}

    /// Handles a segment that was declared lost. Called only if [`Needs::lost_packets`] is set.
    fn on_packet_lost(&mut self, _window: &mut Window, _lost: &LostPacket) {}

    /// Returns the rate at which the flow's media encoder makes its next frame, bytes a second. Called once for each frame of a
    /// flow whose source is an encoder. By default it is a window each smoothed round-trip time (RFC 8298, section 4.1.2.3); zero, for
    /// the smallest frame, before the first sample.
    fn on_frame(&mut self, window: &Window, frame: &Frame) -> f64 {
        match frame.srtt {
            Nanos::ZERO => 0.0,
            srtt => window.cwnd * f64::from(window.mss()) / srtt.as_secs_f64(),
        }
    }

    /// Returns what the transport must provide beyond these events.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Returns what [`observe`](Self::observe) writes, in that order. It is the same throughout a connection.
    fn observables(&self) -> &'static [Observable] {
        &[]
    }

    /// Writes the present value of each observable into `values`, which is as long as [`observables`](Self::observables). NaN
    /// stands for a value that is not known yet.
    ///
    /// A recording calls it at its sample times, and nobody calls it otherwise. An algorithm therefore computes here what it
    /// does not keep.
    fn observe(&self, _window: &Window, _at: &Observation, _values: &mut [f64]) {}
}
