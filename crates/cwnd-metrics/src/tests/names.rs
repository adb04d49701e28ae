//! Names and descriptions of metrics.

use super::*;

#[test]
fn every_metric_is_described() {
    let mut names = std::collections::BTreeSet::new();
    for metric in all() {
        assert!(names.insert(metric.name), "{} is there twice", metric.name);
        assert!(!metric.title.is_empty() && !metric.formula.is_empty() && !metric.scopes.is_empty());
        assert!(metric.about.is_empty() || metric.about.ends_with('.'), "{}", metric.name);
        let unit = [("_bps", "bit/s"), ("_s", "s"), ("_ratio", "")]
            .iter()
            .find(|(end, _)| metric.name.ends_with(end));
        assert!(unit.is_none_or(|(_, unit)| metric.unit == *unit), "{}", metric.name);
    }
}

#[test]
fn names_say_of_what_a_metric_is() {
    let found = |name: &str| find(name).map(|metric| metric.name);
    assert_eq!(found("throughput_bps"), Some("throughput_bps"));
    assert_eq!(found("flow12.cwnd_max"), Some("cwnd_max"));
    assert_eq!(found("agile-sd:beta2=0.9,lambda_max=4.jain_index"), Some("jain_index"));
    assert_eq!(found("access-1.max_packets"), Some("max_packets"));
    for name in [
        "",
        ".",
        "throughput",
        "flow1.",
        ".throughput_bps",
        "flow1.jain_index",
        "flow1.mean_packets",
        "mean_packets",
        "harm",
    ] {
        assert_eq!(found(name), None, "{name}");
    }
}

#[test]
fn the_document_is_what_the_list_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics.md");
    let file = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(file, markdown(), "docs/metrics.md is stale; run `cargo xtask renew`");
}

/// A group of such a name would make a metric's name ambiguous.
#[test]
fn names_that_metrics_use_are_reserved() {
    for name in ["flow1", "flow27", "short", "short-small", "short-large"] {
        assert!(cwnd_scenario::is_reserved_group(name), "{name}");
    }
    for name in ["flow", "flow0", "flow1a", "shorter", "cubic"] {
        assert!(!cwnd_scenario::is_reserved_group(name), "{name}");
    }
}
