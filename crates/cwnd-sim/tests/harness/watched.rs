//! What is notified of packets, held against what links count.

use crate::generator::Dice;
use cwnd_scenario::{Outcome, Scenario};
use cwnd_sim::watch::{End, PacketEvent, PacketObserver, Point};

/// Counts what passes some points.
pub struct Counter {
    pub points: Vec<Point>,
    /// For each point: packets, and how many of them were dropped.
    seen: Vec<(u64, u64)>,
    last: (i64, bool, usize),
    wrong: Option<String>,
}

impl Counter {
    /// Some of the ends of a scenario's links; of every fourth scenario none.
    pub fn draw(scenario: &Scenario, dice: &mut Dice) -> Counter {
        let links = scenario.network.links.len();
        let all = (0..links).flat_map(|link| [End::Enter, End::Leave].map(|end| Point { link, end }));
        let (none, share) = (dice.one_in(4), dice.between(1, 4));
        let points: Vec<Point> = all.filter(|_| !none && dice.one_in(share)).collect();
        Counter::new(points)
    }

    /// Counts at these points.
    pub fn new(points: Vec<Point>) -> Counter {
        Counter { seen: vec![(0, 0); points.len()], points, last: (i64::MIN, false, 0), wrong: None }
    }

    /// Whether as many were seen as the links have counted.
    pub fn check(&self, outcome: &Outcome) -> Result<(), String> {
        if let Some(wrong) = &self.wrong {
            return Err(wrong.clone());
        }
        for (point, &seen) in self.points.iter().zip(&self.seen) {
            let link = &outcome.links[point.link];
            let counted = match point.end {
                End::Enter => (link.arrived, link.dropped),
                End::Leave => (link.delivered, 0),
            };
            if seen != counted {
                return Err(format!(
                    "\n  at {point:?} {seen:?} were seen, {counted:?} counted (and dropped)"
                ));
            }
        }
        Ok(())
    }
}

impl PacketObserver for Counter {
    fn on_packet(&mut self, event: &PacketEvent<'_>) {
        let seen = &mut self.seen[event.point];
        seen.0 += 1;
        seen.1 += u64::from(event.dropped);
        let enters = self.points[event.point].end == End::Enter;
        let now = (event.at, enters, event.point);
        if now < self.last {
            self.wrong
                .get_or_insert(format!("\n  {now:?} is told of after {:?} (ns, enters, point)", self.last));
        }
        self.last = now;
    }
}
