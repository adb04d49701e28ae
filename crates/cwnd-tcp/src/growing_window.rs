//! The window that a Linux receiver advertises while it grows.

/// The first advertised window, bytes: the SYN of the receiver has no scale.
const FIRST: u64 = 65_535;

/// Receive buffers are multiples of this, bytes, and half of a buffer is window.
const BUFFER_UNIT: u64 = 65_536;

/// An advertised window that grows by two segments for each segment that arrives, as long as memory allows (`rcv_ssthresh` in
/// Linux's `tcp_grow_window`). The application reads at once, so that a segment out of order counts like any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrowingWindow {
    /// Its greatest value, segments.
    most: u64,
    /// Payload of a segment, bytes.
    payload: u64,
    /// The scale of the window: its unit is two to the power of this, bytes. The advertised window is rounded up to it.
    scale: u32,
}

impl GrowingWindow {
    /// Creates the window of a receiver whose buffer lets it grow to `most` segments of `payload` bytes.
    pub fn new(most: u64, payload: u32) -> GrowingWindow {
        let payload = u64::from(payload.max(1));
        let buffer = (2 * most * payload).next_multiple_of(BUFFER_UNIT);
        // RFC 7323 section 2.2: such that the whole buffer fits 16 bits, at most 2^14.
        let scale = buffer.ilog2().saturating_sub(15).min(14);
        GrowingWindow { most, payload, scale }
    }

    /// Returns the window, whole segments, after `received` segments. It is at least one.
    pub fn after(&self, received: u64) -> u64 {
        // Numbers of segments are far below 2^40.
        let bytes = FIRST + received * 2 * self.payload;
        // The window of the SYN is not scaled.
        let bytes = if received == 0 { bytes } else { self.units(bytes) << self.scale };
        (bytes / self.payload).min(self.most).max(1)
    }

    /// Returns the window after `received` segments as the header carries it, in its unit. Several segments in a row may leave it the
    /// same.
    pub fn field(&self, received: u64) -> u64 {
        self.units(FIRST + received * 2 * self.payload)
    }

    /// Returns the scale that the receiver's SYN announces (RFC 7323 section 2.2).
    pub fn scale(&self) -> u32 {
        self.scale
    }

    /// Returns a number of bytes in units, rounded up.
    fn units(&self, bytes: u64) -> u64 {
        (bytes + (1 << self.scale) - 1) >> self.scale
    }

    /// Returns the number of segments during which it grows.
    pub fn segments(&self) -> u64 {
        self.most.saturating_sub(FIRST / self.payload) / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_by_two_segments_for_each() {
        // 64 MiB of window: a buffer of 2^27 B, a scale of 12.
        let window = GrowingWindow::new(46_341, 1448);
        assert_eq!(window.scale, 12);
        // 65,535 B; then 65,535 + 8 x 2,896 = 88,703, rounded up to 22 x 4,096 = 90,112: the 62 segments of the recording.
        assert_eq!((window.after(0), window.after(8)), (45, 62));
        // 65,535 + 2,896 = 68,431, up to 69,632.
        assert_eq!(window.after(1), 48);
        assert_eq!((window.segments(), window.after(23_148)), (23_148, 46_341));
        // 68,431, 71,327, 74,223, 77,119 and 80,015 B are 16.7, 17.4, 18.1, 18.8 and 19.5 units.
        assert_eq!([1, 2, 3, 4, 5].map(|received| window.field(received)), [17, 18, 19, 19, 20]);
        // The default buffer of 6 MiB has a scale of 7.
        assert_eq!(GrowingWindow::new(2172, 1448).scale, 7);
        // A small buffer, and large segments.
        assert_eq!((GrowingWindow::new(4, 1448).after(0), GrowingWindow::new(4, 1448).segments()), (4, 0));
        assert_eq!(GrowingWindow::new(100, 65_000).after(0), 1);
    }
}
