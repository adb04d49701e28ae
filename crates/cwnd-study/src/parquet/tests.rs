use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::Field;
use proptest::prelude::*;

use super::*;

/// Reads a file with the Apache implementation: for every row, its columns as text.
fn read(bytes: Vec<u8>) -> Vec<Vec<(String, String)>> {
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
    let text = |field: &Field| match field {
        Field::Str(text) => format!("{text:?}"),
        other => other.to_string(),
    };
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| row.unwrap().get_column_iter().map(|(name, field)| (name.clone(), text(field))).collect())
        .collect()
}

fn write(columns: &[Column], rows: &[Vec<Value<'_>>]) -> Vec<u8> {
    let mut writer = Writer::with_groups_of(1000, Vec::new(), columns.to_vec()).unwrap();
    for row in rows {
        writer.row(row.iter().copied()).unwrap();
    }
    writer.finish().unwrap()
}

fn column(name: &str, kind: Kind, optional: bool) -> Column {
    Column { name: name.into(), kind, optional }
}

#[test]
fn every_kind_of_column_is_read_back() {
    let columns = [
        column("double", Kind::Double, false),
        column("int", Kind::Int, true),
        column("unsigned", Kind::Unsigned, false),
        column("text", Kind::Text, false),
    ];
    let rows = [
        vec![
            Value::Double(0.1),
            Value::Int(i64::MIN),
            Value::Unsigned(u64::MAX),
            Value::Text("agile-sd:lambda_max=4,beta2=0.9"),
        ],
        vec![Value::Double(-0.0), Value::Absent, Value::Unsigned(0), Value::Text("ελαστικό")],
        vec![Value::Double(f64::INFINITY), Value::Int(1), Value::Unsigned(7), Value::Text("")],
    ];
    let rows = read(write(&columns, &rows));
    let lines: Vec<String> = rows
        .iter()
        .map(|row| row.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" "))
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_file_without_rows_is_a_file() {
    assert!(read(write(&[column("x", Kind::Double, true)], &[])).is_empty());
}

#[test]
#[should_panic(expected = "Absent in Column")]
fn a_required_value_is_required() {
    write(&[column("x", Kind::Int, false)], &[vec![Value::Absent]]);
}

proptest! {
    /// Absent values, runs, dictionaries of every width and plain pages: what is read is what was written.
    #[test]
    fn what_is_read_is_what_was_written(
        stretches in prop::collection::vec((1usize..300, 0i64..5000, any::<bool>(), any::<bool>()), 0..30),
    ) {
        let mut values = Vec::new();
        for (length, start, present, constant) in stretches {
            let step = if constant { 0 } else { 1 };
            values.extend((0..length as i64).map(|i| present.then_some(start + step * i)));
        }
        let rows: Vec<_> = values.iter().map(|v| vec![v.map_or(Value::Absent, Value::Int)]).collect();
        let bytes = write(&[column("x", Kind::Int, true)], &rows);
        let text = |value: &Option<i64>| value.map_or("null".to_owned(), |v| v.to_string());
        let found: Vec<String> = read(bytes).into_iter().map(|row| row[0].1.clone()).collect();
        prop_assert_eq!(found, values.iter().map(text).collect::<Vec<_>>());
    }
}
