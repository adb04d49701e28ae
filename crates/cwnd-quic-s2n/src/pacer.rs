//! When the next datagram may leave.

use cwnd_cc::Nanos;

/// Datagrams that may leave at once.
const BURST: u64 = 10;

/// What may leave at once if the rate is high: what it sends in this time, since s2n-quic's timers have steps of 1 ms.
const BURST_TIME: f64 = 1e-3;

/// Lets a rate pass in bursts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pacer {
    /// When a link of the rate would have sent everything that has left.
    drained: Nanos,
    /// The time that a link of the rate needs for a burst, without its last datagram.
    burst: Nanos,
}

impl Pacer {
    /// Handles `bytes` that leave at `now`, with a rate of bytes a second.
    pub fn on_sent(&mut self, now: Nanos, bytes: u64, rate: f64, datagram: u16) {
        let time = |bytes: f64| Nanos((1e9 * bytes / rate) as u64);
        self.burst = time((burst(rate, datagram) - u64::from(datagram)) as f64);
        self.drained = self.drained.max(now) + time(bytes as f64);
    }

    /// Returns the earliest time of the next datagram.
    pub fn next(&self) -> Nanos {
        Nanos(self.drained.0.saturating_sub(self.burst.0))
    }
}

/// Returns the bytes of a burst.
pub fn burst(rate: f64, datagram: u16) -> u64 {
    (BURST * u64::from(datagram)).max((rate * BURST_TIME) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_passes_in_bursts() {
        let mut pacer = Pacer::default();
        let mut now = Nanos::from_millis(50);
        let begin = now;
        // 1,200,000 bytes a second: 1 ms a datagram.
        for i in 0..100u64 {
            now = now.max(pacer.next());
            assert_eq!(now, begin + Nanos::from_millis(i.saturating_sub(9)), "{i}");
            pacer.on_sent(now, 1_200, 1.2e6, 1_200);
        }
        // After a pause another burst may leave.
        let later = now + Nanos::from_millis(1_000);
        assert!(pacer.next() < later);
        pacer.on_sent(later, 9 * 1_200, 1.2e6, 1_200);
        assert!(pacer.next() <= later);
        pacer.on_sent(later, 2 * 1_200, 1.2e6, 1_200);
        assert_eq!(pacer.next(), later + Nanos::from_millis(2));
    }

    #[test]
    fn a_high_rate_has_larger_bursts() {
        assert_eq!((burst(1e6, 1_200), burst(1e8, 1_200)), (12_000, 100_000));
    }
}
