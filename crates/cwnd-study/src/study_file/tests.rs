//! Study files that are right, wrong, and arbitrary.

mod broken;
mod distributions;
mod engines;
mod networks;
mod papers;
mod right;
mod schema;
mod sizes;
mod stated;

use super::*;

/// Knows a few algorithms, and one parameter.
fn check(named: Named<'_>) -> Result<(), String> {
    let spec = match named {
        Named::Algorithm(spec) => spec,
        Named::Model("epoch") => return Ok(()),
        Named::Model(name) => return Err(format!("there is no model `{name}`")),
        Named::State { name: "lambda", of } if of.contains(&"agile-sd") => return Ok(()),
        Named::State { name, of } => return Err(format!("no `state.{name}` of {}", of.join(", "))),
    };
    let known = ["agile-sd", "cubic", "cubic-2008", "elastic", "compound-ns2", "compound", "newreno"];
    if !known.contains(&spec.name.as_str()) {
        return Err(format!("there is no algorithm `{}`", spec.name));
    }
    match spec.parameters.keys().find(|name| *name != "lambda_max") {
        Some(name) => Err(format!("`{}` has no parameter `{name}`", spec.name)),
        None => Ok(()),
    }
}

/// A study with these lines after its title and question.
fn parse(lines: &str) -> Result<Study, StudyError> {
    let text = format!("title = \"A study\"\nquestion = \"What if?\"\n{lines}");
    Study::parse("a-study", "a-study.toml", &text, &check)
}
