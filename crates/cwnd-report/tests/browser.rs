//! The report in a real browser: it opens from a file, asks for nothing, complains of nothing, and its charts are there.
//!
//! It needs Chromium, so it is not among the tests that always run: `cargo xtask test` runs it, and says how to install
//! Chromium where there is none. By hand: `cargo test -p cwnd-report --test browser -- --ignored`.

#[path = "report/synthetic.rs"]
mod synthetic;

use cwnd_report::report;
use scraper::{Html, Selector};
use serde_json::Value;
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome-headless-shell"];

/// What became of a page in the browser.
struct Visit {
    /// The page as the script has made it.
    page: Html,
    /// What the page wrote to the console: errors, and whatever the policy refused.
    console: Vec<String>,
    /// The addresses that the page asked for, files and data apart.
    requests: Vec<String>,
}

/// Opens a page, without a network, and waits until it has settled.
fn visit(file: &Path, fragment: &str, width: u32) -> Visit {
    let directory = file.parent().expect("a directory");
    let log = directory.join(format!("network-{width}{fragment}.json"));
    let address = format!("file://{}{fragment}", file.display());
    let output = Command::new(browser())
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=5000", "--timeout=60000"])
        .args(["--enable-logging=stderr", "--dump-dom", &format!("--window-size={width},900")])
        .arg(format!("--user-data-dir={}", directory.join("profile").display()))
        .arg(format!("--log-net-log={}", log.display()))
        .arg(&address)
        .stdin(Stdio::null())
        .output()
        .expect("the browser starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let console = said.lines().filter(|line| line.contains(":CONSOLE")).map(str::to_owned).collect();
    let network = fs::read_to_string(&log).expect("the browser keeps a log of its network");
    let network: Value = serde_json::from_str(&network).expect("the log is JSON");
    // What the browser asks for on its own account has no page as its origin.
    let asked = |event: &Value| {
        let (url, initiator) = (event["params"]["url"].as_str()?, event["params"]["initiator"].as_str()?);
        let is_own = initiator == "not an origin" || url.starts_with("file:") || url.starts_with("data:");
        (!is_own).then(|| url.to_owned())
    };
    let requests = network["events"].as_array().into_iter().flatten().filter_map(asked).collect();
    Visit { page: Html::parse_document(&String::from_utf8_lossy(&output.stdout)), console, requests }
}

/// The first browser that there is.
fn browser() -> &'static str {
    let is_there = |name: &&str| {
        let version =
            Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    };
    NAMES.into_iter().find(is_there).expect("Chromium; install it: sudo apt-get install chromium")
}

fn count(visit: &Visit, selector: &str) -> usize {
    visit.page.select(&Selector::parse(selector).expect("a selector")).count()
}

#[test]
#[ignore = "needs Chromium; `cargo xtask test` runs it"]
fn the_report_opens_without_a_network_and_its_charts_are_there() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("report.html");
    let results = synthetic::results();
    fs::write(&file, report::html_with(&results, &synthetic::traces(&results)))
        .expect("the report is written");
    for (fragment, width) in [("", 1280), ("#zoom", 1280), ("#zoom", 390)] {
        let visit = visit(&file, fragment, width);
        assert_eq!(visit.console, [""; 0], "{fragment} {width}");
        assert_eq!(visit.requests, [""; 0], "{fragment} {width}");
        assert_eq!(count(&visit, "figure:not(.table) svg[role=img]"), 6);
        assert_eq!(count(&visit, "button.theme"), 1, "the script ran");
        // The two tables, and beside the second what the paper prints of two variants.
        assert_eq!(count(&visit, "th[data-sort] > button.sort"), 5 + 8 + 2);
        let charts = if fragment == "#zoom" { 8 } else { 0 };
        assert_eq!(count(&visit, ".zoom .uplot canvas"), charts, "{fragment} {width}");
    }
}

#[test]
#[ignore = "needs Chromium; `cargo xtask test` runs it"]
fn a_page_that_is_not_so_good_is_found_out() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("report.html");
    let page =
        "<!doctype html><title>a</title><img src=\"http://cwnd.invalid/a.png\"><script>nothing()</script>";
    fs::write(&file, page).expect("the page is written");
    let visit = visit(&file, "", 1280);
    assert!(visit.console.iter().any(|line| line.contains("nothing is not defined")), "{:?}", visit.console);
    assert!(visit.requests.iter().any(|url| url == "http://cwnd.invalid/a.png"), "{:?}", visit.requests);
}
