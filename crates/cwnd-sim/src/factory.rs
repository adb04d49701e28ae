//! Source of a flow's algorithm.

use cwnd_cc::CongestionControl;
use cwnd_scenario::{AlgorithmSpec, Transport};

/// Makes the algorithm of a flow, or says why not. Engines take one of these instead of a name, so that an
/// algorithm from elsewhere can stand where a registered one does.
pub type Factory<'a> = &'a dyn Fn(&AlgorithmSpec) -> Result<Box<dyn CongestionControl>, String>;

/// The registered algorithms.
pub fn registered(spec: &AlgorithmSpec) -> Result<Box<dyn CongestionControl>, String> {
    if let Some(name) = spec.name.strip_suffix("@host") {
        return Err(format!(
            "`{spec}` is what a host's kernel calls `{name}`, and the simulator has no kernel: run it with the engine \
             `kernel`, or name an algorithm of `cwnd algorithms`"
        ));
    }
    if let Some(class) = spec.name.strip_suffix("@python") {
        return Err(format!(
            "`{spec}` is a class of a Python program, and is run by that alone: give the class to the call there, \
             `classes=[{class}]`"
        ));
    }
    if let Some(owner) = Transport::owner_of(&spec.name) {
        return Err(format!(
            "`{spec}` is {owner}'s own algorithm, and runs only in flows with `stack={owner}`"
        ));
    }
    if spec.name.ends_with(".js") {
        return Err(format!("`{spec}` is a program of the bench in a web page, and only that page runs it"));
    }
    if spec.name == "policy" {
        return Err(format!(
            "`{spec}` is a trained policy of a file, which is not read here: `cwnd compare` and study files run it"
        ));
    }
    let Some(info) = cwnd_cc::find(&spec.name) else {
        let known: Vec<&str> = cwnd_cc::all().iter().map(|info| info.name).collect();
        return Err(format!("no algorithm is called \"{}\"; there are {}", spec.name, known.join(", ")));
    };
    let parameters = spec.all_parameters().map(|(name, text)| (name.as_str(), text.as_str()));
    info.build_from_text(parameters).map_err(|error| format!("{}: {error}", spec.name))
}
