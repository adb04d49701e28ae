use super::*;
use crate::testing::assert_near;

#[test]
fn the_worked_example() {
    // 1e9 x 0.001 / 8,000 = 125 packets; half of it is lost and won back, 62.5 round trips of 1 ms, which the paper
    // rounds to 62.
    let short = example(1e-3);
    assert_near(short.bdp(), 125.0, 1e-9);
    assert_eq!(newreno_round_trips(125.0), 62.5);
    assert_near(Growth::NewReno.epoch(&short), 0.0625, 1e-12);
    // 100 ms: 12,500 packets, 6,250 round trips, 625 s.
    let long = example(0.1);
    assert_near(long.bdp(), 12_500.0, 1e-9);
    assert_eq!(newreno_round_trips(12_500.0), 6_250.0);
    assert_near(Growth::NewReno.epoch(&long), 625.0, 1e-9);
}

#[test]
fn a_line_is_cut_where_the_axis_ends() {
    let line = vec![(0.0, 1.0), (2.0, 3.0), (6.0, 5.0)];
    assert_eq!(until(line.clone(), 4.0), [(0.0, 1.0), (2.0, 3.0), (4.0, 4.0)]);
    assert_eq!(until(line.clone(), 9.0), line);
}

#[test]
fn the_ratio_is_the_used_share_of_a_full_pipe_and_buffer() {
    let path = Path { buffer: 6_400.0, ..example(0.204) };
    let ratio = |w: f64| utilisation_ratio(path.rtt_at(w), path.rtt_max());
    assert_near(ratio(28_000.0), 28_000.0 / 31_900.0, 1e-12);
    assert_near(ratio(31_900.0), 1.0, 1e-12);
    // Under the BDP it stays at 204/255.2.
    assert_near(ratio(25_500.0), 0.799_373, 1e-6);
    assert_eq!(ratio(10.0), ratio(25_500.0));
}

#[test]
fn the_weight_is_the_algorithms() {
    // sqrt(10,000) = 100 with a full buffer; with RTTmax = 4 RTTcur twice as much.
    assert_eq!(weight(1.0, 10_000.0), 100.0);
    assert_eq!(weight(0.25, 10_000.0), 200.0);
}

#[test]
fn the_order_of_figure_5_depends_on_the_buffer() {
    let epoch = |buffer: f64, growth: Growth| growth.epoch(&Path { buffer, ..example(0.1) });
    let elastic = Growth::Elastic { beta: 0.5 };
    for buffer in [0.0, 3_125.0] {
        assert!(epoch(buffer, elastic) < epoch(buffer, CUBIC_2008));
        assert!(epoch(buffer, CUBIC_2008) < epoch(buffer, Growth::NewReno));
    }
    assert!(epoch(0.0, Growth::Compound) < epoch(0.0, elastic));
    assert!(epoch(3_125.0, Growth::Compound) > 0.9 * epoch(3_125.0, Growth::NewReno));
}
