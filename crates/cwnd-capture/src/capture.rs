//! A run with a capture of its packets.

use crate::headers::Headers;
use crate::pcapng::{self, Interface, LinkType};
use cwnd_scenario::{NodeId, Rate, Scenario};
use cwnd_sim::watch::{End, PacketEvent, PacketObserver, Point};
use cwnd_sim::{Factory, Options, Simulation};
use std::io::{self, Write};

/// The scenario's time zero on the clock of captures: midnight of 1 January 2000 (UTC), in seconds since 1970. So the time of
/// day is the scenario's time, and handshakes that come before time zero have a time, too.
pub const EPOCH_S: u64 = 946_684_800;

/// What is said of a packet that the queue of its link drops.
const DROPPED: &str = "dropped by this link's queue";

/// Writes the packets that pass some points as pcapng, with an interface for each point.
pub struct Capture<W: Write> {
    out: W,
    headers: Headers,
    /// The nodes of each point's link.
    nodes: Vec<[NodeId; 2]>,
    failed: Option<io::Error>,
}

impl<W: Write> Capture<W> {
    /// Begins the file. `simulation` watches `points` of `scenario`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(
        scenario: &Scenario,
        simulation: &Simulation,
        points: &[Point],
        mut out: W,
    ) -> io::Result<Self> {
        let headers = Headers::new(scenario, |flow| simulation.uses_ecn(flow));
        let interfaces: Vec<Interface> = points.iter().map(|point| interface(scenario, *point)).collect();
        let application = concat!("cwnd ", env!("CARGO_PKG_VERSION"));
        let link_type = if headers.are_ethernet() { LinkType::Ethernet } else { LinkType::Ipv4 };
        pcapng::write_header(&mut out, link_type, application, &interfaces)?;
        let links = points.iter().map(|point| &scenario.network.links[point.link]);
        Ok(Capture { out, headers, nodes: links.map(|link| [link.from, link.to]).collect(), failed: None })
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The first reason for which it could not be written.
    pub fn finish(mut self) -> io::Result<W> {
        match self.failed {
            Some(error) => Err(error),
            None => self.out.flush().map(|()| self.out),
        }
    }
}

impl<W: Write> PacketObserver for Capture<W> {
    fn on_packet(&mut self, event: &PacketEvent<'_>) {
        if self.failed.is_some() {
            return;
        }
        let &PacketEvent { point, at, packet, blocks, dropped } = event;
        let frame = self.headers.of(packet, blocks, self.nodes[point]);
        let time = (EPOCH_S * 1_000_000_000).saturating_add_signed(at);
        let comment = dropped.then_some(DROPPED);
        let written =
            pcapng::write_packet(&mut self.out, point as u32, time, &frame.bytes, frame.length, comment);
        self.failed = written.err();
    }
}

/// Runs a scenario to its end with the registered algorithms, and writes what passes `points`. Returns what it wrote to.
///
/// # Errors
/// As those of [`capture_with`].
pub fn capture<W: Write>(scenario: &Scenario, points: &[Point], out: W) -> io::Result<W> {
    capture_with(scenario, &cwnd_sim::registered, points, out)
}

/// Does what [`capture`] does with algorithms of this factory.
///
/// # Errors
/// If the scenario cannot be run, an algorithm sets a value that no [window](cwnd_sim::run_with) may have, or the capture cannot be
/// written.
pub fn capture_with<W: Write>(
    scenario: &Scenario,
    factory: Factory<'_>,
    points: &[Point],
    out: W,
) -> io::Result<W> {
    let options = Options { points: points.to_vec(), ..Options::default() };
    let simulation = Simulation::with_options(scenario, factory, &options);
    let mut simulation = simulation.map_err(io::Error::other)?;
    let mut capture = Capture::new(scenario, &simulation, points, out)?;
    simulation.run_observed(scenario.duration, &mut capture);
    simulation.end_observation(&mut capture);
    simulation.failure().map_or(Ok(()), |error| Err(io::Error::other(error)))?;
    capture.finish()
}

fn interface(scenario: &Scenario, point: Point) -> Interface {
    let network = &scenario.network;
    let link = &network.links[point.link];
    let (from, to) = (&network.nodes[link.from], &network.nodes[link.to]);
    let description = match point.end {
        End::Enter => format!("what comes to the queue of the link from {from} to {to}"),
        End::Leave => format!("what comes out of the link from {from} to {to}"),
    };
    let name = match point.end {
        End::Enter => link.name.clone(),
        End::Leave => format!("{}:leave", link.name),
    };
    let speed = (link.rate != Rate::UNLIMITED && link.schedule.is_none()).then_some(link.rate.0);
    Interface { name, description, speed }
}
