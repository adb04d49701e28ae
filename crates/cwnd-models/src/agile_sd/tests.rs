use super::*;
use crate::testing::assert_near;

#[test]
fn the_papers_example() {
    // 20 (1/4 + 1/3 + 1/2 + 1) = 41.6667 ms against 4 x 20 = 80 ms: 47.9 % less, "around 48 %".
    let agile = epoch_time(20.0, &[4.0, 3.0, 2.0, 1.0]);
    assert_near(agile, 41.666_667, 1e-6);
    assert_near(epoch_time(20.0, &[1.0; 4]), 80.0, 1e-12);
    assert_near(1.0 - agile / 80.0, 0.479_167, 1e-6);
}

#[test]
fn equation_1_gives_the_example_other_factors() {
    let epoch = Epoch { loss: 12.0, degraded: 9.0, lambda_max: 4.0 };
    let lambdas = [9.0, 10.0, 11.0, 12.0].map(|w| lambda(&epoch, w));
    // gap_total 3; gaps 3, 2, 1 and (at least) 1.
    assert_near(lambdas[0], 4.0, 1e-12);
    assert_near(lambdas[1], 8.0 / 3.0, 1e-12);
    assert_near(lambdas[2], 4.0 / 3.0, 1e-12);
    assert_near(lambdas[3], 4.0 / 3.0, 1e-12);
    // 20 (0.25 + 0.375 + 0.75 + 0.75)
    assert_near(epoch_time(20.0, &lambdas), 42.5, 1e-9);
    assert_near(epoch_time(20.0, &lambdas[..3]), 27.5, 1e-9);
}

#[test]
fn a_factor_of_one_is_newreno() {
    let epoch = Epoch { loss: 1_500.0, degraded: 1_425.0, lambda_max: 1.0 };
    assert_eq!(epoch.round_trips(), 75.0);
    assert_near(epoch.window(40.0), 1_465.0, 1e-12);
    for w in [1_425.0, 1_450.0, 1_500.0, 1_600.0] {
        assert_eq!(lambda(&epoch, w), 1.0);
    }
    // But not under the degraded window, as printed: 500/75.
    assert_near(lambda(&epoch, 1_000.0), 6.666_667, 1e-6);
}

#[test]
fn an_epoch_in_real_numbers() {
    let epoch = papers(3.0);
    // G = 75: 25 ln 3 = 27.4653 round trips to a gap of 25, then 25 more: 52.4653, 70 % of 75.
    assert_near(epoch.round_trips(), 52.465_31, 1e-5);
    assert_near(epoch.window(27.465_31), 1_475.0, 1e-4);
    // A round trip is the first of 25 e-folds: 1,500 - 75 e^(-1/25) = 1,427.94.
    assert_near(epoch.window(1.0), 1_427.940_79, 1e-4);
    assert_eq!(epoch.window(60.0), 1_500.0);
}

#[test]
fn a_cycle_on_a_full_pipe() {
    // 1,428.571 packets of 1,050 bytes in 12 ms, with 250 of buffer 1,678.571: G = 83.9286, RTTmax = 14.1 ms.
    let path = Path { rate_bps: 1e9, rtt: 0.012, packet_bytes: 1_050.0, buffer: 250.0 };
    // lambda_max 1: 83.9286 (1,678.571 - 41.9643)/119,047.6 = 1.153807 s, and 42.3 ms.
    assert_near(cycle(&path, 1.0), 1.196_107, 1e-5);
    // lambda_max 3: last 27.9762; 27.9762 (1,678.571 ln 3 - 55.9524) = 50,025.1; 27.9762 (1,678.571 - 13.9881) = 46,568.7;
    // together 96,593.8/119,047.6 = 0.811388 s, and 42.3 ms.
    assert_near(cycle(&path, 3.0), 0.853_688, 2e-5);
}

#[test]
fn equation_6_on_a_full_pipe() {
    // 100 packets a second and windows up to 100: a second a round trip at 100 packets. From 95 to 100, lambda_max 1: six cycles,
    // (95 + 96 + 97 + 98 + 99 + 100)/100 = 5.85 s.
    let path = Path { rate_bps: 80_000.0, rtt: 0.5, packet_bytes: 100.0, buffer: 50.0 };
    assert_near(cycles(&path, 1.0), 5.85, 1e-9);
    // lambda_max 2, gaps 5, 4, 3, 2, 1 and (at least) 1 of 5: 2, 1.6, 1.2, 1, 1, 1.
    // 0.95/2 + 0.96/1.6 + 0.97/1.2 + 0.98 + 0.99 + 1 = 4.853333 s.
    assert_near(cycles(&path, 2.0), 4.853_333, 1e-6);
}

/// The window packet by packet, by the equations as printed, against the real-valued model.
#[test]
fn the_model_is_the_algorithm_in_small_steps() {
    for lambda_max in LAMBDA_MAXIMA {
        let epoch = papers(lambda_max);
        let (mut window, mut round_trips) = (epoch.degraded, 0.0);
        while window < epoch.loss - 1.0 {
            round_trips += 1.0 / window;
            window += lambda(&epoch, window) / window;
            let model = epoch.window(round_trips);
            assert!((window - model).abs() < 0.05, "{lambda_max}: {window} {model}");
        }
    }
}
