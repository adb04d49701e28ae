//! A network in a line.

use super::{base_rtts, lasting, limit, title};
use cwnd_scenario::{Discipline, LinkSpec, Loss, Probability, Scenario, Schedule};

/// The flows of a scenario and the network that they cross.
pub fn about(scenario: &Scenario) -> String {
    let network = &scenario.network;
    let bottleneck = &network.links[network.bottleneck];
    let reverse = lasting(scenario).filter(|flow| flow.reverse).count();
    let forward = scenario.lasting_flows() - reverse;
    let mut text = match forward {
        0 => "short flows".to_owned(),
        1 => "1 flow".to_owned(),
        many => format!("{many} flows"),
    };
    if reverse > 0 {
        text += &format!(" and {reverse} reverse");
    }
    if forward > 0 && scenario.arrivals.is_some() {
        text += " and short ones";
    }
    let own = scenario.flows[0].route[0];
    text += &format!(" over {} of {}, base RTT {}; ", shape(scenario), bottleneck.rate, base_rtts(scenario));
    text += &format!("buffer {}", limit(bottleneck.queue.limit));
    if own != network.bottleneck {
        let access = &network.links[own];
        let rate =
            if access.rate == bottleneck.rate { String::new() } else { format!(" at {}", access.rate) };
        text += &format!(", {} {}{rate}", first_link(access), limit(access.queue.limit));
    }
    text + &queue(bottleneck) + &conditions(scenario)
}

/// What a link is, with its access links and all that happens on it.
pub fn link(scenario: &Scenario) -> String {
    let bottleneck = &scenario.network.links[scenario.network.bottleneck];
    title(scenario) + &queue(bottleneck) + &access(scenario) + &conditions(scenario)
}

/// How a queue marks and which discipline it has, if that is not plain.
fn queue(link: &LinkSpec) -> String {
    let mut text = String::new();
    if let Some(threshold) = link.queue.ecn_threshold {
        text += &format!(", marks over {threshold}");
    }
    if link.queue.discipline != Discipline::DropTail {
        text += &format!(", {}", link.queue.discipline);
    }
    text
}

/// What the links before the bottleneck are, after a semicolon, if there are any.
fn access(scenario: &Scenario) -> String {
    let own = scenario.flows[0].route[0];
    if own == scenario.network.bottleneck {
        return String::new();
    }
    let link = &scenario.network.links[own];
    format!(
        "; {} links {}, {}, buffer {}{}",
        first_link(link),
        link.rate,
        link.delay,
        limit(link.queue.limit),
        queue(link)
    )
}

/// What else happens on the bottleneck and on the link back, each after a semicolon.
pub fn conditions(scenario: &Scenario) -> String {
    let network = &scenario.network;
    let bottleneck = &network.links[network.bottleneck];
    let back = format!("{}-reverse", bottleneck.name);
    let reverse = network.links.iter().find(|link| link.name == back);
    let of = |(link, name): (Option<&LinkSpec>, &'static str)| {
        let traits = link.map(|link| traits(link, bottleneck)).unwrap_or_default();
        traits.into_iter().map(move |trait_| format!("; {name}{trait_}"))
    };
    [(Some(bottleneck), ""), (reverse, "reverse ")].into_iter().flat_map(of).collect()
}

/// The shape, by the names that its builder gave.
fn shape(scenario: &Scenario) -> String {
    let network = &scenario.network;
    let has = |name: &str| network.nodes.iter().any(|node| node == name);
    let two_sides = network.nodes.starts_with(&["left".to_owned(), "right".to_owned()])
        && network.links[network.bottleneck].name == "bottleneck";
    let hops =
        (1..).take_while(|hop| network.links.iter().any(|link| link.name == format!("hop-{hop}"))).count();
    match () {
        () if two_sides && scenario.flows[0].route[0] == network.bottleneck => "a path".to_owned(),
        () if two_sides => "a dumbbell".to_owned(),
        () if has("router-0") && hops > 0 => format!("a parking lot with {hops} hops"),
        () if has("satellite-client") => "a satellite network with a bottleneck".to_owned(),
        () if has("switch") => "an incast".to_owned(),
        () => format!("a graph with `{}`", network.links[network.bottleneck].name),
    }
}

fn first_link(link: &LinkSpec) -> &str {
    if link.name.starts_with("access-") { "access" } else { &link.name }
}

/// What else happens on a link; of the link back what it has otherwise than the one forth.
fn traits(link: &LinkSpec, forth: &LinkSpec) -> Vec<String> {
    let mut traits = Vec::new();
    if link.rate != forth.rate {
        traits.push(link.rate.to_string());
    }
    if link.queue.limit != forth.queue.limit {
        traits.push(format!("buffer {}", limit(link.queue.limit)));
    }
    match &link.loss {
        Loss::None => {}
        Loss::Bernoulli(per) => traits.push(format!("packet error rate {}", Probability::nearest(*per))),
        Loss::GilbertElliott(chain) => {
            traits.push(format!("losses in bursts, {:.2e} in the mean", chain.mean()));
        }
        Loss::Nth(numbers) => traits.push(format!("{} given packets lost", numbers.len())),
    }
    match &link.schedule {
        Some(Schedule::Trace(trace)) => traits.push(format!("rate by `{}`", trace.name)),
        Some(Schedule::Steps(steps)) => traits.push(format!("{} steps of rate or delay", steps.steps.len())),
        None => {}
    }
    let effects = &link.effects;
    traits.extend(effects.policer.map(|policer| format!("policed to {policer}")));
    traits.extend(effects.jitter.map(|jitter| format!("jitter {jitter}")));
    traits.extend(effects.slot.map(|slot| format!("slots of {slot}")));
    traits.extend(effects.ack_thinning.map(|acks| format!("ACKs thinned to 1 of {acks}")));
    traits.extend(effects.ecn_remark.map(|remark| format!("ECN field: {}", remark.word())));
    if effects.duplication > 0.0 {
        traits.push(format!("duplicates {}", Probability::nearest(effects.duplication)));
    }
    traits
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_experiment::{ExperimentSpec, settings};

    #[track_caller]
    fn said(settings: &[(&str, &str)]) -> String {
        let mut experiment = ExperimentSpec { algorithm: "cubic".parse().ok(), ..ExperimentSpec::default() };
        for (key, value) in settings {
            let setting = settings::find(key).unwrap_or_else(|| panic!("{key}"));
            (setting.set)(&mut experiment, value).unwrap_or_else(|error| panic!("{key}: {error}"));
        }
        about(&experiment.resolve(1).unwrap_or_else(|problems| panic!("{problems:?}")))
    }

    #[test]
    fn every_topology_has_a_name() {
        let of = |topology: &str| said(&[("topology", topology), ("buffer", "9"), ("delay", "3 ms")]);
        assert_eq!(of("path"), "1 flow over a path of 1 Gbit/s, base RTT 6 ms; buffer 9 packets");
        let dumbbell = "1 flow over a dumbbell of 1 Gbit/s, base RTT 10 ms; buffer 9 packets, access 1,000 packets at 10 Gbit/s";
        assert_eq!(of("dumbbell"), dumbbell);
        assert!(
            of("parking-lot")
                .starts_with("1 flow over a parking lot with 3 hops of 1 Gbit/s, base RTT 22 ms")
        );
        assert!(
            of("satellite").contains("a satellite network with a bottleneck of 1 Gbit/s, base RTT 508 ms")
        );
        assert!(of("satellite").contains(", satellite 419 packets at 10 Mbit/s"), "{}", of("satellite"));
        assert!(of("incast").starts_with("1 flow over an incast of 1 Gbit/s, base RTT 8 ms"));
    }

    #[test]
    fn a_link_is_told_with_its_access_links() {
        let of = |settings: &[(&str, &str)]| {
            let mut experiment =
                ExperimentSpec { algorithm: "cubic".parse().ok(), ..ExperimentSpec::default() };
            for (key, value) in
                [("rate", "20 Mbit/s"), ("rtt", "80 ms"), ("buffer", "9")].iter().chain(settings)
            {
                (settings::find(key).unwrap().set)(&mut experiment, value).unwrap();
            }
            link(&experiment.resolve(1).unwrap())
        };
        assert_eq!(of(&[("topology", "path")]), "20 Mbit/s, base RTT 80 ms, buffer 9 packets");
        let settings = [
            ("queue", "codel:ecn"),
            ("access-rate", "1 Gbit/s"),
            ("access-delay", "7 ms"),
            ("access-buffer", "50"),
            ("access-queue", "fq-codel"),
            ("reverse-rate", "5 Mbit/s"),
            ("jitter", "uniform:5 ms"),
        ];
        assert_eq!(
            of(&settings),
            "20 Mbit/s, base RTT 80 ms, buffer 9 packets, codel:ecn=on; access links 1 Gbit/s, 7 ms, buffer 50 packets, fq-codel; \
             jitter uniform:5 ms; reverse 5 Mbit/s"
        );
    }

    #[test]
    fn what_a_line_does_is_told() {
        let text = said(&[
            ("buffer", "9"),
            ("queue", "codel:ecn"),
            ("loss", "nth:5"),
            ("policer", "5 Mbit/s, 10 KB"),
            ("schedule", "1 s: down; 2 s: up"),
            ("reverse-rate", "1 Mbit/s"),
            ("reverse-queue", "drop-tail"),
            ("ack-thinning", "4"),
        ]);
        let told = "buffer 9 packets, access 1,000 packets at 10 Gbit/s, codel:ecn=on; 1 given packets lost; 2 steps of rate or delay; \
                    policed to 5 Mbit/s, 10 KB; reverse 1 Mbit/s; reverse 2 steps of rate or delay; reverse ACKs thinned \
                    to 1 of 4";
        assert!(text.ends_with(told), "{text}");
    }
}
