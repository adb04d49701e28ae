//! A transport that keeps to the contract and to nothing else: it hands an algorithm any sequence of events,
//! and checks after each what must hold for every algorithm.

mod random;

use cwnd_cc::parts::draws::Draws;
use cwnd_cc::{
    Ack, AckCompat, AlgorithmInfo, Arithmetic, Congestion, CongestionControl, CongestionKind, DupAck, Init,
    LostPacket, Nanos, Needs, Observation, ParameterKind, ParameterValue, Parameters, RateSample, State,
    Window, WindowConfig, all,
};
pub use random::RandomEvents;

/// One event, in numbers that the transport makes sense of.
#[derive(Clone, Debug)]
pub enum Event {
    Ack {
        acked: u32,
        cumulative: u32,
        lost: u32,
        rtt: Option<u64>,
        limited: bool,
        round: bool,
        marked: bool,
        recovering: bool,
        sample: Option<Sample>,
    },
    Congestion {
        kind: CongestionKind,
        flight_size: u32,
        row: u32,
    },
    RecoveryExit {
        moderated: bool,
    },
    Undo,
    Idle {
        ms: u64,
    },
    Duplicate,
    Lost {
        tx_in_flight: u32,
        since: u32,
    },
}

/// A delivery-rate sample.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub delivered: u32,
    pub interval: u64,
    pub tx_in_flight: u32,
    pub lost: u32,
    pub app_limited: bool,
}

/// A flow of one algorithm in one arithmetic.
pub struct Flow {
    pub window: Window,
    pub name: &'static str,
    algorithm: Box<dyn CongestionControl>,
    pub needs: Needs,
    greatest_restart: f64,
    now: u64,
    acks: u64,
    delivered: u64,
    lost: u64,
    in_flight: u32,
    min_rtt: Nanos,
    srtt: Nanos,
    before_episode: (f64, f64),
}

/// A flow of every algorithm in every arithmetic. `seed` also chooses parameters, the defaults being those of 0,
/// and whether there is a slow-start threshold.
pub fn flows(initial: f64, seed: u64) -> Vec<Flow> {
    let arithmetics = [Arithmetic::Real, Arithmetic::Linux, Arithmetic::Linux26];
    all()
        .iter()
        .flat_map(|algorithm| arithmetics.map(|arithmetic| Flow::new(algorithm, arithmetic, initial, seed)))
        .collect()
}

impl Flow {
    pub fn new(algorithm: &AlgorithmInfo, arithmetic: Arithmetic, initial: f64, seed: u64) -> Flow {
        let mut window = Window::new(&WindowConfig {
            initial_cwnd: initial,
            initial_ssthresh: if seed.is_multiple_of(2) { f64::INFINITY } else { 100_000.0 },
            clamp: 100_000.0,
            mss: 1448,
            arithmetic,
            slow_start_at_ssthresh: arithmetic == Arithmetic::Linux26,
        });
        let mut cc = (algorithm.build)(&parameters(algorithm, seed)).expect("values are in range");
        let needs = cc.needs();
        let ecn = needs.ecn.unwrap_or_default();
        cc.init(&mut window, &Init { seed, ecn, sack: seed.is_multiple_of(3), ..Init::default() });
        Flow {
            before_episode: (window.cwnd, window.ssthresh),
            in_flight: window.cwnd as u32,
            window,
            algorithm: cc,
            needs,
            name: algorithm.name,
            // Agile-SD restarts with 2 segments, or with up to 10 if a parameter says so.
            greatest_restart: initial.max(if seed == 0 { 2.0 } else { 10.0 }),
            now: 0,
            acks: 0,
            delivered: 0,
            lost: 0,
            min_rtt: Nanos::MAX,
            srtt: Nanos::ZERO,
        }
    }

    pub fn apply(&mut self, event: &Event, tick: u64) {
        self.now = self.now.saturating_add(tick);
        let now = Nanos(self.now);
        match *event {
            Event::Ack { .. } => self.acknowledge(event),
            Event::Congestion { kind, flight_size, row } => self.begin_episode(kind, flight_size, row),
            Event::RecoveryExit { moderated } => {
                let window = &mut self.window;
                if !self.needs.owns_recovery {
                    window.set_cwnd(if moderated { window.ssthresh.min(5.0) } else { window.ssthresh });
                }
                self.algorithm.on_recovery_exit(window, now);
            }
            Event::Undo => {
                let (cwnd, ssthresh) = self.before_episode;
                let window = &mut self.window;
                window.set_cwnd(window.cwnd.max(cwnd));
                window.ssthresh = window.ssthresh.max(ssthresh);
                self.algorithm.on_undo(window, now);
            }
            Event::Idle { ms } => {
                self.algorithm.on_idle_restart(&mut self.window, now, Nanos::from_millis(ms));
            }
            Event::Duplicate => {
                self.algorithm.on_dup_ack(&mut self.window, &DupAck { now, sacked: 1, count: 1 });
            }
            Event::Lost { tx_in_flight, since } => self.lose(tx_in_flight, since),
        }
        self.check(event);
    }

    fn acknowledge(&mut self, event: &Event) {
        let Event::Ack { acked, cumulative, lost, rtt, limited, round, marked, recovering, sample } = *event
        else {
            return;
        };
        self.acks += 1;
        self.delivered += u64::from(acked);
        let rtt = rtt.map(Nanos);
        self.min_rtt = self.min_rtt.min(rtt.unwrap_or(Nanos::MAX));
        self.srtt = rtt.unwrap_or(self.srtt);
        let prior_in_flight = self.in_flight;
        self.in_flight = self.window.cwnd as u32;
        let rate = sample.filter(|_| self.needs.rate_samples).map(|sample| RateSample {
            delivered: u64::from(sample.delivered).min(self.delivered),
            prior_delivered: self.delivered.saturating_sub(sample.delivered.into()),
            interval: Nanos(sample.interval),
            app_limited: sample.app_limited,
            tx_in_flight: sample.tx_in_flight,
            lost: sample.lost.into(),
            marked: 0,
            rtt: rtt.unwrap_or_default(),
        });
        let ack = Ack {
            now: Nanos(self.now),
            acked,
            cumulative,
            lost,
            marked: if marked { acked } else { 0 },
            rtt,
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            in_flight: self.in_flight,
            prior_in_flight,
            compat: AckCompat {
                header_predicted: !recovering && !marked && lost == 0,
                ..AckCompat::default()
            },
            state: if recovering { State::Recovery } else { State::Open },
            cwnd_limited: limited,
            app_limited: !limited,
            round_start: round,
            round: self.acks,
            delivered: self.delivered,
            sent: self.delivered + u64::from(self.in_flight),
            rate,
        };
        self.algorithm.on_ack(&mut self.window, &ack);
    }

    fn begin_episode(&mut self, kind: CongestionKind, flight_size: u32, row: u32) {
        if kind == CongestionKind::Ecn && self.needs.marks_only {
            return;
        }
        let window = &mut self.window;
        let cwnd = window.cwnd;
        self.before_episode = (cwnd, window.ssthresh);
        window.recovery_cwnd = None;
        let timeout = kind == CongestionKind::Timeout;
        let congestion = Congestion {
            now: Nanos(self.now),
            kind,
            in_flight: flight_size,
            flight_size,
            lost: 1,
            rtt: self.srtt,
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            timeouts: if timeout { row } else { 0 },
            in_slow_start: window.in_slow_start(),
        };
        self.algorithm.on_congestion(window, &congestion);
        assert_eq!(window.cwnd, cwnd, "{}: the transport moves the window", self.name);
        if !(timeout && row > 1) {
            assert!(window.ssthresh >= 2.0, "{}: {window:?}", self.name);
            // Westwood's threshold is what the bandwidth needs, and then it holds the window itself.
            let held = self.name == "westwood" && (timeout || window.recovery_cwnd.is_some());
            assert!(held || window.ssthresh <= cwnd.max(2.0), "{}: {cwnd} {window:?}", self.name);
        }
        if let Some(held) = window.recovery_cwnd {
            assert!((1.0..=cwnd.max(2.0)).contains(&held), "{}: {cwnd} {window:?}", self.name);
        }
        if timeout {
            window.set_cwnd(window.restart_cwnd);
            assert!(window.cwnd <= self.greatest_restart, "{}: {window:?}", self.name);
        } else if !self.needs.owns_recovery {
            window.set_cwnd(window.recovery_cwnd.unwrap_or(window.ssthresh));
        }
    }

    fn lose(&mut self, tx_in_flight: u32, since: u32) {
        self.lost += 1;
        if !self.needs.lost_packets {
            return;
        }
        let lost = LostPacket {
            now: Nanos(self.now),
            sent: Nanos::ZERO,
            tx_in_flight,
            delivered: self.delivered,
            lost_at_send: self.lost.saturating_sub(since.into()),
            lost: self.lost,
            app_limited: since.is_multiple_of(2),
        };
        self.algorithm.on_packet_lost(&mut self.window, &lost);
    }

    fn check(&self, event: &Event) {
        let window = &self.window;
        let context = || format!("{} after {event:?}: {window:?}", self.name);
        assert!(window.cwnd.is_finite(), "{}", context());
        assert!(window.cwnd >= 1.0, "{}", context());
        assert!(window.cwnd <= window.clamp(), "{}", context());
        assert!(!window.ssthresh.is_nan() && window.ssthresh >= 1.0, "{}", context());
        assert!(window.pacing_rate > 0.0, "{}", context());
        let at = Observation { now: Nanos(self.now), srtt: self.srtt, min_rtt: self.min_rtt };
        let mut values = vec![f64::INFINITY; self.algorithm.observables().len()];
        self.algorithm.observe(window, &at, &mut values);
        assert!(!values.iter().any(|value| value.is_infinite()), "{}: {values:?}", self.name);
        if window.arithmetic() != Arithmetic::Real {
            assert_eq!(window.cwnd, window.cwnd.floor(), "{}", context());
        }
    }
}

/// Parameters that `seed` chooses: defaults for 0, else a value within each range, ends included.
fn parameters(algorithm: &AlgorithmInfo, seed: u64) -> Parameters {
    let mut draws = Draws::new(seed);
    let chosen = algorithm.parameters.iter().filter(|_| seed != 0).map(|parameter| {
        let value = match parameter.kind {
            ParameterKind::Number { min, max, .. } => {
                let share = f64::from(draws.below(5)) / 4.0;
                ParameterValue::Number((min + (max - min) * share).clamp(min, max))
            }
            ParameterKind::Switch { .. } => ParameterValue::Switch(draws.below(2) == 0),
            ParameterKind::Word { choices, .. } => {
                ParameterValue::Word(choices[draws.below(choices.len() as u32) as usize].into())
            }
        };
        (parameter.name.to_string(), value)
    });
    chosen.collect()
}
