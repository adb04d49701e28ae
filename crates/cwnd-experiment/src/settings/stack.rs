//! Settings of the TCP stack that all flows run on.

use super::{Setting, SettingKind, nothing, number, on_off, switch, whole, word};
use crate::EcnChoice;
use cwnd_scenario::{DelayedAck, Ecn, StackProfile};

/// Settings of the stack, in the order of their documentation.
pub const STACK: &[Setting] = &[
    Setting {
        key: "stack",
        title: "Stack",
        about: "`ns2`: ns-2.35's TCP-Linux agent. `linux`: today's Linux.",
        default: "linux",
        example: "ns2",
        kind: SettingKind::Word(&["ns2", "linux"]),
        set: |e, text| {
            let words = [("ns2", StackProfile::Ns2), ("linux", StackProfile::Linux)];
            word(text, &words).map(|profile| e.stack.profile = profile)
        },
        get: |_, s| Some(s.stack.profile.name().to_owned()),
        measure: nothing,
    },
    Setting {
        key: "packet-size",
        title: "Packet size",
        about: "Payload of a packet, bytes.",
        default: "the MTU minus headers with linux; 1000 with ns2",
        example: "1000",
        kind: SettingKind::Count,
        set: |e, text| whole(text).map(|bytes| e.stack.packet_size = Some(bytes)),
        get: |_, s| Some(s.stack.payload.to_string()),
        measure: |text| number(text).map(|(bytes, _)| (bytes, "B")),
    },
    Setting {
        key: "mtu",
        title: "MTU",
        about: "IP bytes of a packet; only with linux.",
        default: "1500",
        example: "9000",
        kind: SettingKind::Count,
        set: |e, text| whole(text).map(|bytes| e.stack.mtu = Some(bytes)),
        get: |_, s| s.stack.mtu().map(|mtu| mtu.to_string()),
        measure: |text| number(text).map(|(bytes, _)| (bytes, "B")),
    },
    Setting {
        key: "sack",
        title: "SACK",
        about: "Selective acknowledgements.",
        default: "on",
        example: "off",
        kind: SettingKind::Switch,
        set: |e, text| switch(text).map(|on| e.stack.sack = Some(on)),
        get: |_, s| on_off(s.stack.sack),
        measure: nothing,
    },
    Setting {
        key: "timestamps",
        title: "Timestamps",
        about: "Timestamps; they cost 10 bytes a packet with ns2, 12 with linux.",
        default: "on",
        example: "off",
        kind: SettingKind::Switch,
        set: |e, text| switch(text).map(|on| e.stack.timestamps = Some(on)),
        get: |_, s| on_off(s.stack.timestamps),
        measure: nothing,
    },
    Setting {
        key: "delayed-ack",
        title: "Delayed ACKs",
        about: "One ACK for every second packet.",
        default: "on with linux, off with ns2",
        example: "on",
        kind: SettingKind::Switch,
        set: |e, text| switch(text).map(|on| e.stack.delayed_ack = Some(on)),
        get: |_, s| on_off(s.stack.delayed_ack != DelayedAck::Off),
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
            word(text, &words).map(|ecn| e.stack.ecn = ecn)
        },
        get: |_, s| on_off(s.stack.ecn != Ecn::Off),
        measure: nothing,
    },
    Setting {
        key: "l4s",
        title: "L4S",
        about: "Flows that respond to marks in proportion, such as DCTCP's, send ECT(1), so that a dual queue classifies \
                them as L4S (RFC 9331); off: they send ECT(0).",
        default: "on",
        example: "off",
        kind: SettingKind::Switch,
        set: |e, text| switch(text).map(|on| e.stack.l4s = Some(on)),
        get: |_, s| on_off(s.stack.l4s),
        measure: nothing,
    },
    Setting {
        key: "timer-hz",
        title: "Timer frequency",
        about: "Ticks a second of the kernel's clock with linux (CONFIG_HZ): retransmission and delayed-ACK timers expire on \
                ticks, and far ones late by up to an eighth of their time, as in Linux's timer wheel; 0: exactly.",
        default: "1000 with linux; 0 with ns2",
        example: "250",
        kind: SettingKind::Count,
        set: |e, text| whole(text).map(|hz| e.stack.timer_hz = Some(hz)),
        get: |_, s| Some(s.stack.timer_hz.to_string()),
        measure: |text| number(text).map(|(hz, _)| (hz, "Hz")),
    },
    Setting {
        key: "receive-window",
        title: "Receive window",
        about: "The receiver's window, packets.",
        default: "4 x (BDP + buffers) with linux; 100000 with ns2, where it is the initial ssthresh too",
        example: "100000",
        kind: SettingKind::Count,
        set: |e, text| whole(text).map(|packets| e.stack.receive_window = Some(packets)),
        get: |_, s| Some(s.stack.receive_window.to_string()),
        measure: |text| number(text).map(|(packets, _)| (packets, "packets")),
    },
];
