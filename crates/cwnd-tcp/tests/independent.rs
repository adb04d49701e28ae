//! The endpoint against an independent one: a sender and a receiver written from the RFCs' rules over plain lists.
//!
//! Each seed is an exchange: random settings, and a random path that loses, delays, duplicates and marks packets in both
//! directions. Both pairs of endpoints are handed the same packets and timers. After every event they must agree on what was sent,
//! what is lost, what was reported to the algorithm, and when the next timer expires.
//!
//! `CWND_SEED=17 cargo test --release -p cwnd-tcp --test independent -- --nocapture` runs the exchange 17 with each recovery;
//! `CWND_EXCHANGES=10000000` runs more of them (`cargo xtask exchanges`).

#[path = "independent/algorithm.rs"]
mod algorithm;
#[path = "independent/clock.rs"]
mod clock;
#[path = "independent/counting.rs"]
mod counting;
#[path = "independent/exchange.rs"]
mod exchange;
#[path = "independent/receiver.rs"]
mod receiver;
#[path = "independent/run.rs"]
mod run;
#[path = "independent/sender.rs"]
mod sender;
#[path = "independent/settings.rs"]
mod settings;
#[path = "independent/timed.rs"]
mod timed;
#[path = "independent/timed_output.rs"]
mod timed_output;
#[path = "independent/timed_recovery.rs"]
mod timed_recovery;

use cwnd_scenario::Recovery;

#[test]
fn rfc_6675_agrees() {
    run::all(Recovery::Prr);
}

#[test]
fn ns2_agrees() {
    run::all(Recovery::Ns2);
}

#[test]
fn rack_agrees() {
    run::all(Recovery::Rack);
}

#[test]
fn linux_agrees() {
    run::all(Recovery::Linux);
}
