//! Settings of time, and of what is random.

use super::{Setting, SettingKind, milliseconds, nothing, put, seconds, unit};
use cwnd_scenario::Time;

/// Settings of time and chance, in the order of their documentation.
pub const TIME: &[Setting] = &[
    Setting {
        key: "duration",
        title: "Duration",
        about: "How long to simulate.",
        default: "100 s",
        example: "600 s",
        kind: SettingKind::Quantity,
        set: |e, text| text.parse().map(|time| e.duration = time).map_err(unit),
        get: |_, s| Some(s.duration.to_string()),
        measure: seconds,
    },
    Setting {
        key: "warm-up",
        title: "Warm-up",
        about: "Warm-up: metrics count from this time on.",
        default: "0 s",
        example: "10 s",
        kind: SettingKind::Quantity,
        set: |e, text| text.parse().map(|time| e.warm_up = time).map_err(unit),
        get: |_, s| Some(s.warm_up.to_string()),
        measure: seconds,
    },
    Setting {
        key: "start-jitter",
        title: "Start jitter",
        about: "Each flow starts up to this much later, uniformly drawn; `0 s` switches it off.",
        default: "one base round-trip time",
        example: "0 s",
        kind: SettingKind::Quantity,
        set: |e, text| put(&mut e.start_jitter, text, unit),
        get: |_, s| Some(s.start_jitter.to_string()),
        measure: milliseconds,
    },
    Setting {
        key: "send-overhead",
        title: "Send overhead",
        about: "What a sender may send leaves up to this much later, uniformly drawn: each packet after a draw of its own, with Linux's \
                recovery all that may leave at a time together. `0 s` switches it off.",
        default: "one serialisation time at the bottleneck",
        example: "0 s",
        kind: SettingKind::Quantity,
        set: |e, text| put(&mut e.send_overhead, text, unit),
        get: |_, s| Some(s.send_overhead.to_string()),
        measure: |text| text.parse().ok().map(|time: Time| (time.0 as f64 / 1e3, "us")),
    },
    Setting {
        key: "ties",
        title: "Ties",
        about: "Order of simultaneous arrivals at a link: by the number of the host or link from which they come, or by turn \
                (the source that was served longest ago first), as in ns-2. It matters where nothing is random.",
        default: "by-number",
        example: "by-turn",
        kind: SettingKind::Word(&["by-number", "by-turn"]),
        set: |e, text| text.parse().map(|ties| e.ties = ties),
        get: |_, s| Some(s.ties.to_string()),
        measure: nothing,
    },
];
