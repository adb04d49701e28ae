//! Compares an algorithm over TCP with the same over noq and quinn, on one bottleneck:
//! `stacks ALGORITHM MBIT_PER_S RTT_MS BUFFER_BDP [SECONDS]`.
//!
//! It prints the goodput of the sender, Mbit/s, and the mean round-trip time, after a warm-up of a quarter of the run. `all` in place
//! of the numbers runs the 20 paths of `studies/quic/stacks.toml`, 20 s each. The last column has quinn without shaping by the window,
//! as if the algorithm set no pacing rate.

use cwnd_cc::{Ack, Congestion, CongestionControl, Init, LostPacket, Nanos, Needs, Window};
use cwnd_experiment::{Buffer, ExperimentSpec, FlowGroup, LineDelay};
use cwnd_scenario::{AlgorithmSpec, Rate, Time};
use std::error::Error;

/// Titles, transports, and whether the pacing rate is kept from the transport.
const STACKS: [(&str, &str, bool); 4] = [
    ("tcp", "tcp", false),
    ("noq", "noq", false),
    ("quinn", "quinn", false),
    ("quinn, unshaped", "quinn", true),
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((algorithm, numbers)) = arguments.split_first() else {
        return Err("usage: stacks ALGORITHM MBIT_PER_S RTT_MS BUFFER_BDP [SECONDS]".into());
    };
    let mut paths = Vec::new();
    if numbers == ["all"] {
        for (rate, rtt) in [(10, 20), (10, 100), (50, 50), (100, 20), (100, 100)] {
            paths.extend([0.5, 1.0, 2.0, 4.0].map(|buffer| (rate, rtt, buffer, 20)));
        }
    } else {
        let [rate, rtt, buffer, rest @ ..] = numbers else {
            return Err("three numbers describe a path".into());
        };
        let seconds = rest.first().map_or(Ok(40), |text| text.parse())?;
        paths.push((rate.parse()?, rtt.parse()?, buffer.parse()?, seconds));
    }
    print!("{algorithm:<24}");
    STACKS.iter().for_each(|(title, ..)| print!(" {title:>20}"));
    println!();
    for (rate, rtt, buffer, seconds) in paths {
        let results = STACKS.map(|(_, stack, unpaced)| {
            let spec = spec(rate, rtt, buffer, seconds)?;
            run(&spec, &format!("{algorithm}; stack={stack}"), unpaced)
        });
        print!("{:<24}", format!("{rate} Mbit/s {rtt} ms {buffer} BDP"));
        for result in results {
            let (goodput, rtt) = result?;
            print!(" {goodput:>10.2} {rtt:>6.1} ms");
        }
        println!();
    }
    Ok(())
}

fn spec(rate: u64, rtt: u64, buffer: f64, seconds: u64) -> Result<ExperimentSpec, Box<dyn Error>> {
    Ok(ExperimentSpec {
        rate: Rate(rate * 1_000_000),
        delay: LineDelay::OneWay(Time::from_millis(rtt / 2)),
        buffer: format!("{buffer} BDP").parse::<Buffer>()?,
        duration: Time::from_secs(seconds),
        warm_up: Time::from_secs(seconds / 4),
        ..ExperimentSpec::default()
    })
}

/// Returns the goodput, Mbit/s, and the mean round-trip time, ms.
fn run(spec: &ExperimentSpec, flow: &str, unpaced: bool) -> Result<(f64, f64), Box<dyn Error>> {
    let flow: FlowGroup = flow.parse()?;
    let scenario = spec.scenario(&[flow], 1).map_err(|problems| problems[0].to_string())?;
    let factory = |spec: &AlgorithmSpec| -> Result<Box<dyn CongestionControl>, String> {
        let inner = cwnd_sim::registered(spec)?;
        Ok(if unpaced { Box::new(Unpaced { inner, rate: f64::INFINITY }) } else { inner })
    };
    let outcome = cwnd_quic::host::run_with(&scenario, &factory)?;
    let flow = &outcome.flows[0];
    let time = outcome.end.as_secs_f64() - outcome.begin.as_secs_f64();
    Ok((flow.bytes_in_order as f64 * 8e-6 / time, 1e3 * flow.rtt_sum_s / flow.rtt_samples as f64))
}

/// An algorithm whose pacing rate the transport does not see.
struct Unpaced {
    inner: Box<dyn CongestionControl>,
    rate: f64,
}

impl Unpaced {
    fn with(&mut self, window: &mut Window, call: impl FnOnce(&mut dyn CongestionControl, &mut Window)) {
        window.pacing_rate = self.rate;
        call(&mut *self.inner, window);
        self.rate = std::mem::replace(&mut window.pacing_rate, f64::INFINITY);
    }
}

impl CongestionControl for Unpaced {
    fn init(&mut self, window: &mut Window, init: &Init) {
        self.with(window, |inner, window| inner.init(window, init));
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.with(window, |inner, window| inner.on_ack(window, ack));
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        self.with(window, |inner, window| inner.on_congestion(window, congestion));
    }

    fn on_recovery_exit(&mut self, window: &mut Window, now: Nanos) {
        self.with(window, |inner, window| inner.on_recovery_exit(window, now));
    }

    fn on_undo(&mut self, window: &mut Window, now: Nanos) {
        self.with(window, |inner, window| inner.on_undo(window, now));
    }

    fn on_idle_restart(&mut self, window: &mut Window, now: Nanos, idle: Nanos) {
        self.with(window, |inner, window| inner.on_idle_restart(window, now, idle));
    }

    fn on_packet_lost(&mut self, window: &mut Window, lost: &LostPacket) {
        self.with(window, |inner, window| inner.on_packet_lost(window, lost));
    }

    fn needs(&self) -> Needs {
        self.inner.needs()
    }
}
