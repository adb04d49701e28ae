//! Settings of the stack that flows run on.

use super::{Setting, SettingKind, nothing, number, on_off, switch, whole, word};
use crate::EcnChoice;
use cwnd_scenario::{AccurateEcn, DelayedAck, Ecn, EcnPeer, Recovery, Scenario, StackProfile, Transport};

const RECOVERIES: [(&str, Recovery); 4] =
    [("ns2", Recovery::Ns2), ("prr", Recovery::Prr), ("rack", Recovery::Rack), ("linux", Recovery::Linux)];

/// The value of a setting of TCP, if a flow has TCP.
fn of_tcp(scenario: &Scenario, value: Option<String>) -> Option<String> {
    value.filter(|_| scenario.has_tcp())
}

/// Settings of the stack, in the order of their documentation.
pub const STACK: &[Setting] = &[
    Setting {
        key: "stack",
        title: "Stack",
        about: "`ns2`: ns-2.35's TCP-Linux agent. `linux`: today's Linux. `noq`, `quinn`: QUIC, by the Rust implementation of that \
                name; flows of a group with `stack=tcp` run on linux next to them.",
        default: "linux",
        example: "ns2",
        kind: SettingKind::Word(&["ns2", "linux", "noq", "quinn"]),
        set: |e, text| {
            let words = [
                ("ns2", (StackProfile::Ns2, Transport::Tcp)),
                ("linux", (StackProfile::Linux, Transport::Tcp)),
                ("noq", (StackProfile::Linux, Transport::Noq)),
                ("quinn", (StackProfile::Linux, Transport::Quinn)),
            ];
            word(text, &words).map(|(profile, transport)| {
                e.stack.profile = profile;
                e.stack.transport = transport;
            })
        },
        get: |e, s| {
            let stack =
                if e.stack.transport.is_tcp() { s.stack.profile.name() } else { e.stack.transport.name() };
            Some(stack.to_owned())
        },
        measure: nothing,
    },
    Setting {
        key: "packet-size",
        title: "Packet size",
        about: "Payload of a packet, 1 to 65000 bytes.",
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
        about: "IP bytes of a packet, 68 to 65040; only with linux.",
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
        get: |_, s| of_tcp(s, on_off(s.stack.sack)),
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
        get: |_, s| of_tcp(s, on_off(s.stack.timestamps)),
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
        get: |_, s| of_tcp(s, on_off(s.stack.delayed_ack != DelayedAck::Off)),
        measure: nothing,
    },
    Setting {
        key: "ecn",
        title: "ECN",
        about: "Explicit congestion notification (RFC 3168); `auto` is on where a queue marks. `accurate`: receivers count all \
                marks, and ACKs carry the counters (RFC 9768).",
        default: "auto",
        example: "on",
        kind: SettingKind::Word(&["auto", "on", "accurate", "off"]),
        set: |e, text| {
            let words = [
                ("auto", EcnChoice::Auto),
                ("on", EcnChoice::On),
                ("accurate", EcnChoice::Accurate),
                ("off", EcnChoice::Off),
                ("true", EcnChoice::On),
                ("false", EcnChoice::Off),
            ];
            word(text, &words).map(|ecn| e.stack.ecn = ecn)
        },
        get: |_, s| match s.stack.ecn {
            Ecn::Accurate(_) => Some("accurate".to_owned()),
            ecn => on_off(ecn != Ecn::Off),
        },
        measure: nothing,
    },
    Setting {
        key: "ecn-peer",
        title: "ECN of receivers",
        about: "What receivers are capable of when `ecn` is `accurate`. Senders fall back to it in the handshake.",
        default: "accurate",
        example: "classic",
        kind: SettingKind::Word(&["accurate", "classic", "off"]),
        set: |e, text| {
            let words =
                [("accurate", EcnPeer::Accurate), ("classic", EcnPeer::Classic), ("off", EcnPeer::Off)];
            word(text, &words).map(|peer| e.stack.ecn_peer = Some(peer))
        },
        get: |_, s| match s.stack.ecn {
            Ecn::Accurate(AccurateEcn { peer: EcnPeer::Accurate, .. }) => Some("accurate".to_owned()),
            Ecn::Accurate(AccurateEcn { peer: EcnPeer::Classic, .. }) => Some("classic".to_owned()),
            Ecn::Accurate(AccurateEcn { peer: EcnPeer::Off, .. }) => Some("off".to_owned()),
            _ => None,
        },
        measure: nothing,
    },
    Setting {
        key: "ecn-option",
        title: "ECN option",
        about: "Whether ACKs without SACK blocks carry the option with counters of bytes when `ecn` is `accurate`. It takes 12 bytes.",
        default: "on",
        example: "off",
        kind: SettingKind::Switch,
        set: |e, text| switch(text).map(|on| e.stack.ecn_option = Some(on)),
        get: |_, s| match s.stack.ecn {
            Ecn::Accurate(accurate) => on_off(accurate.option),
            _ => None,
        },
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
        get: |_, s| of_tcp(s, on_off(s.stack.l4s)),
        measure: nothing,
    },
    Setting {
        key: "recovery",
        title: "Loss recovery",
        about: "How senders find and repair losses. ns2: ns-2.35's forward acknowledgement. prr: SACK (RFC 6675) with proportional \
                rate reduction. rack: RACK-TLP (RFC 8985) with proportional rate reduction (RFC 9937). linux: what Linux 6.1 makes of \
                them.",
        default: "linux with linux; ns2 with ns2",
        example: "rack",
        kind: SettingKind::Word(&["ns2", "prr", "rack", "linux"]),
        set: |e, text| word(text, &RECOVERIES).map(|recovery| e.stack.recovery = Some(recovery)),
        get: |_, s| {
            let name = RECOVERIES.iter().find(|(_, recovery)| *recovery == s.stack.recovery)?.0;
            of_tcp(s, Some(name.to_owned()))
        },
        measure: nothing,
    },
    Setting {
        key: "timer-hz",
        title: "Timer frequency",
        about: "Ticks a second of the kernel's clock with linux (CONFIG_HZ): retransmission and delayed-ACK timers expire on \
                ticks, and far ones late by up to an eighth of their time, as in Linux's timer wheel; 0: exactly. \
                H-TCP and Westwood+ measure round trips in ticks.",
        default: "1000 with linux; 0 with ns2",
        example: "250",
        kind: SettingKind::Count,
        set: |e, text| whole(text).map(|hz| e.stack.timer_hz = Some(hz)),
        get: |_, s| of_tcp(s, Some(s.stack.timer_hz.to_string())),
        measure: |text| number(text).map(|(hz, _)| (hz, "Hz")),
    },
    Setting {
        key: "linux-version",
        title: "Version of Linux",
        about: "The version of Linux whose rules apply where versions of its sender differ, 4.3 to 7.3. Before 5.11 a reduction grows the \
                window again only on an ACK that delivers a retransmission; from 6.10 on a buffer that is too short for a burst is \
                filled from the next one. Algorithms stay as they are.",
        default: "6.1",
        example: "6.12",
        kind: SettingKind::Form { what: "a version of Linux, such as 6.12", pattern: r"^[0-9]+(\.[0-9]+)?$" },
        set: |e, text| text.parse().map(|version| e.stack.linux_version = Some(version)),
        get: |_, s| {
            let version = (s.stack.recovery == Recovery::Linux).then(|| s.stack.linux_version.to_string());
            of_tcp(s, version)
        },
        measure: nothing,
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
