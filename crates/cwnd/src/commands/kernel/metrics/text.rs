//! The metrics in the text format of Prometheus.

use super::totals::{Sum, Totals};
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
    fn value<T: AsRef<str>>(&mut self, name: &str, labels: &[(&str, T)], value: f64) {
        if value.is_nan() {
            return;
        }
        let labels: Vec<String> =
            labels.iter().map(|(name, text)| format!("{name}=\"{}\"", escaped(text.as_ref()))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "{name}{labels} {value}");
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

/// What the kernel was asked for.
pub struct Reading<'a> {
    /// What is loaded.
    pub objects: &'a [LoadedObject],
    /// What cgroups select.
    pub selections: &'a [Selection],
    /// All sockets.
    pub sockets: &'a [ObservedSocket],
    /// Whether it counts the calls of programs.
    pub counts_calls: bool,
    /// What connections have done since the first reading; none if there was only one.
    pub totals: Option<&'a Totals>,
}

/// Writes what is loaded, what cgroups select, and the established connections by congestion control.
pub fn text(reading: &Reading<'_>) -> String {
    let Reading { objects, selections, sockets, counts_calls, totals } = *reading;
    let mut families = Families::default();
    loaded(&mut families, objects);
    hooks(&mut families, objects, counts_calls);
    let name = "cwnd_selection_info";
    families.family(name, "gauge", "What a cgroup selects; 0 if it is not loaded.");
    for selection in selections {
        let path =
            selection.cgroup.as_ref().map(|cgroup| cgroup.path.display().to_string()).unwrap_or_default();
        let labels = [("cgroup", path.as_str()), ("congestion_control", selection.name.as_str())];
        families.value(name, &labels, f64::from(u8::from(selection.registered)));
    }
    let replaced = |socket: &ObservedSocket| {
        let is = |object: &&LoadedObject| Some(object.id) == socket.object;
        objects.iter().find(is).is_some_and(|object| object.keeper == Keeper::Nothing)
    };
    let mut groups = Groups::new();
    for socket in sockets.iter().filter(|socket| socket.is_established()) {
        groups.entry((&socket.congestion_control, replaced(socket))).or_default().push(socket);
    }
    connections(&mut families, &groups);
    if let Some(totals) = totals {
        counters(&mut families, totals);
    }
    state(&mut families, &groups, objects);
    families.0
}

/// Established connections by their congestion control, and by whether they have an object of that name that is no longer
/// registered: it was replaced or unloaded.
type Groups<'a> = BTreeMap<(&'a str, bool), Vec<&'a ObservedSocket>>;

/// The labels of a group.
fn labels(&(name, unregistered): &(&'_ str, bool)) -> Vec<(&'static str, String)> {
    let mark = unregistered.then(|| ("registered", "false".to_owned()));
    std::iter::once(("congestion_control", name.to_owned())).chain(mark).collect()
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
}

/// Writes the calls of hooks, if the kernel counts them: numbers that stay would look like hooks that are not called.
fn hooks(families: &mut Families, objects: &[LoadedObject], counts_calls: bool) {
    let name = "cwnd_hooks_counted";
    families.family(
        name,
        "gauge",
        "Whether the kernel counts the calls of hooks (kernel.bpf_stats_enabled).",
    );
    families.value::<&str>(name, &[], f64::from(u8::from(counts_calls)));
    if !counts_calls {
        return;
    }
    for (name, help, seconds) in [
        ("cwnd_hook_calls_total", "Calls of a hook, while kernel.bpf_stats_enabled is 1.", false),
        ("cwnd_hook_seconds_total", "Time in a hook, while kernel.bpf_stats_enabled is 1.", true),
    ] {
        families.family(name, "counter", help);
        for object in objects.iter().filter(|object| object.keeper != Keeper::Nothing) {
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
    (
        "cwnd_congestion_window_segments",
        "Congestion windows of established connections that have sent data.",
        |socket| if has_sent(socket) { f64::from(socket.cwnd) } else { f64::NAN },
    ),
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

/// Whether a connection's window says anything: that of one that only receives stays as it was at first.
fn has_sent(socket: &ObservedSocket) -> bool {
    socket.segments > 0
}

fn connections(families: &mut Families, groups: &Groups<'_>) {
    let sums: [Measure; 4] = [
        (
            "cwnd_connections",
            "Established connections by congestion control, of all network namespaces.",
            |_| 1.0,
        ),
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
        families.family(name, "gauge", help);
        for (group, sockets) in groups {
            families.value(name, &labels(group), sockets.iter().map(|socket| number(socket)).sum());
        }
    }
    for (name, help, number) in MEASURES {
        families.family(name, "gauge", help);
        for (group, sockets) in groups {
            let values: Vec<f64> = sockets.iter().map(|socket| number(socket)).collect();
            families.statistics(name, labels(group), &values);
        }
    }
}

/// The name of a counter, what it counts, and its value.
type Counter = (&'static str, &'static str, fn(Sum) -> u64);

/// Writes what only rises, as rates are made of.
fn counters(families: &mut Families, totals: &Totals) {
    let counters: [Counter; 4] = [
        ("cwnd_connections_total", "Connections that were seen for the first time.", |sum| sum.connections),
        (
            "cwnd_segments_total",
            "Segments with data that were sent, retransmissions included, up to each connection's last reading.",
            |sum| sum.segments,
        ),
        (
            "cwnd_retransmissions_total",
            "Segments that were retransmitted, up to each connection's last reading.",
            |sum| sum.retransmissions,
        ),
        (
            "cwnd_bytes_acked_total",
            "Bytes that were acknowledged, up to each connection's last reading.",
            |sum| sum.bytes_acked,
        ),
    ];
    for (name, help, number) in counters {
        families.family(name, "counter", help);
        for (congestion_control, sum) in totals.by_name() {
            families.value(name, &[("congestion_control", congestion_control)], number(sum) as f64);
        }
    }
}

fn state(families: &mut Families, groups: &Groups<'_>, objects: &[LoadedObject]) {
    let name = "cwnd_state";
    families.family(
        name,
        "gauge",
        "State of the algorithm in established connections that have sent data: `cwnd algorithms NAME` explains it.",
    );
    for (group, sockets) in groups {
        let mut values: BTreeMap<(&str, &str), Vec<f64>> = BTreeMap::new();
        let senders = sockets.iter().filter(|socket| has_sent(socket));
        for (variable, unit, value) in senders.filter_map(|socket| socket.observe(objects)).flatten() {
            values.entry((variable, unit)).or_default().push(value);
        }
        for ((variable, unit), values) in values {
            let mut labels = labels(group);
            labels.extend([("variable", variable.to_owned()), ("unit", unit.to_owned())]);
            families.statistics(name, labels, &values);
        }
    }
}

impl Families {
    /// Writes the minimum, the mean and the maximum of the values that are known.
    fn statistics(&mut self, name: &str, mut labels: Vec<(&'static str, String)>, values: &[f64]) {
        let known: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        if known.is_empty() {
            return;
        }
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        let least = known.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = known.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (statistic, value) in [("min", least), ("mean", mean), ("max", greatest)] {
            labels.push(("statistic", statistic.to_owned()));
            self.value(name, &labels, value);
            labels.pop();
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::path::PathBuf;

    /// A connection of CUBIC.
    pub fn socket(cwnd: u32, srtt_s: f64, state: u16) -> ObservedSocket {
        ObservedSocket {
            namespace: PathBuf::new(),
            namespace_id: 0,
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

    fn reading<'a>(sockets: &'a [ObservedSocket], totals: Option<&'a Totals>) -> Reading<'a> {
        Reading { objects: &[], selections: &[], sockets, counts_calls: false, totals }
    }

    #[test]
    fn connections_are_summed_and_unknown_values_left_out() {
        let only_receives = ObservedSocket { segments: 0, retransmissions: 0, ..socket(999, 0.0, 1) };
        let sockets = [socket(10, 0.0, 1), socket(30, 0.04, 1), socket(99, 9.0, 10), only_receives];
        let text = text(&reading(&sockets, None));
        for line in [
            "# TYPE cwnd_connections gauge",
            "cwnd_connections{congestion_control=\"cubic\"} 3",
            "cwnd_open_retransmissions{congestion_control=\"cubic\"} 6",
            "cwnd_congestion_window_segments{congestion_control=\"cubic\",statistic=\"mean\"} 20",
            "cwnd_rtt_seconds{congestion_control=\"cubic\",statistic=\"min\"} 0.04",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}: {text}");
        }
        assert!(!text.contains("cwnd_min_rtt_seconds{") && !text.contains("NaN"), "{text}");
        // Of one reading nothing rises, and hooks that are not counted have no calls.
        assert!(!text.contains("_total") && text.contains("\ncwnd_hooks_counted 0\n"), "{text}");
    }

    /// Each line is a comment or a sample, and each sample's family was announced.
    #[test]
    fn the_format_is_that_of_prometheus() {
        let sockets = [socket(10, 0.1, 1)];
        let mut totals = Totals::default();
        totals.add(&[]);
        totals.add(&sockets);
        let text = text(&reading(&sockets, Some(&totals)));
        assert!(text.contains("\ncwnd_segments_total{congestion_control=\"cubic\"} 100\n"), "{text}");
        let mut families = Vec::new();
        for line in text.lines() {
            if let Some(about) = line.strip_prefix("# TYPE ") {
                families.push(about.split(' ').next().unwrap());
            } else if !line.starts_with("# HELP ") {
                let (name, value) =
                    (line.split(['{', ' ']).next().unwrap(), line.rsplit(' ').next().unwrap());
                assert_eq!(families.last(), Some(&name), "{line}");
                assert!(value.parse::<f64>().is_ok(), "{line}");
            }
        }
        assert_eq!(escaped("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
    }
}
