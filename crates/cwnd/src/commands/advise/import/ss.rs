//! The output of `ss --tcp --info` (`ss -tin`), of one moment or of several appended to one file.

use super::{Finding, Import, UPPER_BOUND, buffer, wire_share};
use cwnd_scenario::Rate;
use std::collections::BTreeMap;

/// Returns whether the text is such an output: the kernel's TCP state has these two for every connection.
pub fn is_output(text: &str) -> bool {
    text.lines()
        .any(|line| line.split_whitespace().any(|word| word.starts_with("rto:")) && line.contains(" cwnd:"))
}

/// What the snapshots of a connection tell.
#[derive(Default)]
struct Connection {
    snapshots: u32,
    algorithm: String,
    /// Of the last snapshot.
    sent: f64,
    resent: Option<f64>,
    /// Packets of data sent and retransmitted, where the kernel counts no bytes.
    packets: Option<(f64, f64)>,
    mss: f64,
    /// The greatest delivery rate, bit/s of payload.
    delivery_rate: Option<f64>,
    min_rtt: Option<f64>,
    longest_rtt: Option<f64>,
}

pub fn parse(text: &str) -> Result<Import, String> {
    let mut connections: BTreeMap<String, Connection> = BTreeMap::new();
    let mut addresses = String::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        // With `--oneline` the addresses and the state share a line.
        if !line.starts_with([' ', '\t']) {
            addresses = addresses_of(&words).unwrap_or(addresses);
        }
        if words.iter().any(|word| word.starts_with("rto:")) {
            connections.entry(addresses.clone()).or_default().read(&words);
        }
    }
    let all = connections.len();
    let most = connections.into_iter().max_by(|(_, a), (_, b)| a.sent.total_cmp(&b.sent));
    let (addresses, connection) = most.filter(|(_, connection)| connection.sent > 0.0).ok_or(
        "no connection in it has sent data (`bytes_sent:` or `data_segs_out:`): run `ss -tin` on the sending host during \
         the transfer",
    )?;
    let others = match all {
        1 => String::new(),
        all => format!(", which sent most of the {all} connections in it"),
    };
    let snapshots = match connection.snapshots {
        1 => "1 snapshot".to_owned(),
        many => format!("{many} snapshots"),
    };
    let source = format!("ss, {snapshots} of {addresses} ({}){others}", connection.algorithm);
    Ok(connection.import(source))
}

/// Returns `LOCAL -> PEER` of a line that begins a connection.
fn addresses_of(words: &[&str]) -> Option<String> {
    let is_address = |word: &&&str| {
        word.rsplit_once(':').is_some_and(|(host, port)| {
            !host.is_empty() && !port.is_empty() && (host.contains(['.', ':', '*']) || host.starts_with('['))
        })
    };
    let mut found = words.iter().filter(is_address);
    Some(format!("{} -> {}", found.next()?, found.next()?))
}

impl Connection {
    fn read(&mut self, words: &[&str]) {
        self.snapshots += 1;
        let value = |name: &str| words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix(':'));
        let number = |name: &str| value(name)?.parse::<f64>().ok();
        // `delivery_rate 9.54Mbps`: the value is a word of its own.
        let after = |name: &str| words.iter().position(|word| *word == name).and_then(|at| words.get(at + 1));
        let milliseconds = |text: &str| text.split('/').next()?.parse::<f64>().ok().map(|ms| ms / 1e3);
        // The name of the congestion control follows options such as `ts sack ecn`, before the first `name:value`.
        let first = words.iter().position(|word| word.starts_with("wscale:") || word.starts_with("rto:"));
        if let Some(name) = first.and_then(|at| words.get(at.checked_sub(1)?)) {
            self.algorithm = (*name).to_owned();
        }
        self.mss = number("mss").filter(|mss| *mss > 0.0).unwrap_or(1448.0);
        let segments = number("data_segs_out");
        self.sent = number("bytes_sent").or(segments.map(|segments| segments * self.mss)).unwrap_or(0.0);
        // What was never retransmitted is not in the output.
        self.resent = number("bytes_sent").map(|_| number("bytes_retrans").unwrap_or(0.0));
        let resent = value("retrans").and_then(|text| text.rsplit('/').next()?.parse().ok()).unwrap_or(0.0);
        self.packets = segments.map(|segments| (segments, resent));
        let rate = after("delivery_rate").and_then(|text| rate(text));
        self.delivery_rate = [self.delivery_rate, rate].into_iter().flatten().reduce(f64::max);
        let rtt = value("rtt").and_then(milliseconds);
        let least = value("minrtt").and_then(milliseconds).or(rtt);
        self.min_rtt = [self.min_rtt, least].into_iter().flatten().reduce(f64::min);
        self.longest_rtt = [self.longest_rtt, rtt].into_iter().flatten().reduce(f64::max);
    }

    fn import(self, source: String) -> Import {
        let share = wire_share(self.mss);
        let rate = match self.delivery_rate {
            Some(rate) => Finding::found(
                rate * share,
                format!("greatest `delivery_rate` x {share:.3} for headers; a lower bound"),
            ),
            None => Finding::missing(
                "it has no `delivery_rate`: `ss` of kernels before 4.9, or before any data was sent",
            ),
        };
        let loss = match (self.resent, self.packets) {
            (Some(resent), _) => Finding::found(
                resent / self.sent,
                format!("bytes_retrans {resent} / bytes_sent {}; {UPPER_BOUND}", self.sent),
            ),
            (None, Some((packets, resent))) if packets > 0.0 => Finding::found(
                resent / packets,
                format!("retrans {resent} / data_segs_out {packets}; {UPPER_BOUND}"),
            ),
            _ => Finding::missing("it has neither `bytes_sent` nor `data_segs_out`"),
        };
        let rtt = match self.min_rtt {
            Some(rtt) => Finding::found(rtt, "least `minrtt`"),
            None => Finding::missing("it has neither `minrtt` nor `rtt`"),
        };
        let buffer = match (self.longest_rtt, self.min_rtt, rate.value()) {
            (Some(longest), Some(base), Some(rate)) => buffer(longest, base, rate, "greatest smoothed `rtt`"),
            _ => Finding::missing("it takes `rtt` and `delivery_rate`"),
        };
        Import { source, rate, rtt, loss, buffer, trace: None }
    }
}

/// Parses a rate as `ss` writes it: `954624bps`, `9.54Mbps`; older versions write `Kbps`.
fn rate(text: &str) -> Option<f64> {
    text.replace("Kbps", "kbps").parse::<Rate>().ok().map(|rate| rate.0 as f64)
}
