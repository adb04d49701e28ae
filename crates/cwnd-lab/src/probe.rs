//! How long a packet takes through the network and back, as two programs see it.

use crate::address;
use crate::testbed::Testbed;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The port of the one that answers.
const PORT: u16 = 7;

/// Bytes of a packet: the number, and nothing else.
const SIZE: usize = 8;

/// Send so many packets, one each `every`, over the way of the first flow to a program that sends them back, and tell how long each
/// took. Those that do not come back in two seconds are missing.
///
/// # Errors
/// If the sockets do not work.
pub fn echo(testbed: &Testbed, count: u64, every: Duration) -> io::Result<Vec<Duration>> {
    let socket = |address: Ipv4Addr, port| UdpSocket::bind(SocketAddrV4::new(address, port));
    let answering = testbed.receivers().within(|| socket(address::receiver(0), PORT))?;
    let asking = testbed.senders().within(|| socket(address::sender(0), 0))?;
    asking.connect(SocketAddrV4::new(address::receiver(0), PORT))?;
    answering.set_read_timeout(Some(Duration::from_millis(100)))?;
    asking.set_read_timeout(Some(Duration::from_secs(2)))?;
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let answers = scope.spawn(|| answer(&answering, &done));
        let sent = scope.spawn(|| ask(&asking, count, every));
        let came = hear(&asking, count);
        done.store(true, Ordering::Relaxed);
        answers.join().map_err(|_| io::Error::other("the echo panicked"))??;
        let sent = sent.join().map_err(|_| io::Error::other("the probe panicked"))??;
        Ok(came?.into_iter().filter_map(|(number, at)| Some(at - *sent.get(number as usize)?)).collect())
    })
}

fn ask(socket: &UdpSocket, count: u64, every: Duration) -> io::Result<Vec<Instant>> {
    let begin = Instant::now();
    let mut sent = Vec::new();
    for number in 0..count {
        thread::sleep((begin + every * number as u32).saturating_duration_since(Instant::now()));
        sent.push(Instant::now());
        socket.send(&number.to_be_bytes())?;
    }
    Ok(sent)
}

fn hear(socket: &UdpSocket, count: u64) -> io::Result<Vec<(u64, Instant)>> {
    let mut came = Vec::new();
    let mut packet = [0; SIZE];
    while came.len() < count as usize {
        match socket.recv(&mut packet) {
            Ok(SIZE) => came.push((u64::from_be_bytes(packet), Instant::now())),
            Ok(_) => {}
            Err(error) if timed_out(&error) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(came)
}

fn answer(socket: &UdpSocket, done: &AtomicBool) -> io::Result<()> {
    let mut packet = [0; SIZE];
    while !done.load(Ordering::Relaxed) {
        match socket.recv_from(&mut packet) {
            Ok((length, from)) => {
                socket.send_to(&packet[..length], from)?;
            }
            Err(error) if timed_out(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn timed_out(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
