//! Jitter.

use super::Chance;
use crate::Stream;
use cwnd_scenario::JitterShape;

/// Draws a delay for each packet, in whole nanoseconds. Values beyond a cut become the cut.
#[derive(Clone, Debug)]
pub struct JitterSource(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Uniform {
        /// One more than the longest delay.
        bound: u64,
        stream: Stream,
    },
    Exponential {
        mean: f64,
        longest: u64,
        stream: Stream,
    },
    Normal {
        mean: f64,
        deviation: f64,
        longest: u64,
        /// Draws make two at a time (G. E. P. Box and M. E. Muller, 1958): the second, if it has not been used.
        spare: Option<f64>,
        stream: Stream,
    },
    Sometimes {
        chance: Chance,
        late: u64,
    },
}

impl JitterSource {
    /// Creates a jitter of this shape. All draws are from `stream`.
    pub fn new(shape: JitterShape, stream: Stream) -> JitterSource {
        JitterSource(match shape {
            JitterShape::Uniform(longest) => Kind::Uniform { bound: longest.0.saturating_add(1), stream },
            JitterShape::Exponential(mean) => {
                Kind::Exponential { mean: mean.0 as f64, longest: mean.0.saturating_mul(10), stream }
            }
            JitterShape::Normal(mean, deviation) => Kind::Normal {
                mean: mean.0 as f64,
                deviation: deviation.0 as f64,
                longest: mean.0.saturating_add(deviation.0.saturating_mul(5)),
                spare: None,
                stream,
            },
            JitterShape::Sometimes(probability, late) => {
                Kind::Sometimes { chance: Chance::new(probability, stream), late: late.0 }
            }
        })
    }

    /// Returns the random stream, for a successor that continues with it.
    pub fn into_stream(self) -> Stream {
        match self.0 {
            Kind::Uniform { stream, .. } | Kind::Exponential { stream, .. } | Kind::Normal { stream, .. } => {
                stream
            }
            Kind::Sometimes { chance, .. } => chance.into_stream(),
        }
    }

    /// Returns the delay of the next packet.
    pub fn draw(&mut self) -> u64 {
        match &mut self.0 {
            Kind::Uniform { bound, stream } => stream.below(*bound),
            Kind::Exponential { mean, longest, stream } => {
                // 1 - U is in (0, 1], so the logarithm is finite.
                nearest(-*mean * libm::log(1.0 - stream.uniform())).min(*longest)
            }
            Kind::Normal { mean, deviation, longest, spare, stream } => {
                let z = spare.take().unwrap_or_else(|| {
                    let (first, second) = stream.normal_pair();
                    *spare = Some(second);
                    first
                });
                nearest(*mean + z * *deviation).min(*longest)
            }
            Kind::Sometimes { chance, late } => {
                if chance.comes() {
                    *late
                } else {
                    0
                }
            }
        }
    }
}

/// Returns whole nanoseconds; 0 for negative values.
fn nearest(time: f64) -> u64 {
    (time + 0.5) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Purpose;
    use cwnd_scenario::Time;

    const N: u64 = 100_000;
    const MS: u64 = 1_000_000;

    /// Mean, deviation, least and most of many draws, in units of 1 ms.
    fn drawn(shape: JitterShape) -> (f64, f64, f64, f64) {
        let mut source = JitterSource::new(shape, Stream::new(9, Purpose::Jitter, 4));
        let all: Vec<f64> = (0..N).map(|_| source.draw() as f64 / MS as f64).collect();
        let mean = all.iter().sum::<f64>() / N as f64;
        let variance = all.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / N as f64;
        let least = all.iter().copied().fold(f64::INFINITY, f64::min);
        (mean, variance.sqrt(), least, all.iter().copied().fold(0.0, f64::max))
    }

    /// Returns whether the mean of `n` draws is right within five of its deviations.
    #[track_caller]
    fn right(mean: f64, expected: f64, deviation: f64) {
        assert!((mean - expected).abs() < 5.0 * deviation / (N as f64).sqrt(), "{mean} for {expected}");
    }

    #[test]
    fn uniform_has_its_moments_and_its_bounds() {
        // From 0 to 6 ms: mean 3, deviation 6 / sqrt(12) = 1.732.
        let (mean, deviation, least, most) = drawn(JitterShape::Uniform(Time(6 * MS)));
        right(mean, 3.0, 1.732);
        assert!((deviation - 1.732).abs() < 0.02 && least < 0.01 && most > 5.99 && most <= 6.0);
        // Both ends are drawn.
        let mut two = JitterSource::new(JitterShape::Uniform(Time(1)), Stream::new(1, Purpose::Jitter, 0));
        let ones: u64 = (0..N).map(|_| two.draw()).sum();
        assert!(ones.abs_diff(N / 2) < 5 * 158, "{ones}");
    }

    #[test]
    fn exponential_has_its_moments_and_its_cut() {
        // Mean and deviation 2 ms; beyond 20 ms lie exp(-10) = 4.5e-5 of all, 4.5 of 100,000, and they are cut there.
        let (mean, deviation, least, most) = drawn(JitterShape::Exponential(Time(2 * MS)));
        right(mean, 2.0, 2.0);
        assert!((deviation - 2.0).abs() < 0.05 && least < 0.001 && most <= 20.0, "{deviation} {most}");
        assert!(most > 15.0);
    }

    #[test]
    fn normal_has_its_moments_and_its_cuts() {
        let (mean, deviation, least, most) = drawn(JitterShape::Normal(Time(50 * MS), Time(4 * MS)));
        right(mean, 50.0, 4.0);
        // The variance of a variance of n normal draws is 2 / n of its square: the deviation is right within 4 / sqrt(2 n).
        assert!((deviation - 4.0).abs() < 5.0 * 0.009, "{deviation}");
        assert!(least > 30.0 && most <= 70.0, "{least} {most}");
        // With mean 0 half of all are cut to nothing; the others' mean is 4 x sqrt(2 / pi) = 3.19, so 1.596 in all. The
        // square's mean is 8, so the deviation is sqrt(8 - 2.546) = 2.335.
        let (mean, _, least, most) = drawn(JitterShape::Normal(Time(0), Time(4 * MS)));
        right(mean, 1.596, 2.335);
        assert!(least == 0.0 && most <= 20.0, "{least} {most}");
    }

    #[test]
    fn normal_draws_are_box_and_mullers() {
        // The stream's first two numbers are U and V: R = sqrt(-2 ln(1 - U)), and the first two draws are
        // mean + deviation x R cos(2 pi V) and mean + deviation x R sin(2 pi V).
        let mut stream = Stream::new(9, Purpose::Jitter, 4);
        let (u, v) = (stream.uniform(), stream.uniform());
        let radius = (-2.0 * (1.0 - u).ln()).sqrt();
        let (sine, cosine) = (2.0 * std::f64::consts::PI * v).sin_cos();
        let shape = JitterShape::Normal(Time(50 * MS), Time(4 * MS));
        let mut source = JitterSource::new(shape, Stream::new(9, Purpose::Jitter, 4));
        for z in [radius * cosine, radius * sine] {
            assert!((source.draw() as f64 - (50.0 + 4.0 * z) * MS as f64).abs() < 2.0);
        }
    }

    #[test]
    fn sometimes_is_late_with_its_probability() {
        let shape = JitterShape::Sometimes(0.1, Time(7 * MS));
        let mut source = JitterSource::new(shape, Stream::new(9, Purpose::Jitter, 4));
        let late = (0..N).map(|_| source.draw()).filter(|&time| time == 7 * MS).count() as u64;
        // Binomial(1e5, 0.1): deviation 94.9.
        assert!(late.abs_diff(10_000) < 475, "{late}");
        let (_, _, least, most) = drawn(shape);
        assert_eq!((least, most), (0.0, 7.0));
    }
}
