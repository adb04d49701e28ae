//! Periodic computations of a discipline, which run at its next call.

/// Regular times from zero on: `every`, twice that, and so on.
#[derive(Clone, Debug)]
pub(crate) struct Periodic {
    every: u64,
    /// The next time; `u64::MAX` for never.
    next: u64,
}

impl Periodic {
    pub fn new(every: u64) -> Periodic {
        Periodic { every: every.max(1), next: every.max(1) }
    }

    /// Changes the period from the next time on.
    pub fn set(&mut self, every: u64) {
        self.every = every.max(1);
    }

    /// Returns whether a time is due at `now` or earlier.
    #[inline]
    pub fn is_due(&self, now: u64) -> bool {
        self.next <= now
    }

    /// Returns the first time that is due.
    pub fn take(&mut self, now: u64) -> Option<u64> {
        if self.next > now || self.next == u64::MAX {
            return None;
        }
        let at = self.next;
        self.next = at.saturating_add(self.every);
        Some(at)
    }

    /// Returns the last time that is due, and skips those before it.
    pub fn take_last(&mut self, now: u64) -> Option<u64> {
        if self.next > now || self.next == u64::MAX {
            return None;
        }
        self.next += (now - self.next) / self.every * self.every;
        self.take(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_each_or_the_last() {
        let mut times = Periodic::new(10);
        assert_eq!(times.take(9), None);
        assert_eq!(times.take(35), Some(10));
        assert_eq!(times.take(35), Some(20));
        assert!(times.is_due(30) && !times.is_due(29));
        times.set(7);
        // 30, then 37, 44, …, 93, 100.
        assert_eq!(times.take_last(99), Some(93));
        assert_eq!(times.take_last(99), None);
        assert_eq!(times.take(100), Some(100));
    }

    #[test]
    fn ends_where_time_does() {
        let mut times = Periodic::new(u64::MAX / 2);
        assert_eq!(times.take_last(u64::MAX), Some(u64::MAX - 1));
        assert_eq!(times.take(u64::MAX), None);
    }
}
