//! Independent random streams by purpose.

/// What a stream is for. Streams of different purposes, or of the same purpose and another index, are
/// independent, so that a change in one place does not move the draws of another: two algorithms that run
/// with the same seed meet the same losses where they can. The number of a purpose decides its draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Packet errors on a link.
    Loss,
    /// When a flow starts.
    StartJitter,
    /// How long a sender takes to let a packet go.
    SendOverhead,
    /// An algorithm's own choices.
    Algorithm,
    /// What a queue decides by chance, and how it hashes flows.
    Queue,
    /// How late packets are on a line.
    Jitter,
    /// Which packets a line doubles.
    Duplication,
    /// When short flows come, and how long they are.
    ShortFlows,
    /// What an application gives its flow to send, and when.
    Traffic,
    /// What an episode of a learning environment draws: its path, its scenario, its first rate.
    Episode,
}

/// A stream of random numbers: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), a counter put through a
/// mixing function. Its whole state is one word, and its output is the same on every machine for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    state: u64,
}

impl Stream {
    /// The stream of one purpose and index (a link's or a flow's number) under a seed.
    pub fn new(seed: u64, purpose: Purpose, index: u64) -> Stream {
        let purpose = purpose as u64 + 1;
        Stream { state: mix(mix(mix(seed) ^ purpose.wrapping_mul(GAMMA)) ^ index.wrapping_mul(GAMMA)) }
    }

    /// 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        mix(self.state)
    }

    /// Uniform in [0, 1), with 53 random bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// How often something of this probability fails to happen before it does: geometric, `floor(ln(U) / ln(1 - p))`. At
    /// a probability of 0 or less that is `u64::MAX`, for ever; of 1 or more, never. These two draw nothing.
    pub fn failures(&mut self, probability: f64) -> u64 {
        if probability <= 0.0 {
            return u64::MAX;
        }
        if probability >= 1.0 {
            return 0;
        }
        // 1 - U is in (0, 1], so the logarithm is finite.
        let u = 1.0 - self.uniform();
        (libm::log(u) / libm::log1p(-probability)) as u64
    }

    /// Two independent standard normal numbers (G. E. P. Box and M. E. Muller, 1958).
    pub fn normal_pair(&mut self) -> (f64, f64) {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        let (sine, cosine) = libm::sincos(2.0 * std::f64::consts::PI * self.uniform());
        (radius * cosine, radius * sine)
    }

    /// A standard normal number.
    pub fn normal(&mut self) -> f64 {
        self.normal_pair().0
    }

    /// Uniform over the whole numbers in `0..bound`; zero when `bound` is zero.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        // The bias of the widening multiplication is under bound / 2^64.
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }
}

const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// The mixing function of SplitMix64: it spreads what differs in a few bits over all 64.
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_the_published_sequence() {
        // SplitMix64 from state 1234567 (the reference outputs that Vigna's splitmix64.c gives).
        let mut stream = Stream { state: 1_234_567 };
        let first: Vec<u64> = (0..3).map(|_| stream.next_u64()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn streams_differ_by_purpose_index_and_seed() {
        let mut firsts = vec![
            Stream::new(1, Purpose::Loss, 0).next_u64(),
            Stream::new(1, Purpose::Loss, 1).next_u64(),
            Stream::new(1, Purpose::StartJitter, 0).next_u64(),
            Stream::new(2, Purpose::Loss, 0).next_u64(),
        ];
        firsts.sort_unstable();
        firsts.dedup();
        assert_eq!(firsts.len(), 4);
    }

    #[test]
    fn below_stays_below_and_covers() {
        let mut stream = Stream::new(7, Purpose::SendOverhead, 3);
        let mut seen = [0u32; 8];
        for _ in 0..8000 {
            seen[stream.below(8) as usize] += 1;
        }
        // Binomial(8000, 1/8): mean 1000, standard deviation 30; six of them allowed.
        assert!(seen.iter().all(|&n| (820..1180).contains(&n)), "{seen:?}");
        assert_eq!(stream.below(0), 0);
    }
}
