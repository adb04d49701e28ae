//! The cost of an ACK in every algorithm: `ack_cost [RUNS] [NAME]` prints a line of name, window and nanoseconds for each,
//! or for the one of this name, the median of the runs.
//!
//! The ACKs are those of a flow that fills a path of 100 ms: one for each segment, evenly spaced, with
//! round-trip times between 100 and 110 ms, a rate sample where one is asked for, and a loss every thousand
//! from which it recovers at once. The window is put back to its size at each loss. What the events themselves
//! cost to make is measured with an algorithm that does nothing, and taken off. What counts is the fastest of
//! many short slices, which no other work of the machine has disturbed. `cargo xtask bench` runs this.

use cwnd_cc::{
    Ack, Congestion, CongestionControl, CongestionKind, EcnMode, Init, LostPacket, Nanos, Needs, Parameters,
    RateSample, Window, WindowConfig, all,
};
use std::hint::black_box;
use std::time::Instant;

const WINDOWS: [u32; 3] = [100, 1_000, 10_000];
/// ACKs that are timed together, with some losses among them, and how often.
const SLICE: u32 = 10_000;
const SLICES: u32 = 40;
const LOSS_EVERY: u32 = 1_000;
const RTT: u64 = 100_000_000;

fn main() {
    let runs = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(5);
    let only = std::env::args().nth(2);
    for algorithm in all().iter().filter(|one| only.as_ref().is_none_or(|name| one.name == *name)) {
        for window in WINDOWS {
            let mut costs: Vec<f64> = (0..runs)
                .map(|_| {
                    let built = (algorithm.build)(&Parameters::new()).expect("defaults are in range");
                    let needs = built.needs();
                    (nanoseconds(built, window) - nanoseconds(Box::new(Nothing(needs)), window)).max(0.0)
                })
                .collect();
            costs.sort_by(f64::total_cmp);
            println!("{}\t{window}\t{:.2}", algorithm.name, costs[costs.len() / 2]);
        }
    }
}

/// It asks for what another asks for, and does nothing with it.
struct Nothing(Needs);

impl CongestionControl for Nothing {
    fn on_ack(&mut self, _: &mut Window, _: &Ack) {}

    fn on_congestion(&mut self, window: &mut Window, _: &Congestion) {
        window.set_ssthresh_for_loss(window.cwnd / 2.0);
    }

    fn needs(&self) -> Needs {
        self.0
    }
}

/// Nanoseconds an ACK, of a flow whose window is about `segments`.
fn nanoseconds(mut algorithm: Box<dyn CongestionControl>, segments: u32) -> f64 {
    let size = f64::from(segments);
    let needs = algorithm.needs();
    let mut window =
        Window::new(&WindowConfig { initial_ssthresh: size, clamp: 4.0 * size, ..WindowConfig::default() });
    let ecn = needs.ecn.unwrap_or(EcnMode::Off);
    let rtt = Some(Nanos(RTT));
    algorithm.init(&mut window, &Init { ecn, rtt, sack: true, seed: 1, ..Init::default() });
    window.cwnd = size;
    let mut path = Path::new(segments, needs);
    // The first losses and round trips settle what is measured only once.
    path.drive(algorithm.as_mut(), &mut window, 4 * segments.max(LOSS_EVERY));
    let slices = (0..SLICES).map(|_| {
        let begin = Instant::now();
        path.drive(algorithm.as_mut(), &mut window, SLICE);
        begin.elapsed().as_secs_f64() * 1e9 / f64::from(SLICE)
    });
    slices.fold(f64::INFINITY, f64::min)
}

struct Path {
    segments: u32,
    needs: Needs,
    now: u64,
    acks: u32,
    ack: Ack,
}

impl Path {
    fn new(segments: u32, needs: Needs) -> Path {
        let ack = Ack {
            acked: 1,
            cumulative: 1,
            srtt: Nanos(RTT + RTT / 20),
            min_rtt: Nanos(RTT),
            in_flight: segments - 1,
            prior_in_flight: segments,
            cwnd_limited: true,
            ..Ack::default()
        };
        Path { segments, needs, now: RTT, acks: 0, ack }
    }

    fn drive(&mut self, algorithm: &mut dyn CongestionControl, window: &mut Window, acks: u32) {
        for _ in 0..acks {
            self.advance();
            if self.acks.is_multiple_of(LOSS_EVERY) {
                self.lose(algorithm, window);
            }
            algorithm.on_ack(window, black_box(&self.ack));
            black_box(&window);
        }
    }

    fn advance(&mut self) {
        self.now += RTT / u64::from(self.segments);
        self.acks += 1;
        let queued = u64::from(self.acks % 64) * (RTT / 640);
        let ack = &mut self.ack;
        ack.now = Nanos(self.now);
        ack.rtt = Some(Nanos(RTT + queued));
        ack.delivered += 1;
        ack.sent = ack.delivered + u64::from(ack.in_flight);
        ack.round_start = self.acks.is_multiple_of(self.segments);
        ack.round += u64::from(ack.round_start);
        ack.marked = u32::from(self.acks.is_multiple_of(50));
        if self.needs.rate_samples {
            ack.rate = Some(RateSample {
                delivered: self.segments.into(),
                prior_delivered: ack.delivered.saturating_sub(self.segments.into()),
                interval: Nanos(RTT + queued),
                tx_in_flight: self.segments,
                rtt: Nanos(RTT + queued),
                ..RateSample::default()
            });
        }
    }

    fn lose(&mut self, algorithm: &mut dyn CongestionControl, window: &mut Window) {
        let now = Nanos(self.now);
        if self.needs.lost_packets {
            let lost = LostPacket {
                now,
                sent: Nanos(self.now - RTT),
                tx_in_flight: self.segments,
                delivered: self.ack.delivered,
                lost_at_send: 0,
                lost: 1,
                app_limited: false,
            };
            algorithm.on_packet_lost(window, &lost);
        }
        window.recovery_cwnd = None;
        algorithm.on_congestion(
            window,
            &Congestion {
                now,
                kind: CongestionKind::Loss,
                in_flight: self.segments,
                flight_size: self.segments,
                lost: 1,
                rtt: Nanos(RTT),
                srtt: self.ack.srtt,
                min_rtt: Nanos(RTT),
                timeouts: 0,
                in_slow_start: false,
            },
        );
        algorithm.on_recovery_exit(window, now);
        window.set_cwnd(self.segments.into());
        window.ssthresh = window.ssthresh.min(window.cwnd);
    }
}
