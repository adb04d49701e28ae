//! Algorithms for tests: they use everything that a transport offers, and let everything that they are told
//! decide how they continue, so that the least difference shows.

use cwnd_cc::{
    Ack, CompatNeeds, Congestion, CongestionControl, DupAck, EcnMode, Init, LostPacket, Nanos, Needs, Window,
};
use cwnd_scenario::AlgorithmSpec;

/// Names of the probes: one that paces, one that owns its recovery as well, one that needs exact marks, one that wants no
/// episodes of them, and one that requires only the round trips of ns-2's modules.
pub const NAMES: &[&str] =
    &["probe", "probe-owns-recovery", "probe-marks", "probe-marks-only", "probe-module"];

/// The probes and the registered algorithms.
pub fn factory(spec: &AlgorithmSpec) -> Result<Box<dyn CongestionControl>, String> {
    let needs = Needs { rate_samples: true, lost_packets: true, pacing: true, ..Needs::default() };
    let needs = match spec.name.as_str() {
        "probe" => needs,
        "probe-owns-recovery" => Needs { owns_recovery: true, ..needs },
        "probe-marks" => Needs { ecn: Some(EcnMode::Exact), ..needs },
        "probe-marks-only" => Needs { ecn: Some(EcnMode::Exact), marks_only: true, ..needs },
        "probe-module" => {
            Needs { compat: CompatNeeds { covered_rtt: true, ..CompatNeeds::default() }, ..Needs::default() }
        }
        _ => return cwnd_sim::registered(spec),
    };
    Ok(Box::new(Probe { needs, digest: 0, rate: 0.0 }))
}

/// It paces at somewhat more than the greatest delivery rate of late, with a window of somewhat more than
/// that rate takes; "somewhat" depends on all that it has been told.
struct Probe {
    needs: Needs,
    /// A digest of all that was told.
    digest: u64,
    /// The greatest delivery rate of late, segments a second.
    rate: f64,
}

impl Probe {
    fn note(&mut self, told: &[u64]) {
        for &word in told {
            self.digest = (self.digest ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        }
    }

    /// From 1 to 1.5.
    fn somewhat(&self) -> f64 {
        1.0 + (self.digest >> 44) as f64 / (1u64 << 21) as f64
    }
}

impl CongestionControl for Probe {
    fn init(&mut self, window: &mut Window, init: &Init) {
        self.note(&[init.now.0, init.seed, init.ecn as u64, init.rtt.map_or(0, |rtt| rtt.0)]);
        window.pacing_rate = f64::INFINITY;
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let Ack { now, acked, cumulative, lost, marked, rtt, srtt, min_rtt, in_flight, .. } = *ack;
        let Ack { prior_in_flight, state, cwnd_limited, app_limited, round_start, round, .. } = *ack;
        self.note(&[now.0, acked.into(), cumulative.into(), lost.into(), marked.into()]);
        self.note(&[rtt.map_or(0, |rtt| rtt.0), srtt.0, min_rtt.0, in_flight.into()]);
        self.note(&[prior_in_flight.into(), state as u64, cwnd_limited.into(), app_limited.into()]);
        self.note(&[round_start.into(), round, ack.delivered, ack.sent]);
        if let Some(sample) = &ack.rate {
            self.note(&[sample.delivered, sample.prior_delivered, sample.interval.0]);
            self.note(&[sample.app_limited.into(), sample.tx_in_flight.into(), sample.lost]);
            self.note(&[sample.marked, sample.rtt.0]);
            self.rate = (self.rate * 0.99).max(sample.segments_per_second());
            if self.rate > 0.0 {
                window.pacing_rate = self.rate * f64::from(window.mss()) * self.somewhat();
            }
        }
        if !self.needs.rate_samples {
            if ack.may_grow() {
                let slow = window.in_slow_start();
                let acked = if slow { window.slow_start(ack.acked) } else { ack.acked };
                window.increase_weighted(acked, self.somewhat(), window.cwnd);
            }
        } else if ack.may_grow() || self.needs.owns_recovery {
            let room = self.rate * min_rtt.as_secs_f64().min(1.0);
            window.set_cwnd(window.cwnd.max(room).min(2.0 * room + 4.0) + self.somewhat());
        }
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        let Congestion { now, kind, in_flight, flight_size, lost, rtt, srtt, min_rtt, .. } = *congestion;
        self.note(&[now.0, kind as u64, in_flight.into(), flight_size.into(), lost.into(), rtt.0]);
        self.note(&[srtt.0, min_rtt.0, congestion.timeouts.into(), congestion.in_slow_start.into()]);
        window.set_ssthresh_for_loss(window.cwnd * self.somewhat() / 2.0);
    }

    fn on_recovery_exit(&mut self, _: &mut Window, now: Nanos) {
        self.note(&[now.0]);
    }

    fn on_undo(&mut self, _: &mut Window, now: Nanos) {
        self.note(&[now.0]);
    }

    fn on_idle_restart(&mut self, _: &mut Window, now: Nanos, idle: Nanos) {
        self.note(&[now.0, idle.0]);
    }

    fn on_dup_ack(&mut self, _: &mut Window, dup: &DupAck) {
        self.note(&[dup.now.0, dup.sacked.into(), dup.count.into()]);
    }

    fn on_packet_lost(&mut self, _: &mut Window, lost: &LostPacket) {
        self.note(&[lost.now.0, lost.sent.0, lost.tx_in_flight.into(), lost.delivered]);
        self.note(&[lost.lost_at_send, lost.lost, lost.app_limited.into()]);
    }

    fn needs(&self) -> Needs {
        self.needs
    }
}
