//! Two small papers, run again.

use super::*;
use crate::{catalogue, memory::MemoryFlags};
use cwnd_study::{Paper, Study};
use std::{collections::BTreeMap, fs, path::Path};

const STUDY: &str = r#"
title = "Throughput of two"
question = "Which is faster?"
source = "Somebody (Somewhere 2020), figure 1"
[scenario]
rate = "10 Mbit/s"
delay = "5 ms"
per = 1e-3
duration = "5 s"
[run]
repeats = 4
[quick]
repeats = 2
axes = { buffer = [5, 20] }
[[axes]]
name = "variant"
key = "algorithm"
values = ["cubic", "newreno"]
[[axes]]
name = "buffer"
key = "buffer"
values = [5, 10, 20]
[[figures]]
name = "throughput"
title = "Throughput against buffer"
kind = "line"
x = "buffer"
y = "throughput_bps"
series = "variant"
[[figures]]
name = "loss"
title = "Loss ratio"
kind = "bars"
x = "buffer"
y = "loss_ratio"
series = "variant"
[[tables]]
name = "printed"
title = "Throughput"
rows = "variant"
columns = "buffer"
metrics = "throughput_bps"
printed = [{ variant = "cubic", buffer = 20, throughput_bps = 9.1 }, { variant = "newreno", buffer = 10, throughput_bps = 1 }]
scale = { throughput_bps = 1e-6 }
[[claims]]
text = "The path is used."
measure = "least"
metric = "utilisation"
expect = ">= 0.1"
[[claims]]
text = "Ten packets make a hundredfold."
stated = "100, \"or so\""
measure = "mean"
metric = "throughput_bps"
where = { buffer = 10 }
printed = 1000
scale = 1e-6
[[claims]]
text = "It is beautiful."
not-testable = "nobody has measured it"
"#;

fn book(name: &str, key: &str) -> Book {
    let paper = format!(
        "key = \"{key}\"\ntitle = \"Of {name}\"\nauthors = \"A. B.\"\npublished = \"Somewhere\"\nyear = 2020\n\
         [[parts]]\nof = \"Figure 2\"\nmodels = [\"elastic-figure-5\"]\n\
         [[parts]]\nof = \"Table 1\"\nstudy = \"two\"\ntables = [\"printed\"]\n\
         [[parts]]\nof = \"Table 2\"\ntable = \"elastic-table-2\"\n\
         [[parts]]\nof = \"Figure 3\"\nnothing = \"its axes have no numbers\"\n\
         [[parts]]\nof = \"Figure 1\"\nstudy = \"two\"\nfigures = [\"throughput\"]\n"
    );
    let study = Study::parse(&format!("{name}/two"), "two.toml", STUDY, &catalogue::check);
    Book {
        paper: Paper::parse(name, "paper.toml", &paper).unwrap_or_else(|error| panic!("{error}")),
        studies: vec![study.unwrap_or_else(|error| panic!("{error}"))],
    }
}

fn flags(scale: Scale, out: &Path) -> Flags {
    Flags {
        papers: Vec::new(),
        scale,
        out: out.to_owned(),
        threads: Some(2),
        memory: MemoryFlags::default(),
        markdown: false,
        quiet: true,
    }
}

#[track_caller]
fn ran(books: &[Book], scale: Scale, out: &Path) {
    if let Err(failure) = do_all::run(books, &flags(scale, out)) {
        panic!("{failure:?}");
    }
}

/// Every file of a scale's pages with its bytes.
fn pages(out: &Path, scale: &str) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![out.join(scale)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(out).expect("in it").to_string_lossy().into_owned();
                files.insert(name, fs::read(&path).expect("a file"));
            }
        }
    }
    files
}

#[test]
fn the_pages_are_the_same_whatever_was_run_before() {
    let books = [book("one", "P1"), book("other", "P2")];
    let (plain, stepwise) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    ran(&books, Scale::Paper, plain.path());
    ran(&books, Scale::Sample, stepwise.path());
    ran(&books[..1], Scale::Quick, stepwise.path());
    ran(&books, Scale::Paper, stepwise.path());
    let expected = pages(plain.path(), "paper");
    let names: Vec<&str> = expected.keys().map(String::as_str).collect();
    let wanted =
        ["index.html", "one/report.html", "one/verdicts.csv", "one/verdicts.json", "other/report.html"];
    for name in wanted {
        assert!(names.contains(&format!("paper/{name}").as_str()), "{name} of {names:?}");
    }
    assert_eq!(names.len(), 9);
    assert!(expected == pages(stepwise.path(), "paper"), "the bytes differ");
    // What was run at one scale is there at the others.
    ran(&books, Scale::Quick, plain.path());
    let stored = |out: &Path| {
        let store =
            cwnd_study::Store::open(&out.join("runs/one/two")).unwrap_or_else(|error| panic!("{error}"));
        store.cursor().unwrap_or_else(|error| panic!("{error}"))
    };
    assert_eq!((stored(plain.path()), stored(stepwise.path())), (24, 24));
}

#[test]
fn verdicts_are_told_for_other_programs() {
    let folder = tempfile::tempdir().expect("a folder");
    ran(&[book("one", "P1")], Scale::Quick, folder.path());
    let read = |name: &str| fs::read_to_string(folder.path().join("quick/one").join(name)).expect(name);
    let csv = read("verdicts.csv");
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(
        lines[0],
        "paper,study,scale,claim,of_paper,text,stated,measured,low,high,repeats,verdict,unexplained,why,commit,fingerprint"
    );
    assert!(
        lines[1].starts_with("one,two,quick,1,false,The path is used.,,0.")
            && lines[1].contains(",2,too few repeats,"),
        "{csv}"
    );
    // The quick scale leaves the buffer out of which the second claim speaks.
    let second =
        "one,two,quick,2,false,Ten packets make a hundredfold.,\"100, \"\"or so\"\"\",,,,,not measured,";
    assert!(lines[2].starts_with(second), "{csv}");
    assert!(lines[3].contains(",not testable,false,nobody has measured it,"), "{csv}");
    let json: serde_json::Value = serde_json::from_str(&read("verdicts.json")).expect("JSON");
    assert_eq!((json.as_array().map(Vec::len), &json[2]["verdict"]), (Some(3), &"not testable".into()));
    let page = read("report.html");
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is not on the page"));
    // The parts stand in the paper's order, and what no part shows comes last.
    let order = [
        "<h3>Figure 2</h3>",
        "<h3>Table 1</h3>",
        "<h3>Table 2</h3>",
        "its axes have no numbers",
        "<h3>Figure 1</h3>",
        "<h3>Also: ",
    ];
    assert!(order.map(place).is_sorted());
    place("<th class=\"number printed\" scope=\"col\"");
    place(">9.1");
    assert!(page.contains("Throughput against buffer") && page.contains("Loss ratio"));
}

#[test]
fn papers_are_called_by_name_and_key() {
    let library = || vec![book("agile-sd", "P1"), book("elastic", "P0")];
    let names = |chosen: &[&str]| {
        let chosen: Vec<String> = chosen.iter().map(|name| (*name).to_owned()).collect();
        let books = super::chosen(library(), &chosen).unwrap_or_else(|failure| panic!("{failure:?}"));
        books.iter().map(|book| book.paper.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&["elastic", "P1"]), ["agile-sd", "elastic"]);
    assert_eq!(names(&["p0"]), ["elastic"]);
    assert_eq!(names(&["all"]), ["agile-sd", "elastic"]);
    let wrong = |name: &str| match library::find(&library(), name) {
        Ok(_) => panic!("{name} is there"),
        Err(failure) => format!("{failure:?}"),
    };
    let said = wrong("agile");
    assert!(
        said.contains(
            "there is no paper `agile`; did you mean `agile-sd`? There are agile-sd, elastic, and `all`"
        ),
        "{said}"
    );
    assert!(wrong("").contains("there is no paper ``. There are"), "{}", wrong(""));
}
