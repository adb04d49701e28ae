//! When each outstanding segment was sent last.

/// The bit of a time that says that the segment was sent more than once.
const AGAIN: u64 = 1 << 63;

/// When a segment was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct When {
    /// For the last time, ns.
    pub at: u64,
    /// It was retransmitted.
    pub again: bool,
}

/// A ring of times. A segment that was just acknowledged is still known.
#[derive(Clone, Debug)]
pub struct Sent {
    times: Box<[u64]>,
    /// From this segment on none was ever retransmitted.
    pub never_from: u64,
}

impl Default for Sent {
    fn default() -> Self {
        Sent { times: vec![0; 64].into_boxed_slice(), never_from: 0 }
    }
}

impl Sent {
    /// A segment of those from `una` on is sent.
    #[inline]
    pub fn note(&mut self, now: u64, segment: u64, una: u64, again: bool) {
        if segment - una >= self.times.len() as u64 {
            self.grow(una, segment);
        }
        if again {
            self.never_from = self.never_from.max(segment + 1);
        }
        let i = self.index(segment);
        self.times[i] = now | if again { AGAIN } else { 0 };
    }

    /// When a segment was sent.
    #[inline]
    pub fn of(&self, segment: u64) -> When {
        let time = self.times[self.index(segment)];
        When { at: time & !AGAIN, again: time & AGAIN != 0 }
    }

    #[inline]
    fn index(&self, segment: u64) -> usize {
        segment as usize & (self.times.len() - 1)
    }

    #[cold]
    fn grow(&mut self, una: u64, segment: u64) {
        let size = ((segment - una) as usize + 1).next_power_of_two();
        let mut times = vec![0; size].into_boxed_slice();
        for old in una..una + self.times.len() as u64 {
            times[old as usize & (size - 1)] = self.times[self.index(old)];
        }
        self.times = times;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_while_it_grows() {
        let mut sent = Sent::default();
        (100..300).for_each(|segment| sent.note(10 * segment, segment, 100, segment % 7 == 0));
        for segment in 100..300 {
            assert_eq!(sent.of(segment), When { at: 10 * segment, again: segment % 7 == 0 });
        }
    }
}
