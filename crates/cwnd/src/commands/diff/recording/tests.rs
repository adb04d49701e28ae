use super::align::{Tolerance, first_difference};
use super::read::parse;

const EXACT: Tolerance = Tolerance { time_ms: 0.0, relative: 0.0 };

fn header(version: &str) -> String {
    format!("{version}\n")
}

/// A file of qlog 0.3, one JSON text a line.
fn file(events: &[&str]) -> String {
    let start = r#"{"qlog_version":"0.3","trace":{"common_fields":{"time_format":"relative"}}}"#;
    header(start) + &events.join("\n")
}

fn difference(first: &str, second: &str, tolerance: Tolerance) -> Option<String> {
    let [first, second] = [first, second].map(|text| parse(text).unwrap());
    first_difference([&first, &second], tolerance).map(|difference| difference.text)
}

const SENT: &str =
    r#"{"time":1,"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":5}}}"#;
const WINDOW: &str = r#"{"time":2,"name":"recovery:metrics_updated","data":{"congestion_window":1000}}"#;

#[test]
fn the_first_difference_is_the_earliest_of_times_fields_and_missing_events() {
    let first = file(&[SENT, WINDOW]);
    assert_eq!(difference(&first, &first, EXACT), None);
    let larger = file(&[SENT, &WINDOW.replace("1000", "1010")]);
    let expected = "metrics_updated has `congestion_window` 1000 and 1010";
    assert_eq!(difference(&first, &larger, EXACT).as_deref(), Some(expected));
    assert_eq!(difference(&first, &larger, Tolerance { relative: 0.01, ..EXACT }), None);
    let later = file(&[&SENT.replace("\"time\":1", "\"time\":1.5"), &WINDOW.replace("1000", "1010")]);
    let expected = "packet_sent of packet 1RTT 5 is at 1.000000 ms and at 1.500000 ms";
    assert_eq!(difference(&first, &later, EXACT).as_deref(), Some(expected));
    let tolerance = Tolerance { time_ms: 0.5, relative: 0.01 };
    assert_eq!(difference(&first, &later, tolerance), None);
    let expected = "only the first has packet_sent of packet 1RTT 5 at 1.000000 ms";
    assert_eq!(difference(&first, &file(&[WINDOW]), EXACT).as_deref(), Some(expected));
}

#[test]
fn categories_and_time_formats_of_both_versions_are_the_same() {
    let start = r#"{"file_schema":"urn:ietf:params:qlog:file:sequential","trace":{"common_fields":{"time_format":"relative_to_previous_event"}}}"#;
    let later = WINDOW.replace("\"time\":2", "\"time\":1").replace("recovery:", "quic:");
    let second = format!("\x1e{start}\n\x1e{}\n\x1e{later}\n", SENT.replace("transport:", "quic:"));
    assert_eq!(difference(&file(&[SENT, WINDOW]), &second, EXACT), None);
}

#[test]
fn broken_files_give_line_and_column() {
    let error = |text: &str| parse(text).unwrap_err();
    assert!(error(&file(&[SENT, "{\"time\": x}"])).starts_with("3:10: not JSON"));
    assert_eq!(error(&file(&["{\"time\": 1}"])), "2:1: the event has no text `name`");
    assert!(error("{}").starts_with("1:1: the first record has neither"));
    assert!(error("").starts_with("1:1: the file is empty"));
}

/// Flows of TCP have no Initial packets: each group is a flow.
#[test]
fn groups_without_initial_packets_are_flows() {
    let of = |group: &str| WINDOW.replace("\"data\"", &format!("\"group_id\":\"{group}\",\"data\""));
    let events = [of("a"), of("b"), of("a"), of("c")];
    let recording = parse(&file(&events.each_ref().map(String::as_str))).unwrap();
    let groups: Vec<usize> = recording.events.iter().map(|event| event.group).collect();
    assert_eq!(groups, [0, 1, 0, 2]);
}

/// A header and events of an implementation that names connections by the IDs of their peer.
#[test]
fn implementations_are_compared_by_what_both_write() {
    let first = [
        r#"{"qlog_version":"0.3","title":"quinn","trace":{"common_fields":{"time_format":"relative"}}}"#,
        r#"{"time":0,"name":"transport:packet_sent","group_id":"a","data":{"header":{"packet_type":"initial","packet_number":0}}}"#,
        r#"{"time":1,"name":"transport:packet_sent","group_id":"b","data":{"header":{"packet_type":"1RTT","packet_number":0,"dcid":"1"}}}"#,
        r#"{"time":1,"name":"recovery:metrics_updated","group_id":"b","data":{"congestion_window":100,"bytes_in_flight":1,"smoothed_rtt":0.04}}"#,
        r#"{"time":9,"name":"recovery:metrics_updated","group_id":"b","data":{"congestion_window":200}}"#,
    ];
    let second = [
        r#"{"file_schema":"urn","title":"noq","trace":{"common_fields":{"time_format":"relative"}}}"#,
        r#"{"time":0,"name":"quic:connection_started","data":{}}"#,
        r#"{"time":0,"name":"quic:packet_sent","data":{"header":{"packet_type":"initial","packet_number":0},"frames":[]}}"#,
        r#"{"time":1,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":0,"dcid":"2"}}}"#,
        r#"{"time":1,"name":"quic:recovery_metrics_updated","data":{"congestion_window":100,"smoothed_rtt":40}}"#,
        r#"{"time":2,"name":"quic:recovery_metrics_updated","data":{"min_rtt":5}}"#,
        r#"{"time":12,"name":"quic:recovery_metrics_updated","data":{"congestion_window":200}}"#,
    ];
    let (first, second) = (first.join("\n"), second.join("\n"));
    let within = Tolerance { time_ms: 3.0, ..EXACT };
    assert_eq!(difference(&first, &second, within), None);
    let expected = "`congestion_window` is 200 and 100 from 9.000000 ms on";
    assert_eq!(difference(&first, &second, EXACT).as_deref(), Some(expected));
    let files = [&first, &second].map(|text| parse(text).unwrap());
    let others: Vec<String> = super::align::not_compared(files.each_ref()).into_iter().collect();
    assert_eq!(others, ["connection_started"]);
    // A loss is compared even if the other implementation has none to write.
    let lost =
        r#"{"time":3,"name":"recovery:packet_lost","group_id":"b","data":{"header":{"packet_number":0}}}"#;
    let expected = "only the first has packet_lost of packet 1RTT 0 at 3.000000 ms";
    assert_eq!(difference(&format!("{first}\n{lost}"), &second, EXACT).as_deref(), Some(expected));
}
