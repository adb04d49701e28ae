//! Frames of a media encoder that follows the congestion control.

use super::Message;
use crate::NEVER;
use cwnd_scenario::{Rate, Time};
use std::collections::VecDeque;

/// An encoder and the frames of it that are not acknowledged yet.
#[derive(Clone, Debug)]
pub struct Media {
    rate: Rate,
    interval: u64,
    deadline: u64,
    /// Bytes by which the frames so far are smaller than the encoder was asked for: they are whole packets.
    owed: f64,
    frames: VecDeque<Pending>,
}

/// A frame that is not acknowledged yet.
#[derive(Clone, Copy, Debug)]
struct Pending {
    first: u64,
    end: u64,
    /// Its place among the messages.
    message: usize,
}

impl Media {
    /// Creates an encoder with its greatest rate.
    pub fn new(rate: Rate, interval: Time, deadline: Time) -> Media {
        Media { rate, interval: interval.0, deadline: deadline.0, owed: 0.0, frames: VecDeque::new() }
    }

    /// Returns the interval of frames, ns, and the greatest rate, bytes a second.
    pub fn limits(&self) -> (u64, f64) {
        (self.interval, self.rate.0 as f64 / 8.0)
    }

    /// Returns for how long the oldest frame has waited of which something is not sent, when `next` is the next segment to send.
    pub fn waited(&self, now: u64, next: u64, messages: &[Message]) -> u64 {
        let oldest = self.frames.iter().find(|frame| frame.end > next);
        oldest.map_or(0, |frame| now - messages[frame.message].start)
    }

    /// Discards the frames of which nothing is sent, if one that is not sent yet has waited for the deadline. Returns where the data
    /// ends then.
    pub fn discard(&mut self, now: u64, next: u64, messages: &[Message]) -> Option<u64> {
        let first = self.frames.iter().position(|frame| frame.first >= next)?;
        let frame = self.frames[first];
        (now - messages[frame.message].start >= self.deadline).then(|| {
            self.frames.truncate(first);
            frame.first
        })
    }

    /// Makes a frame of this rate, bytes a second, after the data up to `first`. Returns its segments, at least one.
    pub fn make(
        &mut self,
        now: u64,
        first: u64,
        room: u64,
        rate: f64,
        payload: u64,
        messages: &mut Vec<Message>,
    ) -> u64 {
        let payload_f = payload as f64;
        let bytes = rate.min(self.limits().1) * self.interval as f64 / 1e9 + self.owed;
        let segments = (bytes / payload_f).round().max(1.0);
        self.owed = (bytes - segments * payload_f).clamp(-payload_f, payload_f);
        let segments = (segments as u64).min(room);
        self.frames.push_back(Pending { first, end: first + segments, message: messages.len() });
        messages.push(Message { bytes: segments * payload, start: now, end: None });
        segments
    }

    /// Records that everything below `una` is acknowledged.
    pub fn on_acknowledged(&mut self, now: u64, una: u64, messages: &mut [Message]) {
        while let Some(frame) = self.frames.front().filter(|frame| frame.end <= una) {
            messages[frame.message].end = Some(now);
            self.frames.pop_front();
        }
    }

    /// Returns the end of the oldest frame that is not acknowledged; [`NEVER`] without one.
    pub fn next_end(&self) -> u64 {
        self.frames.front().map_or(NEVER, |frame| frame.end)
    }

    /// Returns the time of the next frame.
    pub fn next_frame(&self, now: u64) -> u64 {
        now.saturating_add(self.interval)
    }
}
