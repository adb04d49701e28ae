//! DCTCP: reduces the window in proportion to the fraction of marked segments.
//!
//! S. Bensley, D. Thaler, P. Balasubramanian, L. Eggert, G. Judd, "Data Center TCP (DCTCP): TCP Congestion
//! Control for Data Centers", RFC 8257, 2017; M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010.
//! With W the window in segments and F the fraction of the segments of a window of data whose ACKs carry
//! the echo of a mark:
//!
//! ```text
//! alpha = (1 - g) alpha + g F              once a window of data             (RFC 8257 section 3.3)
//! mark    ssthresh = W (1 - alpha/2)       once a window of data             (RFC 8257 section 3.3)
//! loss    ssthresh = W/2                                                     (RFC 8257 section 3.5)
//! growth  as NewReno's
//! ```
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `g` | 1/16 | 0.001 to 1 | RFC 8257 section 4.2; the paper wants under 1.386/sqrt(2 (C RTT + K)) |
//! | `initial_alpha` | 1 | 0 to 1 | RFC 8257: cautious at first |
//!
//! DCTCP also needs a queue that marks arriving packets while it holds more than K packets, with K > C RTT/7 (paper), and a
//! receiver that echoes each packet's mark exactly. It requests the latter from the transport ([`Needs::ecn`]). On a path
//! without marks it is NewReno.
//!
//! Interpretations:
//! - The mark that begins an episode uses the alpha of the windows before, because its own window has not ended. The very
//!   first mark therefore halves the window.
//! - Segments are counted, not bytes. An echo counts for all segments that its ACK delivers.
//! - In whole segments a mark removes `floor(W alpha/2)`, as in Linux (`dctcp_ssthresh`): none if that is less than one. To round down
//!   what remains would remove a segment for each mark, and with small windows that is many times alpha/2.
//! - Linux sets an alpha below 1/1024 to 0; here it decays.
//! - Loss and timeout do not change alpha.

#[cfg(test)]
mod tests;

use crate::parts::{marks::MarkShare, reno};
use crate::{
    Ack, AlgorithmInfo, Configurable, Congestion, CongestionControl, CongestionKind, EcnMode, Needs,
    Observable, Observation, ParameterSet, Signal, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "dctcp",
    title: "Data Center TCP",
    year: 2010,
    reference: "RFC 8257 (2017); M. Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010",
    summary: "NewReno that answers congestion marks in proportion to how many there are.",
    strengths: "Keeps queues as short as the marking threshold and links full, in a data centre whose \
                switches all mark at that threshold.",
    weaknesses: "Starves other algorithms where it shares a queue that marks, and is NewReno where nothing \
                 marks; favours short RTTs.",
    signals: &[Signal::Ecn, Signal::Loss],
    based_on: "NewReno",
    implemented_in: "Linux, Windows Server, FreeBSD, ns-3",
    reconstruction: false,
    version: 3,
    parameters: DctcpParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<Dctcp>,
};

parameters! {
    /// Settings of [`Dctcp`].
    pub struct DctcpParameters {
        /// Weight of the newest window of data in alpha.
        g: number(0.0625, 0.001..=1.0), "1", "RFC 8257 section 4.2";
        /// Initial value of alpha.
        initial_alpha: number(1.0, 0.0..=1.0), "1", "RFC 8257";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[Observable::new(
    "alpha",
    "alpha",
    "1",
    "Moving average of the marked share of segments, RFC 8257 section 3.3.",
)];

/// DCTCP.
#[derive(Clone, Debug)]
pub struct Dctcp {
    marks: MarkShare,
}

impl Configurable for Dctcp {
    type Parameters = DctcpParameters;

    fn new(parameters: DctcpParameters) -> Self {
        Dctcp { marks: MarkShare::new(parameters.initial_alpha, parameters.g) }
    }
}

impl CongestionControl for Dctcp {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.marks.count(ack);
        reno::increase(window, ack);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if congestion.is_repeated_timeout() {
            return;
        }
        match congestion.kind {
            CongestionKind::Ecn => reno::give_up(window, self.marks.alpha / 2.0),
            CongestionKind::Loss | CongestionKind::Timeout => window.set_ssthresh_for_loss(window.cwnd / 2.0),
        }
    }

    fn needs(&self) -> Needs {
        Needs { ecn: Some(EcnMode::Exact), ..Needs::default() }
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, _window: &Window, _at: &Observation, values: &mut [f64]) {
        values.copy_from_slice(&[self.marks.alpha]);
    }
}
