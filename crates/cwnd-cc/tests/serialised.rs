//! Events in JSON and back.

use cwnd_cc::{Ack, Congestion, CongestionKind, EcnMode, LostPacket, Nanos, RateSample, State};

#[track_caller]
fn returns<T: serde::Serialize + serde::de::DeserializeOwned + std::fmt::Debug>(event: &T) {
    let json = serde_json::to_string(event).unwrap();
    let again: T = serde_json::from_str(&json).unwrap();
    assert_eq!(format!("{event:?}"), format!("{again:?}"));
}

#[test]
fn events_return_from_json() {
    let rate = RateSample { delivered: 7, interval: Nanos(11), app_limited: true, ..RateSample::default() };
    let ack = Ack { now: Nanos::MAX, acked: 3, rtt: Some(Nanos(5)), rate: Some(rate), ..Ack::default() };
    returns(&Ack { state: State::Recovery, ..ack });
    let congestion = Congestion {
        now: Nanos(1),
        kind: CongestionKind::Ecn,
        in_flight: 2,
        flight_size: 3,
        lost: 4,
        rtt: Nanos(5),
        srtt: Nanos(6),
        min_rtt: Nanos(7),
        timeouts: 0,
        in_slow_start: true,
    };
    returns(&congestion);
    let lost = LostPacket {
        now: Nanos(1),
        sent: Nanos(2),
        tx_in_flight: 3,
        delivered: 4,
        lost_at_send: 5,
        lost: 6,
        app_limited: false,
    };
    returns(&lost);
    returns(&[EcnMode::Off, EcnMode::Classic, EcnMode::Exact]);
}
