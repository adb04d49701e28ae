//! What a page needs to simulate runs itself.

use cwnd_study::{EngineKind, Results, Study};
use serde_json::json;

/// A page's script with the simulator, and the study that it runs.
pub struct Live {
    /// The script.
    pub script: String,
    /// The study as JSON that can stand in a script element.
    pub study: String,
}

/// Checks that a page can do the runs of these results with this script.
///
/// # Errors
/// It cannot; the message says why.
pub fn check(results: &Results, script: &str) -> Result<(), String> {
    let study = &results.study;
    if study.engines() != [EngineKind::Sim] {
        return Err("a page can do runs of the engine `sim` only".to_owned());
    }
    if !study.traces.is_empty() || !study.sizes.is_empty() {
        return Err("the study names other files, which a page does not have".to_owned());
    }
    let lower = script.to_lowercase();
    if lower.contains("</script") || lower.contains("<!--") {
        return Err("the script has text that would end it in a page".to_owned());
    }
    if !script.contains("live-study") {
        return Err("this is not the script that `cargo xtask web` makes".to_owned());
    }
    Ok(())
}

/// Returns a study as JSON: its text and the scale at which it was run. No `<` is in it, so that nothing ends its element.
pub fn study(study: &Study) -> String {
    let value = json!({ "text": study.text, "scale": study.scale().name() });
    value.to_string().replace('<', "\\u003c")
}
