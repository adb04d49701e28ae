//! The list of criteria: sections of the RFC, and what is measured for each.

use cwnd_study::Selection;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The list.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Criteria {
    /// The sections, in the RFC's order.
    pub rows: Vec<Row>,
}

/// A section of the RFC.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Row {
    /// Its number: `5.1.3`.
    pub section: String,
    /// What it is about.
    pub title: String,
    /// How the RFC asks for it: `MUST`, `SHOULD`; `-` if it describes a baseline.
    pub level: String,
    /// What is measured.
    #[serde(default)]
    pub criteria: Vec<Criterion>,
    /// Why nothing is measured, if nothing is.
    pub not_applicable: Option<String>,
    /// What else a reader of the row must know.
    pub note: Option<String>,
}

/// Something that is measured, in cells of a study.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Criterion {
    /// A stable identifier, unique in the list: ledgers are compared by it.
    pub id: String,
    /// What it is, in some words.
    pub title: String,
    /// The study: its file's name without extension.
    pub study: String,
    /// The metric.
    pub metric: String,
    /// Which way is better.
    pub better: Better,
    /// How two values are compared.
    pub compare: Compare,
    /// The least effect that counts: a share for a `ratio` (0.05 for 5 %), else in the unit of the metric.
    pub margin: f64,
    /// Which cells, by labels of axes; all.
    #[serde(default)]
    pub r#where: BTreeMap<String, Vec<String>>,
}

/// Which way a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// More of it is better.
    More,
    /// Less of it is better.
    Less,
}

/// How the value of an algorithm is compared with that of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compare {
    /// By their ratio less 1: 0.1 is 10 % more. Over cells and seeds the mean is geometric.
    Ratio,
    /// By their difference, in the unit of the metric.
    Difference,
}

impl Criteria {
    /// Reads the list.
    ///
    /// # Errors
    /// A line that is wrong, an identifier that two criteria have, or a row without an answer.
    pub fn parse(text: &str) -> Result<Criteria, String> {
        let criteria: Criteria = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut ids = BTreeSet::new();
        for row in &criteria.rows {
            let section = &row.section;
            if row.criteria.is_empty() == row.not_applicable.is_none() {
                return Err(format!("section {section}: it needs either criteria or `not-applicable`"));
            }
            for criterion in &row.criteria {
                if !ids.insert(criterion.id.clone()) {
                    return Err(format!(
                        "section {section}: there is a criterion `{}` already",
                        criterion.id
                    ));
                }
                if cwnd_metrics::find(&criterion.metric).is_none() {
                    return Err(format!("section {section}: there is no metric `{}`", criterion.metric));
                }
            }
        }
        Ok(criteria)
    }

    /// Returns the names of the studies, each once, in the order of the rows.
    pub fn studies(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for criterion in self.rows.iter().flat_map(|row| &row.criteria) {
            if !names.contains(&criterion.study.as_str()) {
                names.push(&criterion.study);
            }
        }
        names
    }

    /// Returns the list with one section alone, or with all whose numbers begin with it (`5.1` has `5.1.1` to `5.1.5`).
    ///
    /// # Errors
    /// There is no such section.
    pub fn section(mut self, section: &str) -> Result<Criteria, String> {
        let is_in = |row: &Row| {
            row.section == section
                || row.section.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'))
        };
        let known: Vec<String> = self.rows.iter().map(|row| row.section.clone()).collect();
        self.rows.retain(is_in);
        match self.rows.is_empty() {
            true => Err(format!("there is no section `{section}`; there are {}", known.join(", "))),
            false => Ok(self),
        }
    }
}

impl Criterion {
    /// Returns the cells as a selection of the study.
    pub fn select(&self) -> Selection {
        Selection(self.r#where.clone())
    }
}

impl Compare {
    /// The least and the greatest ratio that count: a starved flow has none at all.
    const LIMIT: f64 = 1000.0;

    /// Returns the effect of a value against the reference's, as it is averaged: the logarithm of the ratio, or the difference.
    pub fn effect(self, value: f64, reference: f64) -> f64 {
        match self {
            Compare::Difference => value - reference,
            Compare::Ratio if value == reference => 0.0,
            Compare::Ratio => (value / reference).clamp(1.0 / Compare::LIMIT, Compare::LIMIT).ln(),
        }
    }

    /// Returns an averaged effect as it is shown.
    pub fn shown(self, averaged: f64) -> f64 {
        match self {
            Compare::Difference => averaged,
            Compare::Ratio => averaged.exp() - 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = r#"
        [[rows]]
        section = "5.1.3"
        title = "Loss"
        level = "SHOULD"
        [[rows.criteria]]
        id = "loss"
        title = "Loss ratio"
        study = "5.1.3-high-loss"
        metric = "loss_ratio"
        better = "less"
        compare = "difference"
        margin = 0.005
        where = { flows = ["50"] }
    "#;

    #[test]
    fn rows_have_an_answer_and_criteria_their_own_identifiers() {
        let criteria = Criteria::parse(ROW).unwrap();
        assert_eq!(criteria.studies(), ["5.1.3-high-loss"]);
        assert_eq!(criteria.rows[0].criteria[0].better, Better::Less);
        let twice = format!("{ROW}{ROW}");
        assert!(Criteria::parse(&twice).unwrap_err().contains("a criterion `loss` already"));
        let empty = "[[rows]]\nsection = \"8\"\ntitle = \"A\"\nlevel = \"MUST\"\n";
        assert!(Criteria::parse(empty).unwrap_err().contains("either criteria or"));
        assert!(
            Criteria::parse(&ROW.replace("loss_ratio", "lost")).unwrap_err().contains("no metric `lost`")
        );
        assert!(Criteria::parse(&ROW.replace("margin", "margni")).unwrap_err().contains("margni"));
    }

    #[test]
    fn sections_are_selected_whole() {
        let criteria = Criteria::parse(ROW).unwrap();
        assert_eq!(criteria.clone().section("5.1").unwrap().rows.len(), 1);
        assert_eq!(criteria.clone().section("5.1.3").unwrap().rows.len(), 1);
        assert!(criteria.section("5.1.30").unwrap_err().contains("there are 5.1.3"));
    }

    /// By hand: 20 against 10 doubles; a flow with nothing counts as a thousandth.
    #[test]
    fn effects_by_hand() {
        let ratio = Compare::Ratio;
        assert!((ratio.shown(ratio.effect(20.0, 10.0)) - 1.0).abs() < 1e-12);
        assert!((ratio.shown(ratio.effect(0.0, 10.0)) + 0.999).abs() < 1e-12);
        assert_eq!(ratio.effect(0.0, 0.0), 0.0);
        assert_eq!(Compare::Difference.effect(3.0, 5.0), -2.0);
    }
}
