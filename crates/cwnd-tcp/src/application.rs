//! What an application gives its flow to send, and when: on and off by turns, a live stream, or messages. A flow that always
//! has data has none of this.

use super::{NEVER, Sender};
use crate::packet::Emit;
use cwnd_cc::{Nanos, State};
use cwnd_scenario::{Distribution, Rate, Stream, Time, Traffic};

/// An application that has not always data to send.
#[derive(Clone, Debug)]
pub struct Application {
    kind: Kind,
    stream: Stream,
    /// Payload of a full segment, bytes.
    payload: u64,
    /// The messages given so far.
    messages: Vec<Message>,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Gives nothing, until it is changed.
    Silent,
    /// Gives all that there is; only what was changed into it, since a flow that always has data has no application.
    Bulk,
    OnOff {
        on: Distribution<Time>,
        off: Distribution<Time>,
        is_on: bool,
    },
    /// So many segments have been given since then, on top of those before.
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
    /// When the application gave it.
    pub start: u64,
    /// When all of it was acknowledged.
    pub end: Option<u64>,
}

/// What an application does when its time has come.
struct Turn {
    /// Segments that it has given in all from now on.
    data_end: u64,
    /// When it is its turn again.
    next: u64,
}

impl Application {
    /// The application of a flow whose full segments carry so many bytes; none if it always has data. It draws from
    /// `stream`.
    pub fn new(traffic: &Traffic, stream: Stream, payload: u32) -> Option<Box<Application>> {
        if *traffic == Traffic::Bulk {
            return None;
        }
        Some(Box::new(Application::changed(Some(traffic), stream, payload)))
    }

    /// One that stands where another stood; with no traffic it gives nothing.
    fn changed(traffic: Option<&Traffic>, stream: Stream, payload: u32) -> Application {
        let kind = match traffic.copied() {
            None => Kind::Silent,
            Some(Traffic::Bulk) => Kind::Bulk,
            Some(Traffic::OnOff { on, off }) => Kind::OnOff { on, off, is_on: false },
            Some(Traffic::Live(rate)) => Kind::Live { rate, given: 0, since: 0, before: 0 },
            Some(Traffic::Responses { size, think }) => Kind::Responses { size, think },
        };
        Application { kind, stream, payload: u64::from(payload), messages: Vec::new() }
    }

    /// Its messages so far.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// It begins, where `given` segments were given before it.
    fn begin(&mut self, now: u64, given: u64) {
        if let Kind::Live { since, before, .. } = &mut self.kind {
            (*since, *before) = (now, given);
        }
    }

    /// Its time has come. It has given `given` segments so far, of which `next` have been sent.
    fn take_turn(&mut self, now: u64, given: u64, next: u64, ends: End) -> Turn {
        match &mut self.kind {
            Kind::Silent => Turn { data_end: given, next: NEVER },
            Kind::Bulk => Turn { data_end: ends.segments, next: NEVER },
            Kind::OnOff { on, off, is_on } => {
                *is_on = !*is_on;
                let (data_end, length) = if *is_on { (ends.segments, on) } else { (next, off) };
                Turn { data_end, next: now.saturating_add(length.draw(&mut self.stream).0) }
            }
            Kind::Live { rate, given, since, before } => {
                *given += 1;
                // From the start, so that what is rounded does not add up.
                let bits = u128::from(*given) * u128::from(self.payload) * 8;
                let after = (bits * 1_000_000_000 / u128::from(rate.0.max(1))).min(u128::from(NEVER)) as u64;
                let data_end = before.saturating_add(*given).min(ends.segments);
                let next = if data_end == ends.segments { NEVER } else { since.saturating_add(after) };
                Turn { data_end, next }
            }
            // All of the transfer was sent before it began.
            Kind::Responses { .. } if given == ends.segments => Turn { data_end: given, next: NEVER },
            Kind::Responses { size, .. } => {
                let segments = size.draw(&mut self.stream).div_ceil(self.payload);
                let data_end = given.saturating_add(segments).min(ends.segments);
                let short = if data_end == ends.segments { ends.missing } else { 0 };
                let bytes = (data_end - given).saturating_mul(self.payload) - short;
                self.messages.push(Message { bytes, start: now, end: None });
                Turn { data_end, next: NEVER }
            }
        }
    }

    /// All that it has given is acknowledged. When it is its turn again, if that hangs on this.
    fn on_all_acknowledged(&mut self, now: u64) -> Option<u64> {
        let Kind::Responses { think, .. } = &self.kind else { return None };
        let message = self.messages.last_mut().filter(|message| message.end.is_none())?;
        message.end = Some(now);
        Some(now.saturating_add(think.draw(&mut self.stream).0))
    }
}

/// Where a flow's data end.
#[derive(Clone, Copy)]
struct End {
    /// Its segments; `u64::MAX` if it has no end.
    segments: u64,
    /// Bytes that the last of them has less than the others.
    missing: u64,
}

impl Sender {
    /// The messages of its application, if it has such.
    pub fn messages(&self) -> &[Message] {
        self.config.application.as_ref().map_or(&[], |application| application.messages())
    }

    fn end(&self) -> End {
        let missing = self.config.packet_size - self.config.last_packet_size;
        End { segments: self.config.segments, missing: u64::from(missing) }
    }

    /// The connection is there: the application begins, unless it was told to stop before.
    pub(super) fn begin_application(&mut self, now: u64) {
        let end = self.end();
        if let (Some(application), None) = (&mut self.config.application, self.stopped) {
            application.begin(now, 0);
            let turn = application.take_turn(now, 0, 0, end);
            (self.data_end, self.app_at) = (turn.data_end, turn.next);
        }
    }

    /// From `now` on the application gives data as `traffic` says, or none at all. What it had given and was not sent yet is
    /// withdrawn, and a message under way never ends. It goes on with the draws of the one before it, or draws from `stream`.
    /// Nothing changes for a flow that was stopped or is complete.
    pub fn set_traffic(&mut self, now: u64, traffic: Option<&Traffic>, stream: Stream) {
        if self.stopped.is_some() || self.completed.is_some() {
            return;
        }
        let payload = self.window.mss();
        let before = self.config.application.take();
        let (stream, messages) =
            before.map_or((stream, Vec::new()), |before| (before.stream, before.messages));
        let mut application = Application { messages, ..Application::changed(traffic, stream, payload) };
        if self.established.is_some() {
            self.data_end = self.data_end.min(self.next);
            application.begin(now, self.data_end);
            self.app_at = now;
        }
        self.config.application = Some(Box::new(application));
        self.noted = true;
        self.rearm();
    }

    /// It is the application's turn.
    pub(super) fn on_application_timer(&mut self, now: u64, out: &mut impl Emit) {
        let end = self.end();
        self.app_at = NEVER;
        let Some(application) = &mut self.config.application else { return };
        let turn = application.take_turn(now, self.data_end, self.next, end);
        (self.data_end, self.app_at) = (turn.data_end, turn.next);
        if self.next < self.data_end {
            self.end_idle_time(now);
            self.transmit(now, false, out);
        } else if self.una == self.data_end {
            self.on_all_acknowledged(now);
        }
    }

    /// All that the application has given is acknowledged.
    #[cold]
    #[inline(never)]
    pub(super) fn on_all_acknowledged(&mut self, now: u64) {
        if self.idle_since == NEVER {
            self.idle_since = now;
        }
        if self.una == self.config.segments {
            self.completed.get_or_insert(now);
            self.app_at = NEVER;
        }
        if let (Some(application), None) = (&mut self.config.application, self.stopped) {
            let turn = application.on_all_acknowledged(now);
            if self.una < self.config.segments {
                self.app_at = turn.unwrap_or(self.app_at);
            }
        }
        self.rearm();
    }

    /// There is something to send again. If nothing was in flight, the algorithm is told; and a window that no ACK has
    /// confirmed for longer than a retransmission timeout is worth less (RFC 2861 section 3.2, RFC 5681 section 4.1): half
    /// for each timeout that passed since the last packet was sent, down to the initial window. As in Linux an algorithm
    /// that looks after its window itself is left alone.
    fn end_idle_time(&mut self, now: u64) {
        let since = std::mem::replace(&mut self.idle_since, NEVER);
        if since == NEVER || self.next != self.una {
            return;
        }
        self.integrate_cwnd(now);
        let timeout = self.rtt.timeout();
        let mut idle = now - self.sent_at;
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
