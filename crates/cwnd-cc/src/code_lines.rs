//! How many lines of code an algorithm is, counted when it is compiled.
//!
//! The rule: every line of the algorithm's own files that has more than a comment on it, without tests. Documentation is
//! a comment; the parameter table and the registry's entry are code. The parts that it is composed of are counted beside
//! it, since others share them; what every algorithm stands on (the window, the events, the registry) is not, nor what
//! only shows an algorithm's state to others (`snapshot.rs`).

/// The code of one algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeLines {
    /// Its name in the registry.
    pub algorithm: &'static str,
    /// Its own files.
    pub own: &'static [SourceFile],
    /// The parts that it uses, and the parts that those use.
    pub parts: &'static [SourceFile],
}

/// A file under `crates/cwnd-cc/src/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path there.
    pub path: &'static str,
    /// Its lines of code.
    pub lines: u32,
}

impl CodeLines {
    /// Lines of its own files.
    pub fn own_lines(&self) -> u32 {
        self.own.iter().map(|file| file.lines).sum()
    }

    /// The same with the parts.
    pub fn lines_with_parts(&self) -> u32 {
        self.own_lines() + self.parts.iter().map(|file| file.lines).sum::<u32>()
    }
}

/// The code of an algorithm, of those that are counted: the ones of Elastic-TCP's table II.
pub fn of(algorithm: &str) -> Option<&'static CodeLines> {
    COUNTED.iter().find(|code| code.algorithm == algorithm)
}

macro_rules! files {
    ($($path:literal),*) => {
        &[$(SourceFile { path: $path, lines: count(include_str!($path)) }),*]
    };
}

static COUNTED: &[CodeLines] = &[
    CodeLines {
        algorithm: "bbr",
        own: files!["algorithms/bbr.rs", "algorithms/bbr/control.rs"],
        parts: files!["parts/draws.rs", "parts/round_max.rs"],
    },
    CodeLines {
        algorithm: "cubic-2008",
        own: files!["algorithms/cubic/v2008.rs", "algorithms/cubic/epoch.rs"],
        parts: files![],
    },
    CodeLines {
        algorithm: "compound",
        own: files!["algorithms/compound.rs"],
        parts: files!["parts/backlog.rs", "parts/round.rs"],
    },
    CodeLines { algorithm: "elastic", own: files!["algorithms/elastic.rs"], parts: files![] },
    CodeLines { algorithm: "agile-sd", own: files!["algorithms/agile_sd.rs"], parts: files![] },
];

/// Lines of code of a file. Tests are the last thing in a file, or a module in a file of its own.
const fn count(text: &str) -> u32 {
    let text = text.as_bytes();
    let (mut lines, mut at) = (0, 0);
    while at < text.len() {
        let start = at;
        let end = end_of_line(text, start);
        at = end + 1;
        if starts_with(text, start, b"#[cfg(test)]") {
            // `mod tests {` to the end of the file, or `mod tests;`.
            let end = end_of_line(text, at);
            if end > 0 && text[end - 1] == b'{' {
                return lines;
            }
            at = end + 1;
            continue;
        }
        let mut first = start;
        while first < end && (text[first] == b' ' || text[first] == b'\t') {
            first += 1;
        }
        if first < end && !starts_with(text, first, b"//") {
            lines += 1;
        }
    }
    lines
}

const fn end_of_line(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while at < text.len() && text[at] != b'\n' {
        at += 1;
    }
    at
}

const fn starts_with(text: &[u8], from: usize, what: &[u8]) -> bool {
    let mut i = 0;
    while i < what.len() {
        if from + i >= text.len() || text[from + i] != what[i] {
            return false;
        }
        i += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    extern crate std;

    #[test]
    fn comments_blank_lines_and_tests_do_not_count() {
        let text =
            "//! A file.\n\nuse a::b;\n\n/// What it does.\npub fn f() { // two\n    // why\n    g()\n}\n";
        assert_eq!(count(text), 4);
        assert_eq!(count("#[cfg(test)]\nmod tests;\n\nuse a;\nconst B: u8 = 1;"), 2);
        assert_eq!(count("use a;\n\n#[cfg(test)]\nmod tests {\n    use b;\n}\n"), 1);
        assert_eq!(count(""), 0);
    }

    fn read(path: &str) -> String {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(path);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The parts that files name, and those that these name.
    fn parts_of(paths: &[&str], found: &mut Vec<String>) {
        for path in paths {
            let text = read(path);
            let within = if path.starts_with("parts/") { "use super::" } else { "crate::parts::" };
            for line in text.lines().take_while(|line| *line != "#[cfg(test)]" || !path.starts_with("parts/"))
            {
                let Some((_, rest)) = line.split_once(within) else { continue };
                let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let part = alloc::format!("parts/{name}.rs");
                assert!(!name.is_empty(), "{path}: {line}");
                if !found.contains(&part) {
                    found.push(part.clone());
                    parts_of(&[&part], found);
                }
            }
        }
    }

    #[test]
    fn no_file_of_an_algorithm_is_left_out() {
        for code in COUNTED {
            assert!(crate::find(code.algorithm).is_some(), "{}", code.algorithm);
            let own: Vec<&str> = code.own.iter().map(|file| file.path).collect();
            let mut found = Vec::new();
            parts_of(&own, &mut found);
            found.sort();
            let mut listed: Vec<String> = code.parts.iter().map(|file| file.path.to_string()).collect();
            listed.sort();
            assert_eq!(found, listed, "{}", code.algorithm);
            for file in code.own.iter().chain(code.parts) {
                assert!(file.lines > 10, "{file:?}");
                assert_eq!(file.lines, count(&read(file.path)), "{}", file.path);
            }
        }
    }
}
