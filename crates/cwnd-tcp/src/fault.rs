//! Faults that tests can put into the endpoint, to see that the tests would find them.
//!
//! Without the feature `faults` every question here is answered "no" at compile time.

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Reordering is tolerated a quarter longer (RFC 8985).
    LongReorderingWindow,
    /// Proportional rate reduction takes shares of one segment more than there were.
    ShareOfMore,
    /// An ACK that goes the short way leaves the retransmission timer alone.
    ShortWayForgetsTimer,
}

#[cfg(feature = "faults")]
thread_local! {
    static ACTIVE: std::cell::Cell<Option<Fault>> = const { std::cell::Cell::new(None) };
}

/// Puts a fault into the endpoints that this thread runs, or takes it out. Returns the one before.
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
