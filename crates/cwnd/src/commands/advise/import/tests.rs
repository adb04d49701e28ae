//! Recordings of the real tools (`tests/data/advise/record.sh` made them over a link of 10 Mbit/s, 20 ms, a buffer of 17
//! packets, one packet in 500 lost), and files by hand.

use super::*;

const SS: &[u8] = include_bytes!("../../../../tests/data/advise/ss.txt");
const IPERF3_TCP: &[u8] = include_bytes!("../../../../tests/data/advise/iperf3-tcp.json");
const IPERF3_UDP: &[u8] = include_bytes!("../../../../tests/data/advise/iperf3-udp.json");
const SENDER: &[u8] = include_bytes!("../../../../tests/data/advise/sender.pcap");
const RECEIVER: &[u8] = include_bytes!("../../../../tests/data/advise/receiver.pcapng");

#[track_caller]
fn import(bytes: &[u8]) -> Import {
    parse(bytes).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn within(finding: &Finding, range: std::ops::RangeInclusive<f64>) {
    let value = finding.value().unwrap_or_else(|| panic!("{finding:?}"));
    assert!(range.contains(&value), "{value} is not in {range:?}: {finding:?}");
}

#[track_caller]
fn missing(finding: &Finding) -> &str {
    match finding {
        Finding::Missing(why) => why,
        Finding::Found { .. } => panic!("{finding:?}"),
    }
}

#[test]
fn ss_tells_all_four() {
    let import = import(SS);
    assert!(import.source.starts_with("ss, 4 snapshots of 198.18.0.1:"), "{}", import.source);
    assert!(import.source.ends_with("which sent most of the 2 connections in it"), "{}", import.source);
    within(&import.rate, 9.5e6..=10.5e6);
    within(&import.rtt, 0.020..=0.0215);
    within(&import.loss, 1e-3..=0.05);
    // 17 packets and what waits elsewhere are 26 KB; the smoothed RTT of a few moments shows less.
    within(&import.buffer, 8e3..=40e3);
}

#[test]
fn iperf3_tells_all_four_over_tcp_and_no_round_trip_over_udp() {
    let tcp = import(IPERF3_TCP);
    assert!(tcp.source.starts_with("iperf3 over TCP, 1 stream of "), "{}", tcp.source);
    within(&tcp.rate, 9e6..=10.5e6);
    // The queue is never empty at the end of an interval.
    within(&tcp.rtt, 0.020..=0.040);
    within(&tcp.loss, 1e-3..=0.05);
    within(&tcp.buffer, 1e3..=40e3);
    let udp = import(IPERF3_UDP);
    // Datagrams of 1,448 B at 5 Mbit/s, with 42 B of headers, and one in 500 lost of about 1,700.
    within(&udp.rate, 4.9e6..=5.4e6);
    within(&udp.loss, 0.0..=0.01);
    assert_eq!(missing(&udp.rtt), "a UDP test has no round-trip times");
    missing(&udp.buffer);
}

#[test]
fn captures_tell_all_four_at_the_sender_and_no_queue_at_the_receiver() {
    let sender = import(SENDER);
    assert!(sender.source.starts_with("capture of 198.18.0.1:"), "{}", sender.source);
    within(&sender.rate, 7e6..=10.5e6);
    within(&sender.rtt, 0.020..=0.0215);
    within(&sender.loss, 0.0..=0.05);
    within(&sender.buffer, 15e3..=45e3);
    let receiver = import(RECEIVER);
    within(&receiver.rate, 7e6..=10.5e6);
    within(&receiver.rtt, 0.020..=0.0215);
    within(&receiver.loss, 0.0..=0.2);
    assert!(missing(&receiver.buffer).starts_with("captured at or near the receiver"));
}

#[test]
fn captures_that_are_cut_off_are_read_as_far_as_they_go() {
    let whole = import(SENDER);
    let cut = import(&SENDER[..SENDER.len() - 30]);
    assert_eq!(cut.rtt.value(), whole.rtt.value());
    assert!(!whole.source.contains("damaged"), "{}", whole.source);
    assert!(cut.source.contains("the file is damaged or cut off after "), "{}", cut.source);
    assert_eq!(parse(&SENDER[..24]).unwrap_err(), "the capture has no TCP packets");
    assert!(parse(&SENDER[..10]).unwrap_err().starts_with("the capture "));
    assert!(parse(&RECEIVER[..40]).is_err());
}

#[test]
fn a_csv_has_its_units_in_cells_or_in_the_header() {
    let cells = "time,rate,rtt,loss\n0 s,8 Mbit/s,20 ms,0\n1 s,10 Mbit/s,30 ms,1 %\n2 s,9 Mbit/s,,2 %\n";
    let header = "rtt (ms),note,rate [Mbit/s],time (s),loss (%)\n20,a,8,0,0\n30,b,10,1,1\n,c,9,2,2\n";
    for text in [cells, header] {
        let import = import(text.as_bytes());
        // Median, least, mean, and (30 - 20) ms x 9 Mbit/s / 8.
        assert_eq!(import.rate.value(), Some(9e6));
        assert_eq!(import.rtt.value(), Some(0.02));
        within(&import.loss, 0.009_999_999..=0.010_000_001);
        within(&import.buffer, 11_249.9..=11_250.1);
    }
    assert_eq!(import(cells.as_bytes()).source, "CSV of 3 rows over 2.00 s");
    assert_eq!(import(header.as_bytes()).source, "CSV of 3 rows over 2.00 s; ignored: `note`");
    let rtts = import(b"time,rtt\n1700000000,20 ms\n");
    assert_eq!(missing(&rtts.rate), "the file has no column `rate` with values");
    assert_eq!(missing(&rtts.buffer), "it takes both the columns `rate` and `rtt`");
}

#[test]
fn a_csv_may_have_times_without_a_rate() {
    let outage = import(b"time (s),rate (Mbit/s),rtt (ms)\n0,20,50\n1,5,60\n2,0,90\n3,30,70\n");
    // Between 5 and 20 Mbit/s.
    assert_eq!(outage.rate.value(), Some(12.5e6));
    for less in ["0 Mbit/s", "0", "0.0 kbps", "0 Gbit/s", "250 bit/s", "0.0004 Mbit/s"] {
        let text = format!("time,rate\n0,8 Mbit/s\n1,{less}\n2,9 Mbit/s\n");
        assert_eq!(import(text.as_bytes()).rate.value(), Some(8e6), "{less}");
    }
    // 400 bit/s is the middle one.
    let slow = import(b"time (s),rate (kbit/s)\n0,0\n1,0.4\n2,30\n");
    assert!(
        missing(&slow.rate)
            .starts_with("the median of its 3 rates is 400 bit/s, as of a path that is mostly down")
    );
    let down = import(b"time (s),rate (Mbit/s)\n0,0\n1,0\n2,30\n");
    assert_eq!(
        missing(&down.rate),
        "the median of its 3 rates is 0 bit/s, as of a path that is mostly down; 1 kbit/s is the least"
    );
    for wrong in ["-1 Mbit/s", "-0 Mbit/s", "0 ms", "0.1 bit/s"] {
        let why = parse(format!("time,rate\n0,{wrong}\n").as_bytes()).unwrap_err();
        assert!(why.starts_with(&format!("line 2, column `rate`: `{wrong}`: ")), "{why}");
    }
}

#[test]
fn what_is_wrong_with_a_csv_is_told_with_its_place() {
    let refused = |text: &str| parse(text.as_bytes()).unwrap_err();
    assert_eq!(
        refused("time,rate\n0,8 Mbit/s\n1,8\n"),
        "line 3, column `rate`: `8`: a rate needs a unit: write `8 Mbit/s`, for example"
    );
    assert!(refused("rtt,loss\n20 ms,120 %\n").starts_with("line 2, column `loss`: `120 %`: "));
    assert!(refused("rtt,loss\n20 ms\n").contains("line: 2"));
    assert_eq!(refused("rate,rtt\n"), "it has a header and no rows");
    assert_eq!(refused("rate,rtt,rate (Mbit/s)\n1,2,3\n"), "line 1: the column `rate` is there twice");
}

#[test]
fn a_mahimahi_trace_tells_the_rate_alone() {
    // Ten opportunities of 1,500 B in 100 ms are 1.2 Mbit/s.
    let import = import(b"10\n20\n30\n40\n50\n60\n70\n80\n90\n100\n");
    assert_eq!(import.rate.value(), Some(1.2e6));
    assert_eq!(import.trace.map(|trace| trace.times_ms.len()), Some(10));
    missing(&import.rtt);
    missing(&import.loss);
    missing(&import.buffer);
    assert!(parse(b"10\n5\n").unwrap_err().starts_with("line 2: 5 ms comes after 10 ms"));
}

#[test]
fn other_files_are_refused_with_those_that_are_read() {
    for bytes in [&b"hello\n"[..], b"\xff\xfe\x00", b"a,b\n1,2\n"] {
        assert!(parse(bytes).unwrap_err().starts_with("it is none of the files that are read: a CSV with"));
    }
    assert_eq!(parse(b" \n").unwrap_err(), "it is empty");
    assert!(parse(b"{\"a\": 1}").unwrap_err().contains("it has no `end`"));
    assert!(parse(b"{\"a\": ").unwrap_err().starts_with("it is not JSON"));
    assert_eq!(parse(b"{\"error\": \"no route\"}").unwrap_err(), "the test failed, says iperf3: no route");
    let nothing = "State\nESTAB 0 0 10.0.0.1:1 10.0.0.2:2\n\t cubic rto:204 rtt:1/0.5 mss:1448 cwnd:10\n";
    assert!(parse(nothing.as_bytes()).unwrap_err().starts_with("no connection in it has sent data"));
}

/// Kernels before 4.19 count no bytes, and `ss --oneline` has a socket on one line.
#[test]
fn older_and_shorter_outputs_of_ss_are_read() {
    let line = "ESTAB 0 0 [::1]:5001 [::1]:40000 ts sack cubic wscale:7,7 rto:204 rtt:40.5/2 mss:1448 cwnd:10 \
                data_segs_out:1000 retrans:0/5 delivery_rate 100.0Mbps minrtt:40\n";
    let import = import(line.as_bytes());
    assert_eq!(import.source, "ss, 1 snapshot of [::1]:5001 -> [::1]:40000 (cubic)");
    assert_eq!((import.rtt.value(), import.loss.value()), (Some(0.04), Some(0.005)));
    // x (1448 + 66) / 1448.
    within(&import.rate, 104.55e6..=104.56e6);
}
