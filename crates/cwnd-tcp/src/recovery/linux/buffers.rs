//! The buffers in which the application's data lies, which a burst does not cross.

use super::burst::BUFFER;
use crate::{Connection, GrowingWindow, SenderConfig};
use cwnd_cc::WindowConfig;

/// The send buffer, bytes (the recorded `tcp_wmem`), and what a buffer takes of it besides its data.
const SEND_BUFFER: u64 = 8 << 20;
const OVERHEAD: u64 = 1280;

/// Where the buffers end. One holds at most half of the largest advertised window (`tcp_bound_to_half_wnd` in Linux). The
/// application fills the send buffer as soon as it is connected, when only the first window is known, and continues when the window has
/// grown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Buffers {
    /// The first buffer, segments: the initial window. The PSH flags of recorded transfers, at segments 31, 75, 119, ..., show that it
    /// is apart from the 22 of each that follows.
    first: u64,
    /// Those that are filled at first, segments each.
    early: u64,
    /// The later ones, which begin with the segment `late_from`: the last of the early ones is filled up.
    late: u64,
    late_from: u64,
    /// Where the buffer under way ends, if the next segment lies before that.
    end: u64,
}

impl Buffers {
    pub fn new(config: &SenderConfig) -> Buffers {
        Buffers::of(config.growing_window, config.receive_window, &config.window)
    }

    fn of(growing: Option<GrowingWindow>, most: u64, window: &WindowConfig) -> Buffers {
        let mss = u64::from(window.mss).max(1);
        // A window of zero is set later (`Connection::set_receive_window`).
        let half = if most == 0 { u64::MAX } else { (most / 2).max(1) };
        let late = (u64::from(BUFFER) / mss).clamp(1, half);
        let first = window.initial_cwnd as u64;
        let Some(window) = growing else {
            return Buffers { first: 0, early: late, late, late_from: 0, end: 0 };
        };
        let early = late.min((window.after(0) / 2).max(1));
        let filled = first * mss + OVERHEAD;
        let buffers = SEND_BUFFER.saturating_sub(filled).div_ceil(early * mss + OVERHEAD);
        Buffers { first, early, late, late_from: first + early * buffers.saturating_sub(1), end: 0 }
    }

    /// Returns the number of segments left in the buffer under way.
    #[inline]
    pub fn left(&mut self, conn: &Connection) -> u32 {
        let next = conn.next;
        if next >= self.end {
            self.end = self.end_of(next);
        }
        (self.end - next).min(conn.data_end - next) as u32
    }

    /// Returns whether more segments are left than these in the buffer under way, if one is.
    #[inline(always)]
    pub fn have_more_than(&self, segments: u32, conn: &Connection) -> bool {
        conn.next + u64::from(segments) < self.end.min(conn.data_end)
    }

    /// Moves data from the next buffer to the one under way until it has as many segments as are wanted (`tcp_grow_skb`). Returns how many
    /// it has.
    pub fn fill(&mut self, conn: &Connection, wanted: u32) -> u32 {
        let wanted_end = conn.next + u64::from(wanted);
        if wanted_end > self.end && conn.data_end > self.end {
            self.end = wanted_end.min(self.end_of(self.end)).min(conn.data_end);
        }
        self.left(conn)
    }

    /// Returns where the buffer ends in which a segment lies.
    fn end_of(&self, segment: u64) -> u64 {
        if segment >= self.late_from {
            segment + self.late - (segment - self.late_from) % self.late
        } else if segment >= self.first {
            segment + self.early - (segment - self.first) % self.early
        } else {
            self.first
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_follow_the_initial_window() {
        let buffers = |most, mss| {
            let window = WindowConfig { initial_cwnd: 10.0, mss, ..WindowConfig::default() };
            Buffers::of(Some(GrowingWindow::new(most, mss)), most, &window)
        };
        // 65,535 B are 45 segments of 1,448 B, a half 22; 65,215 B are 45. 14,480 + 1,280 B and 253 times 31,856 + 1,280 B fill
        // 8 MiB; the last of them is filled up.
        let recorded = buffers(46_341, 1448);
        assert_eq!((recorded.first, recorded.early, recorded.late), (10, 22, 45));
        assert_eq!(recorded.late_from, 10 + 22 * 252);
        // A window of four segments.
        assert_eq!(buffers(4, 1448).early, 2);
    }
}
