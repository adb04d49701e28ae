//! Three network namespaces in a row, a bottleneck in the middle, and transfers from one end to the other.
#![allow(dead_code)]

use std::{
    ffi::c_void,
    fs::File,
    io::{self, Read, Write},
    mem,
    net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream},
    os::fd::{AsRawFd, FromRawFd},
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

pub const RECEIVER: Ipv4Addr = Ipv4Addr::new(10, 251, 2, 1);

/// sender - router - receiver. Gone when it is dropped.
pub struct Lab {
    names: [String; 3],
}

/// A network namespace with a loopback that is up. Gone when it is dropped.
pub struct Namespace {
    name: String,
}

impl Namespace {
    pub fn new(what: &str) -> Result<Namespace, String> {
        let namespace = Namespace { name: format!("cwnd-{}-{what}", std::process::id()) };
        run(&format!("ip netns add {}", namespace.name))?;
        run(&format!("ip -n {} link set lo up", namespace.name))?;
        Ok(namespace)
    }

    /// Its name, for `ip -n`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Do something in it.
    pub fn within<T: Send>(&self, what: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        within(&self.name, what)
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = run(&format!("ip netns del {}", self.name));
    }
}

/// The window at an instant of a transfer.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Since the transfer began.
    pub at: Duration,
    /// Segments.
    pub cwnd: u32,
    /// Segments.
    pub ssthresh: u32,
    /// The kernel's state of recovery: 0 and 1 where there is none, 2 after a mark, 3 after a loss, 4 after a timeout.
    pub state: u8,
    /// Segments sent and not cumulatively acknowledged (RFC 5681's FlightSize).
    pub flight_size: u32,
    /// Smoothed and least round-trip time, microseconds.
    pub rtt_us: u32,
    pub min_rtt_us: u32,
    /// Segments delivered since the connection began.
    pub delivered: u32,
    /// Segments a second, of the last sample.
    pub delivery_rate: f64,
}

/// What came of a transfer.
#[derive(Debug)]
pub struct Transfer {
    /// What the kernel says carried it.
    pub algorithm: String,
    pub samples: Vec<Sample>,
    pub retransmissions: u32,
    /// Segments with an echoed mark.
    pub delivered_ce: u32,
    pub seconds: f64,
    /// Of both ends: this process, and the kernel's threads that handle packets.
    pub cpu_seconds: f64,
}

impl Lab {
    /// `rate` and `limit` as tc has them. The router marks one in `data_packets_a_mark` packets of data with CE, or none if that is 0.
    /// It counts them: they are of up to 45 segments, so that 200 MB are some 3,200 packets, of which a few marks drawn at random may all
    /// be segments whose echo is lost.
    pub fn new(rate: &str, limit: &str, data_packets_a_mark: u32) -> Result<Lab, String> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let id = format!("cwnd-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let lab = Lab { names: ["a", "b", "c"].map(|end| format!("{id}-{end}")) };
        let [a, b, c] = &lab.names;
        for name in &lab.names {
            run(&format!("ip netns add {name}"))?;
        }
        run(&format!("ip -n {a} link add right type veth peer name left netns {b}"))?;
        run(&format!("ip -n {b} link add right type veth peer name left netns {c}"))?;
        for (name, device, address) in [
            (a, "right", "10.251.1.1/24"),
            (b, "left", "10.251.1.2/24"),
            (b, "right", "10.251.2.2/24"),
            (c, "left", "10.251.2.1/24"),
        ] {
            run(&format!("ip -n {name} address add {address} dev {device}"))?;
            run(&format!("ip -n {name} link set {device} up"))?;
        }
        run(&format!("ip -n {a} route add default via 10.251.1.2"))?;
        run(&format!("ip -n {c} route add default via 10.251.2.2"))?;
        run(&format!("ip netns exec {b} sysctl -qw net.ipv4.ip_forward=1"))?;
        run(&format!("tc -n {b} qdisc add dev right root tbf rate {rate} burst 64k limit {limit}"))?;
        if data_packets_a_mark > 0 {
            for rule in [
                "add table ip cwnd".to_owned(),
                "add chain ip cwnd forward { type filter hook forward priority 0; }".to_owned(),
                format!(
                    "add rule ip cwnd forward ip ecn {{ ect0, ect1 }} ip length > 1000 numgen inc mod {data_packets_a_mark} 0 ip ecn set ce"
                ),
            ] {
                let done = Command::new("ip").args(["netns", "exec", b, "nft", &rule]).output();
                let done = done.map_err(|error| format!("nft: {error}"))?;
                if !done.status.success() {
                    return Err(format!("nft {rule}: {}", String::from_utf8_lossy(&done.stderr)));
                }
            }
        }
        Ok(lab)
    }

    /// Where the receiver waits for a connection with that congestion control.
    fn listen(&self, algorithm: &str) -> io::Result<TcpListener> {
        within(&self.names[2], || {
            let socket = tcp_socket(algorithm)?;
            let one: libc::c_int = 1;
            set(&socket, libc::SOL_SOCKET, libc::SO_REUSEADDR, &one)?;
            let address = address(RECEIVER, 5001);
            // SAFETY: the address is as long as said.
            let done = unsafe {
                libc::bind(socket.as_raw_fd(), (&raw const address).cast(), mem::size_of_val(&address) as u32)
                    == 0
                    && libc::listen(socket.as_raw_fd(), 1) == 0
            };
            if done { Ok(TcpListener::from(socket)) } else { Err(io::Error::last_os_error()) }
        })
    }

    /// The sender's end of a connection to it.
    fn connect(&self, algorithm: &str) -> io::Result<TcpStream> {
        within(&self.names[0], || {
            let socket = tcp_socket(algorithm)?;
            connect(&socket, RECEIVER, 5001)?;
            Ok(TcpStream::from(socket))
        })
    }

    /// Do something in the sender's network namespace (0), the router's (1) or the receiver's (2).
    pub fn within<T: Send>(&self, end: usize, what: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        within(&self.names[end], what)
    }

    /// Set something in the sender's network namespace.
    pub fn set_sender(&self, setting: &str, value: &str) -> io::Result<()> {
        within(&self.names[0], || std::fs::write(format!("/proc/sys/net/{setting}"), value))
    }

    /// Sends bursts over one connection, each after a pause, and samples the window when a burst has arrived.
    pub fn bursts(&self, algorithm: &str, bursts: &[(Duration, usize)]) -> io::Result<Vec<Sample>> {
        let listener = self.listen(algorithm)?;
        let mut client = self.connect(algorithm)?;
        let (mut server, _) = listener.accept()?;
        let begin = Instant::now();
        let mut samples = Vec::new();
        for &(pause, bytes) in bursts {
            thread::sleep(pause);
            thread::scope(|scope| {
                let received = scope.spawn(|| server.read_exact(&mut vec![0; bytes]));
                client.write_all(&vec![7; bytes])?;
                received.join().expect("the receiver does not panic")
            })?;
            // The last acknowledgement is on its way.
            thread::sleep(Duration::from_millis(60));
            samples.push(Info::of(&client)?.sample(begin.elapsed()));
        }
        Ok(samples)
    }

    /// Sends `bytes` with this congestion control, and samples the window at this interval.
    pub fn transfer(&self, algorithm: &str, bytes: u64, every: Duration) -> io::Result<Transfer> {
        let listener = self.listen(algorithm)?;
        let before = cpu_seconds();
        let begin = Instant::now();
        let server = thread::spawn(move || -> io::Result<u64> {
            let (mut stream, _) = listener.accept()?;
            let mut buffer = vec![0; 1 << 20];
            let mut received = 0;
            loop {
                match stream.read(&mut buffer)? {
                    0 => return Ok(received),
                    count => received += count as u64,
                }
            }
        });
        let mut client = self.connect(algorithm)?;
        let watched = client.try_clone()?;
        let sender = thread::spawn(move || -> io::Result<()> {
            let buffer = vec![7; 1 << 20];
            let mut left = bytes;
            while left > 0 {
                let count = left.min(buffer.len() as u64);
                client.write_all(&buffer[..count as usize])?;
                left -= count;
            }
            client.shutdown(std::net::Shutdown::Write)
        });
        let mut samples = Vec::new();
        while !server.is_finished() {
            let info = Info::of(&watched)?;
            samples.push(info.sample(begin.elapsed()));
            thread::sleep(every);
            assert!(begin.elapsed() < Duration::from_secs(120), "{algorithm} does not get it through");
        }
        let last = Info::of(&watched)?;
        sender.join().expect("the sender does not panic")?;
        assert_eq!(server.join().expect("the receiver does not panic")?, bytes);
        Ok(Transfer {
            algorithm: congestion_control(&watched)?,
            samples,
            retransmissions: last.number(100),
            delivered_ce: last.number(196),
            seconds: begin.elapsed().as_secs_f64(),
            cpu_seconds: cpu_seconds() - before,
        })
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        for name in &self.names {
            let _ = run(&format!("ip netns del {name}"));
        }
    }
}

/// Runs a command, of which an error has the message.
pub fn run(command: &str) -> Result<(), String> {
    let mut words = command.split(' ');
    let done = Command::new(words.next().expect("a program")).args(words).output();
    let done = done.map_err(|error| format!("{command}: {error}"))?;
    if done.status.success() {
        return Ok(());
    }
    Err(format!("{command}: {}", String::from_utf8_lossy(&done.stderr).trim()))
}

/// Do something in a network namespace: sockets that it makes stay there.
fn within<T: Send>(name: &str, what: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let inside = scope.spawn(|| {
            let file = File::open(format!("/run/netns/{name}"))?;
            // SAFETY: a call with plain numbers.
            if unsafe { libc::setns(file.as_raw_fd(), libc::CLONE_NEWNET) } != 0 {
                return Err(io::Error::last_os_error());
            }
            what()
        });
        inside.join().expect("it does not panic")
    })
}

/// Creates a socket with that congestion control.
pub fn tcp_socket(algorithm: &str) -> io::Result<std::os::fd::OwnedFd> {
    // SAFETY: plain numbers; the descriptor is owned from then on.
    let socket = unsafe {
        let fd = libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        std::os::fd::OwnedFd::from_raw_fd(fd)
    };
    // Before the connection, since it says whether ECN is asked for.
    set(&socket, libc::IPPROTO_TCP, libc::TCP_CONGESTION, algorithm.as_bytes())?;
    Ok(socket)
}

fn set<T: ?Sized>(socket: &impl AsRawFd, level: i32, option: i32, value: &T) -> io::Result<()> {
    let (data, length) = ((&raw const *value).cast::<c_void>(), mem::size_of_val(value) as u32);
    // SAFETY: the value is as long as said.
    let done = unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, data, length) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn get(socket: &impl AsRawFd, option: i32, into: &mut [u8]) -> io::Result<usize> {
    let mut length = into.len() as u32;
    // SAFETY: the buffer is as long as said.
    let done = unsafe {
        let data = into.as_mut_ptr().cast();
        libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, option, data, &raw mut length)
    };
    if done == 0 { Ok(length as usize) } else { Err(io::Error::last_os_error()) }
}

/// `struct tcp_info` of the kernel, of which the library's declaration has the first half alone.
struct Info([u8; 512]);

impl Info {
    fn of(socket: &impl AsRawFd) -> io::Result<Info> {
        let mut bytes = [0; 512];
        get(socket, libc::TCP_INFO, &mut bytes)?;
        Ok(Info(bytes))
    }

    fn number(&self, at: usize) -> u32 {
        u32::from_ne_bytes(self.0[at..at + 4].try_into().expect("four bytes"))
    }

    fn sample(&self, at: Duration) -> Sample {
        let rate = u64::from_ne_bytes(self.0[160..168].try_into().expect("eight bytes"));
        Sample {
            at,
            state: self.0[1],
            cwnd: self.number(80),
            ssthresh: self.number(76),
            flight_size: self.number(24),
            rtt_us: self.number(68),
            min_rtt_us: self.number(148),
            delivered: self.number(192),
            delivery_rate: rate as f64 / f64::from(self.number(16).max(1)),
        }
    }
}

/// What a socket has.
pub fn congestion_control(socket: &impl AsRawFd) -> io::Result<String> {
    let mut name = [0u8; 16];
    get(socket, libc::TCP_CONGESTION, &mut name)?;
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    Ok(String::from_utf8_lossy(&name[..end]).into_owned())
}

/// Connects a socket to an address.
pub fn connect(socket: &impl AsRawFd, ip: Ipv4Addr, port: u16) -> io::Result<()> {
    let address = address(ip, port);
    // SAFETY: the address is as long as said.
    let done = unsafe {
        libc::connect(socket.as_raw_fd(), (&raw const address).cast(), mem::size_of_val(&address) as u32)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn address(ip: Ipv4Addr, port: u16) -> libc::sockaddr_in {
    let address = SocketAddrV4::new(ip, port);
    libc::sockaddr_in {
        sin_family: libc::AF_INET as u16,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from(*address.ip()).to_be() },
        sin_zero: [0; 8],
    }
}

/// Of this process, and of the kernel's threads that handle packets when there are too many to do it at once: else what comes in
/// heaps would seem to cost nothing.
fn cpu_seconds() -> f64 {
    process_seconds() + packet_threads_seconds()
}

/// Of `ksoftirqd`, one a CPU: the first number of `/proc/PID/schedstat` is nanoseconds on the CPU.
fn packet_threads_seconds() -> f64 {
    let Ok(processes) = std::fs::read_dir("/proc") else { return 0.0 };
    let seconds = processes.flatten().filter_map(|process| {
        let name = std::fs::read_to_string(process.path().join("comm")).ok()?;
        let about = std::fs::read_to_string(process.path().join("schedstat")).ok()?;
        let ns: f64 = about.split_whitespace().next()?.parse().ok()?;
        name.starts_with("ksoftirqd/").then_some(ns * 1e-9)
    });
    seconds.sum()
}

fn process_seconds() -> f64 {
    // SAFETY: the structure is of plain numbers.
    let usage = unsafe {
        let mut usage: libc::rusage = mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Give a socket that congestion control.
pub fn choose(socket: &impl AsRawFd, algorithm: &str) -> io::Result<()> {
    set(socket, libc::IPPROTO_TCP, libc::TCP_CONGESTION, algorithm.as_bytes())
}
