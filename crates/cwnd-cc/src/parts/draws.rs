//! Draws from a seed: SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number
//! generators", OOPSLA 2014).

/// An algorithm's random numbers, generated from the seed of [`crate::Init`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Draws(u64);

impl Draws {
    /// Creates the generator of a seed.
    pub fn new(seed: u64) -> Draws {
        Draws(seed)
    }

    /// Returns 64 uniform bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns an integer below `limit`. `limit` is small, so the bias of the remainder is negligible.
    pub fn below(&mut self, limit: u32) -> u32 {
        (self.bits() % u64::from(limit.max(1))) as u32
    }

    /// Returns a uniform number from 0 on, below 1.
    pub fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::Draws;

    #[test]
    fn the_published_sequence() {
        // The first outputs for the seed 1234567, as the generator's reference prints them.
        let mut draws = Draws::new(1_234_567);
        let first = [draws.bits(), draws.bits(), draws.bits()];
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn draws_stay_in_their_ranges_and_reach_their_ends() {
        let mut draws = Draws::new(3);
        let mut seen = [false; 7];
        for _ in 0..1000 {
            seen[draws.below(7) as usize] = true;
            assert!((0.0..1.0).contains(&draws.share()));
        }
        assert_eq!(seen, [true; 7]);
    }
}
