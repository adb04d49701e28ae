//! The data of a connection's application: when it is provided, when all of it is acknowledged, and idle times.

use super::Connection;
use crate::NEVER;
use crate::application::{Application, End, Message};
use crate::fault::{self, Fault};
use cwnd_cc::{Nanos, State};
use cwnd_scenario::{Stream, Traffic};

/// The idle times of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Idle {
    /// Since when everything that the application has provided is acknowledged; [`NEVER`] while it is not.
    since: u64,
    /// When a packet was sent last. An engine's runs of plain ACKs do not update it: they are taken only where windows do
    /// not shrink while idle (`Connection::run_mode`).
    pub last_sent: u64,
}

impl Default for Idle {
    fn default() -> Self {
        Idle { since: NEVER, last_sent: 0 }
    }
}

impl Connection {
    /// Returns the messages of its application; none if it does not send messages.
    pub fn messages(&self) -> &[Message] {
        self.config.application.as_ref().map_or(&[], |application| application.messages())
    }

    fn end(&self) -> End {
        let missing = self.config.packet_size - self.config.last_packet_size;
        End { segments: self.config.segments, missing: u64::from(missing) }
    }

    /// Checks, with Linux's recovery, whether samples are application-limited before the application writes.
    fn check_write(&mut self) {
        if self.config.recovery.is_by_time() && self.records.is_some() {
            let in_flight = self.in_flight();
            self.record_lack_of_data(in_flight, self.window.cwnd as u32);
        }
    }

    /// Starts the application of a connection that is now established, unless it was stopped before.
    pub(crate) fn begin_application(&mut self, now: u64) {
        if let (true, Some(records)) = (self.config.recovery.is_by_time(), &mut self.records) {
            // The first write finds nothing to send: the samples of the first flight are application-limited.
            records.on_app_limited(0);
        }
        let (end, rate) = (self.end(), self.encoder_rate(now));
        if let (Some(application), None) = (&mut self.config.application, self.stopped) {
            application.begin(now, 0);
            let action = application.act(now, 0, 0, end, rate);
            (self.data_end, self.timers.application_at) = (action.data_end, action.next);
            self.frame_end = application.frame_end();
        }
    }

    /// Asks the algorithm for the rate of the next frame, bytes a second; zero if the application is no media encoder.
    fn encoder_rate(&mut self, now: u64) -> f64 {
        let srtt = self.srtt().unwrap_or(0);
        let Some(application) = &self.config.application else { return 0.0 };
        let frame = application.next_frame(now, self.next, srtt);
        frame.map_or(0.0, |frame| self.algorithm.on_frame(&self.window, &frame))
    }

    /// Replaces the application by one that provides data as `traffic` describes, or none at all. Data that was provided
    /// but not sent is withdrawn, and an incomplete message never ends. The random stream of the old application continues;
    /// if there was none, `stream` begins. Has no effect on a flow that was stopped or is complete.
    pub fn set_traffic(&mut self, now: u64, traffic: Option<&Traffic>, stream: Stream) {
        if self.stopped.is_some() || self.completed.is_some() {
            return;
        }
        let payload = self.window.mss();
        let before = self.config.application.take();
        let mut application = Application::replacing(before, traffic, stream, payload);
        if self.established.is_some() {
            self.data_end = self.data_end.min(self.next);
            application.begin(now, self.data_end);
            self.timers.application_at = now;
        }
        self.frame_end = NEVER;
        self.config.application = Some(Box::new(application));
        self.timers.rearm();
    }

    /// Adds `segments` that the application has written. Returns whether there is new data to send.
    pub(crate) fn on_write(&mut self, now: u64, segments: u64) -> bool {
        let end = self.data_end.saturating_add(segments).min(self.config.segments);
        self.data_end = end;
        let has_data = self.next < end;
        if has_data {
            self.end_idle_time(now);
        }
        has_data
    }

    /// Lets the application act. Returns whether there is new data to send.
    pub(crate) fn on_application_timer(&mut self, now: u64) -> bool {
        let (end, rate) = (self.end(), self.encoder_rate(now));
        self.timers.application_at = NEVER;
        self.check_write();
        let Some(application) = &mut self.config.application else { return false };
        let action = application.act(now, self.data_end, self.next, end, rate);
        (self.data_end, self.timers.application_at) = (action.data_end, action.next);
        self.frame_end = application.frame_end();
        if self.next < self.data_end {
            self.end_idle_time(now);
            return true;
        }
        self.check_completion(now);
        false
    }

    /// Checks whether a frame, or everything that the application has provided, is acknowledged.
    #[inline(always)]
    pub(crate) fn check_completion(&mut self, now: u64) {
        if self.una >= self.frame_end {
            self.on_frames_acknowledged(now);
        }
        if self.una == self.data_end {
            self.on_all_acknowledged(now);
        }
    }

    #[cold]
    #[inline(never)]
    fn on_frames_acknowledged(&mut self, now: u64) {
        if let Some(application) = &mut self.config.application {
            application.on_frames_acknowledged(now, self.una);
            self.frame_end = application.frame_end();
        }
    }

    #[cold]
    #[inline(never)]
    fn on_all_acknowledged(&mut self, now: u64) {
        if self.idle.since == NEVER {
            self.idle.since = now;
        }
        if self.una == self.config.segments {
            self.completed.get_or_insert(now);
            self.timers.application_at = NEVER;
        }
        if let (Some(application), None) = (&mut self.config.application, self.stopped) {
            let next = application.on_all_acknowledged(now);
            if self.una < self.config.segments {
                self.timers.application_at = next.unwrap_or(self.timers.application_at);
            }
        }
        self.timers.rearm();
    }

    /// Sets the window that the receiver advertises from now on, segments. The sender uses it when it sends next. When a closed
    /// window opens, the time since the last packet counts as idle.
    pub fn set_receive_window(&mut self, now: u64, segments: u64) {
        let opens = self.config.receive_window == 0 && segments > 0;
        (self.config.receive_window, self.peer_window) = (segments, segments);
        if opens && self.una == self.next && self.next < self.data_end {
            self.rtt.estimator.backoff = 0;
            self.validate_after_idle(now);
        }
    }

    /// Ends an idle time, since there is data to send again. If nothing was in flight, the algorithm is told. A window that no
    /// ACK has confirmed for longer than a retransmission timeout shrinks (RFC 2861 section 3.2, RFC 5681 section 4.1): it is
    /// halved for each timeout since the last packet was sent, down to the initial window. As in Linux, the window of an
    /// algorithm that owns recovery does not shrink.
    fn end_idle_time(&mut self, now: u64) {
        let since = std::mem::replace(&mut self.idle.since, NEVER);
        if since == NEVER || self.next != self.una {
            return;
        }
        self.validate_after_idle(now);
        self.algorithm.on_idle_restart(&mut self.window, Nanos(now), Nanos(now - since));
    }

    /// Lowers a window that nothing has confirmed since the last packet was sent.
    fn validate_after_idle(&mut self, now: u64) {
        self.integrate_cwnd(now);
        let timeout = self.rtt.estimator.timeout();
        let mut idle = now - self.idle.last_sent;
        let restarts = self.config.restart_after_idle && !fault::is(Fault::WindowKeptWhileIdle);
        if restarts && idle > timeout && !self.needs.owns_recovery {
            let window = &mut self.window;
            if !matches!(self.state, State::Cwr | State::Recovery) {
                let most_of_it = window.whole(window.cwnd / 2.0) + window.whole(window.cwnd / 4.0);
                window.ssthresh = window.ssthresh.max(most_of_it);
            }
            let least = self.config.window.initial_cwnd.min(window.cwnd);
            let mut cwnd = window.cwnd;
            while idle > timeout && cwnd > least {
                cwnd = window.whole(cwnd / 2.0);
                idle -= timeout;
            }
            window.set_cwnd(cwnd.max(least));
        }
    }
}
