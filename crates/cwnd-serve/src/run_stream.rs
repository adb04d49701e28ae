//! The samples of a run as a response that grows: frames of a kind, a length and a content.
//!
//! | byte | content |
//! |---|---|
//! | 0 | kind: `d` description (JSON), `r` rows (numbers of 8 bytes, little endian), `e` end (JSON), `p` problem (text) |
//! | 1 to 3 | 0 |
//! | 4 to 7 | length of the content in bytes, little endian |
//! | 8 on | content |
//!
//! A frame of rows begins with three numbers: the time to which the run has come, s; the data packets that came to the bottleneck; and
//! the time since the run began, s. The rows follow, as `cwnd_wasm::Bench` has them.
//!
//! The channel holds a few frames. A run whose reader is slow waits; it ends when its reader has gone, or at its time limit.

use axum::body::{Body, Bytes};
use futures_util::stream;
use std::{
    convert::Infallible,
    time::{Duration, Instant},
};
use tokio::{runtime::Handle, sync::mpsc, time::timeout};

/// Frames that wait for the reader.
const WAITING: usize = 4;
/// A frame of rows is sent after this time, or when it has [`FULL`] numbers.
const PAUSE: Duration = Duration::from_millis(50);
const FULL: usize = 1 << 13;

/// Why a run ends early.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    /// The reader has gone.
    NoReader,
    /// It has taken as long as a run may.
    TimeLimit,
}

/// The sending end, for the thread of the run.
pub struct RunStream {
    frames: mpsc::Sender<Bytes>,
    runtime: Handle,
    began: Instant,
    limit: Duration,
    sent: Instant,
    rows: Vec<f64>,
}

/// Creates a stream and the body of its response. It is called on the runtime.
pub fn open(limit: Duration) -> (RunStream, Body) {
    let (frames, receiver) = mpsc::channel(WAITING);
    let now = Instant::now();
    let stream =
        RunStream { frames, runtime: Handle::current(), began: now, limit, sent: now, rows: Vec::new() };
    let body = stream::unfold(receiver, |mut receiver| async {
        receiver.recv().await.map(|frame| (Ok::<_, Infallible>(frame), receiver))
    });
    (stream, Body::from_stream(body))
}

impl RunStream {
    /// Sends the description of the run.
    ///
    /// # Errors
    /// If the run is not wanted any more.
    pub fn describe(&mut self, json: &str) -> Result<(), Ended> {
        self.send(b'd', json.as_bytes())
    }

    /// Adds samples; sends what there is if that is much or the last frame is old.
    ///
    /// # Errors
    /// If the run is not wanted any more.
    pub fn rows(&mut self, rows: &[f64], now: f64, packets: f64) -> Result<(), Ended> {
        self.rows.extend_from_slice(rows);
        self.check()?;
        if self.sent.elapsed() < PAUSE && self.rows.len() < FULL {
            return Ok(());
        }
        self.flush(now, packets)
    }

    /// Sends the samples that wait, and the end.
    ///
    /// # Errors
    /// If nobody reads it.
    pub fn end(mut self, now: f64, packets: f64, json: &str) -> Result<(), Ended> {
        self.flush(now, packets)?;
        self.send(b'e', json.as_bytes())
    }

    /// Sends why the run has failed. A reader that has gone misses it.
    pub fn problem(mut self, text: &str) {
        // The time limit is one of these problems.
        self.limit = self.began.elapsed() + Duration::from_secs(1);
        let _ = self.send(b'p', text.as_bytes());
    }

    /// Returns the time since the run began.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Checks whether the run is still wanted.
    ///
    /// # Errors
    /// If it is not.
    pub fn check(&self) -> Result<(), Ended> {
        if self.frames.is_closed() {
            Err(Ended::NoReader)
        } else if self.began.elapsed() >= self.limit {
            Err(Ended::TimeLimit)
        } else {
            Ok(())
        }
    }

    fn flush(&mut self, now: f64, packets: f64) -> Result<(), Ended> {
        let numbers = [now, packets, self.began.elapsed().as_secs_f64()];
        let content: Vec<u8> =
            numbers.iter().chain(&self.rows).flat_map(|number| number.to_le_bytes()).collect();
        self.rows.clear();
        self.sent = Instant::now();
        self.send(b'r', &content)
    }

    fn send(&self, kind: u8, content: &[u8]) -> Result<(), Ended> {
        self.check()?;
        let length = u32::try_from(content.len()).expect("a frame is a few megabytes at most");
        let mut frame = Vec::with_capacity(8 + content.len());
        frame.extend([kind, 0, 0, 0]);
        frame.extend(length.to_le_bytes());
        frame.extend(content);
        let left = self.limit.saturating_sub(self.began.elapsed());
        let sending = async { timeout(left, self.frames.send(frame.into())).await };
        match self.runtime.block_on(sending) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Ended::NoReader),
            Err(_) => Err(Ended::TimeLimit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;
    use std::thread;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime")
    }

    /// Sends numbers in frames of their own until the run is to end. Returns how many were sent and why it ended.
    fn send(stream: &mut RunStream, most: u32) -> (u32, Option<Ended>) {
        for number in 0..most {
            if let Err(ended) = stream.describe(&number.to_string()) {
                return (number, Some(ended));
            }
        }
        (most, None)
    }

    #[test]
    fn a_run_waits_for_its_reader_until_the_time_limit() {
        let runtime = runtime();
        let (mut stream, body) = runtime.block_on(async { open(Duration::from_millis(200)) });
        let (sent, ended) = thread::spawn(move || send(&mut stream, 100)).join().expect("no panic");
        assert_eq!((sent, ended), (WAITING as u32, Some(Ended::TimeLimit)));
        drop(body);
    }

    #[test]
    fn a_run_ends_when_its_reader_goes() {
        let runtime = runtime();
        let (mut stream, body) = runtime.block_on(async { open(Duration::from_secs(60)) });
        let sending = thread::spawn(move || send(&mut stream, 100));
        thread::sleep(Duration::from_millis(50));
        drop(body);
        let (sent, ended) = sending.join().expect("no panic");
        assert_eq!((sent, ended), (WAITING as u32, Some(Ended::NoReader)));
    }

    #[test]
    fn a_reader_gets_every_frame_in_order() {
        let runtime = runtime();
        let (mut stream, body) = runtime.block_on(async { open(Duration::from_secs(60)) });
        let sending = thread::spawn(move || {
            let sent = send(&mut stream, 20);
            stream.rows(&[1.5], 1.0, 2.0).expect("it is read");
            stream.end(3.0, 4.0, "{}").expect("it is read");
            sent
        });
        let bytes = runtime.block_on(to_bytes(body, usize::MAX)).expect("it ends");
        assert_eq!(sending.join().expect("no panic"), (20, None));
        let mut rest = &bytes[..];
        let mut next = || {
            let (head, after) = rest.split_first_chunk::<8>().expect("a frame");
            let (content, after) =
                after.split_at(u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize);
            rest = after;
            (head[0], content.to_vec())
        };
        for number in 0..20 {
            assert_eq!(next(), (b'd', number.to_string().into_bytes()));
        }
        let (kind, content) = next();
        assert_eq!((kind, content.len()), (b'r', 32));
        assert_eq!((&content[..8], &content[24..]), (&3.0f64.to_le_bytes()[..], &1.5f64.to_le_bytes()[..]));
        assert_eq!(next(), (b'e', b"{}".to_vec()));
        assert!(rest.is_empty());
    }
}
