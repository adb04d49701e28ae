//! The cost of a packet in every discipline: `queue_cost [RUNS]` prints a line for each, the median of the runs.
//!
//! About fifty packets of eight flows wait; with each packet's time one arrives and one is taken, and a second one arrives
//! when fewer than fifty wait. At 1 Gbit/s they wait for 0.6 ms and nothing needs to be dropped; at 10 Mbit/s for
//! 60 ms, and the disciplines that look at delays drop or mark. The time is that of all calls divided by the packets that
//! arrived, with the loop around them. What counts is the fastest of many short slices, which no other work of the machine
//! has disturbed.

use cwnd_link::{Arrival, Codepoint, Purpose, Queue, Stream};
use cwnd_scenario::{CoDel, Counting, Discipline, DualPi2, FqCoDel, Pie, QueueLimit, QueueSpec, Rate, Red};
use std::hint::black_box;
use std::time::Instant;

const STANDING: usize = 50;
const BYTES: u32 = 1500;
/// Departures that are timed together, and how often.
const SLICE: u32 = 20_000;
const SLICES: u32 = 50;

/// As large as the simulator's.
type Packet = [u64; 4];

fn main() {
    let runs = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(5);
    println!("ns a packet      1 Gbit/s  over drop-tail  10 Mbit/s  over drop-tail");
    let mut drop_tail = [0.0; 2];
    for (name, discipline, thinning) in disciplines() {
        let costs = [Rate(1_000_000_000), Rate(10_000_000)].map(|rate| {
            let mut costs: Vec<f64> = (0..runs).map(|_| nanoseconds(discipline, thinning, rate)).collect();
            costs.sort_by(f64::total_cmp);
            costs[costs.len() / 2]
        });
        if drop_tail[0] == 0.0 {
            drop_tail = costs;
        }
        let [fast, slow] = costs;
        let [over_fast, over_slow] = [fast - drop_tail[0], slow - drop_tail[1]];
        println!("{name:<16} {fast:8.1}  {over_fast:+14.1}  {slow:9.1}  {over_slow:+14.1}");
    }
}

fn disciplines() -> Vec<(&'static str, Discipline, Option<u32>)> {
    let ecn = CoDel { ecn: true, ..CoDel::default() };
    vec![
        ("drop-tail", Discipline::DropTail, None),
        ("ack thinning", Discipline::DropTail, Some(2)),
        // Fifty packets are where it drops a few.
        ("red", Discipline::Red(Red { min: 25.0, max: 200.0, p_max: 0.02, ..Red::default() }), None),
        ("codel", Discipline::CoDel(CoDel::default()), None),
        ("codel, marking", Discipline::CoDel(ecn), None),
        ("fq-codel", Discipline::FqCoDel(FqCoDel::default()), None),
        ("pie", Discipline::Pie(Pie::default()), None),
        ("dualpi2", Discipline::DualPi2(DualPi2::default()), None),
    ]
}

fn nanoseconds(discipline: Discipline, thinning: Option<u32>, rate: Rate) -> f64 {
    let limit = QueueLimit::Packets(1000);
    let spec = QueueSpec { discipline, ..QueueSpec::drop_tail(limit, Counting::WaitingOnly) };
    let mut queue: Queue<Packet> =
        Queue::new(&spec, thinning, rate, BYTES, Stream::new(1, Purpose::Queue, 0));
    let packet_time = u64::from(BYTES) * 8 * 1_000_000_000 / rate.0;
    let mut dropped: Vec<Packet> = Vec::new();
    // It lies in memory, as one that comes from a ring.
    let packet: Packet = black_box([7; 4]);
    let mut now = 0;
    let mut arrived = 0u64;
    let mut best = f64::INFINITY;
    for _ in 0..SLICES {
        let before = arrived;
        let start = Instant::now();
        for _ in 0..SLICE {
            now += packet_time;
            for _ in 0..if queue.waiting() < STANDING { 2 } else { 1 } {
                let flow = arrived as u32 % 8;
                let ecn = if flow.is_multiple_of(2) { Codepoint::Ect0 } else { Codepoint::Ect1 };
                let about = Arrival { bytes: BYTES, flow, ecn, plain_ack: flow == 7 };
                queue.enqueue(now, packet, about, Some(BYTES), &mut dropped);
                arrived += 1;
            }
            black_box(queue.dequeue(now, &mut dropped));
            dropped.clear();
        }
        best = best.min(start.elapsed().as_nanos() as f64 / (arrived - before) as f64);
    }
    best
}
