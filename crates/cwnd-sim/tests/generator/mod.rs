//! Random scenarios: every kind of network, queue, loss, stack and flow, with times that are often equal.
//!
//! A seed decides everything. Ties are made likely: most links of a network share their rate and delay, and
//! many delays are whole multiples of a packet's time.

mod changes;
mod dice;
mod kept;
mod networks;
mod openings;
mod probe;
mod traffic;

pub use changes::{Action, draw as draw_action};
pub use dice::Dice;
pub use probe::factory;

use cwnd_scenario::{
    AccurateEcn, AlgorithmSpec, Counting, DelayedAck, Ecn, EcnPeer, EcnRemark, FlowSpec, LinkSpec,
    LinuxVersion, Loss, QueueLimit, QueueSpec, Rate, ReceiverBehaviour, Recovery, Scenario, Stack, Ties,
    Time, Traffic,
};
use networks::Shape;

/// The fastest links: the smallest packet takes more than half a nanosecond.
const MOST_RATE: u64 = 400_000_000_000;

/// One of this number of scenarios is one of `openings.rs`.
const OPENINGS: u64 = 16;

/// What the links of a network have in common.
pub struct Habits {
    rate: u64,
    delay: u64,
    counting: Counting,
    /// One of this number of links differs in its rate, and one in its delay.
    odd: u64,
    /// Links mark packets.
    marks: bool,
    /// One of this number of links loses packets, with a probability up to the second number.
    loss: (u64, f64),
    /// Queue limits are small.
    tiny: bool,
    full_packet: u32,
}

/// The scenario of a seed.
pub fn scenario(seed: u64) -> Scenario {
    if seed % OPENINGS == 5 {
        return openings::scenario(seed);
    }
    let mut dice = Dice::new(seed);
    let mut stack = stack(&mut dice);
    let habits = habits(&mut dice, &stack);
    let flows = match dice.below(10) {
        0..3 => 1,
        3..8 => dice.between(2, 5),
        _ => dice.between(6, 16),
    } as usize;
    let mut shape = networks::draw(&mut dice, &habits, flows);
    if dice.one_in(12) {
        shape.hurry(&mut dice, &habits);
    }
    let Shape { mut network, routes } = shape;

    // As long as some round trips and some thousand packets take, and sometimes as a timeout does.
    let propagation = |route: &Vec<usize>| route.iter().map(|&link| network.links[link].delay.0).sum::<u64>();
    let trip = routes.iter().map(|(data, acks)| propagation(data) + propagation(acks)).max().unwrap_or(0);
    let packet = habits.packet_time();
    let busy = (dice.between(3, 30) * trip + dice.between(100, 3000) * packet).max(1000);
    let duration = busy + dice.pick(&[0, 0, 0, 500_000_000, 2_000_000_000, 8_000_000_000]);

    // Drawn apart, so that the other half of all scenarios is what it would be without.
    let mut apart = Dice::new(!seed);
    sizes(&mut Dice::new(seed ^ 0x5153_5a45), &mut stack);
    if apart.one_in(2) {
        stack.l4s = !apart.one_in(4);
        kept::enrich(&mut apart, &habits, &mut network, busy);
        if network.links.iter().any(|link| link.queue.discipline.marks()) && !apart.one_in(3) {
            stack.ecn = apart.pick(&[Ecn::Classic, Ecn::Exact]);
        }
    }

    draw_accurate_ecn(&mut Dice::new(seed ^ 0x4163_6345_434e), &mut network, &mut stack);

    let mixed = dice.one_in(2);
    let one = algorithm(&mut dice);
    let finite = dice.one_in(3);
    let staggered = dice.one_in(2);
    let stopping = dice.one_in(3);
    let flows = routes
        .into_iter()
        .map(|(route, ack_route)| {
            let start = if staggered { Time(dice.below(busy)) } else { Time::ZERO };
            FlowSpec {
                algorithm: if mixed { algorithm(&mut dice) } else { one.clone() },
                route,
                ack_route,
                start,
                stop: (stopping && !dice.one_in(4)).then(|| Time(dice.below(busy) + start.0 / 2)),
                bytes: (finite && !dice.one_in(4)).then(|| bytes(&mut dice, &stack)),
                traffic: Traffic::Bulk,
                deadline: None,
                group: None,
                short: false,
                reverse: false,
                receiver: ReceiverBehaviour::Honest,
                transport: cwnd_scenario::Transport::Tcp,
            }
        })
        .collect();
    let mut flows: Vec<FlowSpec> = flows;
    if apart.one_in(3) {
        traffic::enrich(&mut apart, &mut flows, &stack, &[packet, trip.max(packet), 300_000_000]);
    }
    draw_misbehaviour(&mut Dice::new(seed ^ 0x4c69_6172), &mut flows, &stack, packet.max(1000));
    Scenario {
        network: network.into(),
        flows: flows.into(),
        arrivals: None,
        stack,
        duration: Time(duration),
        // The engine's runs subtract it; the simulations that are compared here know nothing of it.
        warm_up: Time::ZERO,
        seed: dice.below(1 << 32),
        start_jitter: Time(if dice.one_in(2) { dice.pick(&[trip, packet, 1_000_000]) } else { 0 }),
        send_overhead: Time(if dice.one_in(3) { dice.pick(&[packet, 1, 10 * packet]) } else { 0 }),
        ties: if dice.one_in(2) { Ties::ByTurn } else { Ties::ByNumber },
        sample: None,
    }
}

fn algorithm(dice: &mut Dice) -> AlgorithmSpec {
    let registered = cwnd_cc::all();
    let name = if dice.one_in(4) {
        dice.pick(probe::NAMES)
    } else {
        registered[dice.below(registered.len() as u64) as usize].name
    };
    AlgorithmSpec { name: name.to_owned(), ..AlgorithmSpec::default() }
}

fn bytes(dice: &mut Dice, stack: &Stack) -> u64 {
    let payload = u64::from(stack.payload);
    match dice.below(5) {
        0 => 1,
        1 => payload,
        2 => payload * dice.between(2, 200),
        3 => payload * dice.between(2, 70) + 1,
        _ => dice.between(2, 300 * payload),
    }
}

fn stack(dice: &mut Dice) -> Stack {
    let window = dice.pick(&[1, 2, 3, 7, 20, 64, 200, 1000, 1000, 10_000, 100_000, 100_000]);
    let timestamps = !dice.one_in(4);
    let mut stack = if dice.one_in(2) {
        Stack::ns2(dice.pick(&[1000, 1000, 1000, 1448, 500, 997, 1, 8960, 60_000]), timestamps, window)
    } else {
        Stack::linux(dice.pick(&[1500, 1500, 1500, 576, 9000, 1280, 53]), timestamps, window)
    };
    if dice.one_in(3) {
        // As it is.
        return stack;
    }
    if dice.one_in(4) {
        stack.sack = false;
    }
    if dice.one_in(2) {
        stack.delayed_ack = match dice.below(5) {
            0 => DelayedAck::After(Time(dice.between(1, 100_000_000))),
            1 => DelayedAck::After(Time::from_millis(40)),
            // So short that it runs out between two packets of a fast link.
            2 => DelayedAck::After(Time(dice.pick(&[1, 1000, 8400, 12_112]))),
            _ => DelayedAck::Off,
        };
    }
    stack.ecn = dice.pick(&[Ecn::Off, Ecn::Off, Ecn::Classic, Ecn::Exact]);
    if dice.one_in(4) {
        stack.handshake = !stack.handshake;
    }
    if dice.one_in(3) {
        stack.initial_window = dice.pick(&[1, 2, 3, 4, 10, 50]);
    }
    if dice.one_in(3) {
        stack.initial_ssthresh = dice.pick(&[None, Some(2), Some(8), Some(30)]);
    }
    if dice.one_in(4) {
        let others = match stack.recovery {
            Recovery::Ns2 => [Recovery::Prr, Recovery::Linux, Recovery::Rack],
            Recovery::Prr | Recovery::Linux | Recovery::Rack => {
                [Recovery::Ns2, Recovery::Prr, Recovery::Rack]
            }
        };
        stack.recovery = dice.pick(&others);
    }
    if dice.one_in(3) {
        stack.timer_hz = dice.pick(&[0, 100, 250, 1000]);
    }
    if dice.one_in(3) {
        stack.linux_version = dice.pick(&[LinuxVersion::new(5, 10), LinuxVersion::new(6, 12)]);
    }
    stack.limited_transmit = !dice.one_in(3);
    stack.detect_lost_retransmissions = !dice.one_in(4);
    if dice.one_in(3) {
        stack.min_rto = Time::from_millis(dice.pick(&[1, 5, 30]));
        stack.initial_rto = Time::from_millis(dice.pick(&[1, 10, 100, 300]));
        stack.max_rto = Time::from_millis(dice.pick(&[300, 1000, 60_000]));
    }
    stack
}

/// A first packet as the others, a short one, or one that is hardly shorter; and what SACK blocks weigh.
fn sizes(dice: &mut Dice, stack: &mut Stack) {
    if dice.one_in(2) {
        let full = stack.full_packet();
        stack.first_packet = dice.pick(&[None, None, Some(40), Some(1), Some(full - 1), Some(full)]);
    }
    if dice.one_in(3) {
        (stack.sack_block_base, stack.sack_block_each) = dice.pick(&[(0, 0), (0, 8), (4, 8)]);
    }
}

fn habits(dice: &mut Dice, stack: &Stack) -> Habits {
    const MBIT: u64 = 1_000_000;
    let rate = match dice.below(4) {
        0 => dice.logarithmic(MBIT, 10_000 * MBIT),
        1 if dice.one_in(4) => dice.pick(&[40_000 * MBIT, 100_000 * MBIT]),
        1 => dice.pick(&[3 * MBIT, 7_000 * MBIT, 1_000_003, 999_999_937]),
        _ => dice.pick(&[MBIT, 10 * MBIT, 100 * MBIT, 1000 * MBIT, 1000 * MBIT, 10_000 * MBIT]),
    };
    let mut habits = Habits {
        rate,
        delay: 0,
        counting: dice.pick(&[Counting::WithTransmission, Counting::WaitingOnly]),
        odd: dice.pick(&[2, 4, 1000]),
        marks: if stack.ecn == Ecn::Off { dice.one_in(6) } else { !dice.one_in(5) },
        loss: (dice.pick(&[1, 3, 3, 1000, 1000, 1000]), dice.pick(&[0.001, 0.01, 0.1])),
        tiny: dice.one_in(4),
        full_packet: stack.full_packet(),
    };
    let packet = habits.packet_time();
    habits.delay = match dice.below(6) {
        0 => dice.pick(&[0, 1, 1000]),
        1 => dice.between(1, 40) * packet,
        2 => dice.logarithmic(1000, 300_000_000),
        3 => dice.pick(&[1_000_000, 5_000_000]),
        _ => dice.pick(&[100_000, 1_000_000, 10_000_000, 100_000_000]),
    };
    habits
}

impl Habits {
    /// How long a full packet takes at the usual rate, ns.
    fn packet_time(&self) -> u64 {
        (u64::from(self.full_packet) * 8_000_000_000 / self.rate).max(1)
    }

    /// A rate of a link.
    fn draw_rate(&self, dice: &mut Dice) -> Rate {
        if !dice.one_in(self.odd) {
            return Rate(self.rate);
        }
        match dice.below(6) {
            0 => Rate::UNLIMITED,
            1 => Rate((self.rate * 10).min(MOST_RATE)),
            2 => Rate((self.rate / 2).max(1_000_000)),
            3 => Rate(self.rate - 1),
            _ => Rate(dice.logarithmic(self.rate / 4, (self.rate * 4).min(MOST_RATE))),
        }
    }

    /// A delay of a link.
    fn draw_delay(&self, dice: &mut Dice) -> Time {
        if !dice.one_in(self.odd) {
            return Time(self.delay);
        }
        Time(match dice.below(5) {
            0 => 0,
            1 => dice.below(4) * self.packet_time(),
            2 => self.delay + 1,
            3 => self.delay.saturating_sub(self.packet_time()),
            _ => dice.below(2 * self.delay + 2),
        })
    }

    /// A queue of a link.
    fn draw_queue(&self, dice: &mut Dice) -> QueueSpec {
        let packets = if self.tiny {
            dice.pick(&[0, 1, 2, 3, 5])
        } else {
            dice.pick(&[0, 1, 2, 5, 10, 20, 50, 100, 100, 1000])
        };
        let full = u64::from(self.full_packet);
        let limit = match dice.below(8) {
            0 => QueueLimit::Unlimited,
            1 => QueueLimit::Bytes(dice.pick(&[0, 1, full - 1, full, full + 1, 3 * full])),
            2 => QueueLimit::Bytes(u64::from(packets) * full + dice.below(full)),
            _ => QueueLimit::Packets(packets),
        };
        let counting = match (self.counting, dice.one_in(self.odd)) {
            (counting, false) | (counting @ Counting::WaitingOnly, true) => counting,
            (Counting::WithTransmission, true) => Counting::WaitingOnly,
        };
        let ecn_threshold =
            (self.marks && !dice.one_in(4)).then(|| dice.pick(&[0, 1, 2, packets / 2, packets]));
        QueueSpec { ecn_threshold, ..QueueSpec::drop_tail(limit, counting) }
    }

    /// What a link loses.
    fn draw_loss(&self, dice: &mut Dice) -> Loss {
        match dice.one_in(self.loss.0) {
            true => Loss::Bernoulli(self.loss.1 * dice.unit()),
            false => Loss::None,
        }
    }

    /// A link.
    fn draw_link(&self, dice: &mut Dice, name: String, from: usize, to: usize) -> LinkSpec {
        let (rate, delay) = (self.draw_rate(dice), self.draw_delay(dice));
        LinkSpec {
            queue: self.draw_queue(dice),
            loss: self.draw_loss(dice),
            ..LinkSpec::new(name, from, to, rate, delay)
        }
    }
}

/// Accurate ECN in some of the scenarios that have ECN, and links that change the ECN field.
/// Lets some receivers misbehave, and some sources ignore the network. Drawn apart, so that other draws stay as they are.
fn draw_misbehaviour(dice: &mut Dice, flows: &mut [FlowSpec], stack: &Stack, packet: u64) {
    for flow in flows {
        if dice.one_in(12) {
            flow.receiver = dice.pick(&[
                ReceiverBehaviour::HideCe,
                ReceiverBehaviour::ConcealLosses,
                ReceiverBehaviour::Optimistic(1),
                ReceiverBehaviour::Optimistic(30),
            ]);
        }
        if dice.one_in(30) && !flow.short {
            let rate = u128::from(stack.payload) * 8_000_000_000 / u128::from(packet * dice.between(1, 4));
            flow.traffic = Traffic::Pulses {
                rate: Rate((rate as u64).clamp(1_000, 1_000_000_000_000)),
                on: Time(packet * dice.between(1, 100)),
                off: Time(packet * dice.between(0, 300)),
            };
        }
        if dice.one_in(30) && !flow.short {
            let rate = u128::from(stack.payload) * 8_000_000_000 / u128::from(packet);
            let interval = Time((packet * dice.between(1, 100)).max(1_000_000));
            flow.traffic = Traffic::Media {
                rate: Rate((rate as u64).clamp(1_000, 1_000_000_000_000)),
                interval,
                deadline: Time(interval.0 * dice.between(1, 6)),
            };
        }
    }
}

fn draw_accurate_ecn(dice: &mut Dice, network: &mut cwnd_scenario::Network, stack: &mut Stack) {
    if stack.ecn == Ecn::Off {
        return;
    }
    if dice.one_in(3) {
        let peer = dice.pick(&[EcnPeer::Accurate, EcnPeer::Accurate, EcnPeer::Classic, EcnPeer::Off]);
        stack.ecn = Ecn::Accurate(AccurateEcn { peer, option: dice.one_in(2) });
    }
    if dice.one_in(6) {
        let link = dice.below(network.links.len() as u64) as usize;
        let remark = dice.pick(&[EcnRemark::Bleach, EcnRemark::Unmark, EcnRemark::Ect1ToEct0]);
        network.links[link].effects.ecn_remark = Some(remark);
    }
}
