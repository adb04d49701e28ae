//! From an algorithm's name to what runs it in the kernel, and into the kernel with those that it lacks.
//!
//! A name means the same algorithm in every engine. Of three the kernel's own implementation is that algorithm, and is taken
//! ([`KERNELS_OWN`]), but not with parameters: the kernel has one setting for the whole host. All others are loaded as BPF, each
//! under a private name: nothing that the host has loaded is used, and nobody else's sockets change. Only a name that ends in
//! `@host` (`cdg@host`) means whatever the host's kernel has by that name.

use crate::host;
use crate::module_states::ModuleState;
use crate::states::{FlowStates, StateReader};
#[cfg(feature = "load")]
use crate::states::{LoadedState, is_readable};
use cwnd_scenario::{AlgorithmSpec, Implementation, Scenario};
use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Algorithms of which the kernel's own implementation is the one that is meant, and its name there. Linux's CUBIC is that of
/// RFC 8312 with HyStart, and the name `cubic` means that of RFC 9438; its BBR is version 1.
const KERNELS_OWN: [(&str, &str); 3] = [("newreno", "reno"), ("cubic-linux", "cubic"), ("bbr", "bbr")];

/// What runs an algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    /// The kernel's own implementation, by its name there.
    Kernel(String),
    /// BPF, to be loaded.
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
    /// What runs each algorithm of the scenario.
    pub implementations: Vec<Implementation>,
    /// Reads their state, where the scenario asks for samples.
    pub states: FlowStates,
    #[cfg(feature = "load")]
    _loaded: Vec<cwnd_kernel::load::Loaded>,
}

impl Algorithms {
    /// Loads what the kernel lacks.
    ///
    /// # Errors
    /// If it cannot be loaded; what was loaded before is taken away again.
    pub fn load(scenario: &Scenario) -> Result<Algorithms, String> {
        let specs = specs(scenario);
        let available = host::available();
        let sampled = scenario.sample.is_some();
        #[cfg(feature = "load")]
        let mut loaded = Vec::new();
        let (mut names, mut states) = (Vec::new(), FlowStates::new());
        for spec in &specs {
            match source(spec, &available)? {
                Source::Kernel(name) => {
                    let state = ModuleState::of(&name).filter(|_| sampled);
                    states.push(state.map(|state| Arc::new(state) as Arc<dyn StateReader>));
                    names.push(name);
                }
                #[cfg(feature = "load")]
                Source::Loaded { name, parameters } => {
                    let algorithm = cwnd_kernel::find_or_explain(&name)?;
                    let (one, state) = load_one(algorithm, &parameters, sampled, scenario.stack.payload)?;
                    names.push(one.kernel_name().to_owned());
                    states.push(state);
                    loaded.push(one);
                }
                #[cfg(not(feature = "load"))]
                Source::Loaded { .. } => return Err(cannot_load(spec)),
            }
        }
        let of_flow = |spec| specs.iter().position(|other| *other == spec).expect("it is of these flows");
        let flows = || scenario.flows.iter().map(|flow| of_flow(&flow.algorithm));
        Ok(Algorithms {
            names: flows().map(|spec| names[spec].clone()).collect(),
            implementations: implementations(scenario),
            states: flows().map(|spec| states[spec].clone()).collect(),
            #[cfg(feature = "load")]
            _loaded: loaded,
        })
    }
}

/// Loads an algorithm; for a scenario with samples in the form whose state can be read, if it is one of those.
#[cfg(feature = "load")]
fn load_one(
    algorithm: &'static cwnd_kernel::KernelAlgorithm,
    parameters: &[(String, String)],
    sampled: bool,
    mss: u32,
) -> Result<(cwnd_kernel::load::Loaded, Option<Arc<dyn StateReader>>), String> {
    let text = |error: cwnd_kernel::load::LoadError| error.to_string();
    let values = algorithm.values(parameters)?;
    if !sampled || !is_readable(algorithm, &values) {
        return Ok((cwnd_kernel::load::load_private(algorithm, parameters).map_err(text)?, None));
    }
    let loaded = cwnd_kernel::load::load_sampled(algorithm, parameters).map_err(text)?;
    let areas = loaded.private_areas().map_err(text)?;
    let state =
        areas.map(|areas| Arc::new(LoadedState { algorithm, values, areas, mss }) as Arc<dyn StateReader>);
    Ok((loaded, state))
}

/// The algorithms of a scenario, each once.
fn specs(scenario: &Scenario) -> Vec<&AlgorithmSpec> {
    let mut specs: Vec<&AlgorithmSpec> = Vec::new();
    for flow in &scenario.flows {
        if !specs.contains(&&flow.algorithm) {
            specs.push(&flow.algorithm);
        }
    }
    specs
}

/// What runs each algorithm of a scenario on this host.
pub fn implementations(scenario: &Scenario) -> Vec<Implementation> {
    let available = host::available();
    let of = |spec: &&AlgorithmSpec| {
        let by = match source(spec, &available).ok()? {
            Source::Kernel(name) => of_the_kernel(&name, Path::new("/sys/module")),
            Source::Loaded { name, .. } => loaded_as(&name)?,
        };
        Some(Implementation { algorithm: spec.to_string(), by })
    };
    specs(scenario).iter().filter_map(of).collect()
}

/// An implementation of the kernel's own, in words: whether it is a module, and which.
fn of_the_kernel(name: &str, modules: &Path) -> String {
    let module = format!("tcp_{name}");
    // What is built in may have a folder, too, but no state.
    if !modules.join(&module).join("initstate").exists() {
        return format!("the kernel's built-in {name}");
    }
    let version = fs::read_to_string(modules.join(&module).join("srcversion")).unwrap_or_default();
    match version.trim() {
        "" => format!("the kernel's module {module}"),
        version => format!("the kernel's module {module}, source {version}"),
    }
}

#[cfg(feature = "load")]
fn loaded_as(name: &str) -> Option<String> {
    cwnd_kernel::find(name).map(|algorithm| format!("BPF, source {}", algorithm.source))
}

#[cfg(not(feature = "load"))]
fn loaded_as(_: &str) -> Option<String> {
    None
}

/// What is wrong with a scenario's algorithms, a sentence each with the flow that it is about.
pub fn problems(scenario: &Scenario) -> Vec<(usize, String)> {
    let available = host::available();
    let mut problems = Vec::new();
    for spec in specs(scenario) {
        if let Err(why) = source(spec, &available).and_then(|source| check(spec, &source)) {
            let flow = scenario.flows.iter().position(|flow| flow.algorithm == *spec);
            problems.push((flow.expect("it is of these flows"), why));
        }
    }
    problems
}

/// Whether algorithms can be loaded here, which is tried once: what there is, or why not.
pub fn can_load() -> Result<String, String> {
    static TRIED: OnceLock<Result<String, String>> = OnceLock::new();
    TRIED.get_or_init(try_loading).clone()
}

#[cfg(feature = "load")]
fn try_loading() -> Result<String, String> {
    cwnd_kernel::load::try_loading().map_err(|why| why.to_string())?;
    let names: Vec<&str> = cwnd_kernel::all().iter().map(|algorithm| algorithm.name).collect();
    Ok(names.join(", "))
}

#[cfg(not(feature = "load"))]
fn try_loading() -> Result<String, String> {
    Err("this program was built without (--features kernel)".to_owned())
}

/// What runs an algorithm.
fn source(spec: &AlgorithmSpec, available: &[String]) -> Result<Source, String> {
    let parameters: Vec<(String, String)> = spec.parameters.clone().into_iter().collect();
    if let Some(name) = spec.name.strip_suffix("@kernel") {
        return Ok(Source::Loaded { name: name.to_owned(), parameters });
    }
    if let Some(name) = spec.name.strip_suffix("@host") {
        return of_the_host(spec, name, available);
    }
    match kernels_own(spec) {
        Some(kernels) if parameters.is_empty() && available.iter().any(|name| name == kernels) => {
            Ok(Source::Kernel(kernels.to_owned()))
        }
        _ => Ok(Source::Loaded { name: spec.name.clone(), parameters }),
    }
}

/// Returns the kernel's own congestion control of this name, whatever it is: one of Linux's, or a module of the user's.
fn of_the_host(spec: &AlgorithmSpec, name: &str, available: &[String]) -> Result<Source, String> {
    if !available.iter().any(|known| known == name) {
        return Err(format!(
            "is `{spec}`, and this kernel has no congestion control `{name}`: it has {} (a module of that name is loaded \
             with `modprobe tcp_{name}`)",
            available.join(", ")
        ));
    }
    match spec.parameters.is_empty() {
        true => Ok(Source::Kernel(name.to_owned())),
        false => Err(format!("is `{spec}`: the kernel takes no parameters for one socket; leave them out")),
    }
}

#[cfg(feature = "load")]
fn check(spec: &AlgorithmSpec, source: &Source) -> Result<(), String> {
    let Source::Loaded { name, parameters } = source else { return Ok(()) };
    let Some(algorithm) = cwnd_kernel::find(name) else {
        if let (Some(kernels), false) = (kernels_own(spec), parameters.is_empty()) {
            return Err(format!(
                "is `{spec}`: the kernel's `{kernels}` takes no parameters for one socket, and there is none as BPF that would \
                 take them; leave them out"
            ));
        }
        let names: Vec<&str> = cwnd_kernel::all().iter().map(|algorithm| algorithm.name).collect();
        return Err(format!(
            "is `{spec}`, which has no implementation for the kernel{}; there are {} (the kernel's own, without parameters), \
             and as BPF {}",
            missing_module(spec),
            KERNELS_OWN.map(|(name, _)| name).join(", "),
            names.join(", ")
        ));
    };
    algorithm.values(parameters)?;
    match can_load() {
        Ok(_) => Ok(()),
        Err(why) => Err(format!("is `{spec}`, which would have to be loaded: {why}")),
    }
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
        "is `{spec}`, which is not among the kernel's own that are used ({}, without parameters){}, and this program was built \
         without those that can be loaded: --features kernel",
        KERNELS_OWN.map(|(name, _)| name).join(", "),
        missing_module(spec)
    )
}

/// The kernel's name of its own implementation that an algorithm's name means.
fn kernels_own(spec: &AlgorithmSpec) -> Option<&'static str> {
    KERNELS_OWN.iter().find(|(name, _)| *name == spec.name).map(|(_, kernels)| *kernels)
}

/// How to get an implementation of the kernel's own that it has not loaded, if it would then be taken.
fn missing_module(spec: &AlgorithmSpec) -> String {
    let own = kernels_own(spec).filter(|_| spec.parameters.is_empty());
    own.map_or_else(String::new, |kernels| {
        format!(" while this kernel lacks its `{kernels}` (`modprobe tcp_{kernels}`)")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source_of(spec: &str) -> Result<Source, String> {
        // A host that has loaded a module, too, and an algorithm of ours.
        let available = ["reno", "cubic", "bbr", "vegas", "cwnd_elastic"].map(str::to_owned);
        source(&spec.parse().unwrap(), &available)
    }

    #[test]
    fn a_name_is_one_algorithm_whatever_the_host_has_loaded() {
        let kernels = |name: &str| Ok(Source::Kernel(name.to_owned()));
        assert_eq!(source_of("newreno"), kernels("reno"));
        assert_eq!(source_of("cubic-linux"), kernels("cubic"));
        assert_eq!(source_of("bbr"), kernels("bbr"));
        let loaded = |name: &str, parameters: &[(&str, &str)]| {
            let parameters = parameters.iter().map(|(name, value)| (name.to_string(), value.to_string()));
            Ok(Source::Loaded { name: name.into(), parameters: parameters.collect() })
        };
        assert_eq!(source_of("cubic-linux:c=0.6"), loaded("cubic-linux", &[("c", "0.6")]));
        assert_eq!(source_of("cubic-linux@kernel"), loaded("cubic-linux", &[]));
        assert_eq!(source_of("vegas"), loaded("vegas", &[]));
        assert_eq!(source_of("elastic"), loaded("elastic", &[]));
        assert_eq!(source_of("vegas:alpha=3"), loaded("vegas", &[("alpha", "3")]));
        // RFC 9438's, although the kernel has another of this name.
        assert_eq!(source_of("cubic"), loaded("cubic", &[]));
    }

    #[test]
    fn parameters_or_a_missing_module_are_the_reason() {
        let why = |text: &str, available: &[&str]| {
            let spec: AlgorithmSpec = text.parse().unwrap();
            let available: Vec<String> = available.iter().map(|&name| name.to_owned()).collect();
            check(&spec, &source(&spec, &available).unwrap()).unwrap_err()
        };
        let with_parameters = why("bbr:cwnd_gain=3", &["reno", "bbr"]);
        assert!(!with_parameters.contains("modprobe"), "{with_parameters}");
        assert!(with_parameters.contains("parameters"), "{with_parameters}");
        let missing = why("bbr", &["reno"]);
        assert!(missing.contains("lacks its `bbr` (`modprobe tcp_bbr`)"), "{missing}");
    }

    #[test]
    fn a_name_with_host_is_the_kernels_own() {
        let kernels = |name: &str| Ok(Source::Kernel(name.to_owned()));
        assert_eq!(source_of("reno@host"), kernels("reno"));
        // The kernel's CUBIC by its own name, and an algorithm that nobody here knows.
        assert_eq!(source_of("cubic@host"), kernels("cubic"));
        assert_eq!(source_of("cwnd_elastic@host"), kernels("cwnd_elastic"));
        assert_eq!(
            source_of("cdg@host").unwrap_err(),
            "is `cdg@host`, and this kernel has no congestion control `cdg`: it has reno, cubic, bbr, vegas, cwnd_elastic (a \
             module of that name is loaded with `modprobe tcp_cdg`)"
        );
        assert!(source_of("cubic@host:beta=0.5").unwrap_err().contains("leave them out"));
    }

    #[test]
    fn modules_and_what_is_built_in_are_told_apart() {
        let modules = std::env::temp_dir().join(format!("cwnd-modules-{}", std::process::id()));
        for module in ["tcp_bbr", "tcp_cubic", "tcp_vegas"] {
            fs::create_dir_all(modules.join(module)).unwrap();
        }
        for module in ["tcp_bbr", "tcp_vegas"] {
            fs::write(modules.join(module).join("initstate"), "live\n").unwrap();
        }
        fs::write(modules.join("tcp_bbr/srcversion"), "0123ABCD\n").unwrap();
        assert_eq!(of_the_kernel("bbr", &modules), "the kernel's module tcp_bbr, source 0123ABCD");
        assert_eq!(of_the_kernel("vegas", &modules), "the kernel's module tcp_vegas");
        assert_eq!(of_the_kernel("cubic", &modules), "the kernel's built-in cubic");
        assert_eq!(of_the_kernel("reno", &modules), "the kernel's built-in reno");
        fs::remove_dir_all(modules).unwrap();
    }
}
