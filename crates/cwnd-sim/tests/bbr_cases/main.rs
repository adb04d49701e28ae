//! The example test cases of draft-ietf-ccwg-bbr (its appendix), over the simulator.
//!
//! Each case is a flow over a path that is changed while it runs, as the case says; what BBR holds is written down after
//! every event ([`watch`]), and every step of a case is an assertion. `docs/bbr.md` has what they measure:
//! `CWND_RENEW=1 cargo test -p cwnd-sim --test bbr_cases` writes its table anew.

mod probe_bw;
mod probe_rtt;
mod rates;
mod report;
mod run;
mod spurious;
mod startup;
mod watch;

#[test]
fn c01() {
    println!("{:?}", startup::plateau_ends_startup());
}
#[test]
fn c02() {
    println!("{:?}", startup::loss_ends_startup_though_the_application_limits());
}
#[test]
fn c03() {
    println!("{:?}", startup::drain_ends_on_inflight());
}
#[test]
fn c04() {
    println!("{:?}", startup::drain_ends_on_time());
}
#[test]
fn c07() {
    println!("{:?}", probe_bw::up_and_startup_never_end_without_loss());
}
#[test]
fn c12() {
    println!("{:?}", startup::startup_with_aggregation());
}
#[test]
fn c20() {
    println!("{:?}", startup::probe_rtt_in_startup());
}
#[test]
fn c05() {
    println!("{:?}", probe_bw::plateau_ends_up());
}
#[test]
fn c06() {
    println!("{:?}", probe_bw::loss_ends_up_though_the_application_limits());
}
#[test]
fn c08() {
    println!("{:?}", probe_bw::down_ends_on_inflight());
}
#[test]
fn c09() {
    println!("{:?}", probe_bw::down_ends_on_time());
}
#[test]
fn c10() {
    println!("{:?}", probe_rtt::probe_rtt_by_what_was_known_before());
}
#[test]
fn c11() {
    println!("{:?}", probe_rtt::idleness_stands_for_probe_rtt());
}
#[test]
fn c21() {
    println!("{:?}", probe_bw::loss_in_up_lowers_the_long_term_bound());
}
#[test]
fn c22() {
    println!("{:?}", probe_bw::a_pause_in_refill_lowers_nothing());
}
#[test]
fn c13() {
    println!("{:?}", rates::cruise_with_aggregation());
}
#[test]
fn c14() {
    println!("{:?}", rates::less_than_a_packet());
}
#[test]
fn c15() {
    println!("{:?}", rates::ten_times_the_rate());
}
#[test]
fn c16() {
    println!("{:?}", rates::a_tenth_of_the_rate());
}
#[test]
fn c17() {
    println!("{:?}", rates::a_policer());
}
#[test]
fn c18() {
    println!("{:?}", spurious::spurious_fast_recovery());
}
#[test]
fn c19() {
    println!("{:?}", spurious::spurious_timeout());
}
