//! The kinds of queues, losses, jitter and topologies, as lists and as a page of the documentation.

use crate::settings::{self, FAMILIES, Family, SettingKind};
use cwnd_scenario::kinds::{KindInfo, ParameterInfo, jitters, losses, queues};
use serde::Serialize;

/// A kind with the family that it belongs to. The parameters of a topology are settings of their own.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NetworkKind {
    /// The family.
    pub family: Family,
    /// The description.
    #[serde(flatten)]
    pub info: KindInfo,
}

/// Every kind, family by family.
pub fn all() -> Vec<NetworkKind> {
    let mut all = Vec::new();
    let mut add = |family, kinds: Vec<KindInfo>| {
        all.extend(kinds.into_iter().map(|info| NetworkKind { family, info }));
    };
    add(Family::Queue, queues());
    add(Family::Loss, losses());
    add(Family::Jitter, jitters());
    add(Family::Topology, TOPOLOGIES.iter().map(topology).collect());
    all
}

/// The kind of this name.
pub fn find(name: &str) -> Option<NetworkKind> {
    all().into_iter().find(|kind| kind.info.name == name)
}

/// A topology: its name, title, what it is, source, and the settings that belong to it alone.
type TopologyInfo = (&'static str, &'static str, &'static str, &'static str, &'static [&'static str]);

static TOPOLOGIES: [TopologyInfo; 6] = [
    (
        "dumbbell",
        "Dumbbell",
        "Two routers joined by the bottleneck; each flow has a sender and a receiver of its own, with access links of \
         their own on both sides.",
        "",
        &["cross-flows", "access-rate", "access-delay", "access-buffer", "access-queue"],
    ),
    (
        "path",
        "Path",
        "Two hosts joined by the bottleneck, whose queue is the sending host's own.",
        "",
        &["cross-flows"],
    ),
    (
        "parking-lot",
        "Parking lot",
        "Bottlenecks in a row, `hop-1` and so on, each with the rate, delay, queue and losses of the bottleneck. The \
         experiment's flows cross all of them, cross flows one each.",
        "",
        &["hops", "cross-flows", "access-rate", "access-delay", "access-buffer", "access-queue"],
    ),
    (
        "satellite",
        "Hybrid satellite and wired network",
        "Flows that come over a satellite and flows that come over wires share a wired bottleneck; ACKs of the first go \
         back over a satellite return link. The experiment's flows take the satellite unless they say `side=wired`, \
         cross flows the wires.",
        "Z. Wang et al., Invs: A New Congestion Control Algorithm for Heterogeneous Networks, 2016, figures 10 and 12; what \
         is not said there is a reading",
        &[
            "satellite-rate",
            "satellite-delay",
            "satellite-buffer",
            "satellite-loss",
            "cross-flows",
            "access-rate",
            "access-delay",
            "access-buffer",
            "access-queue",
        ],
    ),
    (
        "incast",
        "Incast",
        "Each flow has a host of its own that sends through a switch to the one receiver: the switch's port is the \
         bottleneck.",
        "A. Phanishayee et al., Measurement and Analysis of TCP Throughput Collapse in Cluster-based Storage Systems, FAST 2008",
        &["cross-flows", "access-rate", "access-delay", "access-buffer", "access-queue"],
    ),
    (
        "graph",
        "Any graph",
        "What a study file draws in `[network]`: nodes, links and paths. The link that is called the bottleneck has what \
         the settings say wherever its table does not; other links have the access links' rate, delay, buffer and queue.",
        "",
        &["access-rate", "access-delay", "access-buffer", "access-queue"],
    ),
];

fn topology((name, title, about, source, settings): &TopologyInfo) -> KindInfo {
    let parameter = |key: &&'static str| {
        let setting = settings::find(key)?;
        Some(ParameterInfo {
            name: setting.key,
            about: setting.about,
            unit: "",
            default: Some(setting.default.to_owned()),
            takes: format!("such as `{}`", setting.example),
            source: "",
        })
    };
    KindInfo {
        name,
        title,
        about,
        source,
        form: (*name).to_owned(),
        parameters: settings.iter().filter_map(parameter).collect(),
    }
}

const HEAD: &str = "\
# Networks

`cwnd networks --markdown` prints this page from the tables of the parser; a test checks that it is current.

A link has a queue, a transmitter and a line. Its queue, its losses and its jitter are each written in one line, as a name
with parameters, like algorithms: `queue = \"red:min=20,max=60,ecn=on\"` in a study,
`--queue red:min=20,max=60,ecn=on` on the command line. The name of a switch alone switches it on: `codel:ecn`.

";

/// `docs/networks.md`: every kind with its parameters, and what else may be said of a link.
pub fn markdown() -> String {
    let mut page = String::from(HEAD);
    let all = all();
    page += "| name | what | title |\n|---|---|---|\n";
    for kind in &all {
        page += &format!(
            "| [`{0}`](#{0}) | {1} | {2} |\n",
            kind.info.name,
            kind.family.title().to_lowercase(),
            kind.info.title
        );
    }
    for family in FAMILIES {
        let settings: Vec<String> = family.settings().iter().map(|key| format!("`{key}`")).collect();
        let none = if family == Family::Jitter { "; `none` switches it off" } else { "" };
        page += &format!("\n## {}\n\nSelected by {}{none}.\n", family.title(), settings.join(", "));
        for kind in all.iter().filter(|kind| kind.family == family) {
            page += &section(kind);
        }
    }
    page + &of_links()
}

fn section(NetworkKind { family, info: kind }: &NetworkKind) -> String {
    let KindInfo { name, title, about, form, .. } = kind;
    let mut text = format!("\n### {name}\n\n**{title}.** {about}\n");
    if form != name {
        text += &format!("\nWritten: `{form}`.\n");
    }
    if !kind.source.is_empty() {
        text += &format!("\nSource: {}.\n", kind.source);
    }
    if kind.parameters.is_empty() {
        return text;
    }
    let sources = kind.parameters.iter().any(|parameter| !parameter.source.is_empty());
    let column = |text: &str| if sources { format!(" {text} |") } else { String::new() };
    let what = if *family == Family::Topology { "setting" } else { "parameter" };
    text += &format!("\n| {what} | default | values | what it is |{}\n", column("source"));
    text += &format!("|---|---|---|---|{}\n", if sources { "---|" } else { "" });
    for parameter in &kind.parameters {
        let unit = if parameter.unit.is_empty() { String::new() } else { format!(" {}", parameter.unit) };
        let default = parameter.default.as_ref().map_or("required".to_owned(), |text| text.clone() + &unit);
        text += &format!(
            "| `{}` | {default} | {} | {} |{}\n",
            parameter.name,
            parameter.takes,
            parameter.about,
            column(parameter.source)
        );
    }
    text
}

/// What else may be said of a link, from the table of settings.
fn of_links() -> String {
    let mut text = String::from(
        "\n## What else a link has\n\n\
         Settings of studies, and flags of `cwnd compare`, that speak of the bottleneck. Those that begin with `reverse-` \
         speak of the direction in which ACKs travel.\n\n\
         | setting | left out | written | what it is |\n|---|---|---|---|\n",
    );
    for key in settings::OF_LINES {
        let Some(setting) = settings::find(key) else { continue };
        let written = match setting.kind {
            SettingKind::Steps => format!("`[\"{}\"]`", setting.example.replace("; ", "\", \"")),
            _ => format!("`{}`", setting.example),
        };
        text += &format!("| `{key}` | {} | {written} | {} |\n", setting.default, setting.about);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_described() {
        for NetworkKind { info: kind, .. } in all() {
            assert!(kind.about.ends_with('.') && !kind.title.is_empty(), "{}", kind.name);
            for parameter in &kind.parameters {
                assert!(parameter.about.ends_with('.'), "{} {}", kind.name, parameter.name);
            }
        }
        let mut names: Vec<&str> = all().iter().map(|kind| kind.info.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "a name stands for one thing");
    }

    #[test]
    fn the_documentation_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/networks.md");
        let file = std::fs::read_to_string(path).expect("docs/networks.md");
        assert_eq!(file, markdown(), "docs/networks.md is stale; run `cargo xtask renew`");
    }
}
