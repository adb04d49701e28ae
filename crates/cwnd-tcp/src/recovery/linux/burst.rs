//! How many segments a burst has: about a millisecond of the pacing rate, within one buffer of the application's data.

use crate::Connection;

/// The application's data comes in buffers of at most this size, which are cut into bursts, bytes.
pub const BUFFER: u32 = 65_215;

/// A burst is the data of this part of a second at the pacing rate, but at least some segments
/// ([`LinuxOptions::min_tso_segs`](super::LinuxOptions)).
const BURSTS_A_SECOND: f64 = 1024.0;

/// The rate of the window, outside of slow start, is that of this many windows a round-trip time.
const USUAL_GAIN: f64 = 1.2;

/// On short paths a burst is longer, by a buffer halved for each of these steps of the least round-trip time, ns.
const SHORT_STEP: u64 = 512_000;

/// From this least round-trip time on, nothing is left of the buffer, ns.
const LONG: u64 = (u32::BITS - BUFFER.leading_zeros()) as u64 * SHORT_STEP;

/// More than what rounding can change, for comparisons that replace divisions.
const CERTAIN: f64 = 1.001;

/// A burst has more than `room` segments as long as the window is at least `cwnd` and the smoothed round-trip time at most `srtt`. With
/// this most decisions to wait need no division and no rounding.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownBurst {
    room: u32,
    cwnd: f64,
    srtt: u64,
}

impl KnownBurst {
    /// A part of the window and of the round-trip time by which they may change.
    const CHANGE: u64 = 32;

    pub fn new(conn: &Connection) -> KnownBurst {
        let srtt = conn.rtt.estimator.srtt();
        let (cwnd, srtt) = (conn.window.cwnd * (1.0 - 1.0 / Self::CHANGE as f64), srtt + srtt / Self::CHANGE);
        // Outside of slow start. One segment is what is cut off, and one is for rounding.
        let segments = USUAL_GAIN * cwnd * 1e9 / (BURSTS_A_SECOND * srtt.max(1) as f64);
        let room = (segments as u32).min(BUFFER / conn.window.mss()).saturating_sub(2);
        KnownBurst { room: if conn.rtt.estimator.is_known() { room } else { 0 }, cwnd, srtt }
    }

    #[inline(always)]
    pub fn is_over(&self, room: u32, conn: &Connection) -> bool {
        let window = &conn.window;
        room <= self.room
            && window.cwnd >= self.cwnd
            && conn.rtt.estimator.srtt() <= self.srtt
            && window.pacing_rate == f64::INFINITY
    }
}

/// Returns the rate of the window, segments a second: twice in slow start, 1.2 times otherwise.
pub fn usual_rate(conn: &Connection) -> f64 {
    let (segments, time) = usual_segments(conn);
    segments * 1e9 / time
}

/// The same as segments in a time, ns.
fn usual_segments(conn: &Connection) -> (f64, f64) {
    let (window, estimator) = (&conn.window, &conn.rtt.estimator);
    // Mostly this decides without rounding on which side of half the threshold the window is.
    let half = window.ssthresh / 2.0;
    let slow_start = window.cwnd < half && (window.cwnd + 1.0 <= half || window.cwnd < window.whole(half));
    let gain = if slow_start { 2.0 } else { USUAL_GAIN };
    let srtt = if estimator.is_known() { estimator.srtt() } else { 1_000_000 };
    (gain * window.cwnd.max((conn.next - conn.una) as f64), srtt.max(1) as f64)
}

/// Returns [`burst_size`], or `room + 1` if it is certainly more than `room`. In most cases this needs none of its divisions.
#[inline(always)]
pub fn burst_size_up_to(conn: &Connection, room: u32, least: u32) -> u32 {
    let size = if has_least_burst(conn, least) {
        least
    } else if has_burst_over(conn, room) {
        room + 1
    } else {
        return burst_size(conn, least);
    };
    debug_assert_eq!(size.min(room + 1), burst_size(conn, least).min(room + 1));
    size
}

/// Returns true if [`burst_size`] is certainly `least`: the window is small, and the path so long that nothing is added.
#[inline(always)]
fn has_least_burst(conn: &Connection, least: u32) -> bool {
    let (window, estimator) = (&conn.window, &conn.rtt.estimator);
    // In slow start.
    let most_segments = 2.0 * window.cwnd.max((conn.next - conn.una) as f64);
    let time = estimator.srtt() as f64 * BURSTS_A_SECOND;
    estimator.is_known()
        && estimator.min >= LONG
        && window.pacing_rate == f64::INFINITY
        && CERTAIN * 1e9 * most_segments < f64::from(least + 1) * time
}

/// Returns true if [`burst_size`] is certainly over `room`.
#[inline(always)]
fn has_burst_over(conn: &Connection, room: u32) -> bool {
    let needed = (u64::from(room) + 1) * u64::from(conn.window.mss());
    if needed > u64::from(BUFFER) || conn.window.pacing_rate.is_finite() {
        return false;
    }
    let (segments, time) = usual_segments(conn);
    let bytes = segments * 1e9 * f64::from(conn.window.mss());
    // The fraction of a byte that is cut off.
    bytes > CERTAIN * (needed + 1) as f64 * time * BURSTS_A_SECOND
}

/// Returns the segments of a burst: about a millisecond at twice the rate of the window in slow start, and 1.2 times
/// otherwise; more on paths of a few milliseconds.
pub fn burst_size(conn: &Connection, least: u32) -> u32 {
    let (window, estimator) = (&conn.window, &conn.rtt.estimator);
    let rate = if window.pacing_rate.is_finite() {
        window.pacing_rate / f64::from(window.mss())
    } else {
        usual_rate(conn)
    };
    let steps = if estimator.is_known() { estimator.min / SHORT_STEP } else { u64::MAX };
    let short = if steps < 32 { BUFFER >> steps } else { 0 };
    let bytes = (rate / BURSTS_A_SECOND * f64::from(window.mss())) as u32;
    let least = if window.pacing_rate < conn.needs.compat.single_segments_below as f64 { 1 } else { least };
    (bytes.saturating_add(short).min(BUFFER) / window.mss()).max(least)
}
