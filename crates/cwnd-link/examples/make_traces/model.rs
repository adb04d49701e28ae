//! Models of links whose rate varies, and the delivery traces that they make.
//!
//! They are models. The source in published measurements is named at each constant, and so is what is a choice of this
//! project. Nothing in them is a recording.

use cwnd_link::{Purpose, Stream};
use cwnd_scenario::DeliveryTrace;

/// Bits of an opportunity.
const OPPORTUNITY: f64 = DeliveryTrace::BYTES as f64 * 8.0;

/// A trace and what goes with it.
pub struct Made {
    pub trace: DeliveryTrace,
    /// When the one-way delay becomes what, in seconds and milliseconds; nothing where the model has none.
    pub delays: Vec<(u32, f64)>,
}

/// A millimetre-wave 5G downlink among pedestrians, 60 s: line of sight, or blocked by somebody.
///
/// - Blocked and unblocked times come by turns, each exponential: the two-state Markov model of G. R. MacCartney,
///   T. S. Rappaport and S. Rangan, "Rapid Fading Due to Human Blockage in Pedestrian Crowds at 5G Millimeter-Wave
///   Frequencies", IEEE GLOBECOM 2017. A fade lasts 299 ms in the mean (antennas of 7 degrees), and is 15.8 dB deep in
///   the mean. Its depth is drawn uniformly from 5 to 26.6 dB, which has that mean.
/// - Choices: unblocked times of 4 s in the mean; a signal-to-noise ratio of 20 dB in line of sight, which wanders by 2 dB
///   with a correlation time of 100 ms; 200 Mbit/s at 20 dB, and else in proportion to log2(1 + SNR).
fn mmwave(seed: u64, scale: f64) -> Made {
    const MS: u32 = 60_000;
    const SLOT_MS: u32 = 10;
    const LINE_OF_SIGHT_DB: f64 = 20.0;
    let mut stream = Stream::new(seed, Purpose::Jitter, 0);
    let mut wander = Wander::new(2.0, f64::from(SLOT_MS) / 100.0);
    let bits_per_hertz = |db: f64| libm::log2(1.0 + libm::pow(10.0, db / 10.0));
    // Times of blockage are drawn ahead: until when the present one lasts, and how deep it is.
    let (mut blocked, mut until_ms, mut depth_db) = (false, exponential(&mut stream, 4000.0), 0.0);
    let rate = |ms: u32| {
        if ms.is_multiple_of(SLOT_MS) {
            while f64::from(ms) >= until_ms {
                blocked = !blocked;
                until_ms += exponential(&mut stream, if blocked { 299.0 } else { 4000.0 });
                depth_db = if blocked { 5.0 + 21.6 * stream.uniform() } else { 0.0 };
            }
            wander.step(&mut stream);
        }
        let db = LINE_OF_SIGHT_DB + wander.value - depth_db;
        200e6 / scale * bits_per_hertz(db) / bits_per_hertz(LINE_OF_SIGHT_DB)
    };
    Made { trace: trace("5g-mmwave", MS, rate), delays: vec![] }
}

/// A downlink from satellites in low orbit, 75 s: every 15 s the terminal gets another satellite, rate and delay.
///
/// - The intervals of 15 s, at whose ends rate and latency step: N. Mohan et al., "A Multifaceted Look at Starlink
///   Performance", WWW 2024.
/// - Rates from 100 to 200 Mbit/s, which is what the service promised, and round trips from 40 to 60 ms, which are the
///   quartiles of those that F. Michel et al. measured to European servers ("A First Look at Starlink Performance", IMC
///   2022, and its authors' summary on the APNIC blog, 28 November 2022; their rates were above 300 Mbit/s at times). Each
///   interval draws its own, uniformly; the one-way delay is half of the round trip.
/// - Choices: nothing passes in the first 100 ms of an interval; within one the rate wanders by 10 % with a correlation
///   time of 1 s.
fn leo(seed: u64, scale: f64) -> Made {
    const INTERVALS: u32 = 5;
    const INTERVAL_MS: u32 = 15_000;
    const OUTAGE_MS: u32 = 100;
    let mut stream = Stream::new(seed, Purpose::Jitter, 1);
    let levels: Vec<(f64, f64)> =
        (0..INTERVALS).map(|_| (100e6 + 100e6 * stream.uniform(), 20.0 + 10.0 * stream.uniform())).collect();
    let mut wander = Wander::new(0.1, 0.1);
    let rate = |ms: u32| {
        if ms.is_multiple_of(100) {
            wander.step(&mut stream);
        }
        let (level, _) = levels[(ms / INTERVAL_MS) as usize];
        let down = ms % INTERVAL_MS < OUTAGE_MS;
        if down { 0.0 } else { level / scale * (1.0 + wander.value).max(0.0) }
    };
    let trace = trace("leo", INTERVALS * INTERVAL_MS, rate);
    let delays = (0..).step_by(15).zip(&levels).map(|(at, &(_, delay))| (at, tenths(delay))).collect();
    Made { trace, delays }
}

/// A cellular downlink of LTE, 30 s: the model of K. Winstein, A. Sivaraman and H. Balakrishnan, "Stochastic Forecasts Achieve
/// High Throughput and Low Delay over Cellular Networks", NSDI 2013, section 3.1.
///
/// - The rate is a Brownian motion of 200 packets (of 1,500 bytes) a second per square root of a second, between 0 and 1,000
///   packets a second; once it is 0, the outage ends at a rate of 1 a second.
/// - Choices: it begins at half of the greatest rate; steps of 20 ms; the scale does not apply.
fn lte(seed: u64) -> Made {
    const MS: u32 = 30_000;
    const SLOT_MS: u32 = 20;
    const MOST: f64 = 1000.0;
    let slot = f64::from(SLOT_MS) / 1000.0;
    let mut stream = Stream::new(seed, Purpose::Jitter, 2);
    let mut packets: f64 = MOST / 2.0;
    let rate = |ms: u32| {
        let is_slot = ms.is_multiple_of(SLOT_MS);
        if is_slot && (packets > 0.0 || stream.uniform() < 1.0 - libm::exp(-slot)) {
            let step = 200.0 * libm::sqrt(slot) * stream.normal();
            // What ends an outage is a step up.
            packets = if packets > 0.0 { (packets + step).clamp(0.0, MOST) } else { step.abs() };
        }
        packets * OPPORTUNITY
    };
    Made { trace: trace("lte", MS, rate), delays: vec![] }
}

/// All traces.
pub fn all(seed: u64, scale: f64) -> [Made; 3] {
    [mmwave(seed, scale), leo(seed, scale), lte(seed)]
}

/// The mean rates of the first 30 s of a trace in steps of 200 ms, as a schedule of a study file.
pub fn schedule(trace: &DeliveryTrace) -> String {
    const STEP_MS: u32 = 200;
    let steps = (0..30_000 / STEP_MS).map(|step| {
        let within = |time: &&u32| (step * STEP_MS + 1..=(step + 1) * STEP_MS).contains(*time);
        let count = trace.times_ms.iter().filter(within).count();
        let kbits = count as f64 * OPPORTUNITY / f64::from(STEP_MS);
        let at = f64::from(step * STEP_MS) / 1000.0;
        match count {
            0 => format!("\"{at} s: down\""),
            _ => format!("\"{at} s: {kbits:.0} kbit/s\""),
        }
    });
    format!("schedule = [{}, \"every 30 s\"]\n", steps.collect::<Vec<_>>().join(", "))
}

/// What the traces are in numbers, as tables in Markdown.
pub fn summary(all: &[Made]) -> String {
    let mut text =
        "| trace | seconds | mean Mbit/s | least over 100 ms | greatest over 100 ms |\n".to_owned();
    text += "|---|---:|---:|---:|---:|\n";
    for Made { trace, .. } in all {
        let seconds = trace.times_ms.last().map_or(0, |last| last / 1000);
        let [mean, least, greatest] = rates(trace);
        text += &format!("| `{}.trace` | {seconds} | {mean:.2} | {least:.2} | {greatest:.2} |\n", trace.name);
    }
    for Made { trace, delays } in all.iter().filter(|made| !made.delays.is_empty()) {
        text += &format!("\n| `{}.trace`: from second | one-way delay ms |\n|---:|---:|\n", trace.name);
        text.extend(delays.iter().map(|(at, delay)| format!("| {at} | {delay:.1} |\n")));
    }
    text
}

/// Mean rate in Mbit/s, and the least and the greatest over 100 ms.
fn rates(trace: &DeliveryTrace) -> [f64; 3] {
    let length = *trace.times_ms.last().expect("a trace is not empty");
    let mut windows = vec![0u32; (length / 100) as usize];
    for &time in trace.times_ms.iter() {
        windows[(time.saturating_sub(1) / 100) as usize] += 1;
    }
    // Bits in 100 ms, as Mbit/s.
    let rate = |count: &u32| f64::from(*count) * OPPORTUNITY / 1e5;
    let least = windows.iter().map(rate).fold(f64::INFINITY, f64::min);
    let mean = trace.times_ms.len() as f64 * OPPORTUNITY / (f64::from(length) * 1e3);
    [mean, least, windows.iter().map(rate).fold(0.0, f64::max)]
}

/// The opportunities of a rate in bit/s: one comes at the end of each millisecond in which 1,500 bytes have been gathered.
/// The last comes with the last millisecond, be it not quite full, because it says how long the trace is.
fn trace(name: &str, length_ms: u32, mut rate: impl FnMut(u32) -> f64) -> DeliveryTrace {
    let mut times_ms = Vec::new();
    let mut gathered = 0.0;
    for ms in 0..length_ms {
        gathered += rate(ms) / 1000.0;
        while gathered >= OPPORTUNITY {
            gathered -= OPPORTUNITY;
            times_ms.push(ms + 1);
        }
    }
    if times_ms.last() != Some(&length_ms) {
        times_ms.push(length_ms);
    }
    DeliveryTrace { name: name.to_owned(), times_ms: times_ms.into() }
}

/// A number that wanders about zero: an autoregressive process of the first order.
struct Wander {
    value: f64,
    kept: f64,
    drawn: f64,
}

impl Wander {
    /// With this standard deviation, and steps of this part of the correlation time. It begins at zero.
    fn new(deviation: f64, step: f64) -> Wander {
        let kept = libm::exp(-step);
        Wander { value: 0.0, kept, drawn: deviation * libm::sqrt(1.0 - kept * kept) }
    }

    fn step(&mut self, stream: &mut Stream) {
        self.value = self.kept * self.value + self.drawn * stream.normal();
    }
}

fn exponential(stream: &mut Stream, mean: f64) -> f64 {
    -mean * libm::log(1.0 - stream.uniform())
}

fn tenths(number: f64) -> f64 {
    libm::round(10.0 * number) / 10.0
}
