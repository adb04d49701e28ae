//! `[quick]`.

use super::keys::QUICK;
use super::reader::Fields;
use super::scope::Scope;
use super::selection;
use crate::Quick;

pub(super) fn quick(file: &Fields<'_>, scope: &Scope<'_>) -> Option<Quick> {
    let fields = file.table("quick", &QUICK)?;
    let sink = fields.sink;
    let before = sink.count();
    if fields.get("repeats").is_none() && fields.get("axes").is_none() {
        let help = "such as `repeats = 3` and `axes = { buffer = [100, 6400] }`; without [quick] all is run";
        sink.error_with(&fields.span, "[quick] leaves nothing out", help);
    }
    let repeats = fields.count("repeats", 1);
    let most = scope.study.repeats;
    if let Some(repeats) = repeats.as_ref().filter(|repeats| repeats.value > u64::from(most)) {
        let message = format!("more repeats than all there are: [run] has {most}");
        sink.error(&repeats.span, message);
    }
    let axes = scope.selection(&fields, "axes")?;
    for derived in &scope.study.derived {
        if axes.0.get(&derived.axis).is_some_and(|labels| !labels.contains(&derived.reference)) {
            let message = format!(
                "`{}` has no values without its reference: keep the label `{}` of the axis `{}`",
                derived.name, derived.reference, derived.axis
            );
            sink.error(&fields.span_of("axes"), message);
        }
    }
    if scope.cells && sink.count() == before {
        let is_left = scope.study.select(&axes).next().is_some();
        if !is_left {
            sink.error(&fields.span_of("axes"), "no cell is left: the study skips them all");
        }
    }
    let repeats = repeats.and_then(|repeats| u32::try_from(repeats.value).ok());
    (sink.count() == before).then_some(Quick { repeats, axes: selection::in_order(axes, &scope.study.axes) })
}
