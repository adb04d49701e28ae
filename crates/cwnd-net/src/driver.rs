//! Hosts at the ends of a network's routes, in simulated time.

use crate::network::{Network, Observer, Packet, Step};
use crate::{NetworkError, NodeId, RouteId};

/// An endpoint of any transport: a state machine without I/O.
///
/// Times are nanoseconds. A stack that hands out its packets on request (`poll_transmit`) is adapted by a loop that sends what it
/// has after each call.
pub trait Host<P> {
    /// Handles a packet that has reached the end of its route.
    fn on_packet(&mut self, now: u64, packet: P, out: &mut dyn Output<P>);

    /// Handles the expiry of its timer. [`Host::next_timer`] must then have moved on, possibly after several calls.
    fn on_timer(&mut self, now: u64, out: &mut dyn Output<P>);

    /// Returns when its next timer expires, if one is set. It may move in either direction with every call of the other methods.
    fn next_timer(&self) -> Option<u64>;
}

impl<P, H: Host<P> + ?Sized> Host<P> for Box<H> {
    fn on_packet(&mut self, now: u64, packet: P, out: &mut dyn Output<P>) {
        (**self).on_packet(now, packet, out);
    }

    fn on_timer(&mut self, now: u64, out: &mut dyn Output<P>) {
        (**self).on_timer(now, out);
    }

    fn next_timer(&self) -> Option<u64> {
        (**self).next_timer()
    }
}

/// Where a host's packets go.
pub trait Output<P> {
    /// Sends a packet at the time of the call in which the host is. Returns false if the first link dropped it at once (see
    /// [`Network::send`]).
    fn send(&mut self, route: RouteId, packet: P) -> bool;
}

/// A network and the hosts at its ends. It advances from event to event.
///
/// Host h sends on the routes that begin [`from`](crate::Route::from) it, and gets the packets of those that lead
/// [to](crate::Route::to) it.
#[derive(Clone, Debug)]
pub struct Driver<P, H, O = ()> {
    network: Network<P, O>,
    hosts: Vec<H>,
    nodes: Vec<NodeId>,
    /// For each host, the earliest time for which its timer is in the agenda; `u64::MAX` if it is not.
    scheduled: Vec<u64>,
    now: u64,
}

impl<P: Packet, H: Host<P>, O: Observer<P>> Driver<P, H, O> {
    /// Joins hosts to a network, at time zero.
    ///
    /// # Errors
    /// A host is on no route, or its routes do not begin and end at one node; or packets could go round in no time.
    pub fn new(mut network: Network<P, O>, hosts: Vec<H>) -> Result<Self, NetworkError> {
        let nodes = (0..hosts.len()).map(|host| network.node_of(host)).collect::<Result<_, _>>()?;
        let missing = network.routes().iter().flat_map(|route| [route.from, route.to]).max();
        if let Some(host) = missing.filter(|&host| host >= hosts.len()) {
            return Err(NetworkError::Host(host));
        }
        network.add_hosts()?;
        let scheduled = vec![u64::MAX; hosts.len()];
        let mut driver = Driver { network, hosts, nodes, scheduled, now: 0 };
        (0..driver.hosts.len()).for_each(|host| driver.schedule_timer(host));
        Ok(driver)
    }

    /// Handles all events before `end`, and none at `end` or later. Then it is `end`.
    pub fn run_until(&mut self, end: u64) {
        while self.step(end) {}
        self.now = self.now.max(end);
    }

    /// Handles the next event, if it comes before `end`. Returns whether it did.
    pub fn step(&mut self, end: u64) -> bool {
        let Some(at) = self.network.next_event().filter(|&at| at < end) else { return false };
        self.now = at;
        match self.network.step() {
            Some(Step::Delivered(delivery)) => {
                let host = self.network.routes()[delivery.route].to;
                self.with_host(host, |host, out| host.on_packet(at, delivery.packet, out));
            }
            Some(Step::TimerExpires { host }) => {
                if self.scheduled[host] == at {
                    self.scheduled[host] = u64::MAX;
                }
                // It may have moved since it was scheduled.
                if self.hosts[host].next_timer().is_some_and(|timer| timer <= at) {
                    self.network.count_timer();
                    self.with_host(host, |host, out| host.on_timer(at, out));
                } else {
                    self.schedule_timer(host);
                }
            }
            Some(Step::Inside) | None => {}
        }
        true
    }

    /// Calls a host from outside, as its application, at the present time. It may send packets, and its timer may move.
    pub fn with_host<T>(&mut self, host: usize, call: impl FnOnce(&mut H, &mut dyn Output<P>) -> T) -> T {
        let mut outlet = Outlet { network: &mut self.network, now: self.now };
        let answer = call(&mut self.hosts[host], &mut outlet);
        self.schedule_timer(host);
        answer
    }

    /// Returns the present time.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Returns the hosts.
    pub fn hosts(&self) -> &[H] {
        &self.hosts
    }

    /// Ends the run. Returns the hosts.
    pub fn into_hosts(self) -> Vec<H> {
        self.hosts
    }

    /// Returns the network.
    pub fn network(&self) -> &Network<P, O> {
        &self.network
    }

    /// Returns the network, to change its links at the [present time](Driver::now).
    pub fn network_mut(&mut self) -> &mut Network<P, O> {
        &mut self.network
    }

    fn schedule_timer(&mut self, host: usize) {
        // A timer that has moved to later is scheduled when the earlier one comes.
        if let Some(at) = self.hosts[host].next_timer().map(|at| at.max(self.now))
            && at < self.scheduled[host]
        {
            self.scheduled[host] = at;
            self.network.set_timer(at, host, self.nodes[host]);
        }
    }
}

struct Outlet<'a, P, O> {
    network: &'a mut Network<P, O>,
    now: u64,
}

impl<P: Packet, O: Observer<P>> Output<P> for Outlet<'_, P, O> {
    fn send(&mut self, route: RouteId, packet: P) -> bool {
        self.network.send(self.now, route, packet)
    }
}
