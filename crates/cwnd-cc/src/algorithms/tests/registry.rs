use crate::algorithms::agile_sd::AgileSdParameters;
use crate::algorithms::{all, find};
use crate::{
    CompatNeeds, EcnMode, Needs, ParameterError, ParameterKind, ParameterSet, ParameterValue, Parameters,
};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};

fn parameters(given: &[(&str, &str)]) -> Parameters {
    given.iter().map(|(name, value)| (name.to_string(), ParameterValue::from(*value))).collect()
}

fn refusal(algorithm: &str, given: &[(&str, &str)]) -> String {
    let built = (find(algorithm).unwrap().build)(&parameters(given));
    built.err().expect("these parameters are wrong").to_string()
}

#[test]
fn names_are_unique_and_found() {
    let names: BTreeSet<_> = all().iter().map(|algorithm| algorithm.name).collect();
    assert_eq!(names.len(), all().len());
    for algorithm in all() {
        assert_eq!(find(algorithm.name).unwrap().title, algorithm.title);
        for text in [algorithm.title, algorithm.reference, algorithm.summary, algorithm.based_on] {
            assert!(!text.is_empty() && !text.contains("  "), "{}: {text}", algorithm.name);
        }
        for sentence in [algorithm.summary, algorithm.strengths, algorithm.weaknesses] {
            assert!(sentence.ends_with('.') && !sentence.contains("  "), "{}: {sentence}", algorithm.name);
        }
        assert!(!algorithm.signals.is_empty() && algorithm.version > 0 && algorithm.year >= 1988);
    }
    assert!(find("no such").is_none());
}

#[test]
fn reconstructions_are_called_so() {
    for algorithm in all() {
        let texts = [algorithm.title, algorithm.summary];
        let said = texts.map(|text| text.to_lowercase().contains("reconstruction"));
        assert_eq!(said, [algorithm.reconstruction; 2], "{}", algorithm.name);
    }
}

/// The needs that the sources of some algorithms state: DCTCP and its relatives need an exact echo of marks, BBR needs
/// delivery rates and sets its own window in recovery.
#[test]
fn needs_follow_the_sources() {
    let with = |name: &str, given| (find(name).unwrap().build)(&parameters(given)).unwrap().needs();
    let exact = Needs { ecn: Some(EcnMode::Exact), ..Needs::default() };
    let paced = Needs { pacing: true, ..Needs::default() };
    let own_recovery = Needs { owns_recovery: true, marks_only: true, ..paced };
    let bbr = Needs { rate_samples: true, ..own_recovery };
    // ns-2.35 has them as modules that measure delays.
    let module =
        Needs { compat: CompatNeeds { covered_rtt: true, ..CompatNeeds::default() }, ..Needs::default() };
    for (names, expected) in [
        (&["newreno", "cubic", "cubic-linux", "westwood"][..], Needs::default()),
        (&["dctcp", "d2tcp"], exact),
        // Its answer to marks is the weight N, not a cut.
        (&["cltcp"], Needs { marks_only: true, ..exact }),
        (&["hybla", "new-vegas-reconstruction"], paced),
        (&["prague"], Needs { marks_only: true, pacing: true, ..exact }),
        (&["copa"], own_recovery),
        (&["illinois", "vegas", "veno", "yeah", "compound-ns2"], module),
        // Both the draft and Linux send single segments below 1.2 Mbit/s.
        (
            &["bbr"],
            Needs { compat: CompatNeeds { single_segments_below: 150_000, ..CompatNeeds::default() }, ..bbr },
        ),
        (&["bbr3"], Needs { lost_packets: true, ..bbr }),
    ] {
        for name in names {
            assert_eq!(with(name, &[]), expected, "{name}");
        }
    }
    assert_eq!(with("cltcp", &[("ecn_cut", "true")]), exact);
    assert_eq!(with("hybla", &[("pacing", "false")]), Needs::default());
}

#[test]
fn an_algorithm_is_shown_by_its_name() {
    assert_eq!(format!("{:?}", find("newreno").unwrap()), "AlgorithmInfo { name: \"newreno\", .. }");
}

#[test]
fn every_default_least_greatest_value_and_word_builds() {
    for algorithm in all() {
        assert!((algorithm.build)(&Parameters::new()).is_ok());
        for parameter in algorithm.parameters {
            assert!(!parameter.about.is_empty() && !parameter.source.is_empty(), "{parameter:?}");
            let mut values = alloc::vec![parameter.kind.default_value()];
            match parameter.kind {
                ParameterKind::Number { min, max, .. } => {
                    values.extend([min, max].map(ParameterValue::Number));
                }
                ParameterKind::Switch { .. } => values.extend([true, false].map(ParameterValue::Switch)),
                ParameterKind::Word { choices, .. } => {
                    values.extend(choices.iter().map(|word| ParameterValue::Word(word.to_string())));
                }
            }
            for value in values {
                let given = Parameters::from([(parameter.name.to_string(), value.clone())]);
                let built = (algorithm.build)(&given);
                assert!(built.is_ok(), "{} {} {value}: {:?}", algorithm.name, parameter.name, built.err());
            }
        }
    }
}

#[test]
fn values_outside_the_range_are_refused() {
    for algorithm in all() {
        for parameter in algorithm.parameters {
            let mut wrong = alloc::vec![ParameterValue::Word("no such word".into())];
            if let ParameterKind::Number { min, max, .. } = parameter.kind {
                let outside =
                    [min - 1e-9, max + 1e-9, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN];
                wrong.extend(outside.map(ParameterValue::Number));
                wrong.push(ParameterValue::Switch(true));
            } else {
                wrong.push(ParameterValue::Number(1.0));
            }
            for value in wrong {
                let given = Parameters::from([(parameter.name.to_string(), value.clone())]);
                assert!((algorithm.build)(&given).is_err(), "{} {} {value}", algorithm.name, parameter.name);
            }
        }
    }
}

#[test]
fn the_table_lists_the_parameters_that_build_accepts() {
    for algorithm in all() {
        let refused = (algorithm.build)(&parameters(&[("no such", "1")])).err();
        let known = algorithm.parameters.iter().map(|parameter| parameter.name).collect();
        assert_eq!(
            refused,
            Some(ParameterError::Unknown { name: "no such".into(), known }),
            "{}",
            algorithm.name
        );
    }
}

#[test]
fn refusals_teach() {
    assert_eq!(
        refusal("elastic", &[("betta", "0.8")]),
        "there is no parameter `betta`: this algorithm has beta, wwf, rttmax_reset_on_rto, \
         sample_in_slow_start"
    );
    assert_eq!(
        refusal("agile-sd", &[("lambda_max", "4"), ("beta2", "1.5")]),
        "parameter `beta2` cannot be `1.5`: it takes a number from 0.1 to 0.99"
    );
    assert_eq!(
        refusal("elastic", &[("wwf", "sum")]),
        "parameter `wwf` cannot be `sum`: it takes one of product, literal"
    );
    assert_eq!(
        refusal("cubic-linux", &[("hystart", "1")]),
        "parameter `hystart` cannot be `1`: it takes on or off"
    );
    assert_eq!(
        refusal("elastic", &[("beta", "nan")]),
        "parameter `beta` cannot be `NaN`: it takes a number from 0.1 to 0.95"
    );
    let none = ParameterError::Unknown { name: "beta".into(), known: [].into() };
    assert_eq!(none.to_string(), "there is no parameter `beta`: this algorithm has none");
}

#[test]
fn a_scenarios_text_is_understood() {
    let values = parameters(&[("a", "4"), ("b", "0.9"), ("c", "true"), ("d", "hystart++"), ("e", "-1e3")]);
    let texts: alloc::vec::Vec<_> = values.values().map(|value| format!("{value:?}")).collect();
    let expected = ["Number(4.0)", "Number(0.9)", "Switch(true)", "Word(\"hystart++\")", "Number(-1000.0)"];
    assert_eq!(texts, expected);
    let given = parameters(&[("lambda_max", "4"), ("beta2", "0.9")]);
    let settings = AgileSdParameters::from_values(&given).unwrap();
    assert_eq!((settings.lambda_max, settings.beta2, settings.beta1), (4.0, 0.9, 0.9));
    assert!(AgileSdParameters { beta1: 2.0, ..settings }.check().is_err());
}
