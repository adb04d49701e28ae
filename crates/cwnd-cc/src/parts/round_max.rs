//! The largest value of the last rounds.

/// A maximum over the current round and the `N - 1` before it; the caller defines rounds.
///
/// Only a new value removes old ones: in rounds without a value, the last maximum remains.
#[derive(Clone, Copy, Debug)]
pub struct RoundMax<const N: usize> {
    /// The largest value of each round.
    rounds: [f64; N],
    current: usize,
    /// Rounds that began since the last value.
    begun: usize,
    max: f64,
}

impl<const N: usize> Default for RoundMax<N> {
    fn default() -> Self {
        RoundMax { rounds: [0.0; N], current: 0, begun: 0, max: 0.0 }
    }
}

impl<const N: usize> RoundMax<N> {
    /// Returns the largest value; 0 before the first.
    #[inline]
    pub fn get(&self) -> f64 {
        self.max
    }

    /// Begins a new round.
    #[inline]
    pub fn advance(&mut self) {
        self.begun = (self.begun + 1).min(N);
    }

    /// Adds a value of the current round.
    #[inline]
    pub fn add(&mut self, value: f64) {
        if self.begun > 0 {
            self.forget();
        }
        if value > self.rounds[self.current] {
            self.rounds[self.current] = value;
            self.max = self.max.max(value);
        }
    }

    /// Sets the only value that counts until the next round.
    pub fn add_alone(&mut self, value: f64) {
        if self.begun > 0 {
            self.rounds = [0.0; N];
            self.forget();
        }
        self.add(value);
    }

    fn forget(&mut self) {
        for _ in 0..self.begun {
            self.current = (self.current + 1) % N;
            self.rounds[self.current] = 0.0;
        }
        self.begun = 0;
        self.max = self.rounds.iter().fold(0.0, |max: f64, &value| max.max(value));
    }
}

#[cfg(test)]
mod tests {
    use super::RoundMax;

    #[test]
    fn the_oldest_round_falls_out() {
        // Over three rounds: 9 | 5 | 7 | 1, when 9 is forgotten, | 2, when 5 is, | 3, when 7 is.
        let mut max = RoundMax::<3>::default();
        max.add(4.0);
        max.add(9.0);
        max.add(1.0);
        for (value, expected) in [(5.0, 9.0), (7.0, 9.0), (1.0, 7.0), (2.0, 7.0), (3.0, 3.0)] {
            max.advance();
            max.add(value);
            assert_eq!(max.get(), expected, "{value}");
        }
    }

    #[test]
    fn rounds_without_values_leave_the_maximum() {
        let mut max = RoundMax::<3>::default();
        max.add(9.0);
        for _ in 0..10 {
            max.advance();
        }
        assert_eq!(max.get(), 9.0);
        max.add(1.0);
        assert_eq!(max.get(), 1.0);
    }

    #[test]
    fn one_round_may_count_alone() {
        let mut max = RoundMax::<3>::default();
        max.add_alone(9.0);
        max.add_alone(4.0);
        assert_eq!(max.get(), 9.0);
        max.advance();
        max.add_alone(5.0);
        assert_eq!(max.get(), 5.0);
        max.advance();
        max.add(3.0);
        assert_eq!(max.get(), 5.0);
    }
}
