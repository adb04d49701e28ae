use super::*;
use crate::{TracedRun, trace_file};
use cwnd_scenario::{Purpose, Stream};
use proptest::prelude::*;
use std::fs;

prop_compose! {
    /// A trace in which every time has a sample, as a file keeps it.
    fn any_trace()(
        steps in prop::collection::vec(1u64..1 << 40, 0..12),
        flows in 1usize..4,
        queues in prop::collection::vec("[a-z0-9-]{1,12}", 0..4),
        seed in any::<u64>(),
    ) -> Trace {
        let mut stream = Stream::new(seed, Purpose::Algorithm, 0);
        let mut draw = || stream.next_u64() >> 20;
        let mut names: Vec<String> = Vec::new();
        for (i, queue) in queues.into_iter().enumerate() {
            names.push(format!("{queue}-{i}"));
        }
        let mut trace = Trace { queues: names, ..Trace::default() };
        let mut time = 0;
        for step in steps {
            time += step;
            for flow in 0..flows {
                use SampleState::{Cwr, Disorder, Loss, Open, Recovery};
                trace.samples.push(Sample {
                    time_index: trace.times.len(),
                    flow,
                    cwnd: draw() as f64 / 7.0,
                    ssthresh: if draw() % 3 == 0 { f64::INFINITY } else { draw() as f64 },
                    rtt: (draw() % 4 > 0).then(|| Time(draw() % (1 << 40))),
                    delivered_bytes: draw(),
                    in_flight: draw() % 100_000,
                    sent: None,
                    state: [Open, Disorder, Cwr, Recovery, Loss][draw() as usize % 5],
                });
            }
            trace.times.push(Time(time));
            trace.queue_lengths.push((0..trace.queues.len()).map(|_| draw() as u32).collect());
        }
        // A value that was never known is not in the file.
        for (flow, name) in (0..flows).flat_map(|flow| [(flow, "alpha"), (flow, "beta")]) {
            let value = |_| if draw() % 3 == 0 { f64::NAN } else { draw() as f64 / 3.0 };
            let values: Vec<f64> = trace.times.iter().map(value).collect();
            if values.iter().any(|value| !value.is_nan()) {
                trace.observed.push(Observed { flow, name: name.to_owned(), values });
            }
        }
        trace
    }
}

fn written(trace: &Trace) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.parquet");
    let run = TracedRun { algorithm: "cubic", flow_algorithms: &[], seed: 7, trace, bottleneck: "" };
    trace_file::write(&path, &[run]).unwrap();
    fs::read(path).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_read_is_what_was_written(trace in any_trace()) {
        let read = from_bytes(written(&trace)).unwrap();
        prop_assert_eq!(digest(&read), digest(&trace));
        prop_assert_eq!(read, trace);
    }

    #[test]
    fn damaged_files_are_refused(trace in any_trace(), place in any::<prop::sample::Index>(), bits in 1u8..) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace.parquet");
        let mut bytes = written(&trace);
        let sha256 = Sha256::digest(&bytes).into();
        let place = place.index(bytes.len());
        bytes[place] ^= bits;
        for damaged in [&bytes[..place], &bytes] {
            fs::write(&path, damaged).unwrap();
            prop_assert_eq!(read(&path, &sha256).unwrap_err().kind, StoreErrorKind::Damaged);
        }
        bytes[place] ^= bits;
        fs::write(&path, bytes).unwrap();
        prop_assert_eq!(read(&path, &sha256).unwrap(), trace);
    }
}

#[test]
fn many_samples_take_several_row_groups() {
    let sample = |i: usize| Sample {
        time_index: i,
        flow: 0,
        cwnd: i as f64 / 3.0,
        ssthresh: f64::INFINITY,
        rtt: None,
        delivered_bytes: 0,
        in_flight: 1,
        sent: None,
        state: SampleState::Open,
    };
    let count = (1 << 16) + 100;
    let trace = Trace {
        queues: vec!["bottleneck".to_owned()],
        samples: (0..count).map(sample).collect(),
        queue_lengths: (0..count as u32).map(|i| vec![i]).collect(),
        times: (0..count as u64).map(|i| Time(i * 100_000_000)).collect(),
        observed: vec![Observed {
            flow: 0,
            name: "k".into(),
            values: (0..count).map(|i| i as f64).collect(),
        }],
    };
    assert_eq!(from_bytes(written(&trace)).unwrap(), trace);
}

#[test]
fn times_without_samples_are_not_in_the_file() {
    let sample = Sample {
        time_index: 1,
        flow: 0,
        cwnd: 2.0,
        ssthresh: f64::INFINITY,
        rtt: None,
        delivered_bytes: 0,
        in_flight: 1,
        sent: None,
        state: SampleState::Open,
    };
    let trace = Trace {
        queues: vec!["bottleneck".to_owned()],
        samples: vec![sample],
        queue_lengths: vec![vec![0], vec![1]],
        times: vec![Time::ZERO, Time::from_millis(100)],
        observed: vec![Observed { flow: 0, name: "k".into(), values: vec![f64::NAN, 4.0] }],
    };
    let read = from_bytes(written(&trace)).unwrap();
    assert_eq!((read.times.len(), read.samples[0].time_index), (1, 0));
    assert_eq!(read.observed(0, "k"), Some(&[4.0][..]));
    assert_eq!(digest(&read), digest(&trace));
}

#[test]
fn errors_name_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("none.parquet");
    let missing = read(&path, &[0; 32]).unwrap_err();
    assert_eq!(missing.kind, StoreErrorKind::Missing);
    fs::write(&path, "PAR1 but no more").unwrap();
    let damaged = read(&path, &[0; 32]).unwrap_err();
    assert_eq!(damaged.kind, StoreErrorKind::Damaged);
    assert!(damaged.to_string().contains("none.parquet`: it is torn, or was changed"), "{damaged}");
    let foreign = read(&path, &Sha256::digest("PAR1 but no more").into()).unwrap_err();
    assert_eq!(foreign.kind, StoreErrorKind::Damaged);
    assert!(foreign.to_string().contains("none.parquet`: it is not a whole Parquet file"), "{foreign}");
}
