//! What the machinery of a study costs: time and disk space a run, with an engine that takes no time.
//!
//!     cargo run --release -p cwnd-study --example overhead
//!
//! Its outcomes have counts like those of real runs of minutes, so that they are as long on the disk.
#![forbid(unsafe_code)]

use cwnd_scenario::{
    Cost, Engine, EngineError, FlowOutcome, Identity, LinkOutcome, Outcome, Problem, Purpose, Scenario,
    Stream, Time,
};
use cwnd_study::{
    Engines, KeptStudy, Provenance, Results, Store, Study,
    runner::{self, Limits},
};
use std::{
    error::Error,
    fs,
    path::Path,
    sync::{Arc, atomic::AtomicBool},
    time::Instant,
};

/// The bars: 10,000 runs in 30 s, 2 ms a run, 1 KB and 200 B a flow.
const RUNS: u32 = 10_000;
const MOST_SECONDS: f64 = 30.0;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::temp_dir().join(format!("cwnd-overhead-{}", std::process::id()));
    let result = measure(&directory);
    fs::remove_dir_all(&directory)?;
    result
}

fn measure(directory: &Path) -> Result<(), Box<dyn Error>> {
    println!("Time, {RUNS} runs of 4 flows that take no time themselves\n");
    for jobs in [1, 2] {
        let measured = once(&directory.join(format!("time-{jobs}")), 4, RUNS, jobs)?;
        println!(
            "  {jobs} at once: plan {:.2} s, run {:.2} s, load {:.2} s: {:.3} ms a run; the bar is {MOST_SECONDS} s",
            measured.plan_s,
            measured.run_s,
            measured.load_s,
            1e3 * (measured.plan_s + measured.run_s) / f64::from(RUNS),
        );
    }
    println!("\nSpace, bytes a run\n\n  flows  on disk  at most");
    for flows in [1, 4, 16, 64, 256, 1_000] {
        let runs = 2_000 / flows.max(10);
        let measured = once(&directory.join(format!("space-{flows}")), flows, runs, 2)?;
        println!("  {flows:5}  {:7}  {:7}", measured.bytes / u64::from(runs), 1_024 + 200 * flows);
    }
    Ok(())
}

struct Measured {
    plan_s: f64,
    run_s: f64,
    load_s: f64,
    bytes: u64,
}

fn once(directory: &Path, flows: u32, runs: u32, jobs: usize) -> Result<Measured, Box<dyn Error>> {
    let text = format!(
        "title = \"Overhead\"\nquestion = \"How much?\"\n[scenario]\nalgorithm = \"cubic\"\nflows = {flows}\n\
         [run]\nrepeats = {runs}\n"
    );
    let study = Study::parse("overhead", "overhead.toml", &text, &|_| Ok(()))?;
    let engines = Engines::new(Arc::new(Idle));
    let mut store = Store::create(directory)?;

    let begin = Instant::now();
    let plan = runner::plan(&engines, &study, &store)?;
    store.keep_study(&KeptStudy {
        name: study.name.clone(),
        text: study.text.clone(),
        scale: cwnd_study::RunScale::Paper,
        repeats: study.repeats,
        keys: plan.keys.clone(),
        provenance: Provenance::default(),
    })?;
    let plan_s = begin.elapsed().as_secs_f64();

    let begin = Instant::now();
    let limits = Limits { threads: jobs, memory: 1e12 };
    let ran = runner::run(&engines, &plan, &mut store, limits, &mut (), &AtomicBool::new(false))?;
    let run_s = begin.elapsed().as_secs_f64();
    assert_eq!((ran.done, ran.failures.len()), (runs as usize, 0));

    let begin = Instant::now();
    assert_eq!(Results::of(study, &store)?.runs.len(), runs as usize);
    let load_s = begin.elapsed().as_secs_f64();
    drop(store);
    Ok(Measured { plan_s, run_s, load_s, bytes: fs::metadata(directory.join("results.sqlite"))?.len() })
}

/// An engine that knows the outcome.
struct Idle;

impl Engine for Idle {
    fn check(&self, _: &Scenario) -> Result<Cost, Vec<Problem>> {
        Ok(Cost { packets: 1.0, cpu_s: 1e-6, wall_s: 1e-6, memory: 1e3 })
    }

    fn identity(&self, _: &Scenario) -> Identity {
        Identity::new("idle", [])
    }

    fn run(&self, scenario: &Scenario) -> Result<Outcome, EngineError> {
        let mut stream = Stream::new(scenario.seed, Purpose::Algorithm, 0);
        let mut draw = |below: u64| stream.below(below);
        let flows: Vec<FlowOutcome> = (scenario.flows.iter())
            .map(|_| {
                let (received, lost, dropped) = (1_000_000 + draw(100_000), draw(1_000), draw(1_000));
                FlowOutcome {
                    start: Time(draw(200_000_000)),
                    packets_sent: received + lost + dropped + 9,
                    packets_received: received,
                    packets_lost: lost,
                    packets_dropped: dropped,
                    packets_in_flight: 9,
                    retransmissions: lost + dropped - draw(3).min(lost),
                    wire_bytes_received: received * u64::from(scenario.stack.full_packet()),
                    bytes_in_order: (received - draw(500)) * u64::from(scenario.stack.payload),
                    acks_received: received - draw(100),
                    rtt_samples: received - draw(200),
                    rtt_sum_s: draw(1 << 30) as f64 / 7.0,
                    rtt_min: Some(Time(204_000_000 + draw(100_000))),
                    rtt_max: Some(Time(210_000_000 + draw(9_000_000))),
                    congestion_events: draw(200),
                    cwnd_integral: draw(1 << 30) as f64 / 7.0,
                    cwnd: draw(1 << 20) as f64 / 7.0,
                    ssthresh: draw(1 << 20) as f64 / 7.0,
                    ..FlowOutcome::default()
                }
            })
            .collect();
        // A link carries what its flows sent, or their ACKs; senders' own queues and the bottleneck's are used.
        let mut links: Vec<LinkOutcome> = (scenario.network.links.iter())
            .map(|link| LinkOutcome {
                name: link.name.clone(),
                in_flight: draw(20),
                ..LinkOutcome::default()
            })
            .collect();
        for (spec, flow) in scenario.flows.iter().zip(&flows) {
            for (i, link) in spec.route.iter().enumerate() {
                let link = &mut links[*link];
                link.data_arrived +=
                    if i == 0 { flow.packets_sent } else { flow.packets_received + draw(500) };
                link.arrived = link.data_arrived;
                if i < 2 {
                    link.waiting_integral = draw(1 << 30) as f64 / 7.0;
                    link.max_waiting = draw(50);
                }
            }
            spec.ack_route.iter().for_each(|link| links[*link].arrived += flow.acks_received);
        }
        for link in &mut links {
            link.delivered = link.arrived - link.in_flight;
        }
        Ok(Outcome { begin: scenario.warm_up, end: scenario.duration, flows, links, ..Outcome::default() })
    }
}
