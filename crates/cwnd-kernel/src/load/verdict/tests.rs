use super::*;
use crate::load::{Counts, Group, PARTS};

/// A group whose parts are all alike: 100 connections, with these numbers of each part.
fn alike(segments: u64, retransmissions: u64, rtt_us: u64) -> Group {
    let part =
        Counts { sockets: 4, segments, retransmissions, rtts: 10, rtt_sum_us: 10 * rtt_us, returned: 0 };
    Group { parts: [part; PARTS] }
}

/// The rest retransmits 1 % at 20 ms: the bounds are 2.1 % and 30 ms.
fn verdict(canary: Group) -> Verdict {
    judge(&Groups { canary, rest: alike(100_000, 1_000, 20_000) }, &Bounds::default(), 10)
}

#[test]
fn a_canary_is_worse_beyond_a_bound() {
    assert_eq!(verdict(alike(100_000, 1_950, 29_000)), Verdict::Within);
    let Verdict::Worse(why) = verdict(alike(100_000, 2_200, 20_000)) else { panic!("2.2 % is worse") };
    assert!(why.contains("2.200 %") && why.contains("at most 2.100 %"), "{why}");
    let Verdict::Worse(why) = verdict(alike(100_000, 0, 30_100)) else { panic!("30.1 ms is worse") };
    assert!(why.contains("30.100 ms") && why.contains("at most 30.000 ms"), "{why}");
}

/// 2.11 and 2.09 % of 320,000 segments: the canary's standard error is sqrt(0.021 / 320,000) = 0.026 % at least, and twice that of the
/// rest is 0.011 %.
#[test]
fn near_a_bound_nothing_is_decided() {
    for retransmissions in [211, 209] {
        let verdict = verdict(alike(10_000, retransmissions, 20_000));
        let Verdict::Undecided(why) = verdict else { panic!("{verdict:?}") };
        assert!(why.contains("2.100 %") && why.contains("not yet enough to tell"), "{why}");
    }
    // Among many judgements, chance has more occasions.
    let groups = Groups { canary: alike(10_000, 216, 20_000), rest: alike(100_000, 1_000, 20_000) };
    let at = |judgements| judge(&groups, &Bounds::default(), judgements);
    assert!(
        matches!((at(1), at(120)), (Verdict::Worse(_), Verdict::Undecided(_))),
        "{:?}, {:?}",
        at(1),
        at(120)
    );
}

#[test]
fn a_small_group_is_not_judged() {
    assert!(matches!(verdict(alike(312, 312, 1)), Verdict::TooFew(_)));
    let mut few = Group::default();
    few.parts[3] = Counts { sockets: 19, segments: 20_000, ..Counts::default() };
    let Verdict::TooFew(why) = verdict(few) else { panic!("19 connections are too few") };
    assert!(why.starts_with("the canary has 19 connections"), "{why}");
    // In one part, nothing shows their variation.
    few.parts[3].sockets = 20;
    let verdict = verdict(few);
    assert!(matches!(verdict, Verdict::Undecided(_)), "{verdict:?}");
}

/// Without any retransmission the margin remains. 0.1 % of 10,000 segments are 10, and none of them is far from it; of 1,000 it is 1.
#[test]
fn a_canary_without_retransmissions_needs_enough_segments() {
    let bounds = Bounds { least_segments: 100, ..Bounds::default() };
    let rest = alike(10_000, 0, 20_000);
    let of = |segments, retransmissions| {
        judge(&Groups { canary: alike(segments, retransmissions, 20_000), rest }, &bounds, 10)
    };
    assert_eq!(of(313, 0), Verdict::Within);
    assert!(matches!(of(31, 0), Verdict::Undecided(_)));
    assert!(matches!(of(313, 1), Verdict::Worse(_)));
}

/// Random numbers of the test: SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        end * ((bits ^ bits >> 31) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Adds a connection: 50 to 650 segments, of which three in ten connections lose 3.3 % on average, times `worse`.
    fn connect(&mut self, group: &mut Group, worse: f64) {
        let segments = 50.0 + self.below(600.0);
        let lost = if self.below(1.0) < 0.3 { segments * 0.0333 * worse * self.below(2.0) } else { 0.0 };
        let part = &mut group.parts[self.below(PARTS as f64) as usize];
        part.sockets += 1;
        part.segments += segments as u64;
        part.retransmissions += lost as u64;
        part.rtts += 10;
        part.rtt_sum_us += (10.0 * (10_000.0 + self.below(20_000.0))) as u64;
    }

    /// Judges a canary of 5 % at 40 times, each after 100 more connections. Returns its first verdict that ends it, or the last one, and
    /// whether the plain comparison of the sums would have ended it.
    fn canary(&mut self, worse: f64) -> (Verdict, bool) {
        const JUDGEMENTS: u32 = 40;
        let bounds = Bounds::default();
        let (mut groups, mut last, mut plain) = (Groups::default(), Verdict::Within, false);
        for _ in 0..JUDGEMENTS {
            for _ in 0..100 {
                match self.below(1.0) < 0.05 {
                    true => self.connect(&mut groups.canary, worse),
                    false => self.connect(&mut groups.rest, 1.0),
                }
            }
            last = judge(&groups, &bounds, JUDGEMENTS);
            let [canary, rest] = [&groups.canary, &groups.rest].map(Group::total);
            let judged = !matches!(last, Verdict::TooFew(_));
            let most = bounds.retransmissions * rest.retransmission_rate() + bounds.retransmission_margin;
            plain |= judged && canary.retransmission_rate() > most;
            if matches!(last, Verdict::Worse(_)) {
                break;
            }
        }
        (last, plain)
    }
}

/// 300 canaries whose connections are like the others are rarely ended, and neither are 300 at the bound, while five times the losses
/// are found. Connections vary so much that the plain comparison ends many.
#[test]
fn chance_does_not_end_a_canary() {
    let mut random = Random(1);
    let mut shares = |worse: f64| {
        const COUNT: usize = 300;
        let verdicts: Vec<(Verdict, bool)> = (0..COUNT).map(|_| random.canary(worse)).collect();
        let share = |wanted: fn(&(Verdict, bool)) -> bool| {
            verdicts.iter().filter(|verdict| wanted(verdict)).count() as f64 / COUNT as f64
        };
        [
            share(|(verdict, _)| matches!(verdict, Verdict::Worse(_))),
            share(|(verdict, _)| matches!(verdict, Verdict::Within)),
            share(|(_, plain)| *plain),
        ]
    };
    let (equal, at_bound, five) = (shares(1.0), shares(2.1), shares(5.0));
    println!(
        "worse, within, ended by the plain comparison: equal {equal:?}, at the bound {at_bound:?}, five times {five:?}"
    );
    assert!(equal[0] <= 0.01 && equal[1] >= 0.9, "{equal:?}");
    assert!(at_bound[0] <= 0.05 && at_bound[1] <= 0.07 && at_bound[2] > 0.5, "{at_bound:?}");
    assert!(five[0] >= 0.9 && five[1] == 0.0, "{five:?}");
}
