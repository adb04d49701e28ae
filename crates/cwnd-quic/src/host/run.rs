//! A run under way: hosts at the ends of a network, driven event by event.

use crate::host::check::as_tcp;
use crate::host::end::{End, HostEndpoint, Plan, Times};
use crate::host::log::Log;
use crate::host::meter::Meter;
use crate::host::packet::{Kind, Packet};
use crate::host::{noq, quinn};
use cwnd_link::{Purpose, Stream};
use cwnd_net::{Driver, Host, LinkId, Network, NetworkError, Observer, Output, Route, Settings};
use cwnd_scenario::{Ecn, EngineError, Helpers, Problem, Scenario, Ties, Time, Transport};
use cwnd_sim::host::Endpoint;
use cwnd_sim::{Factory, illegal_value, setup};
use cwnd_tcp::NEVER;
use cwnd_tcp::packet::{Emit, Packet as Tcp, SackBlocks};

/// One end of a flow.
pub enum FlowEnd {
    /// Of a TCP flow.
    Tcp(Endpoint),
    /// Of a QUIC flow.
    Quic(Box<End>),
}

impl Host<Packet> for FlowEnd {
    fn on_packet(&mut self, now: u64, packet: Packet, out: &mut dyn Output<Packet>) {
        match (self, packet) {
            (FlowEnd::Tcp(Endpoint::Sender(sender)), Packet::Segment(packet, blocks)) => {
                sender.on_packet(now, &packet, blocks.as_ref(), &mut Outlet(out));
            }
            (FlowEnd::Tcp(Endpoint::Receiver(receiver)), Packet::Segment(packet, _)) => {
                receiver.on_packet(now, &packet, &mut Outlet(out));
            }
            (FlowEnd::Quic(end), Packet::Datagram(datagram)) => end.on_packet(now, &datagram, out),
            _ => unreachable!("both ends of a flow have one transport"),
        }
    }

    fn on_timer(&mut self, now: u64, out: &mut dyn Output<Packet>) {
        match self {
            FlowEnd::Tcp(endpoint) => endpoint.on_timer(now, &mut Outlet(out)),
            FlowEnd::Quic(end) => end.on_timer(now, out),
        }
    }

    fn next_timer(&self) -> Option<u64> {
        match self {
            FlowEnd::Tcp(endpoint) => Some(endpoint.deadline()).filter(|&at| at != NEVER),
            FlowEnd::Quic(end) => end.next_timer(),
        }
    }
}

/// Routes have the numbers of channels.
struct Outlet<'a>(&'a mut dyn Output<Packet>);

impl Emit for Outlet<'_> {
    fn emit(&mut self, _: u64, packet: Tcp) -> bool {
        self.0.send(packet.channel as usize, Packet::Segment(packet, None))
    }

    fn emit_sack(&mut self, _: u64, packet: Tcp, blocks: &SackBlocks) -> bool {
        self.0.send(packet.channel as usize, Packet::Segment(packet, Some(*blocks)))
    }
}

/// What became of a channel's packets after the handshake that did not arrive once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Missing {
    /// Dropped by queues.
    pub dropped: u64,
    /// Lost on lines.
    pub lost: u64,
    /// Copies that links made.
    pub copied: u64,
}

/// Counts [`Missing`] by channel.
#[derive(Debug)]
pub struct Counter(pub Vec<Missing>);

impl Counter {
    fn count(&mut self, packet: &Packet, count: impl FnOnce(&mut Missing)) {
        if packet.kind() != Kind::Handshake {
            count(&mut self.0[packet.channel()]);
        }
    }
}

impl Observer<Packet> for Counter {
    fn copied(&mut self, _: u64, _: LinkId, copy: &mut Packet) {
        if let Packet::Datagram(datagram) = copy {
            datagram.is_copy = true;
        }
        self.count(copy, |missing| missing.copied += 1);
    }

    fn dropped(&mut self, _: u64, _: LinkId, packet: Packet) {
        self.count(&packet, |missing| missing.dropped += 1);
    }

    fn lost(&mut self, _: u64, _: LinkId, packet: Packet) {
        self.count(&packet, |missing| missing.lost += 1);
    }
}

/// A run under way.
pub struct Run<'a> {
    pub scenario: &'a Scenario,
    /// Of each flow the sender, then the receiver.
    pub driver: Driver<Packet, FlowEnd, Counter>,
    /// Of each QUIC flow what measures its controller.
    pub meters: Vec<Option<Meter>>,
    /// The clock at the scenario's time zero.
    pub origin: u64,
    /// The payload of a full packet of each flow, bytes: the unit of windows.
    pub segment: Vec<u32>,
    /// They say when it is to stop.
    pub helpers: Helpers,
}

/// Events between two looks at whether it is to stop.
const EVENTS: usize = 1000;

impl<'a> Run<'a> {
    /// Creates the run of a scenario that has been checked.
    ///
    /// # Errors
    /// An algorithm or an endpoint cannot be created, or packets could go round in no time.
    pub fn new(scenario: &'a Scenario, factory: Factory<'_>) -> Result<Run<'a>, EngineError> {
        Run::with_log(scenario, factory, None)
    }

    /// Creates the same run, with a log of the sender of one flow.
    ///
    /// # Errors
    /// Those of [`Run::new`].
    pub fn with_log(
        scenario: &'a Scenario,
        factory: Factory<'_>,
        log: Option<(usize, Log)>,
    ) -> Result<Run<'a>, EngineError> {
        let (endpoints, origin) = setup::endpoints(&as_tcp(scenario), factory)?;
        let mut hosts = Vec::with_capacity(2 * endpoints.len());
        let mut meters = Vec::with_capacity(endpoints.len());
        let mut segment = Vec::with_capacity(endpoints.len());
        for (flow, ends) in endpoints.into_iter().enumerate() {
            if scenario.flows[flow].transport.is_tcp() {
                hosts.extend(ends.map(FlowEnd::Tcp));
                meters.push(None);
                segment.push(scenario.stack.payload);
            } else {
                let log = log.as_ref().filter(|(logged, _)| *logged == flow).map(|(_, log)| log.clone());
                let connection = quic_ends(scenario, flow, origin, log, factory);
                let (ends, meter, payload) =
                    connection.map_err(|why| EngineError::Failed(format!("flow {}: {why}", flow + 1)))?;
                hosts.extend(ends.map(|end| FlowEnd::Quic(Box::new(end))));
                meters.push(Some(meter));
                segment.push(payload);
            }
        }
        let routes = scenario.flows.iter().flat_map(|flow| [&flow.route, &flow.ack_route]);
        let routes = routes.enumerate().map(|(channel, links)| Route {
            from: channel,
            to: channel ^ 1,
            links: links.clone(),
        });
        let settings = Settings {
            seed: scenario.seed,
            origin,
            full_packet: scenario.stack.full_packet(),
            ties_by_turn: scenario.ties == Ties::ByTurn,
        };
        let counter = Counter(vec![Missing::default(); hosts.len()]);
        let network = Network::with_observer(&scenario.network.links, routes.collect(), &settings, counter);
        let driver = network.and_then(|network| Driver::new(network, hosts)).map_err(refused)?;
        Ok(Run { scenario, driver, meters, origin, segment, helpers: Helpers::default() })
    }

    /// Does everything before a time.
    ///
    /// # Errors
    /// An algorithm has set a value that no window may have (the first is named), a connection has failed, or the run was stopped.
    pub fn until(&mut self, time: Time) -> Result<(), EngineError> {
        let end = time.0.saturating_add(self.origin);
        loop {
            if self.helpers.is_stopped() {
                return Err(EngineError::stopped());
            }
            if (0..EVENTS).any(|_| !self.driver.step(end)) {
                break;
            }
        }
        self.driver.run_until(end);
        let (scenario, origin) = (self.scenario, self.origin);
        let illegal = (0..scenario.flows.len()).filter_map(|flow| {
            let meter = self.meters[flow].as_ref();
            let found = self.driver.with_host(2 * flow, |host, _| match host {
                FlowEnd::Tcp(Endpoint::Sender(sender)) => sender.illegal_value(),
                FlowEnd::Tcp(Endpoint::Receiver(_)) => None,
                FlowEnd::Quic(_) => meter?.illegal_value().get().map(|(at, illegal)| (at.0, *illegal)),
            })?;
            Some((flow, found))
        });
        if let Some((flow, found)) = illegal.min_by_key(|(_, (at, _))| *at) {
            return Err(illegal_value(scenario, flow, found, origin));
        }
        for flow in 0..scenario.flows.len() {
            for channel in [2 * flow, 2 * flow + 1] {
                let failure = self.driver.with_host(channel, |host, _| match host {
                    FlowEnd::Quic(end) => end.progress().failure,
                    FlowEnd::Tcp(_) => None,
                });
                if let Some(why) = failure {
                    let end = if channel % 2 == 0 { "sender" } else { "receiver" };
                    let message = format!("flow {}: the QUIC connection of the {end} ended: {why}", flow + 1);
                    return Err(EngineError::Failed(message));
                }
            }
        }
        Ok(())
    }
}

/// Creates the two ends of a QUIC flow. Also returns the sender's meter and the UDP payload of a full datagram, bytes.
///
/// # Errors
/// There is no such algorithm, or the implementation refuses its configuration.
fn quic_ends(
    scenario: &Scenario,
    number: usize,
    origin: u64,
    log: Option<Log>,
    factory: Factory<'_>,
) -> Result<([End; 2], Meter, u32), String> {
    let flow = &scenario.flows[number];
    let payload = scenario.stack.udp_payload().ok_or("its packets have no IP headers")?;
    // It begins when the handshake of a TCP flow would.
    let start = (scenario.start_of(number).0 + origin).saturating_sub(setup::handshake_time(scenario, flow));
    let channel = 2 * number as u32;
    let meter = Meter::new(start);
    let plan = Plan {
        channel,
        seed: scenario.seed,
        udp_payload: u16::try_from(payload).map_err(|_| "its packets are too large".to_owned())?,
        window: u64::from(scenario.stack.receive_window) * u64::from(scenario.stack.payload),
        bytes: flow.bytes,
        deadline: flow.deadline.map(|after| (scenario.start_of(number).0 + origin).saturating_add(after.0)),
        origin,
        log,
        meter: meter.clone(),
    };
    let back = Plan { channel: channel + 1, log: None, ..plan.clone() };
    let peers: [Box<dyn HostEndpoint>; 2] = match flow.transport {
        Transport::Noq => {
            let controllers = noq::controllers(&flow.algorithm, &plan, factory)?;
            [Box::new(noq::QuicPeer::sender(&plan, controllers)?), Box::new(noq::QuicPeer::receiver(&back)?)]
        }
        Transport::Quinn => {
            let controllers = quinn::controllers(&flow.algorithm, &plan, factory)?;
            [
                Box::new(quinn::QuicPeer::sender(&plan, controllers)?),
                Box::new(quinn::QuicPeer::receiver(&back)?),
            ]
        }
        Transport::Tcp => return Err("it is no QUIC flow".to_owned()),
    };
    let headers = scenario.stack.full_packet() - payload;
    let ecn = scenario.stack.ecn != Ecn::Off;
    let [sender, receiver] = peers;
    let stream = Stream::new(scenario.seed, Purpose::SendOverhead, number as u64);
    let times = Times {
        start: Some(start),
        stop: flow.stop.map(|stop| stop.0.saturating_add(origin)),
        overhead: scenario.send_overhead.0,
        stream,
    };
    let passive = Times { start: None, stop: None, overhead: 0, ..times.clone() };
    let ends = [
        End::new(sender, channel, headers, ecn, times),
        End::new(receiver, channel + 1, headers, ecn, passive),
    ];
    Ok((ends, meter, payload))
}

fn refused(error: NetworkError) -> EngineError {
    EngineError::Refused(vec![Problem { place: "network".to_owned(), message: error.to_string() }])
}
