//! What is changed while a scenario runs.

use super::{Dice, Habits, MOST_RATE, kept};
use cwnd_link::SerialTime;
use cwnd_scenario::{Counting, Discipline, LinkId, LinkSpec, Loss, QueueSpec, Rate, Scenario, Time};

/// A change, or only a look.
#[derive(Clone, Debug, PartialEq)]
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
            Action::Rate(link, _)
            | Action::Delay(link, _)
            | Action::Loss(link, _)
            | Action::Queue(link, _) => Some(*link),
            Action::Look | Action::Stop(_) => None,
        }
    }
}

/// A change of a scenario in which so many packets wait at each link, and the next event is at `busy`.
pub fn draw(dice: &mut Dice, scenario: &Scenario, waiting: &[usize], busy: Option<LinkId>) -> Action {
    let link = busy.filter(|_| dice.one_in(3)).unwrap_or_else(|| draw_link(dice, scenario, waiting));
    let spec = &scenario.network.links[link];
    let rate = match spec.rate {
        Rate::UNLIMITED => 1_000_000_000,
        rate => rate.0,
    };
    let full = scenario.stack.full_packet();
    let packet = SerialTime::new(Rate(rate)).of(full);
    match dice.below(18) {
        0 => Action::Look,
        1 => Action::Stop(dice.below(scenario.flows.len() as u64) as usize),
        2..=5 => Action::Rate(link, draw_rate(dice, spec, rate)),
        6..=10 => Action::Delay(
            link,
            Time(match dice.below(7) {
                0 | 6 => 0,
                _ if spec.rate == Rate::UNLIMITED && dice.one_in(3) => 0,
                1 => spec.delay.0 / 2,
                2 => spec.delay.0.saturating_sub(packet),
                3 => spec.delay.0 + dice.between(1, 4) * packet,
                _ => dice.below(2 * spec.delay.0 + 2 * packet + 2),
            }),
        ),
        11..=14 => Action::Loss(
            link,
            match dice.below(6) {
                0 => Loss::None,
                1 => Loss::Bernoulli(1.0),
                2 => Loss::Bernoulli(0.0),
                3 => kept::loss(dice),
                _ => Loss::Bernoulli(0.2 * dice.unit()),
            },
        ),
        _ => {
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
            let mut queue = habits.draw_queue(dice);
            if spec.queue.discipline != Discipline::DropTail && !dice.one_in(4) {
                // Another limit, and now and then other parameters.
                queue.discipline = match dice.one_in(2) {
                    true => kept::alike(dice, spec.queue.discipline, packet),
                    false => spec.queue.discipline,
                };
            }
            Action::Queue(link, queue)
        }
    }
}

/// A link that is in use; often the one with the longest queue, or one at the end of a route.
fn draw_link(dice: &mut Dice, scenario: &Scenario, waiting: &[usize]) -> LinkId {
    let longest = (0..waiting.len()).max_by_key(|&link| waiting[link]);
    if let Some(longest) = longest.filter(|&link| waiting[link] > 0 && dice.one_in(3)) {
        return longest;
    }
    let flow = &scenario.flows[dice.below(scenario.flows.len() as u64) as usize];
    let route = if dice.one_in(2) { &flow.ack_route } else { &flow.route };
    match dice.below(3) {
        0 => route[0],
        1 => route[route.len() - 1],
        _ => dice.pick(route),
    }
}

fn draw_rate(dice: &mut Dice, spec: &LinkSpec, rate: u64) -> Rate {
    match dice.below(8) {
        0 | 1 => Rate::UNLIMITED,
        // Perhaps the last that takes time in a circle.
        _ if spec.delay == Time::ZERO && dice.one_in(3) => Rate::UNLIMITED,
        2 => spec.rate,
        3 => Rate((rate / 10).max(1000)),
        4 => Rate(rate.saturating_mul(10).min(MOST_RATE)),
        _ => Rate(dice.logarithmic((rate / 4).max(1000), rate.saturating_mul(4).min(MOST_RATE))),
    }
}
