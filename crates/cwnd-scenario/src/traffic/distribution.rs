//! Draws from distributions of times and sizes.

use super::{Distribution, Workload};
use crate::{ByteSize, Stream, Time, UnitError};

/// What a distribution is of: a time in nanoseconds, or a number of bytes.
pub trait Quantity: Copy + std::fmt::Debug + PartialEq {
    /// What there is of it, in the plural.
    const NAME: &'static str;
    /// The least that is drawn, in units.
    const LEAST: u64;
    /// Whether it has the measured distributions.
    const IS_MEASURED: bool;
    /// A value, as it is written.
    const EXAMPLE: &'static str;

    /// So many nanoseconds or bytes.
    fn from_units(units: u64) -> Self;
    /// How many nanoseconds or bytes.
    fn units(self) -> u64;
    /// Reads a number with its unit.
    ///
    /// # Errors
    /// If it is none.
    fn read(text: &str) -> Result<Self, UnitError>;
    /// Writes it so that it is read back.
    fn write(self) -> String;
}

impl Quantity for Time {
    const NAME: &'static str = "times";
    const LEAST: u64 = 0;
    const IS_MEASURED: bool = false;
    const EXAMPLE: &'static str = "2 s";

    fn from_units(units: u64) -> Time {
        Time(units)
    }

    fn units(self) -> u64 {
        self.0
    }

    fn read(text: &str) -> Result<Time, UnitError> {
        text.parse()
    }

    fn write(self) -> String {
        self.to_string()
    }
}

impl Quantity for u64 {
    const NAME: &'static str = "sizes";
    const LEAST: u64 = 1;
    const IS_MEASURED: bool = true;
    const EXAMPLE: &'static str = "30 KB";

    fn from_units(units: u64) -> u64 {
        units
    }

    fn units(self) -> u64 {
        self
    }

    fn read(text: &str) -> Result<u64, UnitError> {
        text.parse().map(|size: ByteSize| size.0)
    }

    fn write(self) -> String {
        ByteSize(self).to_string()
    }
}

/// Where a Pareto distribution is cut off, in means.
const PARETO_CUT: f64 = 1000.0;
/// The least shape of a Pareto distribution that has a mean worth the name, and the greatest deviation of a logarithm.
const LEAST_SHAPE: f64 = 1.01;
const MOST_SIGMA: f64 = 5.0;

impl<T> Distribution<T> {
    /// Returns whether all draws are the same.
    pub fn is_constant(&self) -> bool {
        matches!(self, Distribution::Constant(_))
    }
}

impl<T: Quantity> Distribution<T> {
    /// The next value. With U uniform over [0, 1) and m the mean:
    ///
    /// ```text
    /// exponential   -m ln(1 - U)
    /// Pareto        x (1 - U)^(-1/shape),  x = m (shape - 1)/shape
    /// lognormal     exp(mu + sigma Z),  mu = ln m - sigma^2/2,  Z = sqrt(-2 ln(1 - U)) cos(2 pi U')
    /// measured      the size at which the cumulative distribution is U, linear between its points
    /// ```
    ///
    /// The exponential, Pareto, uniform and measured distributions take one number of the stream a value, the lognormal
    /// (G. E. P. Box and M. E. Muller, 1958) two, a constant none.
    pub fn draw(&self, stream: &mut Stream) -> T {
        let drawn = match *self {
            Distribution::Constant(value) => return at_least(value.units()),
            Distribution::Uniform(least, most) => {
                let span = most.units().saturating_sub(least.units()).saturating_add(1);
                return at_least(least.units() + stream.below(span));
            }
            Distribution::Exponential(mean) => -in_units(mean) * libm::log(1.0 - stream.uniform()),
            Distribution::Pareto(mean, shape) => {
                let least = in_units(mean) * (shape - 1.0) / shape;
                let drawn = least * libm::pow(1.0 - stream.uniform(), -1.0 / shape);
                drawn.min(PARETO_CUT * in_units(mean))
            }
            Distribution::Lognormal(mean, sigma) => {
                let middle = libm::log(in_units(mean)) - sigma * sigma / 2.0;
                let radius = libm::sqrt(-2.0 * libm::log(1.0 - stream.uniform()));
                let normal = radius * libm::cos(std::f64::consts::TAU * stream.uniform());
                libm::exp(middle + sigma * normal)
            }
            Distribution::Measured(workload) => workload.quantile(stream.uniform()),
        };
        at_least(libm::round(drawn) as u64)
    }

    /// The mean of what is drawn, before it is rounded, in nanoseconds or bytes.
    pub fn mean(&self) -> f64 {
        match *self {
            Distribution::Constant(value) => in_units(value),
            Distribution::Exponential(mean) | Distribution::Lognormal(mean, _) => in_units(mean),
            Distribution::Uniform(least, most) => (in_units(least) + in_units(most)) / 2.0,
            // With x the least value and c the cut: E[min(X, c)] = x s/(s - 1) - x^s c^(1 - s)/(s - 1).
            Distribution::Pareto(mean, shape) => {
                let least = (shape - 1.0) / shape;
                let cut = libm::pow(least, shape) * libm::pow(PARETO_CUT, 1.0 - shape) / (shape - 1.0);
                in_units(mean) * (1.0 - cut)
            }
            Distribution::Measured(workload) => workload.mean(),
        }
    }

    /// What is wrong with it, and what would be right; none if nothing is.
    pub fn problem(&self) -> Option<String> {
        let name = T::NAME;
        match *self {
            Distribution::Constant(value) if value.units() < T::LEAST => {
                Some(format!("{name} must be at least {}", T::from_units(T::LEAST).write()))
            }
            Distribution::Exponential(mean)
            | Distribution::Pareto(mean, _)
            | Distribution::Lognormal(mean, _)
                if mean.units() == 0 =>
            {
                Some(format!(
                    "the mean of {name} must be more than nothing: write `{}`, for example",
                    T::EXAMPLE
                ))
            }
            Distribution::Uniform(least, most) if least.units() > most.units() => Some(format!(
                "from {} to {} there is nothing: the lesser comes first",
                least.write(),
                most.write()
            )),
            Distribution::Pareto(_, shape) if !(shape.is_finite() && shape >= LEAST_SHAPE) => {
                Some(format!("a Pareto distribution's shape is {LEAST_SHAPE} or more: 1.2 is heavy-tailed"))
            }
            Distribution::Lognormal(_, sigma) if !(0.0..=MOST_SIGMA).contains(&sigma) => {
                Some(format!("the deviation of the logarithm is 0 to {MOST_SIGMA}: 2 is heavy-tailed"))
            }
            Distribution::Measured(workload) if !T::IS_MEASURED => {
                Some(format!("{} is a distribution of sizes, not of {name}", workload.name()))
            }
            _ => None,
        }
    }
}

fn at_least<T: Quantity>(units: u64) -> T {
    T::from_units(units.max(T::LEAST))
}

fn in_units<T: Quantity>(value: T) -> f64 {
    value.units() as f64
}

impl Workload {
    /// All of them.
    pub const ALL: [Workload; 2] = [Workload::WebSearch, Workload::DataMining];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Purpose;

    fn stream() -> Stream {
        Stream::new(1, Purpose::ShortFlows, 0)
    }

    /// The mean of a million draws, over the expected one.
    fn mean_ratio(distribution: Distribution<u64>) -> f64 {
        let mut stream = stream();
        let sum: f64 = (0..1_000_000).map(|_| distribution.draw(&mut stream) as f64).sum();
        sum / 1e6 / distribution.mean()
    }

    #[test]
    fn means_are_what_they_say() {
        // The standard error of a mean of 1e6 draws is sd/1000. Exponential: sd = mean, so 0.1 %. Uniform 0 to 2 m: 0.06 %.
        // Lognormal, sigma 1: sd = sqrt(e - 1) = 1.31 means, 0.13 %. Six of them are allowed.
        for (distribution, error) in [
            (Distribution::Constant(30_000), 0.0),
            (Distribution::Exponential(30_000), 0.001),
            (Distribution::Uniform(0, 60_000), 0.0006),
            (Distribution::Lognormal(30_000, 1.0), 0.0014),
        ] {
            let ratio = mean_ratio(distribution);
            assert!((ratio - 1.0).abs() <= 6.0 * error, "{distribution:?}: {ratio}");
        }
        // Web search: E[X^2] is at most 3e7 x the mean of 1.7e6, so sd is at most 7.2e6, 4.2 means: 0.42 %. Data mining: 1e9 x
        // 1.27e7, 1.1e8, 8.9 means: 0.9 %. Pareto, shape 1.5, cut at 1000 means: E[X^2] = x^2 + 2 x^1.5 (sqrt(c) -
        // sqrt(x))/0.5 with x = m/3 and c = 1000 m is 0.11 + 4 x 0.19 x (31.6 - 0.58) = 24 m^2, sd 4.9 means: 0.5 %.
        for (distribution, error) in [
            (Distribution::Measured(Workload::WebSearch), 0.0042),
            (Distribution::Measured(Workload::DataMining), 0.009),
            (Distribution::Pareto(30_000, 1.5), 0.005),
        ] {
            let ratio = mean_ratio(distribution);
            assert!((ratio - 1.0).abs() <= 6.0 * error, "{distribution:?}: {ratio}");
        }
    }

    /// What is drawn where the stream gives this U: found again from the stream itself.
    fn with_uniform(distribution: Distribution<Time>) -> (f64, u64) {
        let (mut one, mut other) = (stream(), stream());
        (one.uniform(), distribution.draw(&mut other).0)
    }

    #[test]
    fn draws_are_the_inverse_of_the_distribution() {
        const MEAN: Time = Time::from_secs(1);
        let (u, drawn) = with_uniform(Distribution::Exponential(MEAN));
        // P(X <= x) = 1 - exp(-x/m).
        assert!((1.0 - libm::exp(-(drawn as f64) / 1e9) - u).abs() < 1e-8, "{drawn}");
        let (u, drawn) = with_uniform(Distribution::Pareto(MEAN, 2.0));
        // x = m/2; P(X <= y) = 1 - (x/y)^2.
        let ratio = 0.5e9 / drawn as f64;
        assert!((1.0 - ratio * ratio - u).abs() < 1e-8, "{drawn}");
        let (u, drawn) = with_uniform(Distribution::Uniform(Time(10), Time(19)));
        assert_eq!(drawn, 10 + (u * 10.0) as u64);
    }

    #[test]
    fn a_lognormal_has_its_median() {
        // Median exp(mu) = m exp(-sigma^2/2) = 30,000 x exp(-2) = 4,060 with sigma 2. Of 10,000 draws the number under it is
        // 5,000 with a deviation of 50; six of them are allowed.
        let mut stream = stream();
        let distribution = Distribution::Lognormal(30_000u64, 2.0);
        let under = (0..10_000).filter(|_| distribution.draw(&mut stream) < 4_060).count();
        assert!((4_700..5_300).contains(&under), "{under}");
    }

    #[test]
    fn a_pareto_mean_knows_of_the_cut() {
        // Shape 1.2: x = m/6; x^1.2 c^-0.2/0.2 = 6^-1.2 x 1000^-0.2 x 5 = 0.11647 x 0.25119 x 5 = 0.14629 of m.
        let mean = Distribution::Pareto(100_000u64, 1.2).mean();
        assert!((mean - 85_371.0).abs() < 2.0, "{mean}");
        let mut stream = stream();
        let most = (0..1_000_000).map(|_| Distribution::Pareto(1_000u64, 1.2).draw(&mut stream)).max();
        assert_eq!(most, Some(1_000_000), "a million draws reach the cut: P = (6000)^-1.2 = 3e-5 each");
    }

    #[test]
    fn a_size_is_at_least_a_byte() {
        let mut stream = stream();
        let tiny = Distribution::Exponential(1u64);
        assert!((0..1000).all(|_| tiny.draw(&mut stream) >= 1));
        let times = Distribution::Exponential(Time(1));
        assert!((0..1000).any(|_| times.draw(&mut stream) == Time(0)));
    }

    #[test]
    fn refuses_what_cannot_be() {
        let size = |distribution: Distribution<u64>| distribution.problem().expect("refused");
        assert_eq!(size(Distribution::Constant(0)), "sizes must be at least 1 B");
        assert!(size(Distribution::Exponential(0)).contains("write `30 KB`"));
        assert!(size(Distribution::Uniform(9, 3)).contains("from 9 B to 3 B"));
        assert!(size(Distribution::Pareto(9, 1.0)).contains("1.01 or more"));
        assert!(size(Distribution::Pareto(9, f64::NAN)).contains("1.01 or more"));
        assert!(size(Distribution::Lognormal(9, -1.0)).contains("0 to 5"));
        let time = Distribution::<Time>::Measured(Workload::WebSearch).problem();
        assert_eq!(time.as_deref(), Some("web-search is a distribution of sizes, not of times"));
        assert_eq!(Distribution::Constant(Time::ZERO).problem(), None);
    }
}
