//! What figures, tables and claims may speak of: the study's axes, labels, cells and metrics.

use super::reader::{At, Fields, did_you_mean};
use super::selection::{self, Labels};
use crate::{Axis, Selection, Study};
use cwnd_metrics::{self, Scope as MetricScope};

/// A study whose axes and cells are read already.
pub(super) struct Scope<'a> {
    pub study: &'a Study,
    /// Whether all axes are right; else nothing that names one is checked.
    pub axes: bool,
    /// Whether all cells are right; else nothing is said of how many belong to something.
    pub cells: bool,
}

impl<'a> Scope<'a> {
    fn labels(&self) -> Labels<'a> {
        Labels::of(self.study.axes.iter())
    }

    /// The axis that a key names.
    pub fn axis(&self, fields: &Fields<'_>, key: &str) -> Option<String> {
        let name = fields.text(key)?;
        self.known(fields, &name).then_some(name.value)
    }

    /// The axes that a key names, each once.
    pub fn axes(&self, fields: &Fields<'_>, key: &str) -> Option<Vec<String>> {
        let names = fields.texts(key)?;
        names
            .iter()
            .all(|name| self.known(fields, name))
            .then(|| names.into_iter().map(|name| name.value).collect())
    }

    fn known(&self, fields: &Fields<'_>, name: &At<String>) -> bool {
        !self.axes || self.labels().axis(name, fields).is_some()
    }

    /// The metric that a key names.
    pub fn metric(&self, fields: &Fields<'_>, key: &str) -> Option<String> {
        let name = fields.text(key)?;
        self.is_metric(fields, &name).then_some(name.value)
    }

    /// The metrics that a key names, each once.
    pub fn metrics(&self, fields: &Fields<'_>, key: &str) -> Option<Vec<String>> {
        let names = fields.texts(key)?;
        let before = fields.sink.count();
        for (i, name) in names.iter().enumerate() {
            if names[..i].iter().any(|earlier| earlier.value == name.value) {
                fields.sink.error(&name.span, format!("`{}` is named twice", name.value));
            } else {
                self.is_metric(fields, name);
            }
        }
        if names.is_empty() {
            fields.sink.error(&fields.span_of(key), format!("`{key}` names none"));
        }
        (fields.sink.count() == before).then(|| names.into_iter().map(|name| name.value).collect())
    }

    /// The metric of single flows that a key names.
    pub fn flow_metric(&self, fields: &Fields<'_>, key: &str) -> Option<String> {
        let name = fields.text(key)?;
        if cwnd_metrics::find_of_flows(&name.value).is_some() {
            let (of, _) = cwnd_metrics::split(&name.value);
            return (of.is_none() || self.is_metric(fields, &name)).then_some(name.value);
        }
        let (_, own) = cwnd_metrics::split(&name.value);
        let message = format!("no flow has a metric `{}` of its own", name.value);
        let of_flows = cwnd_metrics::all().filter(|metric| metric.is_of(MetricScope::Flow));
        let help = match cwnd_metrics::find_of_flows(own) {
            Some(_) => format!("write `{own}` for all flows, or `short.{own}` for the short ones"),
            None => {
                did_you_mean(own, of_flows.map(|metric| metric.name))
                    + "; `cwnd metrics` says which are of flows"
            }
        };
        fields.sink.error_with(&name.span, message, help);
        None
    }

    fn is_metric(&self, fields: &Fields<'_>, name: &At<String>) -> bool {
        if self.study.derived(&name.value).is_some() {
            return true;
        }
        let (of, own) = cwnd_metrics::split(&name.value);
        let Some(metric) = cwnd_metrics::all().find(|metric| metric.name == own) else {
            let names = cwnd_metrics::all().filter(|metric| !metric.is_of(MetricScope::Comparison));
            let derived = self.study.derived.iter().map(|derived| derived.name.as_str());
            let names = derived.chain(names.map(|metric| metric.name));
            let help = did_you_mean(own, names) + "; `cwnd metrics` lists all";
            fields.sink.error_with(&name.span, format!("there is no metric `{own}`"), help);
            return false;
        };
        if cwnd_metrics::find(&name.value).is_none() {
            let help = match metric.scopes {
                [MetricScope::Queue] => {
                    format!("it is a queue's: write `bottleneck.{own}`, by the link's name")
                }
                [MetricScope::Comparison] => {
                    "it compares two results: say it as a claim, or make it with [[derived]]".to_owned()
                }
                _ => format!("write `{own}`"),
            };
            fields.sink.error_with(&name.span, format!("no run has a metric `{}`", name.value), help);
            return false;
        }
        match of.filter(|_| self.cells && !self.has(&name.value)) {
            None => true,
            Some(of) => {
                let help = "a flow is `flow1`, flows of an algorithm that share with others are called by it \
                            (`elastic`), a queue by its link (`bottleneck`)";
                fields.sink.error_with(
                    &name.span,
                    format!("no cell has a `{of}` with values of its own"),
                    help,
                );
                false
            }
        }
    }

    /// Whether any cell can have a metric of something in it.
    fn has(&self, name: &str) -> bool {
        // What there is of one kind of flows, there is of all cells that have the same flows.
        self.study.cells.iter().any(|cell| cwnd_metrics::has(&cell.scenario, name))
    }

    /// A label of an axis.
    pub fn label(&self, fields: &Fields<'_>, axis: &str, text: &At<String>) -> Option<String> {
        match self.study.axis(axis).filter(|_| self.axes) {
            Some(axis) => self.labels().label(&self.study.axes[axis], text, fields),
            None => Some(text.value.clone()),
        }
    }

    /// The cells of a selection, which must be some.
    pub fn select(&self, fields: &Fields<'_>) -> Option<Selection> {
        let selection = self.selection(fields, "where")?;
        if self.cells && self.study.select(&selection).next().is_none() {
            fields.sink.error(&fields.span_of("where"), "no cell belongs to it: the study skips them all");
            return None;
        }
        Some(selection)
    }

    /// A selection under a key, whatever cells belong to it.
    pub fn selection(&self, fields: &Fields<'_>, key: &str) -> Option<Selection> {
        match self.axes {
            true => selection::selection(fields, key, &self.labels()),
            false => Some(Selection::default()),
        }
    }

    /// Whether every axis that is not laid out has one label alone in the selection: what is drawn would otherwise be
    /// an average over things that differ.
    pub fn closed(
        &self,
        fields: &Fields<'_>,
        selection: &Selection,
        laid_out: &[&String],
        ways: &str,
    ) -> bool {
        if !self.cells {
            return true;
        }
        let open = |index: usize, axis: &Axis| {
            let mut points =
                self.study.select(selection).map(|cell| self.study.cells[cell].coordinates[index]);
            let first = points.next();
            !laid_out.contains(&&axis.name) && points.any(|point| Some(point) != first)
        };
        let open = self.study.axes.iter().enumerate().find(|(index, axis)| open(*index, axis));
        if let Some((_, axis)) = open {
            let help = format!(
                "name it in {ways}, or choose one label: `where = {{ {} = \"{}\" }}`",
                axis.name, axis.points[0].label
            );
            fields.sink.error_with(
                &fields.span_of("name"),
                format!("the axis `{}` is left open", axis.name),
                help,
            );
        }
        open.is_none()
    }

    /// Whether no axis is laid out twice.
    pub fn distinct(&self, fields: &Fields<'_>, laid_out: &[(&str, &String)]) -> bool {
        for (i, (key, axis)) in laid_out.iter().enumerate() {
            if let Some((other, _)) = laid_out[..i].iter().find(|(_, earlier)| earlier == axis) {
                let message = match other == key {
                    true => format!("`{key}` names the axis `{axis}` twice"),
                    false => format!("the axis `{axis}` is `{other}` already"),
                };
                fields.sink.error(&fields.span_of(key), message);
                return false;
            }
        }
        true
    }
}

/// A name that can be a file's.
pub(super) fn file_name(fields: &Fields<'_>, taken: &[String]) -> Option<String> {
    let name = fields.text("name")?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.value.chars().all(allowed) || name.value.len() > 100 {
        fields.sink.error(&name.span, "a name has letters, digits, `-` and `_`, and at most 100 of them");
        return None;
    }
    if taken.contains(&name.value) {
        fields.sink.error(&name.span, format!("`{}` is taken already", name.value));
        return None;
    }
    Some(name.value)
}
