//! smoltcp over paths of this crate.

#[path = "../examples/smoltcp.rs"]
mod example;

use cwnd_net::{Path, Rate, Time};
use example::upload;

#[test]
fn the_same_seed_gives_the_same_upload_and_another_seed_another() {
    let path = Path::new(Rate(10_000_000), Time::from_millis(40)).buffer(50).loss(0.002);
    let lossy = |seed| upload(&path.clone().seed(seed), 2_000_000).unwrap();
    let (completed, lost) = lossy(7);
    assert!(lost > 0 && completed > 1_600_000_000, "{completed} {lost}");
    assert_eq!(lossy(7), (completed, lost));
    assert_ne!(lossy(8), (completed, lost));
}
