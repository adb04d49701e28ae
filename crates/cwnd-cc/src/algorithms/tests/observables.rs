//! What algorithms show of their state.

use crate::testing::{ack_rtt, lose, observe, time_out, window_with};
use crate::{Ack, Arithmetic, EcnMode, Init, Nanos, Parameters, RateSample, all};
use alloc::collections::BTreeSet;

const UNITS: [&str; 6] = ["1", "s", "bit/s", "segments", "flows", ""];

#[test]
fn names_are_words_with_a_unit_a_symbol_and_a_sentence() {
    for algorithm in all() {
        let observables = algorithm.observables;
        let names: BTreeSet<_> = observables.iter().map(|observable| observable.name).collect();
        assert_eq!(names.len(), observables.len(), "{}", algorithm.name);
        for observable in observables {
            let word =
                observable.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
            assert!(word && !observable.symbol.is_empty(), "{observable:?}");
            assert!(observable.about.ends_with('.') && !observable.about.contains("  "), "{observable:?}");
            assert!(UNITS.contains(&observable.unit), "{observable:?}");
            assert_eq!(observable.unit.is_empty(), !observable.modes.is_empty(), "{observable:?}");
        }
    }
}

/// An algorithm that names no value of its state has none: after a history, it grows a window as a new flow does.
#[test]
fn only_algorithms_without_a_state_of_their_own_show_none() {
    for algorithm in all().iter().filter(|algorithm| algorithm.observables.is_empty()) {
        let new = || (algorithm.build)(&Parameters::new()).unwrap();
        let mut old = new();
        let mut window = window_with(20.0, 10.0, Arithmetic::Real);
        for n in 1..50 {
            old.on_ack(&mut window, &ack_rtt(100 * n, 100 + n));
        }
        let mut other = window_with(window.cwnd, window.ssthresh, Arithmetic::Real);
        old.on_ack(&mut window, &ack_rtt(6000, 130));
        new().on_ack(&mut other, &ack_rtt(6000, 130));
        assert_eq!(window.cwnd, other.cwnd, "{} has a state: name its values", algorithm.name);
    }
}

/// Every algorithm writes as many values as it names, from its beginning on; `observe` checks that none is infinite. After
/// slow start, a queue, marks and a loss it knows most of them.
#[test]
fn every_algorithm_writes_what_it_names() {
    for algorithm in all() {
        for arithmetic in [Arithmetic::Real, Arithmetic::Linux, Arithmetic::Linux26] {
            let mut flow = (algorithm.build)(&Parameters::new()).unwrap();
            let mut window = window_with(10.0, 20.0, arithmetic);
            assert_eq!(flow.observables(), algorithm.observables, "{}", algorithm.name);
            observe(&*flow, &window, 0);
            flow.init(&mut window, &Init { ecn: EcnMode::Exact, ..Init::default() });
            let mut known = BTreeSet::new();
            for round in 1..60 {
                for n in 0..10 {
                    let (now, delivered) = (100 * round + n, 10 * round + n);
                    let rate = RateSample {
                        delivered: 10,
                        interval: Nanos::from_millis(100),
                        rtt: Nanos::from_millis(100),
                        ..RateSample::default()
                    };
                    let ack = Ack {
                        round_start: n == 0,
                        round,
                        delivered,
                        sent: delivered + 10,
                        marked: u32::from(n == 3),
                        rate: Some(rate),
                        ..ack_rtt(now, 100 + round % 7 * 10)
                    };
                    flow.on_ack(&mut window, &ack);
                }
                match round {
                    20 | 40 => lose(&mut *flow, &mut window, 100 * round + 50),
                    50 => time_out(&mut *flow, &mut window, 100 * round + 50),
                    _ => {}
                }
                let values = observe(&*flow, &window, 100 * round + 60);
                for (observable, value) in algorithm.observables.iter().zip(values) {
                    if value.is_nan() {
                        continue;
                    }
                    known.insert(observable.name);
                    let modes = observable.modes.len() as f64;
                    let is_mode = value == libm::floor(value) && (0.0..modes).contains(&value);
                    assert!(
                        observable.modes.is_empty() || is_mode,
                        "{}: {observable:?} {value}",
                        algorithm.name
                    );
                }
            }
            for observable in algorithm.observables {
                // These are known only after losses of a kind, or during a phase, that this flow has not.
                let rare = ["inflight_longterm", "inflight_shortterm", "step"].contains(&observable.name);
                let name = algorithm.name;
                assert!(
                    rare || known.contains(observable.name),
                    "{name} {arithmetic:?}: {}",
                    observable.name
                );
            }
        }
    }
}
