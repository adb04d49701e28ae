//! The page of the made-up study.

use crate::outline::{all, outline, parse, text};
use crate::synthetic::{self, because, select};
use cwnd_report::{figures::traces::Traces, report};
use cwnd_study::{Axis, Point, Results, RunState, Scale, Selection};

fn page(results: &Results) -> String {
    report::html_with(results, &synthetic::traces(results))
}

#[test]
fn the_judge_of_html_is_strict() {
    assert!(!scraper::Html::parse_document("<!doctype html><title>a</title><p>b</em>").errors.is_empty());
    assert!(scraper::Html::parse_document("<!doctype html><title>a</title><p>b</p>").errors.is_empty());
}

#[test]
fn what_is_on_the_page() {
    insta::assert_snapshot!(outline(&page(&synthetic::results())));
}

#[test]
fn the_whole_report_is_small_and_always_the_same() {
    let results = synthetic::results();
    let html = page(&results);
    println!("the report of {} runs: {} bytes", results.runs.len(), html.len());
    assert!(html.len() < 2_000_000, "{}", html.len());
    assert_eq!(html, page(&results));
}

#[test]
fn nothing_on_the_page_asks_for_anything() {
    let html = page(&synthetic::results());
    let page = parse(&html);
    for element in all(&page, "[src], [href], [action], [srcset], [poster], [background], [ping]") {
        for name in ["src", "action", "srcset", "poster", "background", "ping"] {
            assert_eq!(element.value().attr(name), None);
        }
        let target = element.value().attr("href").unwrap_or_default();
        assert!(target.starts_with('#') || target == "data:,", "{target}");
    }
    for style in all(&page, "style") {
        let style = text(style);
        assert!(!style.contains("url(") && !style.contains("@import"), "a style that loads something");
    }
    assert!(all(&page, "iframe, object, embed, video, audio, img, form, base").is_empty());
    let policy = all(&page, "meta[http-equiv=Content-Security-Policy]")[0].value().attr("content").unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
}

#[test]
fn every_link_has_a_target() {
    let html = page(&synthetic::results());
    let page = parse(&html);
    let links = all(&page, "a[href^='#']");
    assert!(links.len() > 10);
    for link in links {
        let target = &link.value().attr("href").unwrap()[1..];
        assert_eq!(all(&page, &format!("[id='{target}']")).len(), 1, "{target}");
    }
}

#[test]
fn what_is_missing_is_said() {
    let mut results = synthetic::results();
    let repeats = results.study.repeats as usize;
    // Agile-SD, single, buffer 5, PER 0 fails; Agile-SD, single, buffer 500, PER 0 is not there; one more repeat.
    let cell = |buffer: usize| buffer * 3;
    for run in &mut results.runs[cell(0) * repeats..(cell(0) + 1) * repeats] {
        run.state = RunState::Failed("the buffer is <too> small".into());
        run.trace = None;
    }
    for run in &mut results.runs[cell(6) * repeats..(cell(6) + 1) * repeats] {
        run.state = RunState::Missing;
    }
    results.runs[cell(1) * repeats].state = RunState::Missing;
    let html = page(&results);
    let page = parse(&html);
    let said: Vec<String> = all(&page, ".incomplete p, .incomplete li").into_iter().map(text).collect();
    assert_eq!(
        said.join(" "),
        "This report is not complete. Of 945 runs, 6 are not done yet and 5 failed. the buffer is <too> small \
         (agile-sd, single, 5, 0, seed 1; agile-sd, single, 5, 0, seed 2; agile-sd, single, 5, 0, seed 3; \
         agile-sd, single, 5, 0, seed 4; agile-sd, single, 5, 0, seed 5)"
    );
    let captions: Vec<String> = all(&page, "figure:not(.table):not(.overview) figcaption p:first-child")
        .into_iter()
        .map(text)
        .collect();
    assert!(captions[0].contains("2 of 189 values are missing (crosses on the axis)."), "{}", captions[0]);
    assert!(
        captions[0].contains("One mean rests on fewer repeats: agile-sd, single, 10, 0."),
        "{}",
        captions[0]
    );
    assert!(
        captions[5].contains("Missing: agile-sd, single, 5, 0 (the buffer is <too> small)."),
        "{}",
        captions[5]
    );
    assert!(text(all(&page, "#figure-1 svg")[0]).contains("no value"));
}

#[test]
fn texts_of_a_study_stay_texts() {
    let attack =
        "</script></title><script>alert(1)</script><img src=x onerror=alert(2)>\" onload=\"alert(3)'`";
    let mut results = synthetic::results();
    let study = &mut results.study;
    for text in [&mut study.name, &mut study.title, &mut study.question, &mut study.text] {
        *text = attack.into();
    }
    study.source = Some(attack.into());
    study.notes = vec![attack.into()];
    for (i, figure) in study.figures.iter_mut().enumerate() {
        (figure.name, figure.title, figure.caption) =
            (format!("{attack}{i}"), attack.into(), Some(attack.into()));
        figure.select = Selection::default();
    }
    for table in &mut study.tables {
        (table.name, table.title, table.select) = (attack.into(), attack.into(), Selection::default());
    }
    for claim in &mut study.claims {
        (claim.text, claim.source, claim.stated) = (attack.into(), Some(attack.into()), Some(attack.into()));
        claim.reason = Some(because(attack));
    }
    for Axis { title, unit, points, .. } in &mut study.axes {
        (*title, *unit) = (attack.into(), Some(attack.into()));
        points.iter_mut().enumerate().for_each(|(i, Point { label, .. })| *label = format!("{attack}{i}"));
    }
    results.provenance.command = attack.into();
    results.provenance.version = attack.into();
    results.provenance.commit = Some(attack.into());
    results.provenance.engine = attack.into();
    results.runs[0].state = RunState::Failed(attack.into());
    let html = page(&results);
    let page = parse(&html);
    assert!(all(&page, "img, [onload], [onerror]").is_empty());
    let scripts = all(&page, "script:not([type='application/json'])");
    assert_eq!(scripts.len(), 1, "the page's own and no other");
    assert!(text(all(&page, "h1")[0]).starts_with("</script></title><script>alert(1)"));
    assert_eq!(all(&page, "h1 *").len(), 0);
}

#[test]
fn a_study_of_nothing_has_a_page() {
    let mut results = synthetic::results();
    results.runs.clear();
    let study = &mut results.study;
    (study.cells, study.axes) = (Vec::new(), Vec::new());
    let html = report::html_with(&results, &Traces::default());
    parse(&html);
    results.study.figures.clear();
    results.study.tables.clear();
    results.study.claims.clear();
    results.study.notes.clear();
    let html = report::html_with(&results, &Traces::default());
    let titles: Vec<String> = all(&parse(&html), "h2").into_iter().map(text).collect();
    assert_eq!(titles, ["What was found", "What was asked", "The scenario", "How it was made"]);
}

#[test]
fn a_study_without_figures_and_tables_has_one_of_all_combinations() {
    let mut results = synthetic::results();
    results.study.figures.clear();
    results.study.tables.clear();
    results.study.claims.clear();
    let variants = results.study.axis("variant").unwrap();
    for cell in &mut results.study.cells {
        let name = &results.study.axes[variants].points[cell.coordinates[variants]].label;
        cell.scenario.flows.iter_mut().for_each(|flow| flow.algorithm = name.parse().unwrap());
    }
    let html = page(&results);
    let page = parse(&html);
    assert_eq!(all(&page, "figure.table").len(), 1);
    assert_eq!(all(&page, "#table-1 tbody tr").len(), results.study.cells.len());
    let heads: Vec<String> = all(&page, "#table-1 thead th").into_iter().map(text).collect();
    assert_eq!(heads.len(), results.study.axes.len() + results.study.metrics.len(), "{heads:?}");
    // What is better compares algorithms on the same path, though nothing names their axis.
    let caption = text(all(&page, "#table-1 figcaption")[0]);
    assert!(caption.contains("Bold: the best mean by variant."), "{caption}");
}

#[test]
fn completion_times_stand_next_to_the_share_that_completed() {
    let mut results = synthetic::results();
    for run in results.runs.iter_mut().filter(|run| run.cell == 0) {
        let RunState::Done(metrics) = &mut run.state else { continue };
        metrics.insert("short-large.completion_ratio".to_owned(), 0.25);
        metrics.insert("short-large.completion_time_s".to_owned(), 1.5);
    }
    let html = page(&results);
    let page = parse(&html);
    let row: Vec<String> = all(&page, "#completion-times tbody td").into_iter().map(text).collect();
    assert_eq!(row, ["over 1 MB", "25", "1,500", "\u{2013}", "\u{2013}", "\u{2013}"]);
}

#[test]
fn a_single_repeat_has_no_interval() {
    let mut results = synthetic::results();
    results.study.repeats = 1;
    results.runs.retain(|run| run.repeat == 0);
    results.study.tables[0].select =
        select(&[("scenario", &["single"]), ("buffer", &["5"]), ("per", &["0"])]);
    let html = page(&results);
    let page = parse(&html);
    assert!(all(&page, ".half").is_empty());
    assert!(text(all(&page, "#figure-1 figcaption")[0]).contains("One run each, so there are no intervals."));
    assert_eq!(all(&page, "#table-1 tbody tr").len(), 3);
    // Zero stands apart, whatever the scale says.
    assert_eq!(results.study.axes[3].scale, Scale::Log);
}
