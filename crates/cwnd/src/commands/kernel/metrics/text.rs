//! The metrics in the text format of Prometheus.

use cwnd_kernel::load::{self, Keeper, LoadedObject, ObservedSocket, Selection};
use std::{collections::BTreeMap, fmt::Write};

/// Writes families of metrics.
#[derive(Default)]
struct Families(String);

impl Families {
    /// Begins a family.
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    /// Writes a value. Values that are not known are left out.
    fn value(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        if value.is_nan() {
            return;
        }
        let labels: Vec<String> =
            labels.iter().map(|(name, text)| format!("{name}=\"{}\"", escaped(text))).collect();
        let _ = writeln!(self.0, "{name}{{{}}} {value}", labels.join(","));
    }

    /// Writes a gauge with a value for each congestion control.
    fn gauge<'a>(&mut self, name: &str, help: &str, values: impl IntoIterator<Item = (&'a str, f64)>) {
        self.family(name, "gauge", help);
        for (congestion_control, value) in values {
            self.value(name, &[("congestion_control", congestion_control)], value);
        }
    }
}

/// A label's value as the format has it.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Writes what is loaded, what cgroups select, and the established connections by congestion control.
pub fn text(objects: &[LoadedObject], selections: &[Selection], sockets: &[ObservedSocket]) -> String {
    let mut families = Families::default();
    loaded(&mut families, objects);
    let name = "cwnd_selection_info";
    families.family(name, "gauge", "What a cgroup selects; 0 if it is not loaded.");
    for selection in selections {
        let path =
            selection.cgroup.as_ref().map(|cgroup| cgroup.path.display().to_string()).unwrap_or_default();
        let labels = [("cgroup", path.as_str()), ("congestion_control", selection.name.as_str())];
        families.value(name, &labels, f64::from(u8::from(selection.registered)));
    }
    let mut by_name: BTreeMap<&str, Vec<&ObservedSocket>> = BTreeMap::new();
    for socket in sockets.iter().filter(|socket| socket.is_established()) {
        by_name.entry(&socket.congestion_control).or_default().push(socket);
    }
    connections(&mut families, &by_name);
    state(&mut families, &by_name, objects);
    families.0
}

fn loaded(families: &mut Families, objects: &[LoadedObject]) {
    let name = "cwnd_algorithm_info";
    families.family(
        name,
        "gauge",
        "A loaded algorithm, its parameters that are no defaults, and what keeps it registered.",
    );
    for object in objects {
        let parameters = object.parameters.as_ref().map(|values| object.algorithm.describe(values));
        let keeper = match object.keeper {
            Keeper::Pin(_) => "pin",
            Keeper::Process(..) => "process",
            Keeper::Elsewhere => "elsewhere",
            Keeper::Nothing => "none",
        };
        let labels = [
            ("congestion_control", object.kernel_name.as_str()),
            ("algorithm", object.algorithm.name),
            ("parameters", parameters.as_deref().unwrap_or("unknown")),
            ("source", object.source.as_deref().unwrap_or("unknown")),
            ("keeper", keeper),
            // A replaced object and the one in its place can have all else in common.
            ("id", &object.id.to_string()),
        ];
        families.value(name, &labels, 1.0);
    }
    let registered: Vec<&LoadedObject> =
        objects.iter().filter(|object| object.keeper != Keeper::Nothing).collect();
    let ages = registered.iter().map(|object| {
        let age = object.age.map_or(f64::NAN, |age| age.as_secs_f64());
        (object.kernel_name.as_str(), age)
    });
    families.gauge("cwnd_algorithm_age_seconds", "Time since a registered algorithm was loaded.", ages);
    let counts = registered.iter().map(|object| {
        let count = load::default_of(&object.kernel_name).len();
        (object.kernel_name.as_str(), count as f64)
    });
    families.gauge("cwnd_algorithm_default_of", "Network namespaces whose default it is.", counts);
    for (name, help, seconds) in [
        ("cwnd_hook_calls_total", "Calls of a hook, while kernel.bpf_stats_enabled is 1.", false),
        ("cwnd_hook_seconds_total", "Time in a hook, while kernel.bpf_stats_enabled is 1.", true),
    ] {
        families.family(name, "counter", help);
        for object in &registered {
            for program in &object.programs {
                let labels = [("congestion_control", object.kernel_name.as_str()), ("hook", &program.hook)];
                let value = if seconds { program.time_ns as f64 * 1e-9 } else { program.calls as f64 };
                families.value(name, &labels, value);
            }
        }
    }
}

/// A number of a connection that has a minimum, a mean and a maximum.
type Measure = (&'static str, &'static str, fn(&ObservedSocket) -> f64);

const MEASURES: [Measure; 4] = [
    ("cwnd_congestion_window_segments", "Congestion windows of established connections.", |socket| {
        f64::from(socket.cwnd)
    }),
    ("cwnd_rtt_seconds", "Smoothed round-trip times of established connections.", |socket| {
        if socket.srtt_s > 0.0 { socket.srtt_s } else { f64::NAN }
    }),
    ("cwnd_min_rtt_seconds", "Minimum round-trip times of established connections.", |socket| {
        socket.min_rtt_s.unwrap_or(f64::NAN)
    }),
    (
        "cwnd_delivery_rate_bits_per_second",
        "Last samples of the delivery rate of established connections.",
        |socket| {
            if socket.delivery_rate_bps > 0.0 { socket.delivery_rate_bps } else { f64::NAN }
        },
    ),
];

fn connections(families: &mut Families, by_name: &BTreeMap<&str, Vec<&ObservedSocket>>) {
    families.gauge(
        "cwnd_connections",
        "Established connections by congestion control, of all network namespaces.",
        by_name.iter().map(|(name, sockets)| (*name, sockets.len() as f64)),
    );
    let sums: [Measure; 3] = [
        (
            "cwnd_open_segments",
            "Segments that the open connections have sent, retransmissions included.",
            |socket| f64::from(socket.segments),
        ),
        ("cwnd_open_retransmissions", "Segments that the open connections have retransmitted.", |socket| {
            f64::from(socket.retransmissions)
        }),
        ("cwnd_open_bytes_acked", "Bytes of the open connections that were acknowledged.", |socket| {
            socket.bytes_acked as f64
        }),
    ];
    for (name, help, number) in sums {
        let sum = |sockets: &[&ObservedSocket]| sockets.iter().map(|socket| number(socket)).sum();
        families.gauge(name, help, by_name.iter().map(|(name, sockets)| (*name, sum(sockets))));
    }
    for (name, help, number) in MEASURES {
        families.family(name, "gauge", help);
        for (congestion_control, sockets) in by_name {
            let values: Vec<f64> = sockets.iter().map(|socket| number(socket)).collect();
            families.statistics(name, &[("congestion_control", congestion_control)], &values);
        }
    }
}

fn state(families: &mut Families, by_name: &BTreeMap<&str, Vec<&ObservedSocket>>, objects: &[LoadedObject]) {
    let name = "cwnd_state";
    families.family(
        name,
        "gauge",
        "State of the algorithm in established connections: `cwnd algorithms NAME` explains it.",
    );
    for (congestion_control, sockets) in by_name {
        let mut values: BTreeMap<(&str, &str), Vec<f64>> = BTreeMap::new();
        for (variable, unit, value) in sockets.iter().filter_map(|socket| socket.observe(objects)).flatten() {
            values.entry((variable, unit)).or_default().push(value);
        }
        for ((variable, unit), values) in values {
            let labels =
                [("congestion_control", *congestion_control), ("variable", variable), ("unit", unit)];
            families.statistics(name, &labels, &values);
        }
    }
}

impl Families {
    /// Writes the minimum, the mean and the maximum of the values that are known.
    fn statistics(&mut self, name: &str, labels: &[(&str, &str)], values: &[f64]) {
        let known: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        if known.is_empty() {
            return;
        }
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        let least = known.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = known.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (statistic, value) in [("min", least), ("mean", mean), ("max", greatest)] {
            let labels: Vec<(&str, &str)> =
                labels.iter().copied().chain([("statistic", statistic)]).collect();
            self.value(name, &labels, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn socket(cwnd: u32, srtt_s: f64, state: u16) -> ObservedSocket {
        ObservedSocket {
            namespace: PathBuf::new(),
            congestion_control: "cubic".into(),
            object: None,
            local: "127.0.0.1:1".parse().unwrap(),
            remote: "127.0.0.1:2".parse().unwrap(),
            state,
            cwnd,
            ssthresh: 0x7fff_ffff,
            srtt_s,
            min_rtt_s: None,
            mss: 1448,
            in_flight: 0,
            retransmissions: 3,
            segments: 100,
            lost: 0,
            bytes_acked: 0,
            delivery_rate_bps: 0.0,
            pacing_rate_bps: None,
            private: [0; cwnd_kernel::PRIVATE_WORDS],
        }
    }

    #[test]
    fn connections_are_summed_and_unknown_values_left_out() {
        let text = text(&[], &[], &[socket(10, 0.0, 1), socket(30, 0.04, 1), socket(99, 9.0, 10)]);
        for line in [
            "# TYPE cwnd_connections gauge",
            "cwnd_connections{congestion_control=\"cubic\"} 2",
            "cwnd_open_retransmissions{congestion_control=\"cubic\"} 6",
            "cwnd_congestion_window_segments{congestion_control=\"cubic\",statistic=\"mean\"} 20",
            "cwnd_rtt_seconds{congestion_control=\"cubic\",statistic=\"min\"} 0.04",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}: {text}");
        }
        assert!(!text.contains("cwnd_min_rtt_seconds{") && !text.contains("NaN"), "{text}");
    }

    /// Each line is a comment or a sample, and each sample's family was announced.
    #[test]
    fn the_format_is_that_of_prometheus() {
        let text = text(&[], &[], &[socket(10, 0.1, 1)]);
        let mut families = Vec::new();
        for line in text.lines() {
            if let Some(about) = line.strip_prefix("# TYPE ") {
                families.push(about.split(' ').next().unwrap());
            } else if !line.starts_with("# HELP ") {
                let (name, value) = (line.split('{').next().unwrap(), line.rsplit(' ').next().unwrap());
                assert_eq!(families.last(), Some(&name), "{line}");
                assert!(value.parse::<f64>().is_ok(), "{line}");
            }
        }
        assert_eq!(escaped("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
    }
}
