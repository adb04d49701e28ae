//! The mutants that there are, and a sample of them.

use serde_json::Value;
use std::collections::BTreeMap;

/// One change of the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Mutant {
    /// As `cargo mutants` writes it, with line and column.
    pub shown: String,
    /// Without line and column, but counted where a function has several of the same: it stays the same when
    /// something else is edited.
    pub name: String,
}

/// The mutants of a list in JSON, in its order.
pub fn number(list: &str) -> Result<Vec<Mutant>, String> {
    let list: Vec<Value> =
        serde_json::from_str(list).map_err(|error| format!("the list of mutants: {error}"))?;
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let mutants = list.iter().map(|mutant| {
        let text = |path: &str| mutant.pointer(path).map(|value| value.to_string().replace('"', ""));
        let parts =
            (mutant["name"].as_str(), text("/file"), text("/span/start/line"), text("/span/start/column"));
        let (Some(shown), Some(file), Some(line), Some(column)) = parts else {
            return Err(format!("a mutant without name, file or place: {mutant}"));
        };
        let place = format!("{file}:{line}:{column}: ");
        let change = shown
            .strip_prefix(&place)
            .ok_or_else(|| format!("the mutant \"{shown}\" does not begin with \"{place}\""))?;
        let plain = format!("{file}: {change}");
        let count = seen.entry(plain.clone()).or_insert(0);
        *count += 1;
        let name = if *count == 1 { plain } else { format!("{plain} ({count})") };
        Ok(Mutant { shown: shown.to_owned(), name })
    });
    mutants.collect()
}

/// `size` mutants: those whose names give the least numbers with this seed.
pub fn sample(mutants: Vec<Mutant>, seed: u64, size: usize) -> Vec<Mutant> {
    let mut numbered: Vec<(u64, usize, Mutant)> = mutants
        .into_iter()
        .enumerate()
        .map(|(place, mutant)| (draw(seed, &mutant.name), place, mutant))
        .collect();
    numbered.sort_by_key(|&(number, place, _)| (number, place));
    numbered.truncate(size);
    numbered.sort_by_key(|&(_, place, _)| place);
    numbered.into_iter().map(|(_, _, mutant)| mutant).collect()
}

/// A number by name and seed: FNV-1a of the name, and two rounds of SplitMix64.
fn draw(seed: u64, name: &str) -> u64 {
    let fnv = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    split_mix(split_mix(seed) ^ name.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, fnv))
}

fn split_mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A configuration of `cargo mutants` that has it try these and no others.
pub fn config(mutants: &[Mutant]) -> String {
    let line = |mutant: &Mutant| {
        // A string of JSON is a string of TOML as well.
        let pattern = Value::from(format!("^{}$", escaped(&mutant.shown)));
        format!("    {pattern},\n")
    };
    format!("examine_re = [\n{}]\n", mutants.iter().map(line).collect::<String>())
}

/// A regular expression for exactly this text.
fn escaped(text: &str) -> String {
    let mut pattern = String::new();
    for letter in text.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(letter) {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"[
        {"name": "a.rs:3:9: replace + with - in f", "file": "a.rs", "span": {"start": {"line": 3, "column": 9}}},
        {"name": "a.rs:4:7: replace + with - in f", "file": "a.rs", "span": {"start": {"line": 4, "column": 7}}},
        {"name": "b.rs:1:1: delete ! in g", "file": "b.rs", "span": {"start": {"line": 1, "column": 1}}}
    ]"#;

    #[test]
    fn names_tell_no_line() {
        let names: Vec<String> = number(LIST).unwrap().into_iter().map(|mutant| mutant.name).collect();
        let wanted =
            ["a.rs: replace + with - in f", "a.rs: replace + with - in f (2)", "b.rs: delete ! in g"];
        assert_eq!(names, wanted);
        assert_eq!(
            number(r#"[{"name": "f"}]"#).unwrap_err(),
            "a mutant without name, file or place: {\"name\":\"f\"}"
        );
    }

    #[test]
    fn a_sample_is_decided_by_its_seed() {
        let many = |first: u32| {
            let mutant = |i| Mutant { shown: format!("{i}"), name: format!("mutant {i}") };
            (first..100).map(mutant).collect::<Vec<_>>()
        };
        let drawn = sample(many(0), 1, 20);
        assert_eq!((drawn.len(), &drawn), (20, &sample(many(0), 1, 20)));
        assert_ne!(drawn, sample(many(0), 2, 20));
        // Without the first ten mutants, those of the others that were drawn still are.
        let later = sample(many(10), 1, 20);
        assert!(drawn.iter().filter(|mutant| many(10).contains(mutant)).all(|mutant| later.contains(mutant)));
        assert_eq!(sample(many(0), 1, 1_000).len(), 100);
    }

    /// The first output of SplitMix64 for the seed 1234567, as the generator's author prints it.
    #[test]
    fn the_numbers_are_those_of_splitmix64() {
        assert_eq!(split_mix(1_234_567), 6_457_827_717_110_365_317);
    }

    #[test]
    fn patterns_match_nothing_else() {
        assert_eq!(escaped("a.rs:1:2: f -> (x)"), r"a\.rs:1:2: f \-> \(x\)");
        let config = config(&number(LIST).unwrap()[2..]);
        assert_eq!(config, "examine_re = [\n    \"^b\\\\.rs:1:1: delete ! in g$\",\n]\n");
    }
}
