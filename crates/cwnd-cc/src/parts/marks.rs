//! DCTCP's estimate of the fraction of segments with an echoed congestion mark (RFC 8257 section 3.3).

use crate::Ack;

/// DCTCP.Alpha: a moving average of the marked fraction, updated once per window of data.
#[derive(Clone, Copy, Debug)]
pub struct MarkShare {
    /// The estimate, from 0 to 1.
    pub alpha: f64,
    gain: f64,
    acked: u64,
    marked: u64,
}

impl MarkShare {
    /// Creates an estimate with the initial value `alpha`; `gain` is the weight of the newest window.
    pub fn new(alpha: f64, gain: f64) -> MarkShare {
        MarkShare { alpha, gain, acked: 0, marked: 0 }
    }

    /// Counts an ACK. Returns whether it ends a window of data and updates the estimate; the ACK still belongs to that window.
    #[inline]
    pub fn count(&mut self, ack: &Ack) -> bool {
        self.acked += u64::from(ack.acked);
        self.marked += u64::from(ack.marked.min(ack.acked));
        ack.round_start && self.end_window()
    }

    fn end_window(&mut self) -> bool {
        if self.acked == 0 {
            return false;
        }
        let share = self.marked as f64 / self.acked as f64;
        self.alpha = self.alpha * (1.0 - self.gain) + self.gain * share;
        self.acked = 0;
        self.marked = 0;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::MarkShare;
    use crate::Ack;
    use crate::testing::assert_near;

    #[test]
    fn an_average_over_windows() {
        // A window of 10 with 4 marked: 15/16 + 0.4/16 = 0.9625; an unmarked one: 0.9625 * 15/16 = 0.902344.
        let mut share = MarkShare::new(1.0, 1.0 / 16.0);
        assert!(!share.count(&Ack { acked: 4, marked: 4, ..Ack::default() }));
        assert!(share.count(&Ack { acked: 6, round_start: true, ..Ack::default() }));
        assert_near(share.alpha, 0.9625, 1e-12);
        assert!(share.count(&Ack { acked: 7, round_start: true, ..Ack::default() }));
        assert_near(share.alpha, 0.902_343_75, 1e-12);
    }

    #[test]
    fn a_window_without_deliveries_says_nothing() {
        let mut share = MarkShare::new(0.5, 1.0);
        assert!(!share.count(&Ack { marked: 1, round_start: true, ..Ack::default() }));
        assert_eq!(share.alpha, 0.5);
    }
}
