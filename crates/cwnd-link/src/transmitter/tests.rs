//! Vectors worked out by hand. A packet of 1,050 B is 8,400 bit: 8,400 ns at 1 Gbit/s.

use super::*;
use cwnd_scenario::{DeliveryTrace, Step, Steps, Time};

const GBIT: u64 = 1_000_000_000;
const MBIT: u64 = 1_000_000;

/// A link of 1 Gbit/s with these steps of (ns, bit/s).
fn stepped(steps: &[(u64, u64)], period: Option<u64>, origin: u64) -> Transmitter {
    let step = |&(at, rate)| Step { at: Time(at), rate: Rate(rate), delay: Time::ZERO };
    let steps = Steps { steps: steps.iter().map(step).collect(), period: period.map(Time) };
    Transmitter::new(Rate(GBIT), Some(&Schedule::Steps(steps)), origin)
}

#[test]
fn a_constant_rate_takes_its_time() {
    let mut transmitter = Transmitter::new(Rate(GBIT), None, 17);
    assert_eq!(transmitter.finish(100, 1050, false), 8500);
    assert_eq!(transmitter.finish(8500, 50, true), 8900);
    assert_eq!(transmitter.least_time(1050), 8400);
    let mut unlimited = Transmitter::new(Rate::UNLIMITED, None, 0);
    assert_eq!((unlimited.finish(5, 1500, false), unlimited.least_time(1500)), (5, 0));
}

#[test]
fn it_is_steady_until_a_step() {
    // Two packets leave before the step at 20,000; the third would take from 16,800 to 25,200 ns, so that is not known.
    let mut transmitter = stepped(&[(20_000, 250 * MBIT)], None, 0);
    let mut steady = transmitter.steady();
    assert_eq!([0, 8400, 16_800].map(|now| steady.finish(now, 1050)), [Some(8400), Some(16_800), None]);
    assert_eq!(steady.finish(16_800, 50), Some(17_200));
    assert_eq!(steady.finish(19_600, 50), Some(20_000));
    // Nor is it known beyond what the asker sets himself.
    steady.end_by(19_999);
    assert_eq!([19_599, 19_600].map(|now| steady.finish(now, 50)), [Some(19_999), None]);
    // Told of the second packet, the transmitter knows what is left of it at 10,400: 6,400 ns, which are 64,000 at 100 Mbit/s.
    // Of these 9,600 pass before the step; the other 54,400 are 21,760 at 250 Mbit/s.
    transmitter.began(8400, 1050);
    assert_eq!(transmitter.set_rate(10_400, Rate(100 * MBIT), Some(16_800)), Some(41_760));
    // Where it stands still and where packets take no time nothing is known.
    assert_eq!(Transmitter::new(Rate(0), None, 0).steady().finish(5, 1050), None);
    assert_eq!(Transmitter::new(Rate::UNLIMITED, None, 0).steady().finish(5, 1050), None);
}

#[test]
fn a_step_applies_to_the_bits_that_remain() {
    // Begun at 1,000, by 4,000 it has sent 3,000 of its 8,400 ns at 1 Gbit/s; the other 5,400 take four times as long at
    // 250 Mbit/s: 4,000 + 21,600.
    let steps = [(4000, 250 * MBIT)];
    assert_eq!(stepped(&steps, None, 0).finish(1000, 1050, false), 25_600);
    // The same on a clock whose time zero lies 500 ns earlier.
    assert_eq!(stepped(&steps, None, 500).finish(1500, 1050, false), 26_100);
    // What is done by the step has never seen it; what begins with it has the new rate: 33,600 ns.
    let mut transmitter = stepped(&[(8400, 250 * MBIT)], None, 0);
    assert_eq!(transmitter.finish(0, 1050, false), 8400);
    assert_eq!(transmitter.finish(8400, 1050, true), 42_000);
    assert_eq!(transmitter.finish(50_000, 1050, false), 83_600);
    // It is rounded at the step. 1,000 B at 3 Mbit/s are 2,666,667 ns; after 1,000,000 of them 1,666,667 remain, which
    // are 1,666,667 x 3 / 7 = 714,285.9 at 7 Mbit/s.
    let mut odd = stepped(&[(0, 3 * MBIT), (1_000_000, 7 * MBIT)], None, 0);
    assert_eq!(odd.finish(0, 1000, false), 1_714_286);
}

#[test]
fn a_packet_may_see_many_steps() {
    // 1,050 B from 0: 1,000 ns at 1 Gbit/s are 1,000 bit; 1,000 ns at 2 Gbit/s 2,000; 1,000 ns at 100 Mbit/s 100; the
    // other 5,300 bit at 500 Mbit/s take 10,600 ns from 3,000 on.
    let mut transmitter = stepped(&[(1000, 2 * GBIT), (2000, 100 * MBIT), (3000, 500 * MBIT)], None, 0);
    assert_eq!(transmitter.finish(0, 1050, false), 13_600);
    // Unlimited: all that remains is gone at once.
    assert_eq!(stepped(&[(1000, u64::MAX)], None, 0).finish(0, 1050, false), 1000);
}

#[test]
fn an_outage_holds_what_is_in_transmission() {
    // Down from 4,000 to 104,000: 3,000 of 8,400 ns are sent before, 5,400 after.
    let steps = [(4000, 0), (104_000, GBIT)];
    assert_eq!(stepped(&steps, None, 0).finish(1000, 1050, false), 109_400);
    // One that begins while it is down has all of it before it.
    let mut transmitter = stepped(&steps, None, 0);
    assert_eq!(transmitter.finish(50_000, 1050, false), 112_400);
    assert_eq!(transmitter.finish(112_400, 1050, true), 120_800);
    // An outage does not make a packet faster, so it does not count here.
    assert_eq!(transmitter.least_time(1050), 8400);
    // Down for ever.
    assert_eq!(stepped(&[(4000, 0)], None, 0).finish(1000, 1050, false), u64::MAX);
    assert_eq!(stepped(&[(0, 0)], Some(1000), 0).finish(1000, 1050, false), u64::MAX);
}

#[test]
fn a_period_begins_again_with_the_own_rate() {
    // 1 Gbit/s for 10 us, 100 Mbit/s for 10 us, and so on. From 15 us on 5 us at 100 Mbit/s are 500 bit, the other
    // 7,900 bit fit into the next 10 us at 1 Gbit/s: 20,000 + 7,900.
    let steps = [(10_000, 100 * MBIT)];
    assert_eq!(stepped(&steps, Some(20_000), 0).finish(15_000, 1050, false), 27_900);
    // A period is 10,000 + 1,000 bit. 3,000 B are 24,000 bit: two periods, and 2,000 bit more.
    assert_eq!(stepped(&steps, Some(20_000), 0).finish(0, 3000, false), 42_000);
    // A thousand periods later.
    assert_eq!(stepped(&steps, Some(20_000), 0).finish(20_015_000, 1050, false), 20_027_900);
    // Before time zero it has its own rate, not that of an earlier period.
    assert_eq!(stepped(&steps, Some(20_000), 9000).finish(0, 1050, false), 8400);
}

#[test]
fn a_live_change_applies_to_the_bits_that_remain() {
    let mut transmitter = Transmitter::new(Rate(GBIT), None, 0);
    assert_eq!(transmitter.finish(0, 1050, false), 8400);
    // 2,100 of 8,400 ns remain at 6,300: 8,400 at 250 Mbit/s. Of these, 4,200 remain at 10,500: 1,050 at 1 Gbit/s.
    assert_eq!(transmitter.set_rate(6300, Rate(250 * MBIT), Some(8400)), Some(14_700));
    assert_eq!(transmitter.set_rate(10_500, Rate(GBIT), Some(14_700)), Some(11_550));
    assert_eq!(transmitter.finish(11_550, 1050, true), 19_950);
    // It stands still with half of the packet left, and continues.
    assert_eq!(transmitter.set_rate(15_750, Rate(0), Some(19_950)), Some(u64::MAX));
    assert_eq!(transmitter.least_time(1050), u64::MAX);
    assert_eq!(transmitter.set_rate(20_000, Rate(0), Some(u64::MAX)), Some(u64::MAX));
    assert_eq!(transmitter.set_rate(30_000, Rate(GBIT), Some(u64::MAX)), Some(34_200));
    // Nothing in transmission; one that leaves at the moment of the change has left.
    assert_eq!(transmitter.set_rate(40_000, Rate(250 * MBIT), None), None);
    assert_eq!(transmitter.finish(40_000, 1050, false), 73_600);
    assert_eq!(transmitter.set_rate(73_600, Rate(GBIT), Some(73_600)), Some(73_600));
}

#[test]
fn a_live_change_holds_until_the_next_step() {
    // 1 Gbit/s; 250 Mbit/s from 10,000; 1 Gbit/s again from 20,000.
    let steps = [(10_000, 250 * MBIT), (20_000, GBIT)];
    let mut transmitter = stepped(&steps, None, 0);
    // 3,000 B are 24,000 bit: 10,000 by 10,000, 2,500 by 20,000, and 11,500 after it.
    assert_eq!(transmitter.finish(0, 3000, false), 31_500);
    // At 4,000 it stands still: 4,000 bit are sent. From 10,000 on as before: 2,500 bit, and 17,500 after 20,000.
    assert_eq!(transmitter.set_rate(4000, Rate(0), Some(31_500)), Some(37_500));
    // At 12,000 (500 bit later) 500 Mbit/s: 4,000 bit until 20,000, and the other 15,500.
    assert_eq!(transmitter.set_rate(12_000, Rate(500 * MBIT), Some(37_500)), Some(35_500));
    // A change at the very moment of a step comes first: the step has the last word.
    let mut transmitter = stepped(&steps, None, 0);
    transmitter.set_rate(10_000, Rate(GBIT), None);
    assert_eq!(transmitter.finish(10_000, 1050, false), 26_000 - 100);
}

#[test]
fn a_live_change_is_the_own_rate_of_later_periods() {
    // As above, 1 Gbit/s and 100 Mbit/s by turns of 10 us; at 22,000 the 1 Gbit/s become 500 Mbit/s.
    let mut transmitter = stepped(&[(10_000, 100 * MBIT)], Some(20_000), 0);
    assert_eq!(transmitter.finish(21_000, 50, false), 21_400);
    transmitter.set_rate(22_000, Rate(500 * MBIT), None);
    assert_eq!(transmitter.finish(22_000, 50, false), 22_800);
    assert_eq!(transmitter.finish(35_000, 50, false), 39_000);
    assert_eq!(transmitter.finish(40_000, 50, false), 40_800);
    // Nothing is faster than 500 Mbit/s any more.
    assert_eq!(transmitter.least_time(50), 800);
}

#[test]
fn a_trace_says_when_packets_leave() {
    let trace = DeliveryTrace { name: "test".to_owned(), times_ms: [2, 5, 9].into() };
    let mut transmitter = Transmitter::new(Rate(GBIT), Some(&Schedule::Trace(trace)), 0);
    let ms = 1_000_000;
    assert_eq!(transmitter.least_time(1500), 0);
    assert_eq!(transmitter.finish(0, 1000, false), 2 * ms);
    assert_eq!(transmitter.finish(2 * ms, 500, true), 2 * ms);
    assert_eq!(transmitter.finish(2 * ms, 500, true), 5 * ms);
    assert_eq!(transmitter.set_rate(3 * ms, Rate(1000), Some(5 * ms)), Some(5 * ms));
    assert_eq!(transmitter.finish(5 * ms, 1000, false), 9 * ms);
}
