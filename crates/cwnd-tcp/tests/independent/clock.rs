//! The estimators of the retransmission timeout, and the granularity of timers.

use cwnd_scenario::Recovery;
use cwnd_tcp::TimerWheel;

/// When a timer of this wheel expires, tick by tick: the first boundary of its level that lies after the last tick of the wait.
pub fn expiry(wheel: TimerWheel, now: u64, wait: u64, expiring: bool) -> u64 {
    let tick = tick(wheel);
    if tick == 0 || wait > u64::MAX / 4 {
        return now.saturating_add(wait);
    }
    let ticks = wait.div_ceil(tick);
    let distance = if expiring { ticks.max(1) - 1 } else { ticks };
    // Levels of 63, 504, 4,032, ... ticks, each eight times as coarse as the one below.
    let (mut unit, mut reach) = (1, 63);
    for _ in 0..8 {
        if distance < reach {
            break;
        }
        (unit, reach) = (unit * 8, reach * 8);
    }
    let last = now / tick + ticks;
    (last - last % unit + unit) * tick
}

/// The tick of a wheel, ns; zero if timers expire exactly.
pub fn tick(wheel: TimerWheel) -> u64 {
    if wheel.round_up(1) == 1 { 0 } else { wheel.round_up(1) }
}

/// Rounds a time up to whole ticks.
fn in_ticks(wheel: TimerWheel, time: u64) -> u64 {
    match tick(wheel) {
        0 => time,
        tick => time.div_ceil(tick) * tick,
    }
}

/// Which rule computes the timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Rfc6298,
    Ns2,
    Linux,
}

/// SRTT, RTTVAR and RTO, in Jacobson's scaled integers: eight times the former, four times the latter.
#[derive(Clone, Debug)]
pub struct Estimator {
    rule: Rule,
    srtt8: i64,
    /// RFC 6298 and Linux: ns. ns-2: ticks of a millisecond, as `ticks8`.
    var4: i64,
    ticks8: i64,
    fresh: bool,
    /// Linux: the greatest `var4` of this round trip, what is added to SRTT, and where the round trip ends.
    greatest: i64,
    added: i64,
    round_end: u64,
    floor: i64,
    most: u64,
    rto: u64,
    wheel: TimerWheel,
    pub backoff: u32,
    pub samples: u64,
    pub sum: u64,
    pub least: Option<u64>,
    pub greatest_rtt: u64,
}

impl Estimator {
    pub fn new(recovery: Recovery, (initial, floor, most): (u64, u64, u64), wheel: TimerWheel) -> Estimator {
        let rule = match recovery {
            Recovery::Prr => Rule::Rfc6298,
            Recovery::Ns2 => Rule::Ns2,
            Recovery::Rack | Recovery::Linux => Rule::Linux,
        };
        Estimator {
            rule,
            srtt8: 0,
            var4: 0,
            ticks8: 0,
            fresh: true,
            greatest: floor as i64,
            added: floor as i64,
            round_end: 0,
            floor: floor as i64,
            most,
            rto: initial,
            wheel,
            backoff: 0,
            samples: 0,
            sum: 0,
            least: None,
            greatest_rtt: 0,
        }
    }

    pub fn srtt(&self) -> u64 {
        (self.srtt8 / 8) as u64
    }

    pub fn is_known(&self) -> bool {
        self.srtt8 != 0
    }

    pub fn variation(&self) -> u64 {
        match self.rule {
            Rule::Ns2 => self.var4 as u64 * 1_000_000 / 4,
            Rule::Rfc6298 | Rule::Linux => (self.var4 / 4) as u64,
        }
    }

    /// A sample that counts everywhere. `window` are the first outstanding and the next segment.
    pub fn sample(&mut self, rtt: u64, window: (u64, u64)) {
        self.samples += 1;
        self.sum += rtt;
        self.note_least(rtt);
        self.greatest_rtt = self.greatest_rtt.max(rtt);
        self.smooth(rtt);
        if self.rule == Rule::Linux && window.0 > self.round_end {
            // A round trip is over: the addition falls by a quarter of its excess.
            self.added -= (self.added - self.greatest) >> 2;
            self.greatest = self.floor;
            self.round_end = window.1;
        }
        self.compute();
    }

    /// The sample of the handshake, which begins no round trip.
    pub fn first_sample(&mut self, rtt: u64) {
        self.sample(rtt, (0, 0));
    }

    pub fn note_least(&mut self, rtt: u64) {
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
    }

    /// A sample for the timeout and the smoothed time alone.
    pub fn smooth(&mut self, rtt: u64) {
        let signed = rtt as i64;
        let ticks = (((rtt + 500_000) / 1_000_000) as i64).max(1);
        if self.fresh {
            self.fresh = false;
            // RFC 6298 section 2.2: SRTT = R, RTTVAR = R/2.
            match self.rule {
                Rule::Ns2 => (self.ticks8, self.var4) = (8 * ticks, 2 * ticks),
                Rule::Rfc6298 => self.var4 = 2 * signed,
                Rule::Linux => {
                    self.var4 = 2 * signed;
                    self.added = self.var4.max(self.floor);
                    (self.greatest, self.round_end) = (self.added, 0);
                }
            }
            // ns-2's second first sample concerns its ticks alone.
            self.srtt8 = if self.srtt8 == 0 { 8 * signed } else { self.srtt8 + signed - self.srtt8 / 8 };
            return;
        }
        // Section 2.3, with the variation before the smoothed time.
        let error = signed - self.srtt8 / 8;
        self.srtt8 += error;
        match self.rule {
            Rule::Rfc6298 => self.var4 += error.abs() - self.var4 / 4,
            Rule::Linux => {
                self.var4 += damped(error, self.var4);
                self.greatest = self.greatest.max(self.var4);
                self.added = self.added.max(self.greatest);
            }
            Rule::Ns2 => {
                let error = ticks - self.ticks8 / 8;
                self.ticks8 += error;
                self.var4 += damped(error, self.var4);
            }
        }
    }

    pub fn compute(&mut self) {
        let rto = match self.rule {
            Rule::Rfc6298 => self.srtt8 / 8 + self.var4.max(self.floor),
            Rule::Linux => self.srtt8 / 8 + self.added,
            Rule::Ns2 => (self.ticks8 / 8 + self.var4) * 1_000_000,
        };
        self.rto = (rto.max(self.floor) as u64).min(self.most);
    }

    /// RFC 6298 section 5.7.
    pub fn restart_after_lost_syn(&mut self) {
        self.rto = self.rto.max(3_000_000_000).min(self.most);
        self.backoff = 0;
    }

    /// RFC 6298 section 5.5. After four in a row ns-2 takes the next sample as its first.
    pub fn back_off(&mut self) {
        self.backoff += 1;
        if self.rule == Rule::Ns2 && self.backoff >= 4 {
            self.fresh = true;
        }
    }

    pub fn timeout(&self) -> u64 {
        if self.backoff == 0 {
            return self.rto;
        }
        let wheel = if self.rule == Rule::Linux { self.wheel } else { TimerWheel::default() };
        let mut timeout = in_ticks(wheel, self.rto);
        for _ in 0..self.backoff.min(30) {
            timeout = timeout.saturating_mul(2);
        }
        timeout.min(self.most)
    }
}

/// What an error adds to four times the deviation: where a round trip was shorter than expected, and by more than the deviation, an
/// eighth of the excess.
fn damped(error: i64, deviation4: i64) -> i64 {
    let excess = error.abs() - deviation4 / 4;
    if error < 0 && excess > 0 { excess / 8 } else { excess }
}
