use super::*;
use crate::{
    KeptStudy, Provenance,
    runner::{self, Limits},
    store::Store,
    testing::{Toy, simulator, traced},
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
        let limits = Limits { jobs: 1, memory: 1e9 };
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
    assert!(header.ends_with(",trace_sha256"), "{header}");
    let keys: Vec<&str> = csv.lines().skip(1).map(|line| &line[..64]).collect();
    assert!(keys.is_sorted() && keys.len() == 12);
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
