//! The page of a made-up paper, and the one over several.

use crate::outline::{all, outline, parse, text};
use crate::synthetic;
use cwnd_metrics::statistics::Summary;
use cwnd_report::report::{self, PaperResults, PaperStudy, StoredVerdict};
use cwnd_study::claims::Judgement;
use cwnd_study::{By, Paper, PaperItem, RunScale, RunState};
use std::collections::BTreeSet;

/// A paper with the made-up study twice: whole, and at the quick scale.
fn paper() -> PaperResults {
    let study = |name: &str, change: fn(&mut cwnd_study::Results)| {
        let mut results = synthetic::results();
        change(&mut results);
        PaperStudy { name: name.into(), traces: synthetic::traces(&results), results }
    };
    let part = |of: &str, by| PaperItem { of: of.into(), by };
    let of_study = |study: &str, figures: &[&str], tables: &[&str]| By::Study {
        study: study.into(),
        figures: figures.iter().map(|name| (*name).to_owned()).collect(),
        tables: tables.iter().map(|name| (*name).to_owned()).collect(),
    };
    let paper = Paper {
        name: "agile-sd".into(),
        key: "P1".into(),
        title: "Agile-SD: a <made-up> paper".into(),
        authors: "A. Author, B. Author".into(),
        published: "Journal of Papers 1".into(),
        year: 2015,
        parts: vec![
            part("Figure 4: lambda", By::Models(vec!["agile-sd-figure-5".into()])),
            part("Table 1: variants", By::Table("elastic-table-1".into())),
            part("Figure 9", By::Nothing("Its axes have no numbers".into())),
            part("Figure 11 a to i", of_study("throughput", &["throughput"], &["throughput"])),
            part("Figure 12", of_study("missing", &["loss"], &[])),
        ],
    };
    let cut = |results: &mut cwnd_study::Results| {
        results.study.title = "The same again".into();
        results.study.figures.truncate(1);
        results.study.tables.clear();
        results.study.claims.truncate(1);
        results.runs[0].state = RunState::Missing;
    };
    PaperResults {
        paper,
        scale: RunScale::Quick,
        command: "cwnd reproduce agile-sd --scale quick".into(),
        studies: vec![study("throughput", |_| {}), study("again", cut)],
        stored: Vec::new(),
    }
}

#[test]
fn verdicts_at_the_papers_scale_stand_beside_those_of_another() {
    let mut paper = paper();
    let claim = &paper.studies[0].results.study.claims[2];
    let measured = Summary::of(&[0.004, 0.004]);
    paper.stored = vec![StoredVerdict {
        study: "throughput".into(),
        claim: claim.text.clone(),
        judgement: Judgement::Reproduced,
        measured,
    }];
    let count = |paper: &PaperResults, note: &str| {
        let page = parse(&report::paper(paper));
        text(all(&page, "body")[0]).matches(note).count()
    };
    assert_eq!(count(&paper, "At the paper's scale: reproduced (0.4 ± 0 %)."), 1);
    paper.scale = RunScale::Paper;
    assert_eq!(count(&paper, "At the paper's scale: reproduced"), 0);
}

#[test]
fn what_is_on_the_page_of_a_paper() {
    insta::assert_snapshot!(outline(&report::paper(&paper())));
}

#[test]
fn every_part_of_a_paper_has_a_place_of_its_own() {
    let html = report::paper(&paper());
    assert_eq!(html, report::paper(&paper()));
    let page = parse(&html);
    let ids: Vec<&str> = all(&page, "[id]").into_iter().filter_map(|e| e.value().attr("id")).collect();
    assert_eq!(ids.len(), ids.iter().collect::<BTreeSet<_>>().len(), "an id twice: {ids:?}");
    for link in all(&page, "a[href^='#']") {
        let target = &link.value().attr("href").expect("a target")[1..];
        assert!(ids.contains(&target), "{target}");
    }
    let headings: Vec<String> = all(&page, ".part h3").into_iter().map(text).collect();
    let expected = ["Figure 4: lambda", "Table 1: variants", "Figure 9", "Figure 11 a to i", "Figure 12"];
    assert_eq!(headings[..5], expected);
    assert_eq!(headings.len(), 7, "what no part shows stands below: {headings:?}");
    // Nothing is shown twice, and nothing is left out.
    let shown = paper().studies.iter().map(|s| s.results.study.figures.len()).sum::<usize>() + 1;
    assert_eq!(all(&page, "figure .picture").len(), shown);
    assert!(text(all(&page, ".incomplete")[0]).contains("1 of 1,890 runs are missing or failed"));
}

#[test]
fn the_page_over_papers_leads_to_each() {
    let (first, mut second) = (paper(), paper());
    second.paper.name = "elastic".into();
    second.studies.clear();
    let link = |paper: &Paper| format!("{}/report.html", paper.name);
    let html = report::index(&[first, second], RunScale::Quick, "cwnd reproduce all", link);
    let page = parse(&html);
    let links: Vec<&str> =
        all(&page, ".papers a").into_iter().filter_map(|a| a.value().attr("href")).collect();
    assert_eq!(links, ["agile-sd/report.html", "elastic/report.html"]);
    let rows: Vec<String> = all(&page, ".papers tbody tr").into_iter().map(text).collect();
    assert_eq!(rows.len(), 2);
    let counts: Vec<String> =
        all(&page, ".papers tbody tr:first-child .count").into_iter().map(text).collect();
    let claims: usize = counts.iter().map(|count| count.parse::<usize>().expect("a number")).sum();
    // Two of the seven claims have no source: they are our own, and counted apart.
    assert_eq!(claims, 5, "{counts:?}");
}
