//! An algorithm and plain events, without the adapter: a window per round trip, and a loss whenever it exceeds a limit.
//!
//! `cargo run -p cwnd-cc --example events -- cubic`

use cwnd_cc::{Ack, Congestion, CongestionKind, Init, Nanos, Parameters, State, Window, WindowConfig};

/// Segments that the path holds.
const LIMIT: u32 = 60;

fn main() {
    let name = std::env::args().nth(1).unwrap_or_else(|| "cubic".to_owned());
    let Some(info) = cwnd_cc::find(&name) else {
        let names: Vec<&str> = cwnd_cc::all().iter().map(|info| info.name).collect();
        return eprintln!("no algorithm is called {name}; there are {}", names.join(", "));
    };
    let rtt = Nanos::from_millis(50);
    let mut window = Window::new(&WindowConfig::default());
    let mut algorithm = (info.build)(&Parameters::new()).expect("the defaults are valid");
    algorithm.init(&mut window, &Init { rtt: Some(rtt), ..Init::default() });

    let (mut now, mut sent, mut delivered) = (Nanos::ZERO, 0, 0);
    for round in 1..=40 {
        let flight = window.cwnd as u32;
        sent += u64::from(flight);
        now = now + rtt;
        for n in 0..flight {
            delivered += 1;
            let ack = Ack {
                now,
                acked: 1,
                cumulative: 1,
                rtt: Some(rtt),
                srtt: rtt,
                min_rtt: rtt,
                in_flight: flight - n - 1,
                prior_in_flight: flight - n,
                state: State::Open,
                cwnd_limited: true,
                round_start: n == 0,
                round,
                delivered,
                sent,
                ..Ack::default()
            };
            algorithm.on_ack(&mut window, &ack);
        }
        println!("{:>6.2} s  {:>5} segments", now.as_secs_f64(), window.cwnd as u32);
        if flight > LIMIT {
            let loss = Congestion {
                now,
                kind: CongestionKind::Loss,
                in_flight: flight,
                flight_size: flight,
                lost: 1,
                rtt,
                srtt: rtt,
                min_rtt: rtt,
                timeouts: 0,
                in_slow_start: window.in_slow_start(),
            };
            algorithm.on_congestion(&mut window, &loss);
            // The transport reduces the window, here at once.
            if !algorithm.needs().owns_recovery {
                window.set_cwnd(window.recovery_cwnd.unwrap_or(window.ssthresh));
            }
            algorithm.on_recovery_exit(&mut window, now);
        }
    }
}
