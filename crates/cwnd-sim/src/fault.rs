//! Faults that tests can put into the engine, to check that the tests find them.
//!
//! Without the feature `faults`, [`is`] is false at compile time.

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A queue holds one packet more than its limit.
    RoomForOneMore,
    /// A queue marks one packet too late.
    MarkTooLate,
    /// A packet that leaves just as another arrives is always gone.
    LeavesTooEarly,
    /// Of two inputs with a packet at the same time the second comes first.
    TiesTurned,
    /// Of simultaneous arrivals at a link the first input comes first, also where turns decide.
    TurnsForgotten,
    /// A stage handles what is a microsecond beyond its frontier.
    PastTheFrontier,
    /// A timer that moves earlier is noticed only at its old time.
    TimerNoticedLate,
    /// An inline receiver takes any segment for the expected one.
    InlineOutOfOrder,
    /// An inline receiver is ahead of samples although packets wait at its links.
    AheadOfWaiting,
    /// ACKs pass every link as if it were a zero-queue link.
    AllZeroQueue,
    /// Zero-queue links are open also while a short first packet is under way.
    OpensTooEarly,
    /// A run also does what happens at the time at which it stops.
    PastTheStop,
    /// A change of rate leaves the packet in transmission alone.
    OldRateInTransmission,
    /// After a change to a shorter delay packets overtake.
    Overtaking,
    /// A change of loss keeps the losses drawn ahead.
    OldLosses,
    /// Packets that come to an inlet's link before the stop, but to no endpoint, do not cross it.
    InletNotSettled,
    /// The same at a step of an inlet's link.
    StepBeforeArrivals,
    /// Waiting time beyond the end counts.
    WaitingBeyondTheEnd,
    /// A transmitter takes its next packet before what arrives as the last one leaves.
    AsksTooEarly,
    /// A link that keeps its queue ignores the packet in transmission when it promises how long it is quiet.
    PromisesTooMuch,
    /// After a change of rate or delay, no packet overtakes packets that were passed on before.
    NotTakenBack,
    /// Transmitter and line of a link are not told about the packets of a steady run.
    NotSettled,
    /// A fault of the endpoint.
    Endpoint(cwnd_tcp::fault::Fault),
}

/// All faults.
pub const ALL: [Fault; 25] = [
    Fault::RoomForOneMore,
    Fault::MarkTooLate,
    Fault::LeavesTooEarly,
    Fault::TiesTurned,
    Fault::TurnsForgotten,
    Fault::PastTheFrontier,
    Fault::TimerNoticedLate,
    Fault::InlineOutOfOrder,
    Fault::AheadOfWaiting,
    Fault::AllZeroQueue,
    Fault::OpensTooEarly,
    Fault::PastTheStop,
    Fault::OldRateInTransmission,
    Fault::Overtaking,
    Fault::OldLosses,
    Fault::InletNotSettled,
    Fault::StepBeforeArrivals,
    Fault::WaitingBeyondTheEnd,
    Fault::AsksTooEarly,
    Fault::PromisesTooMuch,
    Fault::NotTakenBack,
    Fault::NotSettled,
    Fault::Endpoint(cwnd_tcp::fault::Fault::LongReorderingWindow),
    Fault::Endpoint(cwnd_tcp::fault::Fault::PrrShareTooSmall),
    Fault::Endpoint(cwnd_tcp::fault::Fault::FastPathForgetsTimer),
];

#[cfg(feature = "faults")]
thread_local! {
    static ACTIVE: std::cell::Cell<Option<Fault>> = const { std::cell::Cell::new(None) };
}

/// Sets the fault of the engine as this thread runs it, or removes it. Returns the previous one.
#[cfg(feature = "faults")]
pub fn set(fault: Option<Fault>) -> Option<Fault> {
    cwnd_tcp::fault::set(match fault {
        Some(Fault::Endpoint(fault)) => Some(fault),
        _ => None,
    });
    ACTIVE.replace(fault)
}

/// Returns whether a fault is set.
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
