//! The studies of the models: the numbers that their claims hold runs against are the models' own.

use cwnd_models::invs::{BETA, increase_factor, steady};
use cwnd_models::{Path, agile_sd, cltcp, elastic};
use cwnd_study::{Claim, ClaimKind, ClaimTest, Expectation, Study};

/// A study's claims on a mean that are held against a number: the labels of the cells by axis, and the number.
fn numbers(study: &str) -> Vec<(impl Fn(&str) -> String, f64)> {
    let path = format!("{}/../../studies/{study}.toml", env!("CARGO_MANIFEST_DIR"));
    let study = Study::load(path.as_ref(), &|_| Ok(())).unwrap();
    let one = |claim: Claim| match claim.test {
        ClaimTest::Measured { kind: ClaimKind::Mean { select, .. }, expect } => match expect {
            Expectation::Printed { value, .. } => Some((move |axis: &str| select.0[axis][0].clone(), value)),
            Expectation::Within(_) | Expectation::Gain(_) => None,
        },
        _ => None,
    };
    study.claims.into_iter().filter_map(one).collect()
}

#[track_caller]
fn assert_close(written: f64, model: f64) {
    // Four digits are written.
    assert!((written / model - 1.0).abs() < 6e-4, "{written} is written, the model has {model}");
}

#[test]
fn epochs_of_elastic_and_its_rivals() {
    let claims = numbers("elastic/models");
    assert!(claims.len() >= 12);
    for (label, written) in claims {
        let (variant, buffer) = (label("variant"), label("buffer"));
        let (_, growth) = elastic::VARIANTS.iter().find(|(name, _)| *name == variant).expect(&variant);
        assert_close(written, growth.cycle(&elastic::held_against(buffer.parse().unwrap())));
    }
}

#[test]
fn epochs_of_agile_sd() {
    let claims = numbers("agile-sd/models");
    // The model's, then those of equation 6.
    assert_eq!(claims.len(), 8);
    let path = Path { rate_bps: 1e9, rtt: 0.012, packet_bytes: 1_050.0, buffer: 250.0 };
    for (i, (label, written)) in claims.into_iter().enumerate() {
        let lambda_max = label("lambda").parse().unwrap();
        let model = if i < 4 { agile_sd::cycle } else { agile_sd::cycles };
        assert_close(written, model(&path, lambda_max));
    }
}

#[test]
fn throughput_of_cltcp() {
    let claims = numbers("cltcp/models");
    assert_eq!(claims.len(), 12);
    for (label, written) in claims {
        let (n, loss) = (label("n").parse().unwrap(), label("per").parse().unwrap());
        assert_close(written, cltcp::throughput(n, 0.08, loss));
    }
}

#[test]
fn epochs_of_invs() {
    let claims = numbers("invs/steady-state");
    assert_eq!(claims.len(), 12);
    for (i, (label, written)) in claims.into_iter().enumerate() {
        // A buffer of one product, and packets of 1,500 bytes with 50 of headers.
        let packets_per_second = label("rate").parse::<f64>().unwrap() * 1e6 / (8.0 * 1_550.0);
        let product = packets_per_second * 0.08;
        let (room, k) = (2.0 * product, increase_factor(1.0, 0.08, product * 8.0 * 1_500.0));
        let cycle = steady::Cycle { room, k, beta: BETA };
        // As printed, of one kind, of both kinds, and as printed again for the growth that equation 7 defines.
        let packets = match i / 3 {
            0 | 3 => {
                let (round_trips, window) = steady::printed(cycle);
                round_trips * window
            }
            1 => steady::Steady { saturation: room, k, beta: BETA }.packets(),
            _ => cycle.packets() / 2.0,
        };
        assert_close(written, packets / packets_per_second);
    }
}
