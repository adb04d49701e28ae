//! A reading of the connections as a line of JSON.

use super::NO_THRESHOLD;
use cwnd_kernel::load::{LoadedObject, ObservedSocket};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

#[derive(Serialize)]
struct Reading<'a> {
    /// Seconds since 1970.
    time_s: f64,
    connections: Vec<Connection<'a>>,
    /// Connections that were left out.
    more: usize,
    /// Connections of other congestion controls than cwnd's, which were not asked for.
    others: usize,
}

/// What is not known is null.
#[derive(Serialize)]
struct Connection<'a> {
    congestion_control: &'a str,
    /// The number of the loaded object, as `cwnd_algorithm_info` of the metrics has it.
    object: Option<u32>,
    namespace: &'a Path,
    local: SocketAddr,
    remote: SocketAddr,
    /// Segments.
    cwnd: u32,
    /// Segments.
    ssthresh: Option<u32>,
    srtt_s: Option<f64>,
    min_rtt_s: Option<f64>,
    /// Bytes of payload of a segment.
    mss: u32,
    /// Segments.
    in_flight: u32,
    segments: u32,
    retransmissions: u32,
    lost: u32,
    bytes_acked: u64,
    delivery_rate_bps: Option<f64>,
    pacing_rate_bps: Option<f64>,
    /// The state of its algorithm by the names of `cwnd algorithms NAME`; null if it is not read.
    state: Option<BTreeMap<&'static str, Option<f64>>>,
}

impl<'a> Connection<'a> {
    fn new(socket: &'a ObservedSocket, objects: &[LoadedObject]) -> Connection<'a> {
        let positive = |value: f64| (value > 0.0).then_some(value);
        let state = socket.observe(objects).map(|values| {
            values.into_iter().map(|(name, _, value)| (name, value.is_finite().then_some(value))).collect()
        });
        Connection {
            congestion_control: &socket.congestion_control,
            object: socket.object,
            namespace: &socket.namespace,
            local: socket.local,
            remote: socket.remote,
            cwnd: socket.cwnd,
            ssthresh: (socket.ssthresh != NO_THRESHOLD).then_some(socket.ssthresh),
            srtt_s: positive(socket.srtt_s),
            min_rtt_s: socket.min_rtt_s,
            mss: socket.mss,
            in_flight: socket.in_flight,
            segments: socket.segments,
            retransmissions: socket.retransmissions,
            lost: socket.lost,
            bytes_acked: socket.bytes_acked,
            delivery_rate_bps: positive(socket.delivery_rate_bps),
            pacing_rate_bps: socket.pacing_rate_bps,
            state,
        }
    }
}

/// Writes at most `most` connections. `others` are those of other congestion controls.
pub fn line(
    sockets: &[ObservedSocket],
    others: usize,
    objects: &[LoadedObject],
    most: Option<usize>,
) -> String {
    let most = most.unwrap_or(usize::MAX);
    let reading = Reading {
        time_s: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64()),
        connections: sockets.iter().take(most).map(|socket| Connection::new(socket, objects)).collect(),
        more: sockets.len().saturating_sub(most),
        others,
    };
    serde_json::to_string(&reading).expect("its keys are texts") + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::super::metrics::a_socket;
    use super::*;

    #[test]
    fn what_is_not_known_is_null() {
        let sockets = [a_socket(10, 0.04, 1), a_socket(5, 0.0, 1)];
        let text = line(&sockets, 3, &[], Some(1));
        assert!(text.ends_with("}\n") && text.lines().count() == 1, "{text}");
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let connection = &value["connections"][0];
        assert_eq!(connection["cwnd"], 10);
        assert_eq!(connection["srtt_s"], 0.04);
        assert_eq!(connection["remote"], "127.0.0.1:2");
        for unknown in ["ssthresh", "min_rtt_s", "delivery_rate_bps", "state", "object"] {
            assert!(connection[unknown].is_null(), "{unknown}: {text}");
        }
        assert_eq!((value["connections"].as_array().unwrap().len(), &value["more"]), (1, &1.into()));
        assert_eq!(value["others"], 3);
    }
}
