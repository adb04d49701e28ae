//! TCP-Illinois as in the module of Linux and ns-2.35: alpha in 128ths of a segment, beta in 64ths, delays in whole
//! microseconds.
//!
//! Besides rounding, three things differ from the paper. A step of the window discards the remaining count. Round trips at
//! small delay count towards theta even if they are not consecutive. Only an ACK of new data outside of a reduction updates
//! alpha and beta; it also determines the end of the next round trip.

use super::IllinoisParameters;
use crate::parts::round::SentRound;
use crate::{Ack, Arithmetic, Nanos, Window};

const ALPHA: f64 = 128.0;
const BETA: f64 = 64.0;

/// The state.
#[derive(Clone, Debug)]
pub struct IllinoisLinux {
    alpha: u64,
    beta: u64,
    /// Smallest and largest round-trip time, and sum and number of this round trip's samples, microseconds.
    base: u64,
    greatest: u64,
    sum: u64,
    samples: u64,
    /// da and dm of the last round trip with samples, microseconds.
    delays: Option<[u64; 2]>,
    above: bool,
    low_rounds: u32,
    round: SentRound,
    counted: u64,
}

impl IllinoisLinux {
    pub fn new(parameters: &IllinoisParameters) -> IllinoisLinux {
        IllinoisLinux {
            alpha: (parameters.alpha_max * ALPHA) as u64,
            beta: (BETA / 2.0) as u64,
            base: u64::MAX,
            greatest: 0,
            sum: 0,
            samples: 0,
            delays: None,
            above: false,
            low_rounds: 0,
            round: SentRound::default(),
            counted: 0,
        }
    }

    /// Increase per round trip, 128ths of a segment.
    #[cfg(test)]
    pub fn alpha(&self) -> u64 {
        self.alpha
    }

    /// Returns alpha, beta, da and dm as [`super::OBSERVABLES`] has them.
    pub fn observe(&self) -> [f64; 4] {
        let delays = self.delays.map_or([f64::NAN; 2], |delays| delays.map(|delay| delay as f64 * 1e-6));
        [self.alpha as f64 / ALPHA, self.beta as f64 / BETA, delays[0], delays[1]]
    }

    /// Handles an ACK.
    pub fn on_ack(&mut self, window: &mut Window, ack: &Ack, parameters: &IllinoisParameters) {
        self.round.on_ack(ack);
        // Linux 2.6 and ns-2 measure only the segments that the cumulative acknowledgement covers.
        let measures = window.arithmetic() == Arithmetic::Linux || ack.cumulative > 0;
        if let Some(Nanos(rtt)) = ack.rtt.filter(|_| measures) {
            let rtt = rtt / 1000;
            self.base = self.base.min(rtt);
            self.greatest = self.greatest.max(rtt);
            self.sum += rtt;
            self.samples += 1;
        }
        let unlimited = Ack { cwnd_limited: true, ..*ack };
        if !unlimited.may_grow() {
            return;
        }
        if self.round.is_over() {
            self.end_round(window.cwnd, parameters);
        }
        if !ack.may_grow() {
            return;
        }
        if window.in_slow_start() {
            window.slow_start(ack.acked);
            return;
        }
        let cwnd = window.cwnd as u64;
        self.counted += u64::from(ack.cumulative);
        let grown = self.counted * self.alpha / ALPHA as u64;
        if grown >= cwnd {
            window.set_cwnd((cwnd + grown / cwnd) as f64);
            self.counted = 0;
        }
    }

    /// Returns the window after a loss.
    pub fn reduced(&mut self, cwnd: f64, keep_beta: bool) -> f64 {
        self.counted = 0;
        let cwnd = cwnd as u64;
        let share = cwnd * self.beta / BETA as u64;
        (if keep_beta { share } else { cwnd - share }) as f64
    }

    /// Handles a timeout.
    pub fn forget(&mut self) {
        self.alpha = ALPHA as u64;
        self.beta = (BETA / 2.0) as u64;
        self.above = false;
        self.low_rounds = 0;
        self.sum = 0;
        self.samples = 0;
        self.round.restart_by_timeout();
    }

    fn end_round(&mut self, cwnd: f64, parameters: &IllinoisParameters) {
        let mean = self.sum.checked_div(self.samples);
        let delays = mean.map(|mean| [mean - self.base, self.greatest - self.base]);
        self.delays = delays.or(self.delays);
        if cwnd < parameters.w_thresh {
            self.alpha = ALPHA as u64;
            self.beta = (BETA / 2.0) as u64;
        } else if let Some([delay, greatest]) = delays {
            self.alpha = self.alpha_at(delay, greatest, parameters);
            self.beta = beta_at(delay, greatest, parameters);
        }
        self.sum = 0;
        self.samples = 0;
        self.round.restart();
    }

    fn alpha_at(&mut self, delay: u64, greatest: u64, parameters: &IllinoisParameters) -> u64 {
        let most = (parameters.alpha_max * ALPHA) as u64;
        let least = ((parameters.alpha_min * ALPHA) as u64).max(1);
        let low = (greatest as f64 * parameters.eta1) as u64;
        if delay <= low {
            if self.above {
                self.low_rounds += 1;
                if f64::from(self.low_rounds) < parameters.theta {
                    return self.alpha;
                }
                self.low_rounds = 0;
                self.above = false;
            }
            return most;
        }
        self.above = true;
        // Delays of hours would not fit into the kernel's integers.
        let [delay, greatest, most, least] = [delay - low, greatest - low, most, least].map(u128::from);
        (greatest * most / (greatest + delay * (most - least) / least)) as u64
    }
}

fn beta_at(delay: u64, greatest: u64, parameters: &IllinoisParameters) -> u64 {
    let (least, most) = ((parameters.beta_min * BETA) as u64, (parameters.beta_max * BETA) as u64);
    let low = (greatest as f64 * parameters.eta2) as u64;
    let high = (greatest as f64 * parameters.eta3) as u64;
    if delay <= low {
        least
    } else if delay >= high || high <= low {
        most
    } else {
        let [least, most, low, high, delay] = [least, most, low, high, delay].map(u128::from);
        ((least * high + (most - least) * delay - most * low) / (high - low)) as u64
    }
}
