//! Values that an algorithm has set and with which the flow would stop.

use crate::Connection;
use cwnd_cc::IllegalValue;

impl Connection {
    /// Returns the first value that the algorithm has set and that no window may have, and when; `None` if there was none. The flow
    /// may never send again after it, and its counts mean nothing: an engine ends its run with an error.
    pub fn illegal_value(&self) -> Option<(u64, IllegalValue)> {
        self.illegal_value.as_deref().copied()
    }

    /// Records a window or a pacing rate that lets nothing go.
    #[inline(always)]
    pub(crate) fn check_window(&mut self, now: u64) {
        if !self.window.lets_send() {
            self.record_illegal_value(now);
        }
    }

    /// Records the first value that is not allowed, if there is one. Unlike [`Connection::check_window`] it looks at all fields.
    #[cold]
    #[inline(never)]
    pub(crate) fn record_illegal_value(&mut self, now: u64) {
        if self.illegal_value.is_none() {
            self.illegal_value = self.window.illegal_value().map(|illegal| Box::new((now, illegal)));
        }
    }
}
