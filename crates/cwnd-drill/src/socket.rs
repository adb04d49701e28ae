//! The socket under test: a handshake, bytes and TCP headers on top of the sender and the receiver of `cwnd-tcp`, which
//! exchange segments.
//!
//! The handshake is done here, and its result configures the sender: segment size, SACK, timestamps, ECN, window scale and the
//! round-trip time. Sequence numbers of the socket begin at 0, as scripts write them.

mod endpoint;
mod inbound;
mod state;

pub use state::{CONSTANTS, TCP_FIELDS};

use crate::cursor::{Place, ScriptError};
use crate::endpoint::{Sent, Trigger};
use crate::script::{EcnMark, Flags, Packet, TcpOption};
use crate::settings::Settings;
use crate::stream::Stream;
use cwnd_cc::algorithms::cubic::linux::{CubicLinux, CubicLinuxParameters};
use cwnd_cc::{Arithmetic, Configurable, CongestionControl, EcnMode, FlowHints, Parameters, WindowConfig};
use cwnd_scenario::{LinuxVersion, Purpose, Recovery, Stack};
use cwnd_tcp::packet::{BARE, CWR, ECT, ECT1, ESTABLISHED, Emit, PUSH, SYN, SackBlocks};
use cwnd_tcp::{LinuxOptions, NEVER, Sender, SenderConfig, TimerWheel};
use inbound::Inbound;
use std::collections::{BTreeMap, VecDeque};

/// The engine's clock at a script's time zero, ns.
const ORIGIN: u64 = 1_000_000_000;

/// Ticks of the kernel a second.
const HZ: u32 = 1000;

/// The segment size of a peer that states none (RFC 9293 section 3.7.1), and the least that Linux accepts.
const DEFAULT_MSS: u32 = 536;
const LEAST_MSS: u32 = 48;

/// Bytes of the timestamp option with its padding.
const TIMESTAMP_BYTES: u32 = 12;

/// The most bytes that one script may write.
const MAX_STREAM: u64 = 1 << 31;

/// How far the connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Closed,
    Listening,
    /// The SYN left at this time.
    SynSent(i64),
    /// The SYN-ACK left at this time.
    SynReceived(i64),
    Established,
}

/// What the peer has offered.
#[derive(Clone, Copy, Debug, Default)]
struct RemoteOffer {
    isn: u32,
    mss: u32,
    window_scale: u32,
    window_scaling: bool,
    sack: bool,
    timestamps: bool,
    ecn: bool,
    /// The last window that it advertised, bytes.
    window: u64,
}

/// The socket.
pub struct Socket {
    settings: Settings,
    phase: Phase,
    peer: RemoteOffer,
    sender: Option<Box<Sender>>,
    inbound: Inbound,
    stream: Stream,
    /// Packets that have left and that the script has not expected yet.
    sent: VecDeque<Sent>,
    /// The time up to which everything has happened.
    clock: i64,
    /// The segment above all that were sent.
    highest: u64,
    /// The peer's last timestamp, and when packets with the socket's timestamps left, by the script's values.
    recent: u32,
    departures: BTreeMap<u32, i64>,
    fin: Fin,
    /// Whether the application has switched off Nagle's algorithm.
    no_delay: bool,
    /// Segments that were given to the sender.
    given: u64,
}

/// The socket's FIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fin {
    Open,
    Pending,
    Sent,
}

/// Collects what an endpoint emits.
#[derive(Default)]
struct Collector {
    packets: Vec<(cwnd_tcp::packet::Packet, Option<SackBlocks>)>,
    /// Whether the local queue drops every packet.
    blocked: bool,
}

impl Emit for Collector {
    fn emit(&mut self, _: u64, packet: cwnd_tcp::packet::Packet) -> bool {
        self.packets.push((packet, None));
        true
    }

    fn emit_sack(&mut self, _: u64, packet: cwnd_tcp::packet::Packet, blocks: &SackBlocks) -> bool {
        self.packets.push((packet, Some(*blocks)));
        true
    }

    fn accepts(&self) -> bool {
        !self.blocked
    }
}

fn engine_time(at: i64) -> u64 {
    ORIGIN + at.max(0) as u64
}

fn script_time(at: u64) -> i64 {
    at.saturating_sub(ORIGIN) as i64
}

impl Socket {
    /// Creates a closed socket.
    pub fn new(settings: Settings) -> Socket {
        Socket {
            stream: Stream::new(settings.mss),
            settings,
            phase: Phase::Closed,
            peer: RemoteOffer::default(),
            sender: None,
            inbound: Inbound::default(),
            sent: VecDeque::new(),
            clock: 0,
            highest: 0,
            recent: 0,
            departures: BTreeMap::new(),
            fin: Fin::Open,
            no_delay: false,
            given: 0,
        }
    }

    /// Lets timers expire that are due before `until`; with `inclusive` also those that are due then.
    fn expire_timers(&mut self, until: i64, inclusive: bool) {
        while let Some(at) = self.deadline() {
            if at > until || (at == until && !inclusive) {
                break;
            }
            self.fire();
        }
        self.clock = self.clock.max(until);
    }

    /// Returns when the next timer expires.
    fn deadline(&self) -> Option<i64> {
        let sender = self.sender.as_ref().map_or(NEVER, |sender| sender.deadline());
        let at = sender.min(self.inbound.deadline());
        (at != NEVER).then(|| script_time(at))
    }

    /// Returns an empty collector.
    fn collector(&self) -> Collector {
        Collector { blocked: self.settings.queue_blocked, ..Collector::default() }
    }

    fn fire(&mut self) {
        let Some(at) = self.deadline() else { return };
        self.clock = self.clock.max(at);
        let now = engine_time(self.clock);
        let mut out = self.collector();
        if self.inbound.deadline() <= now {
            self.inbound.on_timer(now, &mut out);
            self.take_acks(out, Trigger::Timer);
        } else if let Some(sender) = &mut self.sender {
            sender.on_timer(now, &mut out);
            self.take(out, Trigger::Timer);
        }
    }

    /// Sends the SYN.
    fn send_syn(&mut self) {
        self.phase = Phase::SynSent(self.clock);
        let settings = &self.settings;
        let (timestamps, sack, scaling) = (settings.timestamps, settings.sack, settings.window_scaling);
        let options = self.handshake_options(timestamps, sack, scaling);
        let ecn = self.settings.ecn == 1;
        let flags = Flags { syn: true, ece: ecn, cwr: ecn, ..Flags::default() };
        self.push(Packet { flags, options: Some(options), ..Packet::default() }, Trigger::Call, false);
    }

    /// Returns the options of a SYN or SYN-ACK, in Linux's order.
    fn handshake_options(&self, timestamps: bool, sack: bool, scaling: bool) -> Vec<TcpOption> {
        let mut options = vec![TcpOption::Mss(self.settings.mss)];
        match (sack, timestamps) {
            (true, true) => options.extend([TcpOption::SackPermitted, self.timestamp_option()]),
            (false, true) => options.extend([TcpOption::Nop, TcpOption::Nop, self.timestamp_option()]),
            (true, false) => options.extend([TcpOption::Nop, TcpOption::Nop, TcpOption::SackPermitted]),
            (false, false) => {}
        }
        if scaling {
            options.extend([TcpOption::Nop, TcpOption::WindowScale(self.receive_scale())]);
        }
        options
    }

    /// Returns the window scale that Linux chooses for its receive buffer.
    fn receive_scale(&self) -> u32 {
        self.settings.receive_buffer.max(1).ilog2().saturating_sub(15).min(14)
    }

    fn timestamp_option(&self) -> TcpOption {
        TcpOption::Timestamps { value: self.timestamp_value(), echo: self.recent }
    }

    /// Returns the socket's timestamp now, ms.
    fn timestamp_value(&self) -> u32 {
        (self.clock / 1_000_000) as u32
    }

    /// Processes a packet that arrives now.
    ///
    /// # Errors
    /// The packet needs something that is not supported.
    fn process_arrival(&mut self, packet: &Packet, place: Place) -> Result<(), ScriptError> {
        for option in packet.options.iter().flatten() {
            if let TcpOption::Timestamps { value, .. } = option {
                self.recent = *value;
            }
        }
        match self.phase {
            Phase::Listening if packet.flags.syn => {
                self.take_offer(packet);
                let ecn = packet.flags.ece && packet.flags.cwr && self.settings.ecn > 0;
                self.peer.ecn = ecn;
                self.phase = Phase::SynReceived(self.clock);
                let options =
                    self.handshake_options(self.peer.timestamps, self.peer.sack, self.peer.window_scaling);
                let flags = Flags { syn: true, ack: true, ece: ecn, ..Flags::default() };
                let answer = Packet { flags, options: Some(options), ..self.ack_packet() };
                self.push(answer, Trigger::Arrival, false);
                Ok(())
            }
            Phase::SynSent(at) if packet.flags.syn && packet.flags.ack => {
                self.take_offer(packet);
                self.peer.ecn = packet.flags.ece && self.settings.ecn == 1;
                self.peer.window = u64::from(packet.window.unwrap_or(0));
                self.establish(at, place)?;
                let ack = Packet { seq: 1, ..self.ack_packet() };
                self.push(ack, Trigger::Arrival, false);
                Ok(())
            }
            Phase::SynReceived(at) if packet.flags.ack && !packet.flags.syn => {
                self.establish(at, place)?;
                self.process(packet, place)
            }
            Phase::Established if packet.flags.rst => {
                self.phase = Phase::Closed;
                self.sender = None;
                Ok(())
            }
            Phase::Established => self.process(packet, place),
            _ => Ok(()),
        }
    }

    fn take_offer(&mut self, packet: &Packet) {
        let mut peer = RemoteOffer { isn: packet.seq, mss: DEFAULT_MSS, ..RemoteOffer::default() };
        for option in packet.options.iter().flatten() {
            match option {
                TcpOption::Mss(bytes) => peer.mss = (*bytes).max(LEAST_MSS),
                TcpOption::WindowScale(shift) => {
                    (peer.window_scale, peer.window_scaling) = (*shift, self.settings.window_scaling);
                }
                TcpOption::SackPermitted => peer.sack = self.settings.sack,
                TcpOption::Timestamps { .. } => peer.timestamps = self.settings.timestamps,
                _ => {}
            }
        }
        if !peer.window_scaling {
            peer.window_scale = 0;
        }
        self.peer = peer;
        self.inbound.begin(self.peer.isn.wrapping_add(1));
    }

    /// Creates the sender, whose handshake began at `began` and ends now.
    fn establish(&mut self, began: i64, place: Place) -> Result<(), ScriptError> {
        let algorithm = self.algorithm(place)?;
        let options = if self.peer.timestamps { TIMESTAMP_BYTES } else { 0 };
        let mss =
            self.peer.mss.min(self.settings.mss).saturating_sub(options).max(LEAST_MSS - TIMESTAMP_BYTES);
        let ecn = match (self.peer.ecn, algorithm.needs().ecn) {
            (false, _) => EcnMode::Off,
            (true, needed) => needed.unwrap_or(EcnMode::Classic),
        };
        let stack = Stack::linux(mss + 40 + options, self.peer.timestamps, u32::MAX);
        let packet_size = stack.full_packet();
        let config = SenderConfig {
            channel: 0,
            packet_size,
            first_packet_size: packet_size,
            last_packet_size: packet_size,
            segments: u64::MAX,
            ack_size: stack.ack_size,
            receive_window: 0,
            growing_window: None,
            accurate_ecn: false,
            timer: TimerWheel::new(HZ),
            validate_cwnd: true,
            window: WindowConfig {
                initial_cwnd: f64::from(self.settings.initial_window),
                initial_ssthresh: f64::INFINITY,
                clamp: f64::INFINITY,
                mss,
                arithmetic: Arithmetic::Linux,
                slow_start_at_ssthresh: false,
            },
            recovery: Recovery::Linux,
            sack: self.peer.sack,
            timestamps: self.peer.timestamps,
            limited_transmit: true,
            detect_lost_retransmissions: true,
            ecn,
            l4s: false,
            handshake: true,
            rto: (stack.initial_rto.0, stack.min_rto.0, stack.max_rto.0),
            start: engine_time(began),
            stop: NEVER,
            send_overhead: 0,
            overhead_stream: cwnd_scenario::Stream::new(1, Purpose::SendOverhead, 0),
            algorithm_seed: 1,
            hints: FlowHints::default(),
            application: None,
            restart_after_idle: self.settings.restart_after_idle,
            linux_version: self.settings.kernel.unwrap_or_default(),
        };
        let mut sender = Box::new(Sender::new(config, algorithm));
        sender.set_traffic(0, None, cwnd_scenario::Stream::new(1, Purpose::Traffic, 0));
        sender.set_linux_options(LinuxOptions {
            tail_loss_probe: self.settings.tail_loss_probe,
            tso_win_divisor: self.settings.tso_win_divisor,
            min_tso_segs: self.settings.min_tso_segs,
            paced: self.settings.paced,
            ..LinuxOptions::of(self.settings.kernel.unwrap_or_default())
        });
        // The packets of this handshake stand for those that the script has seen.
        let mut unseen = Collector::default();
        sender.on_timer(engine_time(began), &mut unseen);
        let answer =
            cwnd_tcp::packet::Packet { sent: engine_time(began), flags: BARE | SYN, ..Default::default() };
        sender.on_packet(engine_time(self.clock), &answer, None, &mut unseen);
        self.stream = Stream::new(mss);
        self.sender = Some(sender);
        self.phase = Phase::Established;
        self.inbound.establish(engine_time(began), engine_time(self.clock), ecn);
        let bytes = self.peer.window;
        self.set_window(bytes);
        Ok(())
    }

    /// Creates the congestion control algorithm.
    fn algorithm(&self, place: Place) -> Result<Box<dyn CongestionControl>, ScriptError> {
        let name = &self.settings.algorithm;
        if name == "cubic-linux" && self.settings.kernel.is_some_and(LinuxVersion::has_late_hystart_rounds) {
            let cubic = <CubicLinux as Configurable>::new(CubicLinuxParameters::default());
            return Ok(Box::new(cubic.with_late_hystart_rounds()));
        }
        let info = cwnd_cc::find(name)
            .ok_or_else(|| ScriptError::new(place, format!("the algorithm `{name}` does not exist")))?;
        (info.build)(&Parameters::new()).map_err(|error| ScriptError::new(place, error.to_string()))
    }

    fn set_window(&mut self, bytes: u64) {
        self.peer.window = bytes;
        if let Some(sender) = &mut self.sender {
            let mss = u64::from(sender.window().mss());
            sender.set_receive_window(engine_time(self.clock), bytes / mss);
        }
    }

    /// Adds bytes that the application writes. Returns false if they are too many for one script.
    fn write_bytes(&mut self, bytes: u64) -> bool {
        if bytes > MAX_STREAM || self.stream.end() + bytes > MAX_STREAM {
            return false;
        }
        let Some(sender) = &mut self.sender else { return false };
        self.stream.write(bytes, sender.next_segment());
        self.give(Trigger::Call);
        true
    }

    /// Gives segments to the sender; a short one only if none is outstanding (Nagle's algorithm with Minshall's change).
    fn give(&mut self, trigger: Trigger) {
        let Some(sender) = &mut self.sender else { return };
        let full = u64::from(sender.window().mss());
        let mut end = self.stream.segments();
        let last_is_short = end > self.given && self.stream.range(end - 1).1 < full;
        if last_is_short && !self.no_delay && self.fin == Fin::Open {
            let outstanding = sender.acknowledged()..sender.next_segment();
            let short_out = outstanding.clone().any(|segment| self.stream.range(segment).1 < full);
            if short_out {
                end -= 1;
            }
        }
        let new = end.saturating_sub(self.given);
        if new > 0 {
            self.given = end;
            let mut out = Collector { blocked: self.settings.queue_blocked, ..Collector::default() };
            sender.write(engine_time(self.clock), new, &mut out);
            self.take(out, trigger);
        }
    }

    /// Ends the outgoing stream: the FIN leaves after all data.
    fn end_stream(&mut self) {
        if self.fin == Fin::Open && self.phase == Phase::Established {
            self.fin = Fin::Pending;
            self.give(Trigger::Call);
            self.send_fin(Trigger::Call);
        }
    }

    fn send_fin(&mut self, trigger: Trigger) {
        let all_sent = self.sender.as_ref().is_some_and(|s| s.next_segment() == self.stream.segments());
        if self.fin == Fin::Pending && all_sent {
            let flags = Flags { fin: true, ack: true, ..Flags::default() };
            let fin = Packet { flags, ..self.ack_packet() };
            self.fin = Fin::Sent;
            self.push(fin, trigger, false);
        }
    }

    /// Returns an ACK with the numbers and options of now.
    fn ack_packet(&self) -> Packet {
        let is_syn = !matches!(self.phase, Phase::Established);
        let fin = u64::from(self.fin == Fin::Sent);
        let next = self.sender.as_ref().map_or(0, |sender| self.stream.start(sender.next_segment()));
        let options = match self.peer.timestamps {
            true => vec![TcpOption::Nop, TcpOption::Nop, self.timestamp_option()],
            false => Vec::new(),
        };
        Packet {
            flags: Flags { ack: true, ece: self.inbound.echoes(), ..Flags::default() },
            seq: if is_syn { 0 } else { (1 + next + fin) as u32 },
            ack: Some(self.inbound.next()),
            options: Some(options),
            ..Packet::default()
        }
    }

    /// Converts the segments that the sender has emitted to packets.
    fn take(&mut self, out: Collector, trigger: Trigger) {
        for (packet, _) in out.packets {
            if packet.flags & (SYN | ESTABLISHED) != 0 {
                continue;
            }
            let segment = u64::from(packet.seq);
            let (start, length) = self.stream.range(segment);
            let mut sent = self.ack_packet();
            if packet.is(BARE) {
                // A probe of the peer's window repeats the number before.
                sent.seq = start as u32;
                self.push(sent, trigger, true);
                continue;
            }
            sent.seq = (1 + start) as u32;
            sent.length = length as u32;
            sent.flags.psh = packet.is(PUSH) || self.stream.is_push(segment);
            sent.flags.cwr = packet.is(CWR);
            sent.ecn = match (packet.is(ECT), packet.is(ECT1)) {
                (false, _) => EcnMark::NotEct,
                (true, false) => EcnMark::Ect0,
                (true, true) => EcnMark::Ect1,
            };
            let retransmission = segment < self.highest;
            self.highest = self.highest.max(segment + 1);
            self.push(sent, trigger, retransmission);
        }
        self.send_fin(trigger);
    }

    /// Converts the ACKs that the receiver has emitted to packets.
    fn take_acks(&mut self, out: Collector, trigger: Trigger) {
        for (packet, blocks) in out.packets {
            if packet.flags & SYN != 0 {
                continue;
            }
            let mut ack = self.ack_packet();
            ack.ack = Some(self.inbound.sequence(u64::from(packet.seq)));
            if let (Some(blocks), Some(options)) = (blocks, &mut ack.options) {
                options.truncate(options.len());
                options.extend([TcpOption::Nop, TcpOption::Nop]);
                let sequence = |segment: u32| self.inbound.sequence(u64::from(segment));
                let blocks = blocks.iter().map(|(from, to)| (sequence(from), sequence(to))).collect();
                options.push(TcpOption::Sack(blocks));
            }
            self.push(ack, trigger, false);
        }
    }

    fn push(&mut self, packet: Packet, trigger: Trigger, retransmission: bool) {
        if packet.options.iter().flatten().any(|option| matches!(option, TcpOption::Timestamps { .. })) {
            self.departures.insert(self.timestamp_value(), self.clock);
        }
        if !self.settings.queue_blocked {
            self.sent.push_back(Sent { at: self.clock, packet, trigger, retransmission });
        }
    }
}
