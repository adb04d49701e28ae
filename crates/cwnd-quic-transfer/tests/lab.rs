//! Transfers between two processes over an emulated link of 50 Mbit/s and 100 ms that loses 1 % of the data's packets.
//!
//! Tests that need root, TUN devices and `ip` are ignored by default:
//! `cargo test -p cwnd-quic-transfer --test lab -- --include-ignored --nocapture`
#![cfg(target_os = "linux")]

mod wire;

use cwnd_lab::doctor;
use cwnd_scenario::{Rate, Time};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use wire::{Link, Report, Transfer, over_links};

const LINK: Link = Link { rate: Rate(50_000_000), rtt: Time(100_000_000), loss: 0.01 };

/// Waits until no other test emulates a network.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    let missing = doctor::missing();
    assert!(missing.is_empty(), "{}", missing.join("; "));
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does transfers at the same time, and checks what each must report.
fn run(transfers: &[Transfer]) -> Vec<Report> {
    let program = Path::new(env!("CARGO_BIN_EXE_cwnd-quic-transfer"));
    let (reports, lost) = over_links(program, LINK, transfers).unwrap_or_else(|why| panic!("{why}"));
    assert!(lost > 0, "the links have lost nothing");
    for (transfer, report) in transfers.iter().zip(&reports) {
        let lost = report.number("lost_packets") / report.number("packets");
        println!("{transfer:?}: {:.2} Mbit/s, {:.2} % lost", report.number("mbit_per_s"), 100.0 * lost);
        assert!((0.003..0.05).contains(&lost), "{transfer:?}: {report:?}");
        assert!(report.number("rtt_ms") >= 100.0, "{transfer:?}: {report:?}");
    }
    reports
}

/// 100 MB take 16 s at 50 Mbit/s.
#[test]
#[ignore = "needs root, TUN devices and ip"]
fn bbr3_fills_a_link_that_loses_one_percent() {
    let _turn = turn();
    let transfers = ["noq", "quinn"].map(|stack| Transfer::new(stack, "bbr3", 100_000_000));
    for (transfer, report) in transfers.iter().zip(run(&transfers)) {
        let rate = report.number("mbit_per_s");
        assert!((25.0..50.0).contains(&rate), "{transfer:?}: {report:?}");
    }
}

/// Loss-based algorithms reach about 1.2 packets/(RTT √loss), or 1.5 Mbit/s here (Mathis et al. 1997): 3 MB instead of 100.
#[test]
#[ignore = "needs root, TUN devices and ip"]
fn loss_based_algorithms_send_a_file_whole() {
    let _turn = turn();
    let transfers = ["noq", "quinn"]
        .map(|stack| ["cubic", "elastic", "agile-sd"].map(|name| Transfer::new(stack, name, 3_000_000)))
        .concat();
    for (transfer, report) in transfers.iter().zip(run(&transfers)) {
        let rate = report.number("mbit_per_s");
        assert!((0.7..20.0).contains(&rate), "{transfer:?}: {report:?}");
        assert!(report.number("congestion_events") > 3.0, "{transfer:?}: {report:?}");
    }
}
