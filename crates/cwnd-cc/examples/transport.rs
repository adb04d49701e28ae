//! A transport with the adapter: packets over a bottleneck with a queue, in virtual time.
//!
//! `cargo run -p cwnd-cc --example transport -- bbr3`

use cwnd_cc::transport::{AckEnd, Adapter, SentPacket, Settings};
use cwnd_cc::{Nanos, Parameters};
use std::collections::VecDeque;

const PACKET: u32 = 1_200;
/// Time of a packet at the bottleneck, ns: 9.6 Mbit/s.
const SERVICE: u64 = 1_000_000;
/// Round-trip time of the empty path, ns, and the greatest delay of its queue.
const RTT: u64 = 40_000_000;
const QUEUE: u64 = 40_000_000;

fn main() {
    let name = std::env::args().nth(1).unwrap_or_else(|| "bbr3".to_owned());
    let Some(info) = cwnd_cc::find(&name) else { return eprintln!("no algorithm is called {name}") };
    let algorithm = (info.build)(&Parameters::new()).expect("the defaults are valid");
    let mut adapter = Adapter::new(algorithm, Nanos::ZERO, &Settings::default());

    let (mut now, mut free, mut next_send) = (0, 0, 0);
    let (mut delivered, mut dropped) = (0u64, 0u64);
    // When each packet is acknowledged; none if the queue dropped it.
    let mut in_flight: VecDeque<(SentPacket, Option<u64>)> = VecDeque::new();
    while now < 20_000_000_000 {
        // Send what the window and the pacing rate allow.
        while adapter.bytes_in_flight() + u64::from(PACKET) <= adapter.window() && next_send <= now {
            let packet = adapter.on_packet_sent(Nanos(now), PACKET);
            free = free.max(now);
            let is_kept = free - now <= QUEUE;
            free += if is_kept { SERVICE } else { 0 };
            in_flight.push_back((packet, is_kept.then_some(free + RTT)));
            dropped += u64::from(!is_kept);
            if let Some(rate) = adapter.pacing_rate() {
                next_send = next_send.max(now) + (f64::from(PACKET) / rate * 1e9) as u64;
            }
        }
        // Take the next ACK. Packets sent before it that are not acknowledged are lost.
        let acknowledged = in_flight.iter().position(|(_, at)| at.is_some());
        let Some((place, at)) = acknowledged.and_then(|place| Some((place, in_flight[place].1?))) else {
            break;
        };
        if adapter.bytes_in_flight() + u64::from(PACKET) <= adapter.window() && next_send < at {
            now = next_send;
            continue;
        }
        now = at;
        let end = Nanos(now);
        let taken: Vec<_> = in_flight.drain(..=place).collect();
        adapter.on_packet_acked(end, &taken[place].0);
        adapter.on_ack_end(end, &AckEnd::default());
        taken[..place].iter().for_each(|(packet, _)| adapter.on_packet_lost(end, packet));
        adapter.on_losses(end, false);
        delivered += 1;
    }
    println!(
        "{name}: {:.2} Mbit/s of 9.60, {dropped} packets dropped, smoothed round-trip time {:.1} ms",
        delivered as f64 * f64::from(PACKET) * 8.0 / (now as f64 / 1e3),
        adapter.srtt().as_secs_f64() * 1e3
    );
}
