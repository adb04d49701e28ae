//! The words in which an experiment is said: one table, from which study files, their schema and their documents come.

mod network;

pub use network::{NETWORK, OF_LINES};

use super::{EcnChoice, Experiment, LineDelay, MAX_FLOWS, Topology};
use crate::{
    ArrivalRate, Buffer, BufferTerm, ByteSize, EcnThreshold, Probability, Rate, ShortFlows, StackProfile,
    Time, Traffic, kinds::Family,
};
use std::str::FromStr;

/// One word of an experiment: `buffer`, `per`, `stop-stagger`. `cwnd compare` has a flag of the same name for
/// each but `beside`, which `--mix` says.
#[derive(Clone, Copy)]
pub struct Setting {
    /// The word.
    pub key: &'static str,
    /// The title of an axis of it.
    pub title: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// What it is when it is not said.
    pub default: &'static str,
    /// A value, as it is written.
    pub example: &'static str,
    /// What values it takes.
    pub kind: SettingKind,
    /// Puts a value into an experiment, or says what is wrong with it and what would be right.
    pub set: fn(&mut Experiment, &str) -> Result<(), String>,
    /// A value as a number and the unit of it (empty for a ratio or a count), if it is a quantity.
    pub measure: fn(&str) -> Option<(f64, &'static str)>,
}

/// What values a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// A number with a unit.
    Quantity,
    /// A number, or one with a unit.
    Number,
    /// A whole number.
    Count,
    /// On or off.
    Switch,
    /// One of these words.
    Word(&'static [&'static str]),
    /// An algorithm, perhaps with parameters.
    Algorithm,
    /// A mix of algorithms.
    Mix,
    /// A list of flows.
    Flows,
    /// A kind of queue, loss or jitter, perhaps with parameters; a loss may be a number.
    Kind(Family),
    /// Steps of a schedule: a text, or a list of texts that are joined by `; `.
    Steps,
    /// The path of a file.
    File,
    /// A text (or a number) that says this.
    Text(&'static str),
}

/// Pairs of keys that cannot be said together.
pub static CONFLICTS: [(&str, &str); 7] = [
    ("delay", "rtt"),
    ("packet-size", "mtu"),
    ("algorithm", "mix"),
    ("algorithm", "flow"),
    ("mix", "flow"),
    ("per", "loss"),
    ("schedule", "rate-trace"),
];

/// The setting of this key.
pub fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

/// All of them.
pub static SETTINGS: &[Setting] = &joined::<{ COMMON.len() + NETWORK.len() }>(COMMON, NETWORK);

const fn joined<const COUNT: usize>(first: &[Setting], second: &[Setting]) -> [Setting; COUNT] {
    let mut all = [first[0]; COUNT];
    let mut index = 0;
    while index < COUNT {
        all[index] = if index < first.len() { first[index] } else { second[index - first.len()] };
        index += 1;
    }
    all
}

/// Settings of flows, of the bottleneck's usual traits, of the stack and of time, in the order in which they are best read.
const COMMON: &[Setting] = &[
    Setting {
        key: "algorithm",
        title: "Algorithm",
        about: "Algorithm of all flows, perhaps with parameters; `cwnd algorithms` lists them.",
        default: "none: an algorithm, a mix or flows must be said",
        example: "agile-sd:lambda_max=4",
        kind: SettingKind::Algorithm,
        set: |e, text| put(&mut e.algorithm, text, |error: crate::NotationError| error.to_string()),
        measure: nothing,
    },
    Setting {
        key: "flows",
        title: "Flows",
        about: "How many flows of the algorithm there are.",
        default: "1",
        example: "4",
        kind: SettingKind::Count,
        set: |e, text| count(text, 1).map(|flows| e.flows = Some(flows)),
        measure: number,
    },
    Setting {
        key: "beside",
        title: "Beside",
        about: "As many flows of this algorithm share the bottleneck with those of `algorithm`: an axis of each makes a matrix.",
        default: "no other algorithm",
        example: "newreno",
        kind: SettingKind::Algorithm,
        set: |e, text| put(&mut e.beside, text, |error: crate::NotationError| error.to_string()),
        measure: nothing,
    },
    Setting {
        key: "mix",
        title: "Mix",
        about: "Flows of several algorithms on one bottleneck; `*N` says how many of each.",
        default: "no mix",
        example: "cubic*2,elastic*2",
        kind: SettingKind::Mix,
        set: |e, text| put(&mut e.mix, text, |error: crate::NotationError| error.to_string()),
        measure: nothing,
    },
    Setting {
        key: "flow",
        title: "Flows",
        about: "Flows one by one, with what sets each apart: count, start, stop, rtt, bytes, traffic, deadline, group, reverse.",
        default: "no such list",
        example: "cubic; start=21 s; rtt=320 ms",
        kind: SettingKind::Flows,
        set: |e, text| {
            text.parse()
                .map(|flow| e.flow.push(flow))
                .map_err(|error: crate::NotationError| error.to_string())
        },
        measure: nothing,
    },
    Setting {
        key: "reverse-flows",
        title: "Reverse flows",
        about: "So many endless flows of the same algorithm from right to left, beside the others.",
        default: "0",
        example: "2",
        kind: SettingKind::Count,
        set: |e, text| count(text, 0).map(|flows| e.reverse_flows = flows),
        measure: number,
    },
    Setting {
        key: "bytes",
        title: "Bytes a flow",
        about: "Each flow sends so much and ends; without it flows are endless.",
        default: "endless",
        example: "5.1 GB",
        kind: SettingKind::Number,
        set: |e, text| put(&mut e.setup.bytes, text, unit),
        measure: |text| text.parse().ok().map(|size: ByteSize| (size.0 as f64 / 1e6, "MB")),
    },
    Setting {
        key: "traffic",
        title: "Traffic",
        about: "What applications give their flows to send: `bulk` (always), `on-off:ON,OFF`, `live:RATE`, or `responses:size=SIZE,think=TIME`.",
        default: "bulk",
        example: "on-off:exponential 2 s,exponential 1 s",
        kind: SettingKind::Text("a text in quotes"),
        set: |e, text| {
            text.parse()
                .map(|traffic| e.setup.traffic = traffic)
                .map_err(|error: crate::NotationError| error.to_string())
        },
        measure: |text| match text.parse().ok()? {
            Traffic::Live(rate) => Some((rate.0 as f64 / 1e6, "Mbit/s")),
            _ => None,
        },
    },
    Setting {
        key: "deadline",
        title: "Deadline",
        about: "How long after its start each flow should be complete; D2TCP is told.",
        default: "no flow has one",
        example: "50 ms",
        kind: SettingKind::Quantity,
        set: |e, text| put(&mut e.setup.deadline, text, unit),
        measure: milliseconds,
    },
    Setting {
        key: "short-flows",
        title: "Short flows",
        about: "Flows that arrive at random, send some bytes and end: algorithm, `load` (a part of the bottleneck's rate) or `rate`, `size`, and perhaps start, stop, deadline.",
        default: "none",
        example: "cubic; load=20 %; size=web-search",
        kind: SettingKind::Text("a text in quotes"),
        set: |e, text| put(&mut e.setup.short_flows, text, |error: crate::NotationError| error.to_string()),
        measure: |text| match text.parse().ok().map(|flows: ShortFlows| flows.rate)? {
            ArrivalRate::Load(percent) => Some((percent.to_f64(), "%")),
            ArrivalRate::PerSecond(rate) => Some((rate.to_f64(), "1/s")),
        },
    },
    Setting {
        key: "stagger",
        title: "Stagger",
        about: "Flow i starts i - 1 times this after the first.",
        default: "0 s",
        example: "5 s",
        kind: SettingKind::Quantity,
        set: |e, text| text.parse().map(|time| e.setup.stagger = time).map_err(unit),
        measure: seconds,
    },
    Setting {
        key: "stop-stagger",
        title: "Stagger of stops",
        about: "Flow i of n sends nothing new from n - i times this before the end.",
        default: "flows do not stop",
        example: "5 s",
        kind: SettingKind::Quantity,
        set: |e, text| put(&mut e.setup.stop_stagger, text, unit),
        measure: seconds,
    },
    Setting {
        key: "topology",
        title: "Topology",
        about: "`dumbbell`: each flow has its own hosts and access links. `path`: all share one line between two hosts. \
                `parking-lot`: bottlenecks in a row. `satellite`: flows over a satellite and over wires. `incast`: many \
                senders, one receiver.",
        default: "dumbbell",
        example: "dumbbell",
        kind: SettingKind::Word(&["dumbbell", "path", "parking-lot", "satellite", "incast"]),
        set: |e, text| {
            let words = [
                ("dumbbell", Topology::Dumbbell),
                ("path", Topology::Path),
                ("parking-lot", Topology::ParkingLot),
                ("satellite", Topology::Satellite),
                ("incast", Topology::Incast),
            ];
            word(text, &words).map(|topology| e.setup.topology = topology)
        },
        measure: nothing,
    },
    Setting {
        key: "rate",
        title: "Rate",
        about: "Rate of the bottleneck, counted on wire bytes.",
        default: "1 Gbit/s; with a trace its mean",
        example: "100 Mbit/s",
        kind: SettingKind::Quantity,
        set: |e, text| {
            let rate = text.parse().map_err(unit)?;
            // Said, it comes before the mean of a trace.
            e.setup.rate = rate;
            e.setup.forward.rate = Some(rate);
            Ok(())
        },
        measure: megabits,
    },
    Setting {
        key: "delay",
        title: "Delay",
        about: "Delay of the bottleneck, one way.",
        default: "100 ms",
        example: "4 ms",
        kind: SettingKind::Quantity,
        set: |e, text| text.parse().map(|time| e.setup.delay = LineDelay::OneWay(time)).map_err(unit),
        measure: milliseconds,
    },
    Setting {
        key: "rtt",
        title: "Base RTT",
        about: "Base round-trip time: sets the bottleneck's delay so that the whole path has it.",
        default: "as the delays have it",
        example: "80 ms",
        kind: SettingKind::Quantity,
        set: |e, text| text.parse().map(|time| e.setup.delay = LineDelay::BaseRtt(time)).map_err(unit),
        measure: milliseconds,
    },
    Setting {
        key: "rtts",
        title: "Base RTTs",
        about: "Base round-trip times of the flows one after the other, from the first again after the last. The bottleneck's \
                delay must be less than half of the least, and a flow's own links have the rest.",
        default: "all have that of the topology",
        example: "80 ms, 20 ms",
        kind: SettingKind::Text("times in quotes"),
        set: |e, text| {
            let times: Result<_, _> = text.split(',').map(|time| time.trim().parse().map_err(unit)).collect();
            times.map(|times| e.setup.rtts = times)
        },
        measure: nothing,
    },
    Setting {
        key: "buffer",
        title: "Buffer",
        about: "What the queue before the bottleneck holds: packets, BDPs, packets a flow, bytes or `unlimited`.",
        default: "1 BDP",
        example: "max(1 BDP, 2/flow)",
        kind: SettingKind::Number,
        set: |e, text| text.parse().map(|buffer| e.setup.buffer = buffer).map_err(unit),
        measure: buffer,
    },
    Setting {
        key: "per",
        title: "Packet error rate",
        about: "Each packet that crosses the bottleneck forward is lost with this probability.",
        default: "0",
        example: "1e-5",
        kind: SettingKind::Number,
        set: |e, text| text.parse().map(|per| e.setup.per = per).map_err(unit),
        measure: |text| text.parse().ok().map(|per: Probability| (per.value(), "")),
    },
    Setting {
        key: "ecn-threshold",
        title: "ECN threshold",
        about: "The bottleneck marks packets that find more than so many packets, or than such a part of its limit.",
        default: "it marks none",
        example: "20 %",
        kind: SettingKind::Number,
        set: |e, text| put(&mut e.setup.ecn_threshold, text, unit),
        measure: |text| match text.parse().ok()? {
            EcnThreshold::Packets(packets) => Some((f64::from(packets), "packets")),
            EcnThreshold::Percent(percent) => Some((percent.to_f64(), "%")),
        },
    },
    Setting {
        key: "access-rate",
        title: "Access rate",
        about: "Rate of the access links.",
        default: "as the bottleneck's; 1 Gbit/s with a satellite",
        example: "10 Gbit/s",
        kind: SettingKind::Quantity,
        set: |e, text| put(&mut e.setup.access_rate, text, unit),
        measure: megabits,
    },
    Setting {
        key: "access-delay",
        title: "Access delay",
        about: "Delay of each access link, one way.",
        default: "1 ms; 10 ms with a satellite",
        example: "1 ms",
        kind: SettingKind::Quantity,
        set: |e, text| put(&mut e.setup.access_delay, text, unit),
        measure: milliseconds,
    },
    Setting {
        key: "access-buffer",
        title: "Access buffer",
        about: "What the queues of the access links hold, a sender's own queue among them.",
        default: "as the bottleneck's",
        example: "25",
        kind: SettingKind::Number,
        set: |e, text| put(&mut e.setup.access_buffer, text, unit),
        measure: buffer,
    },
    Setting {
        key: "stack",
        title: "Stack",
        about: "`ns2`: ns-2.35's TCP-Linux agent. `linux`: today's Linux.",
        default: "ns2",
        example: "linux",
        kind: SettingKind::Word(&["ns2", "linux"]),
        set: |e, text| {
            let words = [("ns2", StackProfile::Ns2), ("linux", StackProfile::Linux)];
            word(text, &words).map(|profile| e.setup.stack.profile = profile)
        },
        measure: nothing,
    },
    Setting {
        key: "packet-size",
        title: "Packet size",
        about: "Payload of a packet, bytes.",
        default: "1000 with ns2; by the MTU with linux",
        example: "1000",
        kind: SettingKind::Count,
        set: |e, text| whole(text).map(|bytes| e.setup.stack.packet_size = Some(bytes)),
        measure: |text| number(text).map(|(bytes, _)| (bytes, "B")),
    },
    Setting {
        key: "mtu",
        title: "MTU",
        about: "IP bytes of a packet, with linux alone.",
        default: "1500",
        example: "9000",
        kind: SettingKind::Count,
        set: |e, text| whole(text).map(|bytes| e.setup.stack.mtu = Some(bytes)),
        measure: |text| number(text).map(|(bytes, _)| (bytes, "B")),
    },
    Setting {
        key: "sack",
        title: "SACK",
        about: "Selective acknowledgements.",
        default: "on",
        example: "off",
        kind: SettingKind::Switch,
        set: |e, text| switch(text).map(|on| e.setup.stack.sack = Some(on)),
        measure: nothing,
    },
    Setting {
        key: "timestamps",
        title: "Timestamps",
        about: "Timestamps; they cost 10 bytes a packet with ns2, 12 with linux.",
        default: "on",
        example: "off",
        kind: SettingKind::Switch,
        set: |e, text| switch(text).map(|on| e.setup.stack.timestamps = Some(on)),
        measure: nothing,
    },
    Setting {
        key: "delayed-ack",
        title: "Delayed ACKs",
        about: "One ACK for every second packet.",
        default: "off with ns2, on with linux",
        example: "on",
        kind: SettingKind::Switch,
        set: |e, text| switch(text).map(|on| e.setup.stack.delayed_ack = Some(on)),
        measure: nothing,
    },
    Setting {
        key: "ecn",
        title: "ECN",
        about: "Explicit congestion notification (RFC 3168); `auto` is on where a queue marks.",
        default: "auto",
        example: "on",
        kind: SettingKind::Word(&["auto", "on", "off"]),
        set: |e, text| {
            let words = [
                ("auto", EcnChoice::Auto),
                ("on", EcnChoice::On),
                ("off", EcnChoice::Off),
                ("true", EcnChoice::On),
                ("false", EcnChoice::Off),
            ];
            word(text, &words).map(|ecn| e.setup.stack.ecn = ecn)
        },
        measure: nothing,
    },
    Setting {
        key: "receive-window",
        title: "Receive window",
        about: "The receiver's window, packets.",
        default: "100000 with ns2, where it is the initial ssthresh too; 4 x (BDP + buffers) with linux",
        example: "100000",
        kind: SettingKind::Count,
        set: |e, text| whole(text).map(|packets| e.setup.stack.receive_window = Some(packets)),
        measure: |text| number(text).map(|(packets, _)| (packets, "packets")),
    },
    Setting {
        key: "duration",
        title: "Duration",
        about: "How long to simulate.",
        default: "100 s",
        example: "600 s",
        kind: SettingKind::Quantity,
        set: |e, text| text.parse().map(|time| e.setup.duration = time).map_err(unit),
        measure: seconds,
    },
    Setting {
        key: "warm-up",
        title: "Warm-up",
        about: "What happens before this time is not counted.",
        default: "0 s",
        example: "10 s",
        kind: SettingKind::Quantity,
        set: |e, text| text.parse().map(|time| e.setup.warm_up = time).map_err(unit),
        measure: seconds,
    },
    Setting {
        key: "start-jitter",
        title: "Start jitter",
        about: "Each flow starts up to this much later, uniformly drawn; `0 s` for not at all.",
        default: "one base round-trip time",
        example: "0 s",
        kind: SettingKind::Quantity,
        set: |e, text| put(&mut e.setup.start_jitter, text, unit),
        measure: milliseconds,
    },
    Setting {
        key: "send-overhead",
        title: "Send overhead",
        about: "Each packet leaves its sender up to this much later, uniformly drawn; `0 s` for not at all.",
        default: "one serialisation time at the bottleneck",
        example: "0 s",
        kind: SettingKind::Quantity,
        set: |e, text| put(&mut e.setup.send_overhead, text, unit),
        measure: |text| text.parse().ok().map(|time: Time| (time.0 as f64 / 1e3, "us")),
    },
    Setting {
        key: "ties",
        title: "Ties",
        about: "Which of simultaneous arrivals at a link comes first: by the number of the host or link it comes from, or from \
                where it is longest ago that one came, as in ns-2. It matters where nothing is random.",
        default: "by-number",
        example: "by-turn",
        kind: SettingKind::Word(&["by-number", "by-turn"]),
        set: |e, text| text.parse().map(|ties| e.setup.ties = ties),
        measure: nothing,
    },
];

fn unit(error: crate::UnitError) -> String {
    error.message
}

fn put<T: FromStr>(
    place: &mut Option<T>,
    text: &str,
    message: impl Fn(T::Err) -> String,
) -> Result<(), String> {
    text.parse().map(|value| *place = Some(value)).map_err(message)
}

fn count(text: &str, least: u32) -> Result<u32, String> {
    match whole(text)? {
        count if count < least => Err(format!("there must be at least {least}")),
        count if count > MAX_FLOWS => Err(format!("too many: {MAX_FLOWS} flows are the most")),
        count => Ok(count),
    }
}

fn whole(text: &str) -> Result<u32, String> {
    let digits: String = text.chars().filter(|c| *c != '_').collect();
    if digits.starts_with('-') {
        return Err("it must not be negative".to_owned());
    }
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("it must be a whole number, such as `4`".to_owned());
    }
    digits.parse().map_err(|_| "it is far too large".to_owned())
}

fn word<T: Clone>(text: &str, words: &[(&str, T)]) -> Result<T, String> {
    if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
        return Ok(value.clone());
    }
    let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    let meant = crate::nearest(text, names.iter().copied());
    let hint = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    Err(format!("it is one of {}{hint}", names.join(", ")))
}

fn switch(text: &str) -> Result<bool, String> {
    match text {
        "on" | "true" => Ok(true),
        "off" | "false" => Ok(false),
        _ => Err("it is `on` or `off` (or `true`, `false`)".to_owned()),
    }
}

fn nothing(_: &str) -> Option<(f64, &'static str)> {
    None
}

fn number(text: &str) -> Option<(f64, &'static str)> {
    whole(text).ok().map(|number| (f64::from(number), ""))
}

fn seconds(text: &str) -> Option<(f64, &'static str)> {
    text.parse().ok().map(|time: Time| (time.as_secs_f64(), "s"))
}

fn milliseconds(text: &str) -> Option<(f64, &'static str)> {
    text.parse().ok().map(|time: Time| (time.0 as f64 / 1e6, "ms"))
}

fn megabits(text: &str) -> Option<(f64, &'static str)> {
    let rate: Rate = text.parse().ok().filter(|rate| *rate != Rate::UNLIMITED)?;
    Some((rate.0 as f64 / 1e6, "Mbit/s"))
}

fn buffer(text: &str) -> Option<(f64, &'static str)> {
    match text.parse().ok()? {
        Buffer::Bytes(bytes) => Some((bytes as f64 / 1e3, "KB")),
        Buffer::Unlimited => None,
        Buffer::Packets(terms) => match terms.as_slice() {
            [BufferTerm::Fixed(packets)] => Some((f64::from(*packets), "packets")),
            [BufferTerm::Bdp(factor)] => Some((factor.to_f64(), "BDP")),
            [BufferTerm::PerFlow(packets)] => Some((f64::from(*packets), "packets a flow")),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests;
