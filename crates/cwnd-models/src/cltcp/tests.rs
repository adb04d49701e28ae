use super::*;
use crate::testing::assert_near;

#[test]
fn n_rests_at_the_inverse_of_the_level() {
    assert_near(resting_n(0.01, D), 10.0, 1e-12);
    assert_near(resting_n(0.25, D), 2.0, 1e-12);
    assert_eq!(resting_n(1.0, D), 1.0);
    assert_eq!(level(0.5, 2.0), 0.25);
    // Equation 5 leaves it there and leads to it.
    assert_near(next_n(10.0, 0.01, D), 10.0, 1e-12);
    let n = (0..300).fold(1.0, |n, _| next_n(n, 0.01, D));
    assert_near(n, 10.0, 1e-9);
    // Without marks it grows by one an update.
    assert_eq!(next_n(7.0, 0.0, D), 8.0);
}

#[test]
fn the_throughput_model() {
    // sqrt(1.5/0.01) = 12.247449 packets in 80 ms: 153.09 packets/s; N = 4: four times as much.
    assert_near(throughput(1.0, 0.08, 0.01), 153.093_1, 1e-4);
    assert_near(throughput(4.0, 0.08, 0.01), 612.372_4, 1e-4);
    assert_eq!(decrease(1.0), 0.5);
    assert_near(decrease(3.0), 0.2, 1e-12);
}

/// Equation 7 is what the rules of equation 4 give for a loss in every 1/PLR-th packet.
#[test]
fn regular_losses_give_the_model() {
    for (n, loss) in [(1.0, 1e-4), (4.0, 1e-4), (10.0, 1e-3)] {
        let (mut window, mut packets, mut time) = (100.0, 0.0, 0.0);
        let period = (1.0 / loss) as u32;
        for i in 0..60 * period {
            if i == 20 * period {
                (packets, time) = (0.0, 0.0);
            }
            if i % period == 0 {
                window *= 1.0 - decrease(n);
            }
            packets += 1.0;
            time += 0.08 / window;
            window += n / window;
        }
        let (simulated, model) = (packets / time, throughput(n, 0.08, loss));
        assert!((simulated / model - 1.0).abs() < 0.01, "{n} {loss}: {simulated} {model}");
    }
}

#[test]
fn random_losses_give_more() {
    // Reno: the constant of Ott, Kemperman and Mathis, 1.3098.
    assert_near(random_loss_throughput(1.0, 1.0, 1e-4), 130.98, 0.02);
    // It scales as equation 7 does.
    let ratio = random_loss_throughput(5.0, 0.08, 1e-3) / random_loss_throughput(5.0, 0.16, 4e-3);
    assert_near(ratio, 4.0, 1e-9);
}
