//! Random calls of the transport adapter with every algorithm: its counts stay right, and windows within their bounds.

use cwnd_cc::parts::draws::Draws;
use cwnd_cc::transport::{AckEnd, Adapter, SentPacket, Settings};
use cwnd_cc::{Arithmetic, EcnMode, Nanos, Parameters, WindowConfig};

/// Calls for one connection.
const CALLS: usize = 1_500;

fn live(name: &str, seed: u64) {
    let info = cwnd_cc::find(name).unwrap();
    let mut draws = Draws::new(seed);
    let settings = Settings {
        window: WindowConfig {
            mss: 1_200,
            clamp: 5_000.0,
            arithmetic: [Arithmetic::Real, Arithmetic::Linux][draws.below(2) as usize],
            ..WindowConfig::default()
        },
        ecn: [EcnMode::Exact, EcnMode::Classic, EcnMode::Off][draws.below(3) as usize],
        seed,
        ..Settings::default()
    };
    let mut adapter = Adapter::new((info.build)(&Parameters::new()).unwrap(), Nanos::ZERO, &settings);
    let mut mss = 1_200;
    let mut now = 0;
    let mut in_flight: Vec<SentPacket> = Vec::new();
    for _ in 0..CALLS {
        now += [0, 1_000, 1_000_000, 80_000_000, 5_000_000_000][(draws.below(64) as usize * 5 / 64).min(4)]
            * u64::from(draws.below(4));
        let time = Nanos(now);
        match draws.below(40) {
            0..=17 => {
                for _ in 0..=draws.below(12) {
                    let bytes = if draws.below(6) == 0 { 1 + draws.below(mss) } else { mss };
                    in_flight.push(adapter.on_packet_sent(time, bytes));
                }
            }
            18..=31 if !in_flight.is_empty() => {
                let (early, marks) = (draws.below(2) == 0, draws.below(8) == 0);
                let count = 1 + draws.below(in_flight.len() as u32) as usize;
                let first = draws.below((in_flight.len() - count + 1) as u32) as usize;
                let acked: Vec<SentPacket> = in_flight.drain(first..first + count).collect();
                let lost: Vec<SentPacket> =
                    if draws.below(5) == 0 { in_flight.drain(..first).collect() } else { Vec::new() };
                acked.iter().for_each(|packet| adapter.on_packet_acked(time, packet));
                let end = AckEnd { in_flight: None, app_limited: draws.below(3) == 0 };
                if early {
                    adapter.on_ack_end(time, &end);
                }
                lost.iter().for_each(|packet| adapter.on_packet_lost(time, packet));
                adapter.on_losses(time, draws.below(10) == 0);
                if marks {
                    adapter.on_marks(time, [None, Some(1), Some(count as u32)][draws.below(3) as usize]);
                }
                if !early {
                    adapter.on_ack_end(time, &end);
                }
            }
            32 => adapter.on_spurious_losses(time),
            33 => {
                mss = [1_200, 1_452, 8_900][draws.below(3) as usize];
                adapter.set_mss(mss);
            }
            34 if !in_flight.is_empty() => adapter.on_packet_discarded(&in_flight.remove(0)),
            35 => adapter.on_window_limited(),
            36 => adapter.on_app_limited(),
            37 => adapter.on_ack_end(time, &AckEnd::default()),
            38 => adapter.on_losses(time, true),
            _ => adapter.on_marks(time, Some(0)),
        }
        let expected: u64 = in_flight.iter().map(|packet| u64::from(packet.bytes())).sum();
        assert_eq!(adapter.bytes_in_flight(), expected, "{name}, seed {seed}");
        let window = adapter.window();
        let bounds = 2 * u64::from(mss)..=5_000 * u64::from(mss);
        assert!(bounds.contains(&window), "{name}, seed {seed}: {adapter:?}");
        assert!(adapter.pacing_rate().is_none_or(|rate| rate > 0.0), "{name}, seed {seed}: {adapter:?}");
        assert_eq!(adapter.illegal_value(), None, "{name}, seed {seed}: {adapter:?}");
    }
}

#[test]
fn counts_stay_right_and_windows_bounded() {
    for info in cwnd_cc::all() {
        (0..12).for_each(|seed| live(info.name, seed));
    }
}
