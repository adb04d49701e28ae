//! qlog files: they keep to the schema, and agree with the run's own trace and counts.

use cwnd_capture::log;
use cwnd_experiment::{Buffer, EcnThreshold, FlowGroup};
use cwnd_experiment::{ExperimentSpec, LineDelay, StackChoice, Topology};
use cwnd_scenario::{
    AlgorithmSpec, ByteSize, Engine, Probability, Rate, Sample, SampleState, Scenario, StackProfile, Time,
    Trace,
};
use cwnd_sim::watch::{End, PacketEvent, PacketObserver, Point, SenderEvent};
use cwnd_sim::{Options, Simulation, Simulator};
use serde_json::{Map, Value, json};

fn setup(profile: StackProfile) -> ExperimentSpec {
    ExperimentSpec {
        topology: Topology::Path,
        rate: Rate(10_000_000),
        delay: LineDelay::BaseRtt(Time::from_millis(40)),
        buffer: Buffer::from(20),
        per: Probability::new(0.002).unwrap(),
        stack: StackChoice { profile, ..StackChoice::default() },
        duration: Time::from_secs(10),
        ..ExperimentSpec::default()
    }
}

fn scenario(setup: &ExperimentSpec, algorithm: &str, flows: u32) -> Scenario {
    let algorithm = AlgorithmSpec { name: algorithm.to_owned(), ..AlgorithmSpec::default() };
    setup.scenario(&[FlowGroup::new(algorithm, flows)], 1).expect("the setup can be met")
}

/// The texts of a sequence.
fn texts(scenario: &Scenario) -> Vec<Value> {
    let file = String::from_utf8(log(scenario, Vec::new()).unwrap()).unwrap();
    let texts = file.strip_prefix('\u{1e}').expect("a record separator comes first").split('\u{1e}');
    let texts = texts.map(|text| {
        assert!(text.ends_with('\n') && text.matches('\n').count() == 1, "{text:?}");
        serde_json::from_str(text).expect("JSON")
    });
    texts.collect()
}

/// What the drafts' CDDL says of the parts that are used here, told as JSON Schema: `header` of the first text, `event` of all
/// others. Nothing else may be there.
fn schema(definition: &str) -> Value {
    let number = json!({ "type": "number", "minimum": 0 });
    let whole = |most: u64| json!({ "type": "integer", "minimum": 0, "maximum": most });
    let text = json!({ "type": "string" });
    let object = |required: &[&str], fields: Value| json!({ "type": "object", "required": required, "properties": fields, "additionalProperties": false });
    let event = |name: &str, data: Value| {
        let name = json!({ "const": name });
        object(
            &["time", "name", "data"],
            json!({ "time": number, "name": name, "group_id": text, "data": data }),
        )
    };
    let metrics = json!({
        "min_rtt": number, "smoothed_rtt": number, "latest_rtt": number, "rtt_variance": number,
        "pto_count": whole(u16::MAX.into()), "congestion_window": whole(u64::MAX), "bytes_in_flight": whole(u64::MAX),
        "ssthresh": whole(u64::MAX), "packets_in_flight": whole(u64::MAX), "pacing_rate": whole(u64::MAX),
    });
    let mut metrics = object(&[], metrics);
    metrics["minProperties"] = json!(1);
    metrics["patternProperties"] = json!({ "^cwnd:[a-z0-9_]+$": { "type": ["number", "string", "null"] } });
    let states = json!({ "enum": ["slow_start", "congestion_avoidance", "application_limited", "recovery"] });
    let reasons = json!({ "enum": ["persistent_congestion", "ECN"] });
    let triggers = json!({ "enum": ["reordering_threshold", "time_threshold", "pto_expired"] });
    let types = json!({ "enum": ["initial", "handshake", "0RTT", "1RTT", "retry", "version_negotiation",
                                 "stateless_reset", "unknown"] });
    let header = object(&["packet_type"], json!({ "packet_type": types, "packet_number": whole(u64::MAX) }));
    let common = json!({
        "time_format": { "enum": ["absolute", "delta", "relative"] }, "reference_time": number,
        "protocol_type": { "type": "array", "items": text, "minItems": 1 }, "group_id": text,
    });
    let sides = json!({ "enum": ["server", "client", "network", "unknown"] });
    let point = object(&["type"], json!({ "name": text, "type": sides, "flow": sides }));
    let trace = json!({ "title": text, "description": text, "configuration": { "type": "object" },
                        "common_fields": object(&[], common), "vantage_point": point });
    match definition {
        "header" => object(
            &["qlog_version", "qlog_format", "trace"],
            json!({
                "qlog_version": { "const": "0.3" }, "qlog_format": { "const": "JSON-SEQ" }, "title": text,
                "description": text, "summary": { "type": "object" }, "trace": object(&[], trace),
            }),
        ),
        _ => json!({ "oneOf": [
            event("recovery:metrics_updated", metrics),
            event("recovery:congestion_state_updated",
                  object(&["new"], json!({ "old": states, "new": states, "trigger": reasons }))),
            event("recovery:packet_lost",
                  object(&[], json!({ "header": header, "trigger": triggers }))),
        ] }),
    }
}

fn check_schema(texts: &[Value]) {
    let [header, event] =
        ["header", "event"].map(|part| jsonschema::validator_for(&schema(part)).expect("a schema"));
    assert!(header.is_valid(&texts[0]), "{}", texts[0]);
    for text in &texts[1..] {
        assert!(event.is_valid(text), "{text}");
    }
    // It refuses what is wrong.
    let mut wrong = texts[1].clone();
    wrong["data"] = json!({ "cwnd": 1 });
    assert!(!event.is_valid(&wrong) && !header.is_valid(&texts[1]));
}

/// What the log has said of a flow before a time.
fn known(texts: &[Value], group: &str, before: Time) -> (Map<String, Value>, Option<String>) {
    let mut metrics = Map::new();
    let mut state = None;
    for text in texts.iter().filter(|text| text["group_id"] == group) {
        if text["time"].as_f64().unwrap() >= before.0 as f64 / 1e6 {
            break;
        }
        match text["name"].as_str().unwrap() {
            "recovery:metrics_updated" => metrics.extend(text["data"].as_object().unwrap().clone()),
            "recovery:congestion_state_updated" => state = text["data"]["new"].as_str().map(str::to_owned),
            _ => {}
        }
    }
    (metrics, state)
}

/// Hold a log against the trace of the same run, which shows the state just before each time.
fn check(mut scenario: Scenario) -> Vec<Value> {
    let texts = texts(&scenario);
    check_schema(&texts);
    let times: Vec<f64> = texts[1..].iter().map(|text| text["time"].as_f64().unwrap()).collect();
    assert!(times.is_sorted());
    scenario.sample = Some(Time::from_millis(137));
    let outcome = Simulator.run(&scenario).unwrap();
    let trace = outcome.trace.as_ref().unwrap();
    let (mut compared, mut states) = (0, 0);
    for sample in &trace.samples {
        let group = format!("flow {} ({})", sample.flow + 1, scenario.flows[sample.flow].algorithm);
        let (metrics, state) = known(&texts, &group, trace.times[sample.time_index]);
        if !metrics.is_empty() {
            compared += 1;
            agrees(sample, &metrics, &state.unwrap(), &scenario);
            states += agreeing_states(trace, sample, &metrics);
        }
    }
    assert!(compared > 50, "only {compared} samples");
    assert!(trace.observed.is_empty() || states > 50, "only {states} values of the algorithms' state");
    texts
}

/// Compares the state of the flow's algorithm, and returns how many values of it are known.
fn agreeing_states(trace: &Trace, sample: &Sample, metrics: &Map<String, Value>) -> usize {
    let mut known = 0;
    for observed in trace.observed.iter().filter(|observed| observed.flow == sample.flow) {
        // CUBIC's function moves on between an event and a sample, and a mode is a text.
        if ["target", "mode"].contains(&observed.name.as_str()) {
            continue;
        }
        let value = observed.values[sample.time_index];
        let logged = metrics.get(&format!("cwnd:{}", observed.name)).and_then(Value::as_f64);
        assert_eq!(logged, (!value.is_nan()).then_some(value), "{} at {sample:?}", observed.name);
        known += usize::from(logged.is_some());
    }
    known
}

fn agrees(sample: &Sample, metrics: &Map<String, Value>, state: &str, scenario: &Scenario) {
    let payload = f64::from(scenario.stack.payload);
    let context = format!("{sample:?} and {metrics:?}, {state}");
    assert_eq!(metrics["congestion_window"], json!((sample.cwnd * payload).round() as u64), "{context}");
    assert_eq!(metrics["packets_in_flight"], json!(sample.in_flight), "{context}");
    assert_eq!(metrics["bytes_in_flight"], json!((sample.in_flight as f64 * payload) as u64), "{context}");
    let ssthresh = sample.ssthresh.is_finite().then(|| json!((sample.ssthresh * payload).round() as u64));
    assert_eq!(metrics.get("ssthresh"), ssthresh.as_ref(), "{context}");
    let rtt = sample.rtt.map(|rtt| json!(rtt.0 as f64 / 1e6));
    assert_eq!(metrics.get("smoothed_rtt"), rtt.as_ref(), "{context}");
    let recovers = !matches!(sample.state, SampleState::Open | SampleState::Disorder);
    assert_eq!(recovers, state == "recovery", "{context}");
}

fn count(texts: &[Value], name: &str) -> usize {
    texts.iter().filter(|text| text["name"] == name).count()
}

#[test]
fn ns2_with_losses() {
    let scenario = scenario(&setup(StackProfile::Ns2), "cubic", 2);
    let texts = check(scenario.clone());
    let outcome = Simulator.run(&scenario).unwrap();
    // What is sent again was lost before. More is taken for lost after a timeout, and then acknowledged all the same.
    let again: u64 = outcome.flows.iter().map(|flow| flow.retransmissions).sum();
    let lost = count(&texts, "recovery:packet_lost") as u64;
    assert!(again > 50 && lost >= again, "{lost} lost, {again} sent again");
    let by_timeout = texts.iter().filter(|text| text["data"]["trigger"] == "pto_expired").count();
    let timeouts: u64 = outcome.flows.iter().map(|flow| flow.timeouts).sum();
    assert_eq!(by_timeout > 0, timeouts > 0);
    let states: Vec<&Value> = texts.iter().filter(|text| text["data"].get("new").is_some()).collect();
    for state in ["slow_start", "congestion_avoidance", "recovery"] {
        assert!(states.iter().any(|text| text["data"]["new"] == state), "{state}");
    }
}

#[test]
fn without_timeouts_what_is_lost_is_sent_again() {
    let setup = ExperimentSpec { buffer: Buffer::from(200), ..setup(StackProfile::Ns2) };
    let scenario = scenario(&setup, "newreno", 1);
    let texts = texts(&scenario);
    let flow = &Simulator.run(&scenario).unwrap().flows[0];
    let lost = count(&texts, "recovery:packet_lost") as u64;
    assert_eq!((lost, flow.timeouts), (flow.retransmissions, 0));
    assert!(lost > 5, "only {lost}");
    // They are the segments that come to the bottleneck again.
    let point = Point { link: scenario.network.bottleneck, end: End::Enter };
    let mut simulation = Simulation::with_options(
        &scenario,
        &cwnd_sim::registered,
        &Options { points: vec![point], ..Options::default() },
    )
    .unwrap();
    let mut repeats = Repeats::default();
    simulation.run_observed(scenario.duration, &mut repeats);
    simulation.end_observation(&mut repeats);
    let numbers = texts.iter().filter_map(|text| text["data"]["header"]["packet_number"].as_u64());
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.sort_unstable();
    repeats.again.sort_unstable();
    assert_eq!(numbers, repeats.again);
}

/// Segments that come again.
#[derive(Default)]
struct Repeats {
    known: std::collections::BTreeSet<u32>,
    again: Vec<u64>,
}

impl PacketObserver for Repeats {
    fn on_packet(&mut self, event: &PacketEvent<'_>) {
        let packet = event.packet;
        if packet.is_data() && !self.known.insert(packet.seq) {
            self.again.push(packet.seq.into());
        }
    }
}

#[test]
fn linux_with_losses_and_pacing() {
    let texts = check(scenario(&setup(StackProfile::Linux), "bbr", 1));
    assert!(texts.iter().any(|text| text["data"].get("pacing_rate").is_some()));
    let modes = ["Startup", "ProbeBW"].map(|mode| texts.iter().any(|text| text["data"]["cwnd:mode"] == mode));
    assert_eq!(modes, [true; 2]);
    assert!(count(&texts, "recovery:packet_lost") > 5);
    check(scenario(&setup(StackProfile::Linux), "cubic", 2));
}

#[test]
fn marks_and_the_end_of_a_transfer() {
    let setup = ExperimentSpec {
        ecn_threshold: Some(EcnThreshold::Packets(5)),
        per: Probability::new(0.0).unwrap(),
        bytes: Some(ByteSize(6_000_000)),
        // The marks come early: CUBIC leaves a quarter of the rate unused, and the transfer takes 7 s. It must end in time.
        duration: Time::from_secs(30),
        ..setup(StackProfile::Linux)
    };
    let texts = check(scenario(&setup, "cubic", 1));
    let has = |field: &str, value: &str| texts.iter().any(|text| text["data"][field] == value);
    assert!(has("trigger", "ECN"));
    assert!(has("new", "application_limited"));
}

/// Looks at everything and keeps nothing.
struct Idle(u64);

impl PacketObserver for Idle {
    fn on_sender_event(&mut self, _: usize, _: i64, _: &SenderEvent) {
        self.0 += 1;
    }
}

#[test]
fn watching_changes_nothing() {
    for info in cwnd_cc::all() {
        for profile in [StackProfile::Ns2, StackProfile::Linux] {
            for loss in [0.0, 0.005] {
                let setup = ExperimentSpec {
                    per: Probability::new(loss).unwrap(),
                    duration: Time::from_secs(4),
                    ..setup(profile)
                };
                let scenario = scenario(&setup, info.name, 2);
                let mut simulation = Simulation::new(&scenario).unwrap();
                simulation.watch_senders();
                let mut watcher = Idle(0);
                simulation.run_observed(scenario.duration, &mut watcher);
                let plain = Simulator.run(&scenario).unwrap();
                assert_eq!(simulation.outcome(), plain, "{} on {profile:?}", info.name);
                assert!(watcher.0 >= plain.flows.iter().map(|flow| flow.acks_received).sum());
            }
        }
    }
}
