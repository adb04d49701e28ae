//! The claims of a page: numbered through it, grouped by the publication's figure, and joined with the figures of the page.

use super::claims::Told;
use super::items::{self, Item};
use cwnd_study::{Claim, ClaimKind, Figure, Study, Table};

/// All claims of a page.
pub struct Claims<'a> {
    /// Each, study by study.
    pub listed: Vec<Listed<'a>>,
    /// The same in groups, in the order of the publication's figures.
    pub groups: Vec<Group>,
}

/// A claim of a page.
pub struct Listed<'a> {
    /// Its place in the page.
    pub id: String,
    /// The claim with what came of it.
    pub told: Told<'a>,
    /// The publication's items that it names.
    pub items: Vec<Item>,
    /// The figures and tables of the page that show it: id and label.
    pub shown_in: Vec<(String, String)>,
}

/// Claims of one figure, table or section of a publication.
pub struct Group {
    /// Its place in the page.
    pub id: String,
    /// What they are of.
    pub title: String,
    /// Which: places in [`Claims::listed`].
    pub claims: Vec<usize>,
    /// The figures and tables of the page that show it: id and label.
    pub shown_in: Vec<(String, String)>,
}

/// Something on a page that shows what claims are of.
pub struct Shown<'a> {
    /// Its place in the page.
    pub id: String,
    /// What a link to it says.
    pub label: String,
    /// The study: its place among those of the page.
    pub study: usize,
    /// The publication's items that it shows.
    pub items: Vec<Item>,
    /// Where it names no item, the metrics of the claims that it shows.
    pub metrics: Vec<&'a str>,
}

/// Under which claims without a source stand.
const OWN: &str = "Our own models and readings";

impl<'a> Claims<'a> {
    /// The claims of some studies on a page that shows these figures and tables.
    pub fn new(told: impl Iterator<Item = Vec<Told<'a>>>, shown: &[Shown<'_>]) -> Claims<'a> {
        let each = told.enumerate().flat_map(|(study, told)| told.into_iter().map(move |told| (study, told)));
        let listed = |(i, (study, told)): (usize, (usize, Told<'a>))| {
            let items = items::named_in(told.claim.source.as_deref().unwrap_or_default());
            let shown_in = shown_in(study, told.claim, &items, shown);
            Listed { id: format!("claim-{}", i + 1), told, items, shown_in }
        };
        let listed: Vec<Listed<'a>> = each.enumerate().map(listed).collect();
        let groups = groups(&listed, shown);
        Claims { listed, groups }
    }

    /// The claims that something on the page shows.
    pub fn of(&self, id: &str) -> Vec<&Listed<'a>> {
        self.listed.iter().filter(|one| one.shown_in.iter().any(|(shown, _)| shown == id)).collect()
    }
}

/// What shows a claim: of its own study what is of one of its items, or else what is of it in another study, or else what is
/// of its metric.
fn shown_in(study: usize, claim: &Claim, items: &[Item], shown: &[Shown<'_>]) -> Vec<(String, String)> {
    let is_of_item = |one: &&Shown<'_>| one.items.iter().any(|item| item.is_shown() && items.contains(item));
    let metric = claim.kind().map(ClaimKind::metric);
    let is_of_metric = |one: &&Shown<'_>| {
        one.items.is_empty() && metric.is_some_and(|metric| one.metrics.iter().any(|m| is_metric(metric, m)))
    };
    let own = || shown.iter().filter(|one| one.study == study);
    let by_item: Vec<&Shown<'_>> = own().filter(is_of_item).collect();
    let elsewhere = || shown.iter().filter(is_of_item).collect();
    let found = if by_item.is_empty() { elsewhere() } else { by_item };
    let found: Vec<&Shown<'_>> = if found.is_empty() { own().filter(is_of_metric).collect() } else { found };
    found.into_iter().map(|one| (one.id.clone(), one.label.clone())).collect()
}

/// Whether a claim's metric is that of a figure, which of a figure over time is a part of its name: `cwnd` of `cwnd_max`.
fn is_metric(of_claim: &str, of_figure: &str) -> bool {
    let own = of_claim.rsplit('.').next().unwrap_or(of_claim);
    of_claim == of_figure || own.split('_').any(|word| word == of_figure)
}

/// Groups in the order of the page's figures, then others as they come; our own at the end.
fn groups(listed: &[Listed<'_>], shown: &[Shown<'_>]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (place, one) in listed.iter().enumerate() {
        let title = title(one);
        match groups.iter_mut().find(|group| group.title == title) {
            Some(group) => group.claims.push(place),
            None => {
                groups.push(Group { id: String::new(), title, claims: vec![place], shown_in: Vec::new() })
            }
        }
    }
    let order = |group: &Group| {
        let first = &listed[group.claims[0]];
        let shown_at = shown.iter().position(|one| one.items.iter().any(|item| item.title() == group.title));
        let is_shown = first.items.iter().any(Item::is_shown);
        (group.title == OWN, !is_shown, shown_at.unwrap_or(usize::MAX))
    };
    groups.sort_by_key(order);
    for (i, group) in groups.iter_mut().enumerate() {
        group.id = format!("claims-{}", i + 1);
        for place in &group.claims {
            for shown in &listed[*place].shown_in {
                if !group.shown_in.contains(shown) {
                    group.shown_in.push(shown.clone());
                }
            }
        }
    }
    groups
}

/// What a claim is of: the first figure or table that its source names, or else its first section, or else the source.
fn title(one: &Listed<'_>) -> String {
    let Some(source) = &one.told.claim.source else { return OWN.to_owned() };
    let item = one.items.iter().find(|item| item.is_shown()).or(one.items.first());
    item.map_or_else(|| crate::measure::capital(source), Item::title)
}

/// What a figure of a study shows. `id` and `label` are those that it has on the page.
pub fn of_figure<'a>(figure: &'a Figure, id: String, label: String, study: usize) -> Shown<'a> {
    let text = format!("{}; {}", figure.title, figure.caption.as_deref().unwrap_or_default());
    let mut metrics = figure.kind.metrics().0;
    metrics.extend(figure.kind.sampled().iter().map(String::as_str));
    Shown { id, label, study, items: shown_items(&text), metrics }
}

/// What a table of a study shows: the items that its title names.
pub fn of_table(table: &Table, id: String, label: String, study: usize) -> Shown<'_> {
    Shown { id, label, study, items: shown_items(&table.title), metrics: Vec::new() }
}

/// The figures and tables that a text names.
pub fn shown_items(text: &str) -> Vec<Item> {
    items::named_in(text).into_iter().filter(Item::is_shown).collect()
}

/// What the figures and tables of a study's page show.
pub fn of_study(study: &Study) -> Vec<Shown<'_>> {
    let figures = study.figures.iter().enumerate();
    let figures = figures
        .map(|(i, figure)| of_figure(figure, format!("figure-{}", i + 1), format!("Figure {}", i + 1), 0));
    let tables = study.tables.iter().enumerate();
    let tables =
        tables.map(|(i, table)| of_table(table, format!("table-{}", i + 1), format!("Table {}", i + 1), 0));
    figures.chain(tables).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_shown_by_its_figure() {
        assert!(is_metric("throughput_bps", "throughput_bps"));
        assert!(is_metric("time_to_cwnd_max_s", "cwnd") && is_metric("cwnd_mean", "cwnd"));
        assert!(is_metric("flow2.cwnd_max", "cwnd"));
        assert!(!is_metric("utilisation", "cwnd") && !is_metric("goodput_bps", "throughput_bps"));
    }
}
