//! Where runs and reports are kept, and the writing of the reports.

use crate::failure::Failure;
use cwnd_report::report::{self, PaperResults};
use cwnd_study::{RunScale, output_file};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The places under a directory: `runs/PAPER/STUDY` has the runs of all scales; `SCALE/PAPER/report.html` and
/// `SCALE/index.html` the pages, with `verdicts.csv` and `verdicts.json` next to each.
pub struct Places<'a> {
    out: &'a Path,
    scale: RunScale,
}

impl<'a> Places<'a> {
    pub fn new(out: &'a Path, scale: RunScale) -> Places<'a> {
        Places { out, scale }
    }

    /// The store of a study.
    pub fn runs(&self, study: &str) -> PathBuf {
        self.out.join("runs").join(study)
    }

    /// The directory of a paper's report.
    pub fn paper(&self, paper: &str) -> PathBuf {
        self.all().join(paper)
    }

    /// The directory of the page over all papers.
    pub fn all(&self) -> PathBuf {
        self.out.join(self.scale.name())
    }
}

/// Writes the report of a paper, and gives its path.
pub fn paper(places: &Places<'_>, of: &PaperResults) -> Result<PathBuf, Failure> {
    let path = places.paper(&of.paper.name).join("report.html");
    write(&path, &report::paper(of))?;
    Ok(path)
}

/// Writes the page over several papers, and gives its path.
pub fn index(
    places: &Places<'_>,
    papers: &[PaperResults],
    scale: RunScale,
    command: &str,
) -> Result<PathBuf, Failure> {
    let path = places.all().join("index.html");
    let link = |paper: &cwnd_study::Paper| format!("{}/report.html", paper.name);
    write(&path, &report::index(papers, scale, command, link))?;
    Ok(path)
}

/// Writes a file, whole or not at all, into a directory that is made if it is not there.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)
        .map_err(|error| Failure::bad_input(format!("--out: cannot make `{}`: {error}", folder.display())))?;
    output_file::write_text(path, text).map_err(|error| Failure::broken(error.to_string()))
}
