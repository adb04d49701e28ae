//! Reads the TCP sockets of the host with the private area of their congestion control: an iterator in BPF, which runs only while it is
//! read.

use super::{
    LoadError, LoadedObject, Messages,
    programs::SOCKETS,
    sockets::{Sockets, in_each_namespace, inode},
};
use crate::state::{PRIVATE_WORDS, SocketState};
use libbpf_rs::{Iter, Link, Object};
use std::{
    collections::BTreeMap,
    io::{self, Read},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::{Path, PathBuf},
};

/// Reads sockets.
#[derive(Debug)]
pub struct SocketReader {
    _object: Object,
    sockets: Link,
    operations: Link,
}

/// A TCP socket. All but `private` is what `TCP_INFO` has.
#[derive(Clone, Debug)]
pub struct ObservedSocket {
    /// A path to its network namespace.
    pub namespace: PathBuf,
    /// The number of the network namespace, which other paths to it have in common.
    pub namespace_id: u64,
    /// The name of its congestion control.
    pub congestion_control: String,
    /// The number of the loaded object that it has ([`LoadedObject::id`]); none if its congestion control is no BPF program.
    pub object: Option<u32>,
    /// Its own address.
    pub local: SocketAddr,
    /// The other end's.
    pub remote: SocketAddr,
    /// The kernel's number of its state: 1 is established, 10 listening.
    pub state: u16,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Slow-start threshold, segments; `i32::MAX` before the first reduction.
    pub ssthresh: u32,
    /// Smoothed round-trip time, seconds; 0 before the first sample.
    pub srtt_s: f64,
    /// Minimum round-trip time of the last five minutes, seconds.
    pub min_rtt_s: Option<f64>,
    /// Payload of a segment, bytes.
    pub mss: u32,
    /// Segments in flight.
    pub in_flight: u32,
    /// Segments that were retransmitted.
    pub retransmissions: u32,
    /// Segments with data that were sent, retransmissions included.
    pub segments: u32,
    /// Segments that were declared lost.
    pub lost: u32,
    /// Bytes that were acknowledged.
    pub bytes_acked: u64,
    /// The last sample of the delivery rate, bit/s.
    pub delivery_rate_bps: f64,
    /// The pacing rate, bit/s; none without a limit.
    pub pacing_rate_bps: Option<f64>,
    /// The private area of its congestion control.
    pub private: [u64; PRIVATE_WORDS],
}

/// Returns how many sockets have each of these objects. `counted` has them by name, which is enough unless an object has been
/// replaced by one of the same name.
pub fn sockets_of(objects: &[LoadedObject], counted: &Sockets) -> Vec<usize> {
    let same_name = |object: &LoadedObject| {
        objects.iter().filter(|other| other.kernel_name == object.kernel_name).count() > 1
    };
    let read = objects.iter().any(same_name).then(|| SocketReader::new().ok()?.read().ok()).flatten();
    // Where sockets cannot be read, each object may have all those of its name.
    let of_object = |object: &LoadedObject| match read.as_ref().filter(|_| same_name(object)) {
        Some(read) => read.iter().filter(|socket| socket.object == Some(object.id)).count(),
        None => counted.get(&object.kernel_name).copied().unwrap_or(0),
    };
    objects.iter().map(of_object).collect()
}

/// Bytes of `struct record` of `host/sockets.bpf.c`.
const RECORD: usize = 8 * PRIVATE_WORDS + 24 + 16 + 32 + 12 * 4 + 4 * 2;

impl SocketReader {
    /// Loads the iterator.
    ///
    /// # Errors
    /// What this host lacks, or what the kernel refused.
    pub fn new() -> Result<SocketReader, LoadError> {
        let object = SOCKETS.load(None)?;
        let quiet = Messages::collect();
        let attach = |name: &str| {
            let program = object.progs_mut().find(|program| program.name() == name);
            let link = program.expect("host/sockets.bpf.c has it").attach();
            link.map_err(|error| LoadError::refused("attach the program", name, &error, &quiet))
        };
        let (sockets, operations) = (attach("cwnd_sockets")?, attach("cwnd_operations")?);
        Ok(SocketReader { _object: object, sockets, operations })
    }

    /// Reads the sockets of every network namespace, those that listen included.
    ///
    /// # Errors
    /// The kernel could not tell them, as when memory is short.
    pub fn read(&self) -> io::Result<Vec<ObservedSocket>> {
        let objects = self.objects()?;
        let here = |namespace: &Path| {
            let id = inode(Path::new("/proc/thread-self/ns/net")).unwrap_or_default();
            let bytes = content(&self.sockets)?;
            let sockets =
                bytes.chunks_exact(RECORD).map(|record| ObservedSocket::new(namespace, id, record, &objects));
            Ok(sockets.collect::<Vec<_>>())
        };
        // A namespace that has gone since has no sockets.
        let of_each = in_each_namespace(here).into_iter().collect::<io::Result<Vec<_>>>()?;
        Ok(of_each.into_iter().flatten().collect())
    }

    /// Returns the number of each loaded object by the address of its operations.
    fn objects(&self) -> io::Result<BTreeMap<u64, u32>> {
        let bytes = content(&self.operations)?;
        let words =
            bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("eight bytes")));
        let words: Vec<u64> = words.collect();
        Ok(words.chunks_exact(2).map(|pair| (pair[0], pair[1] as u32)).collect())
    }
}

/// Runs an iterator, in the thread's network namespace.
fn content(link: &Link) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    Iter::new(link).map_err(io::Error::other)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl ObservedSocket {
    fn new(
        namespace: &Path,
        namespace_id: u64,
        bytes: &[u8],
        objects: &BTreeMap<u64, u32>,
    ) -> ObservedSocket {
        let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let half = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let short = |at: usize| u16::from_ne_bytes(bytes[at..at + 2].try_into().expect("two bytes"));
        let numbers = 8 * PRIVATE_WORDS;
        let name = &bytes[numbers + 24..numbers + 40];
        let counts = numbers + 72;
        let ports = counts + 48;
        let family = i32::from(short(ports + 4));
        let address = |at: usize| match family {
            libc::AF_INET => {
                IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(&bytes[at..at + 4]).expect("four bytes")))
            }
            _ => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(&bytes[at..at + 16]).expect("16 bytes"))),
        };
        let mss = half(counts + 16);
        let (delivered, interval_us) = (half(counts + 40), half(counts + 44));
        let rate = f64::from(delivered) * f64::from(mss) * 8.0 / (f64::from(interval_us) * 1e-6);
        let pacing = word(numbers + 8);
        let min_rtt_us = half(counts + 12);
        ObservedSocket {
            namespace: namespace.to_owned(),
            namespace_id,
            congestion_control: String::from_utf8_lossy(
                name.split(|byte| *byte == 0).next().unwrap_or_default(),
            )
            .into_owned(),
            object: objects.get(&word(numbers)).copied(),
            local: SocketAddr::new(address(numbers + 40).to_canonical(), short(ports)),
            remote: SocketAddr::new(address(numbers + 56).to_canonical(), short(ports + 2)),
            state: short(ports + 6),
            cwnd: half(counts),
            ssthresh: half(counts + 4),
            srtt_s: f64::from(half(counts + 8)) * 1e-6 / 8.0,
            min_rtt_s: (min_rtt_us != u32::MAX).then(|| f64::from(min_rtt_us) * 1e-6),
            mss,
            in_flight: half(counts + 20),
            retransmissions: half(counts + 24),
            segments: half(counts + 28),
            lost: half(counts + 36),
            bytes_acked: word(numbers + 16),
            delivery_rate_bps: if interval_us == 0 { 0.0 } else { rate },
            // A limit that does not exist has all bits set.
            pacing_rate_bps: (pacing != u64::MAX && pacing != u64::from(u32::MAX))
                .then_some(pacing as f64 * 8.0),
            private: std::array::from_fn(|at| word(8 * at)),
        }
    }

    /// Whether it is a connection that is established.
    pub fn is_established(&self) -> bool {
        self.state == 1
    }

    /// Returns the state of its algorithm: the name, unit and value of each of the Rust algorithm's observables, NaN where one is not
    /// known yet. None if it is no algorithm of these objects, or one whose private area is not read.
    pub fn observe(&self, objects: &[LoadedObject]) -> Option<Vec<(&'static str, &'static str, f64)>> {
        let object = objects.iter().find(|object| Some(object.id) == self.object)?;
        let state = SocketState { words: self.private, cwnd: f64::from(self.cwnd), mss: f64::from(self.mss) };
        let values = object.algorithm.observe(&state, object.parameters.as_ref()?)?;
        let observables = object.algorithm.info().observables.iter();
        Some(observables.zip(values).map(|(about, value)| (about.name, about.unit, value)).collect())
    }
}
