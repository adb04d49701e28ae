//! Loss recovery by time: its state, and what an ACK says (RFC 8985 section 6.2, steps 1 to 4). Where Linux differs from the RFCs,
//! docs/reference/stacks.md says how.

use crate::sender::{News, Sender};
use cwnd_cc::{CongestionKind, DupAck, Nanos, State};
use cwnd_tcp::packet::{Packet, SackBlocks};

/// RACK's variables (RFC 8985 section 5.2), and Linux's degree of reordering.
#[derive(Clone, Debug)]
pub struct Rack {
    /// RACK.segment: when it was sent, and its number.
    pub latest: (u64, u64),
    pub rtt: u64,
    /// Whether anything was delivered since losses were looked for.
    pub progress: bool,
    pub seen: u32,
    pub degree: u64,
    pub mult: u64,
    pub persist: u32,
    pub dsack_round: Option<u64>,
    /// RACK.fack: the highest segment SACKed.
    pub fack: u64,
}

/// What undoing needs (RFC 3522, RFC 5682, RFC 3708).
#[derive(Clone, Debug, Default)]
pub struct Undo {
    pub possible: bool,
    pub cwnd: f64,
    pub ssthresh: f64,
    pub first_retransmission: Option<u64>,
    pub begin: u64,
    /// Retransmissions that are not known to be needless.
    pub retransmissions: Option<u32>,
    pub frto: bool,
}

/// What the timer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    Timeout,
    Probe,
    Reordering,
    Window,
}

/// What is sent after an ACK besides new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    Nothing,
    Lost,
    NewFirst,
}

/// What only these recoveries keep.
#[derive(Debug)]
pub struct Timed {
    /// Whether the RFCs are followed where Linux differs.
    pub rfc: bool,
    pub rack: Rack,
    pub undo: Undo,
    /// prr_delivered, prr_out and RecoverFS of RFC 9937.
    pub delivered: u64,
    pub out: u64,
    pub recover_fs: f64,
    pub wait: Wait,
    /// The loss probe that is out: the next new segment after it, and whether it was a retransmission.
    pub probe: Option<(u64, bool)>,
    pub expiring: bool,
    pub burst: u32,
    pub several: bool,
    pub wrote_at: u64,
    /// The window's use: whether it was full, the most that was outstanding, and until what is acknowledged this counts.
    pub full: bool,
    pub most_out: u64,
    pub use_end: u64,
    /// The receive window at the begin, which bounds the application's buffers.
    pub first_window: u64,
    /// Where the buffer of the last burst ends.
    pub buffer_end: u64,
    /// How many probes were sent, and reductions undone.
    pub probes: u64,
    pub undone: u64,
}

impl Timed {
    pub fn new(rfc: bool, first_window: u64) -> Timed {
        let rack = Rack {
            latest: (0, 0),
            rtt: 0,
            progress: false,
            seen: 0,
            degree: 3,
            mult: 1,
            persist: 0,
            dsack_round: None,
            fack: 0,
        };
        Timed {
            rfc,
            rack,
            undo: Undo::default(),
            delivered: 0,
            out: 0,
            recover_fs: 0.0,
            wait: Wait::Timeout,
            probe: None,
            expiring: false,
            burst: 0,
            several: false,
            wrote_at: 0,
            full: false,
            most_out: 0,
            use_end: 0,
            first_window,
            buffer_end: 0,
            probes: 0,
            undone: 0,
        }
    }
}

/// What an ACK says, beyond its numbers.
#[derive(Clone, Debug, Default)]
pub struct AckContent {
    pub delivered: u32,
    pub sacked: u32,
    pub advanced: u32,
    /// When segments were sent that were never retransmitted: those acknowledged, and those SACKed.
    pub acked_at: Vec<u64>,
    pub sacked_at: Vec<u64>,
    pub covers_retransmission: bool,
    pub delivers_original: bool,
    pub duplicate: bool,
    pub duplicate_of_probe: bool,
    /// The lowest segment that was delivered after a later one.
    pub reordered: Option<u64>,
    /// TSecr.
    pub echo: u64,
    /// RACK.fack before it.
    pub fack: u64,
}

impl Sender {
    /// Over how many segments reordering was seen, and how often.
    pub fn reordering(&self) -> (u32, u32) {
        if self.by_time { (self.timed.rack.degree as u32, self.timed.rack.seen) } else { (3, 0) }
    }

    pub fn on_ack_by_time(&mut self, now: u64, packet: &Packet, blocks: Option<&SackBlocks>) {
        let cumulative = u64::from(packet.seq).min(self.next());
        let is_old = cumulative < self.una;
        if is_old && blocks.is_none() {
            return;
        }
        let prior = self.pipe();
        let mut content =
            AckContent { echo: packet.sent, fack: self.timed.rack.fack, ..AckContent::default() };
        if let Some(blocks) = blocks {
            self.take_dsack(cumulative, blocks, &mut content);
            self.take_sacks(now, cumulative.max(self.una), blocks, &mut content);
        }
        if cumulative > self.una {
            self.take_cumulative(now, cumulative, &mut content);
        }
        self.see_reordering(&content);
        if is_old {
            // As in Linux, an overtaken ACK's blocks count, and nothing else of it.
            self.counts.delivered += u64::from(content.delivered);
            let (repair, _) = self.change_state_by_time(now, &content, false);
            return self.send_by_time(now, repair);
        }
        let mut news =
            News { prior, delivered: content.delivered, advanced: content.advanced, ..News::default() };
        news.rtt = self.take_rtt(now, &content);
        let head_is_younger = self.una < self.next()
            && content.sacked_at.first().is_some_and(|&first| first < self.segments[self.una as usize].sent);
        let mut restart = content.advanced > 0 || head_is_younger;
        news.marked = self.marks(packet, content.delivered);
        self.counts.delivered += u64::from(content.delivered);
        if content.advanced > 0 {
            self.timeouts = 0;
        }
        self.take_probe_answer(now, cumulative, &content);
        if content.advanced == 0 && cumulative == self.una && self.next() > self.una {
            self.duplicates += 1;
            let event = DupAck { now: Nanos(now), sacked: content.sacked, count: self.duplicates };
            self.algorithm.on_dup_ack(&mut self.window, &event);
        }
        let lost_before = self.losses.len();
        let usual = content.advanced > 0 && content.sacked == 0 && !content.duplicate && news.marked == 0;
        let mut repair = Repair::Nothing;
        if !usual || self.state != State::Open {
            let (then, waits) = self.change_state_by_time(now, &content, news.marked > 0);
            repair = then;
            restart &= !waits;
        }
        if restart {
            self.restart_timer(now);
        }
        news.lost = (self.losses.len() - lost_before) as u32;
        if news.delivered + news.advanced + news.marked + news.lost > 0 {
            news.predicted = self.is_predicted(packet, news.advanced);
            news.grows_on_sack = news.delivered > 0 && self.timed.rack.degree > 3;
            let half_used = self.window.cwnd < 2.0 * self.timed.most_out as f64;
            news.cwnd_limited = self.timed.full || (self.window.in_slow_start() && half_used);
            self.tell_ack(now, &news);
        }
        if matches!(self.state, State::Recovery | State::Cwr) && !self.needs.owns_recovery {
            self.reduce_by_time(content.delivered, content.advanced > 0 && news.lost == 0);
        }
        self.send_by_time(now, repair);
    }

    /// RFC 2883 section 4: the first block reports a duplicate if it lies below the cumulative acknowledgement or within the second.
    fn take_dsack(&mut self, cumulative: u64, blocks: &SackBlocks, content: &mut AckContent) {
        let blocks: Vec<(u64, u64)> =
            blocks.iter().map(|(from, to)| (u64::from(from), u64::from(to))).collect();
        let (from, to) = blocks[0];
        let within = blocks.get(1).is_some_and(|second| second.0 <= from && to <= second.1);
        if from >= cumulative && !within {
            return;
        }
        self.counts.duplicates += to - from;
        if self.counts.duplicates > self.counts.retransmissions {
            // The network has made it.
            return;
        }
        content.duplicate = true;
        let probed = self.timed.probe.filter(|probe| probe.1).map(|probe| probe.0 - 1);
        content.duplicate_of_probe = to - from == 1 && probed == Some(from);
        let una = self.una;
        let counted = if to <= una {
            vec![(to, (to - from) as u32)]
        } else {
            let again = (from.max(una)..to).filter(|&segment| self.segments[segment as usize].again);
            again.map(|segment| (segment + 1, 1)).collect()
        };
        let undo = &mut self.timed.undo;
        for (to, segments) in counted {
            if undo.possible && to > undo.begin {
                undo.retransmissions = undo.retransmissions.map(|count| count.saturating_sub(segments));
            }
        }
    }

    fn take_sacks(&mut self, now: u64, first: u64, blocks: &SackBlocks, content: &mut AckContent) {
        for (from, to) in blocks.iter() {
            for segment in u64::from(from).max(first)..u64::from(to).min(self.next()) {
                let known = *self.at(segment);
                if known.sacked {
                    continue;
                }
                self.deliver(now, segment, content.echo);
                if !known.again {
                    content.sacked_at.push(known.sent);
                    self.take_original(segment, content);
                }
                let known = self.at(segment);
                (known.sacked, known.lost, known.repaired) = (true, false, false);
                self.timed.rack.fack = self.timed.rack.fack.max(segment);
                content.sacked += 1;
            }
        }
        content.delivered += content.sacked;
    }

    fn take_cumulative(&mut self, now: u64, to: u64, content: &mut AckContent) {
        content.advanced = (to - self.una) as u32;
        for segment in self.una..to {
            let known = *self.at(segment);
            content.covers_retransmission |= known.again;
            if known.sacked {
                continue;
            }
            content.delivered += 1;
            self.deliver(now, segment, content.echo);
            if !known.again {
                content.acked_at.push(known.sent);
                self.take_original(segment, content);
            }
        }
        self.una = to;
        self.duplicates = 0;
    }

    fn take_original(&mut self, segment: u64, content: &mut AckContent) {
        content.delivers_original |= segment < self.episode_end;
        if segment < content.fack {
            content.reordered = Some(content.reordered.map_or(segment, |lowest| lowest.min(segment)));
        }
    }

    /// RFC 8985 section 6.2, steps 1 and 2.
    fn deliver(&mut self, now: u64, segment: u64, echo: u64) {
        let known = *self.at(segment);
        let rtt = now - known.sent;
        if known.again {
            let too_soon = self.rtt.least.is_none_or(|least| rtt < least);
            let echoes_original = self.timed.rfc && self.config.timestamps && echo < known.sent;
            if too_soon || echoes_original {
                return;
            }
        }
        let rack = &mut self.timed.rack;
        rack.progress = true;
        rack.rtt = rtt;
        rack.latest = rack.latest.max((known.sent, segment));
    }

    fn see_reordering(&mut self, content: &AckContent) {
        if let Some(lowest) = content.reordered {
            self.note_reordering(lowest);
        }
        let (una, next) = (self.una, self.next());
        let rack = &mut self.timed.rack;
        let counts = self.timed.rfc || (rack.seen > 0 && !content.duplicate_of_probe);
        if content.duplicate && counts && rack.dsack_round.is_none_or(|round| una >= round) {
            // Step 4.
            rack.dsack_round = Some(next);
            rack.mult = (rack.mult + 1).min(255);
            rack.persist = 16;
        }
    }

    pub fn note_reordering(&mut self, lowest: u64) {
        let sacked = (self.una..self.next()).rev().find(|&segment| self.segments[segment as usize].sacked);
        let end = sacked.map_or(self.una, |highest| highest + 1);
        if lowest + 1 < end {
            let rack = &mut self.timed.rack;
            rack.seen += 1;
            rack.degree = rack.degree.max((end - lowest).min(300));
        }
    }

    /// RFC 6298 with Karn's rule: the first segment acknowledged, or else SACKed, gives the sample. The algorithm gets that of the
    /// last one. Without an original, the echoed timestamp counts, in whole ticks of a millisecond.
    fn take_rtt(&mut self, now: u64, content: &AckContent) -> Option<u64> {
        let acked: &[u64] = if content.covers_retransmission { &[] } else { &content.acked_at };
        let first = acked.first().or(content.sacked_at.first());
        let last = content.sacked_at.last().or(acked.last());
        let (first, last) = match (first, last) {
            (Some(first), Some(last)) => (now - first, now - last),
            _ if content.advanced > 0 && self.config.timestamps => {
                let ticks = (now / 1_000_000).saturating_sub(content.echo / 1_000_000).max(1);
                (ticks * 1_000_000, ticks * 1_000_000)
            }
            _ => return None,
        };
        self.rtt.backoff = 0;
        self.rtt.sample(first, (self.una, self.next()));
        self.rtt.note_least(last);
        self.latest = last;
        Some(last)
    }

    /// RFC 8985 section 7.4.
    fn take_probe_answer(&mut self, now: u64, cumulative: u64, content: &AckContent) {
        let Some((end, again)) = self.timed.probe else { return };
        if cumulative < end {
            return;
        }
        let pure_duplicate = content.advanced == 0 && content.sacked == 0;
        if !again || content.duplicate_of_probe || pure_duplicate {
            self.timed.probe = None;
        } else if cumulative > end {
            self.timed.undo.possible = false;
            self.begin_reduction(now, CongestionKind::Loss);
            self.end_reduction(now);
            self.state = State::Open;
        }
    }
}
