//! An algorithm that is simple enough to be obviously correct, and records the events that it receives.

use cwnd_cc::{
    Ack, Congestion, CongestionControl, CongestionKind, DupAck, Init, LostPacket, Nanos, Needs, Window,
};
use std::sync::{Arc, Mutex};

/// What an algorithm was told, in order.
#[derive(Clone, Default)]
pub struct Notes {
    pub init: Option<Init>,
    pub acks: Vec<Ack>,
    pub dups: Vec<DupAck>,
    pub congestions: Vec<Congestion>,
    pub losses: Vec<LostPacket>,
    pub exits: Vec<Nanos>,
    /// How often a reduction was undone.
    pub undone: usize,
    /// When the flow sent again after idle times, and how long they were.
    pub restarts: Vec<(Nanos, Nanos)>,
}

impl Notes {
    /// Returns how many episodes of a kind began.
    pub fn episodes(&self, kind: CongestionKind) -> usize {
        self.congestions.iter().filter(|congestion| congestion.kind == kind).count()
    }
}

/// An algorithm whose behaviour the test chooses. By default it keeps its window, and halves it at a congestion episode.
#[derive(Clone, Default)]
pub struct Fake {
    /// Slow start and one segment a window, as RFC 5681 says, instead of a fixed window.
    pub grows: bool,
    /// The threshold set at a congestion episode; half the window if `None`.
    pub ssthresh: Option<f64>,
    pub recovery_cwnd: Option<f64>,
    pub restart_cwnd: Option<f64>,
    /// Bytes a second.
    pub pacing_rate: Option<f64>,
    pub needs: Needs,
    pub notes: Arc<Mutex<Notes>>,
}

impl Fake {
    /// Creates an algorithm with a window that does not grow.
    pub fn fixed() -> Fake {
        Fake::default()
    }

    /// Creates an algorithm with slow start and congestion avoidance.
    pub fn reno() -> Fake {
        Fake { grows: true, ..Fake::default() }
    }

    /// Creates an algorithm that sets its window to `ssthresh` at once, and owns recovery: RFC 5681 and RFC 6675 without rate
    /// halving or proportional rate reduction.
    pub fn at_once(ssthresh: f64) -> Fake {
        let needs = Needs { owns_recovery: true, ..Needs::default() };
        Fake { ssthresh: Some(ssthresh), needs, ..Fake::default() }
    }

    /// Creates an algorithm with a fixed window that is notified of delivery-rate samples and lost packets.
    pub fn sampled() -> Fake {
        let needs = Needs { rate_samples: true, lost_packets: true, ..Needs::default() };
        Fake { needs, ..Fake::default() }
    }
}

impl CongestionControl for Fake {
    fn init(&mut self, window: &mut Window, init: &Init) {
        self.notes.lock().unwrap().init = Some(*init);
        if let Some(rate) = self.pacing_rate {
            window.pacing_rate = rate;
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.notes.lock().unwrap().acks.push(*ack);
        if self.grows && ack.may_grow() {
            if window.in_slow_start() {
                window.slow_start(ack.acked);
            } else {
                window.increase(ack.acked, window.cwnd);
            }
        }
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        self.notes.lock().unwrap().congestions.push(*congestion);
        if congestion.is_repeated_timeout() {
            return;
        }
        window.set_ssthresh_for_loss(self.ssthresh.unwrap_or(window.cwnd / 2.0));
        window.recovery_cwnd = self.recovery_cwnd;
        if let Some(restart) = self.restart_cwnd {
            window.restart_cwnd = restart;
        }
        if self.needs.owns_recovery {
            window.set_cwnd(window.ssthresh);
        }
    }

    fn on_recovery_exit(&mut self, _: &mut Window, now: Nanos) {
        self.notes.lock().unwrap().exits.push(now);
    }

    fn on_undo(&mut self, _: &mut Window, _: Nanos) {
        self.notes.lock().unwrap().undone += 1;
    }

    fn on_idle_restart(&mut self, _: &mut Window, now: Nanos, idle: Nanos) {
        self.notes.lock().unwrap().restarts.push((now, idle));
    }

    fn on_dup_ack(&mut self, _: &mut Window, dup: &DupAck) {
        self.notes.lock().unwrap().dups.push(*dup);
    }

    fn on_packet_lost(&mut self, _: &mut Window, lost: &LostPacket) {
        self.notes.lock().unwrap().losses.push(*lost);
    }

    fn needs(&self) -> Needs {
        self.needs
    }
}
