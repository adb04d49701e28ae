use super::*;
use crate::testing::assert_near;

/// The Elastic-TCP paper's simulations: 25,500 packets of pipe, 204 ms.
fn path(buffer: f64) -> Path {
    Path { rate_bps: 1e9, rtt: 0.204, packet_bytes: 1_000.0, buffer }
}

const ELASTIC: Growth = Growth::Elastic { beta: 0.5 };

#[test]
fn newreno_without_and_with_a_buffer() {
    // 25,500 to 12,750: 12,750 round trips of 0.204 s.
    assert_near(Growth::NewReno.epoch(&path(0.0)), 2_601.0, 1e-9);
    // 31,900: from 15,950 9,550 round trips of 0.204 s = 1,948.2 s; then (31,900^2 - 25,500^2)/(2 x 125,000) = 367,360,000
    // / 250,000 = 1,469.44 s.
    assert_near(Growth::NewReno.epoch(&path(6_400.0)), 3_417.64, 1e-8);
    // As much buffer as pipe: always full, 3/8 x 51,000^2 / 125,000.
    assert_near(Growth::NewReno.epoch(&path(25_500.0)), 7_803.0, 1e-8);
}

#[test]
fn elastic_without_and_with_a_buffer() {
    // 2 (sqrt(25,500) - sqrt(12,750)) = 2 (159.68719 - 112.91590) = 93.54258 round trips of 0.204 s.
    assert_near(ELASTIC.epoch(&path(0.0)), 19.082_686, 1e-5);
    // rho = 31,900/25,500 = 1.2509804, its root 1.1184724. 2 (159.68719 - 126.29331) = 66.78776 -> 59.71337 round trips
    // of 0.204 s = 12.18153 s; then 367,360,000/(2 x 125,000 x sqrt(31,900) = 178.60571) = 8.22735 s.
    assert_near(ELASTIC.epoch(&path(6_400.0)), 20.408_88, 1e-4);
    // The sheet's 8.2 s at beta 0.8: from 25,520 all of it is a full pipe.
    // (31,900^2 - 25,520^2) = 366,339,600 / (250,000 x 178.60571) = 8.20443 s.
    assert_near(Growth::Elastic { beta: 0.8 }.epoch(&path(6_400.0)), 8.204_43, 1e-4);
}

#[test]
fn cubic_goes_by_the_clock_unless_reno_is_faster() {
    // cbrt(0.2 x 31,900/0.4) = cbrt(15,950) = 25.1721 s.
    assert_near(CUBIC_2008.epoch(&path(6_400.0)), 25.172_145, 1e-4);
    // 125 packets at 1 ms: cbrt(62.5) = 3.969 s; the friendly line rises by 1/3 a round trip: 25 x 3 = 75 ms.
    let short = Path { rtt: 1e-3, ..path(0.0) };
    assert_near(CUBIC_2008.epoch(&short), 0.075, 1e-12);
}

#[test]
fn compound_is_fast_without_a_buffer_and_newreno_with_one() {
    // 8 x 4 x (25,500^0.25 - 12,750^0.25) = 32 (12.636739 - 10.626189) = 64.33760 round trips of 0.204 s.
    assert_near(Growth::Compound.epoch(&path(0.0)), 13.124_87, 1e-4);
    // With a buffer the loss window goes from Wmax/2 to Wmax by one a round trip, as NewReno's does; but the pipe is full
    // nearly all the time, so that the round trips are longer: 15,950 round trips, of which those up to 25,530 packets
    // take 0.204 s or little more.
    let epoch = Growth::Compound.epoch(&path(6_400.0));
    let newreno = Growth::NewReno.epoch(&path(6_400.0));
    assert!((epoch / newreno - 1.0).abs() < 1e-3, "{epoch} {newreno}");
}

#[test]
fn a_cycle_is_an_epoch_and_what_a_sender_adds() {
    // RTTmax = 0.2552 s: one packet more takes NewReno a round trip, and two are for noticing and mending.
    assert_near(Growth::NewReno.cycle(&path(6_400.0)), 3_417.64 + 3.0 * 0.2552, 1e-8);
    // cbrt(1/0.4) = 1.357209 s for CUBIC.
    assert_near(CUBIC_2008.cycle(&path(6_400.0)), 25.172_145 + 1.357_209 + 0.5104, 1e-5);
    let elastic = ELASTIC.cycle(&path(6_400.0)) - ELASTIC.epoch(&path(6_400.0));
    // 0.2552/178.60571 = 0.0014289
    assert_near(elastic, 0.511_829, 1e-5);
}

#[test]
fn windows_go_from_the_loss_to_the_next_one() {
    for growth in [Growth::NewReno, ELASTIC, CUBIC_2008, Growth::Compound] {
        for path in [path(0.0), path(20.0), path(6_400.0), path(40_000.0), Path { rtt: 1e-3, ..path(10.0) }] {
            let windows = growth.windows(&path, 50);
            let top = path.window_max();
            let (first, last) = (windows[0], windows[windows.len() - 1]);
            assert_near(first.0, 0.0, 1e-12);
            assert_near(first.1, growth.beta() * top, 1e-9 * top);
            assert_near(last.0, growth.epoch(&path), 1e-9 * last.0);
            assert_near(last.1, top, 1e-6 * top);
            assert!(windows.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1 + 1e-9), "{growth:?} {path:?}");
        }
    }
}

/// The closed forms against the sum that they are the integral of.
#[test]
fn closed_forms_are_integrals() {
    let growth = |which: Growth, path: &Path, w: f64| match which {
        Growth::Elastic { .. } => libm::sqrt(path.rtt_max() / path.rtt_at(w) * w),
        Growth::Compound if w >= LOW_WINDOW => ALPHA * libm::pow(w, K),
        _ => 1.0,
    };
    for path in [path(20.0), path(3_000.0), Path { rtt: 5e-4, ..path(4.0) }] {
        for which in [Growth::NewReno, ELASTIC, Growth::Compound] {
            let (from, to) = (0.5 * path.window_max(), path.window_max());
            let parts = 200_000;
            let width = (to - from) / f64::from(parts);
            let middle = |i: i32| from + (f64::from(i) + 0.5) * width;
            let sum: f64 =
                (0..parts).map(middle).map(|w| path.rtt_at(w) / growth(which, &path, w) * width).sum();
            let closed = which.climb(&path, from, to);
            assert!((closed / sum - 1.0).abs() < 1e-5, "{which:?} {path:?}: {closed} {sum}");
        }
    }
}
