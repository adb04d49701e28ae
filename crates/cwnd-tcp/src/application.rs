//! The application: what it provides for its flow to send, and when. It can be on and off in turns, a live stream, a media
//! encoder, or messages. A flow that always has data has no application.

mod media;

use crate::NEVER;
use cwnd_cc::{Frame, Nanos};
use cwnd_scenario::{Distribution, Rate, Stream, Time, Traffic};
use media::Media;

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
    Media(Media),
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
pub(crate) struct Action {
    /// The total of segments that it has provided.
    pub data_end: u64,
    /// When it acts next.
    pub next: u64,
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

    /// Creates an application that replaces another, whose random stream continues and whose messages are kept; if there was
    /// none, `stream` begins. Without traffic it provides nothing.
    pub(crate) fn replacing(
        before: Option<Box<Application>>,
        traffic: Option<&Traffic>,
        stream: Stream,
        payload: u32,
    ) -> Application {
        let (stream, messages) =
            before.map_or((stream, Vec::new()), |before| (before.stream, before.messages));
        Application { messages, ..Application::replacement(traffic, stream, payload) }
    }

    /// Creates an application. Without traffic it provides nothing.
    fn replacement(traffic: Option<&Traffic>, stream: Stream, payload: u32) -> Application {
        let kind = match traffic.copied() {
            None => Kind::Silent,
            Some(Traffic::Bulk) => Kind::Bulk,
            Some(Traffic::OnOff { on, off }) => Kind::OnOff { on, off, is_on: false },
            Some(Traffic::Live(rate)) => Kind::Live { rate, given: 0, since: 0, before: 0 },
            Some(Traffic::Responses { size, think }) => Kind::Responses { size, think },
            Some(Traffic::Media { rate, interval, deadline }) => {
                Kind::Media(Media::new(rate, interval, deadline))
            }
            Some(Traffic::Pulses { on, off, .. }) => {
                let (on, off) = (Distribution::Constant(on), Distribution::Constant(off));
                Kind::OnOff { on, off, is_on: false }
            }
        };
        Application { kind, stream, payload: u64::from(payload), messages: Vec::new() }
    }

    /// Returns its messages so far.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Starts the application after others have provided `given` segments.
    pub(crate) fn begin(&mut self, now: u64, given: u64) {
        if let Kind::Live { since, before, .. } = &mut self.kind {
            (*since, *before) = (now, given);
        }
    }

    /// Returns the event of the next frame, if the application is a media encoder and `next` is the next
    /// segment to send.
    pub(crate) fn next_frame(&self, now: u64, next: u64, srtt: u64) -> Option<Frame> {
        let Kind::Media(media) = &self.kind else { return None };
        let (interval, most) = media.limits();
        let waited = Nanos(media.waited(now, next, &self.messages));
        Some(Frame { now: Nanos(now), interval: Nanos(interval), most, waited, srtt: Nanos(srtt) })
    }

    /// Returns the end of the oldest frame that is not acknowledged; [`NEVER`] without one.
    pub(crate) fn frame_end(&self) -> u64 {
        if let Kind::Media(media) = &self.kind { media.next_end() } else { NEVER }
    }

    /// Records that everything below `una` is acknowledged.
    pub(crate) fn on_frames_acknowledged(&mut self, now: u64, una: u64) {
        if let Kind::Media(media) = &mut self.kind {
            media.on_acknowledged(now, una, &mut self.messages);
        }
    }

    /// Lets the application act. `given` segments are provided so far, of which `next` have been sent. An encoder makes a frame of
    /// `rate` bytes a second.
    pub(crate) fn act(&mut self, now: u64, given: u64, next: u64, ends: End, rate: f64) -> Action {
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
            Kind::Media(media) => {
                let given = media.discard(now, next, &self.messages).unwrap_or(given);
                let room = ends.segments - given;
                if room == 0 {
                    return Action { data_end: given, next: NEVER };
                }
                let segments = media.make(now, given, room, rate, self.payload, &mut self.messages);
                let data_end = given + segments;
                if let Some(last) = self.messages.last_mut().filter(|_| data_end == ends.segments) {
                    last.bytes -= ends.missing;
                }
                Action { data_end, next: media.next_frame(now) }
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
    pub(crate) fn on_all_acknowledged(&mut self, now: u64) -> Option<u64> {
        let Kind::Responses { think, .. } = &self.kind else { return None };
        let message = self.messages.last_mut().filter(|message| message.end.is_none())?;
        message.end = Some(now);
        Some(now.saturating_add(think.draw(&mut self.stream).0))
    }
}

/// The end of a flow's data.
#[derive(Clone, Copy)]
pub(crate) struct End {
    /// Its segments; `u64::MAX` if it has no end.
    pub segments: u64,
    /// Bytes by which the last one is shorter than the others.
    pub missing: u64,
}
