//! What is changed while a scenario runs.

use super::{Dice, Habits};
use cwnd_link::SerialTime;
use cwnd_scenario::{Counting, LinkId, Loss, QueueSpec, Rate, Scenario, Time};

/// A change, or only a look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Look at everything.
    Look,
    /// A link's rate.
    Rate(LinkId, Rate),
    /// A link's delay.
    Delay(LinkId, Time),
    /// What a link loses.
    Loss(LinkId, Loss),
    /// A link's queue.
    Queue(LinkId, QueueSpec),
    /// A flow stops.
    Stop(usize),
}

impl Action {
    /// The link that is changed, if it is one.
    pub fn link(&self) -> Option<LinkId> {
        match self {
            Action::Rate(link, _) | Action::Delay(link, _) | Action::Loss(link, _) | Action::Queue(link, _) => {
                Some(*link)
            }
            Action::Look | Action::Stop(_) => None,
        }
    }
}

/// A change of a scenario.
pub fn draw(dice: &mut Dice, scenario: &Scenario) -> Action {
    // Of a link that is in use.
    let flow = &scenario.flows[dice.below(scenario.flows.len() as u64) as usize];
    let route = if dice.one_in(3) { &flow.ack_route } else { &flow.route };
    let link = dice.pick(route);
    let spec = &scenario.network.links[link];
    let rate = match spec.rate {
        Rate::UNLIMITED => 1_000_000_000,
        rate => rate.0,
    };
    let full = scenario.stack.full_packet();
    let packet = SerialTime::new(Rate(rate)).of(full);
    match dice.below(10) {
        0 => Action::Look,
        1 | 2 => Action::Rate(
            link,
            match dice.below(8) {
                0 => Rate::UNLIMITED,
                1 => spec.rate,
                2 => Rate(rate / 10),
                3 => Rate((rate * 10).min(10_000_000_000)),
                _ => Rate(dice.logarithmic(rate / 4, (rate * 4).min(10_000_000_000))),
            },
        ),
        3 | 4 => Action::Delay(
            link,
            Time(match dice.below(6) {
                0 => 0,
                1 => spec.delay.0 / 2,
                2 => spec.delay.0.saturating_sub(packet),
                3 => spec.delay.0 + dice.between(1, 4) * packet,
                _ => dice.below(2 * spec.delay.0 + 2 * packet + 2),
            }),
        ),
        5 | 6 => Action::Loss(
            link,
            match dice.below(6) {
                0 => Loss::None,
                1 => Loss::Bernoulli(1.0),
                2 => Loss::Bernoulli(0.0),
                _ => Loss::Bernoulli(0.2 * dice.unit()),
            },
        ),
        7 | 8 => {
            let habits = Habits {
                rate,
                delay: spec.delay.0,
                counting: dice.pick(&[Counting::WithTransmission, Counting::WaitingOnly]),
                odd: 1000,
                marks: dice.one_in(2),
                loss: (1000, 0.0),
                tiny: dice.one_in(2),
                full_packet: full,
            };
            Action::Queue(link, habits.draw_queue(dice))
        }
        _ => Action::Stop(dice.below(scenario.flows.len() as u64) as usize),
    }
}
