//! scratch
use cwnd_lab::Lab;
use cwnd_scenario::*;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let rate: u64 = args[1].parse::<u64>().unwrap() * 1_000_000;
    let rtt: u64 = args[2].parse().unwrap();
    let secs: u64 = args[3].parse().unwrap();
    let alg = &args[4];
    let n: usize = args[5].parse().unwrap();
    let mut f = LinkSpec::new("there", 0, 1, Rate(rate), Time::from_millis(rtt / 2));
    let bdp = (rate as f64 * rtt as f64 * 1e-3 / 8.0 / 1514.0) as u32;
    f.queue = QueueSpec::drop_tail(QueueLimit::Packets(args.get(6).map_or(bdp, |b| b.parse().unwrap())), Counting::WaitingOnly);
    let b = LinkSpec::new("back", 1, 0, Rate(rate), Time::from_millis(rtt / 2));
    let flow = FlowSpec { algorithm: alg.parse().unwrap(), route: vec![0], ack_route: vec![1], start: Time(0), stop: None, bytes: None, traffic: Traffic::Bulk, deadline: None, group: None, short: false, reverse: false };
    let s = Scenario { network: Network { nodes: vec!["a".into(), "b".into()], links: vec![f, b], bottleneck: 0 }, flows: vec![flow; n], arrivals: None, stack: Stack::linux(1500, true, 100_000), duration: Time::from_secs(secs), warm_up: Time(0), seed: 1, start_jitter: Time::from_millis(100), send_overhead: Time(0), ties: Ties::ByNumber, sample: Some(Time::from_millis(1000)) };
    match Lab::default().run(&s) {
        Ok(o) => {
            println!("{:?}", o.emulation);
            for f in &o.flows { println!("{:.1} Mbit/s {:?}", f.wire_bytes_received as f64 * 8.0 / secs as f64 / 1e6, f); }
            for l in &o.links { println!("{l:?}"); }
            for x in &o.trace.unwrap().samples { print!("{} ", x.cwnd); }
            println!();
        }
        Err(e) => println!("{e}"),
    }
    let mut u: libc::rusage = unsafe { std::mem::zeroed() };
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut u) };
    println!("user {}.{:06} sys {}.{:06}", u.ru_utime.tv_sec, u.ru_utime.tv_usec, u.ru_stime.tv_sec, u.ru_stime.tv_usec);
}
