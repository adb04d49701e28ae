//! Applications that have not always data to send, short flows, and deadlines.

use super::Dice;
use cwnd_scenario::{Distribution, FlowSpec, Rate, Stack, Time, Traffic};

/// Let some flows have traffic of another kind. Times are like one of `times`: a packet's, a round trip, a timeout.
pub fn enrich(dice: &mut Dice, flows: &mut [FlowSpec], stack: &Stack, times: &[u64]) {
    let often = dice.pick(&[1, 2, 4]);
    for flow in flows.iter_mut() {
        if dice.one_in(often) {
            flow.traffic = traffic(dice, stack, times);
        }
        if dice.one_in(6) {
            flow.deadline = Some(Time(dice.pick(times) * dice.between(1, 20)));
        }
    }
    // Short ones come last.
    let short = dice.below(flows.len() as u64 + 1) as usize;
    let first = flows.len() - short;
    for flow in &mut flows[first..] {
        if dice.one_in(2) {
            flow.traffic = Traffic::Bulk;
            flow.bytes = Some(super::bytes(dice, stack));
        }
    }
    let last = flows.iter().rposition(|flow| flow.bytes.is_none() || flow.traffic != Traffic::Bulk);
    flows[last.map_or(0, |last| last + 1).max(first)..].iter_mut().for_each(|flow| flow.short = true);
}

fn traffic(dice: &mut Dice, stack: &Stack, times: &[u64]) -> Traffic {
    match dice.below(3) {
        0 => Traffic::OnOff { on: time(dice, times, 2_000), off: time(dice, times, 0) },
        // A packet in one of the times, more or less.
        1 => {
            let bits = u128::from(stack.payload) * 8_000_000_000;
            let rate = bits / u128::from(dice.pick(times).max(1)) / u128::from(dice.between(1, 5));
            Traffic::Live(Rate((rate as u64).clamp(1_000, 1_000_000_000_000)))
        }
        _ => {
            let size = u64::from(stack.payload) * dice.pick(&[1, 1, 3, 30]) + dice.below(2);
            Traffic::Responses { size: distribution(dice, size), think: time(dice, times, 0) }
        }
    }
}

/// Of times that are `least` or more in the mean.
fn time(dice: &mut Dice, times: &[u64], least: u64) -> Distribution<Time> {
    let mean = (dice.pick(times) * dice.between(1, 10)).max(least).max(1);
    match dice.one_in(6) && least == 0 {
        true => Distribution::Constant(Time::ZERO),
        false => distribution(dice, Time(mean)),
    }
}

fn distribution<T: cwnd_scenario::Quantity>(dice: &mut Dice, mean: T) -> Distribution<T> {
    match dice.below(5) {
        0 => Distribution::Exponential(mean),
        1 => Distribution::Uniform(mean, T::from_units(2 * mean.units())),
        2 => Distribution::Pareto(mean, 1.5),
        3 => Distribution::Lognormal(mean, 1.0),
        _ => Distribution::Constant(mean),
    }
}
