//! `docs/reference/study-file.md`: every key of a study file with an example, from the tables that the parser uses.

use super::keys::{
    AXIS, CLAIM, DERIVED, FIGURE, FILE, LINE, LINK, NETWORK, QUICK, RUN, SCENARIO, SKIP, TABLE, TRACE,
};
use super::keys::{Key, Kind, Section, Settings};
use super::paper::{PAPER, PART};
use crate::engines::ENGINE;
use cwnd_experiment::settings::{CONFLICTS, GROUPS, Setting, SettingKind};
use std::fmt::Write;

/// A study with every key at least once, and a `paper.toml`. The page takes its examples from them.
const STUDY: &str = include_str!("document/example.toml");
const PAPER_FILE: &str = include_str!("document/paper.toml");

/// The tables of a study in the page's order. Settings follow after `[scenario]`.
static SECTIONS: [&Section; 14] = [
    &FILE, &RUN, &AXIS, &SKIP, &FIGURE, &LINE, &TABLE, &CLAIM, &DERIVED, &QUICK, &TRACE, &NETWORK, &LINK,
    &SCENARIO,
];

/// Returns `docs/reference/study-file.md`: the keys of each table with values, examples and meanings, and a whole file.
pub fn markdown() -> String {
    let mut page = String::from(INTRODUCTION);
    for section in SECTIONS {
        page += &table(section, STUDY);
    }
    page += &settings();
    page += PAPERS;
    for section in [&PAPER, &PART] {
        page += &table(section, PAPER_FILE).replace("\n## ", "\n### ");
    }
    let _ = write!(page, "\n## A file with every key\n\n```toml\n{STUDY}```\n");
    page
}

const INTRODUCTION: &str = "\
# Study files

`cwnd schema --markdown > docs/reference/study-file.md` writes this page from the table of keys that the parser uses. A test compares
them.

A study file is [TOML](https://toml.io). It has a question, a scenario, axes that vary, and figures, tables and claims that
answer the question. The [tutorial](../tutorial.md) writes one. `cwnd check FILE` reports every error with its place.
`cwnd schema` prints a JSON Schema for editors.

- A quantity is a text with a unit: `\"100 ms\"`, `\"1 Gbit/s\"`, `\"64 KB\"`. A buffer is also a number of packets or `\"1 BDP\"`.
- A *label* is what a point of an axis is called: its value as written, unless `labels` or `label` says otherwise.
- A *selection* names labels by axis: `{ algorithm = \"cubic\", buffer = [50, 100] }`. It selects the cells that have all of them.
- A *metric* is a name of [the list of metrics](../metrics.md), or of `[[derived]]`.
- Keys with **bold** names are required.
";

const PAPERS: &str = "
## paper.toml

A folder of `studies/` with a `paper.toml` is a paper. `cwnd reproduce` runs its studies, and the report follows the order of its parts.
";

/// Returns a section of the page: a heading, what the table says, and its keys.
fn table(section: &Section, examples: &str) -> String {
    let title = section.header.trim_matches('`');
    let mut text = format!("\n## {}\n\n{}\n", heading(title), section.about);
    match section.settings {
        Settings::None => {}
        Settings::OfLines => {
            let keys: Vec<String> = section.settings.keys().map(|key| format!("`{key}`")).collect();
            let _ = write!(text, "\nIt also takes these [settings](#settings): {}.\n", keys.join(", "));
        }
        Settings::All | Settings::OfCells => text += "\nIts keys are the [settings](#settings).\n",
    }
    if section.keys.is_empty() {
        let lines = lines_under(examples, section.header).filter(|line| !line.is_empty());
        let lines: Vec<&str> = std::iter::once(section.header).chain(lines).collect();
        let _ = write!(text, "\n```toml\n{}\n```\n", lines.join("\n"));
        return text;
    }
    text += "\n| key | value | example | meaning |\n|---|---|---|---|\n";
    for key in section.keys {
        let name = if key.required { format!("**`{}`**", key.name) } else { format!("`{}`", key.name) };
        let example = example(section, key, examples).unwrap_or_default();
        text += &row(&[&name, &takes(key.kind), &format!("`{example}`"), key.about]);
    }
    text
}

/// Returns a heading: the header of a table as code.
fn heading(title: &str) -> String {
    match title {
        "the file" => "The file".to_owned(),
        "the paper" => "The paper".to_owned(),
        _ => format!("`{title}`"),
    }
}

/// Returns the settings of experiments by group, and which exclude each other.
fn settings() -> String {
    let mut text = String::from(
        "\n## Settings\n\nKeys of `[scenario]`, of axes and of their points, and flags of `cwnd compare`.\n",
    );
    for (title, group) in GROUPS.iter().copied().chain([("Engine", &[ENGINE] as &[Setting])]) {
        let _ = write!(
            text,
            "\n### {title}\n\n| key | value | default | example | meaning |\n|---|---|---|---|---|\n"
        );
        for setting in group {
            let example = match setting.kind {
                SettingKind::Number | SettingKind::Count => setting.example.to_owned(),
                SettingKind::Switch => if setting.example == "off" { "false" } else { "true" }.to_owned(),
                _ => format!("\"{}\"", setting.example),
            };
            let example = format!("`{} = {example}`", setting.key);
            let key = format!("`{}`", setting.key);
            text += &row(&[&key, &setting_takes(setting.kind), setting.default, &example, setting.about]);
        }
    }
    text += "\nThese pairs exclude each other:";
    for (first, second) in CONFLICTS {
        let _ = write!(text, "\n- `{first}`, `{second}`");
    }
    text + "\n"
}

/// Returns a row of a Markdown table.
fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// Returns how a key is written in the examples: `repeats = 10`, or the header of a table.
fn example(section: &Section, key: &Key, examples: &str) -> Option<String> {
    if let Kind::Table(inner) | Kind::Tables(inner) = key.kind
        && inner.header.starts_with('[')
    {
        return examples.lines().find(|line| *line == inner.header).map(str::to_owned);
    }
    let written = format!("{} = ", key.name);
    let in_line = |line: &str| {
        let starts = line.match_indices(&written).map(|(start, _)| start);
        // A key follows the line's beginning, a brace or a comma; another key can end in the same letters.
        let start = starts.into_iter().find(|start| *start == 0 || line[..*start].ends_with([' ', '{']))?;
        Some(line[start..start + written.len()].to_owned() + value(&line[start + written.len()..]))
    };
    match section.header {
        "`lines`" => examples.lines().filter(|line| line.starts_with("lines = ")).find_map(in_line),
        header => lines_under(examples, header).filter(|line| line.starts_with(&written)).find_map(in_line),
    }
}

/// Returns the lines below each occurrence of a header, up to the next header.
fn lines_under<'a>(text: &'a str, header: &str) -> impl Iterator<Item = &'a str> {
    let mut inside = !header.starts_with('[');
    let header = header.to_owned();
    text.lines().filter(move |line| {
        if line.starts_with('[') {
            inside = *line == header;
            return false;
        }
        inside
    })
}

/// Returns the TOML value at the beginning of a text.
fn value(text: &str) -> &str {
    let (mut depth, mut quoted) = (0, false);
    for (index, letter) in text.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '[' | '{' => depth += 1,
            ',' | ' ' | ']' | '}' if depth == 0 => return &text[..index],
            ']' | '}' => depth -= 1,
            _ => {}
        }
    }
    text
}

/// Returns what values a key takes, in words.
fn takes(kind: Kind) -> String {
    let words = |words: &[&str]| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    match kind {
        Kind::Text => "text",
        Kind::Texts => "text, or list of texts",
        Kind::Label => "label of an axis",
        Kind::Count { positive: true } => "whole number from 1",
        Kind::Count { positive: false } => "whole number from 0",
        Kind::Switch => "`true`, `false`",
        Kind::Time => "time",
        Kind::Word(choices) => return words(choices),
        Kind::Engine => return setting_takes(ENGINE.kind),
        Kind::Shown(choices) => return format!("some of {}, `state.NAME`", words(choices)),
        Kind::Number => "number",
        Kind::Quantity => "number, or text with a unit",
        Kind::RunMetric => "metric of a run",
        Kind::Metric => "metric",
        Kind::Metrics => "metric, or list of metrics",
        Kind::Axis => "name of an axis",
        Kind::Axes => "names of axes",
        Kind::Selection => "selection",
        Kind::SettingKey => "key of a [setting](#settings)",
        Kind::SettingKeys => "keys of [settings](#settings)",
        Kind::Values => "list of values",
        Kind::Points => "list of tables of [settings](#settings)",
        Kind::Zip => "list of values by [setting](#settings)",
        Kind::Printed => "list of tables: labels, and numbers by metric",
        Kind::Factors => "numbers by metric",
        Kind::Range => "range",
        Kind::Table(_) => "table",
        Kind::Tables(_) => "tables",
    }
    .to_owned()
}

/// Returns what values a setting takes, in words.
fn setting_takes(kind: SettingKind) -> String {
    match kind {
        SettingKind::Quantity => "quantity".to_owned(),
        SettingKind::Number => "number, or quantity".to_owned(),
        SettingKind::Count => "whole number".to_owned(),
        SettingKind::Switch => "`true`, `false`".to_owned(),
        SettingKind::Word(words) => {
            words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
        }
        SettingKind::Algorithm => "[algorithm](../algorithms.md)".to_owned(),
        SettingKind::Mix => "algorithms with numbers of flows".to_owned(),
        SettingKind::Flows => "list of flows".to_owned(),
        SettingKind::Kind(family) => {
            format!(
                "one of [{}](../networks.md#{})",
                family.title().to_lowercase(),
                family.title().to_lowercase()
            )
        }
        SettingKind::Steps => "steps".to_owned(),
        SettingKind::File => "path of a file".to_owned(),
        SettingKind::Text(what) | SettingKind::Form { what, .. } => what.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Named, Paper, Study};

    #[test]
    fn the_examples_are_right() {
        let known = |_: Named<'_>| Ok(());
        let study = Study::parse("example", "example.toml", STUDY, &known);
        assert!(study.is_ok(), "{:?}", study.err());
        let paper = Paper::parse("example", "paper.toml", PAPER_FILE);
        assert!(paper.is_ok(), "{:?}", paper.err());
    }

    #[test]
    fn every_key_has_an_example() {
        let of_studies = SECTIONS.iter().map(|section| (*section, STUDY));
        for (section, examples) in of_studies.chain([(&PAPER, PAPER_FILE), (&PART, PAPER_FILE)]) {
            for key in section.keys {
                let found = example(section, key, examples);
                assert!(
                    found.is_some(),
                    "`{}` of {}: add it to document/example.toml or document/paper.toml",
                    key.name,
                    section.header
                );
            }
        }
    }

    #[test]
    fn values_end_where_they_end() {
        assert_eq!(value("\"a, b\", c = 1"), "\"a, b\"");
        assert_eq!(value("{ a = [1, 2] } }"), "{ a = [1, 2] }");
        assert_eq!(value("12 }"), "12");
        assert_eq!(value("10"), "10");
    }

    #[test]
    fn the_page_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/study-file.md");
        let page = std::fs::read_to_string(path).unwrap_or_default();
        assert!(page == markdown(), "docs/reference/study-file.md is stale; run `cargo xtask renew`");
    }
}
