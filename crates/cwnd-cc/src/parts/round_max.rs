//! The greatest of the values of the last rounds.

/// A maximum over the current round and the `N - 1` before it; what a round is, the user says.
#[derive(Clone, Copy, Debug)]
pub struct RoundMax<const N: usize> {
    /// The greatest value of each round.
    rounds: [f64; N],
    current: usize,
    max: f64,
}

impl<const N: usize> Default for RoundMax<N> {
    fn default() -> Self {
        RoundMax { rounds: [0.0; N], current: 0, max: 0.0 }
    }
}

impl<const N: usize> RoundMax<N> {
    /// The greatest value; 0 before the first.
    #[inline]
    pub fn get(&self) -> f64 {
        self.max
    }

    /// Take a value of the current round.
    #[inline]
    pub fn add(&mut self, value: f64) {
        if value > self.rounds[self.current] {
            self.rounds[self.current] = value;
            if value > self.max {
                self.max = value;
            }
        }
    }

    /// A new round begins: the oldest is forgotten.
    pub fn advance(&mut self) {
        self.current = (self.current + 1) % N;
        self.rounds[self.current] = 0.0;
        self.max = self.rounds.iter().fold(0.0, |max: f64, &value| max.max(value));
    }

    /// Forget all rounds but the current one.
    pub fn forget_earlier(&mut self) {
        let value = self.rounds[self.current];
        self.rounds = [0.0; N];
        self.rounds[self.current] = value;
        self.max = value;
    }
}

#[cfg(test)]
mod tests {
    use super::RoundMax;

    #[test]
    fn the_oldest_round_falls_out() {
        // Over three rounds: 9 | 5 | 7, then 9 is forgotten, then 5, then 7.
        let mut max = RoundMax::<3>::default();
        max.add(4.0);
        max.add(9.0);
        max.add(1.0);
        max.advance();
        max.add(5.0);
        max.advance();
        max.add(7.0);
        assert_eq!(max.get(), 9.0);
        max.advance();
        assert_eq!(max.get(), 7.0);
        max.advance();
        assert_eq!(max.get(), 7.0);
        max.advance();
        assert_eq!(max.get(), 0.0);
    }

    #[test]
    fn one_round_may_be_kept_alone() {
        let mut max = RoundMax::<3>::default();
        max.add(9.0);
        max.advance();
        max.add(5.0);
        max.forget_earlier();
        assert_eq!(max.get(), 5.0);
        max.advance();
        assert_eq!(max.get(), 5.0);
    }
}
