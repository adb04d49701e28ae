//! What is needed to undo a reduction that proves needless: by timestamps (RFC 3522), F-RTO (RFC 5682), or duplicates that
//! the receiver reports (RFC 3708).

/// The resolution of timestamps, ns.
pub const TIMESTAMP_TICK: u64 = 1_000_000;

/// The state before the reduction, and the evidence against it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Undo {
    /// Whether the reduction can be undone.
    pub possible: bool,
    pub prior_cwnd: f64,
    pub prior_ssthresh: f64,
    /// When the first retransmission of the episode was sent, ns.
    pub first_retransmission: Option<u64>,
    /// The first outstanding segment when the episode began.
    begin: u64,
    /// Retransmissions of the episode that are not known to be needless; `None` before the first.
    retransmissions: Option<u32>,
    /// Whether F-RTO is under way (RFC 5682 section 3.1).
    pub frto: bool,
}

impl Undo {
    /// Remembers the windows at the begin of an episode, where `retransmitted` retransmissions are in flight.
    pub fn remember(&mut self, una: u64, retransmitted: u32, cwnd: f64, ssthresh: f64) {
        self.possible = true;
        self.begin = una;
        self.retransmissions = Some(retransmitted).filter(|&count| count > 0);
        self.prior_cwnd = cwnd;
        self.prior_ssthresh = ssthresh;
    }

    /// Records a retransmission.
    pub fn on_retransmission(&mut self, now: u64) {
        self.first_retransmission.get_or_insert(now);
        self.retransmissions = Some(self.retransmissions.unwrap_or(0) + 1);
    }

    /// Records that `segments` retransmitted segments below `to` arrived twice.
    pub fn on_duplicates(&mut self, to: u64, segments: u32) {
        if self.possible && to > self.begin {
            self.retransmissions = self.retransmissions.map(|count| count.saturating_sub(segments));
        }
    }

    /// Returns whether the timestamp `echo` is older than the first retransmission, so that the ACK answers an original.
    pub fn answers_original(&self, echo: u64) -> bool {
        self.possible
            && self.first_retransmission.is_some_and(|first| echo / TIMESTAMP_TICK < first / TIMESTAMP_TICK)
    }

    /// Returns whether everything that the episode retransmitted arrived twice.
    pub fn were_retransmissions_needless(&self) -> bool {
        self.possible && self.retransmissions == Some(0)
    }
}
