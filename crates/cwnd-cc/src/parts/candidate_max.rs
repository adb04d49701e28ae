//! A windowed maximum in constant space, as Linux computes it.

/// A maximum over a span of rounds, kept by the best value and two later candidates (K. Nichols' streaming filter).
///
/// A new best value forgets all others. A candidate is taken from a later part of the span, so that one is at hand when the best
/// value is older than the span. The result is the true maximum or a little less: a value that came right after the best, and is
/// followed by lower ones, can be missed. A value counts in its own round and in `span` rounds after it.
#[derive(Clone, Copy, Debug, Default)]
pub struct CandidateMax {
    /// Round and value of the best and of two candidates, each later and lower than the one before, or the same.
    candidates: [(u64, f64); 3],
}

impl CandidateMax {
    /// Returns the largest value; 0 before the first.
    #[inline]
    pub fn get(&self) -> f64 {
        self.candidates[0].1
    }

    /// Adds a value of a round.
    pub fn add(&mut self, round: u64, span: u64, value: f64) {
        let new = (round, value);
        let [best, second, third] = self.candidates;
        if value >= best.1 || round - third.0 > span {
            self.candidates = [new; 3];
            return;
        }
        if value >= second.1 {
            self.candidates = [best, new, new];
        } else if value >= third.1 {
            self.candidates[2] = new;
        }
        self.age(new, span);
    }

    /// Forgets what is older than the span, and takes candidates from its second quarter and its second half.
    fn age(&mut self, new: (u64, f64), span: u64) {
        let [best, second, third] = self.candidates;
        let age = new.0 - best.0;
        if age > span {
            self.candidates = match new.0 - second.0 > span {
                true => [third, new, new],
                false => [second, third, new],
            };
        } else if second.0 == best.0 && age > span / 4 {
            self.candidates = [best, new, new];
        } else if third.0 == second.0 && age > span / 2 {
            self.candidates[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CandidateMax;

    #[test]
    fn a_value_counts_for_the_span_after_its_round() {
        // 9 in round 0. Candidates: 4 in round 3 (age 3 > 10 / 4), then 3 in round 6 (age over 5). 9 counts until round 10; in
        // round 11 it is 4's turn, in round 14 that of 3.
        let mut max = CandidateMax::default();
        let values = [9.0, 5.0, 4.5, 4.0, 3.5, 3.2, 3.0, 2.0, 2.0, 2.0, 2.0];
        for (round, value) in values.into_iter().enumerate() {
            max.add(round as u64, 10, value);
            assert_eq!(max.get(), 9.0, "round {round}");
        }
        for (round, expected) in [(11, 4.0), (12, 4.0), (13, 4.0), (14, 3.0), (16, 3.0), (17, 1.0)] {
            max.add(round, 10, 1.0);
            assert_eq!(max.get(), expected, "round {round}");
        }
    }

    #[test]
    fn a_pause_longer_than_the_span_forgets_all() {
        let mut max = CandidateMax::default();
        max.add(0, 10, 9.0);
        max.add(1, 10, 8.0);
        max.add(12, 10, 2.0);
        assert_eq!(max.get(), 2.0);
        // An equal value is the newer best.
        max.add(22, 10, 2.0);
        max.add(32, 10, 1.0);
        assert_eq!(max.get(), 2.0);
    }
}
