//! Algorithms and models by name: whether a name and its parameters exist, and what was probably meant.

use cwnd_cc::{AlgorithmInfo, ParameterError, ParameterValue, Parameters};
use cwnd_scenario::{AlgorithmSpec, Transport, nearest, registered_name};
use cwnd_study::Named;

/// The algorithm of this name, or of one that it has elsewhere.
///
/// # Errors
/// A message that proposes the nearest name.
pub fn find(name: &str) -> Result<&'static AlgorithmInfo, String> {
    cwnd_cc::find(registered_name(name).unwrap_or(name)).ok_or_else(|| {
        if of_host().iter().any(|own| own == name) {
            return format!(
                "there is no algorithm `{name}`, but this host's kernel has a congestion control of that name: write \
                 `{name}@host`, with the engine `kernel`"
            );
        }
        let meant = nearest(name, cwnd_cc::all().iter().map(|algorithm| algorithm.name));
        let hint = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_else(|| ":".to_owned());
        format!("there is no algorithm `{name}`{hint} `cwnd algorithms` lists all")
    })
}

/// Returns the congestion controls that this host's kernel has; none where the kernel is not Linux.
pub fn of_host() -> Vec<String> {
    #[cfg(target_os = "linux")]
    return cwnd_lab::host::available();
    #[cfg(not(target_os = "linux"))]
    return Vec::new();
}

/// Whether there is what a study names.
///
/// # Errors
/// A message that says what is wrong and what would be right.
pub fn check(named: Named<'_>) -> Result<(), String> {
    match named {
        Named::Algorithm(spec) => algorithm(spec),
        Named::Model(name) => model(name),
        Named::State { name, of } => state(name, of),
    }
}

/// Returns whether at least one of these algorithms shows a value of this name of its state.
///
/// # Errors
/// A message that says which each of them shows.
fn state(name: &str, of: &[&str]) -> Result<(), String> {
    // What a class in Python shows is known to the program that has it alone.
    if of.iter().any(|algorithm| algorithm.ends_with("@python")) {
        return Ok(());
    }
    let shown = |algorithm: &str| {
        if algorithm == cwnd_gym::policy::NAME {
            return &cwnd_gym::policy::OBSERVABLES[..];
        }
        cwnd_cc::find(algorithm).map_or(&[][..], |info| info.observables)
    };
    if of.iter().any(|algorithm| shown(algorithm).iter().any(|observable| observable.name == name)) {
        return Ok(());
    }
    let all = of.iter().flat_map(|algorithm| shown(algorithm)).map(|observable| observable.name);
    let hint = nearest(name, all).map(|meant| format!("; did you mean `state.{meant}`?")).unwrap_or_default();
    let each = of.iter().map(|algorithm| match shown(algorithm) {
        [] => format!("{algorithm} has none"),
        shown => {
            let names: Vec<String> =
                shown.iter().map(|observable| format!("state.{}", observable.name)).collect();
            format!("{algorithm} has {}", names.join(", "))
        }
    });
    let each: Vec<String> = each.collect();
    Err(format!("no algorithm that is drawn has `state.{name}`{hint} ({})", each.join("; ")))
}

/// Returns whether a model of this name exists.
///
/// # Errors
/// A message that says which there are.
pub fn model(name: &str) -> Result<(), String> {
    let names = || cwnd_models::all().iter().map(|model| model.name);
    if cwnd_models::find(name).is_some() {
        return Ok(());
    }
    let hint = nearest(name, names()).map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    Err(format!("there is no model `{name}`{hint} (there are {})", names().collect::<Vec<_>>().join(", ")))
}

/// Checks an algorithm that belongs to a QUIC implementation.
#[cfg(feature = "quic")]
fn of_a_quic_stack(_: Transport, spec: &AlgorithmSpec) -> Result<(), String> {
    cwnd_quic::host::check_own(spec).unwrap_or(Ok(()))
}

#[cfg(not(feature = "quic"))]
fn of_a_quic_stack(owner: Transport, spec: &AlgorithmSpec) -> Result<(), String> {
    Err(format!(
        "`{spec}` belongs to the QUIC implementation {owner}, and this program was built without the feature `quic`"
    ))
}

/// Whether there is such an algorithm, and it takes these parameters.
///
/// # Errors
/// A message that says what is wrong and what would be right.
pub fn algorithm(spec: &AlgorithmSpec) -> Result<(), String> {
    if let Some(name) = spec.name.strip_suffix("@kernel") {
        return of_the_kernel(name, spec);
    }
    // Whether the host has it is a question for the engine: a study is valid on other hosts, too.
    if let Some(name) = spec.name.strip_suffix("@host") {
        return of_the_host(name, spec);
    }
    if let Some(owner) = Transport::owner_of(&spec.name) {
        return of_a_quic_stack(owner, spec);
    }
    // So is whether a Python program has given a class of this name.
    if spec.name.ends_with("@python") {
        return Ok(());
    }
    if spec.name == cwnd_gym::policy::NAME {
        return cwnd_gym::policy::factory(spec).map(drop);
    }
    let algorithm = find(&spec.name)?;
    let values = spec.parameters.iter();
    let parameters: Parameters =
        values.map(|(name, value)| (name.clone(), ParameterValue::from(value.as_str()))).collect();
    (algorithm.build)(&parameters).map(drop).map_err(|error| match error {
        ParameterError::Unknown { name, known } if known.is_empty() => {
            format!("`{}` has no parameter `{name}`: it has none at all", spec.name)
        }
        ParameterError::Unknown { name, known } => {
            let meant = nearest(&name, known.iter().copied());
            let hint = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
            let known = known.join(", ");
            format!("`{}` has no parameter `{name}`{hint} (it has {known})", spec.name)
        }
        ParameterError::Invalid { name, value, expected } => {
            format!("`{}` does not take {name} = `{value}`: it takes {expected}", spec.name)
        }
    })
}

/// Returns whether this can be the name of a congestion control of a kernel: the kernel takes no parameters for one socket.
fn of_the_host(name: &str, spec: &AlgorithmSpec) -> Result<(), String> {
    /// `TCP_CA_NAME_MAX` of Linux, less the zero at the end.
    const LONGEST: usize = 15;
    if name.is_empty() || name.len() > LONGEST {
        return Err(format!(
            "`{spec}` names no congestion control of a kernel: those have 1 to {LONGEST} letters"
        ));
    }
    if !spec.parameters.is_empty() {
        return Err(format!(
            "`{name}@host` takes no parameters here: those of a kernel's module apply to the whole host \
             (`/sys/module/tcp_{name}/parameters`)"
        ));
    }
    Ok(())
}

/// Whether there is such an algorithm in the kernel's C, and it takes these parameters.
#[cfg(feature = "kernel")]
fn of_the_kernel(name: &str, spec: &AlgorithmSpec) -> Result<(), String> {
    let parameters: Vec<(String, String)> = spec.parameters.clone().into_iter().collect();
    cwnd_kernel::find_or_explain(name)?.values(&parameters).map(drop)
}

#[cfg(not(feature = "kernel"))]
fn of_the_kernel(_: &str, spec: &AlgorithmSpec) -> Result<(), String> {
    Err(format!(
        "`{spec}` is an algorithm of the kernel, and this cwnd was built without them: --features kernel"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str) -> String {
        algorithm(&text.parse().expect(text)).expect_err(text)
    }

    #[test]
    fn every_algorithm_is_found_with_its_defaults() {
        for known in cwnd_cc::all() {
            let spec = AlgorithmSpec { name: known.name.to_owned(), ..AlgorithmSpec::default() };
            assert_eq!(algorithm(&spec), Ok(()));
        }
    }

    #[test]
    fn a_state_that_no_algorithm_has_is_refused_with_those_that_they_have() {
        let state = |name, of| check(Named::State { name, of });
        assert_eq!(state("lambda", &["newreno", "agile-sd"]), Ok(()));
        assert_eq!(
            state("lamda", &["newreno", "agile-sd"]).unwrap_err(),
            "no algorithm that is drawn has `state.lamda`; did you mean `state.lambda`? (newreno has none; agile-sd has \
             state.lambda, state.gap_current, state.gap_total, state.w_loss, state.w_degraded)"
        );
    }

    #[test]
    fn a_policy_needs_a_file_that_can_be_read() {
        assert_eq!(
            refused("policy:size=3"),
            "`policy:size=3`: a policy has one parameter, its file: `policy:file=FILE.json`"
        );
        let message = refused("policy:file=no-such-policy.json");
        assert!(message.starts_with("no-such-policy.json: "), "{message}");
        assert_eq!(check(Named::State { name: "action", of: &["policy"] }), Ok(()));
    }

    #[test]
    #[cfg(not(feature = "kernel"))]
    fn says_what_the_kernels_algorithms_need() {
        assert_eq!(
            refused("elastic@kernel:beta=0.8"),
            "`elastic@kernel:beta=0.8` is an algorithm of the kernel, and this cwnd was built without them: --features kernel"
        );
    }

    #[test]
    #[cfg(feature = "kernel")]
    fn the_kernels_algorithms_are_found_with_their_parameters() {
        assert_eq!(algorithm(&"elastic@kernel:beta=0.8".parse().unwrap()), Ok(()));
        assert!(refused("elastic@kernel:beta=2").contains("0.95"));
        assert!(refused("elastix@kernel").contains("there are elastic, agile-sd"));
    }

    #[test]
    fn names_of_a_hosts_kernel_are_taken_as_they_are() {
        assert_eq!(algorithm(&"cdg@host".parse().unwrap()), Ok(()));
        assert_eq!(algorithm(&"my_module@host".parse().unwrap()), Ok(()));
        assert_eq!(
            refused("cdg@host:window=8"),
            "`cdg@host` takes no parameters here: those of a kernel's module apply to the whole host \
             (`/sys/module/tcp_cdg/parameters`)"
        );
        assert_eq!(
            refused("a_name_that_is_too_long@host"),
            "`a_name_that_is_too_long@host` names no congestion control of a kernel: those have 1 to 15 letters"
        );
    }

    #[test]
    fn models_are_found_by_name() {
        for known in cwnd_models::all() {
            assert_eq!(check(Named::Model(known.name)), Ok(()));
        }
        let message = check(Named::Model("elastic-figure-3")).unwrap_err();
        assert!(
            message.starts_with("there is no model `elastic-figure-3`; did you mean `elastic-figure-"),
            "{message}"
        );
        assert!(message.contains("invs-figure-1"), "{message}");
    }

    #[test]
    fn refuses_what_there_is_not() {
        assert_eq!(
            refused("cubik"),
            "there is no algorithm `cubik`; did you mean `cubic`? `cwnd algorithms` lists all"
        );
        assert_eq!(refused("zzz"), "there is no algorithm `zzz`: `cwnd algorithms` lists all");
        let message = refused("agile-sd:lamda_max=4");
        assert!(
            message
                .starts_with("`agile-sd` has no parameter `lamda_max`; did you mean `lambda_max`? (it has")
        );
        for value in ["-4", "nan", "inf", "1e999", "four", "true"] {
            let message = refused(&format!("agile-sd:lambda_max={value}"));
            assert!(message.starts_with("`agile-sd` does not take lambda_max = "), "{message}");
            assert!(message.contains("it takes a number from"), "{message}");
        }
    }
}
