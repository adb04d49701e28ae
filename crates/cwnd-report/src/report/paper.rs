//! A paper's results as one page: the verdicts on all that it claims, then its figures and tables in its own order.

use super::claim_list::{self, Claims, Shown};
use super::claims::{self, Told};
use super::page::{self, Head, Page};
use super::{facts, figures, overview, provenance, tables};
use crate::descriptive;
use crate::figures::{model, traces::Traces};
use crate::html::{definitions, inline, paragraphs, stop};
use crate::made_by;
use crate::series::SeriesStyles;
use cwnd_metrics::statistics::Summary;
use cwnd_plot::number::thousands;
use cwnd_study::claims::Judgement;
use cwnd_study::{By, EngineKind, Paper, PaperItem, Results, RunScale, RunState};
use maud::{Markup, html};

/// A paper with what the studies of it gave.
pub struct PaperResults {
    /// The paper.
    pub paper: Paper,
    /// How much of each study was run.
    pub scale: RunScale,
    /// The command that makes the page again.
    pub command: String,
    /// The studies, in the paper's order.
    pub studies: Vec<PaperStudy>,
    /// The verdicts at the paper's scale, which are shown beside those of another scale.
    pub stored: Vec<StoredVerdict>,
}

/// What came of a claim at the paper's scale, elsewhere.
pub struct StoredVerdict {
    /// The study's name.
    pub study: String,
    /// The claim's text.
    pub claim: String,
    /// The verdict.
    pub judgement: Judgement,
    /// What was measured, in the metric's own unit.
    pub measured: Option<Summary>,
}

/// A study of a paper.
pub struct PaperStudy {
    /// Its file in the paper's folder, without extension.
    pub name: String,
    /// What it gave.
    pub results: Results,
    /// Its samples.
    pub traces: Traces,
}

impl PaperResults {
    /// Returns the verdicts on the claims of the paper, study by study.
    pub fn judgements(&self) -> Vec<Judgement> {
        self.judgements_of(true)
    }

    /// Returns the verdicts on claims of our own: of models, and of other readings of what a paper leaves open.
    pub fn own_judgements(&self) -> Vec<Judgement> {
        self.judgements_of(false)
    }

    fn judgements_of(&self, is_of_paper: bool) -> Vec<Judgement> {
        let told = self.studies.iter().flat_map(|study| self.claims_of(study));
        let told = told.filter(|told| told.claim.is_of_publication() == is_of_paper);
        told.map(|told| told.verdict.judgement).collect()
    }

    /// Returns the claims of a study with what came of them.
    fn claims_of<'a>(&'a self, study: &'a PaperStudy) -> Vec<Told<'a>> {
        let mut claims = Told::of(&study.results, &|name| self.results(name));
        if self.scale != RunScale::Paper {
            for told in &mut claims {
                let is_same = |one: &&StoredVerdict| one.study == study.name && one.claim == told.claim.text;
                told.stored = self.stored.iter().find(is_same);
            }
        }
        claims
    }

    /// Returns the results of the study of this name.
    pub fn results(&self, name: &str) -> Option<&Results> {
        self.study(name).map(|study| &study.results)
    }

    fn study(&self, name: &str) -> Option<&PaperStudy> {
        self.studies.iter().find(|study| study.name == name)
    }
}

/// The page of a paper.
pub fn paper(paper: &PaperResults) -> String {
    let mut page = Page::new(head(paper));
    let claims = Claims::new(paper.studies.iter().map(|study| paper.claims_of(study)), &shown(paper));
    page.section("findings", "What was found", &overview::section(&claims));
    let (body, entries) = Parts::new(paper).section(&claims);
    page.section_with("figures", "Its figures and tables, made again", &body, &entries);
    let list = html! { (overview::rules()) (overview::list(&claims)) };
    if !claims.listed.is_empty() {
        page.section("verdicts", "What the paper states, and what came of it", &list);
    }
    page.section("readings", "How the paper was read", &readings(paper));
    page.section("provenance", "How it was made", &made(paper));
    page.finish()
}

fn head(of: &PaperResults) -> Head {
    let Paper { key, title, authors, published, year, .. } = &of.paper;
    let runs = || of.studies.iter().flat_map(|study| &study.results.runs);
    let done = runs().filter(|run| matches!(run.state, RunState::Done(_))).count();
    let all = runs().count();
    let scale = match of.scale {
        RunScale::Paper => "the paper's scale (its own grids and repeats)",
        RunScale::Quick => "the quick scale (fewer repeats and points than the paper's)",
        RunScale::Sample => "the sample scale (one run of a few points, which carries few of the claims)",
    };
    let studies = match of.studies.len() {
        1 => "1 study".to_owned(),
        count => format!("{count} studies"),
    };
    let version = of.studies.first().map(|study| made_by::version(&study.results)).unwrap_or_default();
    let below = html! {
        p.reference { (inline(authors.trim_end_matches('.'))) ". " cite { (inline(published)) } ", " (year) "." }
        p.status { (studies) ", " (thousands(all as f64, 0)) " runs, at " (scale) ". " (version) "." }
        @if done < all {
            div.incomplete role="note" { p {
                strong { "This report is not complete." }
                " " (thousands((all - done) as f64, 0)) " of " (thousands(all as f64, 0)) " runs are missing or failed."
            } }
        }
        @for study in &of.studies { (page::doubtful(&study.results)) (page::too_wide(&study.results)) }
    };
    Head {
        kind: "Paper",
        name: format!("{key} {}", of.paper.name),
        title: title.clone(),
        generator: version,
        below,
        zooms: of.studies.iter().any(|study| page::zooms(&study.results)),
    }
}

/// What the parts of the page show, in its order: what the paper's parts name, and the metrics of what no part names.
fn shown(of: &PaperResults) -> Vec<Shown<'_>> {
    let place = |name: &str| of.studies.iter().position(|study| study.name == name);
    let part = |(i, part): (usize, &PaperItem)| {
        let study = match &part.by {
            By::Study { study, .. } => place(study)?,
            // What shows no run shows no claim.
            By::Models(_) | By::Table(_) | By::Nothing(_) => return None,
        };
        let label = part.of.split(':').next().unwrap_or(&part.of).to_owned();
        let items = claim_list::shown_items(&part.of);
        Some(Shown { id: format!("part-{}", i + 1), label, study, items, metrics: Vec::new() })
    };
    of.paper.parts.iter().enumerate().filter_map(part).collect()
}

/// The parts of a paper, made again.
struct Parts<'a> {
    of: &'a PaperResults,
    /// Figures and tables are numbered through the page.
    figures: usize,
    tables: usize,
    /// The figures and tables that a part has shown: the study's name and the figure's or table's.
    shown: Vec<(&'a str, &'a str)>,
}

impl<'a> Parts<'a> {
    fn new(of: &'a PaperResults) -> Parts<'a> {
        Parts { of, figures: 0, tables: 0, shown: Vec::new() }
    }

    fn section(mut self, claims: &Claims<'_>) -> (Markup, Vec<page::Entry>) {
        let (mut parts, mut entries) = (Vec::new(), Vec::new());
        for (i, part) in self.of.paper.parts.iter().enumerate() {
            let id = format!("part-{}", i + 1);
            let inner = html! { (overview::of_figure(&claims.of(&id))) (self.part(part)) };
            parts.push((id.clone(), inline(&part.of), inner));
            entries.push(page::Entry { id, number: part.of.clone(), title: String::new() });
        }
        for (i, study) in self.of.studies.iter().enumerate() {
            let inner = self.rest(study);
            if !inner.0.is_empty() {
                let id = format!("more-{}", i + 1);
                let title = &study.results.study.title;
                parts.push((id.clone(), html! { "Also: " (inline(title)) }, inner));
                entries.push(page::Entry { id, number: "Also:".to_owned(), title: title.clone() });
            }
        }
        let body = html! {
            @for (id, heading, inner) in parts { div.part id=(id) { h3 { (heading) } (inner) } }
        };
        (body, entries)
    }

    fn part(&mut self, part: &'a PaperItem) -> Markup {
        match &part.by {
            By::Study { study, figures, tables } => match self.of.study(study) {
                Some(study) => self.of_study(study, figures, tables),
                None => nothing(&format!("The study `{study}` has not been run.")),
            },
            By::Models(names) => html! { @for name in names { (self.model(name)) } },
            By::Table(name) => {
                self.tables += 1;
                let (id, label) = (format!("table-{}", self.tables), numbered_table(self.tables));
                let table = descriptive::find(name);
                table.map_or_else(
                    || nothing(&format!("There is no table `{name}`.")),
                    |table| table.to_html(&id, &label),
                )
            }
            By::Nothing(why) => nothing(why),
        }
    }

    fn model(&mut self, name: &str) -> Markup {
        self.figures += 1;
        let title = cwnd_models::find(name).map_or(name, |model| model.title);
        let label = numbered_figure(self.figures);
        let drawn = model::draw(title, name);
        figures::with_caption(
            drawn,
            &label,
            self.figures,
            title,
            None,
            "from a model; no run has a part in it",
        )
    }

    /// Some figures and tables of a study.
    fn of_study(&mut self, study: &'a PaperStudy, figures: &'a [String], tables: &'a [String]) -> Markup {
        let of = &study.results.study;
        let out = html! {
            @for figure in of.figures.iter().filter(|figure| figures.contains(&figure.name)) {
                (self.figure(study, figure))
            }
            @for table in of.tables.iter().filter(|table| tables.contains(&table.name)) {
                (self.table(study, table))
            }
        };
        if out.0.is_empty() { nothing("Of what it would show nothing is run at this scale.") } else { out }
    }

    /// What no part has shown of a study.
    fn rest(&mut self, study: &'a PaperStudy) -> Markup {
        let of = &study.results.study;
        html! {
            @for figure in &of.figures {
                @if !self.has_shown(study, &figure.name) { (self.figure(study, figure)) }
            }
            @for table in &of.tables {
                @if !self.has_shown(study, &table.name) { (self.table(study, table)) }
            }
        }
    }

    fn has_shown(&self, study: &PaperStudy, name: &str) -> bool {
        self.shown.contains(&(study.name.as_str(), name))
    }

    fn figure(&mut self, study: &'a PaperStudy, figure: &'a cwnd_study::Figure) -> Markup {
        self.figures += 1;
        self.shown.push((&study.name, &figure.name));
        let (looks, label) = (SeriesStyles::new(&study.results.study), numbered_figure(self.figures));
        figures::one(&study.results, &looks, &study.traces, &label, self.figures, figure)
    }

    fn table(&mut self, study: &'a PaperStudy, table: &'a cwnd_study::Table) -> Markup {
        self.tables += 1;
        self.shown.push((&study.name, &table.name));
        tables::one(&study.results, table, &numbered_table(self.tables), self.tables)
    }
}

/// The page's own numbers must not be taken for the paper's.
fn numbered_figure(number: usize) -> String {
    format!("Redrawn {number}")
}

fn numbered_table(number: usize) -> String {
    format!("Measured {number}")
}

fn nothing(why: &str) -> Markup {
    html! { p.nothing-here { (inline(why)) (stop(why)) } }
}

/// The questions, the readings and the scenarios of the studies.
fn readings(of: &PaperResults) -> Markup {
    html! {
        @for PaperStudy { results, .. } in &of.studies {
            @let study = &results.study;
            h3 { (inline(&study.title)) }
            @if let Some(source) = &study.source { p.of-study { (inline(source)) } }
            (paragraphs(&study.question))
            (paragraphs(&study.notes.join("\n\n")))
            details { summary { "The scenario" } (facts::section(results)) }
        }
    }
}

/// The command, and what made each study.
fn made(of: &PaperResults) -> Markup {
    let has_kernel =
        |study: &PaperStudy| study.results.study.engines().into_iter().any(EngineKind::is_kernels);
    html! {
        p {
            "The same studies, seeds and version give the same page, on any machine"
            @if of.studies.iter().any(has_kernel) { " but for the kernel's numbers" }
            ":"
        }
        pre.command { code { (of.command) } }
        @for PaperStudy { results, .. } in &of.studies {
            @let runs = html! { (thousands(results.runs.len() as f64, 0)) ", " (made_by::seeds(&results.study)) };
            h3 { (inline(&results.study.title)) }
            (definitions(&[("Runs".to_owned(), runs)]))
            (provenance::section(results))
        }
    }
}

/// The page over several papers: the verdicts on each, and the way to its own page. `link` gives the address of a paper's
/// page.
pub fn index(
    papers: &[PaperResults],
    scale: RunScale,
    command: &str,
    link: impl Fn(&Paper) -> String,
) -> String {
    let all: Vec<Judgement> = papers.iter().flat_map(PaperResults::judgements).collect();
    let version = papers.iter().flat_map(|of| &of.studies).next();
    let version = version.map(|study| made_by::version(&study.results)).unwrap_or_default();
    let below = html! {
        p.tally { (claims::tally(&all)) }
        p.status { "At the " (scale.to_string()) " scale. " (version) "." }
    };
    let title = match papers.len() {
        1 => "One paper, run again".to_owned(),
        count => format!("{count} papers, run again"),
    };
    let head =
        Head { kind: "Papers", name: "reproduce".to_owned(), title, generator: version, below, zooms: false };
    let mut page = Page::new(head);
    page.section("papers", "The papers", &table_of_papers(papers, link));
    page.section("provenance", "How it was made", &html! { pre.command { code { (command) } } });
    page.finish()
}

fn table_of_papers(papers: &[PaperResults], link: impl Fn(&Paper) -> String) -> Markup {
    let all: Vec<Judgement> = papers.iter().flat_map(PaperResults::judgements).collect();
    let given: Vec<Judgement> = Judgement::ALL.into_iter().filter(|one| all.contains(one)).collect();
    let row = |of: &PaperResults| {
        let judgements = of.judgements();
        let Paper { key, title, authors, year, .. } = &of.paper;
        html! {
            tr {
                td { (key) }
                td { a.title href=(link(&of.paper)) { (inline(title)) } br; (inline(authors)) ", " (year) }
                @for judgement in &given {
                    @let count = judgements.iter().filter(|one| *one == judgement).count();
                    @let class = if count > 0 { claims::class(*judgement) } else { "open" };
                    td class={ "count " (class) } { (count) }
                }
            }
        }
    };
    html! {
        div.scroll { table.papers {
            thead { tr {
                th scope="col" {}
                th scope="col" { "Paper" }
                @for judgement in &given {
                    th scope="col" class={ "count " (claims::class(*judgement)) } { (judgement.name()) }
                }
            } }
            tbody { @for of in papers { (row(of)) } }
        } }
    }
}
