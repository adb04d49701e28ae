//! `[network]`: a network drawn link by link.

use super::CheckName;
use super::assignment::{Assignment, assignments, conflicts};
use super::axes::Drawn;
use super::diagnostic::{Sink, Span};
use super::inputs::Inputs;
use super::keys::{LINK, NETWORK};
use super::reader::{At, Fields, did_you_mean};
use cwnd_experiment::{
    ExperimentSpec, Graph, GraphLink, LineDelay, LineOptions, Place, RateChange, StepChoice,
};
use cwnd_scenario::Time;
use std::sync::Arc;

/// A network, and where the file says what of it.
pub(super) struct DrawnNetwork {
    pub graph: Arc<Graph>,
    /// Of `[network]` itself.
    span: Span,
    /// For each link its name's place, and that of every setting.
    links: Vec<(Span, Vec<(&'static str, Span)>)>,
    paths: Vec<Span>,
    /// Of the bottleneck's name, or of `[network]`.
    bottleneck: Span,
}

impl DrawnNetwork {
    /// The link and the key of a problem's place, if it is a link's.
    pub fn name(&self, place: &str) -> Option<(&str, String)> {
        let (index, key) = place.strip_prefix("network.links[")?.split_once("].")?;
        let link = self.graph.links.get(index.parse::<usize>().ok()?)?;
        Some((&link.name, key.replace('_', "-")))
    }

    /// Where the file says what a problem of this place speaks of, if the drawing does.
    pub fn cause(&self, place: &str) -> Option<Span> {
        let rest = place.strip_prefix("network.")?;
        if rest == "bottleneck" {
            return Some(self.bottleneck.clone());
        }
        let indexed = |name: &str| {
            let (index, key) = rest.strip_prefix(name)?.strip_prefix('[')?.split_once(']')?;
            Some((index.parse::<usize>().ok()?, key.trim_start_matches('.').replace('_', "-")))
        };
        if let Some((index, _)) = indexed("paths") {
            return self.paths.get(index).cloned();
        }
        let Some((index, key)) = indexed("links") else { return Some(self.span.clone()) };
        let (_, settings) = self.links.get(index)?;
        settings.iter().find(|(known, _)| *known == key).map(|(_, span)| span.clone())
    }

    /// Reports settings of cells that no link takes: the bottleneck's own keys come before them, and every other link has keys of
    /// its own instead of those of access links.
    pub fn shadowed(&self, axes: &[Drawn], base: &[Assignment], sink: &Sink<'_>) {
        for set in base {
            let _is_reported = self.check_bottleneck(set, sink) || self.check_access(set, sink);
        }
        for axis in axes {
            let mut reported: Vec<&str> = Vec::new();
            for set in axis.sets.iter().flatten() {
                let key = set.setting.key;
                if !reported.contains(&key)
                    && (self.check_bottleneck(set, sink)
                        || self.check_rate(set, sink)
                        || self.check_access(set, sink))
                {
                    reported.push(key);
                }
            }
        }
    }

    /// Reports a setting that the bottleneck's table has already. Returns whether it does.
    fn check_bottleneck(&self, set: &Assignment, sink: &Sink<'_>) -> bool {
        let key = set.setting.key;
        let same: &[&str] = match key {
            "per" | "loss" => &["per", "loss"],
            "rate" => &["rate", "rate-trace"],
            _ => &[key],
        };
        let index = self.graph.bottleneck;
        let own = self.links[index].1.iter().find(|(known, _)| same.contains(known));
        let Some((own, _)) = own else { return false };
        // Links without a rate or a buffer of their own have what follows from the bottleneck's in `[scenario]`.
        let all_have_own =
            || self.links.iter().all(|(_, settings)| settings.iter().any(|(known, _)| same.contains(known)));
        if matches!(key, "rate" | "buffer") && !all_have_own() {
            return false;
        }
        let name = &self.graph.links[index].name;
        let message =
            format!("`{key}` has no effect: the link `{name}`, which is the bottleneck, has its own `{own}`");
        let help = format!("say it once: here, or as `{own}` of the link");
        sink.error_with(&set.span, message, help);
        true
    }

    /// Reports a rate of an axis that the bottleneck never has. Returns whether it does. In `[scenario]` this rate has a use: a buffer
    /// in BDP and default access rates follow it.
    fn check_rate(&self, set: &Assignment, sink: &Sink<'_>) -> bool {
        let bottleneck = &self.graph.links[self.graph.bottleneck];
        let first = bottleneck.forward.schedule.as_ref().and_then(|schedule| schedule.steps.first());
        let replaces =
            |step: &StepChoice| step.at == Time::ZERO && matches!(step.rate, Some(RateChange::To(_)));
        let is_never = set.setting.key == "rate" && first.is_some_and(replaces);
        if is_never {
            let message = format!(
                "`rate` is never the rate of the link `{}`, which is the bottleneck: its `schedule` sets another at 0 s",
                bottleneck.name
            );
            sink.error_with(&set.span, message, "leave the first step out");
        }
        is_never
    }

    /// Reports a setting of access links that no link takes. Returns whether it does.
    fn check_access(&self, set: &Assignment, sink: &Sink<'_>) -> bool {
        let (key, links) = (set.setting.key, &self.graph.links);
        let takes = |link: &GraphLink| match key {
            "access-rate" => link.rate.is_none() && link.forward.trace.is_none(),
            "access-delay" => link.delay.is_none(),
            "access-buffer" => link.buffer.is_none(),
            "access-queue" => link.forward.queue.is_none(),
            _ => true,
        };
        let is_access = |(index, _): &(usize, &GraphLink)| *index != self.graph.bottleneck;
        if !key.starts_with("access-")
            || links.iter().enumerate().filter(is_access).any(|(_, link)| takes(link))
        {
            return false;
        }
        let own = key.trim_start_matches("access-");
        let message = match links.len() {
            1 => format!("`{key}` has no effect: the only link, `{}`, is the bottleneck", links[0].name),
            _ => format!("`{key}` has no effect: every link but the bottleneck has its own `{own}`"),
        };
        let help = format!("set `{own}`, which is the bottleneck's, or draw a link without `{own}`");
        sink.error_with(&set.span, message, help);
        true
    }
}

/// The network, if one is drawn and nothing is wrong with it.
pub(super) fn network(file: &Fields<'_>, check: CheckName<'_>, inputs: &Inputs<'_>) -> Option<DrawnNetwork> {
    let sink = file.sink;
    let before = sink.count();
    let fields = file.table("network", &NETWORK)?;
    let nodes = fields.texts("nodes").unwrap_or_default();
    for (index, node) in nodes.iter().enumerate() {
        if nodes[..index].iter().any(|earlier| earlier.value == node.value) {
            sink.error(&node.span, format!("there is a node `{}` already", node.value));
        } else if node.value.contains("->") || node.value.is_empty() {
            sink.error(&node.span, "a node's name says something, and has no `->` in it");
        }
    }
    let nodes: Vec<String> = nodes.into_iter().map(|node| node.value).collect();
    let mut links = Vec::new();
    let mut spans = Vec::new();
    for table in fields.tables("links", &LINK) {
        if let Some((link, span)) = link(&table, &nodes, check, inputs) {
            links.push(link);
            spans.push(span);
        }
    }
    if fields.get("links").is_some() && links.is_empty() && sink.count() == before {
        sink.error(&fields.span_of("links"), "there are no links");
    }
    distinct(&links, &spans, &fields);
    let paths: Vec<(Vec<usize>, Span)> =
        fields.texts("paths").iter().flatten().filter_map(|path| self::path(path, &nodes, &fields)).collect();
    if fields.get("paths").is_some() && paths.is_empty() && sink.count() == before {
        sink.error(&fields.span_of("paths"), "there are no paths: write `paths = [\"a -> b\"]`");
    }
    if sink.count() > before {
        return None;
    }
    let bottleneck = bottleneck(&fields, &links)?;
    let (paths, path_spans) = paths.into_iter().unzip();
    Some(DrawnNetwork {
        graph: Arc::new(Graph { nodes, links, bottleneck, paths }),
        bottleneck: fields.span_of("bottleneck"),
        span: fields.span,
        links: spans,
        paths: path_spans,
    })
}

type LinkSpans = (Span, Vec<(&'static str, Span)>);

fn link(
    fields: &Fields<'_>,
    nodes: &[String],
    check: CheckName<'_>,
    inputs: &Inputs<'_>,
) -> Option<(GraphLink, LinkSpans)> {
    let sink = fields.sink;
    let before = sink.count();
    let sets = assignments(fields, check);
    conflicts(&sets.iter().collect::<Vec<_>>(), sink);
    let (from, to) = (fields.text("from"), fields.text("to"));
    let (from_node, to_node) = (node(from.as_ref(), nodes, fields), node(to.as_ref(), nodes, fields));
    if let (Some(from), Some(to)) = (from_node, to_node)
        && from == to
    {
        sink.error(&fields.span_of("to"), format!("a link joins two nodes: `{}` is both", nodes[to]));
    }
    let name = match fields.get("name") {
        Some(_) => fields.text("name").map(|name| name.value),
        None => from.zip(to).map(|(from, to)| format!("{}-{}", from.value, to.value)),
    };
    let both_ways = match fields.get("both-ways") {
        Some(_) => fields.switch("both-ways"),
        None => Some(true),
    };
    let mut experiment = ExperimentSpec::with_defaults(inputs.defaults);
    sets.iter().for_each(|set| set.apply(&mut experiment));
    if let Err(problem) = experiment.read_traces(&mut |path| inputs.trace(path)) {
        let key = problem.place.replace('_', "-");
        sink.error(&fields.span_of(&key), format!("`{key}`: {}", problem.message));
    }
    if sink.count() > before {
        return None;
    }
    let said = |key: &str| sets.iter().any(|set| set.setting.key == key);
    let setup = experiment;
    let delay = match setup.delay {
        LineDelay::OneWay(delay) => Some(delay).filter(|_| said("delay")),
        LineDelay::BaseRtt(_) => None,
    };
    let per = Some(setup.per.value()).filter(|_| said("per"));
    let loss = setup.forward.loss.clone().or(per.map(cwnd_scenario::Loss::Bernoulli));
    let link = GraphLink {
        name: name?,
        from: from_node?,
        to: to_node?,
        one_way: !both_ways?,
        rate: said("rate").then_some(setup.rate),
        delay,
        buffer: said("buffer").then_some(setup.buffer),
        ecn_threshold: setup.ecn_threshold,
        forward: LineOptions { rate: None, loss, ..setup.forward },
        reverse: setup.reverse,
    };
    let of_settings = sets.iter().map(|set: &Assignment| (set.setting.key, set.span.clone())).collect();
    Some((link, (fields.span_of("name"), of_settings)))
}

fn node(name: Option<&At<String>>, nodes: &[String], fields: &Fields<'_>) -> Option<usize> {
    let name = name?;
    let found = nodes.iter().position(|node| *node == name.value);
    // Without nodes all would be unknown; that they are missing has been said.
    if found.is_none() && !nodes.is_empty() {
        let help = did_you_mean(&name.value, nodes.iter().map(String::as_str));
        fields.sink.error_with(&name.span, format!("there is no node `{}`", name.value), help);
    }
    found
}

/// Links have names of their own, those back among them.
fn distinct(links: &[GraphLink], spans: &[LinkSpans], fields: &Fields<'_>) {
    let mut taken: Vec<String> = Vec::new();
    for (link, (span, _)) in links.iter().zip(spans) {
        let back = (!link.one_way).then(|| format!("{}-reverse", link.name));
        for name in std::iter::once(link.name.clone()).chain(back) {
            if taken.contains(&name) {
                let help = "give one of them another `name`";
                fields.sink.error_with(span, format!("there is a link `{name}` already"), help);
            }
            taken.push(name);
        }
    }
}

fn path(text: &At<String>, nodes: &[String], fields: &Fields<'_>) -> Option<(Vec<usize>, Span)> {
    let names = match Place::path(&text.value) {
        Ok(Place::Path(names)) => names,
        Ok(_) => return None,
        Err(error) => {
            fields.sink.error(&text.span, format!("`paths`: {}", error.message));
            return None;
        }
    };
    let places: Vec<Option<usize>> = names
        .into_iter()
        .map(|name| node(Some(&At { value: name, span: text.span.clone() }), nodes, fields))
        .collect();
    Some((places.into_iter().collect::<Option<_>>()?, text.span.clone()))
}

fn bottleneck(fields: &Fields<'_>, links: &[GraphLink]) -> Option<usize> {
    let names = || links.iter().map(|link| link.name.as_str());
    if fields.get("bottleneck").is_some() {
        let name = fields.text("bottleneck")?;
        let found = names().position(|known| known == name.value);
        if found.is_none() {
            let help = did_you_mean(&name.value, names());
            fields.sink.error_with(&name.span, format!("there is no link `{}`", name.value), help);
        }
        return found;
    }
    let found = names().position(|known| known == "bottleneck").or((links.len() == 1).then_some(0));
    if found.is_none() {
        let example = links.first().map_or("trunk", |link| &link.name);
        let help = format!("say `bottleneck = \"{example}\"`, for example");
        fields.sink.error_with(&fields.span, "which link is the bottleneck?", help);
    }
    found
}
