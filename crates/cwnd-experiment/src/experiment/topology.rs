//! From a setup to the network of its topology.

use super::receive_window::SHORTEST_PEAK;
use crate::builders::Drawn;
use crate::{
    Access, Bottleneck, Buffer, BufferTerm, Built, Defaults, Dumbbell, Endpoints, ExperimentSpec, FlowGroup,
    Graph, Incast, LineOptions, ParkingLot, Path, Place, RateChange, Satellite, SatelliteLink, StepChoice,
};
use cwnd_scenario::{Counting, Decimal, Loss, Probability, Problem, Rate, StackProfile, Time};
use std::sync::Arc;

/// The shape of a network.
#[derive(Clone, Debug, PartialEq)]
pub enum Topology {
    /// [`Dumbbell`].
    Dumbbell,
    /// [`Path`].
    Path,
    /// [`ParkingLot`].
    ParkingLot,
    /// [`Satellite`].
    Satellite,
    /// [`Incast`].
    Incast,
    /// [`Graph`].
    Graph(Arc<Graph>),
}

impl Topology {
    /// Returns the name by which settings call it; a drawn network has none.
    pub fn name(&self) -> Option<&'static str> {
        match self {
            Topology::Dumbbell => Some("dumbbell"),
            Topology::Path => Some("path"),
            Topology::ParkingLot => Some("parking-lot"),
            Topology::Satellite => Some("satellite"),
            Topology::Incast => Some("incast"),
            Topology::Graph(_) => None,
        }
    }
}

/// What is chosen of a satellite's link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SatelliteChoice {
    /// Rate to the gateway; 10 Mbit/s.
    pub rate: Option<Rate>,
    /// Delay, one way; 250 ms.
    pub delay: Option<Time>,
    /// What the queue before it holds; 1 BDP of its own.
    pub buffer: Option<Buffer>,
    /// What it loses on the way to the gateway; nothing.
    pub loss: Option<Loss>,
}

impl SatelliteChoice {
    /// The settings that say something of it.
    pub(super) fn said(&self) -> impl Iterator<Item = &'static str> {
        let said = [
            (self.rate.is_some(), "satellite_rate"),
            (self.delay.is_some(), "satellite_delay"),
            (self.buffer.is_some(), "satellite_buffer"),
            (self.loss.is_some(), "satellite_loss"),
        ];
        said.into_iter().filter(|(said, _)| *said).map(|(_, place)| place)
    }

    fn link(&self) -> SatelliteLink {
        let one_bdp = || Buffer::Packets(vec![BufferTerm::Bdp(Decimal::new(1, 0))]);
        SatelliteLink {
            rate: self.rate.unwrap_or(Rate(10_000_000)),
            delay: self.delay.unwrap_or(Time::from_millis(250)),
            buffer: self.buffer.clone().unwrap_or_else(one_bdp),
            loss: self.loss.clone().unwrap_or(Loss::None),
        }
    }
}

/// Packets that the queue of a host's interface holds at least, where it is not said: `txqueuelen` of an Ethernet interface in
/// Linux. A sender's bursts are then lost at the bottleneck, not before it.
const INTERFACE_QUEUE: u32 = 1_000;

/// Returns a multiple of a rate, or the greatest that can be written.
fn times(factor: u64, rate: Rate) -> Rate {
    if rate == Rate::UNLIMITED { rate } else { rate.max(Rate(rate.0.saturating_mul(factor)).min(Rate::MOST)) }
}

/// Hops of a parking lot, where they are not said.
const USUAL_HOPS: u32 = 3;

/// Steps of one schedule that come at the end of the run or after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateSteps<'a> {
    /// The link of a drawn network that has the schedule; none if it is the setting `schedule`.
    pub link: Option<&'a str>,
    /// When they come, at least one, in rising order.
    pub times: Vec<Time>,
}

impl ExperimentSpec {
    /// The network, and the route of every flow.
    pub(super) fn network(&self, flows: Vec<Endpoints>, full_packet: u32) -> Result<Built, Vec<Problem>> {
        let bottleneck = self.bottleneck();
        let access = || self.access_links();
        let counting = match self.stack.profile {
            StackProfile::Ns2 => Counting::WithTransmission,
            StackProfile::Linux => Counting::WaitingOnly,
        };
        match &self.topology {
            Topology::Path => Path { bottleneck, flows, counting, full_packet }.build(),
            Topology::Dumbbell => {
                Dumbbell { bottleneck, access: access(), flows, counting, full_packet }.build()
            }
            Topology::ParkingLot => {
                ParkingLot { bottleneck, hops: self.hops(), access: access(), flows, counting, full_packet }
                    .build()
            }
            Topology::Satellite => {
                let satellite = self.satellite.link();
                Satellite { bottleneck, satellite, access: access(), flows, counting, full_packet }.build()
            }
            Topology::Incast => Incast { bottleneck, access: access(), flows, counting, full_packet }.build(),
            Topology::Graph(graph) => {
                Drawn { graph, bottleneck, access: access(), flows, counting, full_packet }.build()
            }
        }
    }

    fn bottleneck(&self) -> Bottleneck {
        let per = Some(self.per).filter(|per| *per != Probability::ZERO);
        let loss = self.forward.loss.clone().or(per.map(|per| Loss::Bernoulli(per.value())));
        Bottleneck {
            rate: self.bottleneck_rate(),
            delay: self.delay,
            buffer: self.buffer.clone(),
            ecn_threshold: self.ecn_threshold,
            forward: LineOptions { loss, ..self.forward.clone() },
            reverse: self.reverse.clone(),
        }
    }

    /// Returns what the access links have; none for a path, which has none.
    pub(crate) fn access(&self) -> Option<Access> {
        (self.topology != Topology::Path).then(|| self.access_links())
    }

    /// Returns the satellite's link, if there is a satellite.
    pub(crate) fn satellite_link(&self) -> Option<SatelliteLink> {
        (self.topology == Topology::Satellite).then(|| self.satellite.link())
    }

    fn access_links(&self) -> Access {
        let bottleneck = self.bottleneck_rate();
        let rate = || match self.topology {
            Topology::Satellite => Rate(1_000_000_000),
            // The hosts at a switch have the same rate: it is their number that makes the bottleneck.
            Topology::Incast => bottleneck,
            _ if self.defaults == Defaults::Ns2 => bottleneck,
            // Wider than the bottleneck at any time, so that it stays the bottleneck.
            _ => times(10, bottleneck).max(times(2, self.greatest_rate())),
        };
        let delay = Time::from_millis(if self.topology == Topology::Satellite { 10 } else { 1 });
        Access {
            rate: self.access_rate.map_or_else(rate, |rate| rate.or(bottleneck)),
            delay: self.access_delay.unwrap_or(delay),
            buffer: match self.access_buffer.clone() {
                Some(buffer) => buffer.or(self.buffer.clone()),
                None if self.defaults == Defaults::Ns2 => self.buffer.clone(),
                None => self.buffer.at_least(INTERFACE_QUEUE),
            },
            queue: self.access_queue.unwrap_or_default(),
        }
    }

    /// The rate of the bottleneck: as it is said, or the mean of its trace.
    pub(super) fn bottleneck_rate(&self) -> Rate {
        self.forward.rate().unwrap_or(self.rate)
    }

    /// Returns the greatest rate of the bottleneck forward: of its steps, or of its trace over any 100 ms.
    fn greatest_rate(&self) -> Rate {
        // In a drawn network the bottleneck's table has it, if `[scenario]` does not.
        let drawn = match &self.topology {
            Topology::Graph(graph) => graph.links.get(graph.bottleneck).map(|link| &link.forward),
            _ => None,
        };
        let forward =
            drawn.filter(|line| line.schedule.is_some() || line.trace.is_some()).unwrap_or(&self.forward);
        let steps = forward.schedule.iter().flat_map(|schedule| &schedule.steps);
        let of_steps = steps.filter_map(|step| match step.rate {
            Some(RateChange::To(rate)) => Some(rate),
            _ => None,
        });
        let trace = forward.trace.as_ref().and_then(|file| file.trace.as_ref());
        let of_trace = trace.map(|trace| trace.greatest_rate(SHORTEST_PEAK));
        of_steps.chain(of_trace).max().unwrap_or(Rate(0)).max(self.bottleneck_rate())
    }

    pub(crate) fn hops(&self) -> u32 {
        self.hops.unwrap_or(USUAL_HOPS)
    }

    /// Returns the steps of schedules that come at the end of the run or after it, schedule by schedule: they have no effect. The end
    /// of an outage is not among them, since it says that the outage lasts to the end.
    pub fn late_steps(&self) -> Vec<LateSteps<'_>> {
        let links = match &self.topology {
            Topology::Graph(graph) => graph.links.as_slice(),
            _ => &[],
        };
        let of_links = links.iter().map(|link| (Some(link.name.as_str()), &link.forward));
        let is_late = |step: &&StepChoice| {
            let ends_outage = step.rate == Some(RateChange::Up) && step.delay.is_none();
            step.at >= self.duration && !ends_outage
        };
        let late = |(link, line): (_, &LineOptions)| {
            let steps = line.schedule.iter().flat_map(|schedule| &schedule.steps);
            let times: Vec<Time> = steps.filter(is_late).map(|step| step.at).collect();
            (!times.is_empty()).then_some(LateSteps { link, times })
        };
        std::iter::once((None, &self.forward)).chain(of_links).filter_map(late).collect()
    }

    /// Whether any queue may mark.
    pub(super) fn marks(&self) -> bool {
        let queues = [self.forward.queue, self.reverse.queue, self.access_queue];
        let settings = self.ecn_threshold.is_some() || queues.iter().flatten().any(|queue| queue.marks());
        let of_link = |link: &crate::GraphLink| {
            let queues = [link.forward.queue, link.reverse.queue];
            link.ecn_threshold.is_some() || queues.iter().flatten().any(|queue| queue.marks())
        };
        match &self.topology {
            Topology::Graph(graph) => settings || graph.links.iter().any(of_link),
            _ => settings,
        }
    }

    /// Whether each group's place is one that the topology has.
    pub(super) fn check_places(&self, groups: &[FlowGroup], problems: &mut Vec<Problem>) {
        for (index, group) in groups.iter().enumerate() {
            let fits = match (&group.place, &self.topology) {
                (Place::Usual, _)
                | (Place::Side(_), Topology::Satellite)
                | (Place::Hop(_), Topology::ParkingLot)
                | (Place::Path(_), Topology::Graph(_)) => continue,
                (Place::Side(_), _) => "only a satellite network has sides: `topology = \"satellite\"`",
                (Place::Hop(_), _) => "only a parking lot has hops: `topology = \"parking-lot\"`",
                (Place::Path(_), _) => "only a graph has paths: a study draws one in `[network]`",
            };
            let place = format!("flows[{index}].{}", group.place.key());
            problems.push(Problem { place, message: fits.to_owned() });
        }
    }
}
