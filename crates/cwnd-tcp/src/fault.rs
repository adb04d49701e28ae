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
}

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
