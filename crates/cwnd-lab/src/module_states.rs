//! What the kernel's own congestion controls report of their state: `TCP_CC_INFO`, the structures of `linux/inet_diag.h`.

use crate::socket;
use crate::states::StateReader;
use socket2::Socket;

/// A congestion control of the kernel's own that reports its state. The names are those of the algorithm in `cwnd-cc`, so that both can be
/// drawn in one figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleState {
    /// `struct tcp_bbr_info`.
    Bbr,
    /// `struct tcp_dctcp_info`.
    Dctcp,
    /// `struct tcpvegas_info` as `tcp_vegas` and `tcp_yeah` fill it. Other modules have other meanings of its fields.
    Vegas,
}

impl ModuleState {
    /// Returns the kind of the congestion control that the kernel calls `name`; none if it reports nothing that is read here.
    pub fn of(name: &str) -> Option<ModuleState> {
        match name {
            "bbr" => Some(ModuleState::Bbr),
            "dctcp" => Some(ModuleState::Dctcp),
            "vegas" | "yeah" => Some(ModuleState::Vegas),
            _ => None,
        }
    }

    /// Returns the values in the kernel's answer; none if it is too short.
    fn values(self, bytes: &[u8]) -> Option<Vec<f64>> {
        let word = |index: usize| {
            let bytes = bytes.get(4 * index..4 * index + 4)?;
            Some(u32::from_ne_bytes(bytes.try_into().expect("four bytes")))
        };
        let micros = |us: u32| if us >= UNKNOWN_RTT { f64::NAN } else { f64::from(us) * 1e-6 };
        Some(match self {
            ModuleState::Bbr => {
                let bandwidth = u64::from(word(1)?) << 32 | u64::from(word(0)?);
                let gain = |gain: u32| f64::from(gain) / 256.0;
                vec![8.0 * bandwidth as f64, micros(word(2)?), gain(word(3)?), gain(word(4)?)]
            }
            ModuleState::Dctcp => vec![f64::from(word(1)?) / 1024.0],
            ModuleState::Vegas => vec![micros(word(2)?), micros(word(3)?)],
        })
    }
}

/// What the kernel's modules have as a round-trip time before the first sample, microseconds.
const UNKNOWN_RTT: u32 = 0x7FFF_FFFF;

impl StateReader for ModuleState {
    fn names(&self) -> Vec<&'static str> {
        match self {
            ModuleState::Bbr => vec!["max_bw", "min_rtt", "pacing_gain", "cwnd_gain"],
            ModuleState::Dctcp => vec!["alpha"],
            ModuleState::Vegas => vec!["base_rtt", "rtt"],
        }
    }

    fn read(&self, socket: &Socket, _cwnd: u32) -> Vec<f64> {
        let values = socket::congestion_info(socket).ok().and_then(|bytes| self.values(&bytes));
        values.unwrap_or_else(|| vec![f64::NAN; self.names().len()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    #[test]
    fn bbr_reports_its_bandwidth_in_bytes_and_its_gains_in_256ths() {
        // 2^32 + 1 bytes a second, 40 ms, gains of 1.25 and 2.
        let values = ModuleState::Bbr.values(&answer(&[1, 1, 40_000, 320, 512])).unwrap();
        assert_eq!(values, [8.0 * 4_294_967_297.0, 0.04, 1.25, 2.0]);
        assert_eq!(ModuleState::Bbr.values(&answer(&[1, 1, 40_000, 320])), None);
    }

    #[test]
    fn dctcp_reports_alpha_in_1024ths() {
        assert_eq!(ModuleState::Dctcp.values(&answer(&[1, 256, 7, 9])), Some(vec![0.25]));
    }

    #[test]
    fn vegas_reports_base_rtt_before_the_last_round_trips_least() {
        assert_eq!(ModuleState::Vegas.values(&answer(&[1, 5, 20_000, 30_000])), Some(vec![0.02, 0.03]));
        let values = ModuleState::Vegas.values(&answer(&[1, 0, 20_000, UNKNOWN_RTT])).unwrap();
        assert!(values[1].is_nan());
    }

    #[test]
    fn names_are_those_of_the_algorithms() {
        for name in ["bbr", "dctcp", "vegas", "yeah"] {
            let known = cwnd_cc::find(name).unwrap().observables;
            let reported = ModuleState::of(name).unwrap().names();
            // YeAH's own code keeps no round-trip time of the last round trip.
            let missing: Vec<_> = reported
                .iter()
                .filter(|reported| known.iter().all(|known| known.name != **reported))
                .collect();
            assert_eq!(missing, if name == "yeah" { vec![&"rtt"] } else { vec![] }, "{name}");
        }
        assert_eq!(ModuleState::of("reno"), None);
    }
}
