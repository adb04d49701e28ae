//! Faults that tests put into the endpoint, to show that they would be found.
//!
//! Without the feature `faults`, [`is`] is false at compile time.

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The reordering window is a quarter too long (RFC 8985).
    LongReorderingWindow,
    /// Proportional rate reduction takes the window before the reduction for one segment larger than it was.
    PrrShareTooSmall,
    /// An ACK on Linux's fast path does not restart the timer.
    FastPathForgetsTimer,
    /// Two segments SACKed above one mean its loss (RFC 6675's DupThresh).
    TwoSacksMeanLoss,
    /// A scoreboard that grows leaves its last two words behind.
    GrownScoreboardIsShort,
    /// What the last ACK SACKed is taken for one segment longer.
    KnownRangeTooLong,
    /// A timeout does not set `recover` (RFC 6582).
    TimeoutForgetsRecover,
    /// Proportional rate reduction counts retransmissions alone as sent (RFC 6937).
    NewDataNotCounted,
    /// ns-2's rate halving does not hold what is in flight.
    NothingHeld,
    /// A timeout forgets the retransmissions that stay in flight (RFC 8985).
    TimeoutForgetsRetransmissions,
    /// RACK passes over a probe's retransmission.
    ProbesPassedOver,
    /// An overtaken ACK is judged by the timestamp of the ACK before it (RFC 8985).
    StaleEcho,
    /// A timeout of `rack` leaves nothing in flight for the reordering window (RFC 8985).
    NoWindowAtTimeout,
    /// F-RTO undoes the reduction, and leaves segments declared lost (RFC 5682).
    UndoKeepsLosses,
    /// A sample does not end the backoff of the timeout (RFC 6298).
    SampleKeepsBackoff,
    /// The window keeps its size while the application is idle (RFC 2861).
    WindowKeptWhileIdle,
    /// Retransmissions are ECN-capable (RFC 3168).
    RetransmissionsAreCapable,
    /// A Linux receiver sends one quick ACK less.
    OneQuickAckLess,
    /// A receiver echoes the timestamp of the last packet, not of the first that no ACK covers (RFC 7323).
    EchoOfTheLast,
    /// A segment that arrives again does not move its range to the front of the SACK blocks (RFC 2018).
    RangesStayInPlace,
}

/// All faults.
pub const ALL: [Fault; 20] = [
    Fault::LongReorderingWindow,
    Fault::PrrShareTooSmall,
    Fault::FastPathForgetsTimer,
    Fault::TwoSacksMeanLoss,
    Fault::GrownScoreboardIsShort,
    Fault::KnownRangeTooLong,
    Fault::TimeoutForgetsRecover,
    Fault::NewDataNotCounted,
    Fault::NothingHeld,
    Fault::TimeoutForgetsRetransmissions,
    Fault::ProbesPassedOver,
    Fault::StaleEcho,
    Fault::NoWindowAtTimeout,
    Fault::UndoKeepsLosses,
    Fault::SampleKeepsBackoff,
    Fault::WindowKeptWhileIdle,
    Fault::RetransmissionsAreCapable,
    Fault::OneQuickAckLess,
    Fault::EchoOfTheLast,
    Fault::RangesStayInPlace,
];

#[cfg(feature = "faults")]
thread_local! {
    static ACTIVE: std::cell::Cell<Option<Fault>> = const { std::cell::Cell::new(None) };
}

/// Sets the fault of the endpoints that this thread runs, or removes it. Returns the previous one.
#[cfg(feature = "faults")]
pub fn set(fault: Option<Fault>) -> Option<Fault> {
    ACTIVE.replace(fault)
}

/// Returns whether a fault is active.
#[inline(always)]
pub fn is(fault: Fault) -> bool {
    #[cfg(feature = "faults")]
    return ACTIVE.get() == Some(fault);
    #[cfg(not(feature = "faults"))]
    {
        let _ = fault;
        false
    }
}
