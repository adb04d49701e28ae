//! The words in which networks are said beyond rate, delay and buffer.

use super::{
    Setting, SettingKind, buffer, megabits, milliseconds, nothing, number, put, switch, unit, whole,
};
use crate::build::TraceFile;
use crate::{Loss, NotationError, Probability, kinds::Family};
use std::str::FromStr;

/// The settings of this file, in the order in which they are best read.
pub const NETWORK: &[Setting] = &[
    Setting {
        key: "queue",
        title: "Queue",
        about: "The queue before the bottleneck, perhaps with parameters; `cwnd networks` lists them.",
        default: "drop-tail",
        example: "codel:ecn=on",
        kind: SettingKind::Kind(Family::Queue),
        set: |e, text| put(&mut e.setup.forward.queue, text, said),
        measure: nothing,
    },
    Setting {
        key: "loss",
        title: "Loss",
        about: "What the bottleneck loses forward: a probability, or a kind of loss; `cwnd networks` lists them.",
        default: "as `per` says",
        example: "gilbert-elliott:to_bad=1e-4,to_good=0.1",
        kind: SettingKind::Kind(Family::Loss),
        set: |e, text| put(&mut e.setup.forward.loss, text, said),
        measure: probability,
    },
    Setting {
        key: "jitter",
        title: "Jitter",
        about: "A delay that differs from packet to packet on the bottleneck, forward; `cwnd networks` lists its kinds.",
        default: "none",
        example: "normal:5 ms,1 ms",
        kind: SettingKind::Kind(Family::Jitter),
        set: |e, text| put(&mut e.setup.forward.jitter, text, said),
        measure: nothing,
    },
    Setting {
        key: "duplication",
        title: "Duplication",
        about: "Each packet comes out of the bottleneck twice with this probability, forward.",
        default: "0",
        example: "1e-4",
        kind: SettingKind::Number,
        set: |e, text| {
            text.parse().map(|p: Probability| e.setup.forward.duplication = p.value()).map_err(unit)
        },
        measure: probability,
    },
    Setting {
        key: "slot",
        title: "Slot",
        about: "What leaves the bottleneck forward goes on at the next whole multiple of this time, all at once.",
        default: "packets go on at once",
        example: "2 ms",
        kind: SettingKind::Quantity,
        set: |e, text| put(&mut e.setup.forward.slot, text, unit),
        measure: milliseconds,
    },
    Setting {
        key: "policer",
        title: "Policer",
        about: "A token bucket before the bottleneck's queue, forward: the rate at which it fills, and the bytes that it \
                holds; packets that find too little in it are dropped.",
        default: "none",
        example: "50 Mbit/s, 100 KB",
        kind: SettingKind::Text("a rate and a burst in quotes"),
        set: |e, text| put(&mut e.setup.forward.policer, text, said),
        measure: nothing,
    },
    Setting {
        key: "schedule",
        title: "Schedule",
        about: "How the bottleneck varies in both directions: steps with a rate, `down` or `up`, and a delay; `every` \
                begins again. A direction with a rate of its own takes outages and delays alone.",
        default: "it does not vary",
        example: "10 s: 20 Mbit/s; 30 s: down; 31 s: up, 40 ms; every 60 s",
        kind: SettingKind::Steps,
        set: |e, text| put(&mut e.setup.forward.schedule, text, said),
        measure: nothing,
    },
    Setting {
        key: "rate-trace",
        title: "Trace",
        about: "A file in Mahimahi's format with the milliseconds at which up to 1,500 bytes may leave the bottleneck \
                forward. Its path is relative to the study, and to the working directory with `cwnd compare`.",
        default: "the rate is constant",
        example: "traces/leo.trace",
        kind: SettingKind::File,
        set: |e, text| file(&mut e.setup.forward.trace, text),
        measure: nothing,
    },
    Setting {
        key: "reverse-rate",
        title: "Reverse rate",
        about: "Rate of the bottleneck in reverse, where ACKs travel.",
        default: "as forward; with a trace its mean",
        example: "5 Mbit/s",
        kind: SettingKind::Quantity,
        set: |e, text| put(&mut e.setup.reverse.rate, text, unit),
        measure: megabits,
    },
    Setting {
        key: "reverse-buffer",
        title: "Reverse buffer",
        about: "What the queue before the bottleneck in reverse holds.",
        default: "as forward",
        example: "100",
        kind: SettingKind::Number,
        set: |e, text| put(&mut e.setup.reverse.buffer, text, unit),
        measure: buffer,
    },
    Setting {
        key: "reverse-queue",
        title: "Reverse queue",
        about: "The queue before the bottleneck in reverse.",
        default: "as forward",
        example: "drop-tail",
        kind: SettingKind::Kind(Family::Queue),
        set: |e, text| put(&mut e.setup.reverse.queue, text, said),
        measure: nothing,
    },
    Setting {
        key: "reverse-loss",
        title: "Reverse loss",
        about: "What the bottleneck loses in reverse.",
        default: "none",
        example: "1e-3",
        kind: SettingKind::Kind(Family::Loss),
        set: |e, text| put(&mut e.setup.reverse.loss, text, said),
        measure: probability,
    },
    Setting {
        key: "reverse-jitter",
        title: "Reverse jitter",
        about: "A delay that differs from packet to packet on the bottleneck in reverse.",
        default: "none",
        example: "uniform:5 ms",
        kind: SettingKind::Kind(Family::Jitter),
        set: |e, text| put(&mut e.setup.reverse.jitter, text, said),
        measure: nothing,
    },
    Setting {
        key: "reverse-slot",
        title: "Reverse slot",
        about: "What leaves the bottleneck in reverse goes on at the next whole multiple of this time: ACKs come in bursts.",
        default: "packets go on at once",
        example: "2 ms",
        kind: SettingKind::Quantity,
        set: |e, text| put(&mut e.setup.reverse.slot, text, unit),
        measure: milliseconds,
    },
    Setting {
        key: "reverse-rate-trace",
        title: "Reverse trace",
        about: "As `rate-trace`, for the bottleneck in reverse.",
        default: "the rate is constant",
        example: "traces/leo.trace",
        kind: SettingKind::File,
        set: |e, text| file(&mut e.setup.reverse.trace, text),
        measure: nothing,
    },
    Setting {
        key: "ack-thinning",
        title: "ACK thinning",
        about: "In the bottleneck's queue in reverse an ACK drops an older one of its flow, as long as one stands for so many \
                at most.",
        default: "no ACK is dropped",
        example: "4",
        kind: SettingKind::Count,
        set: |e, text| whole(text).map(|acks| e.setup.reverse.ack_thinning = Some(acks)),
        measure: number,
    },
    Setting {
        key: "access-queue",
        title: "Access queue",
        about: "The queues of the access links, a sender's own among them.",
        default: "drop-tail",
        example: "fq-codel",
        kind: SettingKind::Kind(Family::Queue),
        set: |e, text| put(&mut e.setup.access_queue, text, said),
        measure: nothing,
    },
    Setting {
        key: "hops",
        title: "Hops",
        about: "How many bottlenecks a parking lot has in a row, 1 to 100.",
        default: "3",
        example: "4",
        kind: SettingKind::Count,
        set: |e, text| whole(text).map(|hops| e.setup.hops = Some(hops)),
        measure: number,
    },
    Setting {
        key: "cross-flows",
        title: "Cross flows",
        about: "Endless flows beside the experiment's own: on each hop of a parking lot, on the wires of a satellite network, \
                else on the bottleneck. A number of the same algorithm, or a mix. Metrics call the two groups `own` and \
                `cross`.",
        default: "no others",
        example: "newreno*4,cubic*10",
        kind: SettingKind::Text("a number of flows, or a mix in quotes"),
        set: |e, text| put(&mut e.setup.cross_flows, text, said),
        measure: number,
    },
    Setting {
        key: "satellite-rate",
        title: "Satellite rate",
        about: "Rate of a satellite's link from its client to the gateway.",
        default: "10 Mbit/s",
        example: "40 Mbit/s",
        kind: SettingKind::Quantity,
        set: |e, text| put(&mut e.setup.satellite.rate, text, unit),
        measure: megabits,
    },
    Setting {
        key: "satellite-delay",
        title: "Satellite delay",
        about: "Delay of a satellite's links, one way.",
        default: "250 ms",
        example: "300 ms",
        kind: SettingKind::Quantity,
        set: |e, text| put(&mut e.setup.satellite.delay, text, unit),
        measure: milliseconds,
    },
    Setting {
        key: "satellite-buffer",
        title: "Satellite buffer",
        about: "What the queue before a satellite's link to the gateway holds; a BDP is that of this link and its flows.",
        default: "1 BDP",
        example: "200",
        kind: SettingKind::Number,
        set: |e, text| put(&mut e.setup.satellite.buffer, text, unit),
        measure: buffer,
    },
    Setting {
        key: "satellite-loss",
        title: "Satellite loss",
        about: "What a satellite's link to the gateway loses.",
        default: "none",
        example: "1e-4",
        kind: SettingKind::Kind(Family::Loss),
        set: |e, text| put(&mut e.setup.satellite.loss, text, said),
        measure: probability,
    },
    Setting {
        key: "l4s",
        title: "L4S",
        about: "Flows that answer marks in proportion, such as DCTCP's, send ECT(1), so that a dual queue takes them into \
                its L queue (RFC 9331); off: they send ECT(0).",
        default: "on",
        example: "off",
        kind: SettingKind::Switch,
        set: |e, text| switch(text).map(|on| e.setup.stack.l4s = Some(on)),
        measure: nothing,
    },
];

/// Which settings speak of a line: links of a graph take them as well. The documentation lists them in this order.
pub static OF_LINES: &[&str] = &[
    "rate",
    "delay",
    "buffer",
    "queue",
    "ecn-threshold",
    "per",
    "loss",
    "jitter",
    "duplication",
    "slot",
    "policer",
    "schedule",
    "rate-trace",
    "reverse-rate",
    "reverse-buffer",
    "reverse-queue",
    "reverse-loss",
    "reverse-jitter",
    "reverse-slot",
    "reverse-rate-trace",
    "ack-thinning",
];

fn said(error: NotationError) -> String {
    // The first column is the beginning of what is shown anyway.
    if error.column == 1 { error.message } else { error.to_string() }
}

fn file(place: &mut Option<TraceFile>, text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("the name of a file is missing".to_owned());
    }
    *place = Some(TraceFile { path: text.trim().to_owned(), trace: None });
    Ok(())
}

fn probability(text: &str) -> Option<(f64, &'static str)> {
    match Loss::from_str(text).ok()? {
        Loss::None => Some((0.0, "")),
        Loss::Bernoulli(probability) => Some((probability, "")),
        Loss::GilbertElliott(_) | Loss::Nth(_) => None,
    }
}
