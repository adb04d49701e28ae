//! The SBOM: every crate that is in the binary, in CycloneDX's JSON.

use crate::command::{cargo, output};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the SBOM of the program for a target: its crates with version, licence, source and what each depends on. Crates that only
/// tests or build scripts use are left out.
pub fn describe(version: &str, target: &str) -> Result<String, String> {
    let mut cargo = cargo();
    cargo.args(["metadata", "--format-version", "1", "--locked", "--filter-platform", target]);
    let metadata: Value =
        serde_json::from_str(&output(&mut cargo)?).map_err(|error| format!("cargo metadata: {error}"))?;
    let document = document(&metadata, version)?;
    Ok(format!("{document:#}\n"))
}

fn document(metadata: &Value, version: &str) -> Result<Value, String> {
    let items = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let packages: BTreeMap<String, Value> =
        items(&metadata["packages"]).into_iter().map(|package| (text(&package["id"]), package)).collect();
    let edges: BTreeMap<String, Vec<String>> = items(&metadata["resolve"]["nodes"])
        .iter()
        .map(|node| {
            let used = items(&node["deps"]).into_iter().filter(|dependency| {
                items(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null())
            });
            (text(&node["id"]), used.map(|dependency| text(&dependency["pkg"])).collect())
        })
        .collect();
    let root = packages.iter().find(|(_, package)| package["name"] == "cwnd" && package["source"].is_null());
    let (root, _) = root.ok_or("the workspace has no package `cwnd`")?;
    let mut reached = BTreeSet::from([root.clone()]);
    let mut next = vec![root.clone()];
    while let Some(id) = next.pop() {
        for used in edges.get(&id).into_iter().flatten() {
            if reached.insert(used.clone()) {
                next.push(used.clone());
            }
        }
    }
    let reference = |id: &String| packages.get(id).map(address).unwrap_or_default();
    let component = |id: &String| {
        let package = &packages[id];
        json!({
            "type": if id == root { "application" } else { "library" },
            "bom-ref": address(package),
            "name": package["name"],
            "version": package["version"],
            "purl": address(package),
            "licenses": [{ "expression": text(&package["license"]).replace('/', " OR ") }],
        })
    };
    let dependencies = reached.iter().map(|id| {
        let used: Vec<String> = edges.get(id).into_iter().flatten().map(reference).collect();
        json!({ "ref": reference(id), "dependsOn": used })
    });
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": component(root),
            "tools": { "components": [{ "type": "application", "name": "cargo xtask dist", "version": version }] },
        },
        "components": reached.iter().filter(|id| *id != root).map(component).collect::<Vec<_>>(),
        "dependencies": dependencies.collect::<Vec<_>>(),
    }))
}

/// Returns the package URL of a crate.
fn address(package: &Value) -> String {
    format!("pkg:cargo/{}@{}", text(&package["name"]), text(&package["version"]))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_what_the_program_links_and_nothing_else() {
        let package = |name: &str, source: Value| json!({ "id": name, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0", "source": source });
        let used = |name: &str, kind: Value| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] });
        let metadata = json!({
            "packages": [
                package("cwnd", Value::Null),
                package("a", json!("registry")),
                package("b", json!("registry")),
                package("test-only", json!("registry")),
            ],
            "resolve": { "nodes": [
                { "id": "cwnd", "deps": [used("a", Value::Null), used("test-only", json!("dev"))] },
                { "id": "a", "deps": [used("b", Value::Null)] },
                { "id": "b", "deps": [] },
            ] },
        });
        let document = document(&metadata, "1.0.0").unwrap();
        let names: Vec<&Value> =
            document["components"].as_array().unwrap().iter().map(|c| &c["name"]).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(document["components"][0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(
            document["dependencies"][0],
            json!({ "ref": "pkg:cargo/a@1.0.0", "dependsOn": ["pkg:cargo/b@1.0.0"] })
        );
    }
}
