//! This host's TCP as the endpoint of packetdrill scripts: real sockets in a network namespace of their own, whose packets this process
//! reads from a TUN device and answers as the script says, in real time.

mod packet;
mod state;

use crate::namespace::Namespace;
use crate::system;
use crate::tun::{NAME, Tun};
use cwnd_drill::code::Value;
use cwnd_drill::script::{Flags, Packet, TcpOption};
use cwnd_drill::{Endpoint, Place, ScriptError, Sent, Settings, Trigger};
use cwnd_tcp::TcpInfo;
use socket2::{Domain, Protocol, Socket, Type};
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, IoSlice};
use std::net::{Ipv4Addr, Shutdown, SocketAddrV4};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// How a write ends on a connection that is no more.
const ENDED: [io::ErrorKind; 3] =
    [io::ErrorKind::ConnectionReset, io::ErrorKind::BrokenPipe, io::ErrorKind::TimedOut];
/// The socket's end and the script's (RFC 5737).
const LOCAL: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(192, 168, 0, 1), 8080);
const REMOTE: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 1), 32_000);

/// How often the device is looked at while the script waits.
const PERIOD: Duration = Duration::from_micros(100);

/// How long an accepted connection may take to appear after the ACK that ends its handshake, and how long packets of a call may take.
const PATIENCE: Duration = Duration::from_millis(20);

/// How much an event may at least be early or late, ns: this process shares the machine with others.
const LEAST_TOLERANCE: i64 = 10_000_000;

/// The most bytes of a packet.
const MAX_PACKET: usize = 65_536;

/// An endpoint of this host's kernel.
pub struct KernelEndpoint {
    settings: Settings,
    tun: Tun,
    listener: Option<Socket>,
    socket: Option<Socket>,
    sent: VecDeque<Sent>,
    begin: Instant,
    /// The kernel's initial sequence number, which scripts call 0.
    isn: Option<u32>,
    /// The highest sequence number that has left, as scripts count.
    highest: u32,
    /// The port that the kernel uses: its own choice for connections that it makes.
    port: u16,
    trigger: Trigger,
    /// Timestamps of packets that have left, by the script's values.
    timestamps: BTreeMap<u32, u32>,
    // It goes last: the sockets and the device live in it.
    namespace: Namespace,
}

impl KernelEndpoint {
    /// Creates a namespace with a TUN device and the script's settings.
    ///
    /// # Errors
    /// Without root rights or `/dev/net/tun`, or if the kernel refuses a setting.
    pub fn new(settings: Settings) -> Result<KernelEndpoint, ScriptError> {
        let place = Place { line: 1, column: 1 };
        KernelEndpoint::create(settings).map_err(|error| {
            ScriptError::new(
                place,
                format!("this host's kernel cannot play scripts: {error} (root and /dev/net/tun are needed)"),
            )
        })
    }

    fn create(mut settings: Settings) -> io::Result<KernelEndpoint> {
        settings.tolerance = settings.tolerance.max(LEAST_TOLERANCE);
        let namespace = Namespace::new()?;
        let tun = namespace.within(|| configure(&settings).and_then(|()| Tun::new()))?;
        let (local, remote) = (LOCAL.ip(), REMOTE.ip());
        let window = settings.initial_window;
        namespace.ip(&[
            "link set lo up".to_owned(),
            format!("link set {NAME} mtu {}", settings.mss + 40),
            format!("link set {NAME} up"),
            format!("address add {local}/32 dev {NAME}"),
            format!("route add {remote}/32 dev {NAME} src {local} initcwnd {window}"),
        ])?;
        Ok(KernelEndpoint {
            settings,
            tun,
            listener: None,
            socket: None,
            sent: VecDeque::new(),
            begin: Instant::now(),
            isn: None,
            highest: 0,
            port: LOCAL.port(),
            trigger: Trigger::Timer,
            timestamps: BTreeMap::new(),
            namespace,
        })
    }

    fn now(&self) -> i64 {
        self.begin.elapsed().as_nanos() as i64
    }

    /// Reads what the kernel has sent. Returns whether there was anything.
    fn read_device(&mut self) -> bool {
        let mut bytes = vec![0; MAX_PACKET];
        let mut any = false;
        while let Ok(Some(length)) = self.tun.read(&mut bytes) {
            let Some((ports, mut packet)) = packet::decode(&bytes[..length]) else { continue };
            if ports.1 != REMOTE.port() {
                continue;
            }
            self.port = ports.0;
            if packet.flags.syn {
                self.isn = Some(packet.seq);
            }
            packet.seq = packet.seq.wrapping_sub(self.isn.unwrap_or(0));
            let end = packet.seq.wrapping_add(packet.length);
            let retransmission = packet.length > 0 && packet.seq < self.highest;
            self.highest = self.highest.max(end);
            self.sent.push_back(Sent { at: self.now(), packet, trigger: self.trigger, retransmission });
            any = true;
        }
        any
    }

    /// Reads the device until `until`, or until a packet has left.
    fn pump(&mut self, until: i64, to_packet: bool) {
        loop {
            self.read_device();
            let left = until - self.now();
            if left <= 0 || (to_packet && !self.sent.is_empty()) {
                break;
            }
            self.trigger = Trigger::Timer;
            std::thread::sleep(PERIOD.min(Duration::from_nanos(left as u64)));
        }
    }

    fn new_socket(&self) -> io::Result<Socket> {
        let algorithm = match self.settings.algorithm.as_str() {
            "cubic-linux" => "cubic",
            "newreno" => "reno",
            other => other,
        };
        self.namespace.within(|| {
            let socket =
                Socket::new(Domain::IPV4, Type::STREAM.nonblocking().cloexec(), Some(Protocol::TCP))?;
            socket.set_reuse_address(true)?;
            socket.set_tcp_congestion(algorithm.as_bytes()).map_err(|error| {
                io::Error::new(error.kind(), format!("congestion control `{algorithm}`: {error}"))
            })?;
            if self.settings.paced {
                pace(&socket)?;
            }
            Ok(socket)
        })
    }

    fn try_listen(&mut self) -> io::Result<()> {
        let socket = self.new_socket()?;
        socket.bind(&LOCAL.into())?;
        socket.listen(1)?;
        self.listener = Some(socket);
        Ok(())
    }

    fn try_connect(&mut self) -> io::Result<()> {
        let socket = self.new_socket()?;
        match socket.connect(&REMOTE.into()) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => return Err(error),
            _ => self.socket = Some(socket),
        }
        Ok(())
    }
}

/// Makes the kernel pace a socket and those that it accepts, as with the queue `fq`: a greatest rate that is never reached.
fn pace(socket: &Socket) -> io::Result<()> {
    let rate: u32 = u32::MAX - 1;
    let length = size_of::<u32>() as libc::socklen_t;
    // SAFETY: the value is as long as said, and lives as long as the call.
    let done = unsafe {
        let (option, value) = (libc::SO_MAX_PACING_RATE, (&raw const rate).cast());
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, option, value, length)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Writes the settings of the calling thread's network namespace.
fn configure(settings: &Settings) -> io::Result<()> {
    let flag = |set: bool| u8::from(set).to_string();
    let Settings { receive_buffer, .. } = settings;
    let values = [
        ("tcp_no_metrics_save", flag(true)),
        ("tcp_timestamps", flag(settings.timestamps)),
        ("tcp_sack", flag(settings.sack)),
        ("tcp_window_scaling", flag(settings.window_scaling)),
        ("tcp_ecn", settings.ecn.to_string()),
        ("tcp_rmem", format!("4096 540000 {receive_buffer}")),
        ("tcp_wmem", "4096 4194304 8388608".to_owned()),
        ("tcp_early_retrans", if settings.tail_loss_probe { "3" } else { "0" }.to_owned()),
        ("tcp_slow_start_after_idle", flag(settings.restart_after_idle)),
        ("tcp_tso_win_divisor", settings.tso_win_divisor.to_string()),
        ("tcp_min_tso_segs", settings.min_tso_segs.to_string()),
        ("conf/all/rp_filter", flag(false)),
    ];
    for (name, value) in values {
        system::write_setting(&format!("/proc/sys/net/ipv4/{name}"), &value)?;
    }
    Ok(())
}

impl Endpoint for KernelEndpoint {
    fn settings(&mut self) -> &mut Settings {
        &mut self.settings
    }

    fn clock(&self) -> i64 {
        self.now()
    }

    fn info(&self) -> Option<TcpInfo> {
        self.socket.as_ref().and_then(state::info)
    }

    fn variables(&self) -> BTreeMap<&'static str, Value> {
        state::variables(self.socket.as_ref())
    }

    fn advance(&mut self, until: i64, _: bool) {
        self.pump(until, false);
    }

    fn advance_to_packet(&mut self, until: i64) {
        self.pump(until, true);
    }

    fn take_sent(&mut self) -> Option<Sent> {
        self.sent.pop_front()
    }

    fn was_sent(&self, packet: &Packet) -> bool {
        packet.seq < self.highest
    }

    fn name_timestamp(&mut self, value: u32, sent: &Sent) {
        for option in sent.packet.options.iter().flatten() {
            if let TcpOption::Timestamps { value: actual, .. } = option {
                self.timestamps.insert(value, *actual);
            }
        }
    }

    fn receive(&mut self, packet: &Packet, place: Place) -> Result<(), ScriptError> {
        self.read_device();
        self.trigger = Trigger::Arrival;
        let isn = self.isn.unwrap_or(0);
        let mut live = packet.clone();
        live.ack = packet.ack.map(|ack| ack.wrapping_add(isn));
        for option in live.options.iter_mut().flatten() {
            match option {
                TcpOption::Sack(blocks) => {
                    for (from, to) in blocks {
                        *from = from.wrapping_add(isn);
                        *to = to.wrapping_add(isn);
                    }
                }
                TcpOption::Timestamps { echo, .. } => {
                    *echo = self.timestamps.get(echo).copied().unwrap_or(*echo)
                }
                _ => {}
            }
        }
        let local = SocketAddrV4::new(*LOCAL.ip(), self.port);
        let bytes = packet::encode(&live, REMOTE, local);
        let failed = |error: io::Error| {
            ScriptError::new(place, format!("the packet cannot be given to the kernel: {error}"))
        };
        self.tun.write(&[IoSlice::new(&bytes)]).map_err(failed)?;
        self.read_device();
        Ok(())
    }

    fn listen(&mut self, place: Place) -> Result<(), ScriptError> {
        self.try_listen().map_err(|error| ScriptError::new(place, format!("listen: {error}")))
    }

    fn connect(&mut self, place: Place) -> Result<(), ScriptError> {
        self.trigger = Trigger::Call;
        self.try_connect().map_err(|error| ScriptError::new(place, format!("connect: {error}")))
    }

    fn accept(&mut self) -> bool {
        let begin = Instant::now();
        while let Some(listener) = &self.listener {
            if let Ok((socket, _)) = listener.accept() {
                self.socket = socket.set_nonblocking(true).is_ok().then_some(socket);
                return self.socket.is_some();
            }
            if begin.elapsed() > PATIENCE {
                return false;
            }
            std::thread::sleep(PERIOD);
        }
        false
    }

    fn set_no_delay(&mut self) {
        if let Some(socket) = &self.socket {
            // A socket that has gone away shows in the next call.
            let _ = socket.set_tcp_nodelay(true);
        }
    }

    fn write(&mut self, bytes: u64, place: Place) -> Result<bool, ScriptError> {
        self.trigger = Trigger::Call;
        let refused = |why: String| ScriptError::new(place, format!("write: {why}"));
        let Some(socket) = &self.socket else { return Err(refused("there is no connection".to_owned())) };
        let mut left = bytes;
        let buffer = vec![0u8; usize::try_from(bytes.min(1 << 20)).unwrap_or(0)];
        while left > 0 {
            let part = &buffer[..left.min(buffer.len() as u64) as usize];
            match socket.send(part) {
                Ok(written) => left -= written as u64,
                Err(error) if ENDED.contains(&error.kind()) => return Ok(false),
                Err(error) => return Err(refused(error.to_string())),
            }
        }
        self.read_device();
        Ok(true)
    }

    fn readable(&self) -> u64 {
        let mut buffer = [std::mem::MaybeUninit::uninit(); MAX_PACKET];
        self.socket.as_ref().and_then(|socket| socket.peek(&mut buffer).ok()).unwrap_or(0) as u64
    }

    fn read(&mut self, most: u64) -> u64 {
        let mut buffer = [std::mem::MaybeUninit::uninit(); MAX_PACKET];
        let most = most.min(MAX_PACKET as u64) as usize;
        self.socket.as_ref().and_then(|socket| socket.recv(&mut buffer[..most]).ok()).unwrap_or(0) as u64
    }

    fn is_finished(&self) -> bool {
        let mut buffer = [std::mem::MaybeUninit::uninit(); 1];
        self.socket.as_ref().is_some_and(|socket| matches!(socket.peek(&mut buffer), Ok(0)))
    }

    fn close(&mut self) {
        self.trigger = Trigger::Call;
        if let Some(socket) = &self.socket {
            // The socket stays, so that its state can be asked for.
            let _ = socket.shutdown(Shutdown::Write);
        }
        self.read_device();
    }
}

/// Returns the flags of a header's byte.
fn flags(byte: u8) -> Flags {
    Flags {
        fin: byte & 1 != 0,
        syn: byte & 2 != 0,
        rst: byte & 4 != 0,
        psh: byte & 8 != 0,
        ack: byte & 16 != 0,
        urg: byte & 32 != 0,
        ece: byte & 64 != 0,
        cwr: byte & 128 != 0,
    }
}
