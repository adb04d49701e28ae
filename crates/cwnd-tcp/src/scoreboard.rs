//! The scoreboard: which outstanding segments are SACKed, lost, retransmitted (RFC 6675 section 3).

use crate::fault::{self, Fault};

/// Three bits for each outstanding segment, 64 segments in a word.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Scoreboard {
    /// Segments SACKed.
    pub sacked: u32,
    /// Segments declared lost and not SACKed since, whether or not retransmitted.
    pub lost: u32,
    /// Lost segments whose retransmission is in flight.
    pub retransmitted: u32,
    /// The three highest segments SACKed, highest first.
    top: [u64; 3],
    /// All segments below this one that are not SACKed are marked lost already.
    lost_below: u64,
    /// No lost segment below this waits for retransmission.
    next_retransmit: u64,
    words: Box<[Word]>,
    /// Segments declared lost, if an event log is kept.
    #[allow(clippy::box_collection)] // one word if there is no log
    pub losses: Option<Box<Vec<u64>>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Word {
    sacked: u64,
    lost: u64,
    retransmitted: u64,
}

impl Default for Scoreboard {
    fn default() -> Self {
        Scoreboard {
            words: vec![Word::default(); 4].into_boxed_slice(),
            sacked: 0,
            lost: 0,
            retransmitted: 0,
            top: [0; 3],
            lost_below: 0,
            next_retransmit: 0,
            losses: None,
        }
    }
}

/// Returns the bits of `from..to` inside the word that holds `from`, and the end of that part.
#[inline]
fn part(from: u64, to: u64) -> (u64, u64) {
    let end = ((from | 63) + 1).min(to);
    let bits = end - from;
    let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
    (mask << (from & 63), end)
}

impl Scoreboard {
    /// Returns whether nothing is SACKed or lost.
    #[inline(always)]
    pub fn is_clean(&self) -> bool {
        self.sacked | self.lost == 0
    }

    #[inline]
    fn index(&self, segment: u64) -> usize {
        (segment >> 6) as usize & (self.words.len() - 1)
    }

    /// Makes room for the outstanding segments `una..next`. Call this before any other method uses segments of that range.
    #[inline]
    pub fn cover(&mut self, una: u64, next: u64) {
        // One more word at each end, since neither end need be at the start of a word.
        let words = ((next - una) >> 6) as usize + 3;
        if words > self.words.len() {
            self.grow(una, words);
        }
    }

    #[cold]
    fn grow(&mut self, una: u64, words: usize) {
        let mut grown = vec![Word::default(); words.next_power_of_two()].into_boxed_slice();
        let first = una >> 6;
        let left = if fault::is(Fault::GrownScoreboardIsShort) { 2 } else { 0 };
        for word in first..first + self.words.len() as u64 - left {
            grown[word as usize & (grown.len() - 1)] = self.words[word as usize & (self.words.len() - 1)];
        }
        self.words = grown;
    }

    /// Removes the segments `una..to`, which are acknowledged. Returns how many of them were SACKed.
    pub fn acknowledge(&mut self, una: u64, to: u64) -> u32 {
        let mut segment = una;
        let mut sacked = 0;
        while segment < to {
            let (mask, end) = part(segment, to);
            let i = self.index(segment);
            let word = &mut self.words[i];
            sacked += (word.sacked & mask).count_ones();
            self.lost -= (word.lost & mask).count_ones();
            self.retransmitted -= (word.retransmitted & mask).count_ones();
            word.sacked &= !mask;
            word.lost &= !mask;
            word.retransmitted &= !mask;
            segment = end;
        }
        self.sacked -= sacked;
        sacked
    }

    /// Marks `from..to` as SACKed. Returns how many segments were not SACKed before, and calls `each` with those of them
    /// that were retransmitted.
    pub fn sack(&mut self, from: u64, to: u64, mut each: impl FnMut(u64)) -> u32 {
        let mut segment = from;
        let mut total = 0;
        while segment < to {
            let (mask, end) = part(segment, to);
            let i = self.index(segment);
            let word = &mut self.words[i];
            let mut new = mask & !word.sacked;
            if new != 0 {
                total += new.count_ones();
                self.lost -= (word.lost & new).count_ones();
                let mut retransmitted = word.retransmitted & new;
                self.retransmitted -= retransmitted.count_ones();
                word.sacked |= new;
                word.lost &= !new;
                word.retransmitted &= !new;
                while retransmitted != 0 {
                    each((segment & !63) + u64::from(retransmitted.trailing_zeros()));
                    retransmitted &= retransmitted - 1;
                }
                while new != 0 {
                    let highest = (segment & !63) + u64::from(63 - new.leading_zeros());
                    if !self.raise_top(highest) {
                        break;
                    }
                    new &= !(1 << (highest & 63));
                }
            }
            segment = end;
        }
        self.sacked += total;
        total
    }

    /// Updates the three highest SACKed segments. Returns false if the segment is not among them, and so no lower one.
    fn raise_top(&mut self, segment: u64) -> bool {
        let [first, second, third] = self.top;
        self.top = match () {
            () if segment > first => [segment, first, second],
            () if segment > second => [first, segment, second],
            () if segment > third => [first, second, segment],
            () => return false,
        };
        true
    }

    /// Returns the third highest segment SACKed: each segment below has at least DupThresh = 3 SACKed above it.
    pub fn third_highest_sacked(&self) -> u64 {
        self.top[2]
    }

    /// Returns the highest segment SACKed; zero if there is none.
    pub fn highest_sacked(&self) -> u64 {
        self.top[0]
    }

    /// Marks each segment lost that is not SACKed and has three SACKed above it (RFC 6675's IsLost). Calls `each` with the
    /// newly lost ones, and returns how many they are.
    pub fn mark_lost_by_sacks(&mut self, una: u64, each: impl FnMut(u64)) -> u32 {
        let nth = if fault::is(Fault::TwoSacksMeanLoss) { 1 } else { 2 };
        self.mark_lost_below(self.top[nth], una, each)
    }

    /// Marks each segment lost that is not SACKed and lies `distance` or more below the highest that is (forward
    /// acknowledgement). Calls `each` with the newly lost ones, and returns how many they are.
    pub fn mark_lost_by_distance(&mut self, distance: u64, una: u64, each: impl FnMut(u64)) -> u32 {
        self.mark_lost_below((self.top[0] + 1).saturating_sub(distance), una, each)
    }

    fn mark_lost_below(&mut self, to: u64, una: u64, each: impl FnMut(u64)) -> u32 {
        let lost = self.mark_lost(self.lost_below.max(una), to, each);
        self.lost_below = self.lost_below.max(to);
        lost
    }

    /// Marks the segments of `from..to` lost that are not SACKed. Calls `each` with the newly lost ones, and returns how
    /// many they are.
    pub fn mark_lost(&mut self, from: u64, to: u64, mut each: impl FnMut(u64)) -> u32 {
        let mut segment = from;
        let mut total = 0;
        while segment < to {
            let (mask, end) = part(segment, to);
            let i = self.index(segment);
            let word = &mut self.words[i];
            let mut new = mask & !word.sacked & !word.lost;
            word.lost |= new;
            total += new.count_ones();
            while new != 0 {
                let lost = (segment & !63) + u64::from(new.trailing_zeros());
                each(lost);
                if let Some(losses) = &mut self.losses {
                    losses.push(lost);
                }
                new &= new - 1;
            }
            segment = end;
        }
        if total > 0 {
            self.next_retransmit = self.next_retransmit.min(from);
        }
        self.lost += total;
        total
    }

    /// Marks every outstanding segment lost that is not SACKed, and every retransmission (after a timeout). Calls `each`
    /// with all of them, and returns how many segments are newly lost.
    pub fn mark_all_lost(&mut self, una: u64, next: u64, mut each: impl FnMut(u64)) -> u32 {
        let mut segment = una;
        while segment < next {
            let (mask, end) = part(segment, next);
            let i = self.index(segment);
            let mut retransmitted = self.words[i].retransmitted & mask;
            self.words[i].retransmitted &= !mask;
            while retransmitted != 0 {
                let lost = (segment & !63) + u64::from(retransmitted.trailing_zeros());
                each(lost);
                if let Some(losses) = &mut self.losses {
                    losses.push(lost);
                }
                retransmitted &= retransmitted - 1;
            }
            segment = end;
        }
        self.retransmitted = 0;
        let lost = self.mark_lost(una, next, each);
        self.lost_below = next;
        self.next_retransmit = una;
        lost
    }

    /// Takes the next lost segment to retransmit, and marks it as retransmitted. There must be one (`lost > retransmitted`).
    pub fn take_retransmit(&mut self, una: u64) -> u64 {
        let mut segment = self.next_retransmit.max(una);
        loop {
            let i = self.index(segment);
            let word = &mut self.words[i];
            let waiting = (word.lost & !word.retransmitted) >> (segment & 63);
            if waiting != 0 {
                segment += u64::from(waiting.trailing_zeros());
                word.retransmitted |= 1 << (segment & 63);
                self.retransmitted += 1;
                self.next_retransmit = segment + 1;
                return segment;
            }
            segment = (segment | 63) + 1;
        }
    }

    /// Returns whether an outstanding segment is lost and waits to be retransmitted.
    pub fn waits(&self, segment: u64) -> bool {
        let word = &self.words[self.index(segment)];
        ((word.lost & !word.retransmitted) >> (segment & 63)) & 1 != 0
    }

    /// Marks the retransmission of `segment` as lost: it waits again. Returns false if no retransmission is in flight.
    pub fn lose_retransmission(&mut self, segment: u64) -> bool {
        let i = self.index(segment);
        let bit = 1 << (segment & 63);
        let word = &mut self.words[i];
        if word.retransmitted & bit == 0 {
            return false;
        }
        word.retransmitted &= !bit;
        self.retransmitted -= 1;
        self.next_retransmit = self.next_retransmit.min(segment);
        if let Some(losses) = &mut self.losses {
            losses.push(segment);
        }
        true
    }

    /// Clears all marks of the outstanding segments `una..next`.
    pub fn clear(&mut self, una: u64, next: u64) {
        let mut segment = una;
        while segment < next {
            let (_, end) = part(segment, next);
            let i = self.index(segment);
            self.words[i] = Word::default();
            segment = end;
        }
        self.sacked = 0;
        self.lost = 0;
        self.retransmitted = 0;
        self.top = [0; 3];
        self.lost_below = una;
        self.next_retransmit = una;
    }

    /// Clears what duplicate ACKs have counted without SACK.
    pub fn forget_unnamed(&mut self) {
        self.sacked = 0;
    }

    /// Withdraws all declarations of loss. Retransmitted segments count as outstanding once, without a retransmission.
    pub fn unmark_lost(&mut self, una: u64, next: u64) {
        let mut segment = una;
        while segment < next {
            let (mask, end) = part(segment, next);
            let i = self.index(segment);
            self.words[i].lost &= !mask;
            self.words[i].retransmitted &= !mask;
            segment = end;
        }
        self.lost = 0;
        self.retransmitted = 0;
        self.lost_below = una;
    }

    /// Returns whether a segment is declared lost.
    pub fn is_lost(&self, segment: u64) -> bool {
        self.words[self.index(segment)].lost >> (segment & 63) & 1 == 1
    }

    /// Returns whether a lost segment's retransmission is in flight.
    pub fn is_retransmitted(&self, segment: u64) -> bool {
        self.words[self.index(segment)].retransmitted >> (segment & 63) & 1 == 1
    }

    /// Returns whether a segment is SACKed.
    pub fn is_sacked(&self, segment: u64) -> bool {
        self.words[self.index(segment)].sacked >> (segment & 63) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_lost_when_three_above_are_sacked() {
        let mut scoreboard = Scoreboard::default();
        scoreboard.cover(10, 40);
        // 10 and 13 are missing: after 11 and 12 nothing is lost; 14 makes three above 10, two above 13.
        assert_eq!(scoreboard.sack(11, 13, |_| ()), 2);
        assert_eq!(scoreboard.mark_lost_by_sacks(10, |_| ()), 0);
        assert_eq!(scoreboard.sack(14, 15, |_| ()), 1);
        assert_eq!(scoreboard.mark_lost_by_sacks(10, |_| ()), 1);
        assert_eq!((scoreboard.sacked, scoreboard.lost, scoreboard.retransmitted), (3, 1, 0));
        assert_eq!(scoreboard.sack(15, 17, |_| ()), 2);
        // 14, 15 and 16 lie above 13.
        assert_eq!(scoreboard.mark_lost_by_sacks(10, |_| ()), 1);
        assert_eq!(scoreboard.take_retransmit(10), 10);
        assert_eq!(scoreboard.take_retransmit(10), 13);
        assert_eq!((scoreboard.lost, scoreboard.retransmitted), (2, 2));
        // In this range only 13 was not SACKed before; its retransmission is no longer in flight.
        assert_eq!(scoreboard.sack(11, 17, |_| ()), 1);
        assert_eq!((scoreboard.sacked, scoreboard.lost, scoreboard.retransmitted), (6, 1, 1));
    }

    #[test]
    fn acknowledging_clears_every_count() {
        let mut scoreboard = Scoreboard::default();
        scoreboard.cover(0, 200);
        scoreboard.sack(100, 150, |_| ());
        scoreboard.mark_lost_by_sacks(0, |_| ());
        assert_eq!(scoreboard.lost, 100);
        (0..60).for_each(|i| assert_eq!(scoreboard.take_retransmit(0), i));
        assert_eq!(scoreboard.acknowledge(0, 120), 20);
        assert_eq!((scoreboard.sacked, scoreboard.lost, scoreboard.retransmitted), (30, 0, 0));
        assert_eq!(scoreboard.acknowledge(120, 200), 30);
        assert!(scoreboard.is_clean());
    }

    #[test]
    fn a_timeout_loses_everything_again() {
        let mut scoreboard = Scoreboard::default();
        scoreboard.cover(5, 20);
        scoreboard.sack(10, 13, |_| ());
        scoreboard.mark_lost_by_sacks(5, |_| ());
        scoreboard.take_retransmit(5);
        assert_eq!(scoreboard.mark_all_lost(5, 20, |_| ()), 7);
        assert_eq!((scoreboard.sacked, scoreboard.lost, scoreboard.retransmitted), (3, 12, 0));
        let order: Vec<u64> = (0..12).map(|_| scoreboard.take_retransmit(5)).collect();
        assert_eq!(order, [5, 6, 7, 8, 9, 13, 14, 15, 16, 17, 18, 19]);
        assert!(scoreboard.lose_retransmission(9));
        assert!(!scoreboard.lose_retransmission(10));
        assert_eq!(scoreboard.take_retransmit(5), 9);
    }

    #[test]
    fn by_distance_one_far_sack_is_enough() {
        let mut scoreboard = Scoreboard::default();
        scoreboard.cover(10, 40);
        // 14 is SACKed: 10 lies four below, 11 to 13 do not.
        scoreboard.sack(14, 15, |_| ());
        assert_eq!(scoreboard.mark_lost_by_distance(4, 10, |_| ()), 1);
        assert_eq!(scoreboard.take_retransmit(10), 10);
        // 17: 11, 12 and 13 as well; 15 and 16 not.
        scoreboard.sack(17, 18, |_| ());
        let mut lost = Vec::new();
        assert_eq!(scoreboard.mark_lost_by_distance(4, 10, |segment| lost.push(segment)), 3);
        assert_eq!((lost, scoreboard.highest_sacked()), (vec![11, 12, 13], 17));
    }

    #[test]
    fn reports_retransmissions_that_are_sacked() {
        let mut scoreboard = Scoreboard::default();
        scoreboard.cover(60, 140);
        scoreboard.sack(130, 131, |_| ());
        scoreboard.mark_lost(60, 130, |_| ());
        assert!((60..65).all(|segment| scoreboard.take_retransmit(60) == segment));
        let mut retransmitted = Vec::new();
        assert_eq!(scoreboard.sack(62, 70, |segment| retransmitted.push(segment)), 8);
        assert_eq!((retransmitted, scoreboard.retransmitted), (vec![62, 63, 64], 2));
    }

    #[test]
    fn growing_keeps_the_state_of_every_segment() {
        // The first segment is in the sixth word of all, which is the second of four in a ring, and the sixth of 32.
        const FIRST: u64 = 5 * 64 + 6;
        let mut scoreboard = Scoreboard::default();
        scoreboard.cover(FIRST, FIRST + 60);
        scoreboard.sack(FIRST + 10, FIRST + 20, |_| ());
        scoreboard.sack(FIRST + 55, FIRST + 58, |_| ());
        scoreboard.mark_lost(FIRST, FIRST + 55, |_| ());
        assert!((0..3).all(|segment| scoreboard.take_retransmit(FIRST) == FIRST + segment));
        scoreboard.cover(FIRST, FIRST + 1_280);
        for place in 0..1_280 {
            let segment = FIRST + place;
            let sacked = (10..20).contains(&place) || (55..58).contains(&place);
            let expected = (sacked, place < 55 && !sacked, place < 3);
            let found = (
                scoreboard.is_sacked(segment),
                scoreboard.is_lost(segment),
                scoreboard.is_retransmitted(segment),
            );
            assert_eq!(found, expected, "segment {segment}");
        }
    }

    #[test]
    fn forgets_everything() {
        let mut scoreboard = Scoreboard::default();
        scoreboard.cover(10, 200);
        scoreboard.sack(150, 160, |_| ());
        scoreboard.mark_lost_by_sacks(10, |_| ());
        scoreboard.take_retransmit(10);
        scoreboard.clear(10, 200);
        assert!(scoreboard.is_clean());
        assert_eq!(
            (scoreboard.retransmitted, scoreboard.highest_sacked(), scoreboard.is_sacked(155)),
            (0, 0, false)
        );
        // SACKs of the same segments count again.
        assert_eq!(scoreboard.sack(100, 104, |_| ()), 4);
        assert_eq!(scoreboard.mark_lost_by_distance(4, 90, |_| ()), 10);
        assert_eq!(scoreboard.take_retransmit(90), 90);
    }

    #[test]
    fn grows_without_forgetting() {
        let mut scoreboard = Scoreboard::default();
        scoreboard.cover(1000, 1100);
        scoreboard.sack(1050, 1100, |_| ());
        scoreboard.cover(1000, 9000);
        scoreboard.sack(8000, 8064, |_| ());
        assert_eq!(scoreboard.acknowledge(1000, 9000), 114);
        assert!(scoreboard.is_clean());
    }
}
