//! What is changed while a scenario runs.

use super::{Dice, Habits, MOST_RATE, kept};
use crate::naive::has_jitter_alone;
use cwnd_link::SerialTime;
use cwnd_scenario::{
    Counting, Discipline, Distribution, Effects, Jitter, JitterShape, LinkId, LinkSpec, Loss, Policer,
    QueueSpec, Rate, Scenario, Time, Traffic,
};

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
    /// What else a link does.
    Effects(LinkId, Effects),
    /// A flow stops.
    Stop(usize),
    /// A flow's application gives data in another way, or none.
    Traffic(usize, Option<Traffic>),
}

impl Action {
    /// The link that is changed, if it is one.
    pub fn link(&self) -> Option<LinkId> {
        match self {
            Action::Rate(link, _)
            | Action::Delay(link, _)
            | Action::Loss(link, _)
            | Action::Queue(link, _)
            | Action::Effects(link, _) => Some(*link),
            Action::Look | Action::Stop(_) | Action::Traffic(..) => None,
        }
    }
}

/// A change of a scenario with the given number of waiting packets at each link; the next event is at `busy`.
pub fn draw(dice: &mut Dice, scenario: &Scenario, waiting: &[usize], busy: Option<LinkId>) -> Action {
    let mut link = busy.filter(|_| dice.one_in(3)).unwrap_or_else(|| draw_link(dice, scenario, waiting));
    let what = dice.below(22);
    if (6..=10).contains(&what) && dice.one_in(2) {
        // A shorter delay meets something only where packets may overtake each other.
        let mut links = scenario.network.links.iter();
        let overtaken = links.position(|spec| spec.effects.jitter.is_some_and(|jitter| jitter.reorders));
        link = overtaken.unwrap_or(link);
    }
    if let Some(alone) = scenario.network.links.iter().position(has_jitter_alone)
        && (2..=14).contains(&what)
        && dice.one_in(2)
    {
        link = alone;
        if dice.one_in(3) {
            return draw_jitter(dice, link);
        }
    }
    let spec = &scenario.network.links[link];
    let rate = match spec.rate {
        Rate::UNLIMITED => 1_000_000_000,
        rate => rate.0,
    };
    let full = scenario.stack.full_packet();
    let packet = SerialTime::new(Rate(rate)).of(full);
    match what {
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
        15 | 16 => {
            let flow = dice.below(scenario.flows.len() as u64) as usize;
            Action::Traffic(flow, draw_traffic(dice, rate, packet))
        }
        17 | 18 => draw_effects(dice, scenario, link, packet),
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

/// What an application does from now on. Short flows never change.
fn draw_traffic(dice: &mut Dice, rate: u64, packet: u64) -> Option<Traffic> {
    let time = |dice: &mut Dice| Distribution::Exponential(Time(dice.between(1, 200) * packet.max(1000)));
    Some(match dice.below(6) {
        0 | 1 => return None,
        2 => Traffic::Bulk,
        3 => Traffic::Live(Rate((rate / dice.between(1, 20)).max(1000))),
        4 => Traffic::OnOff { on: time(dice), off: time(dice) },
        _ => Traffic::Responses { size: Distribution::Constant(dice.between(1, 30_000)), think: time(dice) },
    })
}

/// What else a link does from now on; mostly one that does more than others already.
fn draw_effects(dice: &mut Dice, scenario: &Scenario, link: LinkId, packet: u64) -> Action {
    let links = &scenario.network.links;
    // Whether a link that is plain but for its steps keeps its queue is for the engine to say.
    let steps_only = |link: LinkId| LinkSpec { schedule: None, ..links[link].clone() }.is_plain();
    let kept: Vec<LinkId> =
        (0..links.len()).filter(|&link| !links[link].is_plain() && !steps_only(link)).collect();
    let link = if kept.is_empty() || dice.one_in(8) { link } else { dice.pick(&kept) };
    if steps_only(link) && !links[link].is_plain() {
        return Action::Loss(link, Loss::None);
    }
    let mut effects = links[link].effects;
    match dice.below(5) {
        0 => effects.slot = (!dice.one_in(3)).then(|| Time(dice.between(1, 40) * packet)),
        1 => effects.duplication = if dice.one_in(3) { 0.0 } else { 0.2 * dice.unit() },
        2 => {
            let burst = u64::from(scenario.stack.full_packet()) * dice.between(1, 20);
            let rate = links[link].rate.0.min(MOST_RATE) / dice.between(1, 4);
            effects.policer = (!dice.one_in(3)).then_some(Policer { rate: Rate(rate.max(1000)), burst });
        }
        3 => effects.jitter = None,
        _ => {
            let reorders = effects.jitter.map_or(dice.one_in(6), |jitter| jitter.reorders);
            let shape = JitterShape::Uniform(Time(dice.pick(&[1, packet, 20 * packet])));
            effects.jitter = Some(Jitter { shape, reorders });
        }
    }
    if dice.one_in(20) {
        effects.ack_thinning = Some(3);
    }
    Action::Effects(link, effects)
}

/// Another jitter, or none, for a link that has nothing else.
fn draw_jitter(dice: &mut Dice, link: LinkId) -> Action {
    let most = Time(dice.pick(&[1, 1_000, 100_000, 10_000_000]));
    let shape = match dice.below(4) {
        0 => return Action::Effects(link, Effects::default()),
        1 => JitterShape::Uniform(most),
        2 => JitterShape::Normal(most, Time(most.0 / 2)),
        _ => JitterShape::Sometimes(0.5 * dice.unit(), most),
    };
    let jitter = Some(Jitter { shape, reorders: false });
    Action::Effects(link, Effects { jitter, ..Effects::default() })
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
