//! The least round-trip time of a span of time.

use crate::Nanos;

/// A minimum over the last `N` spans of equal length: the current one and the `N - 1` before it. With more than one span, the
/// window moves in steps of one span.
#[derive(Clone, Copy, Debug)]
pub struct TimeMin<const N: usize> {
    spans: [Nanos; N],
    current: usize,
    began: Nanos,
    least: Nanos,
}

impl<const N: usize> Default for TimeMin<N> {
    fn default() -> Self {
        TimeMin { spans: [Nanos::MAX; N], current: 0, began: Nanos::ZERO, least: Nanos::MAX }
    }
}

impl<const N: usize> TimeMin<N> {
    /// Returns the smallest sample; [`Nanos::MAX`] if the window has none.
    #[inline]
    pub fn get(&self) -> Nanos {
        self.least
    }

    /// Adds a sample. A window is `N` times `span` long; the span may change from sample to sample.
    #[inline]
    pub fn add(&mut self, now: Nanos, span: Nanos, rtt: Nanos) {
        let age = now.since(self.began);
        if age >= span {
            self.advance(now, span, age);
        }
        if rtt < self.spans[self.current] {
            self.spans[self.current] = rtt;
            self.least = self.least.min(rtt);
        }
    }

    fn advance(&mut self, now: Nanos, span: Nanos, age: Nanos) {
        let steps = age.0 / span.0.max(1);
        if steps >= N as u64 {
            self.spans = [Nanos::MAX; N];
            self.began = now;
        } else {
            for _ in 0..steps {
                self.current = (self.current + 1) % N;
                self.spans[self.current] = Nanos::MAX;
            }
            self.began = self.began + Nanos(steps * span.0);
        }
        self.least = self.spans.iter().copied().min().unwrap_or(Nanos::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::TimeMin;
    use crate::Nanos;

    const SPAN: Nanos = Nanos::from_millis(10);

    #[test]
    fn the_oldest_span_falls_out() {
        // Spans of 10 ms, three of them: the sample of 5 ms is known until 30 ms, that of 12 ms until 40 ms.
        let mut min = TimeMin::<3>::default();
        assert_eq!(min.get(), Nanos::MAX);
        for (at, rtt, least) in [(0, 7, 7), (5, 50, 7), (12, 60, 7), (29, 90, 7), (30, 90, 60), (40, 95, 90)]
        {
            min.add(Nanos::from_millis(at), SPAN, Nanos::from_millis(rtt));
            assert_eq!(min.get(), Nanos::from_millis(least), "at {at} ms");
        }
    }

    #[test]
    fn a_long_silence_forgets_all() {
        let mut min = TimeMin::<3>::default();
        min.add(Nanos::ZERO, SPAN, Nanos(1));
        min.add(Nanos::MAX, SPAN, Nanos(9));
        assert_eq!(min.get(), Nanos(9));
        // A span of no time at all keeps nothing but the newest, and divides by nothing.
        min.add(Nanos::MAX, Nanos::ZERO, Nanos(8));
        assert_eq!(min.get(), Nanos(8));
    }
}
