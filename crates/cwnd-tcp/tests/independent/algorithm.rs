//! An algorithm that reacts in one of many ways, and records every event that is reported to it.

use cwnd_cc::{
    Ack, Congestion, CongestionControl, CongestionKind, DupAck, Init, LostPacket, Nanos, Needs, State, Window,
};
use std::sync::{Arc, Mutex};

/// What was reported to the algorithm: the event's name, and its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Told(pub &'static str, pub [u64; 21]);

/// What was reported to the algorithm, in order.
pub type Log = Arc<Mutex<Vec<Told>>>;

/// How it reacts.
#[derive(Clone, Copy, Debug)]
pub struct Reactions {
    /// The part of the window that a congestion event leaves.
    pub factor: f64,
    /// The part that is held during recovery, if it is another.
    pub held: Option<f64>,
    pub restart: f64,
    pub needs: Needs,
}

/// The algorithm.
pub struct Recorder {
    pub reactions: Reactions,
    pub log: Log,
}

impl Recorder {
    fn note(&self, name: &'static str, numbers: &[u64]) {
        let mut all = [0; 21];
        all[..numbers.len()].copy_from_slice(numbers);
        self.log.lock().unwrap().push(Told(name, all));
    }
}

fn state(state: State) -> u64 {
    state as u64
}

fn optional(time: Option<Nanos>) -> u64 {
    time.map_or(u64::MAX, |time| time.0)
}

impl CongestionControl for Recorder {
    fn init(&mut self, window: &mut Window, init: &Init) {
        self.note(
            "init",
            &[init.now.0, init.seed, init.ecn as u64, u64::from(init.sack), optional(init.rtt)],
        );
        window.restart_cwnd = self.reactions.restart;
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.note(
            "ack",
            &[
                ack.now.0,
                u64::from(ack.acked),
                u64::from(ack.cumulative),
                u64::from(ack.lost),
                u64::from(ack.marked),
                optional(ack.rtt),
                ack.srtt.0,
                ack.min_rtt.0,
                u64::from(ack.in_flight),
                u64::from(ack.prior_in_flight),
                state(ack.state),
                u64::from(ack.cwnd_limited),
                u64::from(ack.app_limited),
                u64::from(ack.round_start),
                ack.round,
                ack.delivered,
                ack.sent,
                u64::from(ack.compat.header_predicted),
                u64::from(ack.compat.grows_on_sack),
                ack.compat.until_departure.0,
                window.cwnd.to_bits(),
            ],
        );
        if ack.may_grow() {
            let rest = if window.in_slow_start() { window.slow_start(ack.acked) } else { ack.acked };
            if rest > 0 {
                window.increase(rest, window.cwnd);
            }
        }
        if self.reactions.needs.marks_only && ack.marked > 0 {
            window.lower_cwnd(window.cwnd - 1.0);
        }
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        self.note(
            "congestion",
            &[
                congestion.now.0,
                match congestion.kind {
                    CongestionKind::Loss => 0,
                    CongestionKind::Ecn => 1,
                    CongestionKind::Timeout => 2,
                },
                u64::from(congestion.in_flight),
                u64::from(congestion.flight_size),
                u64::from(congestion.lost),
                congestion.rtt.0,
                congestion.srtt.0,
                congestion.min_rtt.0,
                u64::from(congestion.timeouts),
                u64::from(congestion.in_slow_start),
                window.cwnd.to_bits(),
            ],
        );
        if congestion.is_repeated_timeout() {
            return;
        }
        window.set_ssthresh_for_loss(window.cwnd * self.reactions.factor);
        window.recovery_cwnd = self.reactions.held.map(|part| (window.cwnd * part).max(1.0));
        if self.reactions.needs.owns_recovery {
            window.set_cwnd(window.cwnd * self.reactions.factor);
        }
    }

    fn on_recovery_exit(&mut self, window: &mut Window, now: Nanos) {
        self.note("exit", &[now.0, window.cwnd.to_bits()]);
    }

    fn on_undo(&mut self, window: &mut Window, now: Nanos) {
        self.note("undo", &[now.0, window.cwnd.to_bits(), window.ssthresh.to_bits()]);
    }

    fn on_idle_restart(&mut self, window: &mut Window, now: Nanos, idle: Nanos) {
        self.note("idle", &[now.0, idle.0, window.cwnd.to_bits()]);
    }

    fn on_dup_ack(&mut self, _window: &mut Window, dup: &DupAck) {
        self.note("duplicate", &[dup.now.0, u64::from(dup.sacked), u64::from(dup.count)]);
    }

    fn on_packet_lost(&mut self, _window: &mut Window, lost: &LostPacket) {
        self.note("lost", &[lost.now.0, lost.sent.0]);
    }

    fn needs(&self) -> Needs {
        self.reactions.needs
    }
}
