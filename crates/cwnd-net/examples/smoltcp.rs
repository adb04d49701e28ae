//! A test of smoltcp's TCP over IP packets: an upload over 10 Mbit/s, 40 ms and 0.1 % of losses, twice with the same seed.
//!
//! `cargo run --release -p cwnd-net --example smoltcp`
//!
//! smoltcp draws initial sequence numbers from the seed of its configuration, so a run is deterministic.

use cwnd_net::{Codepoint, Datagram, DatagramHost, NetworkError, Path, Rate, Time};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};
use std::collections::VecDeque;

/// IP packets to and from an interface.
#[derive(Default)]
struct Packets {
    received: VecDeque<Vec<u8>>,
    to_send: VecDeque<Vec<u8>>,
}

impl Device for Packets {
    type RxToken<'a> = Received;
    type TxToken<'a> = Outgoing<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Received, Outgoing<'_>)> {
        let packet = self.received.pop_front()?;
        Some((Received(packet), Outgoing(&mut self.to_send)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Outgoing<'_>> {
        Some(Outgoing(&mut self.to_send))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = 1500;
        capabilities
    }
}

struct Received(Vec<u8>);

impl RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

struct Outgoing<'a>(&'a mut VecDeque<Vec<u8>>);

impl TxToken for Outgoing<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        let mut packet = vec![0; length];
        let result = write(&mut packet);
        self.0.push_back(packet);
        result
    }
}

/// A host with one TCP socket. Host 0 uploads to host 1.
pub struct Smoltcp {
    device: Packets,
    interface: Interface,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
    peer: usize,
    to_upload: usize,
    /// Bytes received.
    pub received: usize,
}

impl Smoltcp {
    /// Creates a host that connects to host 1 if it has bytes to upload, and else listens.
    pub fn new(number: usize, to_upload: usize) -> Smoltcp {
        let mut device = Packets::default();
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = number as u64 + 1;
        let mut interface = Interface::new(config, &mut device, Instant::ZERO);
        interface.update_ip_addrs(|addresses| {
            addresses.push(IpCidr::new(address(number), 24)).expect("there is room for an address");
        });
        // The receive window alone bounds what is in flight: smoltcp 0.12 compares its congestion window with what it may still
        // send, and not with what it has sent. 64 KiB fit into the 50 kB of the path and its queue; 256 KiB lose half of each flight.
        let buffer = || SocketBuffer::new(vec![0; 64 * 1024]);
        let mut socket = Socket::new(buffer(), buffer());
        socket.set_congestion_control(CongestionControl::Cubic);
        match to_upload {
            0 => socket.listen(80).expect("the port is valid"),
            _ => socket
                .connect(interface.context(), (address(1), 80), 49152)
                .expect("the address and the ports are valid"),
        }
        let mut sockets = SocketSet::new(Vec::new());
        let socket = sockets.add(socket);
        Smoltcp { device, interface, sockets, socket, peer: 1 - number, to_upload, received: 0 }
    }

    /// Lets the application and the stack do all that they can do now.
    fn poll(&mut self, now: u64) {
        let now = Instant::from_micros((now / 1000) as i64);
        self.interface.poll(now, &mut self.device, &mut self.sockets);
        let socket = self.sockets.get_mut::<Socket<'_>>(self.socket);
        while self.to_upload > 0 && socket.can_send() {
            let sent = socket.send_slice(&[0; 4096][..self.to_upload.min(4096)]);
            self.to_upload -= sent.expect("the socket can send");
        }
        while socket.can_recv() {
            let read = socket.recv(|data| (data.len(), data.len()));
            self.received += read.expect("the socket can receive");
        }
        self.interface.poll(now, &mut self.device, &mut self.sockets);
    }
}

impl DatagramHost for Smoltcp {
    fn on_datagram(&mut self, now: u64, datagram: Datagram) {
        self.device.received.push_back(datagram.payload);
        self.poll(now);
    }

    fn poll_transmit(&mut self, _: u64) -> Option<Datagram> {
        let packet = self.device.to_send.pop_front()?;
        Some(Datagram::new(self.peer, Codepoint::NotEct, packet))
    }

    fn next_timeout(&mut self) -> Option<u64> {
        // smoltcp counts microseconds: the next one is the earliest time at which anything is new to it.
        let at = self.interface.poll_at(Instant::ZERO, &self.sockets)?;
        Some(at.total_micros() as u64 * 1000)
    }

    fn on_timeout(&mut self, now: u64) {
        self.poll(now);
    }
}

fn address(host: usize) -> IpAddress {
    IpAddress::v4(10, 0, 0, host as u8 + 1)
}

/// Uploads. Returns when the last byte arrived, ns of simulated time, and how many packets the path lost or dropped.
pub fn upload(path: &Path, bytes: usize) -> Result<(u64, u64), NetworkError> {
    let mut test = path.clone().headers(0).connect(Smoltcp::new(0, bytes), Smoltcp::new(1, 0))?;
    let completed = test.run_until_done(600_000_000_000, |hosts| hosts[1].host().received == bytes);
    let counts = test.link_counts(0);
    Ok((completed.expect("the upload ends within ten minutes"), counts.lost + counts.dropped))
}

#[allow(dead_code)] // The test includes this file.
fn main() -> Result<(), NetworkError> {
    let path = Path::new(Rate(10_000_000), Time::from_millis(40)).buffer(50).loss(0.001).seed(7);
    let start = std::time::Instant::now();
    let (completed, lost) = upload(&path, 10_000_000)?;
    let real = start.elapsed().as_secs_f64();
    assert_eq!(upload(&path, 10_000_000)?, (completed, lost));
    let simulated = completed as f64 / 1e9;
    println!(
        "{lost} packets lost, {simulated:.3} s of simulated time in {real:.4} s: {:.0} x",
        simulated / real
    );
    Ok(())
}
