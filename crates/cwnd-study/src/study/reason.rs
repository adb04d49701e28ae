//! Why a claim is not reproduced, with numbers that are cited from runs.

use super::{Formula, Selection, Study};
use cwnd_metrics::Metric;

/// What an investigation of a claim that is not reproduced has found.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// The mechanism is known, and runs show it.
    Because(Explanation),
    /// The mechanism is not known. The text says what was tried.
    Unexplained(Explanation),
}

impl Reason {
    /// Returns its text.
    pub fn explanation(&self) -> &Explanation {
        match self {
            Reason::Because(explanation) | Reason::Unexplained(explanation) => explanation,
        }
    }
}

/// A text whose measured numbers are citations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation(pub Vec<Phrase>);

/// A part of an explanation.
#[derive(Clone, Debug, PartialEq)]
pub enum Phrase {
    /// Words, and numbers that are not measured.
    Words(String),
    /// A number, or a range of numbers, that runs give.
    Cited(Citation),
}

impl Explanation {
    /// Returns the citations, in order.
    pub fn citations(&self) -> impl Iterator<Item = &Citation> {
        self.0.iter().filter_map(|phrase| match phrase {
            Phrase::Cited(citation) => Some(citation),
            Phrase::Words(_) => None,
        })
    }
}

/// What an explanation cites: values of a metric over some cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation {
    /// The study of the same paper whose runs are cited; this study without a name.
    pub study: Option<String>,
    /// What is taken of the values.
    pub of: Cited,
    /// The metric.
    pub metric: String,
    /// Which cells; for a comparison without the axis of the pairs.
    pub select: Selection,
}

/// What is taken of the values of the cited cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cited {
    /// The value of each cell. Several cells give a range.
    Each,
    /// The mean over all cells.
    Mean,
    /// Each pair of cells that differ in one axis. Several pairs give a range.
    Pairs {
        /// How the two values become one; the second is the reference.
        formula: Formula,
        /// The axis in which the cells differ.
        axis: String,
        /// The label of the first.
        of: String,
        /// The label of the second.
        over: String,
    },
}

impl Citation {
    /// Returns whether the runs of the cited study have the metric. A citation does not ask for samples, because these would
    /// change the scenarios; figures, tables and claims do.
    pub fn is_measured(&self, study: &Study) -> bool {
        let needs_samples = cwnd_metrics::find(&self.metric).is_some_and(Metric::needs_samples);
        !needs_samples || study.cells.iter().all(|cell| cell.scenario.sample.is_some())
    }

    /// Checks that the cited study has the axes, labels, cells and metric.
    ///
    /// # Errors
    /// What is missing, and what would be valid.
    pub fn check(&self, study: &Study) -> Result<(), String> {
        let metric = cwnd_metrics::find(&self.metric);
        if metric.is_none() && study.derived(&self.metric).is_none() {
            return Err(format!("there is no metric `{}`; `cwnd metrics` lists all", self.metric));
        }
        let pair = match &self.of {
            Cited::Each | Cited::Mean => Vec::new(),
            Cited::Pairs { axis, of, over, .. } => vec![(axis, of), (axis, over)],
        };
        let selected =
            self.select.0.iter().flat_map(|(axis, labels)| labels.iter().map(move |label| (axis, label)));
        for (axis, label) in selected.chain(pair) {
            let Some(index) = study.axis(axis) else {
                let names: Vec<&str> = study.axes.iter().map(|axis| axis.name.as_str()).collect();
                return Err(format!("there is no axis `{axis}`; there are {}", names.join(", ")));
            };
            let points = &study.axes[index].points;
            if !points.iter().any(|point| point.label == *label) {
                let labels: Vec<&str> = points.iter().map(|point| point.label.as_str()).collect();
                return Err(format!("`{axis}` has no `{label}`; it has {}", labels.join(", ")));
            }
        }
        let is_empty = match &self.of {
            Cited::Each | Cited::Mean => study.select(&self.select).next().is_none(),
            Cited::Pairs { axis, of, over, .. } => {
                study.pairs(axis, of, std::slice::from_ref(over), &self.select).is_empty()
            }
        };
        if is_empty { Err("the study has no such cells".to_owned()) } else { Ok(()) }
    }
}
