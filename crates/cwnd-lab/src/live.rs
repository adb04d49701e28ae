//! The state of a run's sockets and links while it is on.

use crate::emulator::Snapshot;
use crate::socket::TcpInfo;
use cwnd_scenario::Time;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a flow's socket told last.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LiveFlow {
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Slow-start threshold, segments; infinite while there is none.
    pub ssthresh: f64,
    /// Segments in flight.
    pub in_flight: u64,
    /// Loss-recovery state: open, disorder, CWR, recovery, loss.
    pub state: u8,
    /// Smoothed round-trip time.
    pub rtt: Time,
    /// Payload bytes acknowledged so far.
    pub acknowledged_bytes: u64,
    /// Retransmissions so far.
    pub retransmissions: u32,
}

/// The emulated network of a run while it is on.
#[derive(Clone, Debug, Default)]
pub struct LiveNetwork {
    /// The scenario's time to which the counts belong.
    pub at: Time,
    /// What each link has counted so far, and what waits there.
    pub snapshot: Snapshot,
}

/// The flows and the network of a run, which other threads may read while it is on.
#[derive(Debug, Default)]
pub struct LiveFlows {
    flows: Mutex<Vec<Option<LiveFlow>>>,
    network: Mutex<Option<LiveNetwork>>,
}

impl LiveFlows {
    /// Returns what each flow told last, in the scenario's order; nothing of those that have not begun.
    pub fn now(&self) -> Vec<Option<LiveFlow>> {
        lock(&self.flows).clone()
    }

    /// Returns the last counts of the network, at most a twentieth of a second old; none before the scenario begins.
    pub fn network(&self) -> Option<LiveNetwork> {
        lock(&self.network).clone()
    }

    /// Keeps the counts of the network, whose scenario begins at `origin` of the emulator's clock, ns.
    pub(crate) fn tell_network(&self, snapshot: Snapshot, origin: u64) {
        if let Some(at) = snapshot.counts.at.checked_sub(origin) {
            *lock(&self.network) = Some(LiveNetwork { at: Time(at), snapshot });
        }
    }

    /// Keeps what a socket told.
    pub(crate) fn tell(&self, flow: usize, info: &TcpInfo) {
        let mut flows = lock(&self.flows);
        if flows.len() <= flow {
            flows.resize(flow + 1, None);
        }
        flows[flow] = Some(LiveFlow {
            cwnd: info.cwnd,
            ssthresh: info.ssthresh(),
            in_flight: info.in_flight(),
            state: info.state,
            rtt: Time(1_000 * u64::from(info.rtt)),
            // The SYN counts as a byte.
            acknowledged_bytes: info.bytes_acked.saturating_sub(1),
            retransmissions: info.total_retransmissions,
        });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_each_flow_is_kept() {
        let flows = LiveFlows::default();
        assert_eq!(flows.now(), []);
        let info = |cwnd, bytes_acked| TcpInfo {
            cwnd,
            bytes_acked,
            rtt: 1_500,
            ssthresh: 7,
            unacked: 3,
            ..TcpInfo::default()
        };
        flows.tell(1, &info(10, 1));
        flows.tell(1, &info(20, 1_001));
        let last = LiveFlow {
            cwnd: 20,
            ssthresh: 7.0,
            in_flight: 3,
            state: 0,
            rtt: Time(1_500_000),
            acknowledged_bytes: 1_000,
            retransmissions: 0,
        };
        assert_eq!(flows.now(), [None, Some(last)]);
    }

    #[test]
    fn the_network_is_told_from_the_beginning_of_the_scenario_on() {
        let flows = LiveFlows::default();
        let mut snapshot = Snapshot::default();
        snapshot.counts.at = 5;
        flows.tell_network(snapshot.clone(), 6);
        assert!(flows.network().is_none());
        snapshot.counts.at = 8;
        flows.tell_network(snapshot, 6);
        assert_eq!(flows.network().map(|network| network.at), Some(Time(2)));
    }
}
