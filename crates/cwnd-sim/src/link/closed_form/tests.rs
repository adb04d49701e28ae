use super::*;
use crate::ring::Ring;
use cwnd_link::{Purpose, Stream};
use cwnd_scenario::Rate;
use cwnd_tcp::packet::Packet;

/// What the cases draw.
struct Dice(Stream);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0.next_u64() % most
    }

    fn queue(&mut self) -> QueueSpec {
        let counting = [Counting::WaitingOnly, Counting::WithTransmission][self.below(2) as usize];
        let limit = match self.below(6) {
            0 => QueueLimit::Unlimited,
            1 => QueueLimit::Bytes(100 + self.below(3000)),
            2 => QueueLimit::Packets(1 + self.below(3) as u32),
            _ => QueueLimit::Packets(1 + self.below(40) as u32),
        };
        let threshold = (self.below(3) == 0).then(|| self.below(12) as u32);
        QueueSpec { ecn_threshold: threshold, ..QueueSpec::drop_tail(limit, counting) }
    }

    fn rate(&mut self) -> Rate {
        Rate([1, 8, 100][self.below(3) as usize] * 1_000_000_000)
    }

    fn change(&mut self) -> Change {
        if self.below(2) == 0 { Change::Delay(300 * self.below(6)) } else { Change::Rate(self.rate()) }
    }

    /// Arrivals from `now` on: together, at the pace of the link, or irregular, and some at the time of a departure.
    fn arrivals(&mut self, now: u64, time: u64, free_at: u64) -> Vec<u64> {
        let count = 1 + self.below(30);
        let (kind, tie) = (self.below(4), self.below(4) == 0 && free_at >= now);
        let mut at = if tie { free_at } else { now };
        let mut next = || {
            at += match kind {
                0 => 0,
                1 => self.below(3) * time,
                2 => time,
                _ => self.below(2 * time + 2),
            };
            at
        };
        (0..count).map(|_| next()).collect()
    }
}

/// A link, and the ring behind it.
struct Line {
    link: ClosedForm,
    ring: [Ring; 1],
    /// The flags that packets got, and which were dropped.
    verdicts: Vec<Option<u16>>,
}

impl Line {
    fn pass_one(&mut self, now: u64, time: u64, packet: PacketInRing, flags: u16) {
        let verdict = self.link.enqueue(now, time, packet, flags).map(|(departure, added)| {
            let (at, lost) = self.link.cross(departure);
            self.ring[0].push(Packet { at, ..Packet::default() });
            added | lost
        });
        self.verdicts.push(verdict);
    }

    /// Returns how many packets crossed together.
    fn pass(&mut self, mut arrivals: &[u64], time: u64, packet: PacketInRing, flags: u16) -> usize {
        let mut together = 0;
        while let Some(&first) = arrivals.first() {
            let mut out = vec![0; arrivals.len()];
            let crossed = self.link.cross_alike(time, packet, arrivals.iter().copied().zip(&mut out));
            out[..crossed].iter().for_each(|&at| self.ring[0].push(Packet { at, ..Packet::default() }));
            self.verdicts.extend(std::iter::repeat_n(Some(0), crossed));
            together += crossed;
            arrivals = &arrivals[crossed..];
            if crossed == 0 {
                self.pass_one(first, time, packet, flags);
                arrivals = &arrivals[1..];
            }
        }
        together
    }

    fn state(&self) -> (String, Vec<Packet>, &[Option<u16>]) {
        (format!("{:?}", self.link), self.ring[0].iter().collect(), &self.verdicts)
    }
}

/// Every state of the link is compared, after bursts over all kinds of limits and after live changes.
#[test]
fn packets_cross_together_as_they_do_one_by_one() {
    let (mut together, mut dropped, mut marked) = (0, 0, 0);
    for seed in 0..2000 {
        let mut dice = Dice(Stream::new(seed, Purpose::Queue, 0));
        let serial = SerialTime::new(dice.rate());
        let mut link = ClosedForm::new(serial, 500 * dice.below(3), &dice.queue());
        link.next = NextRing::One(0);
        link.set_usual_sizes([100, 40]);
        let mut one_by_one = Line { link: link.clone(), ring: [Ring::default()], verdicts: Vec::new() };
        let mut all = Line { link, ring: [Ring::default()], verdicts: Vec::new() };
        let mut now = 0;
        for _ in 0..30 {
            let size = [100, 40, 77][dice.below(3) as usize];
            let (flags, packet) = ([0, ECT][dice.below(2) as usize], PacketInRing::new(size, 0));
            let time = all.link.serial_time(size);
            let arrivals = dice.arrivals(now, time, all.link.free_at);
            arrivals.iter().for_each(|&at| one_by_one.pass_one(at, time, packet, flags));
            together += all.pass(&arrivals, time, packet, flags);
            assert_eq!(one_by_one.state(), all.state(), "seed {seed}");
            now = arrivals.last().map_or(now, |&last| last);
            if dice.below(4) == 0 {
                now += 1 + dice.below(9000);
                let (queue, change) = (dice.queue(), dice.change());
                for line in [&mut one_by_one, &mut all] {
                    line.link.set_queue(now, &queue);
                    line.link.change(now, change.clone(), &mut line.ring);
                }
                assert_eq!(one_by_one.state(), all.state(), "seed {seed}, after {change:?}");
            }
        }
        dropped += all.verdicts.iter().filter(|verdict| verdict.is_none()).count();
        marked += all.verdicts.iter().filter(|verdict| **verdict == Some(CE)).count();
    }
    assert!(together > 100_000 && dropped > 10_000 && marked > 1_000, "{together}, {dropped}, {marked}");
}
