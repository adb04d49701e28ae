//! The keys of a study file in addition to those of an experiment (which are
//! [`cwnd_experiment::settings`]): one table, from which the parser, the JSON Schema and the documents come.

use crate::engines::ENGINE;
use cwnd_experiment::settings::{self, OF_LINES, SETTINGS, Setting};

/// A table of a study file.
pub struct Section {
    /// How it is written: `[run]`, `[[axes]]`.
    pub header: &'static str,
    /// What it says.
    pub about: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
    /// Which settings of an experiment it takes too.
    pub settings: Settings,
}

/// Which settings of an experiment a table takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Settings {
    /// None.
    None,
    /// All.
    All,
    /// Those that speak of a line.
    OfLines,
    /// All, and which engine answers.
    OfCells,
}

impl Settings {
    /// Whether this one is among them.
    pub fn has(self, key: &str) -> bool {
        self.keys().any(|known| known == key)
    }

    /// Their keys.
    pub fn keys(self) -> impl Iterator<Item = &'static str> {
        all().map(|setting| setting.key).filter(move |key| match self {
            Settings::None => false,
            Settings::All => *key != ENGINE.key,
            Settings::OfLines => OF_LINES.contains(key),
            Settings::OfCells => true,
        })
    }
}

/// All settings of cells: those of experiments, and the engine.
pub fn all() -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().chain([&ENGINE])
}

/// The setting of this key.
pub fn find(key: &str) -> Option<&'static Setting> {
    settings::find(key).or_else(|| (key == ENGINE.key).then_some(&ENGINE))
}

/// A key of a table.
pub struct Key {
    /// The word.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Whether it must be there.
    pub required: bool,
}

/// What a key takes.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A text.
    Text,
    /// A text or a list of texts.
    Texts,
    /// A label of an axis.
    Label,
    /// A whole number from 0 on (from 1 on, if `true`).
    Count {
        /// Whether 0 is none.
        positive: bool,
    },
    /// On or off.
    Switch,
    /// A time, such as `"100 ms"`.
    Time,
    /// One of these words.
    Word(&'static [&'static str]),
    /// What answers cells.
    Engine,
    /// Some of these words, or `state.` and the name of a value of an algorithm's state.
    Shown(&'static [&'static str]),
    /// A number.
    Number,
    /// A number, or a text with a unit.
    Quantity,
    /// The name of a metric of a run.
    RunMetric,
    /// The name of a metric, of a run or derived.
    Metric,
    /// Names of metrics.
    Metrics,
    /// The name of an axis.
    Axis,
    /// Names of axes.
    Axes,
    /// For each axis named a label or a list of them.
    Selection,
    /// The key of a setting.
    SettingKey,
    /// Keys of settings.
    SettingKeys,
    /// A list of values of a setting.
    Values,
    /// A list of tables of settings, each perhaps with a label.
    Points,
    /// For each setting named a list of values, all equally long.
    Zip,
    /// A list of tables: labels of axes, and numbers by metric.
    Printed,
    /// Numbers by metric.
    Factors,
    /// A range: `">= 0.95"`, `"<= 3"`, `"0.4 to 0.7"`.
    Range,
    /// The table of this name, once (`[run]`).
    Table(&'static Section),
    /// Tables of this name, any number of them (`[[axes]]`).
    Tables(&'static Section),
}

const fn key(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, about, kind, required: false }
}

const fn required(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, about, kind, required: true }
}

/// The whole file.
pub static FILE: Section = Section {
    header: "the file",
    about: "A study: a question, the scenarios that answer it, and how the answer is shown.",
    settings: Settings::None,
    keys: &[
        required("title", Kind::Text, "One line."),
        key(
            "source",
            Kind::Text,
            "Where the question comes from, if from a publication: `Agile-SD, figure 11`.",
        ),
        required("question", Kind::Text, "What it is after, in a sentence or some paragraphs."),
        key(
            "notes",
            Kind::Texts,
            "Readings, deviations and hints that a reader of the results must know, a paragraph each.",
        ),
        key("scenario", Kind::Table(&SCENARIO), "What all cells have in common."),
        key("network", Kind::Table(&NETWORK), "A network drawn link by link, instead of a `topology`."),
        key("run", Kind::Table(&RUN), "How often each cell is run, and what is measured."),
        key("quick", Kind::Table(&QUICK), "What `--scale quick` runs of it."),
        key("trace", Kind::Table(&TRACE), "What is recorded over time."),
        key(
            "axes",
            Kind::Tables(&AXIS),
            "What differs between cells. All axes together make a grid, in which the last varies fastest.",
        ),
        key("skip", Kind::Tables(&SKIP), "Combinations that are left out."),
        key("derived", Kind::Tables(&DERIVED), "Metrics between cells, to be named like any other."),
        key("figures", Kind::Tables(&FIGURE), "Figures, in the report's order."),
        key("tables", Kind::Tables(&TABLE), "Tables, in the report's order."),
        key("claims", Kind::Tables(&CLAIM), "What is claimed, by a publication or by the study."),
    ],
};

/// `[scenario]`.
pub static SCENARIO: Section = Section {
    header: "[scenario]",
    about: "What all cells have in common, in the words of `cwnd compare`'s flags.",
    settings: Settings::All,
    keys: &[],
};

/// `[network]`.
pub static NETWORK: Section = Section {
    header: "[network]",
    about: "A network drawn link by link. What the bottleneck's link leaves out is as `[scenario]` and the axes say, so \
            that an axis of `buffer` sweeps it; what other links leave out is as the access links have it.",
    settings: Settings::None,
    keys: &[
        required("nodes", Kind::Texts, "Names of the nodes."),
        required("links", Kind::Tables(&LINK), "The links between them."),
        required(
            "paths",
            Kind::Texts,
            "Where flows run, from node to node by the shortest way between each two: `a -> b`. Flow i takes path i, and \
             after the last the first is next; a flow with its own `path` takes that path. ACKs return on the shortest path.",
        ),
        key(
            "bottleneck",
            Kind::Text,
            "The link of which metrics speak; without it the only link, or the one called `bottleneck`.",
        ),
    ],
};

/// `[[network.links]]`.
pub static LINK: Section = Section {
    header: "[[network.links]]",
    about: "A link between two nodes, with what settings may say of the bottleneck.",
    settings: Settings::OfLines,
    keys: &[
        key("name", Kind::Text, "Unique name; both ends with a `-` between them."),
        required("from", Kind::Text, "The node at one end."),
        required("to", Kind::Text, "The node at the other."),
        key(
            "both-ways",
            Kind::Switch,
            "Whether there is a link back, called `NAME-reverse`, with the same rate, delay, buffer and queue; true.",
        ),
    ],
};

/// `[run]`.
pub static RUN: Section = Section {
    header: "[run]",
    about: "How often each cell is run, and what is measured.",
    settings: Settings::None,
    keys: &[
        key(
            "repeats",
            Kind::Count { positive: true },
            "How many times each cell is run, with different seeds; 1.",
        ),
        key(
            "seed",
            Kind::Count { positive: false },
            "Seed of the first repeat, and one more for each further one; 1.",
        ),
        key(
            "once",
            Kind::Selection,
            "Cells in which nothing is random: each is run once, with the first seed, and that run is each of its repeats; none.",
        ),
        key("engine", Kind::Engine, "What answers all cells; an axis can set it too; `sim`."),
        key(
            "metrics",
            Kind::Metrics,
            "Metrics that tables and exports show first; `cwnd metrics` lists them.",
        ),
    ],
};

/// `[quick]`.
pub static QUICK: Section = Section {
    header: "[quick]",
    about: "What `--scale quick` runs of it: some repeats, and of some axes some points. All else stays as it is.",
    settings: Settings::None,
    keys: &[
        key(
            "repeats",
            Kind::Count { positive: true },
            "How many times each cell is run; as often as [run] says.",
        ),
        key("axes", Kind::Selection, "For each axis named the labels that are kept; of the others all are."),
    ],
};

/// `[trace]`.
pub static TRACE: Section = Section {
    header: "[trace]",
    about: "Which runs are recorded over time.",
    settings: Settings::None,
    keys: &[
        key("sample", Kind::Time, "Time between samples; 100 ms."),
        key("repeats", Kind::Count { positive: true }, "Of how many repeats, from the first; 1."),
        key("where", Kind::Selection, "Which cells; all."),
    ],
};

/// `[[axes]]`.
pub static AXIS: Section = Section {
    header: "[[axes]]",
    about: "One thing that differs between cells: one key, several that have the same value, several that go in step, or a \
            list of points.",
    settings: Settings::None,
    keys: &[
        required("name", Kind::Text, "By which figures, tables and selections call it."),
        key("title", Kind::Text, "With which it is drawn; the key's own title."),
        key("unit", Kind::Text, "Unit of its values; the key's own unit."),
        key("scale", Kind::Word(&["linear", "log"]), "How a quantity is laid out; `linear`."),
        key("key", Kind::SettingKey, "The key that it sets."),
        key("keys", Kind::SettingKeys, "Keys that all get the same value."),
        key("values", Kind::Values, "The values of `key` or `keys`, in order."),
        key("labels", Kind::Texts, "What the values are called; as they are written."),
        key("points", Kind::Points, "A list of points, each with a `label` and whatever keys it sets."),
        key("zip", Kind::Zip, "Keys that go in step, each with a list of values."),
    ],
};

/// `[[skip]]`.
pub static SKIP: Section = Section {
    header: "[[skip]]",
    about: "Combinations that are left out: for each axis named a label or a list of them.",
    settings: Settings::None,
    keys: &[],
};

/// `[[derived]]`.
pub static DERIVED: Section = Section {
    header: "[[derived]]",
    about: "A metric between cells that differ in one axis alone, taken seed by seed; figures, tables and claims name it \
            like any other.",
    settings: Settings::None,
    keys: &[
        required("name", Kind::Text, "By which it is called: letters, digits and `_`."),
        required("title", Kind::Text, "With which it is shown."),
        required("metric", Kind::RunMetric, "The metric of the two runs."),
        required("axis", Kind::Axis, "Axis in which the two differ."),
        required("reference", Kind::Label, "Label of the cell that the others are held against."),
        required(
            "formula",
            Kind::Word(FORMULAS),
            "`loss` (reference - this) / reference, `gain` (this - reference) / reference, `ratio` this / reference, or \
             `difference` this - reference.",
        ),
    ],
};

/// How a metric can be derived.
pub static FORMULAS: &[&str] = &["loss", "gain", "ratio", "difference"];

/// `[[figures]]`.
pub static FIGURE: Section = Section {
    header: "[[figures]]",
    about: "A figure of the report.",
    settings: Settings::None,
    keys: &[
        required("name", Kind::Text, "File name without extension: letters, digits, `-` and `_`."),
        required("title", Kind::Text, "One line."),
        key("caption", Kind::Text, "What a reader must know."),
        required("kind", Kind::Word(FIGURES), "What is drawn."),
        key(
            "x",
            Kind::Text,
            "Axis drawn to the right; with `cdf` and `scatter` the metric (not with `trace` and `model`).",
        ),
        key("y", Kind::Text, "Metric drawn upwards; with `heat-map` the axis drawn upwards."),
        key("series", Kind::Axis, "Axis of which each point is a line, a bar, a box or an ellipse."),
        key(
            "per",
            Kind::Word(PER),
            "What has one value each in a `cdf`, `box` or `scatter`: a `run` (the distribution is over repeats), a `flow` (of all \
             repeats, short flows included), or a `sample` (of the recorded run; not with `scatter`); `run`.",
        ),
        key("scale", Kind::Word(&["linear", "log"]), "How the quantity of a `cdf` is laid out; `linear`."),
        key("value", Kind::Metric, "Metric of a `heat-map`."),
        key(
            "show",
            Kind::Shown(SHOWN),
            "What a `trace` shows, each in a panel of its own. `state.NAME` is a value of the algorithm's own state, such as \
             `state.lambda`; `cwnd algorithms ALGORITHM` lists them.",
        ),
        key(
            "table",
            Kind::Text,
            "Table of a `deviation`: each of ours divided by what is printed, a panel for each metric.",
        ),
        key(
            "printed",
            Kind::Text,
            "Table whose printed numbers are drawn over the lines or bars: those of the metric `y` that are of the same cells \
             as a point of the figure.",
        ),
        key(
            "lines",
            Kind::Tables(&LINE),
            "Values that are stated, as labelled lines (of `line`, `bars` and `trace`).",
        ),
        key("model", Kind::Text, "Name of the `model` whose curves are drawn; no run has a part in it."),
        key(
            "panels",
            Kind::Axes,
            "Axes whose points each have a panel of their own: rows, then columns. With `trace` also `flow`: a panel for each flow.",
        ),
        key("where", Kind::Selection, "Which cells are drawn; all."),
    ],
};

/// `lines` of `[[figures]]`.
pub static LINE: Section = Section {
    header: "`lines`",
    about: "A value that is stated, as a thin line with a label across a figure's panels: at an `x` or at a `y`.",
    settings: Settings::None,
    keys: &[
        key(
            "x",
            Kind::Quantity,
            "Place on the horizontal axis: a time in a `trace` (`\"17 s\"`), else a label of the axis or a number in its unit.",
        ),
        key(
            "y",
            Kind::Quantity,
            "Value of the metric: a number in its own unit (bit/s, s, packets), or a text with a unit (`\"900 Mbit/s\"`).",
        ),
        required("label", Kind::Text, "What is written next to it: `paper: 1,500 packets`."),
        key("series", Kind::Label, "Label of the series that it speaks of, whose colour it has; of none."),
        key("of", Kind::Text, "Which of `show` of a `trace` the `y` is of; the first."),
        key("where", Kind::Selection, "Which panels it is in, by labels of their axes; all."),
    ],
};

/// What a figure can be.
pub static FIGURES: &[&str] =
    &["line", "bars", "cdf", "scatter", "box", "heat-map", "deviation", "trace", "model"];

/// What can have one value each in a figure of a distribution.
pub static PER: &[&str] = &["run", "flow", "sample"];

/// What a trace can show.
pub static SHOWN: &[&str] =
    &["cwnd", "ssthresh", "rtt", "in_flight", "throughput", "queue", "mean_cwnd", "jain"];

/// `[[tables]]`.
pub static TABLE: Section = Section {
    header: "[[tables]]",
    about: "A table of the report: means with 95 % intervals.",
    settings: Settings::None,
    keys: &[
        required("name", Kind::Text, "Unique: letters, digits, `-` and `_`."),
        required("title", Kind::Text, "One line."),
        required("rows", Kind::Axes, "Axes that make rows."),
        key("columns", Kind::Axis, "Axis whose points make columns."),
        required("metrics", Kind::Metrics, "Metrics."),
        key("where", Kind::Selection, "The cells that it covers; all."),
        key(
            "deviations",
            Kind::Switch,
            "Whether the standard deviation (SD) over the repeats and the standard error (SE) stand below each mean; false.",
        ),
        key(
            "printed",
            Kind::Printed,
            "What the publication prints: for each place the labels of rows and columns, and metrics by name.",
        ),
        key(
            "scale",
            Kind::Factors,
            "For metrics that are printed in another unit: what ours are multiplied by (`{ throughput_bps = 1e-6 }` \
             for Mbit/s).",
        ),
    ],
};

/// How a claim can be measured.
pub static MEASURES: &[&str] = &[
    "mean",
    "greatest",
    "least",
    "gain",
    "greatest-gain",
    "greatest-absolute-gain",
    "difference",
    "greatest-difference",
    "greatest-absolute-difference",
    "wins",
];

/// `[[claims]]`.
pub static CLAIM: Section = Section {
    header: "[[claims]]",
    about: "Something that is claimed, and checked.",
    settings: Settings::None,
    keys: &[
        required("text", Kind::Text, "What is claimed, in words."),
        key("source", Kind::Text, "Where: `section 5.2`."),
        key("stated", Kind::Text, "The publication's figure, as it prints it."),
        key(
            "because",
            Kind::Text,
            "Why it is not reproduced, where runs show the mechanism. Measured numbers are cited: `{utilisation; variant=CUBIC}`.",
        ),
        key(
            "unexplained",
            Kind::Text,
            "Or what was tried without finding the mechanism, with the same citations.",
        ),
        key("not-testable", Kind::Text, "Why it cannot be checked, instead of all that follows."),
        key(
            "measure",
            Kind::Word(MEASURES),
            "`mean`, `greatest` or `least` of a metric over the cells; `gain` (a - b) / b, `difference` a - b or `wins` \
             (the share of pairs in which a is above b) of cells that differ in one axis. `greatest-` takes the greatest \
             pair, `greatest-absolute-` the one furthest from zero.",
        ),
        key("metric", Kind::Metric, "The metric."),
        key("axis", Kind::Axis, "Axis in which the cells of a pair differ."),
        key("of", Kind::Label, "Label of a."),
        key("over", Kind::Texts, "Labels of b."),
        key("where", Kind::Selection, "Which cells; all."),
        key("expect", Kind::Range, "A range that it must lie in: `>= 0.95`, `> 0.5`, `<= 3`, `0.4 to 0.7`."),
        key(
            "gain",
            Kind::Number,
            "Or the gain that is stated, of a `gain` or `difference`: 0.55 for 55 %. What that takes is in docs/claims.md.",
        ),
        key("printed", Kind::Number, "Or the number that is printed, of a `mean`, `greatest` or `least`."),
        key(
            "scale",
            Kind::Number,
            "What ours is multiplied by to be in the unit of `printed`: 1e-6 for Mbit/s; 1.",
        ),
    ],
};
