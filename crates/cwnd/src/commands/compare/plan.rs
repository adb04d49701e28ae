//! From flags to scenarios: which runs there are, and what each asks.

use super::budget;
use super::flags::{EcnName, Flags, StackName, Switch, TiesName, TopologyName};
use crate::{engines::EngineName, failure::Failure};
use cwnd_scenario::{
    FlowGroup, Problem, Scenario, StackProfile, Ties, Time,
    build::{EcnChoice, LineDelay, Setup, StackChoice, Topology},
};
use cwnd_study::memory::MemoryBudget;

/// Flows that run together, under one name.
pub struct Plan {
    /// What the results call it: the algorithm, or the text of the mix or flows.
    pub name: String,
    /// Its flows.
    pub groups: Vec<FlowGroup>,
    /// The scenario of the first repeat.
    pub scenario: Scenario,
}

/// Everything that the flags ask to be run, in the order in which it is printed.
///
/// # Errors
/// Everything that is wrong, each by the flag that said it, or that the flows alone take too much memory.
pub fn plans(flags: &Flags, memory: MemoryBudget) -> Result<Vec<Plan>, Failure> {
    let mut drafts = Vec::new();
    for said in &flags.algorithms {
        let mut groups = vec![FlowGroup::new(said.value.clone(), flags.flows.unwrap_or(1))];
        groups.extend(reverse(flags, &groups[0]));
        drafts.push(Draft { name: said.text.clone(), groups, said: Vec::new() });
    }
    for said in &flags.mix {
        let mut groups = said.value.0.clone();
        let one = groups.iter().all(|group| group.algorithm == groups[0].algorithm);
        if flags.reverse_flows > 0 && !one {
            return Err(Failure::bad_input(format!(
                "--reverse-flows: of which algorithm? `--mix '{}'` has several: say the flows with --flow instead, \
                 such as `--flow 'cubic; count={}; reverse'`",
                said.text, flags.reverse_flows
            )));
        }
        groups.extend(reverse(flags, &groups[0]));
        let origins = vec![format!("--mix '{}'", said.text); groups.len()];
        drafts.push(Draft { name: said.text.clone(), groups, said: origins });
    }
    if !flags.flow.is_empty() {
        if flags.reverse_flows > 0 && flags.algorithms.is_empty() && flags.mix.is_empty() {
            return Err(Failure::bad_input(
                "--reverse-flows: of which algorithm? Say them as the others: `--flow 'cubic; count=2; reverse'`",
            ));
        }
        let texts: Vec<&str> = flags.flow.iter().map(|said| said.text.as_str()).collect();
        drafts.push(Draft {
            name: texts.join(" + "),
            groups: flags.flow.iter().map(|said| said.value.clone()).collect(),
            said: texts.iter().map(|text| format!("--flow '{text}'")).collect(),
        });
    }
    if let (true, Some(said)) = (drafts.is_empty() && flags.reverse_flows == 0, &flags.short_flows) {
        drafts.push(Draft { name: said.text.clone(), groups: Vec::new(), said: Vec::new() });
    }
    if drafts.is_empty() {
        return Err(Failure::bad_input(
            "nothing to run: name an algorithm (`cwnd compare cubic elastic`), a --mix, a --flow or --short-flows; \
             `cwnd algorithms` lists the algorithms",
        ));
    }
    let flows = drafts.iter().flat_map(|draft| &draft.groups).map(|group| u64::from(group.count)).sum();
    budget::check_descriptions(flows, memory)?;
    let setup = flags.network.setup(setup(flags), flags.rate)?;
    drafts.into_iter().map(|draft| draft.plan(&setup, flags.seed)).collect()
}

struct Draft {
    name: String,
    groups: Vec<FlowGroup>,
    /// For each group the flag that said it, if it was not a name alone.
    said: Vec<String>,
}

impl Draft {
    fn plan(self, setup: &Setup, seed: u64) -> Result<Plan, Failure> {
        let made = setup.scenario(&self.groups, seed);
        let groups = setup.with_cross_flows(&self.groups).map_err(|problem| vec![problem]);
        match made.and_then(|scenario| Ok((scenario, groups?))) {
            Ok((scenario, groups)) => Ok(Plan { name: self.name, groups, scenario }),
            Err(problems) => {
                let problems: Vec<Problem> = problems
                    .into_iter()
                    .map(|problem| Problem { place: self.flag(&problem.place), ..problem })
                    .collect();
                Err(Failure::problems(&problems))
            }
        }
    }

    /// The flag that set what a problem names.
    fn flag(&self, place: &str) -> String {
        let group = place.strip_prefix("flows[").and_then(|rest| rest.split_once(']'));
        let said = group.and_then(|(index, _)| self.said.get(index.parse::<usize>().ok()?));
        match (said, group, place) {
            (Some(said), Some((_, key)), _) => format!("{said}, {}", key.trim_start_matches('.')),
            (None, Some((_, key)), _) => format!("--{}", key.trim_start_matches('.').replace('_', "-")),
            (_, None, "flows") if self.said.is_empty() => "--flows".to_owned(),
            (_, None, "flows") => self.said[0].clone(),
            (_, None, field) => format!("--{}", field.replace('_', "-")),
        }
    }
}

fn reverse(flags: &Flags, first: &FlowGroup) -> Option<FlowGroup> {
    let group = FlowGroup { reverse: true, ..FlowGroup::new(first.algorithm.clone(), flags.reverse_flows) };
    (flags.reverse_flows > 0).then_some(group)
}

fn setup(flags: &Flags) -> Setup {
    let on = |switch: Option<Switch>| switch.map(|switch| switch == Switch::On);
    let usual = Setup::default();
    let delay = flags.delay.unwrap_or(Time::from_millis(100));
    Setup {
        topology: match flags.topology {
            TopologyName::Dumbbell => Topology::Dumbbell,
            TopologyName::Path => Topology::Path,
            TopologyName::ParkingLot => Topology::ParkingLot,
            TopologyName::Satellite => Topology::Satellite,
            TopologyName::Incast => Topology::Incast,
        },
        rate: flags.rate.unwrap_or(usual.rate),
        delay: flags.rtt.map_or(LineDelay::OneWay(delay), LineDelay::BaseRtt),
        buffer: flags.buffer.clone(),
        per: flags.per,
        ecn_threshold: flags.ecn_threshold,
        access_rate: flags.access_rate,
        access_delay: flags.access_delay,
        access_buffer: flags.access_buffer.clone(),
        stack: StackChoice {
            profile: match (flags.stack, flags.engine) {
                (Some(StackName::Ns2), _) => StackProfile::Ns2,
                (Some(StackName::Linux), _) | (None, Some(EngineName::Kernel)) => StackProfile::Linux,
                (None, Some(EngineName::Sim) | None) => StackProfile::Ns2,
            },
            packet_size: flags.packet_size,
            mtu: flags.mtu,
            sack: on(flags.sack),
            timestamps: on(flags.timestamps),
            delayed_ack: on(flags.delayed_ack),
            ecn: match flags.ecn {
                EcnName::Auto => EcnChoice::Auto,
                EcnName::On => EcnChoice::On,
                EcnName::Off => EcnChoice::Off,
            },
            l4s: None,
            receive_window: flags.receive_window,
        },
        duration: flags.duration,
        warm_up: flags.warm_up,
        start_jitter: flags.start_jitter,
        send_overhead: flags.send_overhead,
        ties: match flags.ties {
            TiesName::ByNumber => Ties::ByNumber,
            TiesName::ByTurn => Ties::ByTurn,
        },
        stagger: flags.stagger,
        stop_stagger: flags.stop_stagger,
        bytes: flags.bytes,
        traffic: flags.traffic.unwrap_or_default(),
        deadline: flags.deadline,
        short_flows: flags.short_flows.as_ref().map(|said| said.value.clone()),
        sample: (flags.trace.is_some() || flags.plot.is_some()).then_some(flags.sample),
        ..usual
    }
}
