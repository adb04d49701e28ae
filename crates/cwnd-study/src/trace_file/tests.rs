use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::Field;
use cwnd_scenario::{Observed, Sample, SampleState, Time, Trace};

use super::*;

/// Two sample times of two flows; the second run has another queue.
fn traces() -> [Trace; 2] {
    let sample = |time_index, flow, cwnd, ssthresh, rtt| Sample {
        time_index,
        flow,
        cwnd,
        ssthresh,
        rtt,
        delivered_bytes: 1448 * time_index as u64,
        in_flight: cwnd as u64,
        sent: None,
        state: if time_index == 0 { SampleState::Open } else { SampleState::Recovery },
    };
    let first = Trace {
        queues: vec!["bottleneck".into(), "access-1".into()],
        samples: vec![
            sample(0, 0, 2.0, f64::INFINITY, None),
            sample(0, 1, 2.0, f64::INFINITY, None),
            sample(1, 0, 31_000.1, 15_500.05, Some(Time(204_000_001))),
            sample(1, 1, 1.0 / 3.0, 2.0, Some(Time::from_millis(204))),
        ],
        queue_lengths: vec![vec![0, 0], vec![1000, 5]],
        times: vec![Time::ZERO, Time::from_millis(100)],
        // The window's limit is known to the second flow from its second sample on; only the second run has the third column.
        observed: vec![
            Observed { flow: 0, name: "k".into(), values: vec![0.0, 9.25] },
            Observed { flow: 1, name: "lambda".into(), values: vec![f64::NAN, 3.0] },
        ],
    };
    let second = Trace {
        queues: vec!["bottleneck".into(), "access-2".into()],
        samples: vec![sample(0, 0, 10.0, 20.0, None)],
        queue_lengths: vec![vec![3, 4]],
        times: vec![Time::from_millis(100)],
        observed: vec![Observed { flow: 0, name: "wwf".into(), values: vec![10.5] }],
    };
    [first, second]
}

fn runs(traces: &[Trace; 2]) -> [TracedRun<'_>; 2] {
    let [first, second] = traces;
    let mix = &["cubic", "agile-sd:lambda_max=4,beta2=0.9"];
    let bottleneck = "bottleneck";
    [
        TracedRun { algorithm: "mix", flow_algorithms: mix, seed: 1, trace: first, bottleneck },
        TracedRun { algorithm: "elastic", flow_algorithms: &[], seed: u64::MAX, trace: second, bottleneck },
    ]
}

#[test]
fn csv() {
    let traces = traces();
    let runs = runs(&traces);
    let mut out = Vec::new();
    super::csv::write(&mut out, &runs, &Columns::of(&runs)).unwrap();
    let expected = r#"algorithm,seed,time_s,flow,cwnd,ssthresh,rtt_s,delivered_bytes,in_flight,state,queue_bottleneck,queue_access-1,queue_access-2,state.k,state.lambda,state.wwf
cubic,1,0,1,2,,,0,2,open,0,0,,0,,
"agile-sd:lambda_max=4,beta2=0.9",1,0,2,2,,,0,2,open,0,0,,,,
cubic,1,0.1,1,31000.1,15500.05,0.204000001,1448,31000,recovery,1000,5,,9.25,,
"agile-sd:lambda_max=4,beta2=0.9",1,0.1,2,0.3333333333333333,2,0.204,1448,0,recovery,1000,5,,,3,
elastic,18446744073709551615,0.1,1,10,20,,0,10,open,3,,4,,,10.5
"#;
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

/// The Apache implementation reads the same table from the Parquet file as from the CSV file.
#[test]
fn parquet_holds_the_same_table_as_csv() {
    let traces = traces();
    let runs = runs(&traces);
    let directory = std::env::temp_dir();
    let path = |extension: &str| directory.join(format!("cwnd-report-{}.{extension}", std::process::id()));
    write(&path("csv"), &runs).unwrap();
    write(&path("parquet"), &runs).unwrap();
    let csv = std::fs::read_to_string(path("csv")).unwrap();
    let file = std::fs::File::open(path("parquet")).unwrap();
    std::fs::remove_file(path("csv")).unwrap();
    std::fs::remove_file(path("parquet")).unwrap();

    let reader = SerializedFileReader::new(file).unwrap();
    let fields = reader.metadata().file_metadata().schema().get_fields();
    let header: Vec<&str> = fields.iter().map(|field| field.name()).collect();
    let mut table = header.join(",") + "\n";
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        let cells: Vec<String> = row.get_column_iter().map(|(_, field)| cell(field)).collect();
        table += &(cells.join(",") + "\n");
    }
    assert_eq!(table, csv);
}

fn cell(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) if text.contains(',') => format!("\"{text}\""),
        Field::Str(text) => text.clone(),
        Field::Double(value) => value.to_string(),
        Field::Long(value) => value.to_string(),
        Field::ULong(value) => value.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn another_extension_is_an_error() {
    let error = write(Path::new("trace.json"), &[]).unwrap_err();
    let expected = "cannot write `trace.json`: the name of a trace ends in .csv or .parquet; try `trace.csv`";
    assert_eq!(error.to_string(), expected);
}
