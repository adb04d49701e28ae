//! Flows that begin with a short packet, one after the other, on a dumbbell: what may be taken for granted of the ACKs'
//! distances only while no flow begins.

use super::Dice;
use cwnd_experiment::{Buffer, FlowGroup};
use cwnd_experiment::{ExperimentSpec, LineDelay, OrBottleneck};
use cwnd_scenario::{AlgorithmSpec, Rate, Scenario, StackProfile, Time};

/// A scenario of that kind.
pub fn scenario(seed: u64) -> Scenario {
    let mut dice = Dice::new(seed);
    let rate = dice.pick(&[10_000_000, 100_000_000, 1_000_000_000]);
    // Of a full packet of 1,050 B.
    let packet = 8_400_000_000_000 / rate;
    let setup = ExperimentSpec {
        rate: Rate(rate),
        delay: LineDelay::OneWay(Time(packet * dice.between(1, 200))),
        access_rate: Some(OrBottleneck::Bottleneck),
        access_delay: Some(Time(packet * dice.below(4))),
        buffer: Buffer::from(dice.between(2, 50) as u32),
        access_buffer: Some(OrBottleneck::Own(Buffer::from(dice.between(2, 50) as u32))),
        stack: StackProfile::Ns2.into(),
        duration: Time(packet * dice.between(500, 3000) + dice.below(packet)),
        start_jitter: Some(Time::ZERO),
        send_overhead: Some(Time::ZERO),
        ..ExperimentSpec::default()
    };
    let algorithm = AlgorithmSpec { name: dice.pick(&["newreno", "bic"]).to_owned(), ..Default::default() };
    let flows = dice.between(2, 6) as u32;
    let mut scenario = setup
        .scenario(&[FlowGroup::new(algorithm, flows)], seed)
        .unwrap_or_else(|problems| panic!("{problems:?}"));
    scenario.stack.initial_window = dice.pick(&[2, 2, 10]);
    scenario.stack.first_packet = dice.pick(&[None, Some(1), Some(40), Some(40), Some(40)]);
    for flow in &mut scenario.flows {
        let late = scenario.duration.0 / dice.pick(&[2, 4, 20, 1000]);
        let start = dice.below(late.max(1));
        flow.start = Time(if dice.one_in(2) { start / packet * packet } else { start });
    }
    scenario
}
