//! What made the results, and how to make them again.

use crate::html::{definitions, escape};
use crate::made_by;
use cwnd_study::{EngineKind, Results};

/// The section's body.
pub fn section(results: &Results) -> String {
    let (study, made) = (&results.study, &results.provenance);
    let mut rows = vec![
        ("Study".to_owned(), format!("<code>{}</code>", escape(&study.name))),
        ("Seeds".to_owned(), escape(made_by::seeds(study).split_once(' ').map_or("", |(_, seeds)| seeds))),
        ("Version".to_owned(), escape(&format!("cwnd {}", made.version))),
    ];
    let commit =
        made.commit.as_ref().map_or("not known".to_owned(), |c| format!("<code>{}</code>", escape(c)));
    rows.push(("Commit".to_owned(), commit));
    rows.push(("Engine".to_owned(), escape(&made.engine)));
    let mut out = definitions("facts", &rows);
    if !made.command.is_empty() {
        let same = match results.study.engines().contains(&EngineKind::Kernel) {
            false => "The same study, seeds and version give the same numbers, on any machine:",
            true => {
                "The same study, seeds and version give the simulator's numbers again, on any machine; the kernel's are \
                 others each time:"
            }
        };
        out += &format!(
            "<p>{same}</p>\n\
             <pre class=\"command\"><code>{}</code></pre>\n",
            escape(&made.command)
        );
    }
    if !study.text.is_empty() {
        out += &format!(
            "<details class=\"study\"><summary>The study file</summary>\n<pre><code>{}</code></pre></details>\n",
            escape(&study.text)
        );
    }
    out
}
