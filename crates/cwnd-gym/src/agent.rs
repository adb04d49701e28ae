//! The congestion control of the flow that learns: it obeys commands, and measures.

use crate::Interval;
use crate::action::{Action, Command, WindowStep};
use crate::interval::Meter;
use cwnd_cc::{
    Ack, Congestion, CongestionControl, CongestionKind, DupAck, Init, LostPacket, Nanos, Needs, Observable,
    Observation, Window,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The name by which a scenario of an environment calls the algorithm of the flow that learns.
pub const AGENT: &str = "agent";

/// The command of the present interval. The environment writes it while the simulation is halted, and the agent reads it at
/// the flow's next event, so the order of memory accesses does not matter.
#[derive(Debug, Default)]
pub struct Control {
    /// Counts commands.
    epoch: AtomicU64,
    /// The bits of the rate or of the factor.
    value: AtomicU64,
    /// The bits of the segments to add.
    segments: AtomicU64,
}

impl Control {
    /// Begins an interval with this command.
    pub fn set(&self, command: Command) {
        let (value, segments) = match command {
            Command::Rate(rate) => (rate, 0.0),
            Command::Window(step) => (step.factor, step.segments),
        };
        self.value.store(value.to_bits(), Ordering::Relaxed);
        self.segments.store(segments.to_bits(), Ordering::Relaxed);
        self.epoch.store(self.epoch() + 1, Ordering::Relaxed);
    }

    fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Relaxed)
    }

    fn numbers(&self) -> (f64, f64) {
        let number = |cell: &AtomicU64| f64::from_bits(cell.load(Ordering::Relaxed));
        (number(&self.value), number(&self.segments))
    }
}

/// What a command changes, and what changes the window between commands.
pub enum Driver {
    /// A rate: packets are paced, and the window does not limit them.
    Rate,
    /// The window alone, segments; nothing else changes it.
    Window(f64),
    /// The window of this algorithm.
    Over(Box<dyn CongestionControl>),
}

impl Driver {
    /// Creates the driver of an action.
    ///
    /// # Errors
    /// The algorithm of [`Action::WindowOver`] cannot be created.
    pub fn new(action: &Action) -> Result<Driver, String> {
        Ok(match action {
            Action::Rate { .. } => Driver::Rate,
            Action::Discrete { .. } => Driver::Window(0.0),
            Action::WindowOver { algorithm, .. } => Driver::Over(cwnd_sim::registered(algorithm)?),
        })
    }

    /// Obeys a command.
    pub fn obey(&mut self, command: Command, window: &mut Window) {
        match (command, &mut *self) {
            (Command::Rate(rate), _) => window.pacing_rate = rate * f64::from(window.mss()),
            (Command::Window(step), Driver::Window(cwnd)) => {
                *cwnd = stepped(*cwnd, step).min(window.clamp());
                window.set_cwnd(*cwnd);
            }
            (Command::Window(step), Driver::Rate | Driver::Over(_)) => {
                window.set_cwnd(stepped(window.cwnd, step));
            }
        }
    }

    /// Sets the window that no event changes.
    fn hold(&self, window: &mut Window) {
        match self {
            Driver::Rate => window.cwnd = window.clamp(),
            Driver::Window(cwnd) => window.set_cwnd(*cwnd),
            Driver::Over(_) => {}
        }
    }
}

/// Returns a window after a step. At least two segments remain, so that ACKs keep coming.
fn stepped(cwnd: f64, step: WindowStep) -> f64 {
    (cwnd * step.factor + step.segments).max(2.0)
}

/// Returns the round-trip time of the packet that an ACK reports. While segments are missing, an ACK that acknowledges
/// nothing cumulatively has no sample of its own, and its delivery-rate sample knows the time. A shorter one than any other is
/// that of a segment that was retransmitted needlessly.
pub fn latest_rtt(ack: &Ack) -> Option<Nanos> {
    ack.rtt.or_else(|| ack.rate.map(|sample| sample.rtt).filter(|rtt| *rtt >= ack.min_rtt))
}

impl CongestionControl for Driver {
    fn init(&mut self, window: &mut Window, init: &Init) {
        match self {
            Driver::Over(algorithm) => algorithm.init(window, init),
            Driver::Window(cwnd) => *cwnd = window.cwnd,
            Driver::Rate => {}
        }
        self.hold(window);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        match self {
            Driver::Over(algorithm) => algorithm.on_ack(window, ack),
            Driver::Rate | Driver::Window(_) => self.hold(window),
        }
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if let Driver::Over(algorithm) = self {
            return algorithm.on_congestion(window, congestion);
        }
        let cwnd = window.cwnd;
        window.set_ssthresh_for_loss(cwnd);
        window.recovery_cwnd = Some(cwnd);
        window.restart_cwnd = cwnd;
    }

    fn on_recovery_exit(&mut self, window: &mut Window, now: Nanos) {
        match self {
            Driver::Over(algorithm) => algorithm.on_recovery_exit(window, now),
            Driver::Rate | Driver::Window(_) => self.hold(window),
        }
    }

    fn on_undo(&mut self, window: &mut Window, now: Nanos) {
        match self {
            Driver::Over(algorithm) => algorithm.on_undo(window, now),
            Driver::Rate | Driver::Window(_) => self.hold(window),
        }
    }

    fn on_idle_restart(&mut self, window: &mut Window, now: Nanos, idle: Nanos) {
        match self {
            Driver::Over(algorithm) => algorithm.on_idle_restart(window, now, idle),
            Driver::Rate | Driver::Window(_) => self.hold(window),
        }
    }

    fn on_dup_ack(&mut self, window: &mut Window, dup: &DupAck) {
        if let Driver::Over(algorithm) = self {
            algorithm.on_dup_ack(window, dup);
        }
    }

    fn on_packet_lost(&mut self, window: &mut Window, lost: &LostPacket) {
        if let Driver::Over(algorithm) = self {
            algorithm.on_packet_lost(window, lost);
        }
    }

    fn needs(&self) -> Needs {
        let own = Needs { owns_recovery: true, marks_only: true, rate_samples: true, ..Needs::default() };
        match self {
            Driver::Over(algorithm) => algorithm.needs(),
            Driver::Rate => Needs { pacing: true, ..own },
            Driver::Window(_) => own,
        }
    }
}

/// The algorithm of the flow that learns. It reads the command from the shared [`Control`] at the flow's first event of an
/// interval, as a kernel's algorithm could, and shows what it has measured as [observables](Agent::OBSERVABLES).
pub struct Agent {
    control: Arc<Control>,
    /// The command that it has obeyed.
    epoch: u64,
    driver: Driver,
    meter: Meter,
    delivered: u64,
}

impl Agent {
    pub fn new(control: Arc<Control>, driver: Driver, slope: bool) -> Agent {
        Agent { control, epoch: 0, driver, meter: Meter::new(slope), delivered: 0 }
    }

    /// What it shows: the measurements of the interval, in the order of [`read_observed`].
    pub const OBSERVABLES: [Observable; 9] = [
        Observable::new("acked", "", "segments", "segments delivered in the interval"),
        Observable::new("marked", "", "segments", "segments of the interval whose mark was echoed"),
        Observable::new("rtt_samples", "", "1", "round-trip time samples of the interval"),
        Observable::new("rtt_mean", "", "s", "mean of these samples"),
        Observable::new("rtt_min", "", "s", "least of these samples"),
        Observable::new(
            "rtt_increase",
            "",
            "s",
            "mean of the second half of these samples less that of the first",
        ),
        Observable::new("rtt_slope", "", "1", "slope of the regression line through these samples"),
        Observable::new("delivered", "", "segments", "segments delivered since the start"),
        Observable::new("min_rtt", "", "s", "smallest round-trip time of the connection"),
    ];

    /// Begins an interval if there is a new command, and obeys it.
    fn follow(&mut self, window: &mut Window) {
        let epoch = self.control.epoch();
        if epoch == self.epoch {
            return;
        }
        self.epoch = epoch;
        self.meter.clear();
        let (value, segments) = self.control.numbers();
        let command = match &self.driver {
            Driver::Rate => Command::Rate(value),
            Driver::Window(_) | Driver::Over(_) => Command::Window(WindowStep { factor: value, segments }),
        };
        self.driver.obey(command, window);
    }
}

/// Reads what an [`Agent`] shows into an interval. Returns the segments delivered since the start.
pub fn read_observed(values: &[f64; 9], interval: &mut Interval) -> u64 {
    let [acked, marked, samples, mean, min, increase, slope, delivered, min_rtt] = *values;
    interval.acked = acked as u64;
    interval.marked = marked as u64;
    interval.rtt_samples = samples as u64;
    interval.rtt_mean_s = mean;
    interval.rtt_min_s = min;
    interval.rtt_increase_s = increase;
    interval.rtt_slope = slope;
    interval.min_rtt_s = min_rtt;
    delivered as u64
}

impl CongestionControl for Agent {
    fn init(&mut self, window: &mut Window, init: &Init) {
        self.driver.init(window, init);
        self.follow(window);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.driver.on_ack(window, ack);
        self.follow(window);
        self.delivered = ack.delivered;
        self.meter.on_ack(ack.now, ack.acked, ack.marked, latest_rtt(ack));
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        // After a timeout no ACK may come for long.
        if congestion.kind == CongestionKind::Timeout {
            self.follow(window);
        }
        self.driver.on_congestion(window, congestion);
    }

    fn on_recovery_exit(&mut self, window: &mut Window, now: Nanos) {
        self.driver.on_recovery_exit(window, now);
    }

    fn on_undo(&mut self, window: &mut Window, now: Nanos) {
        self.driver.on_undo(window, now);
    }

    fn on_idle_restart(&mut self, window: &mut Window, now: Nanos, idle: Nanos) {
        self.driver.on_idle_restart(window, now, idle);
    }

    fn on_dup_ack(&mut self, window: &mut Window, dup: &DupAck) {
        self.driver.on_dup_ack(window, dup);
    }

    fn on_packet_lost(&mut self, window: &mut Window, lost: &LostPacket) {
        self.driver.on_packet_lost(window, lost);
    }

    fn needs(&self) -> Needs {
        self.driver.needs()
    }

    fn observables(&self) -> &'static [Observable] {
        &Agent::OBSERVABLES
    }

    fn observe(&self, _window: &Window, at: &Observation, values: &mut [f64]) {
        let mut interval = Interval::default();
        // Without an event since the last command there is nothing to report.
        if self.epoch == self.control.epoch() {
            self.meter.write(&mut interval);
        }
        let min_rtt = if at.min_rtt == Nanos::MAX { 0.0 } else { at.min_rtt.as_secs_f64() };
        values.copy_from_slice(&[
            interval.acked as f64,
            interval.marked as f64,
            interval.rtt_samples as f64,
            interval.rtt_mean_s,
            interval.rtt_min_s,
            interval.rtt_increase_s,
            interval.rtt_slope,
            self.delivered as f64,
            min_rtt,
        ]);
    }
}
