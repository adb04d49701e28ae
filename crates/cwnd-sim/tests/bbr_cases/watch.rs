//! A look into BBR: what it holds after every event, while it runs in the simulator.
//!
//! An engine takes a factory of algorithms. The one here wraps the algorithm: every event is passed to it unchanged, and what
//! it holds afterwards is written down.

use cwnd_cc::algorithms::bbr::{self, Bbr, BbrParameters};
use cwnd_cc::algorithms::bbr3::{self, Bbr3, Bbr3Parameters};
use cwnd_cc::{
    Ack, Configurable, Congestion, CongestionControl, CongestionKind, DupAck, Init, LostPacket, Nanos, Needs,
    Window,
};
use cwnd_scenario::AlgorithmSpec;
use std::sync::{Arc, Mutex};

/// An algorithm that can be looked into.
pub trait Inside: CongestionControl + Sized + 'static {
    /// Its name in the registry.
    const NAME: &'static str;
    /// What there is to see.
    type Look: Copy + Send + 'static;
    fn fresh() -> Self;
    fn look(&self, window: &Window) -> Self::Look;
}

impl Inside for Bbr3 {
    const NAME: &'static str = "bbr3";
    type Look = bbr3::Snapshot;

    fn fresh() -> Self {
        Bbr3::new(Bbr3Parameters::default())
    }

    fn look(&self, window: &Window) -> bbr3::Snapshot {
        self.snapshot(window)
    }
}

impl Inside for Bbr {
    const NAME: &'static str = "bbr";
    type Look = bbr::Snapshot;

    fn fresh() -> Self {
        Bbr::new(BbrParameters::default())
    }

    fn look(&self, window: &Window) -> bbr::Snapshot {
        self.snapshot(window)
    }
}

/// What the transport told.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    Init,
    Ack(Ack),
    Lost(LostPacket),
    Congestion(CongestionKind),
    RecoveryExit,
    Undo,
    IdleRestart,
}

/// What the algorithm holds after an event.
#[derive(Clone, Copy, Debug)]
pub struct Seen<L> {
    /// When, on the engine's clock, seconds; and to the nanosecond.
    pub at: f64,
    pub now: Nanos,
    pub event: Event,
    pub bbr: L,
    /// Segments.
    pub cwnd: f64,
    /// Segments a second.
    pub pacing: f64,
}

impl<L> Seen<L> {
    /// The ACK, if it was one.
    pub fn ack(&self) -> Option<&Ack> {
        match &self.event {
            Event::Ack(ack) => Some(ack),
            _ => None,
        }
    }

    /// The delivery rate of its sample, segments a second, and whether the application limited it.
    pub fn rate(&self) -> Option<(f64, bool)> {
        let sample = self.ack()?.rate?;
        Some((sample.segments_per_second(), sample.app_limited))
    }
}

/// All that was seen so far.
pub type Log<L> = Arc<Mutex<Vec<Seen<L>>>>;

/// An algorithm and the log that is kept of it.
pub struct Watched<A: Inside> {
    inside: A,
    log: Log<A::Look>,
}

/// A factory of watched algorithms.
pub fn factory<A: Inside>(
    log: &Log<A::Look>,
) -> impl Fn(&AlgorithmSpec) -> Result<Box<dyn CongestionControl>, String> + use<A> {
    let log = log.clone();
    move |_| Ok(Box::new(Watched { inside: A::fresh(), log: log.clone() }))
}

impl<A: Inside> Watched<A> {
    fn note(&self, window: &Window, now: Nanos, event: Event) {
        let bbr = self.inside.look(window);
        let pacing = window.pacing_rate / f64::from(window.mss());
        let seen = Seen { at: now.as_secs_f64(), now, event, bbr, cwnd: window.cwnd, pacing };
        self.log.lock().expect("nobody panics with it").push(seen);
    }
}

impl<A: Inside> CongestionControl for Watched<A> {
    fn init(&mut self, window: &mut Window, init: &Init) {
        self.inside.init(window, init);
        self.note(window, init.now, Event::Init);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.inside.on_ack(window, ack);
        self.note(window, ack.now, Event::Ack(*ack));
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        self.inside.on_congestion(window, congestion);
        self.note(window, congestion.now, Event::Congestion(congestion.kind));
    }

    fn on_recovery_exit(&mut self, window: &mut Window, now: Nanos) {
        self.inside.on_recovery_exit(window, now);
        self.note(window, now, Event::RecoveryExit);
    }

    fn on_undo(&mut self, window: &mut Window, now: Nanos) {
        self.inside.on_undo(window, now);
        self.note(window, now, Event::Undo);
    }

    fn on_idle_restart(&mut self, window: &mut Window, now: Nanos, idle: Nanos) {
        self.inside.on_idle_restart(window, now, idle);
        self.note(window, now, Event::IdleRestart);
    }

    fn on_dup_ack(&mut self, window: &mut Window, dup: &DupAck) {
        self.inside.on_dup_ack(window, dup);
    }

    fn on_packet_lost(&mut self, window: &mut Window, lost: &LostPacket) {
        self.inside.on_packet_lost(window, lost);
        self.note(window, lost.now, Event::Lost(*lost));
    }

    fn needs(&self) -> Needs {
        self.inside.needs()
    }
}

/// Holds `extra_acked` against UpdateACKAggregation, computed again from what the algorithm was told: the greatest sample of
/// `rounds` rounds, or of one in Startup. Returns how many were compared.
pub fn check_extra_acked(log: &[Seen<bbr3::Snapshot>], rounds: u64) -> usize {
    let (mut delivered, mut start) = (0.0, log[0].now);
    let mut samples: Vec<(u64, f64)> = Vec::new();
    let mut compared = 0;
    for pair in log.windows(2) {
        let [before, after] = [&pair[0], &pair[1]];
        let Event::Ack(ack) = after.event else { continue };
        let mut expected = before.bbr.bw * ack.now.since(start).as_secs_f64();
        if delivered <= expected {
            (delivered, start, expected) = (0.0, ack.now, 0.0);
        }
        delivered += f64::from(ack.acked);
        let round = after.bbr.round_count;
        let length = if before.bbr.full_bw_reached { rounds } else { 1 };
        samples.retain(|(then, _)| then + length > round);
        samples.push((round, (delivered - expected).min(before.cwnd)));
        let most = samples.iter().map(|(_, extra)| *extra).fold(0.0, f64::max);
        assert!((after.bbr.extra_acked - most).abs() < 1e-6, "{most} is the greatest, at {after:?}");
        compared += 1;
    }
    compared
}
