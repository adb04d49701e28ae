//! Draws what BBRv3 makes of a link whose rate changes, for `docs/bbr.md`:
//! `cargo run --release -p cwnd --example bbr_figures -- DIRECTORY`.
//!
//! It is also an example of how to look into an algorithm: an engine takes a factory, the factory here wraps the algorithm,
//! and the wrapper keeps a [`Snapshot`] after every ACK.

use cwnd_cc::algorithms::bbr3::{Bbr3, Bbr3Parameters, Phase, Snapshot};
use cwnd_cc::{Ack, Configurable, Congestion, CongestionControl, Init, LostPacket, Nanos, Needs, Window};
use cwnd_experiment::{Buffer, FlowGroup};
use cwnd_experiment::{ExperimentSpec, LineDelay, StackChoice, Topology};
use cwnd_plot::style::{Colour, Dash, GREY, Stroke};
use cwnd_plot::{Axis, Figure, Key, Line, Panel, Swatch};
use cwnd_scenario::{AlgorithmSpec, Rate, StackProfile, Time};
use cwnd_sim::Simulation;
use std::sync::{Arc, Mutex};
use std::{env, error::Error, fs, path::PathBuf};

/// Rates of the link: from when (seconds), and what (Mbit/s).
const RATES: [(u64, u64); 3] = [(0, 10), (6, 100), (14, 10)];
const END: u64 = 26;

/// Wire bytes and payload bytes of a full packet.
const PACKET: f64 = 1514.0;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = PathBuf::from(env::args().nth(1).unwrap_or_else(|| ".".into()));
    let seen = run()?;
    let path = directory.join("bbr3-rates.svg");
    fs::write(&path, figure(&seen).to_svg())?;
    println!("{}", path.display());
    Ok(())
}

/// What is kept of an ACK.
#[derive(Clone, Copy)]
struct Seen {
    at: f64,
    in_flight: f64,
    cwnd: f64,
    bbr: Snapshot,
}

/// The algorithm, and what is kept of it.
struct Watched {
    inside: Bbr3,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl CongestionControl for Watched {
    fn init(&mut self, window: &mut Window, init: &Init) {
        self.inside.init(window, init);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.inside.on_ack(window, ack);
        let (at, in_flight) = (ack.now.as_secs_f64(), f64::from(ack.in_flight));
        let seen = Seen { at, in_flight, cwnd: window.cwnd, bbr: self.inside.snapshot(window) };
        self.seen.lock().expect("nobody panics with it").push(seen);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        self.inside.on_congestion(window, congestion);
    }

    fn on_recovery_exit(&mut self, window: &mut Window, now: Nanos) {
        self.inside.on_recovery_exit(window, now);
    }

    fn on_undo(&mut self, window: &mut Window, now: Nanos) {
        self.inside.on_undo(window, now);
    }

    fn on_idle_restart(&mut self, window: &mut Window, now: Nanos, idle: Nanos) {
        self.inside.on_idle_restart(window, now, idle);
    }

    fn on_packet_lost(&mut self, window: &mut Window, lost: &LostPacket) {
        self.inside.on_packet_lost(window, lost);
    }

    fn needs(&self) -> Needs {
        self.inside.needs()
    }
}

/// A flow over a path of 40 ms that holds 60 packets in its queue.
fn run() -> Result<Vec<Seen>, Box<dyn Error>> {
    let setup = ExperimentSpec {
        topology: Topology::Path,
        rate: Rate(RATES[0].1 * 1_000_000),
        delay: LineDelay::BaseRtt(Time::from_millis(40)),
        buffer: Buffer::from(60),
        stack: StackChoice {
            profile: StackProfile::Linux,
            receive_window: Some(10_000),
            ..StackChoice::default()
        },
        duration: Time::from_secs(END),
        start_jitter: Some(Time::ZERO),
        send_overhead: Some(Time::ZERO),
        ..ExperimentSpec::default()
    };
    let algorithm = AlgorithmSpec { name: "bbr3".into(), ..AlgorithmSpec::default() };
    let scenario =
        setup.scenario(&[FlowGroup::new(algorithm, 1)], 1).map_err(|problems| format!("{problems:?}"))?;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let factory = |_: &AlgorithmSpec| -> Result<Box<dyn CongestionControl>, String> {
        Ok(Box::new(Watched { inside: Bbr3::new(Bbr3Parameters::default()), seen: seen.clone() }))
    };
    let mut simulation = Simulation::with_factory(&scenario, &factory)?;
    for (at, rate) in RATES {
        simulation.run_until(Time::from_secs(at));
        simulation
            .set_rate(scenario.network.bottleneck, Rate(rate * 1_000_000))
            .map_err(|problem| problem.to_string())?;
    }
    simulation.run_until(Time::from_secs(END));
    drop(simulation);
    let seen = seen.lock().expect("nobody panics with it").clone();
    Ok(seen)
}

fn figure(seen: &[Seen]) -> Figure {
    let mut figure = Figure::new("BBRv3 over a link of 10, then 100, then 10 Mbit/s");
    figure.share_x = true;
    figure.panels = vec![rates(seen), volumes(seen), states(seen)];
    figure.caption =
        "One flow, 40 ms, a queue of 60 packets. cargo run --release -p cwnd --example bbr_figures".into();
    figure.description = "Three charts over time. The bandwidth that BBRv3 estimates follows the link's rate up within \
                          some 20 round trips of a probe, and down two probes after the rate has fallen; what is in flight \
                          follows; below, the state of its state machine."
        .into();
    figure
}

fn time() -> Axis {
    Axis::linear("time", "s").from(0.0).to(END as f64).tight()
}

fn line(colour: usize, dash: Dash) -> Stroke {
    Stroke::solid(Colour::of_series(colour), 1.6).dashed(dash)
}

/// A line, and what it stands for.
fn add(panel: &mut Panel, label: &str, stroke: Stroke, points: Vec<(f64, f64)>) {
    panel.keys.push(Key::new(label, Swatch::line(stroke)));
    panel.add(Line::new(points, stroke));
}

fn over_time(seen: &[Seen], value: impl Fn(&Seen) -> f64) -> Vec<(f64, f64)> {
    seen.iter().map(|seen| (seen.at, value(seen))).collect()
}

fn rates(seen: &[Seen]) -> Panel {
    let mut panel = Panel::new(time(), Axis::linear("rate", "Mbit/s").from(0.0), 150.0);
    let mbit = |segments: f64| segments * PACKET * 8e-6;
    let ends = RATES.iter().skip(1).map(|(at, _)| *at).chain([END]);
    let link = RATES
        .iter()
        .zip(ends)
        .flat_map(|((from, rate), to)| [(*from as f64, *rate as f64), (to as f64, *rate as f64)]);
    add(&mut panel, "link", Stroke::solid(GREY, 3.0), link.collect());
    add(&mut panel, "max_bw", line(0, Dash::Solid), over_time(seen, |seen| mbit(seen.bbr.max_bw)));
    add(&mut panel, "bw", line(1, Dash::Short), over_time(seen, |seen| mbit(seen.bbr.bw)));
    panel
}

fn volumes(seen: &[Seen]) -> Panel {
    let mut panel = Panel::new(time(), Axis::linear("volume", "packets").from(0.0), 150.0);
    add(&mut panel, "window", line(2, Dash::Solid), over_time(seen, |seen| seen.cwnd));
    add(&mut panel, "in flight", line(0, Dash::Solid), over_time(seen, |seen| seen.in_flight));
    add(
        &mut panel,
        "inflight_longterm",
        line(3, Dash::Dashed),
        over_time(seen, |seen| seen.bbr.inflight_longterm),
    );
    panel
}

/// From below, in the order in which they usually come.
const STATES: [Phase; 7] =
    [Phase::Startup, Phase::Drain, Phase::Down, Phase::Cruise, Phase::Refill, Phase::Up, Phase::ProbeRtt];

fn states(seen: &[Seen]) -> Panel {
    let labels = STATES.iter().enumerate().map(|(i, phase)| (i as f64, phase.name().to_owned()));
    let axis = Axis::linear("state", "").from(-0.5).to(6.5).labelled(labels.collect());
    let mut panel = Panel::new(time(), axis, 120.0);
    let place = |phase| STATES.iter().position(|state| *state == phase).map_or(f64::NAN, |i| i as f64);
    let mut points = Vec::new();
    for pair in seen.windows(2) {
        points.push((pair[0].at, place(pair[0].bbr.phase)));
        points.push((pair[1].at, place(pair[0].bbr.phase)));
    }
    panel.add(Line::new(points, Stroke::solid(Colour::of_series(5), 1.4)));
    panel
}
