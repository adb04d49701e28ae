//! Captures as Wireshark reads them: nothing is malformed, and its analysis finds what the simulator counted.
//!
//! `cargo test -p cwnd-capture --test tshark -- --ignored`

use cwnd_capture::{capture, default_points, point};
use cwnd_experiment::{Buffer, EcnThreshold, FlowGroup};
use cwnd_experiment::{ExperimentSpec, LineDelay, StackChoice, Topology};
use cwnd_scenario::{
    AlgorithmSpec, ByteSize, Discipline, Outcome, Probability, Rate, Scenario, StackProfile, Time,
};
use cwnd_sim::watch::Point;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::Command;

/// What is asked of each packet.
const FIELDS: [&str; 21] = [
    "frame.interface_id",
    "frame.time_epoch",
    "frame.len",
    "frame.comment",
    "_ws.malformed",
    "ip.checksum.status",
    "tcp.checksum.status",
    "ip.dsfield.ecn",
    "tcp.stream",
    "tcp.srcport",
    "tcp.seq_raw",
    "tcp.len",
    "tcp.ack_raw",
    "tcp.window_size",
    "tcp.flags",
    "tcp.options.sack_le",
    "tcp.options.sack_re",
    "tcp.analysis.lost_segment",
    "tcp.analysis.ack_lost_segment",
    "tcp.analysis.window_full",
    // Sent again: how tshark calls it depends on how long ago it was and on what was acknowledged.
    "again",
];
const AGAIN: [&str; 4] = [
    "tcp.analysis.retransmission",
    "tcp.analysis.fast_retransmission",
    "tcp.analysis.spurious_retransmission",
    "tcp.analysis.out_of_order",
];

/// A packet as tshark sees it.
struct Row(Vec<String>);

impl Row {
    fn text(&self, field: &str) -> &str {
        let place = FIELDS.iter().position(|known| *known == field).expect("it was asked for");
        &self.0[place]
    }

    fn number(&self, field: &str) -> u64 {
        let text = self.text(field);
        let number = text.strip_prefix("0x").map_or_else(|| text.parse(), |hex| u64::from_str_radix(hex, 16));
        number.unwrap_or_else(|_| panic!("{field} is `{text}`"))
    }

    fn numbers(&self, field: &str) -> Vec<u64> {
        self.text(field)
            .split(',')
            .filter(|text| !text.is_empty())
            .map(|text| text.parse().unwrap())
            .collect()
    }

    fn is(&self, field: &str) -> bool {
        !self.text(field).is_empty()
    }

    fn is_again(&self) -> bool {
        self.0[FIELDS.len() - 1..].iter().any(|text| !text.is_empty())
    }

    fn is_data(&self) -> bool {
        self.number("tcp.srcport") >= 49_152
    }
}

fn tshark(file: &Path) -> Vec<Row> {
    let mut command = Command::new("tshark");
    command.args([
        "-n",
        "-o",
        "ip.check_checksum:TRUE",
        "-o",
        "tcp.check_checksum:TRUE",
        "-T",
        "fields",
        "-r",
    ]);
    command.arg(file);
    let fields = FIELDS.iter().take(FIELDS.len() - 1).chain(&AGAIN);
    command.args(fields.flat_map(|field| ["-e", field]));
    let output = command.output().expect("tshark starts: apt-get install tshark");
    let errors = String::from_utf8_lossy(&output.stderr);
    let errors: Vec<&str> = errors.lines().filter(|line| !line.starts_with("Running as user")).collect();
    assert!(output.status.success() && errors.is_empty(), "tshark: {errors:?}");
    let text = String::from_utf8(output.stdout).expect("tshark prints UTF-8");
    text.lines().map(|line| Row(line.split('\t').map(str::to_owned).collect())).collect()
}

fn read(scenario: &Scenario, points: &[Point]) -> Vec<Row> {
    let directory = tempfile::tempdir().expect("there is room for files");
    let file = directory.path().join("run.pcapng");
    capture(scenario, points, BufWriter::new(File::create(&file).unwrap())).unwrap();
    tshark(&file)
}

fn setup(profile: StackProfile) -> ExperimentSpec {
    ExperimentSpec {
        topology: Topology::Path,
        rate: Rate(10_000_000),
        delay: LineDelay::BaseRtt(Time::from_millis(40)),
        buffer: Buffer::from(20),
        stack: StackChoice { profile, receive_window: Some(1000), ..StackChoice::default() },
        duration: Time::from_secs(10),
        start_jitter: Some(Time::ZERO),
        ..ExperimentSpec::default()
    }
}

fn scenario(setup: &ExperimentSpec, algorithm: &str, flows: u32) -> Scenario {
    let algorithm = AlgorithmSpec { name: algorithm.to_owned(), ..AlgorithmSpec::default() };
    setup.scenario(&[FlowGroup::new(algorithm, flows)], 1).expect("the setup can be met")
}

fn run(scenario: &Scenario) -> Outcome {
    use cwnd_scenario::Engine;
    cwnd_sim::Simulator.run(scenario).expect("it runs")
}

/// Hold what tshark makes of a capture at the router before the bottleneck against the run. Nothing is dropped or lost before.
fn check(scenario: &Scenario) -> (Outcome, Vec<Row>) {
    let outcome = run(scenario);
    let rows = read(scenario, &default_points(scenario));
    let (bottleneck, back) = (&outcome.links[scenario.network.bottleneck], rows.len());
    assert!(bottleneck.arrived > 1000 && back as u64 > bottleneck.arrived, "hardly anything happened");
    let bad: Vec<usize> = (0..rows.len()).filter(|&i| !is_right(&rows, i)).map(|i| i + 1).collect();
    assert!(bad.is_empty(), "{} frames are wrong, among them {:?}", bad.len(), &bad[..bad.len().min(5)]);
    let (data, acks): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.is_data());
    assert_eq!(data.len() as u64, bottleneck.arrived);
    let comments = rows.iter().filter(|row| row.is("frame.comment")).count();
    assert_eq!(comments as u64, bottleneck.dropped);
    for (flow, counted) in outcome.flows.iter().enumerate() {
        let port = 49_152 + flow as u64;
        let data: Vec<&&Row> = data.iter().filter(|row| row.number("tcp.srcport") == port).collect();
        let stream = data[0].text("tcp.stream");
        let again = data.iter().filter(|row| row.is_again()).count();
        assert_eq!(again as u64, counted.retransmissions, "retransmissions of flow {flow}");
        follow(&data, acks.iter().filter(|row| row.text("tcp.stream") == stream));
    }
    (outcome, rows)
}

fn is_right(rows: &[Row], i: usize) -> bool {
    const BAD: &str = "0";
    let row = &rows[i];
    let in_order = i == 0 || rows[i - 1].text("frame.time_epoch") <= row.text("frame.time_epoch");
    let sums = [row.text("ip.checksum.status"), row.text("tcp.checksum.status")];
    // Everything is captured that there is, so nothing seems to be missing.
    let missing = ["_ws.malformed", "tcp.analysis.lost_segment", "tcp.analysis.ack_lost_segment"];
    in_order && !sums.contains(&BAD) && !missing.iter().any(|field| row.is(field))
}

/// Sequence and ACK numbers never fall, and SACK blocks lie between them.
fn follow<'a>(data: &[&&Row], acks: impl Iterator<Item = &'a &'a Row>) {
    let end = |row: &Row| row.number("tcp.seq_raw") + row.number("tcp.len");
    let mut highest = 0;
    for row in data {
        let (begin, end) = (row.number("tcp.seq_raw"), end(row));
        assert!(begin <= highest + 1, "a gap before {begin}");
        assert_eq!(end <= highest && row.number("tcp.len") > 0, row.is_again(), "at {begin}");
        highest = highest.max(end);
    }
    let mut last = 0;
    for ack in acks {
        let number = ack.number("tcp.ack_raw");
        assert!(number >= last && number <= highest + 1, "{number} after {last}");
        last = number;
        let (begins, ends) = (ack.numbers("tcp.options.sack_le"), ack.numbers("tcp.options.sack_re"));
        assert_eq!(begins.len(), ends.len());
        for (begin, end) in begins.into_iter().zip(ends) {
            assert!(number < begin && begin < end && end <= highest, "a block {begin} to {end} at {number}");
        }
    }
}

#[test]
#[ignore = "needs tshark"]
fn random_losses_with_sack() {
    let setup = ExperimentSpec { per: Probability::new(0.01).unwrap(), ..setup(StackProfile::Ns2) };
    let (outcome, rows) = check(&scenario(&setup, "cubic", 1));
    assert!(outcome.flows[0].retransmissions > 20);
    assert!(rows.iter().any(|row| row.numbers("tcp.options.sack_le").len() > 1));
    // Without a handshake no window is scaled, and none is full.
    assert!(
        rows.iter().all(|row| row.number("tcp.window_size") == 65_535 && !row.is("tcp.analysis.window_full"))
    );
    // Frames are as long as packets are.
    let data: u64 = rows.iter().filter(|row| row.is_data()).map(|row| row.number("frame.len")).sum();
    assert_eq!(data, 40 + 1050 * (outcome.links[0].arrived - 1));
}

#[test]
#[ignore = "needs tshark"]
fn delayed_acks_and_a_handshake() {
    let (outcome, rows) = check(&scenario(&setup(StackProfile::Linux), "cubic", 1));
    assert!(outcome.flows[0].retransmissions > 20 && outcome.links[0].dropped > 20);
    let flags: Vec<u64> = rows[..3].iter().map(|row| row.number("tcp.flags")).collect();
    assert_eq!(flags, [0x002, 0x012, 0x010], "SYN, SYN and ACK, ACK");
    let acks = rows.iter().filter(|row| !row.is_data()).count() as u64;
    assert!(acks < outcome.flows[0].packets_sent * 2 / 3, "{acks} ACKs are not delayed");
    // The scale is known: of 1,000 x 1,448 bytes the shift of 5 cuts nothing off.
    assert!(
        rows[3..].iter().filter(|row| !row.is_data()).all(|row| row.number("tcp.window_size") == 1_448_000)
    );
}

#[test]
#[ignore = "needs tshark"]
fn marks_with_dctcp() {
    let setup = ExperimentSpec {
        ecn_threshold: Some(EcnThreshold::Packets(5)),
        buffer: Buffer::from(100),
        bytes: Some(ByteSize(4_000_000)),
        ..setup(StackProfile::Linux)
    };
    let scenario = scenario(&setup, "dctcp", 1);
    let (outcome, rows) = check(&scenario);
    assert!(outcome.flows[0].completed.is_some() && outcome.flows[0].packets_marked > 50);
    // Before the queue nothing is marked, and ECT(1) is what L4S sends; the handshake has neither.
    let codes: Vec<&str> =
        rows.iter().filter(|row| row.is_data()).map(|row| row.text("ip.dsfield.ecn")).collect();
    assert!(codes[..2] == ["0", "0"] && codes[2..].iter().all(|code| *code == "1"));
    let echoes = |row: &&Row| row.number("tcp.flags") & 0x42 == 0x40;
    assert!(rows.iter().filter(echoes).count() > 20);
    let after = read(&scenario, &[point(&scenario.network, "bottleneck:leave").unwrap()]);
    let marked = after.iter().filter(|row| row.text("ip.dsfield.ecn") == "3").count() as u64;
    assert_eq!((marked, marked), (outcome.links[0].marked, outcome.flows[0].packets_marked));
}

#[test]
#[ignore = "needs tshark"]
fn two_flows_over_access_links() {
    let setup = ExperimentSpec {
        topology: Topology::Dumbbell,
        access_rate: Some(cwnd_experiment::OrBottleneck::Own(Rate(100_000_000))),
        access_buffer: Some(cwnd_experiment::OrBottleneck::Own(Buffer::from(10_000))),
        bytes: Some(ByteSize(4_000_000)),
        start_jitter: None,
        ..setup(StackProfile::Linux)
    };
    let (outcome, rows) = check(&scenario(&setup, "newreno", 2));
    assert!(outcome.flows.iter().all(|flow| flow.completed.is_some() && flow.retransmissions > 0));
    let ports: std::collections::BTreeSet<u64> = rows.iter().map(|row| row.number("tcp.srcport")).collect();
    assert_eq!(ports.into_iter().collect::<Vec<_>>(), [5001, 49_152, 49_153]);
}

#[test]
#[ignore = "needs tshark"]
fn a_queue_that_drops_late() {
    let mut scenario = scenario(&setup(StackProfile::Linux), "cubic", 2);
    scenario.network.links[0].queue.discipline = Discipline::CoDel(Default::default());
    let (outcome, _) = check(&scenario);
    assert!(outcome.links[0].dropped > 10);
}
