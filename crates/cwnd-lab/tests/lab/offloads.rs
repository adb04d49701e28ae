//! Segmentation and checksum offloads of the devices, with this kernel.

use crate::{flow, run, scenario, turn};
use cwnd_lab::{End, PacketObserver, Testbed, address};
use cwnd_scenario::{Loss, Time};
use etherparse::{NetHeaders, PacketHeaders, TransportHeader};
use std::fs;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// Checks every packet that passes the devices: it is no longer than the link's largest, and all its checksums are right.
struct Inspector(Arc<Mutex<Inspected>>);

#[derive(Default)]
struct Inspected {
    packets: u64,
    faults: Vec<String>,
}

impl PacketObserver for Inspector {
    fn packet(&mut self, _: End, _: u64, bytes: &[u8]) {
        let mut inspected = self.0.lock().unwrap();
        inspected.packets += 1;
        let headers = PacketHeaders::from_ip_slice(bytes).unwrap();
        let Some(TransportHeader::Tcp(tcp)) = headers.transport else { panic!("only TCP is sent") };
        let payload = headers.payload.slice();
        let expected = match headers.net.unwrap() {
            NetHeaders::Ipv4(ip, _) if ip.header_checksum != ip.calc_header_checksum() => Ok(!tcp.checksum),
            NetHeaders::Ipv4(ip, _) => tcp.calc_checksum_ipv4(&ip, payload),
            NetHeaders::Ipv6(ip, _) => tcp.calc_checksum_ipv6(&ip, payload),
            NetHeaders::Arp(_) => panic!("only IP is sent"),
        };
        if bytes.len() > 1500 || Ok(tcp.checksum) != expected {
            inspected.faults.push(format!("{} bytes, {tcp:?}", bytes.len()));
        }
    }
}

/// The packets that this thread's namespace has taken from the emulator: several that are joined are one.
fn packets_taken() -> io::Result<u64> {
    let devices = fs::read_to_string("/proc/thread-self/net/dev")?;
    let counters = devices.lines().find_map(|line| line.trim().strip_prefix("cwnd0:"));
    let packets = counters.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    packets.ok_or_else(|| io::Error::other("the device is not counted"))
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn bytes_arrive_as_they_were_sent_whether_packets_are_joined_or_not() {
    let _turn = turn();
    let data: Arc<Vec<u8>> = Arc::new((0..8_000_000_u64).map(|i| ((i * i) >> 7) as u8).collect());
    for (rate, inspects) in [(500, false), (500, true), (5_000, false), (5_000, true)] {
        let mut asked = scenario(rate, 4, 2_000, 1, vec![flow("newreno")]);
        asked.network.links[0].loss = Loss::Bernoulli(0.001);
        asked.network.links[0].effects.duplication = 0.001;
        let inspected = Arc::new(Mutex::new(Inspected::default()));
        let observer = inspects.then(|| Box::new(Inspector(inspected.clone())) as Box<dyn PacketObserver>);
        let mut testbed = Testbed::new(&asked, observer).unwrap();
        testbed.add_ipv6().unwrap();
        let receivers: [IpAddr; 2] = [address::receiver(0).into(), address::receiver_ipv6(0).into()];
        for to in receivers {
            let server = SocketAddr::new(to, 5001);
            let listener = testbed.receivers().within(|| TcpListener::bind(server)).unwrap();
            let received = thread::spawn(move || {
                let mut bytes = Vec::new();
                listener.accept().unwrap().0.read_to_end(&mut bytes).map(|_| bytes)
            });
            let mut stream = testbed.senders().within(|| TcpStream::connect(server)).unwrap();
            stream.write_all(&data).unwrap();
            drop(stream);
            // Comparing tells no more than this, and prints megabytes.
            assert!(received.join().unwrap().unwrap() == *data, "{rate} Mbit/s, {to}");
        }
        let taken = testbed.receivers().within(packets_taken).unwrap();
        let record = testbed.end().unwrap();
        assert_eq!((record.strangers, &record.refused), (0, &(0, None)));
        let flow = &record.at_end.flows[0];
        assert!(flow.packets_lost > 0 && flow.packets_copied > 0, "{flow:?}");
        let packets = flow.packets_received + flow.duplicates;
        assert!(packets > 2 * 8_000_000 / 1500, "{flow:?}");
        assert_eq!(taken < packets / 2, rate > 1_000, "{taken} for {packets}");
        let inspected = inspected.lock().unwrap();
        assert_eq!(inspected.faults, [] as [String; 0]);
        assert_eq!(inspected.packets > packets, inspects);
    }
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn packets_that_wait_to_be_joined_are_counted() {
    let _turn = turn();
    let outcome = run(&scenario(5_000, 2, 500, 1, vec![flow("newreno"), flow("cubic-linux")]));
    let bytes: u64 = outcome.flows.iter().map(|flow| flow.wire_bytes_received).sum();
    assert!(bytes > 20_000_000, "{bytes}");
    assert!(
        outcome.flows.iter().all(|flow| flow.rtt_min >= Some(Time::from_millis(2))),
        "{:?}",
        outcome.flows
    );
}
