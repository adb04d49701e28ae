//! Faults that tests can put into the engine, to see that the tests would find them.
//!
//! Without the feature `faults` every question here is answered "no" at compile time.

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
    /// An echo takes any segment for the one expected.
    EchoOutOfOrder,
    /// ACKs pass every link as if it could not queue.
    AllTransparent,
    /// Links are transparent also while a short first packet is under way.
    OpensTooEarly,
    /// A run that stops does what happens at its end.
    PastTheStop,
    /// A change of rate leaves the packet in transmission alone.
    OldRateInTransmission,
    /// After a change to a shorter delay packets overtake.
    Overtaking,
    /// A change of loss keeps the losses drawn ahead.
    OldLosses,
    /// What comes to an inlet's link before the stop, but to no endpoint, stays outside.
    InletNotSettled,
    /// The waiting that lies beyond the end counts.
    WaitingBeyondTheEnd,
    /// A transmitter takes its next packet before what arrives as the last one leaves.
    AsksTooEarly,
    /// A link that keeps its queue does not look at the packet in transmission when it says how long it is quiet.
    PromisesTooMuch,
    /// After a change of rate or delay nothing overtakes what was handed on before.
    NotTakenBack,
    /// Transmitter and line of a link that keeps its queue are not told what was reckoned for them.
    NotSettled,
    /// One of the endpoint's.
    Endpoint(cwnd_tcp::fault::Fault),
}

/// All of them.
pub const ALL: [Fault; 23] = [
    Fault::RoomForOneMore,
    Fault::MarkTooLate,
    Fault::LeavesTooEarly,
    Fault::TiesTurned,
    Fault::TurnsForgotten,
    Fault::PastTheFrontier,
    Fault::TimerNoticedLate,
    Fault::EchoOutOfOrder,
    Fault::AllTransparent,
    Fault::OpensTooEarly,
    Fault::PastTheStop,
    Fault::OldRateInTransmission,
    Fault::Overtaking,
    Fault::OldLosses,
    Fault::InletNotSettled,
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

/// Put a fault into the engine, as far as this thread runs it, or take it out. Returns the one before.
#[cfg(feature = "faults")]
pub fn set(fault: Option<Fault>) -> Option<Fault> {
    cwnd_tcp::fault::set(match fault {
        Some(Fault::Endpoint(fault)) => Some(fault),
        _ => None,
    });
    ACTIVE.replace(fault)
}

/// Whether a fault is there.
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
