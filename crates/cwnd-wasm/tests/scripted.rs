//! An algorithm outside the module gets every event and decides the window.

use cwnd_wasm::scripted::{Event, Field, Host, NEEDS_PACING, factory, with_window};
use cwnd_wasm::{Bench, Setting};

/// Where an ACK's numbers have what the test's algorithm uses.
const ACKED: usize = 1;
const MAY_GROW: usize = 11;

/// NewReno through the interface of a host. Its number is the percentage of the window that a loss leaves.
#[derive(Clone, Copy)]
struct Reno {
    needs: u32,
}

impl Host for Reno {
    fn create(self, parameters: &str) -> u32 {
        parameters.strip_prefix("left=").map_or(50, |left| left.parse().expect("a number"))
    }

    fn needs(self, _algorithm: u32) -> u32 {
        self.needs
    }

    fn on_event(self, algorithm: u32, event: Event, numbers: &[f64]) {
        with_window(|window| match event {
            Event::Init if self.needs == NEEDS_PACING => Field::PacingRate.set(window, 100.0),
            Event::Init => {}
            Event::Ack if numbers[MAY_GROW] == 1.0 => {
                let acked = numbers[ACKED] as u32;
                let left = if window.in_slow_start() { window.slow_start(acked) } else { acked };
                if left > 0 {
                    window.increase(left, window.cwnd);
                }
            }
            Event::Ack => {}
            Event::Loss | Event::Ecn | Event::Timeout => {
                let cwnd = Field::Cwnd.get(window);
                Field::Ssthresh.set(window, cwnd * f64::from(algorithm) / 100.0);
            }
        });
    }
}

fn rows(flow: &str, host: Reno) -> Vec<f64> {
    let text = format!(
        "rate=10 Mbit/s\nrtt=60 ms\nbuffer=30\nqueue=codel:ecn=on\necn=on\nper=0.001\nduration=20 s\nflow={flow}\n@8 s rate=3 Mbit/s\n@12 s per=1\n@13 s per=0"
    );
    let setting = Setting::parse(&text, None).expect("valid lines");
    let mut bench = Bench::with_factory(setting, &factory(host)).expect("a network that can be built");
    bench.run_until(20.0, 0.02).expect("the changes are possible");
    bench.rows().to_vec()
}

#[test]
fn reno_outside_is_newreno_to_the_bit() {
    let bits = |rows: Vec<f64>| rows.into_iter().map(f64::to_bits).collect::<Vec<u64>>();
    let host = Reno { needs: 0 };
    let inside = bits(rows("newreno", host));
    assert_eq!(inside, bits(rows("own.js", host)));
    assert_ne!(inside, bits(rows("own.js:left=80", host)), "its parameters reach it");
}

#[test]
fn a_pacing_rate_limits_the_flow_that_asks_for_pacing() {
    // 100 segments a second for 20 s, against at least 3 Mbit/s, which are 250.
    let delivered = |needs| rows("own.js", Reno { needs }).chunks(13).map(|row| row[8]).fold(0.0, f64::max);
    let segments = |needs| delivered(needs) / 1448.0;
    assert!((1500.0..=2010.0).contains(&segments(NEEDS_PACING)), "{}", segments(NEEDS_PACING));
    assert!(segments(0) > 4000.0, "{}", segments(0));
}

#[test]
fn other_engines_say_where_such_an_algorithm_runs() {
    let setting = Setting::parse("flow=own.js", None).expect("valid lines");
    let problems = Bench::new(setting).err().expect("there is no page");
    assert!(problems[0].message.contains("only that page runs it"), "{}", problems[0].message);
}
