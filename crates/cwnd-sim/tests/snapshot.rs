//! Tables of what the algorithms reach on a small path, so that a change of behaviour shows as a change of a
//! table. After one that is meant, `INSTA_UPDATE=always cargo test -p cwnd-sim --test snapshot` writes them
//! again.

mod digests;

use cwnd_metrics::RunMetrics;
use cwnd_scenario::StackProfile;
use digests::{run, small_path};
use std::fmt::Write;

const ALGORITHMS: [&str; 4] = ["newreno", "cubic", "compound", "elastic"];
const BUFFERS: [u32; 4] = [5, 20, 80, 320];
const LOSSES: [f64; 5] = [0.0, 0.0001, 0.001, 0.01, 0.05];

fn table(profile: StackProfile) -> String {
    let mut text = String::from("throughput in Mbit/s, by buffer (packets) and loss\n");
    for algorithm in ALGORITHMS {
        let _ = write!(text, "\n{algorithm:10}");
        for loss in LOSSES {
            let _ = write!(text, "{loss:>8}");
        }
        for buffer in BUFFERS {
            let _ = write!(text, "\n{buffer:10}");
            for loss in LOSSES {
                let scenario = small_path(algorithm, profile, buffer, loss);
                let metrics = RunMetrics::new(&scenario, &run(&scenario));
                let _ = write!(text, "{:>8.2}", metrics.throughput_bps / 1e6);
            }
        }
        text.push('\n');
    }
    text
}

/// A failing test prints this.
const RENEWAL: &str = "after a new algorithm: cargo xtask renew; after an intended change: INSTA_UPDATE=always cargo test -p cwnd-sim \
                       --test snapshot";

#[test]
fn throughput_with_the_ns2_profile() {
    insta::assert_snapshot!(table(StackProfile::Ns2));
}

#[test]
fn throughput_with_the_linux_profile() {
    insta::assert_snapshot!(table(StackProfile::Linux));
}

/// Every build, optimised or not and on any machine, must have these digests. A new algorithm adds a line.
#[test]
fn outcomes_to_the_bit() {
    let text = digests::algorithms();
    if std::env::var_os("CWND_RENEW").is_some() {
        add_new_algorithms(&text);
    }
    insta::with_settings!({ description => RENEWAL }, { insta::assert_snapshot!(text) });
}

/// `cargo xtask machines` computes these digests, too.
#[test]
fn outcomes_of_networks_to_the_bit() {
    insta::with_settings!({ description => RENEWAL }, { insta::assert_snapshot!(digests::networks()) });
}

/// Writes the digests if they only have lines more than the committed ones. What differs is left to the test.
fn add_new_algorithms(text: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots/snapshot__outcomes_to_the_bit.snap");
    let committed = std::fs::read_to_string(path).expect("the committed digests");
    let (_, rest) = committed.split_once("---\n").expect("a first line");
    let (about, digests) = rest.split_once("---\n").expect("a description above the digests");
    if digests.trim_end().lines().all(|line| text.lines().any(|new| new == line)) {
        std::fs::write(path, format!("---\n{about}---\n{text}")).expect("written");
    }
}
