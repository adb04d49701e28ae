//! Reads qlog in its streaming forms: JSON text sequences (RFC 7464) and one JSON text a line. Versions 0.3 and 0.4.

use crate::commands::advise::import::is_capture;
use cwnd_study::input_file;
use serde_json::Value;
use std::{collections::BTreeMap, fs::File, io::Read, path::Path};

/// The longest file that is read, bytes.
const LIMIT: u64 = 1_000_000_000;

/// What writes round-trip times in seconds, where qlog has milliseconds: quinn 0.11.
const QUINN: &str = "quinn 0.3";

/// The events of a file, in their order.
#[derive(Debug)]
pub struct Recording {
    pub events: Vec<Event>,
    /// What wrote it: the version of qlog and the first word of the title.
    pub writer: String,
}

/// An event.
#[derive(Debug)]
pub struct Event {
    /// Milliseconds since the reference time; of a file with absolute times, since its first event.
    pub time: f64,
    /// The line of the file, from 1.
    pub line: usize,
    /// The place of its group (a connection or a flow) in the order in which groups appear.
    pub group: usize,
    /// The name without the category, which changed between drafts: `packet_lost` for `recovery:packet_lost`, and `metrics_updated` also
    /// for `quic:recovery_metrics_updated`.
    pub kind: String,
    pub data: Value,
}

/// What an event's time is relative to.
#[derive(Clone, Copy, PartialEq)]
enum TimeFormat {
    Reference,
    PreviousEvent,
    FirstEvent,
}

/// Reads a file.
pub fn read(path: &Path) -> Result<Recording, String> {
    let mut start = [0; 4];
    let has_start = File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok();
    if has_start && is_capture(&start) {
        return Err(format!(
            "`{}` is a packet capture (pcap or pcapng), which `cwnd diff` does not read: compare two qlog files, which a run writes \
             with `--qlog FILE`, or two directories with results of a study",
            path.display()
        ));
    }
    let text = input_file::read_text(path, LIMIT).map_err(|error| error.to_string())?;
    parse(&text).map_err(|error| format!("{}:{error}", path.display()))
}

/// Parses the contents of a file. An error begins with line and column.
pub fn parse(text: &str) -> Result<Recording, String> {
    let separator = if text.contains('\x1e') { '\x1e' } else { '\n' };
    let (mut line, mut format, mut clock, mut writer) = (1, None, 0.0, String::new());
    let (mut events, mut groups) = (Vec::<Event>::new(), Groups::default());
    let mut zero = None;
    for record in text.split(separator) {
        let at = line;
        line += record.matches('\n').count() + usize::from(separator == '\n');
        if record.trim().is_empty() {
            continue;
        }
        let value: Value = serde_json::from_str(record)
            .map_err(|error| format!("{}:{}: not JSON: {error}", at + error.line() - 1, error.column()))?;
        let Some(known) = format else {
            format = Some(header(&value).map_err(|problem| format!("{at}:1: {problem}"))?);
            writer = written_by(&value);
            continue;
        };
        let missing = |field: &str, what: &str| format!("{at}:1: the event has no {what} `{field}`");
        let time = value["time"].as_f64().ok_or_else(|| missing("time", "number"))?;
        let name = value["name"].as_str().ok_or_else(|| missing("name", "text"))?;
        clock = if known == TimeFormat::PreviousEvent { clock + time } else { time };
        let zero = *zero.get_or_insert(if known == TimeFormat::FirstEvent { clock } else { 0.0 });
        let kind = name.rsplit(':').next().unwrap_or(name);
        let kind = kind.strip_prefix("recovery_").unwrap_or(kind).to_owned();
        let mut data = value["data"].clone();
        if writer == QUINN {
            in_milliseconds(&mut data);
        }
        let group = groups.place(value["group_id"].to_string(), &data);
        events.push(Event { time: clock - zero, line: at, group, kind, data });
    }
    match format {
        Some(_) => Ok(Recording { events, writer }),
        None => {
            Err("1:1: the file is empty; a qlog file begins with a record that has `qlog_version`".to_owned())
        }
    }
}

/// The groups of a file in the order in which they appear.
#[derive(Default)]
struct Groups {
    places: BTreeMap<String, usize>,
    count: usize,
    /// The last group, if it has sent and received Initial packets and no others.
    initial: Option<String>,
}

impl Groups {
    /// Returns the place of a group. Some implementations name a connection by the ID of its peer, which changes after the Initial
    /// packets: a group that follows one with nothing else is the same connection.
    fn place(&mut self, group: String, data: &Value) -> usize {
        let place = match self.places.get(&group) {
            Some(&place) => place,
            None if self.initial.is_some() => self.count - 1,
            None => {
                self.count += 1;
                self.count - 1
            }
        };
        let is_new = self.places.insert(group.clone(), place).is_none();
        match data["header"]["packet_type"].as_str() {
            Some("initial") if is_new && self.initial.is_none() => self.initial = Some(group),
            Some(kind) if kind != "initial" => self.initial = None,
            _ if self.initial.as_ref().is_some_and(|initial| *initial != group) => self.initial = None,
            _ => {}
        }
        place
    }
}

/// Converts the round-trip times of an event from seconds.
fn in_milliseconds(data: &mut Value) {
    for name in ["latest_rtt", "min_rtt", "smoothed_rtt", "rtt_variance"] {
        if let Some(seconds) = data[name].as_f64() {
            data[name] = Value::from(1e3 * seconds);
        }
    }
}

/// Returns what wrote a file, by its first record.
fn written_by(header: &Value) -> String {
    let version = header.get("qlog_version").or_else(|| header.get("file_schema"));
    let title = header["title"].as_str().or_else(|| header["trace"]["title"].as_str()).unwrap_or_default();
    let word = title.split_whitespace().next().unwrap_or_default();
    format!("{word} {}", version.and_then(Value::as_str).unwrap_or_default())
}

/// Reads the first record.
fn header(value: &Value) -> Result<TimeFormat, String> {
    let version = value.get("qlog_version").or_else(|| value.get("file_schema"));
    if version.is_none() {
        return Err("the first record has neither `qlog_version` (0.3) nor `file_schema` (0.4)".to_owned());
    }
    if value.get("traces").is_some() {
        return Err("this is qlog in one JSON text; use a streaming form (.sqlog), with one record an event"
            .to_owned());
    }
    let common = &value["trace"]["common_fields"];
    match common["time_format"].as_str() {
        Some("relative") => Ok(TimeFormat::Reference),
        // Without a stated format times are absolute in some writers and relative in others: count from the first event.
        None | Some("absolute") => Ok(TimeFormat::FirstEvent),
        // The epoch may be that of the clock or the start of the trace; the first event is the same for both.
        Some("relative_to_epoch") => Ok(TimeFormat::FirstEvent),
        Some("delta" | "relative_to_previous_event") => Ok(TimeFormat::PreviousEvent),
        Some(other) => Err(format!(
            "unknown time_format `{other}`; known are relative, delta, absolute, relative_to_epoch and relative_to_previous_event"
        )),
    }
}
