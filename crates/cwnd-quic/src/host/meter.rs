//! What a congestion controller sees and decides, measured from outside for the outcome.

use cwnd_cc::{IllegalValue, Nanos};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Counts and integrals of one connection's controller. Times are ns on the simulation's clock, sizes bytes.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The window.
    pub window: u64,
    /// The slow-start threshold, if the controller has one.
    pub ssthresh: Option<u64>,
    /// The window integrated over time, byte x ns, up to `integrated`.
    pub integral: u128,
    /// See `integral`.
    pub integrated: u64,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Round-trip times: how many samples, and their sum.
    pub rtt: (u64, u128),
    /// The least and the greatest of them.
    pub rtt_extremes: Option<(u64, u64)>,
    /// The last sample's smoothed round-trip time.
    pub srtt: Option<u64>,
    /// Congestion episodes: losses, marks and persistent congestion that begin a recovery.
    pub episodes: u64,
    /// Persistent congestion (RFC 9002 section 7.6).
    pub persistent: u64,
    /// When the last episode began, of an algorithm that does not count its own.
    recovery: Option<u64>,
    /// The time of the newest packet of the present batch of acknowledgements, when it was sent.
    newest: Option<u64>,
}

/// [`Measured`] of a connection, shared by its controller and the run.
#[derive(Clone, Debug)]
pub struct Meter {
    measured: Arc<Mutex<Measured>>,
    /// The episodes that an algorithm of the project counts.
    episodes: Arc<AtomicU64>,
    illegal_value: Arc<OnceLock<(Nanos, IllegalValue)>>,
}

impl Meter {
    /// Creates the meter of a connection that begins at `now`.
    pub fn new(now: u64) -> Meter {
        let measured = Measured {
            window: 0,
            ssthresh: None,
            integral: 0,
            integrated: now,
            in_flight: 0,
            rtt: (0, 0),
            rtt_extremes: None,
            srtt: None,
            episodes: 0,
            persistent: 0,
            recovery: None,
            newest: None,
        };
        Meter {
            measured: Arc::new(Mutex::new(measured)),
            episodes: Arc::default(),
            illegal_value: Arc::default(),
        }
    }

    /// Returns where an algorithm counts its congestion episodes.
    pub fn episodes(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.episodes)
    }

    /// Returns where the first value is noted that an algorithm has set and that no window may have, and when.
    pub fn illegal_value(&self) -> &Arc<OnceLock<(Nanos, IllegalValue)>> {
        &self.illegal_value
    }

    /// Returns what has been measured, with the integral up to `now`.
    pub fn read(&self, now: u64) -> Measured {
        self.with(|measured| {
            measured.integrate(now);
            let episodes = measured.episodes + self.episodes.load(Ordering::Relaxed);
            Measured { episodes, ..measured.clone() }
        })
    }

    /// Notes that an event begins, up to which the window stayed the same.
    pub fn begin(&self, now: u64) {
        self.with(|measured| measured.integrate(now));
    }

    /// Notes the window and the threshold since the last event.
    pub fn set_window(&self, window: u64, ssthresh: Option<u64>) {
        self.with(|measured| {
            measured.window = window;
            measured.ssthresh = ssthresh;
        });
    }

    /// Notes a packet that was sent.
    pub fn on_sent(&self, bytes: u64) {
        self.with(|measured| measured.in_flight += bytes);
    }

    /// Notes an acknowledged packet, which was sent at `sent`.
    pub fn on_ack(&self, sent: u64, bytes: u64, srtt: u64) {
        self.with(|measured| {
            measured.in_flight = measured.in_flight.saturating_sub(bytes);
            measured.newest = measured.newest.max(Some(sent));
            measured.srtt = Some(srtt);
        });
    }

    /// Notes the end of the packets that one ACK acknowledges. The newest of them gives the sample of the round-trip time.
    pub fn on_end_acks(&self, now: u64, in_flight: u64) {
        self.with(|measured| {
            measured.in_flight = in_flight;
            if let Some(sent) = measured.newest.take() {
                let sample = now.saturating_sub(sent);
                measured.rtt.0 += 1;
                measured.rtt.1 += u128::from(sample);
                let (least, greatest) = measured.rtt_extremes.unwrap_or((sample, sample));
                measured.rtt_extremes = Some((least.min(sample), greatest.max(sample)));
            }
        });
    }

    /// Notes a congestion event: lost packets or marks.
    pub fn on_congestion(&self, lost_bytes: u64, persistent: bool) {
        self.with(|measured| {
            measured.in_flight = measured.in_flight.saturating_sub(lost_bytes);
            measured.persistent += u64::from(persistent);
        });
    }

    /// Counts the episode of an algorithm that does not count its own: the newest packet that the event is about was sent after the last
    /// episode began (RFC 9002 section 7.3.2), or persistent congestion is established.
    pub fn count_episode(&self, now: u64, sent: u64, persistent: bool) {
        self.with(|measured| {
            if persistent || measured.recovery.is_none_or(|recovery| sent > recovery) {
                measured.episodes += 1;
                measured.recovery = Some(now);
            }
        });
    }

    fn with<T>(&self, act: impl FnOnce(&mut Measured) -> T) -> T {
        act(&mut self.measured.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Measured {
    fn integrate(&mut self, now: u64) {
        let past = now.saturating_sub(self.integrated);
        self.integral += u128::from(self.window) * u128::from(past);
        self.integrated = self.integrated.max(now);
    }
}
