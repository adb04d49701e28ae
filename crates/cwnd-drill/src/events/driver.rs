//! What a transport does around an algorithm.

use super::EventsError;
use super::read::Line;
use crate::cursor::ScriptError;
use cwnd_cc::{
    Ack, Arithmetic, Congestion, CongestionControl, CongestionKind, EcnMode, FlowHints, Init, Nanos,
    Observation, ParameterValue, Parameters, RateSample, State, Window, WindowConfig,
};

/// The difference of two equal values that were computed in different ways, relative.
const ROUNDING: f64 = 1e-9;

/// The events, for errors.
const EVENTS: &str = "init, ack, loss, ecn, timeout, recovered, undo, idle and expect";

/// An algorithm and its transport.
pub(super) struct Driver {
    name: String,
    algorithm: Box<dyn CongestionControl>,
    window: Window,
    started: bool,
    began: Nanos,
    now: Nanos,
    state: State,
    srtt: Nanos,
    min_rtt: Nanos,
    rtt: Nanos,
    delivered: u64,
    round: u64,
    timeouts: u32,
    had_episode: bool,
    /// Delivered segments that no cumulative ACK has passed.
    selectively_acked: u64,
}

impl Driver {
    /// Creates the algorithm that a line names.
    pub fn new(line: &Line) -> Result<Driver, ScriptError> {
        let name = line.names.first().map_or("", String::as_str);
        let info = cwnd_cc::find(name).ok_or_else(|| {
            let names: Vec<&str> = cwnd_cc::all().iter().map(|info| info.name).collect();
            line.error(format!("there is no algorithm `{name}`; write one of {}", names.join(", ")))
        })?;
        let mut parameters = Parameters::new();
        for (key, text) in &line.values {
            if !info.parameters.iter().any(|parameter| parameter.name == key) {
                let names: Vec<&str> = info.parameters.iter().map(|parameter| parameter.name).collect();
                return Err(
                    line.error(format!("{name} has no parameter `{key}`; it has {}", names.join(", ")))
                );
            }
            parameters.insert(key.clone(), ParameterValue::from(text.as_str()));
        }
        let algorithm = (info.build)(&parameters).map_err(|error| line.error(error.to_string()))?;
        Ok(Driver {
            name: name.to_owned(),
            algorithm,
            window: Window::new(&WindowConfig::default()),
            started: false,
            began: Nanos::ZERO,
            now: Nanos::ZERO,
            state: State::Open,
            srtt: Nanos::ZERO,
            min_rtt: Nanos::MAX,
            rtt: Nanos::ZERO,
            delivered: 0,
            round: 0,
            timeouts: 0,
            had_episode: false,
            selectively_acked: 0,
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Handles an event.
    pub fn event(&mut self, line: &Line) -> Result<(), ScriptError> {
        if line.word == "init" {
            return self.init(line);
        }
        if !self.started {
            return Err(line.error("`init` comes before other events"));
        }
        let now = line.time("at")?.unwrap_or(self.now);
        if now < self.now {
            return Err(line.error("this time lies before that of the event before"));
        }
        self.now = now;
        match line.word.as_str() {
            "ack" => self.ack(line),
            "loss" => self.congestion(line, CongestionKind::Loss),
            "ecn" => self.congestion(line, CongestionKind::Ecn),
            "timeout" => self.congestion(line, CongestionKind::Timeout),
            "recovered" => {
                line.allow(&["at"])?;
                if self.state == State::Open {
                    return Err(line
                        .error("no episode is open that could end: `loss`, `ecn` or `timeout` begins one"));
                }
                if self.state != State::Loss && !self.algorithm.needs().owns_recovery {
                    let ssthresh = self.window.ssthresh;
                    self.window.set_cwnd(ssthresh);
                }
                self.state = State::Open;
                self.algorithm.on_recovery_exit(&mut self.window, now);
                Ok(())
            }
            "undo" => {
                line.allow(&["at", "cwnd", "ssthresh"])?;
                if !self.had_episode {
                    return Err(line.error("there was no episode that could prove spurious"));
                }
                let cwnd = line.number("cwnd")?.unwrap_or(self.window.cwnd);
                self.window.set_cwnd(self.window.cwnd.max(cwnd));
                let ssthresh = line.number("ssthresh")?.unwrap_or(self.window.ssthresh);
                self.window.ssthresh = self.window.ssthresh.max(ssthresh);
                self.state = State::Open;
                self.algorithm.on_undo(&mut self.window, now);
                Ok(())
            }
            "idle" => {
                line.allow(&["at", "for"])?;
                let idle = line.time("for")?.unwrap_or(Nanos::ZERO);
                if idle.0 > now.0 - self.began.0 {
                    return Err(line.error("`for` is longer than the connection has lasted"));
                }
                self.algorithm.on_idle_restart(&mut self.window, now, idle);
                Ok(())
            }
            word => Err(line.error(format!("`{word}` is not an event; events are {EVENTS}"))),
        }
    }

    fn init(&mut self, line: &Line) -> Result<(), ScriptError> {
        line.allow(&["at", "cwnd", "ssthresh", "mss", "arithmetic", "rtt", "seed", "ecn", "sack"])?;
        if self.started {
            return Err(line.error("`init` stands once"));
        }
        let arithmetic = match line.text("arithmetic") {
            None | Some("real") => Arithmetic::Real,
            Some("linux") => Arithmetic::Linux,
            Some("linux26") => Arithmetic::Linux26,
            Some(other) => {
                return Err(line.error(format!("arithmetic={other}: write real, linux or linux26")));
            }
        };
        let ecn = match line.text("ecn") {
            None | Some("off") => EcnMode::Off,
            Some("classic") => EcnMode::Classic,
            Some("exact") => EcnMode::Exact,
            Some(other) => return Err(line.error(format!("ecn={other}: write off, classic or exact"))),
        };
        let rtt = line.positive_time("rtt")?;
        let cwnd = line.number("cwnd")?.unwrap_or(10.0);
        if !(1.0..f64::INFINITY).contains(&cwnd) {
            return Err(line.error(format!("cwnd={cwnd}: write a number of segments from 1")));
        }
        let mss = line.count("mss")?.unwrap_or(1000);
        if !(1..=65_535).contains(&mss) {
            return Err(line.error(format!("mss={mss}: write a number of bytes from 1 to 65535")));
        }
        self.now = line.time("at")?.unwrap_or(Nanos::ZERO);
        self.began = self.now;
        self.window = Window::new(&WindowConfig {
            initial_cwnd: cwnd,
            initial_ssthresh: line.number("ssthresh")?.unwrap_or(f64::INFINITY),
            mss,
            arithmetic,
            ..WindowConfig::default()
        });
        if let Some(rtt) = rtt {
            self.sample(rtt);
        }
        let init = Init {
            now: self.now,
            seed: line.count("seed")?.map_or(1, u64::from),
            ecn,
            sack: line.switch("sack", true)?,
            rtt,
            hints: FlowHints::default(),
            timer_hz: 0,
        };
        self.algorithm.init(&mut self.window, &init);
        self.started = true;
        Ok(())
    }

    /// Adds a round-trip time sample (RFC 6298 section 2).
    fn sample(&mut self, rtt: Nanos) {
        self.srtt = if self.srtt == Nanos::ZERO { rtt } else { Nanos((7 * self.srtt.0 + rtt.0) / 8) };
        self.min_rtt = self.min_rtt.min(rtt);
        self.rtt = rtt;
    }

    fn ack(&mut self, line: &Line) -> Result<(), ScriptError> {
        const KEYS: &[&str] = &[
            "at",
            "acked",
            "cumulative",
            "lost",
            "marked",
            "rtt",
            "in_flight",
            "cwnd_limited",
            "app_limited",
            "round",
            "delivered",
            "interval",
            "prior_delivered",
            "tx_in_flight",
        ];
        line.allow(KEYS)?;
        let acked = line.count("acked")?.ok_or_else(|| line.error("`ack` needs the key `acked`"))?;
        let rtt = line.positive_time("rtt")?;
        if let Some(rtt) = rtt {
            self.sample(rtt);
        }
        let cumulative = line.count("cumulative")?.unwrap_or(acked);
        self.selectively_acked = (self.selectively_acked + u64::from(acked))
            .checked_sub(u64::from(cumulative))
            .ok_or_else(|| line.error("`cumulative` passes segments that were not delivered (`acked`)"))?;
        let in_flight = line.count("in_flight")?.unwrap_or(self.window.cwnd.min(1e9) as u32);
        let round_start = match line.text("round") {
            None => false,
            Some("new") => true,
            Some(other) => return Err(line.error(format!("round={other}: write round=new"))),
        };
        self.round += u64::from(round_start);
        let prior = self.delivered;
        self.delivered += u64::from(acked);
        if cumulative > 0 {
            self.timeouts = 0;
        }
        let (lost, marked) = (line.count("lost")?.unwrap_or(0), line.count("marked")?.unwrap_or(0));
        if marked > acked {
            return Err(line.error("`marked` is more than `acked`: marks are counted in delivered segments"));
        }
        let app_limited = line.switch("app_limited", false)?;
        let rate = match line.time("interval")? {
            None => None,
            Some(interval) => Some(RateSample {
                delivered: self.delivered_by_now(line, "delivered", u64::from(acked))?,
                prior_delivered: self.delivered_by_now(line, "prior_delivered", prior)?,
                interval,
                app_limited,
                tx_in_flight: line.count("tx_in_flight")?.unwrap_or(in_flight.saturating_add(acked)),
                lost: u64::from(lost),
                marked: u64::from(marked),
                rtt: rtt.unwrap_or(self.rtt),
            }),
        };
        let ack = Ack {
            now: self.now,
            acked,
            cumulative,
            lost,
            marked,
            rtt,
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            in_flight,
            prior_in_flight: in_flight.saturating_add(acked),
            state: self.state,
            cwnd_limited: line.switch("cwnd_limited", true)?,
            app_limited,
            round_start,
            round: self.round,
            delivered: self.delivered,
            sent: self.delivered + u64::from(in_flight),
            rate,
            ..Ack::default()
        };
        self.algorithm.on_ack(&mut self.window, &ack);
        Ok(())
    }

    /// Returns a count of a delivery-rate sample, which is no more than what was delivered.
    fn delivered_by_now(&self, line: &Line, key: &str, default: u64) -> Result<u64, ScriptError> {
        let count = line.count(key)?.map_or(default, u64::from);
        match count <= self.delivered {
            true => Ok(count),
            false => Err(line.error(format!("{key}={count}: only {} were delivered so far", self.delivered))),
        }
    }

    fn congestion(&mut self, line: &Line, kind: CongestionKind) -> Result<(), ScriptError> {
        line.allow(&["at", "in_flight", "flight_size", "lost"])?;
        let is_on = match kind {
            CongestionKind::Loss => self.state == State::Recovery,
            CongestionKind::Ecn => matches!(self.state, State::Recovery | State::Cwr),
            CongestionKind::Timeout => false,
        };
        if is_on {
            return Err(line.error("an episode is on, and this would begin another: `recovered` ends it"));
        }
        self.had_episode = true;
        let window = self.window.cwnd.min(1e9) as u32;
        let in_flight = line.count("in_flight")?.unwrap_or(window);
        self.timeouts += u32::from(kind == CongestionKind::Timeout);
        let congestion = Congestion {
            now: self.now,
            kind,
            in_flight,
            flight_size: line.count("flight_size")?.unwrap_or(in_flight),
            lost: line.count("lost")?.unwrap_or(u32::from(kind != CongestionKind::Ecn)),
            rtt: self.rtt,
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            timeouts: if kind == CongestionKind::Timeout { self.timeouts } else { 0 },
            in_slow_start: self.window.in_slow_start(),
        };
        self.window.recovery_cwnd = None;
        self.algorithm.on_congestion(&mut self.window, &congestion);
        self.state = match kind {
            CongestionKind::Loss => State::Recovery,
            CongestionKind::Ecn => State::Cwr,
            CongestionKind::Timeout => State::Loss,
        };
        if kind == CongestionKind::Timeout {
            let restart = self.window.restart_cwnd;
            self.window.set_cwnd(restart.min(self.window.cwnd));
        }
        Ok(())
    }

    /// Compares values. Returns how many.
    pub fn expect(&mut self, line: &Line) -> Result<usize, EventsError> {
        if let Some(name) = line.names.first() {
            return Err(line.error(format!("`{name}` is not of the form name=value")).into());
        }
        for (name, text) in &line.values {
            let (text, tolerance) = text.split_once('~').unwrap_or((text, "0"));
            let wrong = || line.error(format!("{name}={text}: write a number, inf, or number~tolerance"));
            let expected: f64 = text.parse().map_err(|_| wrong())?;
            let tolerance: f64 = tolerance.parse().map_err(|_| wrong())?;
            let actual = self.value(line, name)?;
            let close = (actual - expected).abs() <= tolerance.max(expected.abs() * ROUNDING);
            if actual != expected && !close {
                return Err(EventsError::Difference {
                    place: line.place,
                    name: name.clone(),
                    expected,
                    actual,
                    comment: line.comment.clone(),
                });
            }
        }
        Ok(line.values.len())
    }

    fn value(&self, line: &Line, name: &str) -> Result<f64, ScriptError> {
        let window = &self.window;
        match name {
            "cwnd" => return Ok(window.cwnd),
            "ssthresh" => return Ok(window.ssthresh),
            "pacing_rate" => return Ok(window.pacing_rate),
            "recovery_cwnd" => return Ok(window.recovery_cwnd.unwrap_or(window.ssthresh)),
            "slow_start" => return Ok(f64::from(u8::from(window.in_slow_start()))),
            _ => {}
        }
        let observables = self.algorithm.observables();
        let mut values = vec![f64::NAN; observables.len()];
        let at = Observation { now: self.now, srtt: self.srtt, min_rtt: self.min_rtt };
        self.algorithm.observe(window, &at, &mut values);
        match observables.iter().position(|observable| observable.name == name) {
            Some(i) => Ok(values[i]),
            None => {
                let names: Vec<&str> = observables.iter().map(|observable| observable.name).collect();
                Err(line.error(format!(
                    "`{name}` has no value; names are cwnd, ssthresh, pacing_rate, recovery_cwnd, slow_start, {}",
                    names.join(", ")
                )))
            }
        }
    }
}
