//! One end of a QUIC flow as a host of the network.

use crate::controller::LARGEST_WITHOUT_DATA;
use crate::controllers::{Controllers, Settings};
use crate::host::log::Log;
use crate::host::meter::Meter;
use crate::host::packet::{Datagram, Kind, Packet};
use crate::host::seeds::instant;
use bytes::Bytes;
use cwnd_cc::{CongestionControl, FlowHints, Nanos};
use cwnd_link::{Purpose, Stream};
use cwnd_net::{Codepoint, Output};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// What an end is made with.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Twice the flow's number, plus one for the receiver.
    pub channel: u32,
    /// The seed of the scenario.
    pub seed: u64,
    /// The largest UDP payload, bytes.
    pub udp_payload: u16,
    /// Flow-control windows of stream and connection, and the send buffer, bytes.
    pub window: u64,
    /// Bytes that the sender's application gives, if not endlessly.
    pub bytes: Option<u64>,
    /// When its bytes should have arrived, ns on the simulation's clock.
    pub deadline: Option<u64>,
    /// The clock at the scenario's time zero.
    pub origin: u64,
    /// Where the implementation writes qlog of this end.
    pub log: Option<Log>,
    /// What measures the sender's controller.
    pub meter: Meter,
}

impl Plan {
    /// Returns the controllers of the sender, with an algorithm of cwnd. Its seed is the one that it has in a TCP flow.
    pub fn controllers(&self, algorithm: Box<dyn CongestionControl>) -> Controllers {
        let flow = u64::from(self.channel / 2);
        let settings = Settings {
            largest_window: self.window as f64 / f64::from(self.udp_payload),
            seed: Some(Stream::new(self.seed, Purpose::Algorithm, flow).next_u64()),
            hints: FlowHints { bytes: self.bytes, deadline: self.deadline.map(Nanos) },
            origin: Some(instant(0)),
            ..Settings::default()
        };
        let algorithm = Mutex::new(Some(algorithm));
        let take = move || algorithm.lock().unwrap_or_else(PoisonError::into_inner).take();
        Controllers::new(move || take().expect("a simulated connection has one path")).with_settings(settings)
    }
}

/// How far an end has come.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// Payload bytes that the receiving application has, in order.
    pub received: u64,
    /// When everything had been acknowledged, ns on the simulation's clock.
    pub completed: Option<u64>,
    /// Packets that loss detection declared lost.
    pub lost_packets: u64,
    /// Why the connection ended, if it did.
    pub failure: Option<String>,
}

/// One end of a connection: a QUIC implementation and its application. Times are ns on the simulation's clock.
pub trait HostEndpoint {
    /// Begins the handshake. The receiver waits for it.
    ///
    /// # Errors
    /// The implementation refuses its configuration.
    fn connect(&mut self, now: u64) -> Result<(), String>;

    /// Handles the payload of a datagram.
    fn receive(&mut self, now: u64, payload: &Bytes, ecn: Codepoint);

    /// Handles the expiry of its timer.
    fn on_timeout(&mut self, now: u64);

    /// Returns when its timer expires, if it is set.
    fn timeout(&mut self) -> Option<u64>;

    /// Writes the next datagram that may leave now into an empty buffer. Returns its ECN field, or none if nothing may leave.
    fn transmit(&mut self, now: u64, buffer: &mut Vec<u8>) -> Option<Codepoint>;

    /// Ends the sending of data. Unacknowledged data is given up.
    fn stop(&mut self);

    /// Returns how many bytes of the stream have arrived, each counted once.
    fn stream_bytes(&self) -> u64;

    /// Returns how far it has come.
    fn progress(&mut self) -> Progress;
}

/// Counts of packets after the handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Datagrams handed to the network.
    pub sent: u64,
    /// Datagrams that arrived, without those of `repeated`.
    pub received: u64,
    /// Copies that a link made, and datagrams of which all data had arrived before.
    pub repeated: u64,
    /// Wire bytes of `received`.
    pub wire_bytes: u64,
    /// Datagrams that arrived with a congestion mark.
    pub marked: u64,
}

/// An end, the times of its application, and the datagrams that it has not sent yet.
pub struct End {
    peer: Box<dyn HostEndpoint>,
    channel: u32,
    /// Bytes of headers before the UDP payload.
    headers: u32,
    /// Whether datagrams may carry an ECN codepoint.
    ecn: bool,
    /// When the sender begins the handshake, until it has.
    start: Option<u64>,
    /// When the sender ends sending, until it has.
    stop: Option<u64>,
    stopped: Option<u64>,
    /// The next timer, computed after each call.
    timer: Option<u64>,
    delays: Delays,
    waiting: VecDeque<(u64, Datagram)>,
    buffer: Vec<u8>,
    counts: Counts,
    failure: Option<String>,
}

/// Times of an end's application, and the delays of its datagrams.
#[derive(Clone, Debug)]
pub struct Times {
    /// When the handshake begins; none for a receiver.
    pub start: Option<u64>,
    /// When the sender ends sending, if ever.
    pub stop: Option<u64>,
    /// The greatest time by which a datagram leaves late; see [`Scenario::send_overhead`](cwnd_scenario::Scenario::send_overhead).
    pub overhead: u64,
    /// Of what the delays are drawn.
    pub stream: Stream,
}

struct Delays {
    most: u64,
    stream: Stream,
    /// When the last datagram leaves.
    last: u64,
}

impl End {
    /// Creates an end with `headers` bytes before each UDP payload.
    pub fn new(peer: Box<dyn HostEndpoint>, channel: u32, headers: u32, ecn: bool, times: Times) -> End {
        let Times { start, stop, overhead, stream } = times;
        let timer = [start, stop].into_iter().flatten().min();
        End {
            peer,
            channel,
            headers,
            ecn,
            start,
            stop,
            stopped: None,
            timer,
            delays: Delays { most: overhead, stream, last: 0 },
            waiting: VecDeque::new(),
            buffer: Vec::new(),
            counts: Counts::default(),
            failure: None,
        }
    }

    /// Handles a datagram that arrives.
    pub fn on_packet(&mut self, now: u64, datagram: &Datagram, out: &mut dyn Output<Packet>) {
        let before = self.peer.stream_bytes();
        self.peer.receive(now, &datagram.payload, datagram.ecn);
        if datagram.kind() != Kind::Handshake {
            let is_new = self.peer.stream_bytes() > before;
            let has_data =
                datagram.kind() == Kind::Data && datagram.payload.len() as u64 > LARGEST_WITHOUT_DATA;
            let counts = &mut self.counts;
            counts.marked += u64::from(datagram.ecn == Codepoint::Ce);
            // A copy may come before what it is a copy of.
            if !is_new && (datagram.is_copy || has_data) {
                counts.repeated += 1;
            } else {
                counts.received += 1;
                counts.wire_bytes += u64::from(datagram.wire);
            }
        }
        self.send(now, out);
    }

    /// Handles the expiry of its timer.
    pub fn on_timer(&mut self, now: u64, out: &mut dyn Output<Packet>) {
        if self.start.take_if(|start| *start <= now).is_some()
            && let Err(why) = self.peer.connect(now)
        {
            self.failure = Some(why);
        }
        if self.stop.take_if(|stop| *stop <= now).is_some() {
            self.start = None;
            self.stopped = Some(now);
            self.peer.stop();
        }
        if self.peer.timeout().is_some_and(|at| at <= now) {
            self.peer.on_timeout(now);
        }
        self.send(now, out);
    }

    /// Returns when its timer expires, if it is set.
    pub fn next_timer(&self) -> Option<u64> {
        self.timer
    }

    /// Returns its counts.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns when it stopped sending, if it has.
    pub fn stopped(&self) -> Option<u64> {
        self.stopped
    }

    /// Returns the number of data packets that have not left the host.
    pub fn waiting(&self) -> u64 {
        self.waiting.iter().filter(|(_, datagram)| datagram.kind() == Kind::Data).count() as u64
    }

    /// Returns how far it has come.
    pub fn progress(&mut self) -> Progress {
        let mut progress = self.peer.progress();
        progress.failure = progress.failure.or_else(|| self.failure.clone());
        progress
    }

    /// Sends what may leave, and sets the timer.
    fn send(&mut self, now: u64, out: &mut dyn Output<Packet>) {
        loop {
            self.buffer.clear();
            let Some(ecn) = self.peer.transmit(now, &mut self.buffer) else { break };
            let datagram = Datagram {
                channel: self.channel,
                wire: self.buffer.len() as u32 + self.headers,
                ecn: if self.ecn { ecn } else { Codepoint::NotEct },
                is_copy: false,
                payload: Bytes::copy_from_slice(&self.buffer),
            };
            self.counts.sent += u64::from(datagram.kind() != Kind::Handshake);
            let leaves = self.delays.next(now);
            self.waiting.push_back((leaves, datagram));
        }
        while self.waiting.front().is_some_and(|(leaves, _)| *leaves <= now)
            && let Some((_, datagram)) = self.waiting.pop_front()
        {
            out.send(datagram.channel as usize, Packet::Datagram(datagram));
        }
        let next = self.waiting.front().map(|(leaves, _)| *leaves);
        self.timer = [self.start, self.stop, next, self.peer.timeout()].into_iter().flatten().min();
    }
}

impl Delays {
    /// Returns when a datagram leaves that the implementation sends at `now`.
    fn next(&mut self, now: u64) -> u64 {
        let late = if self.most > 0 { self.stream.below(self.most) } else { 0 };
        self.last = self.last.max(now) + late;
        self.last
    }
}
