//! Lines of code of the algorithms in Elastic-TCP's table II.
//!
//! A line counts if it has more than a comment on it and is no part of a test. The parameter table and the registry entry
//! count. The parts that an algorithm uses are counted beside it, because other algorithms share them. The window, the
//! events and the registry do not count, nor does code that only shows an algorithm's state (`snapshot.rs`).

use super::{Column, DescriptiveTable};

/// An algorithm in the paper and here.
struct Entry {
    /// The paper's name, and how many lines it prints.
    variant: &'static str,
    printed: u32,
    /// Our name.
    algorithm: &'static str,
    /// Path and text of its own files, and of the parts that it and these parts use.
    own: &'static [(&'static str, &'static str)],
    parts: &'static [(&'static str, &'static str)],
}

macro_rules! files {
    ($($path:literal),*) => {
        &[$(($path, include_str!(concat!("../../../cwnd-cc/src/", $path)))),*]
    };
}

static ENTRIES: [Entry; 5] = [
    Entry {
        variant: "TCP-BBR",
        printed: 553,
        algorithm: "bbr",
        own: files!["algorithms/bbr.rs", "algorithms/bbr/control.rs"],
        parts: files!["parts/candidate_max.rs", "parts/draws.rs", "parts/round_max.rs"],
    },
    Entry {
        variant: "CUBIC",
        printed: 342,
        algorithm: "cubic-2008",
        own: files!["algorithms/cubic/v2008.rs", "algorithms/cubic/epoch.rs"],
        parts: files![],
    },
    Entry {
        variant: "C-TCP",
        printed: 219,
        algorithm: "compound",
        own: files!["algorithms/compound.rs"],
        parts: files!["parts/backlog.rs", "parts/prior_state.rs", "parts/round.rs"],
    },
    Entry {
        variant: "Elastic-TCP",
        printed: 149,
        algorithm: "elastic",
        own: files!["algorithms/elastic.rs"],
        parts: files![],
    },
    Entry {
        variant: "Agile-SD",
        printed: 115,
        algorithm: "agile-sd",
        own: files!["algorithms/agile_sd.rs"],
        parts: files![],
    },
];

/// Counts the lines of code of several files.
fn count_all(files: &[(&str, &str)]) -> usize {
    files.iter().map(|(_, text)| count(text)).sum()
}

/// Counts the lines of code of a file. Its tests are a module at its end or in a file of their own.
fn count(text: &str) -> usize {
    let (mut count, mut lines) = (0, text.lines());
    while let Some(line) = lines.next() {
        if line == "#[cfg(test)]" {
            // `mod tests {` to the end of the file, or `mod tests;`.
            if lines.next().is_some_and(|line| line.ends_with('{')) {
                break;
            }
            continue;
        }
        let line = line.trim_start();
        count += usize::from(!line.is_empty() && !line.starts_with("//"));
    }
    count
}

pub(super) fn elastic() -> DescriptiveTable {
    let row = |entry: &Entry| {
        let own = count_all(entry.own);
        vec![
            entry.variant.into(),
            entry.printed.to_string(),
            format!("`{}`", entry.algorithm),
            own.to_string(),
            (own + count_all(entry.parts)).to_string(),
        ]
    };
    DescriptiveTable {
        name: "elastic-table-2",
        title: "Lines of code of the algorithms",
        source: "Elastic-TCP, table II",
        columns: vec![
            Column::words("variant"),
            Column::numbers("printed"),
            Column::words("here"),
            Column::numbers("lines here"),
            Column::numbers("with its parts"),
        ],
        rows: ENTRIES.iter().map(row).collect(),
        notes: vec![
            "Counted here, when the program is built: lines that have more than a comment on them, without tests. The last \
             column has the filters and estimators too that an algorithm shares with others."
                .into(),
            "The paper counts Linux modules in C and does not say by which rule. Here a parameter table and the registry's \
             entry are part of an algorithm; `cubic-2008` has the kernel's integer arithmetic beside the real-valued one, \
             and `compound` two entries."
                .into(),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_algorithm_is_counted() {
        for (row, entry) in elastic().rows.iter().zip(&ENTRIES) {
            let [own, all] = [3, 4].map(|i: usize| row[i].parse::<u32>().unwrap());
            assert!(own > 50 && all >= own, "{}", entry.algorithm);
            assert!(cwnd_cc::find(entry.algorithm).is_some(), "{}", entry.algorithm);
        }
    }

    #[test]
    fn comments_blank_lines_and_tests_do_not_count() {
        let text =
            "//! A file.\n\nuse a::b;\n\n/// What it does.\npub fn f() { // two\n    // why\n    g()\n}\n";
        assert_eq!(count(text), 4);
        assert_eq!(count("#[cfg(test)]\nmod tests;\n\nuse a;\nconst B: u8 = 1;"), 2);
        assert_eq!(count("use a;\n\n#[cfg(test)]\nmod tests {\n    use b;\n}\n"), 1);
        assert_eq!(count(""), 0);
    }

    /// Adds the parts that files use, and the parts that those use, to `found`.
    fn add_parts(files: &[(&str, &str)], found: &mut Vec<String>) {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cwnd-cc/src");
        for (path, text) in files {
            let is_part = path.starts_with("parts/");
            let prefix = if is_part { "use super::" } else { "crate::parts::" };
            for line in text.lines().take_while(|line| *line != "#[cfg(test)]" || !is_part) {
                let Some((_, rest)) = line.split_once(prefix) else { continue };
                let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                assert!(!name.is_empty(), "{path}: {line}");
                let part = format!("parts/{name}.rs");
                if !found.contains(&part) {
                    let text = std::fs::read_to_string(source.join(&part)).unwrap();
                    found.push(part.clone());
                    add_parts(&[(&part, &text)], found);
                }
            }
        }
    }

    #[test]
    fn no_part_of_an_algorithm_is_left_out() {
        for entry in &ENTRIES {
            let mut found = Vec::new();
            add_parts(entry.own, &mut found);
            found.sort();
            let mut listed: Vec<_> = entry.parts.iter().map(|(path, _)| *path).collect();
            listed.sort();
            assert_eq!(found, listed, "{}", entry.algorithm);
        }
    }
}
