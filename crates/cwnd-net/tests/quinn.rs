//! quinn over paths of this crate.

#[path = "../examples/quinn.rs"]
mod example;

use cwnd_net::{Codepoint, Path, Rate, Time};
use example::upload;

fn path() -> Path {
    Path::new(Rate(10_000_000), Time::from_millis(40)).buffer(50)
}

#[test]
fn an_upload_fills_a_path_without_losses() {
    let upload = upload(&path().buffer(10_000), 2_000_000).unwrap();
    // 1.6 s of payload at the rate of the link; the rest are headers, the handshake and slow start.
    assert!((1_600_000_000..2_100_000_000).contains(&upload.completed), "{upload:?}");
    assert_eq!((upload.lost, upload.lost_on_path, upload.congestion_events), (0, 0, 0));
}

#[test]
fn the_same_seed_gives_the_same_upload_and_another_seed_another() {
    let lossy = |seed| upload(&path().loss(0.01).seed(seed), 2_000_000).unwrap();
    let first = lossy(7);
    assert!(first.lost_on_path > 0 && first.congestion_events > 0, "{first:?}");
    assert_eq!(lossy(7), first);
    assert_ne!(lossy(8), first);
}

#[test]
fn codepoints_have_the_bits_of_the_ip_header() {
    let bits = [Codepoint::NotEct, Codepoint::Ect1, Codepoint::Ect0, Codepoint::Ce].map(Codepoint::bits);
    assert_eq!(bits, [0, 1, 2, 3]);
}
