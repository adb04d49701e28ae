//! An algorithm of your own in noq and quinn, first in simulated time, then in the implementations' own configurations.
//!
//! `cargo run -p cwnd-quic --features net --example own_algorithm`

use cwnd_cc::{Ack, Congestion, CongestionControl, Window};
use cwnd_experiment::{ExperimentSpec, FlowGroup, LineDelay};
use cwnd_quic::{Controllers, Settings};
use cwnd_scenario::{AlgorithmSpec, Rate, Time};
use std::error::Error;
use std::sync::Arc;

/// Adds `alpha` datagrams a round trip, and keeps `beta` of its window at a loss or a mark.
#[derive(Clone, Copy)]
struct Aimd {
    alpha: f64,
    beta: f64,
}

impl CongestionControl for Aimd {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if !ack.may_grow() {
            return;
        }
        let left = if window.in_slow_start() { window.slow_start(ack.acked) } else { ack.acked };
        window.increase_weighted(left, self.alpha, window.cwnd);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if !congestion.is_repeated_timeout() {
            window.set_ssthresh_for_loss(self.beta * window.cwnd);
        }
    }
}

const MINE: Aimd = Aimd { alpha: 2.0, beta: 0.7 };

fn main() -> Result<(), Box<dyn Error>> {
    for stack in ["tcp", "noq", "quinn"] {
        println!("{stack:<6} {:>6.2} Mbit/s", simulated(stack)?);
    }
    let _ = (in_noq()?, in_quinn());
    Ok(())
}

/// Simulates it for 20 s over 20 Mbit/s and 40 ms. Returns its goodput, Mbit/s.
fn simulated(stack: &str) -> Result<f64, Box<dyn Error>> {
    let spec = ExperimentSpec {
        rate: Rate(20_000_000),
        delay: LineDelay::OneWay(Time::from_millis(20)),
        duration: Time::from_secs(20),
        ..ExperimentSpec::default()
    };
    let flow: FlowGroup = format!("mine; stack={stack}").parse()?;
    let scenario = spec.scenario(&[flow], 1).map_err(|problems| problems[0].to_string())?;
    let factory = |spec: &AlgorithmSpec| match spec.name.as_str() {
        "mine" => Ok(Box::new(MINE) as Box<dyn CongestionControl>),
        _ => cwnd_sim::registered(spec),
    };
    let outcome = cwnd_quic::host::run_with(&scenario, &factory)?;
    Ok(8e-6 * outcome.flows[0].bytes_in_order as f64 / outcome.end.as_secs_f64())
}

/// Returns the configuration of noq's connections with a registered algorithm.
fn in_noq() -> Result<noq_proto::TransportConfig, cwnd_quic::AlgorithmError> {
    let mut transport = noq_proto::TransportConfig::default();
    transport.congestion_controller_factory(cwnd_quic::noq::factory("bbr3")?);
    Ok(transport)
}

/// Returns the configuration of quinn's connections with the algorithm above.
fn in_quinn() -> quinn_proto::TransportConfig {
    let controllers = Controllers::new(|| Box::new(MINE))
        .with_settings(Settings { initial_window: 20.0, ..Settings::default() });
    let mut transport = quinn_proto::TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(controllers));
    transport
}
