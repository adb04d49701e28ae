//! How the bytes that an application writes become segments.
//!
//! The sender counts segments; scripts count bytes. A segment carries a full payload unless a write ended before: that
//! segment grows with the next write while it was not sent.

/// The bytes of the outgoing stream, from 0.
#[derive(Clone, Debug)]
pub struct Stream {
    mss: u64,
    /// Where each segment ends.
    ends: Vec<u64>,
    /// Segments after which a write ended.
    pushed: Vec<bool>,
}

impl Stream {
    /// Creates an empty stream.
    pub fn new(mss: u32) -> Stream {
        Stream { mss: u64::from(mss.max(1)), ends: Vec::new(), pushed: Vec::new() }
    }

    /// Returns the number of bytes written.
    pub fn end(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Returns the number of segments.
    pub fn segments(&self) -> u64 {
        self.ends.len() as u64
    }

    /// Adds the bytes of a write, where segments below `sent` have left. Returns how many segments were added.
    pub fn write(&mut self, bytes: u64, sent: u64) -> u64 {
        let before = self.ends.len();
        let mut left = bytes;
        if before as u64 > sent {
            let start = self.start(before as u64 - 1);
            let end = &mut self.ends[before - 1];
            let room = (start + self.mss - *end).min(left);
            *end += room;
            left -= room;
            if room > 0 {
                self.pushed[before - 1] = left == 0;
            }
        }
        let mut end = self.end();
        while left > 0 {
            let length = left.min(self.mss);
            end += length;
            left -= length;
            self.ends.push(end);
            self.pushed.push(left == 0);
        }
        (self.ends.len() - before) as u64
    }

    /// Returns where a segment begins.
    pub fn start(&self, segment: u64) -> u64 {
        match segment {
            0 => 0,
            _ => self.ends.get(segment as usize - 1).copied().unwrap_or_else(|| self.end()),
        }
    }

    /// Returns where a segment begins and its length.
    pub fn range(&self, segment: u64) -> (u64, u64) {
        let start = self.start(segment);
        (start, self.start(segment + 1) - start)
    }

    /// Returns whether a write ended after this segment.
    pub fn is_push(&self, segment: u64) -> bool {
        self.pushed.get(segment as usize).copied().unwrap_or(false)
    }

    /// Returns how many segments lie wholly below `offset`.
    pub fn segments_below(&self, offset: u64) -> u64 {
        self.ends.partition_point(|&end| end <= offset) as u64
    }

    /// Returns the first segment that begins at `offset` or above: what lies before is not wholly in a range that begins there.
    pub fn first_from(&self, offset: u64) -> u64 {
        let segment = self.segments_below(offset);
        if self.start(segment) >= offset { segment } else { segment + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_segment_grows_while_it_is_not_sent() {
        let mut stream = Stream::new(1000);
        assert_eq!(stream.write(2500, 0), 3);
        assert_eq!((stream.range(2), stream.is_push(2)), ((2000, 500), true));
        assert_eq!(stream.write(700, 2), 1);
        assert_eq!((stream.range(2), stream.range(3)), ((2000, 1000), (3000, 200)));
        assert_eq!((stream.is_push(2), stream.is_push(3)), (false, true));
        assert_eq!(stream.write(100, 4), 1);
        assert_eq!(stream.range(4), (3200, 100));
    }

    #[test]
    fn ranges_count_whole_segments() {
        let mut stream = Stream::new(1000);
        stream.write(4000, 0);
        assert_eq!((stream.segments_below(3999), stream.segments_below(4000)), (3, 4));
        assert_eq!((stream.first_from(3000), stream.first_from(3001), stream.first_from(0)), (3, 4, 0));
    }
}
