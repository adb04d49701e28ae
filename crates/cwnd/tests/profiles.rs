//! The variants of algorithms that a stack profile picks.

use cwnd_scenario::{AlgorithmSpec, StackProfile};

const PROFILES: [StackProfile; 2] = [StackProfile::Ns2, StackProfile::Linux];

/// Returns an algorithm with what a profile sets, as it is written.
fn variant(profile: StackProfile, name: &str) -> String {
    let parameters = profile.parameters(name).iter().map(|(name, value)| format!("{name}={value}"));
    format!("{name}:{}", parameters.collect::<Vec<_>>().join(","))
}

#[test]
fn every_parameter_of_a_profile_exists() {
    for profile in PROFILES {
        for name in profile.parametrised() {
            let written: AlgorithmSpec = variant(profile, name).parse().unwrap();
            cwnd_sim::registered(&written).unwrap();
            // The simulator builds the same from the resolved name.
            let resolved = name.parse::<AlgorithmSpec>().unwrap().resolved(profile);
            cwnd_sim::registered(&resolved).unwrap();
        }
    }
}

#[test]
fn the_page_of_the_profiles_lists_them() {
    let page = include_str!("../../../docs/reference/stacks.md");
    for profile in PROFILES {
        for name in profile.parametrised() {
            let written = variant(profile, name);
            assert!(
                page.contains(&format!("`{written}`")),
                "docs/reference/stacks.md does not list {written}"
            );
        }
    }
}
