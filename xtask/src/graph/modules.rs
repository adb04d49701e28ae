//! The modules of each crate: their imports must form no circle.
//!
//! A module is a top-level module of a crate's `src/`, with all files below it. An import is a path that begins with
//! `crate::`, or a `super::` path that leads there, and names another top-level module or something that `lib.rs` or
//! `main.rs` re-exports from one. What these two files declare themselves belongs to no module.

use crate::command::root;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The imports of modules: for each module those that it imports.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// Checks all crates, and prints each circle. Returns whether there is none.
pub fn check() -> Result<bool, String> {
    let crates = root().join("crates");
    let read = std::fs::read_dir(&crates).map_err(|error| format!("{}: {error}", crates.display()))?;
    let mut names: Vec<String> =
        read.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    let mut passed = true;
    for name in names {
        let source = crates.join(&name).join("src");
        if !source.is_dir() {
            continue;
        }
        if let Some(circle) = circle(&imports(&source)?) {
            passed = false;
            println!("{name}: modules in a circle: {}", circle.join(" -> "));
        }
    }
    println!("{}", if passed { "no crate has a circle of modules" } else { "modules must form no circle" });
    Ok(passed)
}

/// Reads the imports of a crate's top-level modules.
fn imports(source: &Path) -> Result<Imports, String> {
    let mut files = Vec::new();
    walk(source, &mut files)?;
    let module = |path: &Path| {
        let first = path.strip_prefix(source).ok()?.components().next()?;
        Some(first.as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned())
    };
    let is_root = |name: &str| ["lib", "main", "bin"].contains(&name);
    let names: BTreeSet<String> =
        files.iter().filter_map(|path| module(path)).filter(|name| !is_root(name)).collect();
    let mut imports: Imports = names.iter().map(|name| (name.clone(), BTreeSet::new())).collect();
    let mut exports = BTreeMap::new();
    for root in files.iter().filter(|path| module(path).is_some_and(|name| is_root(&name))) {
        let text = std::fs::read_to_string(root).map_err(|error| format!("{}: {error}", root.display()))?;
        exports.extend(re_exports(&text).into_iter().filter(|(_, module)| names.contains(module)));
    }
    for path in &files {
        let Some(own) = module(path).filter(|name| names.contains(name)) else { continue };
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let depth = path.strip_prefix(source).map_or(1, |path| path.components().count());
        let depth = if path.file_name().is_some_and(|name| name == "mod.rs") { depth - 1 } else { depth };
        let used = paths(&text, depth);
        let used = used.into_iter().map(|name| exports.get(&name).cloned().unwrap_or(name));
        let used = used.filter(|name| *name != own && names.contains(name));
        imports.entry(own.clone()).or_default().extend(used);
    }
    Ok(imports)
}

fn walk(directory: &Path, files: &mut Vec<std::path::PathBuf>) -> Result<(), String> {
    let read = std::fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    for path in read.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            walk(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && path.file_stem().is_none_or(|stem| stem != "tests")
        {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns the top-level modules that a file of a module at this depth names (1: `src/a.rs`, 2: `src/a/b.rs`).
fn paths(text: &str, depth: usize) -> BTreeSet<String> {
    let code = without_comments_and_tests(text);
    // `super` once more than the depth would leave the crate; exactly the depth leads to its root.
    let up = "super::".repeat(depth);
    let mut found = BTreeSet::new();
    for prefix in ["crate::", up.as_str()] {
        for (at, _) in code.match_indices(prefix) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':' || c == '$') {
                continue;
            }
            found.extend(heads(&code[at + prefix.len()..]).into_iter().filter(|name| !name.is_empty()));
        }
    }
    found
}

/// Returns the names that a crate's root imports, each with the first module of its path.
fn re_exports(text: &str) -> BTreeMap<String, String> {
    let code = without_comments_and_tests(text);
    let mut found = BTreeMap::new();
    for (at, _) in code.match_indices("use ") {
        let path = code[at + 4..].split(';').next().unwrap_or_default();
        let Some((module, rest)) = path.trim_start_matches("crate::").split_once("::") else { continue };
        let names = rest.split(['{', '}', ',', ':']).map(|name| name.rsplit(" as ").next().unwrap_or(name));
        found.extend(names.map(|name| (name.trim().to_owned(), module.trim().to_owned())));
    }
    found
}

/// Returns the first names of a path: one, or those of a group in braces.
fn heads(rest: &str) -> Vec<String> {
    let name = |text: &str| {
        let text = text.trim_start();
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        text[..end].to_owned()
    };
    let Some(group) = rest.strip_prefix('{') else { return vec![name(rest)] };
    let (mut depth, mut names, mut begin) = (0, Vec::new(), 0);
    for (i, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                names.push(name(&group[begin..i]));
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                names.push(name(&group[begin..i]));
                begin = i + 1;
            }
            _ => {}
        }
    }
    names
}

/// Removes line comments, and everything from the unit tests on, which stand last in a file.
fn without_comments_and_tests(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// Returns a circle of imports, its first module again at the end, if there is one.
fn circle(imports: &Imports) -> Option<Vec<String>> {
    fn visit<'a>(
        module: &'a str,
        imports: &'a Imports,
        path: &mut Vec<&'a str>,
        done: &mut BTreeSet<&'a str>,
    ) -> Option<Vec<String>> {
        if let Some(begin) = path.iter().position(|on_path| *on_path == module) {
            return Some(path[begin..].iter().chain([&module]).map(|name| (*name).to_owned()).collect());
        }
        if !done.insert(module) {
            return None;
        }
        path.push(module);
        let found = imports[module].iter().find_map(|next| visit(next, imports, path, done));
        path.pop();
        found
    }
    let mut done = BTreeSet::new();
    imports.keys().find_map(|module| visit(module, imports, &mut Vec::new(), &mut done))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(&str, &[&str])]) -> Imports {
        let set = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        edges.iter().map(|(name, used)| ((*name).to_owned(), set(used))).collect()
    }

    #[test]
    fn finds_a_circle_behind_a_module_that_is_not_in_it() {
        let found = circle(&graph(&[("a", &["b"]), ("b", &["c"]), ("c", &["d"]), ("d", &["b"])]));
        assert_eq!(found.unwrap(), ["b", "c", "d", "b"]);
        assert_eq!(circle(&graph(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])])), None);
    }

    #[test]
    fn a_re_exported_name_belongs_to_its_module() {
        let text = "mod net;\npub use net::{Net, link::Link as Wire};\npub(crate) use crate::host::Host;\n";
        let exports = re_exports(text);
        let module = |name: &str| exports.get(name).map(String::as_str);
        assert_eq!([module("Net"), module("Wire"), module("Host")], [Some("net"), Some("net"), Some("host")]);
        assert_eq!(module("mod"), None);
    }

    #[test]
    fn paths_are_read_from_code_alone() {
        let text = "use crate::{\n    net::Net,\n    ring::{self, Ring},\n};\n// crate::graph::Graph\n\
                    fn f() -> crate::host::Host {}\nuse super::link::Link;\nuse super::super::merge::Merge;\n\
                    #[cfg(test)]\nmod tests {\n    use crate::setup;\n}\n";
        let names = |depth| paths(text, depth).into_iter().collect::<Vec<_>>();
        assert_eq!(names(1), ["host", "link", "net", "ring", "super"]);
        assert_eq!(names(2), ["host", "merge", "net", "ring"]);
    }
}
