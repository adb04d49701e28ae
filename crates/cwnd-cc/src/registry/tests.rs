use super::*;
use crate::algorithms::{
    africa::*, agile_sd::*, areno::*, bbr::*, bbr3::*, bic::*, cltcp::*, compound::ns2::*, compound::*,
    copa::*, cubic::*, d2tcp::*, dctcp::*, elastic::*, er_tcp_reconstruction::*, fast::*, fusion::*,
    highspeed::*, htcp::*, hybla::*, illinois::*, invs::*, ledbat_pp::*, multcp::*,
    new_vegas_reconstruction::*, newreno::*, scalable::*, tcp_fit::*, vegas::*, veno::*, westwood::*,
    yeah::*,
};
use crate::{CompatNeeds, EcnMode, Needs, ParameterKind, ParameterValue};
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
        let texts = [algorithm.name, algorithm.title, algorithm.summary];
        let said = texts.map(|text| text.to_lowercase().contains("reconstruction"));
        assert_eq!(said, [algorithm.reconstruction; 3], "{}", algorithm.name);
    }
}

/// What each algorithm's source asks of the transport: DCTCP and its kin an exact echo of marks, BBR's models rates
/// and their own window in recovery, and so on. All others are content with the plain events.
#[test]
fn each_asks_for_what_its_source_needs() {
    let exact = Needs { ecn: Some(EcnMode::Exact), ..Needs::default() };
    let paced = Needs { pacing: true, ..Needs::default() };
    let own_way = Needs { owns_recovery: true, marks_only: true, ..paced };
    for algorithm in all() {
        let needs = (algorithm.build)(&Parameters::new()).unwrap().needs();
        let expected = match algorithm.name {
            "dctcp" | "d2tcp" => exact,
            // Its answer to marks is the weight N, not a cut.
            "cltcp" => Needs { marks_only: true, ..exact },
            "hybla" | "new-vegas-reconstruction" => paced,
            "copa" => own_way,
            // What ns-2.35 has as modules that measure delays.
            "illinois" | "vegas" | "veno" | "yeah" | "compound-ns2" => {
                Needs { compat: CompatNeeds { covered_rtt: true }, ..Needs::default() }
            }
            "bbr" => Needs { rate_samples: true, ..own_way },
            "bbr3" => Needs { rate_samples: true, lost_packets: true, ..own_way },
            _ => Needs::default(),
        };
        assert_eq!(needs, expected, "{}", algorithm.name);
    }
    let with = |name: &str, given| (find(name).unwrap().build)(&parameters(given)).unwrap().needs();
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

/// The settings of one algorithm: the struct's defaults are the table's, by name and by serde alike.
fn check_settings<A: Configurable>(name: &str, checked: &mut BTreeSet<String>)
where
    A::Parameters: serde::Serialize + serde::de::DeserializeOwned,
{
    let table = find(name).unwrap().parameters;
    assert_eq!(table, A::Parameters::PARAMETERS, "{name}");
    let defaults = A::Parameters::default();
    assert!(defaults.check().is_ok());
    let values = defaults.values();
    assert_eq!(values.len(), table.len());
    for parameter in table {
        assert_eq!(values[parameter.name], parameter.kind.default_value(), "{name} {}", parameter.name);
    }

    let json = serde_json::to_value(&defaults).unwrap();
    let again: A::Parameters = serde_json::from_value(json).unwrap();
    assert_eq!(again.values(), values);
    let partial: A::Parameters = serde_json::from_str("{}").unwrap();
    assert_eq!(partial.values(), values);
    assert!(serde_json::from_str::<A::Parameters>("{\"no_such\": 1}").is_err());
    checked.insert(name.to_string());
}

#[test]
fn tables_and_structs_agree() {
    let mut checked = BTreeSet::new();
    check_settings::<NewReno>("newreno", &mut checked);
    check_settings::<MulTcp>("multcp", &mut checked);
    check_settings::<Scalable>("scalable", &mut checked);
    check_settings::<HighSpeed>("highspeed", &mut checked);
    check_settings::<HTcp>("htcp", &mut checked);
    check_settings::<Hybla>("hybla", &mut checked);
    check_settings::<Africa>("africa", &mut checked);
    check_settings::<Illinois>("illinois", &mut checked);
    check_settings::<Invs>("invs", &mut checked);
    check_settings::<Bic>("bic", &mut checked);
    check_settings::<v2008::Cubic2008>("cubic-2008", &mut checked);
    check_settings::<linux::CubicLinux>("cubic-linux", &mut checked);
    check_settings::<Cubic>("cubic", &mut checked);
    check_settings::<Compound2006>("compound-2006", &mut checked);
    check_settings::<CompoundNs2>("compound-ns2", &mut checked);
    check_settings::<Compound>("compound", &mut checked);
    check_settings::<AgileSd>("agile-sd", &mut checked);
    check_settings::<Elastic>("elastic", &mut checked);
    check_settings::<Vegas>("vegas", &mut checked);
    check_settings::<Veno>("veno", &mut checked);
    check_settings::<Westwood>("westwood", &mut checked);
    check_settings::<Yeah>("yeah", &mut checked);
    check_settings::<TcpFit>("tcp-fit", &mut checked);
    check_settings::<Fast>("fast", &mut checked);
    check_settings::<AReno>("areno", &mut checked);
    check_settings::<Fusion>("fusion", &mut checked);
    check_settings::<NewVegas>("new-vegas-reconstruction", &mut checked);
    check_settings::<ErTcp>("er-tcp-reconstruction", &mut checked);
    check_settings::<Dctcp>("dctcp", &mut checked);
    check_settings::<D2tcp>("d2tcp", &mut checked);
    check_settings::<Cltcp>("cltcp", &mut checked);
    check_settings::<Bbr>("bbr", &mut checked);
    check_settings::<Bbr3>("bbr3", &mut checked);
    check_settings::<Copa>("copa", &mut checked);
    check_settings::<LedbatPp>("ledbat-pp", &mut checked);
    assert_eq!(checked.len(), all().len(), "an algorithm is missing in this test");
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
