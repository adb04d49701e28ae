//! From an algorithm's name to what the kernel calls it, and into the kernel with those that it lacks.

use crate::host;
use cwnd_scenario::{AlgorithmSpec, Scenario};
use std::collections::BTreeMap;
#[cfg(feature = "load")]
use std::collections::btree_map::Entry;

/// What the kernel calls some algorithms; the others have the same name there, if it has them. Its CUBIC is the one with HyStart.
const KERNEL_NAMES: [(&str, &str); 2] = [("newreno", "reno"), ("cubic-linux", "cubic")];

/// What must be said of a flow that takes an algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    /// The kernel has it by this name.
    Kernel(String),
    /// It is to be loaded.
    Loaded {
        /// Its name here.
        name: String,
        /// Its parameters.
        parameters: Vec<(String, String)>,
    },
}

/// The algorithms of a scenario in the kernel, for as long as this lives.
pub struct Algorithms {
    /// What the kernel calls that of each flow.
    pub names: Vec<String>,
    #[cfg(feature = "load")]
    _loaded: Vec<cwnd_kernel::load::Loaded>,
}

impl Algorithms {
    /// Load what the kernel lacks.
    ///
    /// # Errors
    /// If it cannot be loaded; what was loaded before is taken away again.
    pub fn load(scenario: &Scenario) -> Result<Algorithms, String> {
        #[cfg(feature = "load")]
        let mut loaded: BTreeMap<String, cwnd_kernel::load::Loaded> = BTreeMap::new();
        let mut names = Vec::new();
        for flow in &scenario.flows {
            match source(&flow.algorithm, &host::available())? {
                Source::Kernel(name) => names.push(name),
                #[cfg(feature = "load")]
                Source::Loaded { name, parameters } => {
                    let algorithm = cwnd_kernel::find_or_explain(&name)?;
                    if let Entry::Vacant(place) = loaded.entry(name) {
                        let one = cwnd_kernel::load::load(algorithm, &parameters);
                        place.insert(one.map_err(|error| error.to_string())?);
                    }
                    names.push(algorithm.kernel_name());
                }
                #[cfg(not(feature = "load"))]
                Source::Loaded { .. } => return Err(cannot_load(&flow.algorithm)),
            }
        }
        Ok(Algorithms {
            names,
            #[cfg(feature = "load")]
            _loaded: loaded.into_values().collect(),
        })
    }
}

/// What is wrong with a scenario's algorithms, a sentence each with the flow that it is about.
pub fn problems(scenario: &Scenario) -> Vec<(usize, String)> {
    let available = host::available();
    let mut problems = Vec::new();
    let mut seen: BTreeMap<&str, &AlgorithmSpec> = BTreeMap::new();
    for (i, flow) in scenario.flows.iter().enumerate() {
        let spec = &flow.algorithm;
        let other = *seen.entry(&spec.name).or_insert(spec);
        if other != spec {
            problems.push((
                i,
                format!(
                    "is `{spec}` where another flow is `{other}`: the kernel has one of a name at a time"
                ),
            ));
        }
        if let Err(why) = source(spec, &available).and_then(|source| check(spec, &source)) {
            problems.push((i, why));
        }
    }
    // Of many flows with the same fault one is enough.
    problems.dedup_by(|next, first| next.1 == first.1);
    problems
}

/// Whether algorithms can be loaded here: how, or why not.
pub fn can_load() -> Result<String, String> {
    #[cfg(feature = "load")]
    {
        let missing = cwnd_kernel::load::missing();
        if missing.is_empty() {
            let names: Vec<&str> = cwnd_kernel::all().iter().map(|algorithm| algorithm.name).collect();
            return Ok(names.join(", "));
        }
        Err(format!("not here; missing is {}", missing.join("; ")))
    }
    #[cfg(not(feature = "load"))]
    Err("this program was built without (--features kernel)".to_owned())
}

/// Where an algorithm comes from. What the kernel has is preferred, unless there are parameters: it has those for all of the host.
fn source(spec: &AlgorithmSpec, available: &[String]) -> Result<Source, String> {
    let parameters: Vec<(String, String)> = spec.parameters.clone().into_iter().collect();
    if let Some(name) = spec.name.strip_suffix("@kernel") {
        return Ok(Source::Loaded { name: name.to_owned(), parameters });
    }
    let other = KERNEL_NAMES.iter().find(|(name, _)| *name == spec.name).map(|(_, kernels)| *kernels);
    let kernels = other.unwrap_or(&spec.name);
    if parameters.is_empty() && available.iter().any(|name| name == kernels) {
        return Ok(Source::Kernel(kernels.to_owned()));
    }
    Ok(Source::Loaded { name: spec.name.clone(), parameters })
}

#[cfg(feature = "load")]
fn check(spec: &AlgorithmSpec, source: &Source) -> Result<(), String> {
    let Source::Loaded { name, parameters } = source else { return Ok(()) };
    let Some(algorithm) = cwnd_kernel::find(name) else {
        let names: Vec<&str> = cwnd_kernel::all().iter().map(|algorithm| algorithm.name).collect();
        return Err(format!(
            "is `{spec}`, which this kernel does not have and which cannot be loaded; it has {}, and {} can be loaded",
            host::available().join(", "),
            names.join(", ")
        ));
    };
    algorithm.values(parameters)?;
    let kernels = algorithm.kernel_name();
    if host::available().contains(&kernels) {
        return Err(format!(
            "is `{spec}`, and {kernels} is loaded already, with parameters that may be others: `cwnd kernel unload {name}` first"
        ));
    }
    let missing = cwnd_kernel::load::missing();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!("is `{spec}`, which would have to be loaded, and missing is {}", missing.join("; ")))
}

#[cfg(not(feature = "load"))]
fn check(spec: &AlgorithmSpec, source: &Source) -> Result<(), String> {
    match source {
        Source::Kernel(_) => Ok(()),
        Source::Loaded { .. } => Err(cannot_load(spec)),
    }
}

#[cfg(not(feature = "load"))]
fn cannot_load(spec: &AlgorithmSpec) -> String {
    format!(
        "is `{spec}`, which this kernel does not have (it has {}), and this program was built without those that can be \
         loaded: --features kernel",
        host::available().join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source_of(spec: &str) -> Source {
        let available = ["reno", "cubic", "vegas"].map(str::to_owned);
        source(&spec.parse().unwrap(), &available).unwrap()
    }

    #[test]
    fn the_kernels_own_are_preferred_unless_there_are_parameters() {
        assert_eq!(source_of("newreno"), Source::Kernel("reno".into()));
        assert_eq!(source_of("cubic"), Source::Kernel("cubic".into()));
        assert_eq!(source_of("cubic-linux"), Source::Kernel("cubic".into()));
        assert_eq!(source_of("vegas"), Source::Kernel("vegas".into()));
        let loaded = |name: &str, parameters: &[(&str, &str)]| {
            let parameters = parameters.iter().map(|(name, value)| (name.to_string(), value.to_string()));
            Source::Loaded { name: name.into(), parameters: parameters.collect() }
        };
        assert_eq!(source_of("vegas@kernel"), loaded("vegas", &[]));
        assert_eq!(source_of("elastic"), loaded("elastic", &[]));
        assert_eq!(source_of("vegas:alpha=3"), loaded("vegas", &[("alpha", "3")]));
    }
}
