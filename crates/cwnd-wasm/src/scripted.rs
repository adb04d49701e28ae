//! An algorithm that runs outside the module: the visitor's program in JavaScript.
//!
//! The module calls its [`Host`] for each event with a list of numbers. During the call the host reads and changes the flow's
//! window with [`with_window`].

use cwnd_cc::{Ack, Congestion, CongestionControl, CongestionKind, Init, Nanos, Needs, Window, WindowConfig};
use cwnd_scenario::AlgorithmSpec;
use std::cell::RefCell;

/// What runs the program.
pub trait Host: Copy + Send + 'static {
    /// Creates the algorithm of a flow and returns its number. `parameters` are lines `NAME=VALUE`.
    fn create(self, parameters: &str) -> u32;

    /// Returns what an algorithm needs of its transport: the sum of [`NEEDS_PACING`] and [`NEEDS_RATE`].
    fn needs(self, algorithm: u32) -> u32;

    /// Passes an event to an algorithm. [`Event`] lists the numbers.
    fn on_event(self, algorithm: u32, event: Event, numbers: &[f64]);
}

/// The algorithm sets [`Field::PacingRate`].
pub const NEEDS_PACING: u32 = 1;
/// The algorithm reads the delivery rate of an ACK.
pub const NEEDS_RATE: u32 = 2;

/// An event, and the numbers that come with it. Times are seconds; NaN stands for a value that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Event {
    /// The connection begins: time.
    Init = 0,
    /// An ACK: time; segments delivered, cumulatively acknowledged, lost, marked; RTT, smoothed RTT, least RTT; segments in flight
    /// after and before; state of loss recovery, counted from 0 for open; whether the window may grow, is fully used, and whether
    /// the application had too little to send; whether a round trip begins; round trips so far; segments delivered so far; delivery
    /// rate in segments a second.
    Ack = 1,
    /// A loss: time; segments in flight, outstanding, lost; RTT, smoothed RTT, least RTT; whether the flow was in slow start.
    Loss = 2,
    /// A congestion mark; the numbers are those of a loss.
    Ecn = 3,
    /// A retransmission timeout, the first of a series; the numbers are those of a loss.
    Timeout = 4,
}

/// A value of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Congestion window, segments.
    Cwnd,
    /// Slow-start threshold, segments.
    Ssthresh,
    /// Pacing rate, segments a second; infinite if packets are not spaced.
    PacingRate,
    /// Payload of a segment, bytes. It cannot be set.
    SegmentBytes,
    /// 1 in slow start, otherwise 0. It cannot be set.
    InSlowStart,
}

/// The fields in the order of their numbers.
pub const FIELDS: [Field; 5] =
    [Field::Cwnd, Field::Ssthresh, Field::PacingRate, Field::SegmentBytes, Field::InSlowStart];

thread_local! {
    /// The window of the flow whose event the host handles.
    static WINDOW: RefCell<Window> = RefCell::new(Window::new(&WindowConfig::default()));
}

/// Gives access to the window of the flow whose event the host handles.
pub fn with_window<T>(work: impl FnOnce(&mut Window) -> T) -> T {
    WINDOW.with_borrow_mut(work)
}

impl Field {
    /// Reads the value.
    pub fn get(self, window: &Window) -> f64 {
        match self {
            Field::Cwnd => window.cwnd,
            Field::Ssthresh => window.ssthresh,
            Field::PacingRate => window.pacing_rate / f64::from(window.mss()),
            Field::SegmentBytes => f64::from(window.mss()),
            Field::InSlowStart => f64::from(window.in_slow_start()),
        }
    }

    /// Changes the value within its bounds. A fraction of `cwnd` is kept even where the stack counts whole segments, because a
    /// program may add small fractions.
    pub fn set(self, window: &mut Window, value: f64) {
        match self {
            Field::Cwnd => window.cwnd = value.clamp(1.0, window.clamp()),
            Field::Ssthresh => window.set_ssthresh(value),
            Field::PacingRate => window.pacing_rate = value * f64::from(window.mss()),
            Field::SegmentBytes | Field::InSlowStart => {}
        }
    }
}

/// Returns a factory that creates `NAME.js` with the host, and every other algorithm from the registry.
pub fn factory<H: Host>(host: H) -> impl Fn(&AlgorithmSpec) -> Result<Box<dyn CongestionControl>, String> {
    move |spec| {
        if !spec.name.ends_with(".js") {
            return cwnd_sim::registered(spec);
        }
        let parameters: Vec<String> =
            spec.all_parameters().map(|(name, value)| format!("{name}={value}")).collect();
        let number = host.create(&parameters.join("\n"));
        let bits = host.needs(number);
        let needs = Needs {
            pacing: bits & NEEDS_PACING != 0,
            rate_samples: bits & NEEDS_RATE != 0,
            ..Needs::default()
        };
        Ok(Box::new(Scripted { host, number, needs }))
    }
}

struct Scripted<H> {
    host: H,
    number: u32,
    needs: Needs,
}

impl<H: Host> Scripted<H> {
    fn call(&self, window: &mut Window, event: Event, numbers: &[f64]) {
        with_window(|current| std::mem::swap(current, window));
        self.host.on_event(self.number, event, numbers);
        with_window(|current| std::mem::swap(current, window));
    }
}

impl<H: Host> CongestionControl for Scripted<H> {
    fn init(&mut self, window: &mut Window, init: &Init) {
        self.call(window, Event::Init, &[init.now.as_secs_f64()]);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let rate = ack.rate.as_ref().map_or(f64::NAN, cwnd_cc::RateSample::segments_per_second);
        let numbers = [
            ack.now.as_secs_f64(),
            ack.acked.into(),
            ack.cumulative.into(),
            ack.lost.into(),
            ack.marked.into(),
            ack.rtt.map_or(f64::NAN, Nanos::as_secs_f64),
            known(ack.srtt),
            known(ack.min_rtt),
            ack.in_flight.into(),
            ack.prior_in_flight.into(),
            f64::from(ack.state as u8),
            f64::from(ack.may_grow()),
            f64::from(ack.cwnd_limited),
            f64::from(ack.app_limited),
            f64::from(ack.round_start),
            ack.round as f64,
            ack.delivered as f64,
            rate,
        ];
        self.call(window, Event::Ack, &numbers);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if congestion.is_repeated_timeout() {
            return;
        }
        let event = match congestion.kind {
            CongestionKind::Loss => Event::Loss,
            CongestionKind::Ecn => Event::Ecn,
            CongestionKind::Timeout => Event::Timeout,
        };
        let numbers = [
            congestion.now.as_secs_f64(),
            congestion.in_flight.into(),
            congestion.flight_size.into(),
            congestion.lost.into(),
            known(congestion.rtt),
            known(congestion.srtt),
            known(congestion.min_rtt),
            f64::from(congestion.in_slow_start),
        ];
        self.call(window, event, &numbers);
        window.reset_counter();
    }

    fn needs(&self) -> Needs {
        self.needs
    }
}

/// Returns seconds; NaN for the values that stand for "not measured yet".
fn known(time: Nanos) -> f64 {
    if time == Nanos::ZERO || time == Nanos::MAX { f64::NAN } else { time.as_secs_f64() }
}
