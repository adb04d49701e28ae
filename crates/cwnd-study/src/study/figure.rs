//! Figures of a study.

use super::{Scale, Selection, StatedLine};

/// One figure of the report.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// File name without extension, unique in the study.
    pub name: String,
    /// One line.
    pub title: String,
    /// What a reader must know, if anything.
    pub caption: Option<String>,
    /// What is drawn.
    pub kind: FigureKind,
    /// Axes whose points each have a panel of their own (at most two: rows, then columns).
    pub panels: Vec<String>,
    /// Which cells are drawn.
    pub select: Selection,
    /// The table whose printed numbers are drawn over ours, if any.
    pub printed: Option<String>,
    /// What is stated, as lines across the panels.
    pub lines: Vec<StatedLine>,
}

/// What a figure draws. Axes and metrics are named.
#[derive(Clone, Debug, PartialEq)]
pub enum FigureKind {
    /// A metric against an axis, a line for each point of another; means with 95 % intervals.
    Line {
        /// Axis drawn to the right.
        x: String,
        /// Metric drawn upwards.
        y: String,
        /// Axis of which each point is a line, if any.
        series: Option<String>,
    },
    /// Bars: groups along one axis, a bar for each point of another; means with 95 % intervals.
    Bars {
        /// Axis of the groups.
        x: String,
        /// Metric.
        y: String,
        /// Axis of which each point is a bar of a group, if any.
        series: Option<String>,
    },
    /// The cumulative distribution of a quantity: a step line for each point of an axis.
    Cdf {
        /// What is drawn to the right: a metric, or with [`Per::Sample`] what is sampled.
        x: String,
        /// What has one value each.
        per: Per,
        /// Axis of which each point is a line, if any.
        series: Option<String>,
        /// How the quantity is laid out.
        scale: Scale,
    },
    /// One metric against another: the mean of each point of an axis, with the ellipse of one standard deviation.
    Scatter {
        /// Metric drawn to the right, reversed if less of it is better.
        x: String,
        /// Metric drawn upwards.
        y: String,
        /// What is a point: a run or a flow.
        per: Per,
        /// Axis of which each point has an ellipse, if any.
        series: Option<String>,
    },
    /// Box plots: groups along one axis, a box for each point of another.
    Box {
        /// Axis of the groups.
        x: String,
        /// What is drawn upwards: a metric, or with [`Per::Sample`] what is sampled.
        y: String,
        /// What has one value each.
        per: Per,
        /// Axis of which each point is a box of a group, if any.
        series: Option<String>,
    },
    /// A metric over two axes, in colour and as a number.
    HeatMap {
        /// Axis drawn to the right.
        x: String,
        /// Axis drawn upwards.
        y: String,
        /// Metric.
        value: String,
    },
    /// How far the numbers of a table are from those that are printed: our value divided by the printed one.
    Deviation {
        /// The table's name.
        table: String,
    },
    /// The curves of a model, which no run has a part in.
    Model {
        /// Its name.
        model: String,
    },
    /// Samples over time: for each panel what is named in `show`, a line for each point of `series` (and each flow).
    Trace {
        /// `cwnd`, `ssthresh`, `rtt`, `in_flight`, `throughput` (from delivered bytes), `queue`, `mean_cwnd` (over flows), or `jain` (Jain's index of
        /// what flows had acknowledged in 10 s), or `state.` and the name of a value of the algorithm's state.
        show: Vec<String>,
        /// Axis of which each point is a line, if any.
        series: Option<String>,
    },
}

/// What `panels` says of a figure over time that has a panel for each flow. No axis has this name where it means that.
pub const FLOW_PANELS: &str = "flow";

/// What has one value each in a figure of a distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Per {
    /// A run: the distribution is over repeats.
    #[default]
    Run,
    /// A flow of a run, short flows included.
    Flow,
    /// A sample of a flow, or of the queue, in the recorded run of a cell.
    Sample,
}

impl Per {
    /// All of them, by the word of study files.
    pub const ALL: [(&'static str, Per); 3] =
        [("run", Per::Run), ("flow", Per::Flow), ("sample", Per::Sample)];
}

impl FigureKind {
    /// The axis of which each point is a line, a bar, a box or an ellipse, if there is one.
    pub fn series(&self) -> Option<&str> {
        match self {
            FigureKind::Line { series, .. }
            | FigureKind::Bars { series, .. }
            | FigureKind::Cdf { series, .. }
            | FigureKind::Scatter { series, .. }
            | FigureKind::Box { series, .. }
            | FigureKind::Trace { series, .. } => series.as_deref(),
            FigureKind::HeatMap { .. } | FigureKind::Deviation { .. } | FigureKind::Model { .. } => None,
        }
    }

    /// The metrics that it draws, and what has one value each of them.
    pub fn metrics(&self) -> (Vec<&str>, Per) {
        match self {
            FigureKind::Line { y, .. } | FigureKind::Bars { y, .. } => (vec![y], Per::Run),
            FigureKind::HeatMap { value, .. } => (vec![value], Per::Run),
            FigureKind::Cdf { x, per, .. } if *per != Per::Sample => (vec![x], *per),
            FigureKind::Scatter { x, y, per, .. } => (vec![x, y], *per),
            FigureKind::Box { y, per, .. } if *per != Per::Sample => (vec![y], *per),
            _ => (Vec::new(), Per::Run),
        }
    }

    /// Returns whether it is drawn from samples over time.
    pub fn is_sampled(&self) -> bool {
        matches!(self, FigureKind::Trace { .. }) || !self.sampled().is_empty()
    }

    /// What it shows of the samples over time; nothing if it needs none.
    pub fn sampled(&self) -> &[String] {
        match self {
            FigureKind::Trace { show, .. } => show,
            FigureKind::Cdf { x: one, per: Per::Sample, .. }
            | FigureKind::Box { y: one, per: Per::Sample, .. } => std::slice::from_ref(one),
            _ => &[],
        }
    }
}
