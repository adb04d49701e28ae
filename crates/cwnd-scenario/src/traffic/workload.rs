//! Flow sizes that were measured.
//!
//! The points are not the papers' own numbers, which they do not print: they are points read from the published curves, as
//! M. Alizadeh and others tabulated them for later work (the tables `DCTCP_CDF` and `VL2_CDF` of their empirical traffic
//! generator, in use since pFabric, SIGCOMM 2013). Between two points the distribution is linear, and below the
//! first it begins at nothing.

use super::Workload;

/// (cumulative probability, bytes), both rising.
type Points = &'static [(f64, f64)];

/// M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, figure 4; pFabric, figure 4 (a).
static WEB_SEARCH: Points = &[
    (0.0, 0.0),
    (0.15, 10e3),
    (0.2, 20e3),
    (0.3, 30e3),
    (0.4, 50e3),
    (0.53, 80e3),
    (0.6, 200e3),
    (0.7, 1e6),
    (0.8, 2e6),
    (0.9, 5e6),
    (0.97, 10e6),
    (1.0, 30e6),
];

/// A. Greenberg et al., "VL2: a scalable and flexible data center network", SIGCOMM 2009, figure 2; pFabric, figure 4 (b).
static DATA_MINING: Points = &[
    (0.0, 0.0),
    (0.1, 180.0),
    (0.2, 216.0),
    (0.3, 560.0),
    (0.4, 900.0),
    (0.5, 1100.0),
    (0.6, 1870.0),
    (0.7, 3160.0),
    (0.8, 10e3),
    (0.9, 400e3),
    (0.95, 3.16e6),
    (0.98, 100e6),
    (1.0, 1e9),
];

impl Workload {
    /// The word that names it.
    pub fn name(self) -> &'static str {
        match self {
            Workload::WebSearch => "web-search",
            Workload::DataMining => "data-mining",
        }
    }

    fn points(self) -> Points {
        match self {
            Workload::WebSearch => WEB_SEARCH,
            Workload::DataMining => DATA_MINING,
        }
    }

    /// The size, in bytes, that a part `p` of all flows does not exceed, from 0 to 1.
    pub fn quantile(self, p: f64) -> f64 {
        let points = self.points();
        let above = points.iter().position(|(probability, _)| *probability > p).unwrap_or(points.len() - 1);
        let ((from, low), (to, high)) = (points[above - 1], points[above]);
        low + (high - low) * ((p - from) / (to - from)).clamp(0.0, 1.0)
    }

    /// The mean size, bytes: between two points sizes are uniform.
    pub fn mean(self) -> f64 {
        let pairs = self.points().windows(2);
        pairs.map(|pair| (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1) / 2.0).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_the_tables_points_and_linear_between() {
        let web = Workload::WebSearch;
        assert_eq!(web.quantile(0.0), 0.0);
        assert_eq!(web.quantile(0.15), 10e3);
        assert!((web.quantile(0.075) - 5e3).abs() < 1e-9);
        // Halfway between (0.53, 80 KB) and (0.6, 200 KB).
        assert!((web.quantile(0.565) - 140e3).abs() < 1e-6);
        assert_eq!(web.quantile(1.0), 30e6);
        let mining = Workload::DataMining;
        assert_eq!(mining.quantile(0.5), 1100.0);
        // A fifth of the way from (0.8, 10 KB) to (0.9, 400 KB).
        assert!((mining.quantile(0.82) - 88e3).abs() < 1e-6);
    }

    #[test]
    fn means_are_those_of_the_points() {
        // 0.15 x 5e3 + 0.05 x 15e3 + 0.1 x 25e3 + 0.1 x 40e3 + 0.13 x 65e3 + 0.07 x 140e3 + 0.1 x 600e3 + 0.1 x 1.5e6 +
        // 0.1 x 3.5e6 + 0.07 x 7.5e6 + 0.03 x 20e6.
        assert!((Workload::WebSearch.mean() - 1_711_250.0).abs() < 1e-6);
        // 9 + 19.8 + 38.8 + 73 + 100 + 148.5 + 251.5 + 658 + 20,500 + 89,000 + 1,547,400 + 11,000,000.
        assert!((Workload::DataMining.mean() - 12_658_198.6).abs() < 1e-6);
    }
}
