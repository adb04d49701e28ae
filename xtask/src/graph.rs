//! The crate graph: which crate imports which, as `docs/figures/crates.dot` and the SVG that Graphviz draws from it. And the
//! modules of each crate, which must form no circle.

mod modules;

use crate::command::{install, output, root, succeeds};
use crate::json;
use crate::options::Options;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Options of the chore.
pub const OPTIONS: &str = "[--check]";

const DOT: &str = "docs/figures/crates.dot";
const SVG: &str = "docs/figures/crates.svg";

/// Draws the graph; with `--check`, compares the committed description with the crates' manifests instead, and checks the
/// modules of each crate.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let options = Options::new(arguments, &[], &["--check"])?;
    let dot = describe(&imports(&json::metadata()?));
    let path = root().join(DOT);
    if options.has("--check") {
        let current = std::fs::read_to_string(&path).is_ok_and(|committed| committed == dot);
        println!("{DOT} {}", if current { "is current" } else { "is stale: run `cargo xtask graph`" });
        return Ok(modules::check()? && current);
    }
    std::fs::write(&path, dot).map_err(|error| format!("{DOT}: {error}"))?;
    if !succeeds(Command::new("dot").arg("-V")) {
        install("graphviz")?;
    }
    let svg = output(Command::new("dot").arg("-Tsvg").arg(&path))?;
    // The comment names the version of Graphviz, which differs from machine to machine.
    let svg = svg.find("<svg").map_or(svg.as_str(), |start| &svg[start..]);
    std::fs::write(root().join(SVG), svg).map_err(|error| format!("{SVG}: {error}"))?;
    println!("{DOT}\n{SVG}");
    Ok(true)
}

/// Returns each crate under `crates/` with the crates of the workspace that it depends on, without development
/// dependencies.
fn imports(metadata: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages
        .filter(|package| text(&package["name"]).starts_with("cwnd"))
        .map(|package| {
            let dependencies = package["dependencies"].as_array().into_iter().flatten();
            let names = dependencies
                .filter(|dependency| dependency["kind"].is_null() && dependency["path"].is_string())
                .map(|dependency| text(&dependency["name"]));
            (text(&package["name"]), names.collect())
        })
        .collect()
}

/// Returns the graph in Graphviz's language, without the imports that others imply.
fn describe(imports: &BTreeMap<String, BTreeSet<String>>) -> String {
    let mut dot = "digraph crates {\n  rankdir=TB; ranksep=0.45; nodesep=0.3; bgcolor=white;\n  \
                   node [shape=box, style=\"rounded,filled\", fillcolor=\"#eef3f8\", color=\"#0b6fa4\", \
                   fontname=\"DejaVu Sans,Verdana,Arial,sans-serif\", fontsize=12];\n  \
                   edge [color=\"#555555\", arrowsize=0.7];\n"
        .to_owned();
    for (name, used) in imports {
        dot += &format!("  \"{name}\";\n");
        for import in used {
            let implied = used.iter().any(|other| other != import && reaches(imports, other, import));
            if !implied {
                dot += &format!("  \"{name}\" -> \"{import}\";\n");
            }
        }
    }
    dot + "}\n"
}

fn reaches(imports: &BTreeMap<String, BTreeSet<String>>, from: &str, to: &str) -> bool {
    imports.get(from).is_some_and(|used| used.iter().any(|next| next == to || reaches(imports, next, to)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(&str, &[&str])]) -> BTreeMap<String, BTreeSet<String>> {
        let set = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        edges.iter().map(|(name, used)| ((*name).to_owned(), set(used))).collect()
    }

    #[test]
    fn implied_imports_are_left_out() {
        let dot = describe(&graph(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])]));
        assert!(dot.contains("\"a\" -> \"b\"") && dot.contains("\"b\" -> \"c\""));
        assert!(!dot.contains("\"a\" -> \"c\""));
    }
}
