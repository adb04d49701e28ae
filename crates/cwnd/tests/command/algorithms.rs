//! `cwnd algorithms`.

use crate::{document, printed};

#[test]
fn the_list_names_all() {
    let list = printed(&["algorithms"]);
    for name in
        ["newreno", "cubic-2008", "cubic-linux", "cubic", "compound", "compound-ns2", "agile-sd", "elastic"]
    {
        assert!(
            list.lines().any(|line| line.trim_start().starts_with(&format!("{name} "))),
            "{name} in {list}"
        );
    }
}

#[test]
fn a_sheet_tells_of_every_parameter() {
    let sheet = printed(&["algorithms", "agile-sd"]);
    for part in [
        "Agile-SD (agile-sd, 2015)",
        "shines",
        "fails",
        "lambda_max = ",
        "a number from",
        "paper",
        "state.lambda: lambda",
    ] {
        assert!(sheet.contains(part), "{part} in {sheet}");
    }
    assert!(sheet.lines().all(|line| line.chars().count() <= 100), "{sheet}");
}

#[test]
fn the_document_has_its_fields() {
    let all = document(&["algorithms", "--json"]);
    for algorithm in all["algorithms"].as_array().unwrap() {
        for key in ["name", "title", "reference", "summary", "strengths", "weaknesses"] {
            assert!(algorithm[key].as_str().is_some_and(|text| !text.is_empty()), "{key} in {algorithm}");
        }
        assert!(algorithm["reconstruction"].is_boolean());
        assert!(algorithm["year"].is_number());
        assert!(!algorithm["signals"].as_array().unwrap().is_empty());
        for state in algorithm["state"].as_array().unwrap() {
            for key in ["name", "symbol", "unit", "about"] {
                assert!(state[key].is_string(), "{key} in {state}");
            }
        }
        for parameter in algorithm["parameters"].as_array().unwrap() {
            for key in ["name", "about", "unit", "source", "kind"] {
                assert!(parameter[key].is_string(), "{key} in {parameter}");
            }
            assert!(!parameter["default"].is_null());
            assert!(parameter["range"].is_array());
        }
    }
    let one = document(&["algorithms", "elastic", "--json"]);
    assert_eq!(one["algorithms"].as_array().unwrap().len(), 1);
    assert_eq!(one["algorithms"][0]["name"], "elastic");
}

#[test]
fn the_page_of_the_documentation_is_printed() {
    let page = printed(&["algorithms", "--markdown"]);
    // A test of `cwnd-report` compares it with the committed page.
    assert!(page.starts_with("# Algorithms\n"), "{page}");
    for algorithm in cwnd_cc::all() {
        assert!(page.contains(&format!("\n## {}\n", algorithm.name)), "{}", algorithm.name);
    }
}
