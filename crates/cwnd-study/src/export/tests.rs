use super::*;
use crate::{
    KeptStudy, Provenance, Results,
    runner::{self, Limits},
    store::Store,
    testing::{STUDY, Toy, simulator, study, traced},
};
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

/// A study in which some runs failed, and one repeat is missing.
fn store() -> (TempDir, Store, Study) {
    let directory = tempfile::tempdir().unwrap();
    let study = traced();
    let run = |store: &mut Store, study: &Study| {
        let engine = simulator(Toy { fails_at: Some(2), ..Toy::default() }.into());
        let plan = runner::plan(&engine, study, store).unwrap();
        let limits = Limits { threads: 1, memory: 1e9 };
        runner::run(&engine, &plan, store, limits, &mut (), &AtomicBool::new(false)).unwrap();
        plan
    };
    let mut store = Store::create(directory.path()).unwrap();
    run(&mut store, &Study { repeats: 2, ..study.clone() });
    let plan = runner::plan(&simulator(Toy::default().into()), &study, &store).unwrap();
    let kept = KeptStudy {
        name: study.name.clone(),
        text: study.text.clone(),
        scale: study.scale(),
        repeats: study.repeats,
        keys: plan.keys,
        provenance: Provenance::default(),
    };
    store.keep_study(&kept).unwrap();
    (directory, store, study)
}

fn text(store: &Store, study: &Study, format: Format, canonical: bool) -> String {
    let mut out = Vec::new();
    write(store, study.clone(), format, canonical, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Few columns: other tests say what the metrics are.
fn narrow(csv: &str) -> String {
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let wanted = |name: &str| {
        let shown = ["key", "variant", "buffer", "buffer_value", "repeat", "seed", "state", "reason"];
        shown.contains(&name) || ["throughput_bps", "trace_sha256"].contains(&name)
    };
    let shown: Vec<usize> = (0..header.len()).filter(|i| wanted(header[*i])).collect();
    let short = |row: &[&str]| {
        let cells: Vec<&str> =
            shown.iter().map(|i| if row[*i].len() == 64 { &row[*i][..8] } else { row[*i] }).collect();
        cells.join(",")
    };
    std::iter::once(short(&header)).chain(lines.map(|row| short(&row))).collect::<Vec<_>>().join("\n")
}

#[test]
fn csv() {
    let (_directory, store, study) = store();
    insta::assert_snapshot!(narrow(&text(&store, &study, Format::Csv, false)));
}

#[test]
fn canonical_csv() {
    let (_directory, store, study) = store();
    let csv = text(&store, &study, Format::Csv, true);
    let header = csv.lines().next().unwrap();
    assert!(header.starts_with("key,variant,buffer,buffer_value,repeat,seed,state,reason,throughput_bps,"));
    // All settings are there, and nothing that differs between machines. The axis `buffer` is the setting's own column.
    for column in
        ["trace_sha256", "algorithm", "rate", "rate_value", "packet_size", "stack", "duration", "engine"]
    {
        assert!(header.split(',').any(|own| own == column), "{column} in {header}");
    }
    for column in ["axis_buffer", "versions", "trace", "cpu_s", "finished", "version"] {
        assert!(header.split(',').all(|own| own != column), "{column} in {header}");
    }
    let keys: Vec<&str> = csv.lines().skip(1).map(|line| &line[..64]).collect();
    assert!(keys.is_sorted() && keys.len() == 12);
}

/// The value of a column in the first row.
fn first<'a>(csv: &'a str, column: &str) -> Option<&'a str> {
    let mut lines = csv.lines();
    let place = lines.next()?.split(',').position(|name| name == column)?;
    lines.next()?.split(',').nth(place)
}

#[test]
fn an_axis_with_labels_of_its_own_leaves_the_name_to_the_setting() {
    let text_of =
        crate::testing::STUDY.replace("values = [5, 50]", "values = [5, 50]\nlabels = [\"few\", \"many\"]");
    let study = crate::testing::study(&text_of);
    let csv = text(&in_memory(&study), &study, Format::Csv, false);
    assert_eq!((first(&csv, "axis_buffer"), first(&csv, "buffer")), (Some("few"), Some("5")));
    assert_eq!((first(&csv, "buffer_value"), first(&csv, "variant")), (Some("5"), Some("cubic")));
    assert_eq!((first(&csv, "algorithm"), first(&csv, "rate"), first(&csv, "rate_value")), {
        (Some("cubic"), Some("10 Mbit/s"), Some("10"))
    });
    assert_eq!(first(&csv, "versions"), Some("toy=0"));
}

/// A store in memory with all runs of a study.
fn in_memory(study: &Study) -> Store {
    filled(study, Store::in_memory())
}

/// A store with all runs of a study.
fn filled(study: &Study, mut store: Store) -> Store {
    let engine = simulator(Toy::default().into());
    let plan = runner::plan(&engine, study, &store).unwrap();
    store
        .keep_study(&KeptStudy {
            name: study.name.clone(),
            text: study.text.clone(),
            scale: study.scale(),
            repeats: study.repeats,
            keys: plan.keys.clone(),
            provenance: Provenance::default(),
        })
        .unwrap();
    let limits = Limits { threads: 2, memory: 1e9 };
    runner::run(&engine, &plan, &mut store, limits, &mut (), &AtomicBool::new(false)).unwrap();
    assert_eq!(runner::plan(&engine, study, &store).unwrap().missing(), 0);
    store
}

#[test]
fn a_store_in_memory_holds_what_one_in_a_directory_holds() {
    let directory = tempfile::tempdir().unwrap();
    let study = traced();
    let (kept, memory) = (filled(&study, Store::create(directory.path()).unwrap()), in_memory(&study));
    let canonical = text(&kept, &study, Format::Csv, true);
    assert_eq!(text(&memory, &study, Format::Csv, true), canonical);
    let traces = |store: &Store| {
        let results = Results::of(study.clone(), store).unwrap();
        results.runs.iter().map(|run| run.read_trace().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(traces(&memory), traces(&kept));
    assert_eq!(traces(&memory).iter().flatten().count(), 4);
}

#[test]
fn json_says_the_same_as_csv() {
    let (_directory, store, study) = store();
    let json = text(&store, &study, Format::Json, false);
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&document["study"], document["runs"].as_array().unwrap().len()), (&"toy".into(), 12));
    let csv = text(&store, &study, Format::Csv, false);
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    // Numbers are compared as text: not every reader of JSON takes the nearest number.
    for (line, run) in lines.zip(json.lines().skip(2)) {
        for (name, cell) in header.iter().zip(line.split(',')) {
            let value = run.split_once(&format!("\"{name}\": ")).map(|(_, rest)| rest);
            match value {
                None => assert_eq!(cell, ""),
                Some(text) if text.starts_with('"') => assert_eq!(text[1..].split('"').next(), Some(cell)),
                Some(number) => {
                    let number = number.split([',', '}']).next().unwrap();
                    let bits = |text: &str| text.parse::<f64>().unwrap().to_bits();
                    assert_eq!(bits(number), bits(cell), "{name}");
                }
            }
        }
    }
}

/// A study of 300 runs, which several threads read, and a store of them. Two runs have a buffer of 72, and alone the [metric of samples](DELAYS); the first of them is
/// missing if it is `unknown`: then the metric is unknown until the other is read.
fn with_a_rare_metric(directory: &TempDir, unknown: bool) -> (Study, Store) {
    let buffers: Vec<String> = (1..=150).map(|buffer| buffer.to_string()).collect();
    let text =
        STUDY.replace("[5, 50]", &format!("[{}]", buffers.join(", "))).replace("repeats = 3", "repeats = 1");
    let study = study(&format!("{text}[trace]\nsample = \"1 s\"\nrepeats = 1\nwhere = {{ buffer = 72 }}\n"));
    let store = filled(&study, Store::create(directory.path()).unwrap());
    if unknown {
        let first = (0..study.cells.len()).find(|cell| study.is_traced(*cell, 0)).unwrap();
        let key = kept(&store).unwrap().keys[first];
        let database = rusqlite::Connection::open(directory.path().join(crate::store::DATABASE)).unwrap();
        assert_eq!(database.execute("DELETE FROM runs WHERE key = ?1", [&key.0[..]]).unwrap(), 1);
    }
    (study, store)
}

/// A metric that only runs with samples have.
const DELAYS: &str = "bottleneck.link_queue_delay_p95_s";

#[test]
fn a_file_has_what_a_pipe_gets_wherever_a_metric_appears_first() {
    for (unknown, with_delays) in [(false, 2), (true, 1)] {
        let directory = tempfile::tempdir().unwrap();
        let (study, store) = with_a_rare_metric(&directory, unknown);
        let csv = text(&store, &study, Format::Csv, true);
        let has_value = |line: &str| {
            let place = csv.lines().next().unwrap().split(',').position(|column| column == DELAYS).unwrap();
            line.split(',').nth(place).is_some_and(|cell| !cell.is_empty())
        };
        assert_eq!(csv.lines().skip(1).filter(|line| has_value(line)).count(), with_delays);

        let path = directory.path().join("runs.csv");
        let mut file = BufWriter::new(File::create(&path).unwrap());
        write_file(&store, study.clone(), Format::Csv, true, &mut file).unwrap();
        drop(file);
        assert!(std::fs::read_to_string(&path).unwrap() == csv, "{unknown}");
        let sheet = runs(&store, study.clone()).unwrap();
        assert_eq!((sheet.rows.len(), sheet.columns.iter().any(|column| column.name == DELAYS)), (300, true));
    }
}

#[test]
fn runs_that_cannot_be_used_are_listed_in_the_order_of_the_study() {
    let directory = tempfile::tempdir().unwrap();
    let study = traced();
    let store = filled(&study, Store::create(directory.path()).unwrap());
    let database = rusqlite::Connection::open(directory.path().join(crate::store::DATABASE)).unwrap();
    assert_eq!(database.execute("UPDATE runs SET checksum = checksum + 1", []).unwrap(), 12);
    // By key, of which the order is another one.
    for canonical in [true, false] {
        let unusable = write(&store, study.clone(), Format::Csv, canonical, &mut Vec::new()).unwrap();
        let places = (0..study.cells.len()).flat_map(|cell| (0..study.repeats).map(move |i| (cell, i)));
        let expected = places.map(|(cell, i)| (study.cell_label(cell), study.seed_of(cell, i)));
        assert!(unusable.iter().map(|run| (run.cell.clone(), run.seed)).eq(expected), "{unusable:?}");
    }
}

#[test]
fn a_metric_that_no_run_had_when_the_columns_were_chosen_ends_the_rows() {
    let directory = tempfile::tempdir().unwrap();
    let write = |unknown: bool| {
        let (study, store) = with_a_rare_metric(&directory, unknown);
        let of_some = Known::of_some(&store, &study).unwrap();
        let written = of_some.write((&store, &study), Format::Csv, false, &mut Vec::new());
        written.map_err(|stop| (matches!(stop, Stop::OtherMetric), stop.error(&store).to_string()))
    };
    assert_eq!(write(false), Ok(Vec::new()));
    let (other_metric, error) = write(true).unwrap_err();
    assert!(other_metric);
    assert!(error.contains("a run was stored with a metric that no other run has: export again"), "{error}");
}

#[test]
fn parquet_has_the_rows_of_csv() {
    let (_directory, store, study) = store();
    let mut out = Vec::new();
    write(&store, study.clone(), Format::Parquet, false, &mut out).unwrap();
    let reader = SerializedFileReader::new(bytes::Bytes::from(out)).unwrap();
    let fields = reader.metadata().file_metadata().schema().get_fields();
    let header: Vec<&str> = fields.iter().map(|field| field.name()).collect();
    let csv = text(&store, &study, Format::Csv, false);
    assert_eq!(csv.lines().next().unwrap(), header.join(","));
    assert_eq!(reader.get_row_iter(None).unwrap().count(), csv.lines().count() - 1);

    let error = write(&store, study, Format::Parquet, true, &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("a canonical export is CSV or JSON"), "{error}");
}

#[test]
fn every_flow_has_a_row() {
    let (_directory, store, study) = store();
    let export = |format| {
        let mut out = Vec::new();
        let count = write_flows(&store, study.clone(), format, &mut out).unwrap();
        (count, out)
    };
    let (count, csv) = export(Format::Csv);
    let csv = String::from_utf8(csv).unwrap();
    let mut lines = csv.lines();
    let header = lines.next().unwrap();
    assert!(
        header.starts_with(
            "variant,buffer,repeat,seed,flow,algorithm,group,kind,size_bytes,size_class,start_s,"
        )
    );
    let expected: usize = {
        let results = Results::of(study.clone(), &store).unwrap();
        let done = results.runs.iter().filter(|run| matches!(run.state, RunState::Done(_)));
        done.map(|run| study.scenario(run.cell, run.repeat).flows.len()).sum()
    };
    assert!(count > 0 && count == expected && lines.count() == expected, "{count} of {expected}");
    let json = String::from_utf8(export(Format::Json).1).unwrap();
    assert!(json.contains("\"flows\": [") && json.matches("\"flow\": 1,").count() > 0);
    let parquet = SerializedFileReader::new(bytes::Bytes::from(export(Format::Parquet).1)).unwrap();
    assert_eq!(parquet.metadata().file_metadata().num_rows(), expected as i64);
}

#[test]
fn while_rows_are_written_others_can_empty_the_log_of_the_store() {
    let (directory, store, study) = store();
    let order: Vec<usize> = (0..study.cells.len() * study.repeats as usize).collect();
    let others = rusqlite::Connection::open(directory.path().join(crate::store::DATABASE)).unwrap();
    let mut rows = 0;
    let maker = || |_: usize, _: RunResult, _: Option<StoredRun>| ();
    let read = in_order((&study, &store, &kept(&store).unwrap()), &order, &maker, |()| {
        rows += 1;
        // The first column says whether somebody reads.
        let is_read: bool =
            others.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).unwrap();
        if is_read { Err(rows) } else { Ok(()) }
    });
    assert_eq!((read.unwrap(), rows), (Ok(()), order.len()));
}
