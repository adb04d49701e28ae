//! A simulator that is as naive as it can be: `cwnd-net`'s event-driven network, with queues that really hold their packets
//! and an event for everything that happens to each packet, between endpoints on the general path. It is slow and obviously
//! right, and the engine is compared with it.
//!
//! What the two share knows nothing of engines: the endpoints (`cwnd-tcp`), and the state machines of `cwnd-link`. Links that
//! the engine runs in closed form are run here by the same state machines as all others: so these are compared with the closed
//! form, too. Which packets of such a link are marked is counted here by a rule of its own.
//!
//! The documentation of `cwnd-net` has the order of simultaneous events, which is also the engine's. Hosts are the endpoints,
//! by flow, the sender before the receiver.

mod endpoint;
mod outcome;

use cwnd_link::{Purpose, Stream};
use cwnd_net::{Driver, Network, NetworkError, Route, Settings};
use cwnd_scenario::{
    Effects, EngineError, LinkId, Loss, QueueSpec, Rate, Scenario, Schedule, Ties, Time, Traffic,
};
use cwnd_sim::host::Endpoint;
use cwnd_sim::{Factory, setup};
use endpoint::{Segment, TcpHost};
use outcome::Counter;
pub use outcome::has_jitter_alone;

/// A run under way.
pub struct Naive {
    scenario: Scenario,
    /// Of each flow the sender, then the receiver.
    driver: Driver<Segment, TcpHost, Counter>,
    origin: u64,
}

impl Naive {
    /// Creates the run of a scenario that has been checked. None if packets could go round in no time.
    pub fn new(scenario: &Scenario, factory: Factory<'_>) -> Result<Option<Naive>, EngineError> {
        let (endpoints, origin) = setup::endpoints(scenario, factory)?;
        let hosts = endpoints.into_iter().flatten().map(|mut endpoint| {
            if let Endpoint::Sender(sender) = &mut endpoint {
                sender.disable_fast_paths();
            }
            TcpHost(endpoint)
        });
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
        let links = &scenario.network.links;
        let network = Network::with_observer(links, routes.collect(), &settings, Counter::new(scenario));
        match network.and_then(|network| Driver::new(network, hosts.collect())) {
            Ok(driver) => Ok(Some(Naive { scenario: scenario.clone(), driver, origin })),
            Err(NetworkError::InstantCircle) => Ok(None),
            Err(error) => panic!("the scenario has been checked: {error}"),
        }
    }

    /// Do all that happens before `time`, and nothing that happens at it or later; but stop earlier when so
    /// many events have been handled since the start: between two times, and not before the scenario's time
    /// zero. Returns whether it came to `time`.
    pub fn run_within(&mut self, time: Time, events: u64) -> bool {
        without_fault(|| self.run(time, events))
    }

    fn run(&mut self, time: Time, events: u64) -> bool {
        let stop = time.0.saturating_add(self.origin);
        let mut last = 0;
        while let Some(at) = self.driver.network().next_event().filter(|&at| at < stop) {
            if self.handled() >= events && at > last && at >= self.origin {
                self.driver.run_until(at);
                return false;
            }
            last = at;
            self.driver.step(stop);
        }
        self.driver.run_until(stop);
        true
    }

    /// When the next event comes, if that is after the scenario's time zero.
    pub fn next_at(&self) -> Option<Time> {
        self.driver.network().next_event().and_then(|at| at.checked_sub(self.origin)).map(Time)
    }

    /// The link at which the next event happens, if it does at one.
    pub fn next_link(&self) -> Option<LinkId> {
        self.driver.network().next_link()
    }

    /// How far it has come.
    pub fn now(&self) -> Time {
        Time(self.driver.now().saturating_sub(self.origin))
    }

    /// How many events it has handled.
    pub fn handled(&self) -> u64 {
        self.driver.network().handled()
    }

    /// Change a link's rate: for the bits that remain of the packet in transmission, and for those behind
    /// it. False, and nothing changes, if things would then happen in no time, round in a circle, or if the link's rate is that of a
    /// trace.
    pub fn set_rate(&mut self, link: LinkId, rate: Rate) -> bool {
        if let Some(Schedule::Trace(_)) = self.scenario.network.links[link].schedule {
            return false;
        }
        let now = self.driver.now();
        let accepted = self.driver.network_mut().set_rate(now, link, rate).is_ok();
        if accepted {
            self.scenario.network.links[link].rate = rate;
        }
        accepted
    }

    /// Change a link's delay, for packets that leave the transmitter from now on; none overtakes those that
    /// left before. False, and nothing changes, if things would then happen in no time.
    pub fn set_delay(&mut self, link: LinkId, delay: Time) -> bool {
        let now = self.driver.now();
        let accepted = self.driver.network_mut().set_delay(now, link, delay).is_ok();
        if accepted {
            self.scenario.network.links[link].delay = delay;
        }
        accepted
    }

    /// Change what a link loses, for packets whose transmission ends from now on.
    pub fn set_loss(&mut self, link: LinkId, loss: Loss) {
        self.driver.network_mut().set_loss(link, &loss);
        self.scenario.network.links[link].loss = loss;
    }

    /// Change a link's queue, for packets that arrive from now on. False, and nothing changes, if it is another
    /// discipline.
    pub fn set_queue(&mut self, link: LinkId, queue: QueueSpec) -> bool {
        let accepted = self.driver.network_mut().set_queue(link, &queue).is_ok();
        if accepted {
            self.driver.network_mut().observer_mut().set_queue(link, &queue);
            self.scenario.network.links[link].queue = queue;
        }
        accepted
    }

    /// Change what else a link does. False, and nothing changes, if it cannot do that; so it is with links in closed form, but for
    /// their jitter.
    pub fn set_effects(&mut self, link: LinkId, effects: Effects) -> bool {
        let accepted = self.driver.network().observer().may_have(link, &effects)
            && self.driver.network_mut().set_effects(link, &effects).is_ok();
        if accepted {
            self.scenario.network.links[link].effects = effects;
        }
        accepted
    }

    /// Let a flow's application give data in another way, or none.
    pub fn set_traffic(&mut self, flow: usize, traffic: Option<Traffic>) {
        let stream = Stream::new(self.scenario.seed, Purpose::Traffic, flow as u64);
        let now = self.driver.now();
        self.driver.with_host(2 * flow, |host, _| {
            if let Endpoint::Sender(sender) = &mut host.0 {
                sender.set_traffic(now, traffic.as_ref(), stream);
            }
        });
    }

    /// Let a flow send no new data from now on.
    pub fn stop_flow(&mut self, flow: usize) {
        let now = self.driver.now();
        self.driver.with_host(2 * flow, |host, _| {
            if let Endpoint::Sender(sender) = &mut host.0 {
                sender.stop(now);
            }
        });
    }
}

/// The endpoints are the engine's own: a fault in them would be on both sides, so here it is out.
fn without_fault<T>(run: impl FnOnce() -> T) -> T {
    #[cfg(feature = "faults")]
    let fault = cwnd_sim::fault::set(None);
    let done = run();
    #[cfg(feature = "faults")]
    cwnd_sim::fault::set(fault);
    done
}
