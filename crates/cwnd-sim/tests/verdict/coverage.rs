//! What the random scenarios covered.

use crate::generator::Action;
use crate::naive::has_jitter_alone;
use cwnd_scenario::{
    Counting, DelayedAck, Discipline, Ecn, Effects, FlowOutcome, FlowSpec, LinkId, LinkOutcome, LinkSpec,
    Loss, Outcome, QueueLimit, Rate, ReceiverBehaviour, Scenario, Schedule, Ties, Time, Traffic,
};
use std::collections::{BTreeMap, BTreeSet};

/// How many scenarios had which feature.
#[derive(Default)]
pub struct Coverage {
    features: BTreeMap<String, u32>,
    /// Events that the naive simulator handled.
    pub events: u64,
}

/// Every feature that must be covered.
const FEATURES: &[&str] = &[
    "data dropped by a queue",
    "ACKs dropped by a queue",
    "drops, limit in bytes",
    "drops, limit in packets",
    "drops, packet in transmission counted",
    "drops, packet in transmission not counted",
    "drops, no room to wait at all",
    "queue without a limit",
    "data lost on a line",
    "ACKs lost on a line",
    "lost packets still on the line at a look",
    "marks, classic ECN",
    "marks, exact ECN",
    "marks, limit in bytes",
    "packet of the handshake dropped or lost",
    "retransmissions",
    "duplicates",
    "duplicates that are told of, to a sender that has sent again",
    "timeouts",
    "rate, unlimited",
    "link that takes no time at all",
    "RED drops",
    "RED marks",
    "CoDel drops",
    "CoDel marks",
    "FQ-CoDel drops",
    "FQ-CoDel marks",
    "PIE drops",
    "PIE marks",
    "DualPI2 drops",
    "DualPI2 marks",
    "losses in bursts",
    "losses of given packets",
    "drops of a policer or its queue",
    "ACKs thinned, or dropped",
    "slots",
    "jitter, first in first out",
    "jitter in closed form, with losses",
    "jitter, overtaking",
    "copies of data",
    "rate by steps",
    "rate by steps, with an outage",
    "rate by steps, over and over",
    "delivery trace",
    "change of rate where the queue is kept",
    "change of delay where packets overtake",
    "change of loss where losses depend on each other",
    "change of queue where the discipline stays",
    "two flows or more",
    "two-way traffic on a link",
    "link fed by a host and by a link",
    "link fed by several links",
    "host with several endpoints",
    "host with several links out",
    "host with several links in",
    "receiver alone on its host, acknowledging at once, behind a shared link",
    "such receivers whose ACKs go the same way over two shared links",
    "ACKs by a way of their own",
    "flow from a host to itself",
    "start later than the others",
    "first packets are short, with timeouts",
    "first packets are short, one later than the others",
    "start jitter",
    "send overhead",
    "ties by turn",
    "stop before the end",
    "stop before the start",
    "transfer completed",
    "transfer of one byte",
    "transfer of one full segment",
    "traffic on and off",
    "traffic on and off, sent again after a timeout's time",
    "live traffic",
    "media frames",
    "discarded media frames",
    "bursts without congestion control, with drops",
    "receiver that hides marks, with marks",
    "receiver that conceals losses, with losses",
    "optimistic receiver",
    "several messages, one after the other",
    "last message of a transfer",
    "short flow",
    "flow with a deadline",
    "SACK off, with retransmissions",
    "timestamps off, with retransmissions",
    "delayed ACKs",
    "handshake",
    "limited transmit off",
    "lost retransmissions not detected",
    "window of the receiver in the way",
    "several algorithms",
    "change of rate",
    "change of rate with packets waiting",
    "change of rate to unlimited",
    "change of delay",
    "change of delay, shorter with packets on the way",
    "change of delay, longer",
    "change of rate or delay with jitter in closed form",
    "change of loss",
    "change of loss with packets waiting",
    "change of loss where there was none",
    "change of queue",
    "change of queue with packets waiting",
    "change of slots",
    "change of jitter",
    "change of jitter in closed form",
    "change of a policer",
    "stop of a flow from outside",
    "pause of a flow from outside",
    "change of traffic",
    "change refused",
    "change at the very time of an event",
    "more than 100,000 events",
];

impl Coverage {
    /// A feature was seen once more, if it was.
    pub fn note(&mut self, feature: &str, seen: bool) {
        *self.features.entry(feature.to_owned()).or_default() += u32::from(seen);
    }

    /// Features, and registered algorithms, that fewer than `least` scenarios had.
    pub fn scarce(&self, least: u32) -> Vec<String> {
        let algorithms = cwnd_cc::all().iter().map(|info| format!("algorithm {}", info.name));
        let features = FEATURES.iter().map(|&feature| feature.to_owned()).chain(algorithms);
        features.filter(|feature| self.features.get(feature).is_none_or(|&count| count < least)).collect()
    }

    /// Add what one scenario covered.
    pub fn add(&mut self, one: &Coverage) {
        for (feature, &count) in &one.features {
            self.note(feature, count > 0);
        }
        self.events += one.events;
    }

    /// What a scenario and its outcome show.
    pub fn note_run(&mut self, scenario: &Scenario, outcome: &Outcome) {
        self.note_links(scenario, outcome);
        self.note_network(scenario);
        self.note_flows(scenario, outcome);
        self.note_stack(scenario, outcome);
    }

    fn note_links(&mut self, scenario: &Scenario, outcome: &Outcome) {
        let data_dropped: u64 = outcome.flows.iter().map(|flow| flow.packets_dropped).sum();
        let data_lost: u64 = outcome.flows.iter().map(|flow| flow.packets_lost).sum();
        self.note("data dropped by a queue", data_dropped > 0);
        self.note("data lost on a line", data_lost > 0);
        let sum =
            |count: fn(&cwnd_scenario::LinkOutcome) -> u64| outcome.links.iter().map(count).sum::<u64>();
        self.note("ACKs dropped by a queue", sum(|link| link.dropped) > data_dropped);
        self.note("ACKs lost on a line", sum(|link| link.lost) > data_lost);
        for (spec, link) in scenario.network.links.iter().zip(&outcome.links) {
            let drops = link.dropped > 0;
            let bytes = matches!(spec.queue.limit, QueueLimit::Bytes(_));
            let with = spec.queue.counting == Counting::WithTransmission;
            self.note("drops, limit in bytes", drops && bytes);
            self.note("drops, limit in packets", drops && !bytes);
            self.note("drops, packet in transmission counted", drops && with);
            self.note("drops, packet in transmission not counted", drops && !with);
            let nothing = matches!(spec.queue.limit, QueueLimit::Packets(0) | QueueLimit::Bytes(0));
            self.note("drops, no room to wait at all", drops && nothing);
            let unlimited = spec.queue.limit == QueueLimit::Unlimited;
            self.note("queue without a limit", unlimited && link.max_waiting > 0);
            self.note("rate, unlimited", spec.rate == Rate::UNLIMITED && link.arrived > 0);
            let instant = spec.rate == Rate::UNLIMITED && spec.delay == Time::ZERO;
            self.note("link that takes no time at all", instant && link.arrived > 0);
            self.note("marks, limit in bytes", bytes && link.marked > 0);
        }
        for (spec, link) in scenario.network.links.iter().zip(&outcome.links) {
            self.note_kept(spec, link);
        }
        let copied = outcome.flows.iter().any(|flow| flow.packets_copied > 0);
        self.note("copies of data", copied);
        self.note("marks, classic ECN", scenario.stack.ecn == Ecn::Classic && sum(|link| link.marked) > 0);
        let accurate = matches!(scenario.stack.ecn, Ecn::Accurate(_));
        self.note("marks, accurate ECN", accurate && sum(|link| link.marked) > 0);
        self.note("marks, exact ECN", scenario.stack.ecn == Ecn::Exact && sum(|link| link.marked) > 0);
    }

    /// What a link does beyond dropping what does not fit.
    fn note_kept(&mut self, spec: &LinkSpec, link: &LinkOutcome) {
        let name = match spec.queue.discipline {
            Discipline::DropTail => None,
            Discipline::Red(_) => Some("RED"),
            Discipline::CoDel(_) => Some("CoDel"),
            Discipline::FqCoDel(_) => Some("FQ-CoDel"),
            Discipline::Pie(_) => Some("PIE"),
            Discipline::DualPi2(_) => Some("DualPI2"),
        };
        if let Some(name) = name {
            self.note(&format!("{name} drops"), link.dropped > 0);
            self.note(&format!("{name} marks"), link.marked > 0);
        }
        self.note("losses in bursts", matches!(spec.loss, Loss::GilbertElliott(_)) && link.lost > 0);
        self.note("losses of given packets", matches!(spec.loss, Loss::Nth(_)) && link.lost > 0);
        let Effects { policer, ack_thinning, slot, jitter, ecn_remark, duplication: _ } = spec.effects;
        self.note("drops of a policer or its queue", policer.is_some() && link.dropped > 0);
        let acks = link.arrived > link.data_arrived;
        self.note("ACKs thinned, or dropped", ack_thinning.is_some() && acks && link.dropped > 0);
        self.note("changes of the ECN field", ecn_remark.is_some() && link.delivered > 0);
        self.note("slots", slot.is_some() && link.delivered > 0);
        let reorders = jitter.map(|jitter| jitter.reorders).filter(|_| link.delivered > 1);
        self.note("jitter, first in first out", reorders == Some(false));
        self.note("jitter, overtaking", reorders == Some(true));
        self.note("jitter in closed form, with losses", has_jitter_alone(spec) && link.lost > 0);
        let delivered = link.delivered > 0;
        match &spec.schedule {
            Some(Schedule::Steps(steps)) => {
                self.note("rate by steps", delivered);
                let outage = steps.steps.iter().any(|step| step.rate == Rate(0));
                self.note("rate by steps, with an outage", outage && delivered);
                self.note("rate by steps, over and over", steps.period.is_some() && delivered);
            }
            Some(Schedule::Trace(_)) => self.note("delivery trace", delivered),
            None => {}
        }
    }

    fn note_network(&mut self, scenario: &Scenario) {
        let links = &scenario.network.links;
        let mut hosts_into = vec![BTreeSet::new(); links.len()];
        let mut links_into = vec![BTreeSet::new(); links.len()];
        let mut data = vec![false; links.len()];
        let mut acks = vec![false; links.len()];
        let mut out_of = BTreeMap::<usize, BTreeSet<LinkId>>::new();
        let mut into = BTreeMap::<usize, BTreeSet<LinkId>>::new();
        let mut ends = vec![0; scenario.network.nodes.len()];
        for flow in &scenario.flows {
            flow.route.iter().for_each(|&link| data[link] = true);
            flow.ack_route.iter().for_each(|&link| acks[link] = true);
            for route in [&flow.route, &flow.ack_route] {
                let (first, last) = (route[0], route[route.len() - 1]);
                hosts_into[first].insert(links[first].from);
                out_of.entry(links[first].from).or_default().insert(first);
                into.entry(links[last].to).or_default().insert(last);
                ends[links[first].from] += 1;
                for pair in route.windows(2) {
                    links_into[pair[1]].insert(pair[0]);
                }
            }
            let there = flow.route.iter().map(|&link| (links[link].from, links[link].to));
            let back = flow.ack_route.iter().rev().map(|&link| (links[link].to, links[link].from));
            self.note("ACKs by a way of their own", !there.eq(back));
            let (first, last) = (flow.route[0], flow.route[flow.route.len() - 1]);
            self.note("flow from a host to itself", links[first].from == links[last].to);
        }
        self.note("two flows or more", scenario.flows.len() >= 2);
        self.note("two-way traffic on a link", data.iter().zip(&acks).any(|(data, acks)| *data && *acks));
        let mut fed = hosts_into.iter().zip(&links_into);
        self.note("link fed by a host and by a link", fed.any(|(h, l)| !h.is_empty() && !l.is_empty()));
        self.note("link fed by several links", links_into.iter().any(|links| links.len() > 1));
        // Where the engine may let the link before a host do the host's work.
        let shared = |link: LinkId| links_into[link].len() + hosts_into[link].len() > 1;
        let mut ways_back = BTreeMap::<&[LinkId], u32>::new();
        for flow in scenario.flows.iter().filter(|flow| flow.route.len() > 1) {
            let alone = ends[links[flow.ack_route[0]].from] == 1;
            if scenario.stack.delayed_ack != DelayedAck::Off || !alone {
                continue;
            }
            let before = flow.route[flow.route.len() - 2];
            let feature = "receiver alone on its host, acknowledging at once, behind a shared link";
            self.note(feature, shared(before));
            if let [_, first, second, ..] = flow.ack_route[..]
                && shared(first)
            {
                *ways_back.entry(&flow.ack_route[1..3]).or_default() += 1;
                let same = ways_back[&[first, second][..]] > 1;
                self.note("such receivers whose ACKs go the same way over two shared links", same);
            }
        }
        self.note("host with several endpoints", ends.iter().any(|&ends| ends > 1));
        self.note("host with several links out", out_of.values().any(|links| links.len() > 1));
        self.note("host with several links in", into.values().any(|links| links.len() > 1));
    }

    fn note_flows(&mut self, scenario: &Scenario, outcome: &Outcome) {
        let payload = u64::from(scenario.stack.payload);
        let window = f64::from(scenario.stack.receive_window);
        for (spec, flow) in scenario.flows.iter().zip(&outcome.flows) {
            self.note("retransmissions", flow.retransmissions > 0);
            self.note("duplicates", flow.duplicates > 0);
            let tells = scenario.stack.recovery.is_by_time() && scenario.stack.sack;
            self.note(
                "duplicates that are told of, to a sender that has sent again",
                tells && flow.duplicates > 0 && flow.retransmissions > 0,
            );
            self.note("timeouts", flow.timeouts > 0);
            self.note("start later than the others", spec.start > Time::ZERO && flow.packets_sent > 0);
            let short = scenario.stack.first_packet.is_some_and(|first| first < scenario.stack.full_packet());
            let again = short && flow.retransmissions > 0;
            self.note("first packets are short, with timeouts", again && flow.timeouts > 0);
            let later = spec.start > Time::ZERO && flow.packets_sent > 0;
            self.note("first packets are short, one later than the others", short && later);
            self.note("stop before the end", spec.stop.is_some() && flow.stop.is_some());
            let never = spec.stop.is_some_and(|stop| stop < flow.start);
            self.note("stop before the start", never && flow.packets_sent == 0);
            let done = flow.completed.is_some();
            self.note("transfer completed", done);
            self.note("transfer of one byte", done && spec.bytes == Some(1));
            self.note("transfer of one full segment", done && spec.bytes == Some(payload));
            self.note("window of the receiver in the way", flow.cwnd >= window && flow.packets_sent > 0);
            self.note(&format!("algorithm {}", spec.algorithm.name), flow.acks_received > 0);
            self.note_traffic(scenario, spec, flow);
            let other = spec.algorithm != scenario.flows[0].algorithm;
            self.note("several algorithms", other && flow.acks_received > 0);
        }
        self.note("start jitter", scenario.start_jitter > Time::ZERO);
        self.note("send overhead", scenario.send_overhead > Time::ZERO);
        self.note("ties by turn", scenario.ties == Ties::ByTurn);
    }

    fn note_traffic(&mut self, scenario: &Scenario, spec: &FlowSpec, flow: &FlowOutcome) {
        let began = flow.acks_received > 0;
        self.note("live traffic", began && matches!(spec.traffic, Traffic::Live(_)));
        let missing = flow.packets_dropped + flow.packets_lost > 0;
        let media = matches!(spec.traffic, Traffic::Media { .. });
        self.note(
            "media frames",
            media && flow.messages.iter().filter(|frame| frame.end.is_some()).count() > 2,
        );
        self.note(
            "discarded media frames",
            media && flow.messages.windows(2).any(|two| two[0].end.is_none() && two[1].end.is_some()),
        );
        let pulses = matches!(spec.traffic, Traffic::Pulses { .. });
        self.note("bursts without congestion control, with drops", began && pulses && missing);
        let hides = spec.receiver == ReceiverBehaviour::HideCe;
        self.note("receiver that hides marks, with marks", hides && flow.packets_marked > 0);
        let conceals = spec.receiver == ReceiverBehaviour::ConcealLosses;
        self.note("receiver that conceals losses, with losses", began && conceals && missing);
        self.note("optimistic receiver", began && spec.receiver.ahead() > 0);
        if let Traffic::OnOff { off, .. } = spec.traffic {
            self.note("traffic on and off", began);
            let long = off.mean() > scenario.stack.min_rto.0 as f64;
            let often = scenario.duration.0 as f64 > 3.0 * off.mean();
            self.note("traffic on and off, sent again after a timeout's time", began && long && often);
        }
        let ended = flow.messages.iter().filter(|message| message.end.is_some()).count();
        self.note("several messages, one after the other", ended > 2);
        self.note("last message of a transfer", ended > 0 && flow.completed.is_some());
        self.note("short flow", spec.short && flow.completed.is_some());
        self.note("flow with a deadline", spec.deadline.is_some() && began);
    }

    fn note_stack(&mut self, scenario: &Scenario, outcome: &Outcome) {
        let stack = &scenario.stack;
        let again = outcome.flows.iter().any(|flow| flow.retransmissions > 0);
        self.note("SACK off, with retransmissions", !stack.sack && again);
        self.note("timestamps off, with retransmissions", !stack.timestamps && again);
        self.note("delayed ACKs", stack.delayed_ack != DelayedAck::Off);
        self.note("handshake", stack.handshake);
        self.note("limited transmit off", !stack.limited_transmit && again);
        self.note("lost retransmissions not detected", !stack.detect_lost_retransmissions && again);
    }

    /// What a change meets: the scenario before it, and how many packets wait and are on each link.
    pub fn note_change(&mut self, action: &Action, scenario: &Scenario, waiting: usize, on_link: u64) {
        let link = |link: &LinkId| &scenario.network.links[*link];
        if let Action::Rate(at, _) | Action::Delay(at, _) = action {
            let jitter_alone = has_jitter_alone(link(at)) && on_link > 0;
            self.note("change of rate or delay with jitter in closed form", jitter_alone);
        }
        match action {
            Action::Look => {}
            Action::Rate(at, rate) => {
                self.note("change of rate", *rate != link(at).rate && on_link > 0);
                self.note("change of rate with packets waiting", *rate != link(at).rate && waiting > 0);
                self.note("change of rate to unlimited", *rate == Rate::UNLIMITED && waiting > 0);
                self.note("change of rate where the queue is kept", !link(at).is_plain() && waiting > 0);
            }
            Action::Delay(at, delay) => {
                let old = link(at).delay;
                self.note("change of delay", *delay != old && on_link > 0);
                self.note("change of delay, shorter with packets on the way", *delay < old && on_link > 0);
                self.note("change of delay, longer", *delay > old && on_link > 0);
                let overtake = link(at).effects.jitter.is_some_and(|jitter| jitter.reorders);
                self.note("change of delay where packets overtake", overtake && on_link > 0);
            }
            Action::Loss(at, loss) => {
                self.note("change of loss", on_link > 0);
                self.note("change of loss with packets waiting", waiting > 0);
                let depend = matches!(link(at).loss, Loss::GilbertElliott(_) | Loss::Nth(_));
                self.note("change of loss where losses depend on each other", depend && on_link > 0);
                let first = link(at).loss == Loss::None && *loss != Loss::None;
                self.note("change of loss where there was none", first && on_link > 0);
            }
            Action::Queue(at, _) => {
                self.note("change of queue", true);
                let discipline = link(at).queue.discipline;
                self.note("change of queue where the discipline stays", discipline != Discipline::DropTail);
                self.note("change of queue with packets waiting", waiting > 0);
            }
            Action::Effects(at, effects) => {
                let old = &link(at).effects;
                let kept = !link(at).is_plain() && on_link > 0;
                self.note("change of slots", kept && effects.slot != old.slot);
                self.note("change of jitter", kept && effects.jitter != old.jitter);
                let alone = Effects { jitter: effects.jitter, ..Effects::default() } == *effects;
                let closed = alone && has_jitter_alone(link(at)) && on_link > 0;
                self.note("change of jitter in closed form", closed && effects.jitter != old.jitter);
                self.note("change of a policer", kept && effects.policer != old.policer);
            }
            Action::Stop(_) => self.note("stop of a flow from outside", true),
            Action::Traffic(_, traffic) => {
                self.note("pause of a flow from outside", traffic.is_none());
                self.note("change of traffic", traffic.is_some());
            }
        }
    }

    /// A table for people.
    pub fn table(&self, of: u64) -> String {
        let width = self.features.keys().map(|feature| feature.chars().count()).max().unwrap_or(0);
        let rows = self.features.iter().map(|(feature, count)| format!("{feature:width$} {count:5}\n"));
        format!("of {of} scenarios with {} events, so many had\n{}", self.events, rows.collect::<String>())
    }
}
