//! Hosts that exchange datagrams: the form in which QUIC and TCP stacks without I/O already have their interface.

use crate::driver::{Driver, Host, Output};
use crate::network::Packet;
use crate::{Arrival, Codepoint, LinkId, Network, NetworkError, Observer, RouteId};
use std::collections::BTreeMap;

/// A datagram with its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The number of the host that sends. The network sets it.
    pub from: usize,
    /// The number of the host that receives.
    pub to: usize,
    /// The ECN field, as sent or as the network has marked it.
    pub ecn: Codepoint,
    /// The bytes that the receiving host gets.
    pub payload: Vec<u8>,
    /// Bytes of the headers below the payload.
    headers: u32,
}

impl Datagram {
    /// Creates a datagram for a host. The network adds the sender and the size of the headers.
    pub fn new(to: usize, ecn: Codepoint, payload: Vec<u8>) -> Datagram {
        Datagram { from: 0, to, ecn, payload, headers: 0 }
    }
}

impl Packet for Datagram {
    /// The flow is the pair of hosts.
    fn arrival(&self) -> Arrival {
        let flow = (self.from as u32) << 16 | self.to as u32 & 0xffff;
        let bytes = self.payload.len() as u32 + self.headers;
        Arrival { bytes, flow, ecn: self.ecn, plain_ack: false }
    }

    fn mark(&mut self) {
        self.ecn = Codepoint::Ce;
    }

    fn set_ecn(&mut self, codepoint: Codepoint) {
        self.ecn = codepoint;
    }
}

/// A transport without I/O that exchanges datagrams. Times are nanoseconds of simulated time.
///
/// After each call of the other methods, the network takes datagrams with [`poll_transmit`](DatagramHost::poll_transmit) until
/// there is none. Then it calls [`next_timeout`](DatagramHost::next_timeout). It also does so at time zero, so that a client can
/// send its first datagram.
pub trait DatagramHost {
    /// Handles a datagram.
    fn on_datagram(&mut self, now: u64, datagram: Datagram);

    /// Returns the next datagram to send now, if there is one. A stack that returns several segments at once (segmentation
    /// offload) has to be asked for one.
    fn poll_transmit(&mut self, now: u64) -> Option<Datagram>;

    /// Returns when [`on_timeout`](DatagramHost::on_timeout) is to be called, if at all.
    fn next_timeout(&mut self) -> Option<u64>;

    /// Handles the expiry of its timer.
    fn on_timeout(&mut self, now: u64);
}

impl<H: DatagramHost + ?Sized> DatagramHost for Box<H> {
    fn on_datagram(&mut self, now: u64, datagram: Datagram) {
        (**self).on_datagram(now, datagram);
    }

    fn poll_transmit(&mut self, now: u64) -> Option<Datagram> {
        (**self).poll_transmit(now)
    }

    fn next_timeout(&mut self) -> Option<u64> {
        (**self).next_timeout()
    }

    fn on_timeout(&mut self, now: u64) {
        (**self).on_timeout(now);
    }
}

/// How often a timer may expire at one time before [`Endpoint`] panics.
const MOST_EXPIRIES: u32 = 10_000;

/// A [`DatagramHost`] as a [`Host`].
#[derive(Clone, Debug)]
pub struct Endpoint<H> {
    host: H,
    number: usize,
    headers: u32,
    /// The first route to each host.
    routes: BTreeMap<usize, RouteId>,
    timeout: Option<u64>,
    /// The time at which the timer expired last, and how often it did.
    expiries: (u64, u32),
}

impl<H: DatagramHost> Endpoint<H> {
    /// Returns the transport.
    pub fn host(&self) -> &H {
        &self.host
    }

    /// Sends what the transport has, and reads its timer.
    fn flush(&mut self, now: u64, out: &mut dyn Output<Datagram>) {
        while let Some(mut datagram) = self.host.poll_transmit(now) {
            let Some(&route) = self.routes.get(&datagram.to) else {
                panic!(
                    "host {} sent a datagram to host {}; it has routes to the hosts {:?}",
                    self.number,
                    datagram.to,
                    self.routes.keys().collect::<Vec<_>>()
                );
            };
            (datagram.from, datagram.headers) = (self.number, self.headers);
            out.send(route, datagram);
        }
        self.timeout = self.host.next_timeout();
    }
}

impl<H: DatagramHost> Host<Datagram> for Endpoint<H> {
    fn on_packet(&mut self, now: u64, packet: Datagram, out: &mut dyn Output<Datagram>) {
        self.host.on_datagram(now, packet);
        self.flush(now, out);
    }

    /// # Panics
    /// The transport returned a time that is not later, 10,000 times in a row.
    fn on_timer(&mut self, now: u64, out: &mut dyn Output<Datagram>) {
        self.expiries = if self.expiries.0 == now { (now, self.expiries.1 + 1) } else { (now, 1) };
        assert!(
            self.expiries.1 <= MOST_EXPIRIES,
            "host {} asks for its timer at {now} ns again and again; next_timeout must return a later time after on_timeout",
            self.number
        );
        self.host.on_timeout(now);
        self.flush(now, out);
    }

    fn next_timer(&self) -> Option<u64> {
        self.timeout
    }
}

impl<H: DatagramHost, O: Observer<Datagram>> Driver<Datagram, Endpoint<H>, O> {
    /// Joins transports to a network, at time zero. Each takes the first route that leads to the host of a datagram.
    /// `headers` is added to each payload for its size on the wire, in bytes: 28 for IPv4 and UDP, 0 for IP packets.
    ///
    /// # Errors
    /// See [`Driver::new`].
    pub fn with_datagrams(
        network: Network<Datagram, O>,
        hosts: impl IntoIterator<Item = H>,
        headers: u32,
    ) -> Result<Self, NetworkError> {
        let endpoint = |(number, host)| {
            let mut routes = BTreeMap::new();
            for (id, route) in network.routes().iter().enumerate().filter(|(_, route)| route.from == number) {
                routes.entry(route.to).or_insert(id);
            }
            Endpoint { host, number, headers, routes, timeout: None, expiries: (0, 0) }
        };
        let endpoints: Vec<Endpoint<H>> = hosts.into_iter().enumerate().map(endpoint).collect();
        let mut driver = Driver::new(network, endpoints)?;
        (0..driver.hosts().len()).for_each(|host| driver.with_transport(host, |_, _| ()));
        Ok(driver)
    }

    /// Calls a transport from outside, as its application, at the present time. Then sends what it has to send.
    pub fn with_transport<T>(&mut self, host: usize, call: impl FnOnce(&mut H, u64) -> T) -> T {
        let now = self.now();
        self.with_host(host, |endpoint, out| {
            let value = call(&mut endpoint.host, now);
            endpoint.flush(now, out);
            value
        })
    }

    /// Returns a transport.
    pub fn transport(&self, host: usize) -> &H {
        self.hosts()[host].host()
    }

    /// Runs until `done` holds of the transports, before `end`. Returns the time of the event after which it held.
    pub fn run_until_done(&mut self, end: u64, mut done: impl FnMut(&[Endpoint<H>]) -> bool) -> Option<u64> {
        while !done(self.hosts()) {
            if !self.step(end) {
                return None;
            }
        }
        Some(self.now())
    }

    /// Returns the counts of a link until now.
    pub fn link_counts(&mut self, link: LinkId) -> &crate::LinkCounts {
        let now = self.now();
        self.network_mut().counts(link, now)
    }
}
