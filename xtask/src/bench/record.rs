//! Writes what was measured into docs/speed.md.

use super::machine;
use crate::command::{output, root};
use std::fs;
use std::process::Command;

/// The page.
const PAGE: &str = "docs/speed.md";

/// What was measured, and where and when.
pub struct Section<'a> {
    /// What the page calls it.
    pub name: &'a str,
    /// The command without `--record`.
    pub command: &'a str,
    /// The tables.
    pub text: &'a str,
    /// The load average when it began.
    pub load_before: &'a str,
}

/// Replaces a section of the page.
///
/// # Errors
/// The page has no such section, or cannot be read or written.
pub fn record(section: &Section<'_>) -> Result<(), String> {
    let path = root().join(PAGE);
    let failed = |error: std::io::Error| format!("{PAGE}: {error}");
    let page = fs::read_to_string(&path).map_err(failed)?;
    let date = output(Command::new("date").args(["-u", "+%Y-%m-%d"]))?;
    let Section { command, text, load_before, .. } = section;
    let body = format!(
        "\n`{command}`, {}:\n\n```text\n{}\n\n{}; load average {load_before} before, {} after\n```\n",
        date.trim(),
        text.trim_matches('\n'),
        machine::describe(),
        machine::load()
    );
    let page = replaced(&page, section.name, &body)
        .ok_or_else(|| format!("{PAGE} has no section `<!-- bench {} -->` … `<!-- end -->`", section.name))?;
    fs::write(&path, page).map_err(failed)?;
    println!("\n  recorded in {PAGE}");
    Ok(())
}

/// Returns the page with another text between the marks of a section; none if these are not there.
fn replaced(page: &str, name: &str, body: &str) -> Option<String> {
    let begin = format!("<!-- bench {name} -->\n");
    let (before, rest) = page.split_once(&begin)?;
    let (_, after) = rest.split_once("<!-- end -->")?;
    Some(format!("{before}{begin}{body}\n<!-- end -->{after}"))
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn a_section_is_replaced_and_the_others_stay() {
        let page = "A\n<!-- bench a -->\nold\n<!-- end -->\nB\n<!-- bench b -->\nkept\n<!-- end -->\n";
        let expected = "A\n<!-- bench a -->\nnew\n<!-- end -->\nB\n<!-- bench b -->\nkept\n<!-- end -->\n";
        assert_eq!(replaced(page, "a", "new").as_deref(), Some(expected));
        assert_eq!(replaced(page, "c", "new"), None);
    }
}
