//! The example test cases of draft-ietf-ccwg-bbr (its appendix), over the simulator.
//!
//! Each case is a flow over a path that is changed while it runs, as the case says; what BBR holds is written down after
//! every event ([`watch`]), and every step of a case is an assertion. Where the draft's own pseudocode does not do what a
//! case expects, the case asserts what the pseudocode does, and says why. `docs/bbr.md` has what was measured;
//! `CWND_RENEW=1 cargo test -p cwnd-sim --test bbr_cases` writes its table again.

mod probe_bw;
mod probe_rtt;
mod rates;
mod report;
mod run;
mod spurious;
mod startup;
mod watch;

use report::{Case, Found};
use std::sync::OnceLock;

/// The cases, and a test of each.
macro_rules! cases {
    ($($number:literal $name:ident $title:literal $run:path;)*) => {
        const CASES: &[Case] = &[$(Case { number: $number, title: $title, run: $run }),*];

        $(#[test]
        fn $name() {
            found($number);
        })*
    };
}

cases! {
    1 case_01_startup_ends_on_a_plateau "Startup ends on a bandwidth plateau"
        startup::plateau_ends_startup;
    2 case_02_startup_ends_on_loss_when_limited "Startup ends on loss, though the application limits"
        startup::loss_ends_startup_though_the_application_limits;
    3 case_03_drain_ends_on_inflight "Drain ends on what is in flight" startup::drain_ends_on_inflight;
    4 case_04_drain_ends_on_time "Drain ends on time" startup::drain_ends_on_time;
    5 case_05_up_ends_on_a_plateau "UP ends on a bandwidth plateau" probe_bw::plateau_ends_up;
    6 case_06_up_ends_on_loss_when_limited "UP ends on loss, though the application limits"
        probe_bw::loss_ends_up_though_the_application_limits;
    7 case_07_up_and_startup_never_end_when_limited "UP and Startup never end while the application limits and nothing is lost"
        probe_bw::up_and_startup_never_end_without_loss;
    8 case_08_down_ends_on_inflight "DOWN ends on what is in flight" probe_bw::down_ends_on_inflight;
    9 case_09_down_ends_on_time "DOWN ends on time" probe_bw::down_ends_on_time;
    10 case_10_probe_rtt_and_back "ProbeRTT, and back" probe_rtt::probe_rtt_by_what_was_known_before;
    11 case_11_no_probe_rtt_after_idleness "No ProbeRTT after idleness" probe_rtt::idleness_stands_for_probe_rtt;
    12 case_12_startup_with_aggregation "Startup over a link that aggregates" startup::startup_with_aggregation;
    13 case_13_cruise_with_aggregation "CRUISE over a link that aggregates" rates::cruise_with_aggregation;
    14 case_14_less_than_a_packet "A bandwidth-delay product of less than a packet" rates::less_than_a_packet;
    15 case_15_ten_times_the_rate "Ten times the rate" rates::ten_times_the_rate;
    16 case_16_a_tenth_of_the_rate "A tenth of the rate" rates::a_tenth_of_the_rate;
    17 case_17_a_policer "A token-bucket policer" rates::a_policer;
    18 case_18_spurious_fast_recovery "Spurious fast recovery" spurious::spurious_fast_recovery;
    19 case_19_spurious_timeout "Spurious timeout" spurious::spurious_timeout;
    20 case_20_probe_rtt_in_startup "ProbeRTT in Startup" startup::probe_rtt_in_startup;
    21 case_21_loss_in_up_lowers_the_bound "Loss in UP once inflight_longterm is set"
        probe_bw::loss_in_up_lowers_the_long_term_bound;
    22 case_22_a_pause_in_refill "A pause in REFILL" probe_bw::a_pause_in_refill_lowers_nothing;
}

/// What a case found. It runs once, whoever asks.
fn found(number: usize) -> &'static Found {
    static FOUND: [OnceLock<Found>; CASES.len()] = [const { OnceLock::new() }; CASES.len()];
    assert_eq!(CASES[number - 1].number, number);
    FOUND[number - 1].get_or_init(CASES[number - 1].run)
}

#[test]
fn the_table_in_the_documents_is_what_is_measured() {
    report::check_document(CASES, &|number| found(number));
}
