//! CMA-ES: a search of continuous variables that adapts the mean, the step size and the covariance of its samples.
//!
//! N. Hansen, The CMA Evolution Strategy: A Tutorial (arXiv:1604.00772), with its default parameters and without negative
//! weights. Samples are mean + sigma L z with L the Cholesky factor of the covariance, and the evolution path of the step size
//! uses z, as in O. Krause, D. R. Arbonès and C. Igel, CMA-ES with Optimal Covariance Update and Storage Complexity, NIPS 2016.
//! All arithmetic is the same on every machine.

use cwnd_scenario::Stream;

/// A run of CMA-ES that minimises a cost.
#[derive(Clone, Debug)]
pub struct Cma {
    mean: Vec<f64>,
    sigma: f64,
    /// The covariance and its Cholesky factor, by rows.
    covariance: Vec<f64>,
    factor: Vec<f64>,
    /// The evolution paths of the step size and of the covariance.
    sigma_path: Vec<f64>,
    covariance_path: Vec<f64>,
    constants: Constants,
    /// The normal draws of the current generation.
    draws: Vec<Vec<f64>>,
    generation: u32,
}

#[derive(Clone, Debug)]
struct Constants {
    population: usize,
    weights: Vec<f64>,
    /// The variance effective selection mass.
    mass: f64,
    sigma_rate: f64,
    sigma_damping: f64,
    path_rate: f64,
    rank_one_rate: f64,
    rank_mu_rate: f64,
    /// The expected length of a vector of standard normal draws.
    expected_length: f64,
}

impl Cma {
    /// Creates a search from a point, with samples that at first deviate from it by `sigma` in each variable.
    ///
    /// # Panics
    /// If there is no variable, or a population of fewer than two.
    pub fn new(mean: Vec<f64>, sigma: f64, population: usize) -> Cma {
        let size = mean.len();
        assert!(size > 0 && population > 1, "there is nothing to search");
        Cma {
            sigma,
            covariance: identity(size),
            factor: identity(size),
            sigma_path: vec![0.0; size],
            covariance_path: vec![0.0; size],
            constants: Constants::new(size, population),
            draws: Vec::new(),
            generation: 0,
            mean,
        }
    }

    /// Returns the step size.
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// Draws the points of a generation.
    pub fn ask(&mut self, stream: &mut Stream) -> Vec<Vec<f64>> {
        let size = self.mean.len();
        let draw = |_| (0..size).map(|_| stream.normal()).collect();
        self.draws = (0..self.constants.population).map(draw).collect();
        let point = |draw: &Vec<f64>| {
            let step = self.transformed(draw);
            self.mean.iter().zip(step).map(|(mean, step)| mean + self.sigma * step).collect()
        };
        self.draws.iter().map(point).collect()
    }

    /// Updates the search with the costs of the points that were asked for last, in their order.
    ///
    /// # Panics
    /// If these are not as many as the points.
    pub fn tell(&mut self, costs: &[f64]) {
        assert_eq!(costs.len(), self.draws.len(), "a cost for each point");
        let c = self.constants.clone();
        let size = self.mean.len();
        let mut order: Vec<usize> = (0..costs.len()).collect();
        order.sort_by(|a, b| costs[*a].total_cmp(&costs[*b]));
        let best: Vec<Vec<f64>> =
            order.iter().take(c.weights.len()).map(|i| self.draws[*i].clone()).collect();
        let steps: Vec<Vec<f64>> = best.iter().map(|draw| self.transformed(draw)).collect();
        let weighted = |vectors: &[Vec<f64>], i: usize| -> f64 {
            vectors.iter().zip(&c.weights).map(|(vector, weight)| weight * vector[i]).sum()
        };
        let draw: Vec<f64> = (0..size).map(|i| weighted(&best, i)).collect();
        let step: Vec<f64> = (0..size).map(|i| weighted(&steps, i)).collect();
        for (mean, step) in self.mean.iter_mut().zip(&step) {
            *mean += self.sigma * step;
        }

        self.generation += 1;
        let fresh = (c.sigma_rate * (2.0 - c.sigma_rate) * c.mass).sqrt();
        follow(&mut self.sigma_path, 1.0 - c.sigma_rate, fresh, &draw);
        let length = self.sigma_path.iter().map(|x| x * x).sum::<f64>().sqrt();
        let start = 1.0 - libm::pow(1.0 - c.sigma_rate, 2.0 * f64::from(self.generation));
        let stalls = length / start.sqrt() >= (1.4 + 2.0 / (size as f64 + 1.0)) * c.expected_length;
        let fresh = if stalls { 0.0 } else { (c.path_rate * (2.0 - c.path_rate) * c.mass).sqrt() };
        follow(&mut self.covariance_path, 1.0 - c.path_rate, fresh, &step);

        let lost = if stalls { c.rank_one_rate * c.path_rate * (2.0 - c.path_rate) } else { 0.0 };
        let kept = 1.0 - c.rank_one_rate - c.rank_mu_rate + lost;
        for i in 0..size {
            for j in 0..size {
                let one = self.covariance_path[i] * self.covariance_path[j];
                let mu: f64 = steps.iter().zip(&c.weights).map(|(step, w)| w * step[i] * step[j]).sum();
                let entry = &mut self.covariance[i * size + j];
                *entry = kept * *entry + c.rank_one_rate * one + c.rank_mu_rate * mu;
            }
        }
        self.sigma *= libm::exp((c.sigma_rate / c.sigma_damping) * (length / c.expected_length - 1.0));
        match cholesky(&self.covariance, size) {
            Some(factor) => self.factor = factor,
            // Rounding has made it indefinite: the search continues with a sphere.
            None => (self.covariance, self.factor) = (identity(size), identity(size)),
        }
    }

    fn transformed(&self, draw: &[f64]) -> Vec<f64> {
        let size = draw.len();
        let row = |i: usize| (0..=i).map(|j| self.factor[i * size + j] * draw[j]).sum();
        (0..size).map(row).collect()
    }
}

impl Constants {
    fn new(size: usize, population: usize) -> Constants {
        let n = size as f64;
        let parents = population / 2;
        let raw: Vec<f64> =
            (1..=parents).map(|i| libm::log((population as f64 + 1.0) / 2.0) - libm::log(i as f64)).collect();
        let sum: f64 = raw.iter().sum();
        let weights: Vec<f64> = raw.iter().map(|weight| weight / sum).collect();
        let mass = 1.0 / weights.iter().map(|weight| weight * weight).sum::<f64>();
        let sigma_rate = (mass + 2.0) / (n + mass + 5.0);
        let rank_one_rate = 2.0 / ((n + 1.3) * (n + 1.3) + mass);
        let rank_mu_rate = 2.0 * (mass - 2.0 + 1.0 / mass) / ((n + 2.0) * (n + 2.0) + mass);
        Constants {
            population,
            weights,
            mass,
            sigma_rate,
            sigma_damping: 1.0 + 2.0 * (((mass - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0) + sigma_rate,
            path_rate: (4.0 + mass / n) / (n + 4.0 + 2.0 * mass / n),
            rank_one_rate,
            rank_mu_rate: rank_mu_rate.clamp(0.0, 1.0 - rank_one_rate),
            expected_length: n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n)),
        }
    }
}

/// path = decay path + fresh step.
fn follow(path: &mut [f64], decay: f64, fresh: f64, step: &[f64]) {
    for (path, step) in path.iter_mut().zip(step) {
        *path = decay * *path + fresh * step;
    }
}

fn identity(size: usize) -> Vec<f64> {
    (0..size * size).map(|i| if i / size == i % size { 1.0 } else { 0.0 }).collect()
}

/// Returns the lower factor of a symmetric matrix; none if it is not positive definite.
fn cholesky(matrix: &[f64], size: usize) -> Option<Vec<f64>> {
    let mut factor = vec![0.0; size * size];
    for i in 0..size {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| factor[i * size + k] * factor[j * size + k]).sum();
            let rest = matrix[i * size + j] - known;
            factor[i * size + j] = if i == j {
                (rest > 0.0 && rest.is_finite()).then(|| rest.sqrt())?
            } else {
                rest / factor[j * size + j]
            };
        }
    }
    Some(factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_scenario::Purpose;

    /// Returns the least cost of this many generations from (3, 3, …).
    fn least(size: usize, generations: usize, cost: fn(&[f64]) -> f64) -> f64 {
        let mut stream = Stream::new(7, Purpose::Episode, 0);
        let mut cma = Cma::new(vec![3.0; size], 0.5, 16);
        let mut least = f64::INFINITY;
        for _ in 0..generations {
            let costs: Vec<f64> = cma.ask(&mut stream).iter().map(|point| cost(point)).collect();
            least = costs.iter().copied().fold(least, f64::min);
            cma.tell(&costs);
        }
        least
    }

    #[test]
    fn it_minimises_a_sphere() {
        let sphere = |x: &[f64]| x.iter().map(|x| x * x).sum();
        assert!(least(10, 200, sphere) < 1e-10);
    }

    /// Its valley is curved and narrow: without the covariance the search stays in it.
    #[test]
    fn it_minimises_rosenbrocks_function() {
        let rosenbrock = |x: &[f64]| {
            let term =
                |w: &[f64]| 100.0 * (w[1] - w[0] * w[0]) * (w[1] - w[0] * w[0]) + (1.0 - w[0]) * (1.0 - w[0]);
            x.windows(2).map(term).sum()
        };
        assert!(least(6, 600, rosenbrock) < 1e-10);
    }

    #[test]
    fn a_factor_is_one_of_its_matrix() {
        // L = (2 0; 1 3) has L Lt = (4 2; 2 10).
        assert_eq!(cholesky(&[4.0, 2.0, 2.0, 10.0], 2), Some(vec![2.0, 0.0, 1.0, 3.0]));
        assert_eq!(cholesky(&[1.0, 2.0, 2.0, 1.0], 2), None);
    }
}
