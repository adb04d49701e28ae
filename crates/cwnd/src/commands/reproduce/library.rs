//! The papers and their studies, which are in the program.

use crate::{catalogue, failure::Failure};
use cwnd_report::descriptive;
use cwnd_scenario::nearest;
use cwnd_study::{By, Paper, Study};

include!(concat!(env!("OUT_DIR"), "/studies.rs"));

/// A paper with its studies.
pub struct Book {
    /// The paper.
    pub paper: Paper,
    /// Its studies, whole: first those that it names, in its order, then the others by name.
    pub studies: Vec<Study>,
}

impl Book {
    /// Whether it is called so, by its name or its key.
    pub fn is_called(&self, name: &str) -> bool {
        self.paper.name == name || self.paper.key.eq_ignore_ascii_case(name)
    }
}

/// The name of a study within its paper: `throughput` of `agile-sd/throughput`.
pub fn short(study: &Study) -> &str {
    study.name.rsplit_once('/').map_or(study.name.as_str(), |(_, short)| short)
}

/// Returns the text of a study by its name; none if there is none.
pub fn text(name: &str) -> Option<&'static str> {
    FILES.iter().find(|(path, _)| path.strip_suffix(".toml") == Some(name)).map(|(_, text)| *text)
}

/// All papers, by their keys.
///
/// # Errors
/// If a file is wrong, which a test of the program sees to.
pub fn load() -> Result<Vec<Book>, Failure> {
    let papers = FILES.iter().filter_map(|(path, text)| Some((path.strip_suffix("/paper.toml")?, text)));
    let mut books =
        papers.map(|(folder, text)| book(folder, text)).collect::<Result<Vec<Book>, Failure>>()?;
    books.sort_by(|a, b| a.paper.key.cmp(&b.paper.key));
    Ok(books)
}

fn book(folder: &str, text: &str) -> Result<Book, Failure> {
    let wrong = |error: &dyn std::fmt::Display| Failure::broken(error.to_string());
    let paper =
        Paper::parse(folder, &format!("studies/{folder}/paper.toml"), text).map_err(|error| wrong(&error))?;
    let mut studies = Vec::new();
    for (path, text) in FILES.iter().filter(|(path, _)| path.split('/').next() == Some(folder)) {
        let Some(name) = path.strip_suffix(".toml").filter(|_| !path.ends_with("/paper.toml")) else {
            continue;
        };
        let study = Study::parse(name, &format!("studies/{path}"), text, &catalogue::check);
        studies.push(study.map_err(|error| wrong(&error))?);
    }
    let named = paper.studies();
    let place = |study: &Study| named.iter().position(|name| *name == short(study)).unwrap_or(usize::MAX);
    studies.sort_by_key(place);
    let book = Book { paper, studies };
    check(&book).map_err(|why| wrong(&format!("studies/{folder}/paper.toml: {why}")))?;
    Ok(book)
}

/// Whether everything that the paper's parts name is there.
fn check(book: &Book) -> Result<(), String> {
    for part in &book.paper.parts {
        match &part.by {
            By::Study { study, figures, tables } => {
                let found = book.studies.iter().find(|known| short(known) == study);
                let found = found.ok_or_else(|| format!("`{}`: there is no study `{study}`", part.of))?;
                let has_figure = |name: &&String| found.figures.iter().any(|figure| figure.name == **name);
                let has_table = |name: &&String| found.tables.iter().any(|table| table.name == **name);
                let figure = figures.iter().find(|name| !has_figure(name));
                let table = tables.iter().find(|name| !has_table(name));
                if let Some(missing) = figure.or(table) {
                    return Err(format!("`{}`: the study `{study}` does not show `{missing}`", part.of));
                }
            }
            By::Models(names) => names.iter().try_for_each(|name| catalogue::model(name))?,
            By::Table(name) if descriptive::find(name).is_none() => {
                let known: Vec<&str> = descriptive::names().collect();
                return Err(format!(
                    "`{}`: there is no table `{name}`; there are {}",
                    part.of,
                    known.join(", ")
                ));
            }
            By::Table(_) | By::Nothing(_) => {}
        }
    }
    check_citations(book)
}

/// Checks what explanations cite from the studies of the paper.
fn check_citations(book: &Book) -> Result<(), String> {
    for study in &book.studies {
        for (number, claim) in study.claims.iter().enumerate() {
            for citation in claim.reason.iter().flat_map(|reason| reason.explanation().citations()) {
                let name = citation.study.as_deref().unwrap_or(short(study));
                let wrong = |why: &str| format!("{}: the reason of claim {}: {why}", study.name, number + 1);
                let cited = book.studies.iter().find(|known| short(known) == name);
                let cited = cited.ok_or_else(|| wrong(&format!("there is no study `{name}`")))?;
                citation.check(cited).map_err(|why| wrong(&format!("`{name}`: {why}")))?;
                if !citation.is_measured(cited) {
                    return Err(wrong(&format!(
                        "`{name}` takes no samples, which `{}` needs",
                        citation.metric
                    )));
                }
            }
        }
    }
    Ok(())
}

/// The paper of this name or key.
///
/// # Errors
/// A message that proposes the nearest name, and lists all.
pub fn find<'a>(library: &'a [Book], name: &str) -> Result<&'a Book, Failure> {
    library.iter().find(|book| book.is_called(name)).ok_or_else(|| {
        let names: Vec<&str> = library.iter().map(|book| book.paper.name.as_str()).collect();
        let meant = names.iter().copied().find(|known| !name.is_empty() && known.starts_with(name));
        let meant = meant.or_else(|| nearest(name, names.iter().copied()));
        let hint = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or(".".to_owned());
        Failure::bad_input(format!(
            "there is no paper `{name}`{hint} There are {}, and `all`",
            names.join(", ")
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_paper_and_its_studies_are_in_the_program() {
        let Ok(library) = load() else { panic!("a file is wrong: `cwnd reproduce` says which") };
        let keys: Vec<&str> = library.iter().map(|book| book.paper.key.as_str()).collect();
        assert!(keys.is_sorted() && keys.len() >= 2, "{keys:?}");
        for book in &library {
            let folder = &book.paper.name;
            assert!(book.studies.iter().all(|study| study.name.starts_with(&format!("{folder}/"))));
        }
        let Some(agile) = library.iter().find(|book| book.is_called("p1")) else { panic!("no P1") };
        assert!(agile.studies.iter().any(|study| short(study) == "throughput"));
    }

    #[test]
    fn parts_must_be_there() {
        let Ok(mut library) = load() else { panic!("a file is wrong") };
        let book = &mut library[0];
        let mut wrong = |by: By, expected: &str| {
            let part = cwnd_study::PaperItem { of: "Figure 1".to_owned(), by };
            let parts = std::mem::replace(&mut book.paper.parts, vec![part]);
            assert_eq!(check(book).unwrap_err().split(';').next(), Some(expected));
            book.paper.parts = parts;
        };
        let study = |study: &str| By::Study {
            study: study.to_owned(),
            figures: vec!["nothing".to_owned()],
            tables: Vec::new(),
        };
        wrong(study("nowhere"), "`Figure 1`: there is no study `nowhere`");
        wrong(study("cwnd"), "`Figure 1`: the study `cwnd` does not show `nothing`");
        wrong(By::Table("nothing".to_owned()), "`Figure 1`: there is no table `nothing`");
        book.paper.parts[0].by = By::Models(vec!["zzz".to_owned()]);
        assert!(check(book).is_err_and(|why| why.starts_with("there is no model `zzz`")));
    }
}
