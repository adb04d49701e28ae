//! Closed-form models of congestion control algorithms, as the papers state them.
//!
//! Each paper has a file with its equations, units and ranges. [`all`] lists the papers' figures that are drawn from a model
//! instead of from runs; a study uses one with `kind = "model"`, `model = "elastic-figure-5"`.
//!
//! Windows are in packets, times in seconds and rates in bits a second, unless a function states otherwise. No parameter is
//! fitted to a printed figure: where a paper leaves a choice open, the model makes the choice of the algorithm's own file and
//! documents it.

#![forbid(unsafe_code)]

pub mod agile_sd;
pub mod cltcp;
pub mod elastic;
pub mod epoch;
pub mod invs;
mod path;

pub use path::Path;

/// A figure that is drawn from a model.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// Name, as a study writes it: `elastic-figure-5`.
    pub name: &'static str,
    /// Its content in a line.
    pub title: &'static str,
    /// Paper and figure.
    pub source: &'static str,
    /// Notes for the reader: the choices where the paper has no value or contradicts itself.
    pub reading: &'static str,
    /// Horizontal axis of every panel.
    pub x: Quantity,
    /// Computes what is drawn.
    pub panels: fn() -> Vec<Panel>,
}

/// The quantity of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// Its name: `RTT`.
    pub name: &'static str,
    /// Its unit; empty if it has none.
    pub unit: &'static str,
    /// Whether equal ratios are equally long, and not equal differences.
    pub logarithmic: bool,
    /// Beginning of the axis; none to begin with the data.
    pub from: Option<f64>,
    /// End of the axis; none to end with the data.
    pub to: Option<f64>,
}

/// Lines over one vertical axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Its title; empty if it is the only one.
    pub title: &'static str,
    /// Vertical axis.
    pub y: Quantity,
    /// The lines, in the order of the legend. Lines with one label are one thing in several panels.
    pub lines: Vec<Line>,
}

/// A line through points.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What it is of.
    pub label: String,
    /// Its points, in the order in which they are joined.
    pub points: Vec<(f64, f64)>,
    /// Its style.
    pub kind: LineKind,
}

/// The style of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// A main curve of the figure.
    Curve,
    /// A limit or a reference that curves are seen against.
    Guide,
    /// A trajectory in the plane, with arrows; its points are not sorted.
    Trajectory,
}

impl Quantity {
    /// A quantity in proportion.
    pub const fn linear(name: &'static str, unit: &'static str) -> Quantity {
        Quantity { name, unit, logarithmic: false, from: None, to: None }
    }

    /// A quantity by its logarithm.
    pub const fn log(name: &'static str, unit: &'static str) -> Quantity {
        Quantity { logarithmic: true, ..Quantity::linear(name, unit) }
    }

    /// The same with fixed ends.
    pub const fn within(self, from: f64, to: f64) -> Quantity {
        Quantity { from: Some(from), to: Some(to), ..self }
    }

    /// The same with a fixed beginning.
    pub const fn from(self, from: f64) -> Quantity {
        Quantity { from: Some(from), ..self }
    }
}

impl Line {
    /// What a figure is about.
    pub fn curve(label: impl Into<String>, points: Vec<(f64, f64)>) -> Line {
        Line { label: label.into(), points, kind: LineKind::Curve }
    }

    /// A reference.
    pub fn guide(label: impl Into<String>, points: Vec<(f64, f64)>) -> Line {
        Line { label: label.into(), points, kind: LineKind::Guide }
    }

    /// A way through the plane.
    pub fn trajectory(label: impl Into<String>, points: Vec<(f64, f64)>) -> Line {
        Line { label: label.into(), points, kind: LineKind::Trajectory }
    }
}

/// Every model figure, in the order of the papers.
pub fn all() -> &'static [Model] {
    MODELS
}

/// The model figure of that name.
pub fn find(name: &str) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.name == name)
}

static MODELS: &[Model] = &[
    elastic::FIGURE_2,
    elastic::FIGURE_5,
    elastic::FIGURE_5_WINDOWS,
    elastic::CYCLES,
    agile_sd::FIGURE_4,
    agile_sd::FIGURE_5,
    agile_sd::FIGURE_6,
    cltcp::FIGURE_1,
    cltcp::THROUGHPUT,
    invs::FIGURE_1,
    invs::FIGURE_3,
    invs::steady::STEADY_STATE,
    invs::steady::LOSS_RESPONSE,
];

/// Returns `count` values from `from` to `to`, both included, at equal distances.
pub(crate) fn steps(from: f64, to: f64, count: usize) -> impl Iterator<Item = f64> {
    (0..count).map(move |i| from + (to - from) * i as f64 / (count - 1) as f64)
}

/// Returns `count` values from `from` to `to`, both included and positive, at equal ratios.
pub(crate) fn ratios(from: f64, to: f64, count: usize) -> impl Iterator<Item = f64> {
    // The ends are exact, so that no axis shows 399.99999.
    (0..count).map(move |i| match i {
        0 => from,
        i if i + 1 == count => to,
        i => from * libm::pow(to / from, i as f64 / (count - 1) as f64),
    })
}

#[cfg(test)]
mod testing {
    /// Checks that two numbers agree to the digits that a calculation by hand gives.
    #[track_caller]
    pub fn assert_near(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value} is not {expected} within {tolerance}");
    }
}

#[cfg(test)]
mod tests;
