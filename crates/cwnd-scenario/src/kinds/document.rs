//! The tables as lists and as a page of the documentation.

use super::families::{JITTERS, LOSSES, QUEUES};
use super::kind::{Kind, Parameter};
use crate::build::settings::{self, SettingKind};
use serde::Serialize;

/// What kinds there are kinds of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Queues: `queue = "codel"`.
    Queue,
    /// Losses on a line: `loss = "1e-3"`.
    Loss,
    /// Jitters of a line: `jitter = "uniform:5 ms"`.
    Jitter,
    /// Shapes of networks: `topology = "parking-lot"`.
    Topology,
}

/// All families, in the order of the page.
pub const FAMILIES: [Family; 4] = [Family::Queue, Family::Loss, Family::Jitter, Family::Topology];

impl Family {
    /// Its name in the plural.
    pub fn title(self) -> &'static str {
        match self {
            Family::Queue => "Queues",
            Family::Loss => "Losses",
            Family::Jitter => "Jitter",
            Family::Topology => "Topologies",
        }
    }

    /// The settings that say which is meant.
    pub fn settings(self) -> &'static [&'static str] {
        match self {
            Family::Queue => &["queue", "reverse-queue", "access-queue"],
            Family::Loss => &["loss", "reverse-loss"],
            Family::Jitter => &["jitter", "reverse-jitter"],
            Family::Topology => &["topology"],
        }
    }
}

/// A kind of queue, loss, jitter or topology.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KindInfo {
    /// What it is a kind of.
    pub family: Family,
    /// The word by which it is called.
    pub name: &'static str,
    /// Its full name.
    pub title: &'static str,
    /// What it does.
    pub about: &'static str,
    /// The RFC, or the paper; empty if it needs none.
    pub source: &'static str,
    /// How it is written, with what must be said.
    pub form: String,
    /// Its parameters; those of a topology are settings of their own.
    pub parameters: Vec<ParameterInfo>,
}

/// A parameter of a kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ParameterInfo {
    /// Name.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Unit, if its values carry none themselves.
    pub unit: &'static str,
    /// The default, as it is written; none if it must be said.
    pub default: Option<String>,
    /// What values it takes.
    pub takes: String,
    /// Where the default is from.
    pub source: &'static str,
}

/// Every kind, family by family.
pub fn all() -> Vec<KindInfo> {
    let mut all = Vec::new();
    all.extend(QUEUES.iter().map(|kind| info(Family::Queue, kind)));
    all.extend(LOSSES.iter().map(|kind| info(Family::Loss, kind)));
    all.extend(JITTERS.iter().map(|kind| info(Family::Jitter, kind)));
    all.extend(TOPOLOGIES.iter().map(topology));
    all
}

/// The kind of this name.
pub fn find(name: &str) -> Option<KindInfo> {
    all().into_iter().find(|kind| kind.name == name)
}

fn info<S>(family: Family, kind: &Kind<S>) -> KindInfo {
    let default = (kind.new)();
    let parameter = |parameter: &Parameter<S>| ParameterInfo {
        name: parameter.name,
        about: parameter.about,
        unit: parameter.unit,
        default: (!parameter.required).then(|| (parameter.get)(&default).to_string()),
        takes: parameter.takes.to_string(),
        source: parameter.source,
    };
    KindInfo {
        family,
        name: kind.name,
        title: kind.title,
        about: kind.about,
        source: kind.source,
        form: kind.form(),
        parameters: kind.parameters.iter().map(parameter).collect(),
    }
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
        family: Family::Topology,
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

`cwnd networks --markdown` prints this page from the tables that the program reads by; a test holds the two together.

A link has a queue, a transmitter and a line. Which queue it has, what the line loses and how its delay jitters is written
in one line, with parameters behind the name as for algorithms: `queue = \"red:min=20,max=60,ecn=on\"` in a study,
`--queue red:min=20,max=60,ecn=on` on the command line. A switch is on when it is named alone: `codel:ecn`.

";

/// `docs/networks.md`: every kind with its parameters, and what else may be said of a link.
pub fn markdown() -> String {
    let mut page = String::from(HEAD);
    let all = all();
    page += "| name | what | title |\n|---|---|---|\n";
    for kind in &all {
        page += &format!(
            "| [`{0}`](#{0}) | {1} | {2} |\n",
            kind.name,
            kind.family.title().to_lowercase(),
            kind.title
        );
    }
    for family in FAMILIES {
        let settings: Vec<String> = family.settings().iter().map(|key| format!("`{key}`")).collect();
        page += &format!("\n## {}\n\nSaid by {}.\n", family.title(), settings.join(", "));
        for kind in all.iter().filter(|kind| kind.family == family) {
            page += &section(kind);
        }
    }
    page + &of_links()
}

fn section(kind: &KindInfo) -> String {
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
    let what = if kind.family == Family::Topology { "setting" } else { "parameter" };
    text += &format!("\n| {what} | default | values | what it is |{}\n", column("source"));
    text += &format!("|---|---|---|---|{}\n", if sources { "---|" } else { "" });
    for parameter in &kind.parameters {
        let unit = if parameter.unit.is_empty() { String::new() } else { format!(" {}", parameter.unit) };
        let default =
            parameter.default.as_ref().map_or("must be said".to_owned(), |text| text.clone() + &unit);
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
