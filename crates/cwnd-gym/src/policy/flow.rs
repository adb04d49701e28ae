//! A flow that obeys a policy.

use super::Policy;
use crate::Interval;
use crate::action::{Action, Command};
use crate::agent::{Driver, latest_rtt};
use crate::features::{Feature, History};
use crate::interval::Meter;
use cwnd_cc::{
    Ack, Congestion, CongestionControl, DupAck, Init, LostPacket, Nanos, Needs, Observable, Observation,
    Window,
};
use std::sync::Arc;

/// The algorithm of a flow that obeys a policy.
pub struct PolicyFlow {
    policy: Arc<Policy>,
    driver: Driver,
    meter: Meter,
    history: History,
    last: Interval,
    mean_rtt_s: f64,
    /// The first round-trip time that was measured, seconds; zero before.
    base_rtt_s: f64,
    start: u64,
    /// The interval under way, ns; none before the first round-trip time is known.
    span: Option<(u64, u64)>,
    rate_pps: f64,
    action: f64,
    /// Packets lost so far, and before the interval.
    lost: u64,
    lost_before: u64,
    /// Packets sent before the interval.
    sent_before: u64,
}

/// What it shows of its state.
pub const OBSERVABLES: [Observable; 2] = [
    Observable::new("action", "a", "1", "the policy's last action"),
    Observable::new("interval", "", "s", "length of the last monitor interval"),
];

/// The rate before any round-trip time is known, packets a second.
const FIRST_RATE_PPS: f64 = 100.0;

impl PolicyFlow {
    /// Creates the state of a new flow.
    pub fn new(policy: Arc<Policy>) -> Result<PolicyFlow, String> {
        Ok(PolicyFlow {
            driver: Driver::new(&policy.action)?,
            meter: Meter::new(policy.features.contains(&Feature::LatencyGradient)),
            history: History::new(&policy.features, policy.history),
            last: Interval::default(),
            mean_rtt_s: 0.0,
            base_rtt_s: 0.0,
            start: 0,
            span: None,
            rate_pps: policy.first_rate_pps.unwrap_or(FIRST_RATE_PPS),
            action: f64::NAN,
            lost: 0,
            lost_before: 0,
            sent_before: 0,
            policy,
        })
    }

    /// Begins the first interval after the warm-up, once a round-trip time is known.
    fn begin(&mut self, ack: &Ack) {
        if ack.min_rtt == Nanos::MAX {
            return;
        }
        self.base_rtt_s = ack.min_rtt.as_secs_f64();
        let warm_up = (self.policy.warm_up_rtts * self.base_rtt_s * 1e9) as u64;
        let begin = self.start.saturating_add(warm_up);
        // An interval that ends at the end of the warm-up: it is not observed.
        self.span = Some((begin, begin));
    }

    /// Ends the interval with an ACK that came after it, and acts.
    fn act(&mut self, window: &mut Window, ack: &Ack, begin: u64) {
        // What the flow knew before this ACK. Each packet sent is delivered, in flight, or lost.
        let lost = self.lost - u64::from(ack.lost).min(self.lost);
        let sent = u64::from(ack.prior_in_flight) + (ack.delivered - u64::from(ack.acked)) + lost;
        if ack.now.0 > begin && self.action.is_finite() {
            let mut interval = Interval {
                duration_s: (ack.now.0 - begin) as f64 * 1e-9,
                packet_bytes: window.mss(),
                sent: sent.saturating_sub(self.sent_before),
                lost: lost.saturating_sub(self.lost_before),
                cwnd: window.cwnd,
                pacing_pps: window.pacing_rate / f64::from(window.mss()),
                srtt_s: ack.srtt.as_secs_f64(),
                min_rtt_s: ack.min_rtt.as_secs_f64(),
                ..Interval::default()
            };
            self.meter.write(&mut interval);
            if interval.rtt_samples > 0 {
                self.mean_rtt_s = interval.rtt_mean_s;
            }
            self.history.push(&interval);
            self.last = interval;
        }
        let action = self.policy.act(self.history.values());
        self.action = f64::from(action);
        let command = self.policy.action.command(action, &mut self.rate_pps);
        self.driver.obey(command, window);
        self.meter.clear();
        (self.sent_before, self.lost_before) = (sent, lost);
        let length = self.policy.interval.after(&self.last, self.mean_rtt_s, self.base_rtt_s);
        self.span = Some((ack.now.0, ack.now.0.saturating_add(length)));
    }
}

impl CongestionControl for PolicyFlow {
    fn init(&mut self, window: &mut Window, init: &Init) {
        self.start = init.now.0;
        let initial = window.cwnd;
        self.driver.init(window, init);
        if matches!(self.policy.action, Action::Rate { .. }) {
            if let (None, Some(rtt)) = (self.policy.first_rate_pps, init.rtt.filter(|rtt| rtt.0 > 0)) {
                self.rate_pps = initial / rtt.as_secs_f64();
            }
            self.driver.obey(Command::Rate(self.rate_pps), window);
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.driver.on_ack(window, ack);
        if self.span.is_none() {
            self.begin(ack);
        }
        if let Some((begin, _)) = self.span.filter(|(_, end)| ack.now.0 >= *end) {
            self.act(window, ack, begin);
        }
        self.meter.on_ack(ack.now, ack.acked, ack.marked, latest_rtt(ack));
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
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
        self.lost += 1;
        if self.driver.needs().lost_packets {
            self.driver.on_packet_lost(window, lost);
        }
    }

    fn needs(&self) -> Needs {
        Needs { lost_packets: true, ..self.driver.needs() }
    }

    fn observables(&self) -> &'static [Observable] {
        &OBSERVABLES
    }

    fn observe(&self, _window: &Window, _at: &Observation, values: &mut [f64]) {
        values.copy_from_slice(&[self.action, self.last.duration_s]);
    }
}
