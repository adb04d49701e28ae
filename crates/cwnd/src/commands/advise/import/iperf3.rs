//! The output of `iperf3 --json`, of a TCP or a UDP test.

use super::{Finding, Import, UPPER_BOUND, buffer, decimals, wire_share};
use serde_json::Value;

/// The payload of a packet where the file does not say: Ethernet's 1,500 B less IPv4, TCP and timestamps.
const USUAL_MSS: f64 = 1448.0;

pub fn parse(text: &str) -> Result<Import, String> {
    let file: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    if let Some(error) = file["error"].as_str() {
        return Err(format!("the test failed, says iperf3: {error}"));
    }
    let end =
        file["end"].as_object().ok_or("it is JSON, but not that of `iperf3 --json`: it has no `end`")?;
    let test = &file["start"]["test_start"];
    let mss = file["start"]["tcp_mss_default"].as_f64().filter(|mss| *mss > 0.0).unwrap_or(USUAL_MSS);
    match test["protocol"].as_str() {
        Some("UDP") => Ok(udp(&file, end)),
        _ => tcp(&file, end, mss),
    }
}

fn tcp(file: &Value, end: &serde_json::Map<String, Value>, mss: f64) -> Result<Import, String> {
    let get = |name: &str, field: &str| end.get(name).and_then(|sum| sum[field].as_f64());
    let received = get("sum_received", "bits_per_second").filter(|rate| *rate > 0.0);
    let received =
        received.ok_or("`end.sum_received.bits_per_second` is missing or 0: the test transferred nothing")?;
    // Intervals of the receiving host: what a sender writes goes into its own buffer at first.
    let reverse = file["start"]["test_start"]["reverse"].as_f64() == Some(1.0);
    let receiver = if reverse { file } else { &file["server_output_json"] };
    let intervals = receiver["intervals"].as_array().map_or(&[][..], Vec::as_slice);
    let counted = intervals.iter().filter(|interval| {
        interval["sum"]["omitted"] != Value::Bool(true) && interval["sum"]["seconds"].as_f64() > Some(0.5)
    });
    let greatest =
        counted.filter_map(|interval| interval["sum"]["bits_per_second"].as_f64()).reduce(f64::max);
    let rate = greatest.map_or(received, |greatest| greatest.max(received)) * wire_share(mss);
    let of = match greatest {
        Some(_) => "greatest of the receiver's intervals",
        None => {
            "mean received (with `--get-server-output`, of a server with `--json`, the greatest of its intervals)"
        }
    };

    let streams = end.get("streams").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let of_streams = |field: &str| -> Vec<f64> {
        let values = streams.iter().filter_map(|stream| stream["sender"][field].as_f64());
        values.filter(|value| *value > 0.0).collect()
    };
    let least = of_streams("min_rtt").into_iter().reduce(f64::min).map(|us| us / 1e6);
    let longest = of_streams("max_rtt").into_iter().reduce(f64::max).map(|us| us / 1e6);
    let no_rtt = || {
        Finding::missing(if reverse {
            "the other host sent (`--reverse`), and iperf3 reports round-trip times of its own host's sockets only"
        } else {
            "`end.streams[].sender.min_rtt` is missing: iperf3 reports it on Linux and FreeBSD"
        })
    };
    let rtt = least.map_or_else(no_rtt, |rtt| {
        let how = "least smoothed RTT at the end of an interval; an upper bound: the queue may never have been empty";
        Finding::found(rtt, how)
    });
    let buffer = match (longest, least) {
        (Some(longest), Some(least)) => buffer(longest, least, rate, "greatest smoothed RTT"),
        _ => Finding::missing("it takes round-trip times"),
    };
    let loss = match (get("sum_sent", "retransmits"), get("sum_sent", "bytes")) {
        (Some(resent), Some(bytes)) if bytes > 0.0 => Finding::found(
            (resent * mss / bytes).min(1.0),
            format!("{resent} retransmissions / {} packets sent; {UPPER_BOUND}", (bytes / mss).round()),
        ),
        _ => {
            Finding::missing("`end.sum_sent.retransmits` is missing: iperf3 reports it on Linux and FreeBSD")
        }
    };
    let seconds = get("sum_received", "seconds").unwrap_or(0.0);
    let algorithm = end.get("sender_tcp_congestion").and_then(Value::as_str);
    let algorithm = algorithm.map(|name| format!(" of {name}")).unwrap_or_default();
    Ok(Import {
        source: format!(
            "iperf3 over TCP, {} stream{}{algorithm}, {} s",
            streams.len(),
            plural(streams.len()),
            decimals(seconds)
        ),
        rate: Finding::found(rate, format!("{of}, x {:.3} for headers; a lower bound", wire_share(mss))),
        rtt,
        loss,
        buffer,
        trace: None,
    })
}

fn udp(file: &Value, end: &serde_json::Map<String, Value>) -> Import {
    let sum = end.get("sum").unwrap_or(&Value::Null);
    let size = file["start"]["test_start"]["blksize"].as_f64().unwrap_or(USUAL_MSS);
    let (packets, lost) = (sum["packets"].as_f64(), sum["lost_packets"].as_f64());
    let loss = match (packets, lost) {
        (Some(packets), Some(lost)) if packets > 0.0 => {
            Finding::found(lost / packets, format!("{lost} of {packets} datagrams lost"))
        }
        _ => Finding::missing("`end.sum.packets` is missing"),
    };
    let rate = match (sum["bits_per_second"].as_f64(), loss.value()) {
        // Ethernet, IPv4 and UDP.
        (Some(sent), Some(loss)) => Finding::found(
            sent * (1.0 - loss) * (size + 42.0) / size,
            "rate of the datagrams received; a lower bound: the test sends no faster than its `--bitrate`",
        ),
        _ => Finding::missing("`end.sum.bits_per_second` is missing"),
    };
    let missing = || Finding::missing("a UDP test has no round-trip times");
    Import {
        source: format!("iperf3 over UDP, {} s", decimals(sum["seconds"].as_f64().unwrap_or(0.0))),
        rate,
        rtt: missing(),
        loss,
        buffer: missing(),
        trace: None,
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
