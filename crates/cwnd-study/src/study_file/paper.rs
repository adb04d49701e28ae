//! `paper.toml`: what a paper is, and what of it stands where.

use super::diagnostic::{Sink, StudyError};
use super::keys::{Key, Kind, Section, Settings};
use super::reader::Fields;
use crate::{By, Paper, PaperItem};
use toml::de::DeTable;

const fn key(name: &'static str, kind: Kind, required: bool, about: &'static str) -> Key {
    Key { name, about, kind, required }
}

pub(super) static PAPER: Section = Section {
    header: "the paper",
    about: "A paper that is run again.",
    settings: Settings::None,
    keys: &[
        key("key", Kind::Text, true, "Short name by which it is ordered among the others: `P1`."),
        key("title", Kind::Text, true, "Its title."),
        key("authors", Kind::Text, true, "Who wrote it."),
        key("published", Kind::Text, true, "Where, with volume and pages."),
        key("year", Kind::Count { positive: true }, true, "When."),
        key("parts", Kind::Tables(&PART), true, "What of it is made again, in the paper's order."),
    ],
};

pub(super) static PART: Section = Section {
    header: "[[parts]]",
    about: "A figure, a table or a group of them.",
    settings: Settings::None,
    keys: &[
        key("of", Kind::Text, true, "What it is in the paper: `Figure 11 a to i`."),
        key("study", Kind::Text, false, "The study that makes it again: its file's name without extension."),
        key("figures", Kind::Texts, false, "Names of the study's figures."),
        key("tables", Kind::Texts, false, "Names of the study's tables."),
        key("models", Kind::Texts, false, "Or the models that make it again."),
        key("table", Kind::Text, false, "Or the table that describes algorithms."),
        key("nothing", Kind::Text, false, "Or why nothing makes it again."),
    ],
};

impl Paper {
    /// Read the text of a `paper.toml` in the folder `name`. `file_name` is how errors call it.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(name: &str, file_name: &str, text: &str) -> Result<Paper, StudyError> {
        let sink = Sink::new(file_name, text);
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            sink.error(&error.span().unwrap_or(0..0), format!("this is not TOML: {}", error.message()));
        }
        let paper = match errors.is_empty() {
            true => read(&Fields::new(table.get_ref(), 0..0, &PAPER, &sink), name),
            false => None,
        };
        match (sink.is_clean().then_some(paper).flatten(), sink.into_error()) {
            (Some(paper), _) => Ok(paper),
            (None, Some(error)) => Err(error),
            (None, None) => Err(StudyError::whole(format!("`{file_name}` cannot be read"))),
        }
    }
}

fn read(file: &Fields<'_>, name: &str) -> Option<Paper> {
    let text = |key: &str| file.text(key).map(|text| text.value);
    let (key, title, authors, published) = (text("key"), text("title"), text("authors"), text("published"));
    let year = file.count("year", 1).map(|year| year.value);
    let parts: Vec<PaperItem> = file.tables("parts", &PART).iter().filter_map(part).collect();
    let name = name.to_owned();
    Some(Paper {
        name,
        key: key?,
        title: title?,
        authors: authors?,
        published: published?,
        year: year?,
        parts,
    })
}

fn part(fields: &Fields<'_>) -> Option<PaperItem> {
    let sink = fields.sink;
    let of = fields.text("of");
    let ways: Vec<&str> =
        ["study", "models", "table", "nothing"].into_iter().filter(|key| fields.get(key).is_some()).collect();
    let [way] = ways[..] else {
        let help = "`study` with its `figures` and `tables`, or `models`, or `table`, or `nothing` and why";
        sink.error_with(&fields.span, "a part is made again in one way", help);
        return None;
    };
    let names = |key: &str| -> Vec<String> {
        fields.texts(key).into_iter().flatten().map(|name| name.value).collect()
    };
    for key in ["figures", "tables"].into_iter().filter(|key| way != "study" && fields.get(key).is_some()) {
        sink.error(&fields.span_of(key), format!("`{key}` goes with `study`"));
    }
    let by = match way {
        "study" => {
            let study = fields.text("study")?.value;
            let (figures, tables) = (names("figures"), names("tables"));
            if figures.is_empty() && tables.is_empty() {
                let help = "name some: `figures = [\"throughput\"]`";
                sink.error_with(&fields.span_of("study"), "none of its figures and tables is shown", help);
            }
            By::Study { study, figures, tables }
        }
        "models" => By::Models(names("models")),
        "table" => By::Table(fields.text("table")?.value),
        _ => By::Nothing(fields.text("nothing")?.value),
    };
    Some(PaperItem { of: of?.value, by })
}
