//! The event log of a sender: its state after each event that may change it. It is kept on request.

use super::Connection;
use cwnd_cc::{Observable, State};
use std::collections::VecDeque;

/// The state of a sender after a packet has arrived or a timer has expired.
#[derive(Clone, Debug, PartialEq)]
pub struct SenderEvent {
    /// When, on the engine's clock.
    pub at: u64,
    /// Congestion window and slow-start threshold, segments; the threshold is infinite until it is set.
    pub cwnd: f64,
    /// See `cwnd`.
    pub ssthresh: f64,
    /// Segments in flight.
    pub in_flight: u32,
    /// Payload bytes a second; infinite if packets are not paced.
    pub pacing_rate: f64,
    /// Round-trip times, ns, if there was a sample.
    pub rtt: Option<RoundTrips>,
    /// Retransmission timeouts since the last ACK of new data.
    pub timeouts: u32,
    /// State of loss recovery.
    pub state: State,
    /// Whether the window grows as in slow start.
    pub slow_start: bool,
    /// Whether the application has provided less than the window allows to send.
    pub app_limited: bool,
    /// Segments declared lost since the event before, in that order. A lost retransmission appears again.
    pub lost: Vec<u64>,
    /// Whether the event is the expiry of a timer.
    pub timer: bool,
    /// The algorithm's state: a value for each of [`SenderEvent::observables`], NaN where not known.
    pub observed: Vec<f64>,
    /// What the algorithm shows of its state.
    pub observables: &'static [Observable],
}

/// Round-trip times, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrips {
    /// The smoothed one (RFC 6298's SRTT).
    pub smoothed: u64,
    /// Its variation (RTTVAR).
    pub variation: u64,
    /// The smallest.
    pub least: u64,
    /// The latest.
    pub latest: u64,
}

/// Events that were not taken yet.
#[derive(Debug, Default)]
pub struct EventLog {
    pub(crate) events: VecDeque<SenderEvent>,
}

impl Connection {
    /// Logs an event, if a log is kept.
    #[inline(always)]
    pub(crate) fn log_event(&mut self, now: u64, timer: bool) {
        if self.event_log.is_some() {
            self.append_event(now, timer);
        }
    }

    #[cold]
    #[inline(never)]
    fn append_event(&mut self, now: u64, timer: bool) {
        let lost = self.scoreboard.losses.as_mut().map(|losses| std::mem::take(&mut **losses));
        if self.established.is_none() {
            return;
        }
        let latest = self.rtt.latest(&self.ack).0;
        let estimator = &self.rtt.estimator;
        let rtt = estimator.extremes().map(|(least, _)| RoundTrips {
            smoothed: estimator.srtt(),
            variation: estimator.variation(),
            least,
            // The handshake gives the first one.
            latest: if latest == 0 { estimator.srtt() } else { latest },
        });
        let in_flight = self.in_flight();
        let observables = self.observables();
        let mut observed = vec![f64::NAN; observables.len()];
        self.observe(now, &mut observed);
        let event = SenderEvent {
            at: now,
            cwnd: self.window.cwnd,
            ssthresh: self.window.ssthresh,
            in_flight,
            pacing_rate: self.window.pacing_rate,
            rtt,
            timeouts: self.episode.timeouts,
            state: self.state,
            slow_start: self.window.in_slow_start(),
            app_limited: self.lacks_data() && in_flight < self.window.cwnd as u32,
            lost: lost.unwrap_or_default(),
            timer,
            observed,
            observables,
        };
        if let Some(log) = &mut self.event_log {
            log.events.push_back(event);
        }
    }
}
