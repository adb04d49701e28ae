//! An algorithm's C, compiled for this machine, as a [`CongestionControl`].
//!
//! What a kernel does around the hooks is done here: the fields of the socket are filled in from the event, the
//! hooks are called in the kernel's order, and what they changed goes back into the window. One thing differs from
//! the kernel: an ACK that begins or ends an episode is measured (`pkts_acked`) after that, as the Rust does, not
//! before.

use crate::catalogue::KernelAlgorithm;
use crate::operations::{NO_PACING, Operations, RateSample, TcpSock, Values};
use cwnd_cc::{
    Ack, Congestion, CongestionControl, CongestionKind, EcnMode, Init, Nanos, Needs, State, Window,
};

/// Tests compare it with the C's.
const SOCKET_SIZE: usize = size_of::<TcpSock>();

/// `CA_*` of `bpf/fields.h`.
fn state_number(state: State) -> u8 {
    match state {
        State::Open => 0,
        State::Disorder => 1,
        State::Cwr => 2,
        State::Recovery => 3,
        State::Loss => 4,
    }
}

const EVENT_TX_START: u32 = 0;
const EVENT_COMPLETE_CWR: u32 = 2;
const EVENT_LOSS: u32 = 3;
const ECN_OK: u8 = 1;
/// What the kernel has for a threshold that is not set.
const NO_SSTHRESH: u32 = 0x7fff_ffff;

/// The C of an algorithm with the given parameters (name and value).
///
/// # Errors
/// Parameters that the algorithm has not or that are out of range.
pub fn native(
    algorithm: &'static KernelAlgorithm,
    given: &[(String, String)],
) -> Result<Box<dyn CongestionControl>, String> {
    let rust =
        (algorithm.info().build)(&algorithm.rust_parameters(given)?).map_err(|error| error.to_string())?;
    let operations = (algorithm.operations)();
    assert_eq!(operations.socket_size as usize, SOCKET_SIZE, "bpf/fields.h and native.rs differ");
    Ok(Box::new(Native {
        operations,
        values: algorithm.values(given)?,
        needs: Needs { lost_packets: false, ..rust.needs() },
        socket: TcpSock::new(),
        acknowledged: 0,
        sent: 0,
        state: State::Open,
    }))
}

struct Native {
    operations: &'static Operations,
    values: Values,
    needs: Needs,
    socket: TcpSock,
    /// Segments cumulatively acknowledged and sent since the start.
    acknowledged: u64,
    sent: u64,
    state: State,
}

// SAFETY: the pointer in the socket is set before each call and used during it only.
unsafe impl Send for Native {}

impl CongestionControl for Native {
    fn init(&mut self, window: &mut Window, init: &Init) {
        self.take(window, init.now);
        self.socket.ecn_flags = if init.ecn == EcnMode::Off { 0 } else { ECN_OK };
        self.socket.seed = init.seed;
        if let (Some(bytes), Some(deadline)) = (init.hints.bytes, init.hints.deadline) {
            self.socket.hints = [bytes, clock(deadline)];
        }
        self.socket.srtt_us = eighths(init.rtt.unwrap_or(Nanos::ZERO));
        if let Some(hook) = self.operations.init {
            // SAFETY: `call` passes the socket that this owns, which nothing else uses meanwhile.
            self.call(|socket| unsafe { hook(socket) });
        }
        self.give(window);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.take(window, ack.now);
        self.acknowledged += u64::from(ack.cumulative);
        self.sent = ack.sent.max(self.acknowledged);
        let socket = &mut self.socket;
        socket.snd_una = (self.acknowledged as u32).wrapping_mul(socket.mss_cache);
        socket.snd_nxt = (self.sent as u32).wrapping_mul(socket.mss_cache);
        socket.packets_out = (self.sent - self.acknowledged) as u32;
        socket.delivered = ack.delivered as u32;
        socket.delivered_ce = socket.delivered_ce.wrapping_add(ack.marked.min(ack.acked));
        socket.lost_out = ack.lost;
        socket.lost = socket.lost.wrapping_add(ack.lost);
        // So that the segments in flight are the transport's.
        let others = socket.packets_out.saturating_sub(socket.lost_out);
        socket.sacked_out = others.saturating_sub(ack.in_flight);
        socket.retrans_out = ack.in_flight.saturating_sub(others);
        socket.srtt_us = eighths(ack.srtt);
        socket.rtt_min[1] = if ack.min_rtt == Nanos::MAX { u32::MAX } else { micros(ack.min_rtt) };
        socket.is_cwnd_limited = u8::from(ack.cwnd_limited);
        let rtt = ack.rtt.map_or(-1, |rtt| micros(rtt).min(i32::MAX as u32) as i32);
        // As in the kernel, an ACK is measured before it changes the state.
        if let Some(hook) = self.operations.pkts_acked {
            // SAFETY: `call` passes the socket that this owns, which nothing else uses meanwhile.
            self.call(|socket| unsafe { hook(socket, ack.cumulative, rtt) });
        }
        self.enter(ack.state);
        if let Some(hook) = self.operations.cong_control {
            let cwnd = self.socket.snd_cwnd;
            let sample = sample(ack, rtt);
            // SAFETY: `call` passes the socket that this owns, which nothing else uses meanwhile.
            self.call(|socket| unsafe { hook(socket, &raw const sample) });
            if !self.needs.owns_recovery && matches!(ack.state, State::Cwr | State::Recovery) {
                // The way through a recovery is the transport's here.
                self.socket.snd_cwnd = cwnd;
            }
        } else if (Ack { cwnd_limited: true, ..*ack }).may_grow() {
            // Whether the window is in use it asks itself, as in the kernel.
            let hook = self.operations.cong_avoid.expect("one of cong_avoid and cong_control is there");
            // SAFETY: `call` passes the socket that this owns, which nothing else uses meanwhile.
            self.call(|socket| unsafe { hook(socket, ack.acked) });
        }
        self.give(window);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        self.take(window, congestion.now);
        let timeout = congestion.kind == CongestionKind::Timeout;
        self.socket.packets_out = congestion.flight_size;
        self.socket.lost_out =
            if congestion.kind == CongestionKind::Ecn { 0 } else { congestion.lost.max(1) };
        if !congestion.is_repeated_timeout() {
            self.socket.prior_cwnd = self.socket.snd_cwnd;
            let hook = self.operations.ssthresh;
            // SAFETY: `call` passes the socket that this owns, which nothing else uses meanwhile.
            self.socket.snd_ssthresh = self.call(|socket| unsafe { hook(socket) });
            self.socket.snd_cwnd_cnt = 0;
        }
        if timeout {
            self.socket.lost = self.socket.lost.wrapping_add(congestion.lost);
            if !congestion.is_repeated_timeout() {
                self.event(EVENT_LOSS);
            }
            self.socket.snd_cwnd = 1;
            // The kernel says so at each timeout of a row.
            self.state = State::Open;
            self.enter(State::Loss);
            window.restart_cwnd = f64::from(self.socket.snd_cwnd);
        } else {
            let ecn = congestion.kind == CongestionKind::Ecn;
            self.enter(if ecn { State::Cwr } else { State::Recovery });
        }
        if !congestion.is_repeated_timeout() {
            window.set_ssthresh_for_loss(f64::from(self.socket.snd_ssthresh));
        }
    }

    fn on_recovery_exit(&mut self, window: &mut Window, now: Nanos) {
        self.take(window, now);
        if matches!(self.state, State::Cwr | State::Recovery) {
            self.event(EVENT_COMPLETE_CWR);
        }
        // The ACK that ends the recovery comes next, and brings the new state.
        self.give(window);
    }

    fn on_undo(&mut self, window: &mut Window, now: Nanos) {
        self.take(window, now);
        let hook = self.operations.undo_cwnd;
        // SAFETY: `call` passes the socket that this owns, which nothing else uses meanwhile.
        self.socket.snd_cwnd = self.call(|socket| unsafe { hook(socket) });
        self.enter(State::Open);
        self.give(window);
    }

    fn on_idle_restart(&mut self, window: &mut Window, now: Nanos, _idle: Nanos) {
        self.take(window, now);
        match self.operations.cwnd_event_tx_start {
            // SAFETY: `call` passes the socket that this owns, which nothing else uses meanwhile.
            Some(hook) => self.call(|socket| unsafe { hook(socket) }),
            None => self.event(EVENT_TX_START),
        }
        self.give(window);
    }

    fn needs(&self) -> Needs {
        self.needs
    }
}

impl Native {
    /// Put into the socket what the transport knows.
    fn take(&mut self, window: &Window, now: Nanos) {
        let socket = &mut self.socket;
        socket.snd_cwnd = segments(window.cwnd);
        socket.snd_ssthresh = segments(window.ssthresh);
        socket.snd_cwnd_clamp = segments(window.clamp());
        socket.mss_cache = window.mss();
        socket.tcp_mstamp = clock(now);
    }

    /// Put into the window what a hook has changed.
    fn give(&self, window: &mut Window) {
        if segments(window.cwnd) != self.socket.snd_cwnd {
            window.set_cwnd(f64::from(self.socket.snd_cwnd));
        }
        if segments(window.ssthresh) != self.socket.snd_ssthresh {
            window.set_ssthresh(f64::from(self.socket.snd_ssthresh));
        }
        if self.socket.pacing_rate != NO_PACING {
            window.pacing_rate = self.socket.pacing_rate as f64;
        }
    }

    fn enter(&mut self, state: State) {
        if state != self.state {
            self.state = state;
            if let Some(hook) = self.operations.set_state {
                // SAFETY: `call` passes the socket that this owns, which nothing else uses meanwhile.
                self.call(|socket| unsafe { hook(socket, state_number(state)) });
            }
        }
    }

    fn event(&mut self, event: u32) {
        if let Some(hook) = self.operations.cwnd_event {
            // SAFETY: `call` passes the socket that this owns, which nothing else uses meanwhile.
            self.call(|socket| unsafe { hook(socket, event) });
        }
    }

    fn call<T>(&mut self, hook: impl FnOnce(*mut TcpSock) -> T) -> T {
        self.socket.parameters = self.values.as_ptr();
        hook(&mut self.socket)
    }
}

/// Microseconds of the kernel's clock, which has run for a while when a connection begins.
fn clock(now: Nanos) -> u64 {
    now.0 / 1000 + 1_000_000
}

/// What the kernel reports of an ACK to `cong_control`.
fn sample(ack: &Ack, rtt_us: i32) -> RateSample {
    let of_ack = RateSample {
        prior_delivered: 0,
        delivered: -1,
        interval_us: -1,
        rtt_us: rtt_us.into(),
        losses: ack.lost as i32,
        acked_sacked: ack.acked,
        prior_in_flight: ack.prior_in_flight,
        is_app_limited: false,
    };
    ack.rate.map_or(of_ack, |rate| RateSample {
        prior_delivered: rate.prior_delivered as u32,
        delivered: rate.delivered as i32,
        interval_us: micros(rate.interval).into(),
        is_app_limited: rate.app_limited,
        ..of_ack
    })
}

fn segments(window: f64) -> u32 {
    if window < f64::from(NO_SSTHRESH) { window as u32 } else { NO_SSTHRESH }
}

fn micros(time: Nanos) -> u32 {
    (time.0 / 1000).min(u64::from(u32::MAX)) as u32
}

fn eighths(time: Nanos) -> u32 {
    (time.0.saturating_mul(8) / 1000).min(u64::from(u32::MAX)) as u32
}
