//! BBR, version 1: models the path by its bandwidth and round-trip time, and sends at that rate.
//!
//! N. Cardwell, Y. Cheng, C. S. Gunn, S. H. Yeganeh, V. Jacobson, "BBR: Congestion-Based Congestion Control",
//! ACM Queue 14(5), 2016; N. Cardwell, Y. Cheng, S. H. Yeganeh, V. Jacobson,
//! draft-cardwell-iccrg-bbr-congestion-control-00, 2017, whose names are used:
//!
//! ```text
//! BtlBw   the greatest delivery rate of 10 round trips; samples that the application limits count only
//!         where they are greater
//! RTprop  the least round-trip time of 10 s
//! BDP     = BtlBw RTprop
//! pacing  = pacing_gain BtlBw         until the pipe is full it only rises
//! target  = cwnd_gain BDP + 3 send quanta
//! W       += acked, up to target once the pipe is full; at least 4
//!
//! Startup   both gains 2/ln 2, until BtlBw grew by less than 25 % in three rounds on end: the pipe is full
//! Drain     pacing_gain ln 2/2, until BDP + 3 quanta are in flight
//! ProbeBW   cwnd_gain 2, pacing_gain 5/4, 3/4, 1, 1, 1, 1, 1, 1, each for RTprop; it enters at random, but not
//!           at 3/4
//! ProbeRTT  W = 4 for 200 ms and a round trip, when RTprop has not been met for 10 s
//!
//! loss      no cut; in the first round of recovery W is what is in flight and what was delivered
//! timeout   W = 1;  after either W is what it was before
//! ```
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `high_gain` | 2.885 | 1.5 to 5 | draft section 4.3.2.1: 2/ln 2 |
//! | `cwnd_gain` | 2 | 1 to 5 | draft section 4.3.4.1 |
//! | `probe_gain` | 1.25 | 1.01 to 2 | draft section 4.3.4.1; what it adds the next phase takes away |
//! | `rtprop_interval` | 10 s | 1 to 100 | draft sections 4.1.2.2 and 4.3.5 |
//! | `probe_rtt_duration` | 0.2 s | 0.01 to 2 | draft section 4.3.5 |
//! | `pacing_margin` | 0 | 0 to 0.1 | the draft has none, Linux paces 1 % under the rate |
//! | `rules` | `draft` | `draft`, `linux` | draft; `linux` is what Linux 6.1 does |
//!
//! Interpretations:
//! - By default the draft without Linux's additions. `rules = linux` adds them: the compensation of ACK aggregation, the
//!   detection of policers, and Linux's rounding (`bbr/linux.rs` lists all).
//! - Without a round-trip time from the handshake, the first pacing rate assumes 1 ms (draft section 4.2.1). It is computed
//!   again from the first sample, as in Linux; the draft's pseudocode omits that.
//! - Entering ProbeRTT saves the current window, the "last known good" one. The order of the pseudocode (section 4.3.5) would
//!   keep an older, larger one.
//! - "10 round trips" are the current one and the nine before it.
//! - The transport does not learn that samples in ProbeRTT are application-limited. This file ignores the samples of segments
//!   sent in ProbeRTT.
//! - A segment is delivered when it is acknowledged or SACKed first. RTprop uses the round-trip times that the transport
//!   accepts (never of a retransmission without timestamps), not that of the rate sample.
//! - BBR does not use ssthresh. A congestion episode sets it to the window, which then no longer grows as in slow start.

mod aggregation;
mod control;
mod linux;
mod policer;
mod snapshot;
#[cfg(test)]
mod tests;

pub use snapshot::Snapshot;

use crate::observable::{bits_per_second, known, seconds};
use crate::parts::candidate_max::CandidateMax;
use crate::parts::draws::Draws;
use crate::parts::round_max::RoundMax;
use crate::{
    Ack, AlgorithmInfo, CompatNeeds, Configurable, Congestion, CongestionControl, CongestionKind, Init,
    LostPacket, Nanos, Needs, Observable, Observation, ParameterSet, Signal, State, Window, build,
};
use aggregation::Aggregation;
use policer::Policer;

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "bbr",
    title: "BBR (version 1)",
    year: 2016,
    reference: "N. Cardwell et al., BBR: Congestion-Based Congestion Control, ACM Queue 14(5), 2016; \
                draft-cardwell-iccrg-bbr-congestion-control-00 (2017)",
    summary: "Sends at the greatest rate that was delivered of late, with twice the bandwidth-delay product \
              in flight at most.",
    strengths: "Full links and short queues on long paths, with random losses of several percent, and with \
                buffers far over the BDP.",
    weaknesses: "Floods buffers under a BDP, where it loses much and starves flows that answer losses; \
                 favours long RTTs; several of them keep a queue of a BDP.",
    signals: &[Signal::Rate, Signal::Delay],
    based_on: "a model of the path",
    implemented_in: "Linux (tcp_bbr), QUIC stacks (quiche, quinn), FreeBSD",
    reconstruction: false,
    version: 2,
    parameters: BbrParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<Bbr>,
};

/// 2/ln 2: smallest gain that doubles the rate each round trip.
const HIGH_GAIN: f64 = 2.0 / core::f64::consts::LN_2;

words! {
    /// Whose rules apply where Linux differs from the draft.
    pub enum Rules {
        /// The draft's.
        Draft = "draft",
        /// Linux 6.1's: the allowance for aggregated ACKs, the detection of policers, and its rounding.
        Linux = "linux",
    }
}

parameters! {
    /// Settings of [`Bbr`].
    pub struct BbrParameters {
        /// Both gains in Startup.
        high_gain: number(HIGH_GAIN, 1.5..=5.0), "1", "draft section 4.3.2.1";
        /// Window, bandwidth-delay products.
        cwnd_gain: number(2.0, 1.0..=5.0), "1", "draft section 4.3.4.1";
        /// Pacing gain while it probes for bandwidth.
        probe_gain: number(1.25, 1.01..=2.0), "1", "draft section 4.3.4.1";
        /// Time after which RTprop is measured again.
        rtprop_interval: number(10.0, 1.0..=100.0), "s", "draft sections 4.1.2.2 and 4.3.5";
        /// Shortest duration of ProbeRTT.
        probe_rtt_duration: number(0.2, 0.01..=2.0), "s", "draft section 4.3.5";
        /// Fraction by which the pacing rate is below the computed rate.
        pacing_margin: number(0.0, 0.0..=0.1), "1", "draft; 0.01 in Linux";
        /// Whose rules apply where Linux differs from the draft.
        rules: word(Rules::Draft), "", "draft";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::mode(
        "mode",
        "state",
        "State of the state machine.",
        &["Startup", "Drain", "ProbeBW", "ProbeRTT"],
    ),
    Observable::new("max_bw", "BtlBw", "bit/s", "The greatest delivery rate of 10 round trips, payload."),
    Observable::new("min_rtt", "RTprop", "s", "The least round-trip time of 10 s."),
    Observable::new("bdp", "BDP", "segments", "BtlBw RTprop."),
    Observable::new("pacing_gain", "pacing_gain", "1", "Pacing rate as a multiple of BtlBw."),
    Observable::new("cwnd_gain", "cwnd_gain", "1", "Target of the window as a multiple of the BDP."),
];

/// The state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Increases the rate until the bandwidth is found.
    Startup,
    /// Sends slowly until the queue that Startup built is empty.
    Drain,
    /// Sends at the bandwidth, and in turns above and below it.
    ProbeBw,
    /// Keeps few segments in flight to measure the round-trip time.
    ProbeRtt,
}

/// Number of rounds in the maximum filter of BtlBw.
const BTLBW_ROUNDS: usize = 10;

/// The maximum filter of BtlBw, segments a second.
#[derive(Clone, Debug)]
enum Bandwidth {
    /// The greatest rate of the current round and the nine before it.
    Draft(RoundMax<BTLBW_ROUNDS>),
    /// Linux's, with the number of the round.
    Linux(CandidateMax, u64),
}

impl Bandwidth {
    fn get(&self) -> f64 {
        match self {
            Bandwidth::Draft(max) => max.get(),
            Bandwidth::Linux(max, _) => max.get(),
        }
    }

    /// Begins a round.
    fn advance(&mut self) {
        match self {
            Bandwidth::Draft(max) => max.advance(),
            Bandwidth::Linux(_, round) => *round += 1,
        }
    }

    fn add(&mut self, rate: f64) {
        match self {
            Bandwidth::Draft(max) => max.add(rate),
            Bandwidth::Linux(max, round) => max.add(*round, BTLBW_ROUNDS as u64, rate),
        }
    }
}

/// BBR.
#[derive(Clone, Debug)]
pub struct Bbr {
    parameters: BbrParameters,
    draws: Draws,
    mode: Mode,
    pacing_gain: f64,
    cwnd_gain: f64,
    drain_gain: f64,
    /// BtlBw, segments a second.
    bandwidth: Bandwidth,
    /// RTprop; [`Nanos::MAX`] before the first sample.
    rtprop: Nanos,
    rtprop_stamp: Nanos,
    /// RTprop in seconds, and the BDP; stored because each ACK uses the BDP several times.
    bdp: f64,
    /// The round trip ends when a segment is acknowledged that was sent after this number were delivered.
    round_end: u64,
    round_start: bool,
    delivered: u64,
    /// The rate that Startup compares with, the number of rounds without growth, and whether the pipe is full.
    full_bandwidth: f64,
    full_rounds: u32,
    filled_pipe: bool,
    cycle: usize,
    cycle_stamp: Nanos,
    probe_rtt_done: Option<Nanos>,
    probe_rtt_round_done: bool,
    /// Range of delivered counts at which segments were sent in ProbeRTT.
    throttled: (u64, u64),
    idle_restart: bool,
    initial_cwnd: f64,
    /// The window before recovery or ProbeRTT.
    prior_cwnd: f64,
    in_recovery: bool,
    /// Whether recovery has just begun; `conserving` is true in its first round.
    entering: bool,
    conserving: bool,
    /// Whether the first pacing rate assumes a round-trip time.
    guessed: bool,
    /// With Linux's rules: the state of loss recovery at the last ACK that changed the window, when segments were delivered last,
    /// and the segments lost so far.
    state: State,
    delivered_at: Nanos,
    lost: u64,
    aggregation: Aggregation,
    policer: Policer,
}

impl Configurable for Bbr {
    type Parameters = BbrParameters;

    fn new(mut parameters: BbrParameters) -> Self {
        let bandwidth = match parameters.rules {
            Rules::Draft => Bandwidth::Draft(RoundMax::default()),
            Rules::Linux => Bandwidth::Linux(CandidateMax::default(), 0),
        };
        let mut drain_gain = 1.0 / parameters.high_gain;
        if parameters.rules == Rules::Linux {
            drain_gain = linux::rounded_gain(drain_gain, false);
            parameters.high_gain = linux::rounded_gain(parameters.high_gain, true);
        }
        Bbr {
            draws: Draws::default(),
            mode: Mode::Startup,
            pacing_gain: parameters.high_gain,
            cwnd_gain: parameters.high_gain,
            drain_gain,
            bandwidth,
            rtprop: Nanos::MAX,
            rtprop_stamp: Nanos::ZERO,
            bdp: 0.0,
            round_end: 0,
            round_start: false,
            delivered: 0,
            full_bandwidth: 0.0,
            full_rounds: 0,
            filled_pipe: false,
            cycle: 0,
            cycle_stamp: Nanos::ZERO,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            throttled: (0, 0),
            idle_restart: false,
            initial_cwnd: 10.0,
            prior_cwnd: 0.0,
            in_recovery: false,
            entering: false,
            conserving: false,
            guessed: true,
            state: State::Open,
            delivered_at: Nanos::ZERO,
            lost: 0,
            aggregation: Aggregation::default(),
            policer: Policer::default(),
            parameters,
        }
    }
}

impl CongestionControl for Bbr {
    fn init(&mut self, window: &mut Window, init: &Init) {
        self.draws = Draws::new(init.seed);
        self.initial_cwnd = window.cwnd;
        self.rtprop_stamp = self.stamp(init.now);
        if let Some(rtt) = init.rtt {
            self.rtprop = self.sample(rtt);
        }
        self.aggregation.restart(init.now);
        self.guess_pacing(window, init.rtt);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.delivered = ack.delivered;
        if self.guessed && ack.rtt.is_some() {
            self.guess_pacing(window, ack.rtt);
        }
        self.update_bandwidth(window, ack);
        self.update_rtprop_and_bdp(ack, window);
        self.set_pacing(window, self.pacing_gain);
        match self.parameters.rules {
            Rules::Draft => self.set_cwnd(window, ack),
            Rules::Linux => self.set_linux_cwnd(window, ack),
        }
    }

    fn on_packet_lost(&mut self, _window: &mut Window, packet: &LostPacket) {
        self.lost = packet.lost;
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if self.is_linux() {
            if congestion.kind != CongestionKind::Ecn {
                self.on_linux_congestion(window, congestion.kind == CongestionKind::Timeout);
            }
        } else if congestion.kind != CongestionKind::Ecn {
            self.save_cwnd(window);
            self.in_recovery = true;
            self.entering = congestion.kind == CongestionKind::Loss;
            self.conserving = self.entering;
            // The round of packet conservation starts here.
            self.round_end = self.delivered;
            window.restart_cwnd = 1.0;
        }
        window.set_ssthresh_for_loss(window.cwnd);
    }

    fn on_recovery_exit(&mut self, window: &mut Window, _now: Nanos) {
        if self.in_recovery {
            self.in_recovery = false;
            self.entering = false;
            self.conserving = false;
            self.restore_cwnd(window);
        }
    }

    fn on_undo(&mut self, window: &mut Window, now: Nanos) {
        match self.parameters.rules {
            Rules::Draft => self.on_recovery_exit(window, now),
            Rules::Linux => self.on_linux_undo(),
        }
    }

    fn on_idle_restart(&mut self, window: &mut Window, now: Nanos, _idle: Nanos) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        if self.mode == Mode::ProbeBw {
            self.set_pacing(window, 1.0);
        } else if self.mode == Mode::ProbeRtt && self.is_linux() {
            self.end_probe_rtt_if_due(window, now);
        }
    }

    fn needs(&self) -> Needs {
        Needs {
            rate_samples: true,
            lost_packets: self.is_linux(),
            pacing: true,
            owns_recovery: true,
            marks_only: true,
            compat: CompatNeeds {
                single_segments_below: control::SINGLE_SEGMENTS_BELOW,
                ..CompatNeeds::default()
            },
            ..Needs::default()
        }
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, _at: &Observation, values: &mut [f64]) {
        values.copy_from_slice(&[
            f64::from(self.mode as u8),
            bits_per_second(Some(self.bandwidth.get()), window),
            seconds(self.rtprop),
            known(self.bdp),
            self.pacing_gain,
            self.cwnd_gain,
        ]);
    }
}

impl Bbr {
    fn is_linux(&self) -> bool {
        self.parameters.rules == Rules::Linux
    }

    /// Returns a time as the ages of RTprop and ProbeRTT count it.
    fn stamp(&self, now: Nanos) -> Nanos {
        if self.is_linux() { linux::whole_millis(now) } else { now }
    }

    /// Returns a round-trip time as RTprop counts it.
    fn sample(&self, rtt: Nanos) -> Nanos {
        if self.is_linux() { linux::whole_micros(rtt) } else { rtt }
    }

    /// Updates rounds, BtlBw, and whether the pipe is full.
    fn update_bandwidth(&mut self, window: &Window, ack: &Ack) {
        self.round_start = false;
        let Some(sample) = &ack.rate else { return };
        let rate = match self.parameters.rules {
            Rules::Draft => Some(sample.segments_per_second()),
            Rules::Linux => linux::rate_of(sample),
        };
        let Some(rate) = rate else { return };
        if sample.prior_delivered >= self.round_end {
            self.round_end = ack.delivered;
            self.round_start = true;
            self.bandwidth.advance();
        }
        let throttled = (self.throttled.0..self.throttled.1).contains(&sample.prior_delivered);
        let limited = sample.app_limited || throttled;
        if self.is_linux() {
            self.conserving &= !self.round_start;
            self.sample_policer(window, ack, limited);
        }
        if rate >= self.bandwidth.get() || !limited {
            self.bandwidth.add(rate);
        }
        if self.is_linux() && ack.acked > 0 {
            self.sample_aggregation(window, ack);
        }
        if self.filled_pipe || !self.round_start || limited {
            return;
        }
        if self.bandwidth.get() >= self.full_bandwidth * 1.25 {
            self.full_bandwidth = self.bandwidth.get();
            self.full_rounds = 0;
        } else {
            self.full_rounds += 1;
            self.filled_pipe = self.full_rounds >= 3;
        }
    }

    /// Updates RTprop, and runs the steps of the state machine that use it in the draft's order.
    fn update_rtprop_and_bdp(&mut self, ack: &Ack, window: &mut Window) {
        self.bdp = self.bandwidth.get() * self.rtprop_seconds();
        self.step_probe_bw(window, ack);
        self.step_startup_and_drain(window, ack);
        let now = self.stamp(ack.now);
        let age = now.since(self.rtprop_stamp).as_secs_f64();
        let expired = age > self.parameters.rtprop_interval;
        if let Some(rtt) = ack.rtt.map(|rtt| self.sample(rtt))
            && (rtt < self.rtprop || expired || (rtt == self.rtprop && !self.is_linux()))
        {
            self.rtprop = rtt;
            self.rtprop_stamp = now;
            self.bdp = self.bandwidth.get() * self.rtprop_seconds();
        }
        self.step_probe_rtt(window, ack, expired);
    }

    fn rtprop_seconds(&self) -> f64 {
        if self.rtprop == Nanos::MAX { 0.0 } else { self.rtprop.as_secs_f64() }
    }
}
