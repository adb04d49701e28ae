//! Loss recovery by counting: RFC 6675 with SACK, RFC 6582 without, proportional rate reduction (RFC 6937), and ns-2's agent.

use crate::sender::{News, Sender};
use cwnd_cc::{CongestionKind, DupAck, EcnMode, Nanos, State};
use cwnd_scenario::Recovery;
use cwnd_tcp::NEVER;
use cwnd_tcp::packet::{Packet, SackBlocks};

/// What only these recoveries keep.
#[derive(Clone, Debug, Default)]
pub struct Counting {
    /// RFC 6582's `recover`; none before the first recovery or timeout.
    recover: Option<u64>,
    /// RFC 6937: prr_delivered, prr_out, RecoverFS.
    delivered: u64,
    out: u64,
    recover_fs: u64,
    /// ns-2: what may be in flight though the window is smaller.
    hold: u32,
    /// ns-2: the retransmission that counts as the latest to have arrived.
    latest: u64,
    /// ns-2: the highest segment SACKed since the scoreboard was cleared.
    highest: Option<u64>,
    /// Segments whose retransmission is followed, to find out whether it is lost.
    followed: Vec<u64>,
}

impl Sender {
    fn is_ns2(&self) -> bool {
        self.config.recovery == Recovery::Ns2
    }

    pub fn on_ack_by_count(&mut self, now: u64, packet: &Packet, blocks: Option<&SackBlocks>) {
        let mut news = News { prior: self.pipe(), ..News::default() };
        let cumulative = u64::from(packet.seq).min(self.next());
        let mut sent = Vec::new();
        if cumulative > self.una {
            news.advanced = (cumulative - self.una) as u32;
            news.delivered = self.acknowledge(cumulative, &mut sent);
        }
        let sacked = blocks.map_or(0, |blocks| self.take_blocks(blocks, &mut sent));
        news.delivered += sacked;
        let duplicate = news.advanced == 0 && cumulative == self.una && self.next() > self.una;
        if duplicate {
            self.duplicates += 1;
            let event = DupAck { now: Nanos(now), sacked, count: self.duplicates };
            self.algorithm.on_dup_ack(&mut self.window, &event);
            news.delivered += self.count_unnamed();
        }
        news.predicted = self.is_predicted(packet, news.advanced);
        news.lost = if self.config.sack { self.find_losses() } else { 0 };
        news.marked = self.marks(packet, news.delivered);
        news.rtt = if self.config.timestamps {
            (news.advanced > 0).then(|| now - packet.sent)
        } else {
            karn(now, &sent)
        };
        if let Some(rtt) = news.rtt {
            self.rtt.backoff = 0;
            self.rtt.sample(rtt, (self.una, self.next()));
            self.latest = rtt;
        } else if self.is_ns2() && self.config.timestamps {
            // The agent takes the echo of every ACK for its timeout.
            self.rtt.smooth(now - packet.sent);
            self.rtt.compute();
            self.rtt.backoff = 0;
        }
        if news.advanced > 0 || self.is_ns2() {
            // RFC 6298 section 5.3.
            self.timer = if self.una == self.next() { NEVER } else { now + self.rtt.timeout() };
        }
        self.counts.delivered += u64::from(news.delivered);
        let has_news = news.advanced + news.delivered + news.marked + news.lost > 0;
        let forced;
        if self.is_ns2() {
            // Its algorithm is given the ACK in the state before it.
            if has_news {
                self.tell_ack(now, &news);
            }
            forced = self.change_state_by_count(now, &mut news);
        } else {
            forced = self.change_state_by_count(now, &mut news);
            if has_news {
                self.tell_ack(now, &news);
            }
            if matches!(self.state, State::Recovery | State::Cwr) && !self.needs.owns_recovery {
                self.reduce(news.delivered, forced);
            }
        }
        // RFC 3042.
        let early = duplicate && self.state == State::Disorder;
        if !early || self.config.limited_transmit {
            let before = self.next();
            self.transmit_by_count(now, forced);
            if early {
                self.limited += (self.next() - before) as u32;
            }
        }
    }

    /// Returns how many segments a cumulative acknowledgement delivers; `sent` gets when they were sent.
    fn acknowledge(&mut self, to: u64, sent: &mut Vec<(u64, bool)>) -> u32 {
        let covered = self.una..to;
        let mut delivered = 0;
        for segment in covered.clone() {
            let known = *self.at(segment);
            if !known.sacked {
                delivered += 1;
                sent.push((known.sent, known.again));
            }
            if let Some(at) = self.counting.followed.iter().position(|&followed| followed == segment) {
                self.counting.followed.remove(at);
                self.counting.latest = self.counting.latest.max(known.number);
            }
        }
        self.una = to;
        if !self.config.sack {
            // RFC 6937 section 3: a partial ACK delivers what it covers, less one for each duplicate ACK before it. The first
            // outstanding segment is missing, so no duplicate stands for it.
            let had = self.unnamed.min((covered.end - covered.start) as u32 - 1);
            delivered -= had;
            self.unnamed -= had;
            let missing = self.count(|segment| segment.lost).max(1);
            self.unnamed = self.unnamed.min(self.flight_size().saturating_sub(missing));
        }
        self.duplicates = 0;
        self.limited = 0;
        self.timeouts = 0;
        delivered
    }

    /// Returns how many segments the blocks name for the first time.
    fn take_blocks(&mut self, blocks: &SackBlocks, sent: &mut Vec<(u64, bool)>) -> u32 {
        let mut total = 0;
        for (from, to) in blocks.iter() {
            for segment in u64::from(from).max(self.una)..u64::from(to).min(self.next()) {
                let known = self.at(segment);
                if !known.sacked {
                    sent.push((known.sent, known.again));
                    (known.sacked, known.lost, known.repaired) = (true, false, false);
                    self.counting.highest = self.counting.highest.max(Some(segment));
                    total += 1;
                }
            }
        }
        total
    }

    /// Without SACK a duplicate ACK says that some segment has left, but not which.
    fn count_unnamed(&mut self) -> u32 {
        let may = !self.config.sack && self.state != State::Loss;
        let missing = self.count(|segment| segment.lost).max(1);
        let room = self.unnamed + missing < self.flight_size();
        self.unnamed += u32::from(may && room);
        u32::from(may && room)
    }

    fn find_losses(&mut self) -> u32 {
        let before = self.losses.len();
        for segment in self.una..self.next() {
            let known = *self.at(segment);
            if !known.sacked && !known.lost && self.is_lost(segment) {
                self.declare_lost(segment);
            }
        }
        let mut again =
            if self.is_ns2() { self.lost_retransmissions_of_ns2() } else { self.lost_retransmissions() };
        // In the order in which they were sent.
        again.sort_by_key(|&segment| self.segments[segment as usize].number);
        for segment in again {
            self.counting.followed.retain(|&followed| followed != segment);
            self.declare_lost(segment);
        }
        (self.losses.len() - before) as u32
    }

    /// RFC 6675 section 4, IsLost: three segments above are SACKed. ns-2: the highest SACKed one is four or more above.
    fn is_lost(&self, segment: u64) -> bool {
        if self.is_ns2() {
            return self.counting.highest.is_some_and(|highest| highest >= segment + 4);
        }
        self.sacked_from(segment) >= 3
    }

    fn sacked_from(&self, segment: u64) -> usize {
        self.segments[segment as usize..].iter().filter(|segment| segment.sacked).count()
    }

    /// A retransmission is lost when three segments that were new after it are SACKed.
    fn lost_retransmissions(&self) -> Vec<u64> {
        let followed = self.counting.followed.iter().copied();
        followed
            .filter(|&segment| {
                let known = &self.segments[segment as usize];
                known.lost && known.repaired && self.sacked_from(known.before) >= 3
            })
            .collect()
    }

    /// ns-2 goes over its scoreboard once, from the lowest segment up, and learns on the way which retransmissions have arrived: what
    /// it has learned last counts as the latest. One is lost if anything new after it is SACKed, or the latest left more than four
    /// after it.
    fn lost_retransmissions_of_ns2(&mut self) -> Vec<u64> {
        let mut lost = Vec::new();
        for segment in self.una..self.next() {
            let Some(at) = self.counting.followed.iter().position(|&followed| followed == segment) else {
                continue;
            };
            let known = *self.at(segment);
            if known.sacked {
                self.counting.followed.remove(at);
                self.counting.latest = known.number;
            } else if self.counting.highest.is_some_and(|highest| highest >= known.before)
                || known.number + 4 < self.counting.latest
            {
                lost.push(segment);
            }
        }
        lost
    }

    /// Moves between the states. Returns whether one segment leaves whatever the window.
    fn change_state_by_count(&mut self, now: u64, news: &mut News) -> bool {
        let past_end = self.una >= self.episode_end;
        match self.state {
            State::Recovery if past_end => {
                self.leave_recovery(now);
                self.knows_loss() && self.enter_recovery(now, news)
            }
            State::Recovery if news.advanced > 0 && !self.config.sack => {
                // RFC 6582 section 3.2, step 3: a partial ACK.
                self.lose_first(news);
                true
            }
            State::Recovery => false,
            State::Loss if self.is_ns2() => {
                if past_end {
                    self.leave_recovery(now);
                    return false;
                }
                self.config.sack && news.lost > 0 && self.enter_recovery(now, news)
            }
            State::Loss => {
                if !past_end {
                    return false;
                }
                self.state = State::Open;
                self.tell_exit(now);
                self.knows_loss() && self.enter_recovery(now, news)
            }
            State::Open | State::Disorder | State::Cwr => {
                if self.has_loss() {
                    return self.enter_recovery(now, news);
                }
                if self.state == State::Cwr {
                    if self.una <= self.episode_end {
                        return false;
                    }
                    self.leave_recovery(now);
                }
                self.state = if self.sacked() > 0 { State::Disorder } else { State::Open };
                if news.marked > 0 && self.next() > self.una && !self.needs.marks_only {
                    // RFC 3168 section 6.1.2.
                    self.reduce_once(now, CongestionKind::Ecn, State::Cwr);
                }
                false
            }
        }
    }

    fn knows_loss(&self) -> bool {
        self.outstanding().iter().any(|segment| segment.lost)
    }

    fn has_loss(&self) -> bool {
        if self.config.sack {
            return self.knows_loss();
        }
        // RFC 6582 section 3.2, step 2.
        self.duplicates >= 3 && self.counting.recover.is_none_or(|recover| self.una > recover)
    }

    fn enter_recovery(&mut self, now: u64, news: &mut News) -> bool {
        if !self.config.sack {
            self.lose_first(news);
        }
        // A classic mark has reduced the window for this window of data (RFC 3168 section 6.1.2); an exact one does not count as
        // a loss (RFC 8257 section 3.5).
        if self.state == State::Cwr && self.config.ecn != EcnMode::Exact {
            self.state = State::Recovery;
            self.episode_end = self.next();
            self.counting.recover = Some(self.next());
        } else {
            self.reduce_once(now, CongestionKind::Loss, State::Recovery);
        }
        // RFC 6675 section 5, step 4.3. ns-2 does so without SACK.
        !(self.is_ns2() && self.config.sack)
    }

    fn lose_first(&mut self, news: &mut News) {
        if !self.at(self.una).lost {
            self.declare_lost(self.una);
            news.lost += 1;
        }
    }

    fn reduce_once(&mut self, now: u64, kind: CongestionKind, state: State) {
        let before = self.window.cwnd as u32;
        self.begin_episode(now, kind);
        self.state = state;
        if kind == CongestionKind::Loss {
            self.counting.recover = Some(self.next());
        }
        if self.is_ns2() && !self.needs.owns_recovery {
            self.counting.hold = before;
            self.window.set_cwnd(self.window.recovery_cwnd.unwrap_or(self.window.ssthresh));
        }
        // RFC 6937 section 3.
        (self.counting.delivered, self.counting.out) = (0, 0);
        self.counting.recover_fs = u64::from(self.flight_size());
    }

    fn leave_recovery(&mut self, now: u64) {
        self.state = State::Open;
        self.unnamed = 0;
        if self.is_ns2() {
            self.leave_as_ns2();
        } else if !self.needs.owns_recovery {
            self.window.set_cwnd(self.window.ssthresh);
        }
        self.tell_exit(now);
    }

    /// ns-2 forgets its scoreboard, and raises the window by no more than a burst of three.
    fn leave_as_ns2(&mut self) {
        self.counting.hold = 0;
        if self.config.sack {
            for segment in self.una..self.next() {
                let known = self.at(segment);
                (known.sacked, known.lost, known.repaired) = (false, false, false);
            }
            self.forget_retransmissions();
            self.counting.highest = None;
        }
        if self.window.cwnd < self.window.ssthresh && !self.needs.owns_recovery {
            let burst = f64::from(self.pipe() + 3);
            self.window.set_cwnd(burst.min(self.window.ssthresh));
        }
    }

    fn forget_retransmissions(&mut self) {
        self.counting.followed.clear();
        self.counting.latest = 0;
    }

    /// RFC 6937 section 3.
    fn reduce(&mut self, delivered: u32, forced: bool) {
        self.counting.delivered += u64::from(delivered);
        let Counting { delivered: all, out, recover_fs, .. } = self.counting;
        let (all, out) = (all as f64, out as f64);
        let target = self.window.recovery_cwnd.unwrap_or(self.window.ssthresh);
        let pipe = f64::from(self.pipe());
        let mut count = if pipe > target {
            libm::ceil(all * target / recover_fs.max(1) as f64) - out
        } else {
            // The slow-start reduction bound.
            ((all - out).max(f64::from(delivered)) + 1.0).min(target - pipe)
        };
        count = libm::floor(count);
        if forced {
            count = count.max(1.0);
        }
        self.window.set_cwnd(pipe + count.max(0.0));
    }

    pub fn on_timeout_by_count(&mut self, now: u64) {
        self.timer = NEVER;
        if self.una == self.next() {
            return;
        }
        self.counts.timeouts += 1;
        // RFC 5681 section 3.1: the threshold stays for data that a timeout has retransmitted. To ns-2 every timeout is the first.
        let repeated = !self.is_ns2() && self.state == State::Loss && self.timeouts > 0;
        let number = if self.is_ns2() { 1 } else { self.timeouts + 1 };
        self.counting.hold = 0;
        let threshold = self.window.ssthresh;
        self.tell_congestion(now, CongestionKind::Timeout, number);
        if repeated {
            self.window.ssthresh = threshold;
        } else {
            self.counts.congestion_events += 1;
        }
        self.state = State::Loss;
        self.episode_end = self.next();
        self.counting.recover = Some(self.next());
        self.window.set_cwnd(self.window.restart_cwnd.min(self.window.cwnd));
        self.duplicates = 0;
        self.unnamed = 0;
        self.forget_retransmissions();
        // What had left again, then everything else that is not SACKed.
        for repaired in [true, false] {
            for segment in self.una..self.next() {
                let known = *self.at(segment);
                let counts = if repaired { known.lost && known.repaired } else { !known.lost };
                if counts && !known.sacked {
                    self.declare_lost(segment);
                }
            }
        }
        self.rtt.back_off();
        self.timeouts += 1;
        self.transmit_by_count(now, false);
        self.timer = now + self.rtt.timeout();
    }

    pub fn transmit_by_count(&mut self, now: u64, mut forced: bool) {
        while forced || self.pipe() < self.limit_by_count() {
            let segment = match self.lost_and_waiting() {
                Some(segment) => segment,
                None if self.next() < self.send_end() => self.next(),
                None => break,
            };
            forced = false;
            self.counting.hold = self.counting.hold.min(self.pipe().max(1));
            let again = segment < self.next();
            self.send_segment(now, segment, 0);
            if again {
                self.at(segment).repaired = true;
                if self.config.detect_lost_retransmissions {
                    self.counting.followed.retain(|&followed| followed != segment);
                    self.counting.followed.push(segment);
                }
            }
            if again || self.state != State::Open {
                self.counting.out += 1;
            }
            if self.timer == NEVER {
                self.timer = now + self.rtt.timeout();
            }
        }
        self.record_use(self.pipe());
    }

    /// How many segments may be in flight. In ns-2 this falls by one for every two that leave, down to the window.
    fn limit_by_count(&mut self) -> u32 {
        self.counting.hold = self.counting.hold.min(self.pipe() + 1);
        self.counting.hold.max(self.window.cwnd as u32)
    }
}

/// Karn's rule: the segment sent last gives the sample, if none of those delivered was ever retransmitted.
fn karn(now: u64, sent: &[(u64, bool)]) -> Option<u64> {
    let original = sent.iter().all(|&(_, again)| !again);
    sent.iter().map(|&(sent, _)| now - sent).min().filter(|_| original)
}
