//! The states of the recovery by time: losses (RFC 8985 section 6.2, step 5), proportional rate reduction (RFC 9937), F-RTO
//! (RFC 5682), and undoing.

use crate::sender::Sender;
use crate::timed::{AckContent, Repair, Undo};
use cwnd_cc::{CongestionKind, EcnMode, Nanos, State};

impl Sender {
    /// Moves between the states. Returns what is to be repaired, and whether the timer waits for reordering now.
    pub fn change_state_by_time(&mut self, now: u64, content: &AckContent, marked: bool) -> (Repair, bool) {
        let past_end = self.una >= self.episode_end;
        match self.state {
            State::Open => self.timed.undo.first_retransmission = None,
            State::Cwr if self.una > self.episode_end => {
                self.state = State::Open;
                self.end_reduction(now);
            }
            State::Recovery if past_end => self.end_recovery(now, content),
            _ => {}
        }
        let waits;
        match self.state {
            State::Recovery => {
                if content.advanced > 0 && self.answers_original(content) {
                    // A late original has filled a hole.
                    self.note_reordering(self.una - u64::from(content.advanced));
                    if self.count(|segment| segment.lost && segment.repaired) > 0 {
                        return (Repair::Nothing, false);
                    }
                    self.undo(now, true);
                    self.open_or_disorder();
                }
                if self.all_were_needless() {
                    self.undo_needless(now);
                    self.open_or_disorder();
                }
                waits = self.look_for_losses(now);
                if self.state == State::Recovery {
                    return (Repair::Lost, waits);
                }
                if !self.has_lost() {
                    return (Repair::Nothing, waits);
                }
            }
            State::Loss => {
                let repair = self.continue_after_timeout(now, content);
                let in_flight = self.count(|segment| segment.lost && segment.repaired);
                waits = self.look_for_losses(now);
                let fewer = self.count(|segment| segment.lost && segment.repaired) < in_flight;
                if self.state != State::Open && !fewer {
                    return (repair, waits);
                }
                if !self.has_lost() {
                    self.answer_mark(now, marked);
                    return (repair, waits);
                }
            }
            State::Open | State::Disorder | State::Cwr => {
                if self.state != State::Cwr && self.all_were_needless() {
                    self.undo_needless(now);
                }
                waits = self.look_for_losses(now);
                if !self.has_lost() {
                    self.answer_mark(now, marked);
                    return (Repair::Nothing, waits);
                }
            }
        }
        self.enter_recovery_by_time(now, marked, content.sacked + content.advanced);
        (Repair::Lost, waits)
    }

    fn has_lost(&self) -> bool {
        self.outstanding().iter().any(|segment| segment.lost)
    }

    fn answer_mark(&mut self, now: u64, marked: bool) {
        let outstanding = self.next() > self.una;
        if marked && outstanding && !self.needs.marks_only && self.state != State::Cwr {
            self.timed.undo.possible = false;
            self.begin_reduction(now, CongestionKind::Ecn);
            self.state = State::Cwr;
        }
        if self.state != State::Cwr {
            self.open_or_disorder();
        }
    }

    pub fn enter_recovery_by_time(&mut self, now: u64, marked: bool, newly: u32) {
        if self.state != State::Cwr || self.config.ecn == EcnMode::Exact {
            let before = if marked { (0.0, 0.0) } else { (self.window.cwnd, self.restored_ssthresh()) };
            self.begin_reduction(now, CongestionKind::Loss);
            if self.timed.rfc {
                // RFC 9937 section 6.1.
                let missing = self.flight_size() - self.sacked();
                self.timed.recover_fs = f64::from(missing + newly).max(1.0);
            }
            self.remember(before);
        }
        self.state = State::Recovery;
    }

    /// Remembers the windows that an undo restores.
    pub fn remember(&mut self, (cwnd, ssthresh): (f64, f64)) {
        let in_flight = self.count(|segment| segment.lost && segment.repaired);
        let undo = &mut self.timed.undo;
        (undo.possible, undo.begin, undo.cwnd, undo.ssthresh) = (true, self.una, cwnd, ssthresh);
        undo.retransmissions = (in_flight > 0).then_some(in_flight);
    }

    pub fn restored_ssthresh(&self) -> f64 {
        let window = &self.window;
        if matches!(self.state, State::Cwr | State::Recovery) {
            return window.ssthresh;
        }
        let three_quarters = window.whole(window.cwnd / 2.0) + window.whole(window.cwnd / 4.0);
        window.ssthresh.max(three_quarters)
    }

    fn end_recovery(&mut self, now: u64, content: &AckContent) {
        self.state = State::Open;
        if self.all_were_needless() || self.answers_original(content) {
            return self.undo_and_open(now);
        }
        self.recovery_was_needed();
        self.end_reduction(now);
    }

    fn undo_and_open(&mut self, now: u64) {
        self.undo(now, false);
        self.state = State::Open;
    }

    /// RACK.reo_wnd_persist falls.
    fn recovery_was_needed(&mut self) {
        let rack = &mut self.timed.rack;
        rack.persist = rack.persist.saturating_sub(1);
        if rack.persist == 0 {
            rack.mult = 1;
        }
    }

    /// After a timeout: F-RTO (RFC 5682 section 3.1, with SACK), or repair.
    fn continue_after_timeout(&mut self, now: u64, content: &AckContent) -> Repair {
        let past_end = self.una >= self.episode_end;
        let answered = content.advanced > 0 && (self.all_were_needless() || self.answers_original(content));
        if answered || (self.timed.undo.frto && content.delivers_original) {
            self.undo(now, true);
            self.timeouts = 0;
            self.state = State::Open;
            return Repair::Nothing;
        }
        if self.timed.undo.frto {
            if self.next() > self.episode_end {
                if content.advanced == 0 || content.sacked > 0 {
                    self.timed.undo.frto = false;
                }
            } else if content.advanced > 0 && !past_end {
                self.episode_end = self.next();
                if self.next() < self.send_end() {
                    return Repair::NewFirst;
                }
                self.timed.undo.frto = false;
            }
        }
        if past_end {
            self.state = State::Open;
            self.recovery_was_needed();
            self.tell_exit(now);
            return Repair::Nothing;
        }
        Repair::Lost
    }

    fn look_for_losses(&mut self, now: u64) -> bool {
        if !std::mem::take(&mut self.timed.rack.progress) {
            return false;
        }
        let wait = self.find_losses_by_time(now);
        if let Some(wait) = wait {
            self.wait_for_reordering(now, wait);
        }
        wait.is_some()
    }

    /// RFC 8985 section 6.2, step 5. Returns how long to wait for the rest.
    pub fn find_losses_by_time(&mut self, now: u64) -> Option<u64> {
        let window = self.reo_wnd();
        let mut wait = 0;
        // By number; then those that were lost and repaired, by the time at which they left.
        let mut candidates: Vec<(bool, u64, u64)> = Vec::new();
        for segment in self.una..self.next() {
            let known = *self.at(segment);
            let in_flight = !known.sacked && (!known.lost || known.repaired);
            if in_flight && (known.sent, segment) < self.timed.rack.latest {
                candidates.push((known.lost, if known.lost { known.sent } else { 0 }, segment));
            }
        }
        candidates.sort_unstable();
        for (_, _, segment) in candidates {
            let remaining = self.remaining(now, segment, window);
            if remaining == 0 {
                self.declare_lost(segment);
            }
            wait = wait.max(remaining);
        }
        (wait > 0).then_some(wait)
    }

    /// How much longer a segment may take.
    pub fn remaining(&self, now: u64, segment: u64, window: u64) -> u64 {
        (self.segments[segment as usize].sent + self.timed.rack.rtt + window).saturating_sub(now)
    }

    /// RACK.reo_wnd (RFC 8985 section 6.2, step 4).
    pub fn reo_wnd(&self) -> u64 {
        let in_recovery = matches!(self.state, State::Recovery | State::Loss);
        if self.timed.rack.seen == 0 && (in_recovery || self.sacked() >= 3) {
            return 0;
        }
        (self.rtt.least.unwrap_or(0) / 4 * self.timed.rack.mult).min(self.rtt.srtt())
    }

    pub fn begin_reduction(&mut self, now: u64, kind: CongestionKind) {
        self.start_prr(self.window.cwnd);
        self.timed.probe = None;
        self.begin_episode(now, kind);
    }

    fn start_prr(&mut self, recover_fs: f64) {
        (self.timed.delivered, self.timed.out, self.timed.recover_fs) = (0, 0, recover_fs);
    }

    /// A timeout ends a reduction under way, without beginning to count again.
    pub fn set_recover_fs(&mut self, recover_fs: f64) {
        self.timed.recover_fs = recover_fs;
    }

    /// RFC 9937 section 6.2.
    pub fn reduce_by_time(&mut self, delivered: u32, safe: bool) {
        if delivered == 0 || self.timed.recover_fs == 0.0 {
            return;
        }
        self.timed.delivered += u64::from(delivered);
        let (all, out) = (self.timed.delivered as f64, self.timed.out as f64);
        let target = self.window.recovery_cwnd.unwrap_or(self.window.ssthresh);
        let pipe = f64::from(self.pipe());
        let count = if pipe > target {
            libm::ceil(target * all / self.timed.recover_fs) - out
        } else {
            let bound = (all - out).max(f64::from(delivered));
            (if safe { bound + 1.0 } else { bound }).min(target - pipe)
        };
        // The first retransmission leaves in any case.
        let least = if self.timed.out == 0 { 1.0 } else { 0.0 };
        self.window.set_cwnd(pipe + count.max(least));
    }

    pub fn end_reduction(&mut self, now: u64) {
        if !self.needs.owns_recovery && self.window.ssthresh.is_finite() {
            self.window.set_cwnd(self.window.ssthresh);
        }
        self.tell_exit(now);
    }

    /// RFC 3522: the ACK echoes a time before the first retransmission.
    fn answers_original(&self, content: &AckContent) -> bool {
        let undo = &self.timed.undo;
        let before = |first: u64| content.echo / 1_000_000 < first / 1_000_000;
        self.config.timestamps && undo.possible && undo.first_retransmission.is_some_and(before)
    }

    /// RFC 3708: everything that was retransmitted has arrived twice.
    fn all_were_needless(&self) -> bool {
        self.timed.undo.possible && self.timed.undo.retransmissions == Some(0)
    }

    fn undo_needless(&mut self, now: u64) {
        self.timed.rack.persist = (self.timed.rack.persist + 1).min(16);
        self.undo(now, false);
    }

    fn undo(&mut self, now: u64, losses: bool) {
        if losses {
            for segment in self.una..self.next() {
                let known = self.at(segment);
                (known.lost, known.repaired) = (false, false);
            }
        }
        if !self.needs.owns_recovery {
            let Undo { cwnd, ssthresh, .. } = self.timed.undo;
            self.window.set_cwnd(self.window.cwnd.max(cwnd));
            self.window.ssthresh = self.window.ssthresh.max(ssthresh);
        }
        self.algorithm.on_undo(&mut self.window, Nanos(now));
        self.send_cwr = false;
        self.timed.undone += 1;
        self.timed.undo.possible = false;
        self.timed.undo.first_retransmission = None;
        self.timed.rack.progress = true;
    }

    pub fn open_or_disorder(&mut self) {
        let unusual = self.count(|segment| segment.sacked || segment.lost) > 0;
        self.state = if unusual { State::Disorder } else { State::Open };
    }

    pub fn note_retransmission(&mut self, now: u64) {
        let undo = &mut self.timed.undo;
        undo.first_retransmission.get_or_insert(now);
        undo.retransmissions = Some(undo.retransmissions.unwrap_or(0) + 1);
    }
}
