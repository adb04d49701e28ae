//! The application: what it provides for its flow to send, and when. It can be on and off in turns, a live stream, or
//! messages. A flow that always has data has no application.

use crate::{Connection, NEVER};
use cwnd_cc::{Nanos, State};
use cwnd_scenario::{Distribution, Rate, Stream, Time, Traffic};

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

/// An application that does not always have data to send.
#[derive(Clone, Debug)]
pub struct Application {
    kind: Kind,
    stream: Stream,
    /// Payload of a full segment, bytes.
    payload: u64,
    /// The messages provided so far.
    messages: Vec<Message>,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Provides nothing, until it is replaced.
    Silent,
    /// Provides all data at once. Only a replacement is of this kind: a flow that begins with it has no application.
    Bulk,
    OnOff {
        on: Distribution<Time>,
        off: Distribution<Time>,
        is_on: bool,
    },
    /// Has provided `given` segments since the time `since`, on top of `before` segments.
    Live {
        rate: Rate,
        given: u64,
        since: u64,
        before: u64,
    },
    Responses {
        size: Distribution<u64>,
        think: Distribution<Time>,
    },
}

/// A message, on the engine's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its payload, bytes.
    pub bytes: u64,
    /// When the application provided it.
    pub start: u64,
    /// When all of it was acknowledged.
    pub end: Option<u64>,
}

/// The action of an application.
struct Action {
    /// The total of segments that it has provided.
    data_end: u64,
    /// When it acts next.
    next: u64,
}

impl Application {
    /// Creates the application of a flow whose full segments carry `payload` bytes; `None` if it always has data. Random
    /// sizes and times come from `stream`.
    pub fn new(traffic: &Traffic, stream: Stream, payload: u32) -> Option<Box<Application>> {
        if *traffic == Traffic::Bulk {
            return None;
        }
        Some(Box::new(Application::replacement(Some(traffic), stream, payload)))
    }

    /// Creates an application that replaces another. Without traffic it provides nothing.
    fn replacement(traffic: Option<&Traffic>, stream: Stream, payload: u32) -> Application {
        let kind = match traffic.copied() {
            None => Kind::Silent,
            Some(Traffic::Bulk) => Kind::Bulk,
            Some(Traffic::OnOff { on, off }) => Kind::OnOff { on, off, is_on: false },
            Some(Traffic::Live(rate)) => Kind::Live { rate, given: 0, since: 0, before: 0 },
            Some(Traffic::Responses { size, think }) => Kind::Responses { size, think },
        };
        Application { kind, stream, payload: u64::from(payload), messages: Vec::new() }
    }

    /// Returns its messages so far.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Starts the application after others have provided `given` segments.
    fn begin(&mut self, now: u64, given: u64) {
        if let Kind::Live { since, before, .. } = &mut self.kind {
            (*since, *before) = (now, given);
        }
    }

    /// Lets the application act. `given` segments are provided so far, of which `next` have been sent.
    fn act(&mut self, now: u64, given: u64, next: u64, ends: End) -> Action {
        match &mut self.kind {
            Kind::Silent => Action { data_end: given, next: NEVER },
            Kind::Bulk => Action { data_end: ends.segments, next: NEVER },
            Kind::OnOff { on, off, is_on } => {
                *is_on = !*is_on;
                let (data_end, length) = if *is_on { (ends.segments, on) } else { (next, off) };
                Action { data_end, next: now.saturating_add(length.draw(&mut self.stream).0) }
            }
            Kind::Live { rate, given, since, before } => {
                *given += 1;
                // Computed from the start, so that rounding errors do not add up.
                let bits = u128::from(*given) * u128::from(self.payload) * 8;
                let after = (bits * 1_000_000_000 / u128::from(rate.0.max(1))).min(u128::from(NEVER)) as u64;
                let data_end = before.saturating_add(*given).min(ends.segments);
                let next = if data_end == ends.segments { NEVER } else { since.saturating_add(after) };
                Action { data_end, next }
            }
            // The whole transfer was sent before the application began.
            Kind::Responses { .. } if given == ends.segments => Action { data_end: given, next: NEVER },
            Kind::Responses { size, .. } => {
                let segments = size.draw(&mut self.stream).div_ceil(self.payload);
                let data_end = given.saturating_add(segments).min(ends.segments);
                let short = if data_end == ends.segments { ends.missing } else { 0 };
                let bytes = (data_end - given).saturating_mul(self.payload) - short;
                self.messages.push(Message { bytes, start: now, end: None });
                Action { data_end, next: NEVER }
            }
        }
    }

    /// Records that everything provided is acknowledged. Returns when the application acts next, if that depends on it.
    fn on_all_acknowledged(&mut self, now: u64) -> Option<u64> {
        let Kind::Responses { think, .. } = &self.kind else { return None };
        let message = self.messages.last_mut().filter(|message| message.end.is_none())?;
        message.end = Some(now);
        Some(now.saturating_add(think.draw(&mut self.stream).0))
    }
}

/// The end of a flow's data.
#[derive(Clone, Copy)]
struct End {
    /// Its segments; `u64::MAX` if it has no end.
    segments: u64,
    /// Bytes by which the last one is shorter than the others.
    missing: u64,
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

    /// Starts the application of a connection that is now established, unless it was stopped before.
    pub(crate) fn begin_application(&mut self, now: u64) {
        let end = self.end();
        if let (Some(application), None) = (&mut self.config.application, self.stopped) {
            application.begin(now, 0);
            let action = application.act(now, 0, 0, end);
            (self.data_end, self.timers.application_at) = (action.data_end, action.next);
        }
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
        let (stream, messages) =
            before.map_or((stream, Vec::new()), |before| (before.stream, before.messages));
        let mut application = Application { messages, ..Application::replacement(traffic, stream, payload) };
        if self.established.is_some() {
            self.data_end = self.data_end.min(self.next);
            application.begin(now, self.data_end);
            self.timers.application_at = now;
        }
        self.config.application = Some(Box::new(application));
        self.timers.rearm();
    }

    /// Lets the application act. Returns whether there is new data to send.
    pub(crate) fn on_application_timer(&mut self, now: u64) -> bool {
        let end = self.end();
        self.timers.application_at = NEVER;
        let Some(application) = &mut self.config.application else { return false };
        let action = application.act(now, self.data_end, self.next, end);
        (self.data_end, self.timers.application_at) = (action.data_end, action.next);
        if self.next < self.data_end {
            self.end_idle_time(now);
            return true;
        }
        self.check_completion(now);
        false
    }

    /// Checks whether everything that the application has provided is acknowledged.
    #[inline(always)]
    pub(crate) fn check_completion(&mut self, now: u64) {
        if self.una == self.data_end {
            self.on_all_acknowledged(now);
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

    /// Ends an idle time, since there is data to send again. If nothing was in flight, this is reported to the algorithm. A
    /// window that no ACK has confirmed for longer than a retransmission timeout shrinks (RFC 2861 section 3.2, RFC 5681
    /// section 4.1): it is halved for each timeout since the last packet was sent, down to the initial window. As in Linux,
    /// the window of an algorithm that owns recovery does not shrink.
    fn end_idle_time(&mut self, now: u64) {
        let since = std::mem::replace(&mut self.idle.since, NEVER);
        if since == NEVER || self.next != self.una {
            return;
        }
        self.integrate_cwnd(now);
        let timeout = self.rtt.estimator.timeout();
        let mut idle = now - self.idle.last_sent;
        if self.config.restart_after_idle && idle > timeout && !self.needs.owns_recovery {
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
        self.algorithm.on_idle_restart(&mut self.window, Nanos(now), Nanos(now - since));
    }
}
