//! The parameter table in the header of each algorithm's file agrees with the registry.

use cwnd_cc::{Parameter, ParameterKind, ParameterValue, all};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A row of a table: the cells after the parameter's name.
type Row = Vec<String>;

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.file_name().is_some_and(|name| name != "tests.rs" && name != "mod.rs") {
            found.push(path);
        }
    }
}

/// Returns the rows of the table in a file's header by parameter.
fn table(text: &str) -> BTreeMap<String, Row> {
    let header = text.lines().map_while(|line| line.strip_prefix("//!"));
    let rows = header.filter_map(|line| line.trim().strip_prefix("| `")?.strip_suffix('|'));
    rows.map(|row| {
        let mut cells = row.split('|').map(|cell| cell.trim().to_string());
        let name = cells.next().unwrap();
        (name.split('`').next().unwrap().to_string(), cells.collect())
    })
    .collect()
}

/// Parses a number such as `1,000` or `410/1024`.
fn number(text: &str) -> Option<f64> {
    let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
    let parse = |text: &str| text.replace(',', "").parse::<f64>().ok();
    Some(parse(numerator)? / parse(denominator)?)
}

/// Returns what is wrong with a row, if anything is.
fn fault(parameter: &Parameter, row: &[String]) -> Option<String> {
    let [default, range, _source] = row else { return Some(format!("{row:?} has not four columns")) };
    let unit = if parameter.unit == "1" { "" } else { parameter.unit };
    let (agrees, expected) = match parameter.kind {
        ParameterKind::Number { default: value, min, max } => {
            let (printed, printed_unit) = default.split_once(' ').unwrap_or((default, ""));
            let limits = range.split_once(" to ").map(|(min, max)| (number(min), number(max)));
            let near = number(printed).is_some_and(|printed| (printed - value).abs() <= 1e-3 * value.abs());
            let same_unit = printed_unit == unit || (printed == "1" && format!("{printed_unit}s") == unit);
            let agrees = near && same_unit && limits == Some((Some(min), Some(max)));
            (agrees, format!("{value} {unit} | {min} to {max}"))
        }
        ParameterKind::Switch { .. } => {
            let value = parameter.kind.default_value().to_string();
            (*default == value && range.is_empty(), format!("{value} |"))
        }
        ParameterKind::Word { default: value, choices } => {
            let choices: Vec<_> = choices.iter().map(|word| format!("`{word}`")).collect();
            let (value, choices) = (format!("`{value}`"), choices.join(", "));
            (*default == value && *range == choices, format!("{value} | {choices}"))
        }
    };
    (!agrees).then(|| format!("the table has `{default} | {range}`, the registry `{expected}`"))
}

#[test]
fn every_header_agrees_with_the_registry() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/algorithms"), &mut files);
    let mut checked = 0;
    let mut faults = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let file = path.file_name().unwrap().to_string_lossy();
        let mut rows = table(&text);
        let described = rows.clone();
        for algorithm in all().iter().filter(|info| text.contains(&format!("    name: \"{}\",\n", info.name)))
        {
            checked += 1;
            for parameter in algorithm.parameters {
                rows.remove(parameter.name);
                match described.get(parameter.name) {
                    Some(row) => faults.extend(
                        fault(parameter, row).map(|fault| format!("{file}, `{}`: {fault}", parameter.name)),
                    ),
                    None => faults.push(format!("{file}: the table lacks `{}`", parameter.name)),
                }
            }
        }
        faults.extend(rows.keys().map(|name| format!("{file}: `{name}` is no parameter")));
    }
    assert!(faults.is_empty(), "correct the tables in src/algorithms:\n{}", faults.join("\n"));
    assert_eq!(
        checked,
        all().len(),
        "every algorithm's file must contain its entry, with the line `name: ...`"
    );
}

#[test]
fn faults_are_found() {
    let kind = ParameterKind::Number { default: 0.5, min: 0.0, max: 1000.0 };
    let parameter = Parameter { name: "a", about: "", unit: "s", kind, source: "" };
    let check = |default: &str, range: &str| {
        fault(&parameter, &[default, range, "paper"].map(String::from)).is_none()
    };
    assert!(check("0.5 s", "0 to 1,000") && check("1/2 s", "0 to 1000"));
    assert!(!check("0.6 s", "0 to 1,000") && !check("0.5 ms", "0 to 1,000") && !check("0.5 s", "0 to 100"));
    let kind = ParameterKind::Switch { default: true };
    let switch = Parameter { kind, ..parameter };
    assert!(fault(&switch, &["on".into(), String::new(), String::new()]).is_none());
    assert!(fault(&switch, &["off".into(), String::new(), String::new()]).is_some());
    assert_eq!(kind.default_value(), ParameterValue::Switch(true));
}
