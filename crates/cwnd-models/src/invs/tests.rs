use super::*;
use crate::testing::assert_near;

#[test]
fn the_increase_factor() {
    // 100 ms: log2(10) = 3.321928; 10 Mbit: log2(50) = 5.643856: 18.7485.
    assert_near(increase_factor(1.0, 0.1, 10e6), 18.748_48, 1e-4);
    // 80 ms: log2(12.5) = 3.643856; 8 Mbit: log2(62.5) = 5.965784: 21.7385.
    assert_near(increase_factor(1.0, 0.08, 8e6), 21.738_46, 1e-4);
    // 1 Gbit/s and 500 ms, the reference: 1; beyond a reference too.
    assert_eq!(increase_factor(1.0, 0.5, 500e6), 1.0);
    assert_eq!(increase_factor(1.0, 2.0, 1_000e6), 1.0);
}

#[test]
fn growth_on_both_sides() {
    // 800 (1,000 - 800)/(20 x 1,000) = 8; above (1,100 - 1,000)/20 = 5; at the point 1.
    assert_near(growth(800.0, 1_000.0, 20.0), 8.0, 1e-12);
    assert_near(growth(1_100.0, 1_000.0, 20.0), 5.0, 1e-12);
    assert_eq!(growth(999.5, 1_000.0, 20.0), 1.0);
    assert_eq!(saturation_after(900.0, 1_000.0, 0.8), 810.0);
    assert_eq!(saturation_after(1_000.0, 1_000.0, 0.8), 1_000.0);
}

#[test]
fn the_curve_is_equation_1_in_small_steps() {
    let curve = Curve { start: 800.0, saturation: 1_000.0, k: 10.0 };
    // 0.25/(1/999) = 249.75, its logarithm 5.520460: 55.2046 round trips.
    assert_near(curve.arrival(), 55.204_6, 1e-3);
    // 1,000/(1 + 0.25 e^-1) = 1,000/1.0919699 = 915.7762
    assert_near(curve.window(10.0), 915.776_2, 1e-3);
    let mut window = curve.start;
    for i in 0..8_000_u32 {
        let round_trips = f64::from(i) / 100.0;
        let model = curve.window(round_trips);
        assert!((window - model).abs() < 0.02 * (model - 800.0).max(5.0), "{round_trips}: {window} {model}");
        window += growth(window, 1_000.0, 10.0) / 100.0;
    }
    // After 57.2 round trips it runs away by e in 10.
    assert_near(curve.window(87.204_6), 1_000.0 + libm::exp(3.0), 1e-2);
}

#[test]
fn two_flows_converge() {
    let pair = Pair { room: 1_333.0, k: 21.7, beta: 0.8 };
    let corners = pair.epochs((1_133.0, 200.0), (1_135.0, 0.0), 30);
    assert_eq!(corners.len(), 61);
    // Point A: both keep 0.8.
    assert_near(corners[1].0, 906.4, 1e-9);
    assert_near(corners[1].1, 160.0, 1e-9);
    // Point B: the pipe is full again, and flow 2 has gained on flow 1, which stays under its last window.
    assert!((corners[2].0 + corners[2].1 - 1_333.0).abs() < 3.0);
    assert!(corners[2].1 > 200.0 && corners[2].0 < 1_133.0);
    let share = |(a, b): (f64, f64)| a / (a + b);
    let losses: Vec<f64> = corners.iter().step_by(2).map(|c| share(*c)).collect();
    assert!((losses[20] - 0.5).abs() < 0.02, "{losses:?}");
    // Every second epoch changes next to nothing.
    assert!((losses[1] - losses[2]).abs() < 0.003 && losses[2] - losses[3] > 0.04, "{losses:?}");
}
