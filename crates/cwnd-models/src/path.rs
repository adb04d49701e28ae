//! The path of a single flow.

/// A bottleneck with a drop-tail buffer, and a round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// Rate of the bottleneck, bit/s.
    pub rate_bps: f64,
    /// Round-trip time with empty buffers (RTTbase), s.
    pub rtt: f64,
    /// Size of a packet on the bottleneck, bytes.
    pub packet_bytes: f64,
    /// Queue limit without the packet in transmission, packets.
    pub buffer: f64,
}

impl Path {
    /// Returns the rate in packets per second.
    pub fn packet_rate(&self) -> f64 {
        self.rate_bps / (8.0 * self.packet_bytes)
    }

    /// Returns the bandwidth-delay product in packets: rate x RTT / packet size (Elastic-TCP's equation 1).
    pub fn bdp(&self) -> f64 {
        self.packet_rate() * self.rtt
    }

    /// Returns the window at which the buffer overflows: BDP + buffer, packets.
    pub fn window_max(&self) -> f64 {
        self.bdp() + self.buffer
    }

    /// Returns the round-trip time of a window, s: the base while the pipe is not full, then window / rate.
    pub fn rtt_at(&self, window: f64) -> f64 {
        self.rtt.max(window / self.packet_rate())
    }

    /// Returns the round-trip time with a full buffer (RTTmax), s.
    pub fn rtt_max(&self) -> f64 {
        self.rtt_at(self.window_max())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_near;

    #[test]
    fn the_path_of_the_elastic_papers_simulations() {
        // 1 Gbit/s / 8,000 bit = 125,000 packets/s; x 0.204 s = 25,500; with 6,400: 31,900, that is 255.2 ms.
        let path = Path { rate_bps: 1e9, rtt: 0.204, packet_bytes: 1_000.0, buffer: 6_400.0 };
        assert_near(path.bdp(), 25_500.0, 1e-9);
        assert_near(path.window_max(), 31_900.0, 1e-9);
        assert_near(path.rtt_at(12_750.0), 0.204, 1e-15);
        assert_near(path.rtt_at(28_700.0), 0.2296, 1e-12);
        assert_near(path.rtt_max(), 0.2552, 1e-12);
    }
}
