//! Slow start, selected by a word.

use super::{
    careful_resume::CarefulResume, hystart::HyStart, hystart_plus_plus::HyStartPlusPlus,
    limited_slow_start::LimitedSlowStart, search::Search,
};
use crate::{Ack, CongestionKind, Nanos, Window};
use alloc::boxed::Box;

words! {
    /// Kind of slow start.
    pub enum SlowStartKind {
        /// RFC 5681: one segment for each acknowledged one, until `ssthresh` or a loss.
        Standard = "standard",
        /// RFC 3742: at most half of `max_ssthresh` = 100 segments a round trip in large windows.
        Limited = "limited",
        /// HyStart, as in Linux.
        HyStart = "hystart",
        /// RFC 9406.
        HyStartPlusPlus = "hystart++",
        /// draft-chung-ccwg-search: ends where deliveries fall behind what was sent.
        Search = "search",
        /// RFC 9959: jumps to half of a saved window. Without one, it is the standard one.
        CarefulResume = "careful-resume",
    }
}

/// A slow start and its state.
#[derive(Clone, Debug)]
pub enum SlowStart {
    /// RFC 5681.
    Standard,
    /// RFC 3742.
    Limited(LimitedSlowStart),
    /// HyStart, as in Linux.
    HyStart(HyStart),
    /// RFC 9406.
    HyStartPlusPlus(HyStartPlusPlus),
    /// draft-chung-ccwg-search.
    Search(Box<Search>),
    /// RFC 9959.
    CarefulResume(CarefulResume),
}

impl SlowStart {
    /// Creates the slow start of a kind, for a flow that starts now.
    pub fn new(kind: SlowStartKind, now: Nanos) -> Self {
        match kind {
            SlowStartKind::Standard => SlowStart::Standard,
            SlowStartKind::Limited => SlowStart::Limited(LimitedSlowStart::default()),
            SlowStartKind::HyStart => SlowStart::HyStart(HyStart::new(now)),
            SlowStartKind::HyStartPlusPlus => SlowStart::HyStartPlusPlus(HyStartPlusPlus::default()),
            SlowStartKind::Search => SlowStart::Search(Box::default()),
            SlowStartKind::CarefulResume => SlowStart::CarefulResume(CarefulResume::new(0.0, Nanos::ZERO)),
        }
    }

    /// Returns whether every ACK is to be reported, outside of slow start as well.
    #[inline]
    pub fn is_resuming(&self) -> bool {
        matches!(self, SlowStart::CarefulResume(resume) if resume.is_active())
    }

    /// Handles an ACK in slow start: always measures it, and grows the window if allowed. Returns the acknowledged segments
    /// that remain for congestion avoidance.
    pub fn on_ack(&mut self, window: &mut Window, ack: &Ack) -> u32 {
        match self {
            SlowStart::Standard => {}
            SlowStart::Limited(limited) => return limited.on_ack(window, ack),
            SlowStart::HyStart(hystart) => hystart.on_ack(window, ack, ack.min_rtt),
            SlowStart::HyStartPlusPlus(hystart) => return hystart.on_ack(window, ack),
            SlowStart::Search(search) => search.on_ack(window, ack),
            SlowStart::CarefulResume(resume) => return resume.on_ack(window, ack),
        }
        if !ack.may_grow() {
            0
        } else if window.in_slow_start() {
            window.slow_start(ack.acked)
        } else {
            ack.acked
        }
    }

    /// Handles the beginning of a congestion episode.
    pub fn on_congestion(&mut self, kind: CongestionKind, now: Nanos) {
        match self {
            SlowStart::Standard | SlowStart::Limited(_) => {}
            SlowStart::HyStart(hystart) if kind == CongestionKind::Timeout => *hystart = HyStart::new(now),
            SlowStart::HyStart(_) => {}
            SlowStart::HyStartPlusPlus(hystart) => hystart.end(),
            SlowStart::Search(search) => search.end(),
            SlowStart::CarefulResume(_) => {}
        }
    }

    /// Handles the beginning of a congestion episode after the algorithm has set `ssthresh` for it: a retreat of Careful Resume
    /// lowers it.
    pub fn retreat(&mut self, window: &mut Window, kind: CongestionKind) {
        if let SlowStart::CarefulResume(resume) = self
            && let Some(segments) = resume.on_congestion(window, kind)
        {
            window.set_ssthresh_for_loss(segments.min(window.ssthresh));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arithmetic;
    use crate::testing::{ack_rtt, window_with};

    const KINDS: [SlowStartKind; 6] = [
        SlowStartKind::Standard,
        SlowStartKind::Limited,
        SlowStartKind::HyStart,
        SlowStartKind::HyStartPlusPlus,
        SlowStartKind::Search,
        SlowStartKind::CarefulResume,
    ];

    #[test]
    fn every_kind_doubles_a_window_without_a_queue() {
        for kind in KINDS {
            let mut slow_start = SlowStart::new(kind, Nanos::ZERO);
            let mut window = window_with(10.0, f64::INFINITY, Arithmetic::Real);
            for n in 0..10 {
                slow_start.on_ack(&mut window, &Ack { round_start: n == 0, ..ack_rtt(100 + 5 * n, 100) });
            }
            assert_eq!(window.cwnd, 20.0, "{kind:?}");
        }
    }

    #[test]
    fn every_kind_hands_over_what_is_left_at_the_threshold() {
        for kind in KINDS {
            let mut slow_start = SlowStart::new(kind, Nanos::ZERO);
            let mut window = window_with(10.0, 12.0, Arithmetic::Real);
            assert_eq!(slow_start.on_ack(&mut window, &Ack { acked: 5, ..ack_rtt(0, 100) }), 3, "{kind:?}");
            assert_eq!(window.cwnd, 12.0);
        }
    }

    #[test]
    fn no_kind_grows_a_window_that_is_not_used() {
        for kind in KINDS {
            let mut slow_start = SlowStart::new(kind, Nanos::ZERO);
            let mut window = window_with(10.0, f64::INFINITY, Arithmetic::Real);
            let idle = Ack { cwnd_limited: false, ..ack_rtt(0, 100) };
            assert_eq!((slow_start.on_ack(&mut window, &idle), window.cwnd), (0, 10.0), "{kind:?}");
        }
    }

    #[test]
    fn hystart_plus_plus_doubles_after_a_loss() {
        // Two rounds of eight ACKs, the second with 100 ms more: it would then grow by a quarter. It does not.
        let mut slow_start = SlowStart::new(SlowStartKind::HyStartPlusPlus, Nanos::ZERO);
        slow_start.on_congestion(CongestionKind::Loss, Nanos::ZERO);
        let mut window = window_with(20.0, 1000.0, Arithmetic::Real);
        for n in 0..30u64 {
            let rtt = if n < 10 { 100 } else { 200 };
            let ack = Ack { round_start: n % 10 == 0, ..ack_rtt(100 + 10 * n, rtt) };
            assert_eq!(slow_start.on_ack(&mut window, &ack), 0);
        }
        assert_eq!(window.cwnd, 50.0);
    }

    #[test]
    fn hystart_that_has_seen_a_queue_looks_again_after_a_timeout_only() {
        for (kind, looks) in [(CongestionKind::Timeout, true), (CongestionKind::Loss, false)] {
            let mut slow_start = SlowStart::new(SlowStartKind::HyStart, Nanos::ZERO);
            for again in [false, true] {
                let mut window = window_with(20.0, 1000.0, Arithmetic::Real);
                for n in 0..10 {
                    let min_rtt = Nanos::from_millis(100);
                    slow_start.on_ack(&mut window, &Ack { min_rtt, ..ack_rtt(100 + 10 * n, 200) });
                }
                assert_eq!(window.ssthresh < 1000.0, !again || looks);
                slow_start.on_congestion(kind, Nanos::ZERO);
            }
        }
    }

    #[test]
    fn hystart_looks_anew_after_a_timeout_and_hystart_plus_plus_never_again() {
        let mut hystart = SlowStart::new(SlowStartKind::HyStart, Nanos::ZERO);
        let mut plus_plus = SlowStart::new(SlowStartKind::HyStartPlusPlus, Nanos::ZERO);
        for slow_start in [&mut hystart, &mut plus_plus] {
            slow_start.on_congestion(CongestionKind::Timeout, Nanos::ZERO);
            let mut window = window_with(20.0, 1000.0, Arithmetic::Real);
            // Two rounds of ten: the second has twice the delay.
            for n in 0..20u64 {
                let rtt = if n < 10 { 100 } else { 200 };
                let ack = Ack { round_start: n % 10 == 0, ..ack_rtt(100 + 10 * n, rtt) };
                slow_start.on_ack(&mut window, &Ack { min_rtt: Nanos::from_millis(100), ..ack });
            }
            let looked = window.ssthresh < 1000.0;
            assert_eq!(looked, matches!(slow_start, SlowStart::HyStart(_)));
        }
    }
}
