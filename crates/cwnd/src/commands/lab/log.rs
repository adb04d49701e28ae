//! What crosses a link over time, as JSON Lines: an object a line, while the link is up.

use crate::failure::Failure;
use cwnd_lab::{LinkCounts, Record, Snapshot, validity_warnings};
use cwnd_scenario::{Loss, QueueLimit, Rate, Scenario, Time};
use cwnd_study::output_file;
use serde::Serialize;
use std::{
    fs::File,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

/// Counters are no newer than this.
pub const SHORTEST: Time = Time(50_000_000);

/// A log that is being written.
pub struct Log {
    file: BufWriter<File>,
    path: PathBuf,
    every: Time,
    links: Vec<Named>,
    before: Snapshot,
}

/// A link's name and direction.
#[derive(Clone, Serialize)]
struct Named {
    link: String,
    /// `forward` from the senders to the receivers, or `reverse`.
    direction: &'static str,
}

/// A line.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Line {
    /// The links as they are from this time on: at the beginning, and after each change.
    Links { at_s: f64, links: Vec<Settings> },
    /// What was counted between two times.
    Interval { from_s: f64, to_s: f64, links: Vec<Counted> },
    /// What was counted in all, and how accurate the network was.
    Summary {
        duration_s: f64,
        links: Vec<Counted>,
        late_p50_s: f64,
        late_p99_s: f64,
        late_max_s: f64,
        rate_error: Option<f64>,
        /// Packets that were dropped by others than the emulator, by the counter of the kernel.
        other_drops: Vec<String>,
        /// Why the network was not accurate enough; none if it was.
        validity_warnings: Vec<String>,
        /// That of the program, if there was one.
        exit_code: Option<u8>,
    },
}

#[derive(Serialize)]
struct Settings {
    #[serde(flatten)]
    name: Named,
    /// None if it is unlimited.
    rate_bps: Option<u64>,
    delay_s: f64,
    /// None if it is not a number of packets.
    buffer_packets: Option<u32>,
    /// None if it is not a number of bytes.
    buffer_bytes: Option<u64>,
    /// The discipline of the queue, as `--queue` takes it.
    queue: String,
    /// Losses on the line, jitter, slots and the policer, as their settings are written; none if there are none.
    loss: Option<String>,
    jitter: Option<String>,
    slot: Option<String>,
    policer: Option<String>,
    /// The share of packets of which copies are made.
    duplication: f64,
    /// Whether its rate follows a schedule or a trace.
    schedule: bool,
}

#[derive(Serialize)]
struct Counted {
    #[serde(flatten)]
    name: Named,
    /// Packets that came to the link.
    packets_in: u64,
    /// Packets that came out of it.
    packets_out: u64,
    /// Wire bytes that left the transmitter.
    bytes: u64,
    throughput_bps: f64,
    /// Packets that the queue dropped.
    dropped: u64,
    /// Packets lost on the line.
    lost: u64,
    marked: u64,
    duplicated: u64,
    /// Packets that wait at the end.
    queue_packets: u32,
    queue_mean_packets: f64,
    /// What packets waited in the queue, in the mean; none if none left it.
    queue_mean_delay_s: Option<f64>,
}

impl Log {
    /// Begins a file with what the links are.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(path: &Path, every: Time, scenario: &Scenario) -> Result<Log, Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::bad_input(format!("--log: {error}"));
        output_file::check_writable(path, "a log", &["jsonl"]).map_err(|error| failed(&error))?;
        let file = BufWriter::new(File::create(path).map_err(|error| failed(&error))?);
        let is_forward = |link: usize| scenario.flows.iter().any(|flow| flow.route.contains(&link));
        let named = |(number, link): (usize, &cwnd_scenario::LinkSpec)| Named {
            link: link.name.clone(),
            direction: if is_forward(number) { "forward" } else { "reverse" },
        };
        let links = scenario.network.links.iter().enumerate().map(named).collect();
        let mut log = Log { file, path: path.to_owned(), every, links, before: Snapshot::default() };
        log.changed(0, scenario)?;
        Ok(log)
    }

    /// Writes what the links are since a time on the emulator's clock, ns.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn changed(&mut self, at: u64, scenario: &Scenario) -> Result<(), Failure> {
        let links = self.links.iter().zip(&scenario.network.links).map(|(name, link)| Settings {
            name: name.clone(),
            rate_bps: (link.rate != Rate::UNLIMITED).then_some(link.rate.0),
            delay_s: link.delay.as_secs_f64(),
            buffer_packets: match link.queue.limit {
                QueueLimit::Packets(packets) => Some(packets),
                _ => None,
            },
            buffer_bytes: match link.queue.limit {
                QueueLimit::Bytes(bytes) => Some(bytes),
                _ => None,
            },
            queue: link.queue.discipline.to_string(),
            loss: (link.loss != Loss::None).then(|| link.loss.to_string()),
            duplication: link.effects.duplication,
            jitter: link.effects.jitter.map(|jitter| jitter.to_string()),
            slot: link.effects.slot.map(|slot| slot.to_string()),
            policer: link.effects.policer.map(|policer| policer.to_string()),
            schedule: link.schedule.is_some(),
        });
        let line = Line::Links { at_s: seconds(at), links: links.collect() };
        self.write(&line)
    }

    /// Writes what was counted since the last time, if a whole multiple of the interval has passed.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn look(&mut self, now: Snapshot) -> Result<(), Failure> {
        let (from, to) = (self.before.counts.at, now.counts.at);
        if to / self.every.0 == from / self.every.0 {
            return Ok(());
        }
        let line = Line::Interval {
            from_s: seconds(from),
            to_s: seconds(to),
            links: counted(&self.links, &self.before, &now),
        };
        self.before = now;
        self.write(&line)
    }

    /// Writes the last interval.
    ///
    /// # Errors
    /// If it could not be written.
    pub fn last(&mut self, now: Snapshot) -> Result<(), Failure> {
        self.every = Time(1);
        self.look(now)
    }

    /// Writes the summary of what was counted up to the last interval.
    ///
    /// # Errors
    /// If it could not be written.
    pub fn end(
        mut self,
        record: &Record,
        other_drops: &[String],
        exit_code: Option<u8>,
    ) -> Result<(), Failure> {
        let end = &self.before;
        let late = |share| seconds(record.lateness.quantile(share));
        let line = Line::Summary {
            duration_s: seconds(end.counts.at),
            links: counted(&self.links, &Snapshot::default(), end),
            late_p50_s: late(0.5),
            late_p99_s: late(0.99),
            late_max_s: seconds(record.lateness.max),
            rate_error: record.rate_error,
            other_drops: other_drops.to_vec(),
            validity_warnings: validity_warnings(record),
            exit_code,
        };
        self.write(&line)
    }

    fn write(&mut self, line: &Line) -> Result<(), Failure> {
        let text = serde_json::to_string(line).map_err(|error| Failure::broken(format!("--log: {error}")))?;
        writeln!(self.file, "{text}")
            .and_then(|()| self.file.flush())
            .map_err(|error| Failure::broken(format!("--log: {}: {error}", self.path.display())))
    }
}

fn seconds(ns: u64) -> f64 {
    Time(ns).as_secs_f64()
}

/// What was counted of each link between two times.
fn counted(links: &[Named], before: &Snapshot, now: &Snapshot) -> Vec<Counted> {
    let time = now.counts.at.saturating_sub(before.counts.at) as f64;
    let none = LinkCounts::default();
    let of = links.iter().zip(&now.counts.links).enumerate();
    of.map(|(i, (name, to))| {
        let from = before.counts.links.get(i).unwrap_or(&none);
        let waiting = |snapshot: &Snapshot| snapshot.counts.waiting.get(i).copied().unwrap_or(0);
        let bytes = to.sent_bytes - from.sent_bytes;
        let waited = (to.waiting_integral - from.waiting_integral) as f64;
        let (arrived, dropped) = (to.arrived - from.arrived, to.dropped - from.dropped);
        // What came or was there, and neither waits nor was dropped, has been sent.
        let left = (arrived + u64::from(waiting(before))).saturating_sub(dropped + u64::from(waiting(now)));
        Counted {
            name: name.clone(),
            packets_in: arrived,
            packets_out: to.delivered - from.delivered,
            bytes,
            throughput_bps: if time > 0.0 { bytes as f64 * 8e9 / time } else { 0.0 },
            dropped,
            lost: to.lost - from.lost,
            marked: to.marked - from.marked,
            duplicated: to.copied - from.copied,
            queue_packets: waiting(now),
            queue_mean_packets: if time > 0.0 { waited / time } else { 0.0 },
            // Little's law.
            queue_mean_delay_s: (left > 0).then(|| waited / left as f64 / 1e9),
        }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_the_difference_of_counters() {
        let snapshot = |at, counts: LinkCounts, waiting| {
            let mut snapshot = Snapshot::default();
            snapshot.counts.at = at;
            snapshot.counts.links = vec![counts];
            snapshot.counts.waiting = vec![waiting];
            snapshot
        };
        let before = LinkCounts {
            arrived: 10,
            dropped: 1,
            sent_bytes: 9_000,
            waiting_integral: 7,
            ..LinkCounts::default()
        };
        // In 100 ms 20 packets came, 2 were dropped and 8 still wait of 3 that waited and these: 13 left.
        let now = LinkCounts {
            arrived: 30,
            dropped: 3,
            delivered: 11,
            sent_bytes: 21_500,
            waiting_integral: 7 + 520_000_000,
            ..LinkCounts::default()
        };
        let names = [Named { link: "bottleneck".to_owned(), direction: "forward" }];
        let [of] = &counted(&names, &snapshot(0, before, 3), &snapshot(100_000_000, now, 8))[..] else {
            panic!("one link")
        };
        assert_eq!((of.packets_in, of.packets_out, of.dropped, of.queue_packets), (20, 11, 2, 8));
        assert_eq!((of.bytes, of.throughput_bps), (12_500, 1e6));
        assert_eq!(of.queue_mean_packets, 5.2);
        assert_eq!(of.queue_mean_delay_s, Some(0.04));
    }
}
