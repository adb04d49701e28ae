use super::*;
use cwnd_scenario::StackProfile;

#[test]
fn every_example_is_taken() {
    for setting in SETTINGS {
        let mut experiment = ExperimentSpec::default();
        assert_eq!((setting.set)(&mut experiment, setting.example), Ok(()), "{}", setting.key);
        let measured = (setting.measure)(setting.example);
        let quantity = matches!(setting.kind, SettingKind::Quantity | SettingKind::Count);
        assert!(!quantity || measured.is_some(), "{}", setting.key);
        assert!(setting.about.ends_with('.'), "{}", setting.key);
    }
}

#[test]
fn defaults_are_what_a_setup_has() {
    // A default that can be written as a value changes nothing, where the setting has any effect.
    let mut tried = 0;
    for setting in SETTINGS {
        // A list has no default, and any text names a file.
        if matches!(setting.kind, SettingKind::Flows | SettingKind::File) {
            continue;
        }
        let mut experiment = ExperimentSpec { algorithm: "cubic".parse().ok(), ..ExperimentSpec::default() };
        match setting.key {
            "hops" => experiment.topology = Topology::ParkingLot,
            key if key.starts_with("satellite") => experiment.topology = Topology::Satellite,
            "mtu" => experiment.stack.profile = StackProfile::Linux,
            "ecn-peer" | "ecn-option" => experiment.stack.ecn = crate::EcnChoice::Accurate,
            _ => {}
        }
        let without = experiment.resolve(1).expect("a scenario");
        if (setting.set)(&mut experiment, setting.default).is_ok() {
            assert_eq!(experiment.resolve(1).as_ref(), Ok(&without), "{}", setting.key);
            tried += 1;
        }
    }
    assert!(tried >= 20, "{tried}");
}

/// An experiment in which a setting applies.
fn experiment_for(key: &str) -> ExperimentSpec {
    let mut spec = ExperimentSpec { algorithm: "cubic".parse().ok(), ..ExperimentSpec::default() };
    match key {
        "hops" => spec.topology = Topology::ParkingLot,
        key if key.starts_with("satellite") => spec.topology = Topology::Satellite,
        "mtu" => spec.stack.profile = StackProfile::Linux,
        "ecn-peer" | "ecn-option" => spec.stack.ecn = crate::EcnChoice::Accurate,
        "ack-thinning" => spec.reverse.queue = Some(cwnd_scenario::Discipline::DropTail),
        "rtts" => {
            spec.delay = crate::LineDelay::OneWay(Time::from_millis(2));
            spec.flows = Some(2);
        }
        "mix" | "flow" => spec.algorithm = None,
        _ => {}
    }
    spec
}

#[test]
fn the_value_in_effect_is_the_one_that_was_set() {
    for setting in SETTINGS.iter().filter(|setting| setting.kind != SettingKind::File) {
        let mut spec = experiment_for(setting.key);
        assert_eq!((setting.set)(&mut spec, setting.example), Ok(()), "{}", setting.key);
        let scenario = spec.resolve(1).unwrap_or_else(|problems| panic!("{}: {problems:?}", setting.key));
        let text = (setting.get)(&spec, &scenario);
        let text = text.unwrap_or_else(|| panic!("{} has no value in effect", setting.key));
        let mut again = experiment_for(setting.key);
        assert_eq!((setting.set)(&mut again, &text), Ok(()), "{}: {text}", setting.key);
        assert_eq!(again.resolve(1).as_ref(), Ok(&scenario), "{}: {text}", setting.key);
        assert_eq!((setting.get)(&again, &scenario).as_ref(), Some(&text), "{}", setting.key);
    }
}

#[test]
fn a_default_in_effect_can_be_set() {
    for setting in SETTINGS {
        let spec = experiment_for(setting.key);
        let Ok(scenario) = spec.resolve(1) else { continue };
        let Some(text) = (setting.get)(&spec, &scenario) else { continue };
        let mut said = spec.clone();
        assert_eq!((setting.set)(&mut said, &text), Ok(()), "{}: {text}", setting.key);
        assert_eq!(said.resolve(1).as_ref(), Ok(&scenario), "{}: {text}", setting.key);
    }
}

#[test]
fn effects_can_be_switched_off_again() {
    for key in ["ecn-threshold", "jitter", "slot", "policer", "reverse-jitter", "reverse-slot"] {
        let setting = find(key).unwrap();
        assert_eq!(setting.default, "none", "{key}");
        let mut spec = experiment_for(key);
        let without = spec.resolve(1);
        assert_eq!((setting.set)(&mut spec, setting.example), Ok(()), "{key}");
        assert_ne!(spec.resolve(1), without, "{key}");
        assert_eq!((setting.set)(&mut spec, "none"), Ok(()), "{key}");
        assert_eq!(spec.resolve(1), without, "{key}");
    }
}

#[test]
fn values_are_measured_in_the_unit_of_an_axis() {
    let measure = |key: &str, text: &str| (find(key).unwrap().measure)(text);
    assert_eq!(measure("buffer", "100"), Some((100.0, "packets")));
    assert_eq!(measure("buffer", "0.5 BDP"), Some((0.5, "BDP")));
    assert_eq!(measure("buffer", "max(1 BDP, 2)"), None);
    assert_eq!(measure("per", "1e-5"), Some((1e-5, "")));
    assert_eq!(measure("rtt", "1.5 s"), Some((1500.0, "ms")));
    assert_eq!(measure("rate", "unlimited"), None);
    assert_eq!(measure("rate", "2.5 Gbit/s"), Some((2500.0, "Mbit/s")));
}

#[test]
fn refuses_with_what_would_be_right() {
    let refused =
        |key: &str, text: &str| (find(key).unwrap().set)(&mut ExperimentSpec::default(), text).unwrap_err();
    assert_eq!(
        refused("topology", "dumbell"),
        "it is one of dumbbell, path, parking-lot, satellite, incast; did you mean `dumbbell`?"
    );
    assert_eq!(refused("sack", "yes"), "it is `on` or `off` (or `true`, `false`)");
    assert_eq!(refused("flows", "0"), "there must be at least 1");
    assert_eq!(refused("flows", "-1"), "it must not be negative");
    assert_eq!(refused("flows", "1000000"), "too many: 100000 flows are the most");
    assert_eq!(refused("mtu", "1e3"), "it must be a whole number, such as `4`");
    assert!(refused("jitter", "0").ends_with("; `none` switches it off"), "{}", refused("jitter", "0"));
    assert_eq!(refused("rtt", "5"), "a time needs a unit: write `5 ms`, for example");
}
