//! A monitor interval: what a flow sent, and what it learnt of the network, between two actions.

use cwnd_cc::Nanos;

/// What happened in one monitor interval. Packets are data packets, retransmissions included.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// Its length, seconds.
    pub duration_s: f64,
    /// Wire bytes of a full packet.
    pub packet_bytes: u32,
    /// Packets sent.
    pub sent: u64,
    /// Packets newly delivered, as the sender learnt from ACKs.
    pub acked: u64,
    /// Packets that the sender found to be lost.
    pub lost: u64,
    /// Packets whose congestion mark was echoed.
    pub marked: u64,
    /// Round-trip time samples.
    pub rtt_samples: u64,
    /// Their mean, seconds; zero without samples.
    pub rtt_mean_s: f64,
    /// The smallest of them, seconds; zero without samples.
    pub rtt_min_s: f64,
    /// The mean of their second half less that of the first, seconds; zero with fewer than two. The first half has the smaller
    /// number.
    pub rtt_increase_s: f64,
    /// The slope of the regression line through them over the time of their arrival, seconds a second; zero where it is not
    /// defined, and where no [`Feature`](crate::Feature) uses it.
    pub rtt_slope: f64,
    /// The congestion window at the end, segments.
    pub cwnd: f64,
    /// The rate at which packets are spaced at the end, packets a second; infinite if they are not.
    pub pacing_pps: f64,
    /// The smoothed round-trip time at the end, seconds; zero before the first sample.
    pub srtt_s: f64,
    /// The smallest round-trip time of the connection so far, seconds; zero before the first sample.
    pub min_rtt_s: f64,
}

impl Interval {
    /// Returns the delivered packets a second; zero for an interval without length.
    pub fn throughput_pps(&self) -> f64 {
        self.per_second(self.acked as f64)
    }

    /// Returns the rate of delivered wire bytes, bit/s.
    pub fn throughput_bps(&self) -> f64 {
        self.throughput_pps() * self.packet_bits()
    }

    /// Returns the rate of sent wire bytes, bit/s.
    pub fn send_rate_bps(&self) -> f64 {
        self.per_second(self.sent as f64) * self.packet_bits()
    }

    /// Returns the lost packets a second.
    pub fn loss_pps(&self) -> f64 {
        self.per_second(self.lost as f64)
    }

    /// Returns the lost packets' share of those that were lost or delivered; zero if there are none.
    pub fn loss_ratio(&self) -> f64 {
        let known = self.lost + self.acked;
        if known == 0 { 0.0 } else { self.lost as f64 / known as f64 }
    }

    /// Returns the packets a second between the first delivered packet and the last: n packets span n - 1 gaps. That is how
    /// PCC-RL (`sender_obs.py`, "recv rate") measures it; without a delivered packet it is negative.
    pub fn received_pps(&self) -> f64 {
        self.per_second(self.acked as f64 - 1.0)
    }

    fn packet_bits(&self) -> f64 {
        8.0 * f64::from(self.packet_bytes)
    }

    fn per_second(&self, packets: f64) -> f64 {
        if self.duration_s > 0.0 { packets / self.duration_s } else { 0.0 }
    }
}

/// Accumulates what ACKs report in an interval.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    pub acked: u64,
    pub marked: u64,
    /// Times of arrival and round-trip times, ns.
    samples: Vec<(u64, u64)>,
    /// Whether to compute the regression line.
    slope: bool,
}

impl Meter {
    pub fn new(slope: bool) -> Meter {
        Meter { slope, samples: Vec::with_capacity(256), ..Meter::default() }
    }

    /// Begins an interval.
    pub fn clear(&mut self) {
        (self.acked, self.marked) = (0, 0);
        self.samples.clear();
    }

    #[inline(always)]
    pub fn on_ack(&mut self, now: Nanos, acked: u32, marked: u32, rtt: Option<Nanos>) {
        self.acked += u64::from(acked);
        self.marked += u64::from(marked);
        if let Some(rtt) = rtt {
            self.samples.push((now.0, rtt.0));
        }
    }

    /// Writes what it has measured.
    pub fn write(&self, interval: &mut Interval) {
        interval.acked = self.acked;
        interval.marked = self.marked;
        interval.rtt_samples = self.samples.len() as u64;
        let Some(half) = self.samples.len().checked_sub(1).map(|_| self.samples.len() / 2) else { return };
        // Sums of whole nanoseconds: their order does not matter.
        let (first, second) = self.samples.split_at(half);
        let sum = |part: &[(u64, u64)]| part.iter().map(|(_, rtt)| rtt).sum::<u64>();
        let mean = |sum: u64, count: usize| sum as f64 * 1e-9 / count as f64;
        let sums = (sum(first), sum(second));
        interval.rtt_mean_s = mean(sums.0 + sums.1, self.samples.len());
        interval.rtt_min_s = self.samples.iter().map(|(_, rtt)| *rtt).min().unwrap_or(0) as f64 * 1e-9;
        if half > 0 {
            interval.rtt_increase_s = mean(sums.1, second.len()) - mean(sums.0, half);
        }
        if self.slope {
            interval.rtt_slope = self.regression();
        }
    }

    fn regression(&self) -> f64 {
        let Some((origin, base)) = self.samples.first() else { return 0.0 };
        let (mut x, mut xx, mut y, mut xy) = (0.0, 0.0, 0.0, 0.0);
        for (at, rtt) in &self.samples {
            let time = (at - origin) as f64 * 1e-9;
            let delay = (*rtt as i64 - *base as i64) as f64 * 1e-9;
            x += time;
            xx += time * time;
            y += delay;
            xy += time * delay;
        }
        let n = self.samples.len() as f64;
        let spread = n * xx - x * x;
        if spread > 0.0 { (n * xy - x * y) / spread } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(samples: &[(u64, u64)]) -> Interval {
        let mut meter = Meter::new(true);
        for (at, rtt) in samples {
            meter.on_ack(Nanos::from_millis(*at), 1, 0, Some(Nanos::from_millis(*rtt)));
        }
        let mut interval = Interval::default();
        meter.write(&mut interval);
        interval
    }

    #[test]
    fn the_first_half_has_the_smaller_number() {
        // 10 | 20, 30: 25 - 10 = 15 ms. Mean 20 ms.
        let interval = measured(&[(0, 10), (1, 20), (2, 30)]);
        assert!((interval.rtt_increase_s - 0.015).abs() < 1e-15);
        assert!((interval.rtt_mean_s - 0.020).abs() < 1e-15);
        assert_eq!((interval.rtt_min_s, interval.rtt_samples, interval.acked), (0.010, 3, 3));
        // 10 ms more each millisecond: 10 s a second.
        assert!((interval.rtt_slope - 10.0).abs() < 1e-9);
    }

    #[test]
    fn few_samples_have_no_trend() {
        assert_eq!(measured(&[]), Interval::default());
        let one = measured(&[(5, 10)]);
        assert_eq!((one.rtt_mean_s, one.rtt_increase_s, one.rtt_slope), (0.010, 0.0, 0.0));
        // Two samples at one time have no slope.
        assert_eq!(measured(&[(5, 10), (5, 20)]).rtt_slope, 0.0);
    }

    #[test]
    fn rates_count_wire_bytes() {
        let interval = Interval {
            duration_s: 0.5,
            packet_bytes: 1500,
            sent: 120,
            acked: 100,
            lost: 25,
            ..Interval::default()
        };
        // 200 packets a second of 12,000 bit.
        assert_eq!(interval.throughput_bps(), 2_400_000.0);
        assert_eq!(interval.send_rate_bps(), 2_880_000.0);
        assert_eq!((interval.received_pps(), interval.loss_ratio()), (198.0, 0.2));
        assert_eq!(Interval::default().received_pps(), 0.0);
    }
}
