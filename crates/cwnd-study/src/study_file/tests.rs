//! Study files that are right, wrong, and arbitrary.

use super::*;

/// Knows a few algorithms, and one parameter.
pub(super) fn check(spec: &AlgorithmSpec) -> Result<(), String> {
    let known = ["agile-sd", "cubic", "cubic-2008", "elastic", "compound-ns2", "compound", "newreno"];
    if !known.contains(&spec.name.as_str()) {
        return Err(format!("there is no algorithm `{}`", spec.name));
    }
    match spec.parameters.keys().find(|name| *name != "lambda_max") {
        Some(name) => Err(format!("`{}` has no parameter `{name}`", spec.name)),
        None => Ok(()),
    }
}

#[test]
fn the_studies_of_the_repository_are_right() {
    let studies = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    for path in ["agile-sd/throughput", "agile-sd/cwnd", "elastic/cwnd"] {
        let file = studies.join(path).with_extension("toml");
        let study = Study::load(&file, &check).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(study.name, path);
    }
}
