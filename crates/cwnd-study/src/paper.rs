//! A paper whose figures, tables and claims are run again: what it is, and what of it stands where.

/// A paper, as its `paper.toml` describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paper {
    /// By which commands call it: the folder of its studies, such as `agile-sd`.
    pub name: String,
    /// Short name by which it is ordered among the others, such as `P1`.
    pub key: String,
    /// Its title.
    pub title: String,
    /// Who wrote it.
    pub authors: String,
    /// Where it was published, with volume and pages.
    pub published: String,
    /// When.
    pub year: u64,
    /// What of it is made again, in the paper's order.
    pub parts: Vec<PaperItem>,
}

/// A figure, a table or a group of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaperItem {
    /// What it is in the paper, such as `Figure 11 a to i`.
    pub of: String,
    /// With what it is made again.
    pub by: By,
}

/// With what a part of a paper is made again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    /// Figures and tables of a study.
    Study {
        /// The study's file in the paper's folder, without extension.
        study: String,
        /// Names of its figures.
        figures: Vec<String>,
        /// Names of its tables.
        tables: Vec<String>,
    },
    /// Models, by name.
    Models(Vec<String>),
    /// A table that describes algorithms, by name.
    Table(String),
    /// It is not, for this reason.
    Nothing(String),
}

impl Paper {
    /// The studies that its parts name, each once, in the paper's order.
    pub fn studies(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for part in &self.parts {
            if let By::Study { study, .. } = &part.by
                && !names.contains(&study.as_str())
            {
                names.push(study);
            }
        }
        names
    }
}
