//! TCP congestion control algorithms, one file each.
//!
//! A transport owns a [`Window`] and tells a [`CongestionControl`] what happened; the algorithm answers
//! by changing the window, the slow-start threshold and, if it paces, the rate. Nothing here does I/O,
//! reads a clock or draws a random number: time is an argument, and a seed comes with [`Init`]. Every
//! transcendental function comes from `libm`, so that the same events give the same bits everywhere.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[macro_use]
mod parameters;
pub mod algorithms;
mod compat;
mod event;
pub mod parts;
mod registry;
#[cfg(test)]
mod testing;
mod time;
mod window;

pub use compat::{AckCompat, CompatNeeds};
pub use event::{
    Ack, Congestion, CongestionKind, DupAck, EcnMode, FlowHints, Init, LostPacket, Needs, RateSample, State,
};
pub use parameters::{
    Parameter, ParameterError, ParameterKind, ParameterSet, ParameterValue, Parameters, Setting,
};
pub use registry::{AlgorithmInfo, Configurable, Signal, all, build, find};
pub use time::Nanos;
pub use window::{Arithmetic, Window, WindowConfig};

/// A congestion control algorithm of one flow.
///
/// The transport calls one method an event, always with the flow's [`Window`]. What each event means,
/// and what the transport has done before it calls, is said at the method. The shape follows Linux's
/// `tcp_congestion_ops`, so that the same algorithm can stand in a kernel.
pub trait CongestionControl: Send {
    /// The connection is established: the window holds the stack's initial values, which may be changed.
    fn init(&mut self, _window: &mut Window, _init: &Init) {}

    /// An ACK told something new: it acknowledged or SACKed segments, or carried ECN marks.
    ///
    /// Called in every state, after loss detection and the change of state that the ACK caused. Grow the
    /// window only when [`Ack::may_grow`] says so; measure always.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);

    /// A congestion episode begins, once per window of data: a loss was found, an ECN echo came, or the
    /// retransmission timer ran out.
    ///
    /// The answer is `window.ssthresh` (through [`Window::set_ssthresh_for_loss`], which also forgets the counted
    /// fraction of a step), and where the algorithm wishes,
    /// `window.recovery_cwnd` and `window.restart_cwnd`; the transport then moves `window.cwnd` in its own
    /// way (at once, or by proportional rate reduction). `window.cwnd` still holds the window before the
    /// event.
    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion);

    /// Recovery is over and the window has been set (usually to `ssthresh`).
    fn on_recovery_exit(&mut self, _window: &mut Window, _now: Nanos) {}

    /// The last congestion event proved spurious; `cwnd` and `ssthresh` are at least what they were before
    /// it.
    fn on_undo(&mut self, _window: &mut Window, _now: Nanos) {}

    /// The flow sends again after it had nothing in flight for `idle`.
    fn on_idle_restart(&mut self, _window: &mut Window, _now: Nanos, _idle: Nanos) {}

    /// A duplicate ACK came (no new cumulative acknowledgement).
    fn on_dup_ack(&mut self, _window: &mut Window, _dup: &DupAck) {}

    /// One segment was declared lost. Called only if [`Needs::lost_packets`] is set.
    fn on_packet_lost(&mut self, _window: &mut Window, _lost: &LostPacket) {}

    /// What the transport must provide beyond the plain events.
    fn needs(&self) -> Needs {
        Needs::default()
    }
}
