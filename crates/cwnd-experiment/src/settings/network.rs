//! Settings of the network: the topology, the bottleneck in both directions, and the other links.

use super::{
    Setting, SettingKind, base_rtt, bottleneck, buffer, buffer_in_effect, listed, megabits, milliseconds,
    notation, nothing, number, put, put_or_none, reverse, said, unit, whole, word,
};
use crate::settings::Family;
use crate::{EcnThreshold, LineDelay, Topology, TraceFile};
use cwnd_scenario::{EcnRemark, Loss, Probability};
use std::str::FromStr;

/// Settings of the network, in the order of their documentation.
pub const NETWORK: &[Setting] = &[
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
            word(text, &words).map(|topology| e.topology = topology)
        },
        get: |e, _| e.topology.name().map(str::to_owned),
        measure: nothing,
    },
    Setting {
        key: "hops",
        title: "Hops",
        about: "Number of bottlenecks of a parking lot, 1 to 100.",
        default: "3",
        example: "4",
        kind: SettingKind::Count,
        set: |e, text| whole(text).map(|hops| e.hops = Some(hops)),
        get: |e, _| (e.topology == Topology::ParkingLot).then(|| e.hops().to_string()),
        measure: number,
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
            // A given rate takes precedence over the mean of a trace.
            e.rate = rate;
            e.forward.rate = Some(rate);
            Ok(())
        },
        get: |_, s| Some(bottleneck(s).rate.to_string()),
        measure: megabits,
    },
    Setting {
        key: "delay",
        title: "Delay",
        about: "Delay of the bottleneck, one way.",
        default: "100 ms",
        example: "4 ms",
        kind: SettingKind::Quantity,
        set: |e, text| text.parse().map(|time| e.delay = LineDelay::OneWay(time)).map_err(unit),
        get: |_, s| Some(bottleneck(s).delay.to_string()),
        measure: milliseconds,
    },
    Setting {
        key: "rtt",
        title: "Base RTT",
        about: "Base round-trip time of the whole path; it determines the bottleneck's delay.",
        default: "the sum of the delays",
        example: "80 ms",
        kind: SettingKind::Quantity,
        set: |e, text| text.parse().map(|time| e.delay = LineDelay::BaseRtt(time)).map_err(unit),
        get: |_, s| base_rtt(s).map(|rtt| rtt.to_string()),
        measure: milliseconds,
    },
    Setting {
        key: "rtts",
        title: "Base RTTs",
        about: "Base round-trip times of the flows in order; after the last one the list repeats. The bottleneck's delay \
                must be less than half of the least. A flow's own links have the rest.",
        default: "the topology's for all flows",
        example: "80 ms, 20 ms",
        kind: SettingKind::Text("times in quotes"),
        set: |e, text| {
            let times: Result<_, _> = text.split(',').map(|time| time.trim().parse().map_err(unit)).collect();
            times.map(|times| e.rtts = times)
        },
        get: |e, _| listed(&e.rtts, ", "),
        measure: nothing,
    },
    Setting {
        key: "buffer",
        title: "Buffer",
        about: "Limit of the bottleneck's queue: packets, BDPs, packets per flow, bytes or `unlimited`.",
        default: "1 BDP",
        example: "max(1 BDP, 2/flow)",
        kind: SettingKind::Number,
        set: |e, text| text.parse().map(|buffer| e.buffer = buffer).map_err(unit),
        get: |e, s| Some(buffer_in_effect(e, bottleneck(s), &e.buffer)),
        measure: buffer,
    },
    Setting {
        key: "queue",
        title: "Queue",
        about: "Queue discipline of the bottleneck, optionally with parameters; `cwnd networks` lists them.",
        default: "drop-tail",
        example: "codel:ecn=on",
        kind: SettingKind::Kind(Family::Queue),
        set: |e, text| put(&mut e.forward.queue, text, notation),
        get: |_, s| Some(bottleneck(s).queue.discipline.to_string()),
        measure: nothing,
    },
    Setting {
        key: "ecn-threshold",
        title: "ECN threshold",
        about: "The bottleneck marks packets that find a queue longer than this: a number of packets, or a share of its limit.",
        default: "none",
        example: "20 %",
        kind: SettingKind::Number,
        set: |e, text| {
            let mut threshold = None;
            put_or_none(&mut threshold, text, unit)?;
            e.ecn_threshold = threshold.flatten();
            Ok(())
        },
        get: |e, _| said(&e.ecn_threshold),
        measure: |text| match text.parse().ok()? {
            EcnThreshold::Packets(packets) => Some((f64::from(packets), "packets")),
            EcnThreshold::Percent(percent) => Some((percent.to_f64(), "%")),
        },
    },
    Setting {
        key: "per",
        title: "Packet error rate",
        about: "Each packet that crosses the bottleneck forward is lost with this probability.",
        default: "0",
        example: "1e-5",
        kind: SettingKind::Number,
        set: |e, text| text.parse().map(|per| e.per = per).map_err(unit),
        get: |e, _| e.forward.loss.is_none().then(|| e.per.to_string()),
        measure: |text| text.parse().ok().map(|per: Probability| (per.value(), "")),
    },
    Setting {
        key: "loss",
        title: "Loss",
        about: "Losses on the bottleneck forward: a probability or a loss model; `cwnd networks` lists them.",
        default: "the value of `per`",
        example: "gilbert-elliott:to_bad=1e-4,to_good=0.1",
        kind: SettingKind::Kind(Family::Loss),
        set: |e, text| put(&mut e.forward.loss, text, notation),
        get: |e, s| e.forward.loss.as_ref().map(|_| bottleneck(s).loss.to_string()),
        measure: probability,
    },
    Setting {
        key: "jitter",
        title: "Jitter",
        about: "A delay that differs from packet to packet on the bottleneck, forward; `cwnd networks` lists its kinds.",
        default: "none",
        example: "normal:5 ms,1 ms",
        kind: SettingKind::Kind(Family::Jitter),
        set: |e, text| put_or_none(&mut e.forward.jitter, text, notation),
        get: |_, s| said(&bottleneck(s).effects.jitter),
        measure: nothing,
    },
    Setting {
        key: "duplication",
        title: "Duplication",
        about: "Probability that the bottleneck duplicates a packet, forward.",
        default: "0",
        example: "1e-4",
        kind: SettingKind::Number,
        set: |e, text| {
            text.parse().map(|p: Probability| e.forward.duplication = Some(p.value())).map_err(unit)
        },
        get: |_, s| Some(bottleneck(s).effects.duplication.to_string()),
        measure: probability,
    },
    Setting {
        key: "slot",
        title: "Slot",
        about: "Packets that leave the bottleneck forward are released at the next whole multiple of this time, all at once.",
        default: "none",
        example: "2 ms",
        kind: SettingKind::Quantity,
        set: |e, text| put_or_none(&mut e.forward.slot, text, unit),
        get: |_, s| said(&bottleneck(s).effects.slot),
        measure: milliseconds,
    },
    Setting {
        key: "policer",
        title: "Policer",
        about: "A token bucket before the bottleneck's queue, forward: the rate at which it fills, and the bytes that it \
                holds; packets that find too few tokens are dropped.",
        default: "none",
        example: "50 Mbit/s, 100 KB",
        kind: SettingKind::Text("a rate and a burst in quotes"),
        set: |e, text| put_or_none(&mut e.forward.policer, text, notation),
        get: |_, s| said(&bottleneck(s).effects.policer),
        measure: nothing,
    },
    Setting {
        key: "ecn-remark",
        title: "ECN field",
        about: "What the path does to the ECN field of packets that arrive at the bottleneck, forward. `bleach`: it is cleared, \
                so that queues drop instead of marking. `unmark`: CE becomes ECT(0). `ect1-to-ect0`: ECT(1) becomes ECT(0), \
                so that a dual queue takes L4S packets for classic ones.",
        default: "unchanged",
        example: "bleach",
        kind: SettingKind::Word(&["unchanged", "bleach", "unmark", "ect1-to-ect0"]),
        set: |e, text| {
            let words = [
                ("unchanged", None),
                ("bleach", Some(EcnRemark::Bleach)),
                ("unmark", Some(EcnRemark::Unmark)),
                ("ect1-to-ect0", Some(EcnRemark::Ect1ToEct0)),
            ];
            word(text, &words).map(|remark| e.forward.ecn_remark = Some(remark))
        },
        get: |_, s| bottleneck(s).effects.ecn_remark.map(|remark| remark.word().to_owned()),
        measure: nothing,
    },
    Setting {
        key: "schedule",
        title: "Schedule",
        about: "How the bottleneck varies in both directions: steps with a rate, `down` or `up`, and a delay; `every` \
                repeats them. A direction with its own rate uses only outages and delays.",
        default: "it does not vary",
        example: "10 s: 20 Mbit/s; 30 s: down; 31 s: up, 40 ms; every 60 s",
        kind: SettingKind::Steps,
        set: |e, text| put(&mut e.forward.schedule, text, notation),
        get: |e, _| said(&e.forward.schedule),
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
        set: |e, text| file(&mut e.forward.trace, text),
        get: |e, _| e.forward.trace.as_ref().map(|file| file.path.clone()),
        measure: nothing,
    },
    Setting {
        key: "reverse-rate",
        title: "Reverse rate",
        about: "Rate of the bottleneck in reverse, where ACKs travel.",
        default: "as forward; with a trace its mean",
        example: "5 Mbit/s",
        kind: SettingKind::Quantity,
        set: |e, text| put(&mut e.reverse.rate, text, unit),
        get: |_, s| reverse(s).map(|link| link.rate.to_string()),
        measure: megabits,
    },
    Setting {
        key: "reverse-buffer",
        title: "Reverse buffer",
        about: "Limit of the bottleneck's queue in reverse.",
        default: "as forward",
        example: "100",
        kind: SettingKind::Number,
        set: |e, text| put(&mut e.reverse.buffer, text, unit),
        get: |e, s| {
            let said = e.reverse.buffer.as_ref().unwrap_or(&e.buffer);
            reverse(s).map(|link| buffer_in_effect(e, link, said))
        },
        measure: buffer,
    },
    Setting {
        key: "reverse-queue",
        title: "Reverse queue",
        about: "Queue discipline of the bottleneck in reverse.",
        default: "as forward",
        example: "drop-tail",
        kind: SettingKind::Kind(Family::Queue),
        set: |e, text| put(&mut e.reverse.queue, text, notation),
        get: |_, s| reverse(s).map(|link| link.queue.discipline.to_string()),
        measure: nothing,
    },
    Setting {
        key: "reverse-loss",
        title: "Reverse loss",
        about: "Losses on the bottleneck in reverse.",
        default: "none",
        example: "1e-3",
        kind: SettingKind::Kind(Family::Loss),
        set: |e, text| put(&mut e.reverse.loss, text, notation),
        get: |e, s| e.reverse.loss.as_ref().and_then(|_| reverse(s)).map(|link| link.loss.to_string()),
        measure: probability,
    },
    Setting {
        key: "reverse-jitter",
        title: "Reverse jitter",
        about: "A delay that differs from packet to packet on the bottleneck in reverse.",
        default: "none",
        example: "uniform:5 ms",
        kind: SettingKind::Kind(Family::Jitter),
        set: |e, text| put_or_none(&mut e.reverse.jitter, text, notation),
        get: |_, s| said(&reverse(s)?.effects.jitter),
        measure: nothing,
    },
    Setting {
        key: "reverse-slot",
        title: "Reverse slot",
        about: "Packets that leave the bottleneck in reverse are released at the next whole multiple of this time: ACKs arrive in bursts.",
        default: "none",
        example: "2 ms",
        kind: SettingKind::Quantity,
        set: |e, text| put_or_none(&mut e.reverse.slot, text, unit),
        get: |_, s| said(&reverse(s)?.effects.slot),
        measure: milliseconds,
    },
    Setting {
        key: "reverse-rate-trace",
        title: "Reverse trace",
        about: "The same as `rate-trace`, for the bottleneck in reverse.",
        default: "the rate is constant",
        example: "traces/leo.trace",
        kind: SettingKind::File,
        set: |e, text| file(&mut e.reverse.trace, text),
        get: |e, _| e.reverse.trace.as_ref().map(|file| file.path.clone()),
        measure: nothing,
    },
    Setting {
        key: "ack-thinning",
        title: "ACK thinning",
        about: "An ACK that enters the bottleneck's queue in reverse replaces an older ACK of its flow; the remaining ACK \
                represents at most this number of ACKs.",
        default: "no ACK is dropped",
        example: "4",
        kind: SettingKind::Count,
        set: |e, text| whole(text).map(|acks| e.reverse.ack_thinning = Some(acks)),
        get: |_, s| said(&reverse(s)?.effects.ack_thinning),
        measure: number,
    },
    Setting {
        key: "access-rate",
        title: "Access rate",
        about: "Rate of the access links; `bottleneck`: that of the bottleneck. A default of 10 times the bottleneck's is at least twice its greatest, of a trace over any 100 ms.",
        default: "10 times the bottleneck's rate; the same with incast, 1 Gbit/s with a satellite",
        example: "10 Gbit/s",
        kind: SettingKind::Quantity,
        set: |e, text| put(&mut e.access_rate, text, unit),
        get: |e, _| e.access().map(|access| access.rate.to_string()),
        measure: megabits,
    },
    Setting {
        key: "access-delay",
        title: "Access delay",
        about: "Delay of each access link, one way.",
        default: "1 ms; 10 ms with a satellite",
        example: "1 ms",
        kind: SettingKind::Quantity,
        set: |e, text| put(&mut e.access_delay, text, unit),
        get: |e, _| e.access().map(|access| access.delay.to_string()),
        measure: milliseconds,
    },
    Setting {
        key: "access-buffer",
        title: "Access buffer",
        about: "Limit of the queues of the access links, including the sender's own queue; `bottleneck`: that of the \
                bottleneck.",
        default: "the bottleneck's limit, at least 1000 packets",
        example: "25",
        kind: SettingKind::Number,
        set: |e, text| put(&mut e.access_buffer, text, unit),
        get: |e, _| e.access().map(|access| access.buffer.to_string()),
        measure: buffer,
    },
    Setting {
        key: "access-queue",
        title: "Access queue",
        about: "Queue discipline of the access links, including the sender's own queue.",
        default: "drop-tail",
        example: "fq-codel",
        kind: SettingKind::Kind(Family::Queue),
        set: |e, text| put(&mut e.access_queue, text, notation),
        get: |e, _| e.access().map(|access| access.queue.to_string()),
        measure: nothing,
    },
    Setting {
        key: "satellite-rate",
        title: "Satellite rate",
        about: "Rate of a satellite's link from its client to the gateway.",
        default: "10 Mbit/s",
        example: "40 Mbit/s",
        kind: SettingKind::Quantity,
        set: |e, text| put(&mut e.satellite.rate, text, unit),
        get: |e, _| e.satellite_link().map(|link| link.rate.to_string()),
        measure: megabits,
    },
    Setting {
        key: "satellite-delay",
        title: "Satellite delay",
        about: "Delay of a satellite's links, one way.",
        default: "250 ms",
        example: "300 ms",
        kind: SettingKind::Quantity,
        set: |e, text| put(&mut e.satellite.delay, text, unit),
        get: |e, _| e.satellite_link().map(|link| link.delay.to_string()),
        measure: milliseconds,
    },
    Setting {
        key: "satellite-buffer",
        title: "Satellite buffer",
        about: "Limit of the queue of a satellite's link to the gateway; 1 BDP is that of this link and its flows.",
        default: "1 BDP",
        example: "200",
        kind: SettingKind::Number,
        set: |e, text| put(&mut e.satellite.buffer, text, unit),
        get: |e, _| e.satellite_link().map(|link| link.buffer.to_string()),
        measure: buffer,
    },
    Setting {
        key: "satellite-loss",
        title: "Satellite loss",
        about: "Losses on a satellite's link to the gateway.",
        default: "none",
        example: "1e-4",
        kind: SettingKind::Kind(Family::Loss),
        set: |e, text| put(&mut e.satellite.loss, text, notation),
        get: |e, _| {
            e.satellite_link().filter(|link| link.loss != Loss::None).map(|link| link.loss.to_string())
        },
        measure: probability,
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
    "ecn-remark",
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
