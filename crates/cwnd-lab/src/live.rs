//! What the sockets of a run tell while it is on.

use crate::socket::TcpInfo;
use cwnd_scenario::Time;
use std::sync::{Mutex, PoisonError};

/// What a flow's socket told last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveFlow {
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Smoothed round-trip time.
    pub rtt: Time,
    /// Payload bytes acknowledged so far.
    pub acknowledged_bytes: u64,
    /// Retransmissions so far.
    pub retransmissions: u32,
}

/// The flows of a run, which others may look at while it is on.
#[derive(Debug, Default)]
pub struct LiveFlows(Mutex<Vec<Option<LiveFlow>>>);

impl LiveFlows {
    /// Returns what each flow told last, in the scenario's order; nothing of those that have not begun.
    pub fn now(&self) -> Vec<Option<LiveFlow>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps what a socket told.
    pub(crate) fn tell(&self, flow: usize, info: &TcpInfo) {
        let mut flows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if flows.len() <= flow {
            flows.resize(flow + 1, None);
        }
        flows[flow] = Some(LiveFlow {
            cwnd: info.cwnd,
            rtt: Time(1_000 * u64::from(info.rtt)),
            // The SYN counts as a byte.
            acknowledged_bytes: info.bytes_acked.saturating_sub(1),
            retransmissions: info.total_retransmissions,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_each_flow_is_kept() {
        let flows = LiveFlows::default();
        assert_eq!(flows.now(), []);
        let info = |cwnd, bytes_acked| TcpInfo { cwnd, bytes_acked, rtt: 1_500, ..TcpInfo::default() };
        flows.tell(1, &info(10, 1));
        flows.tell(1, &info(20, 1_001));
        let last = LiveFlow { cwnd: 20, rtt: Time(1_500_000), acknowledged_bytes: 1_000, retransmissions: 0 };
        assert_eq!(flows.now(), [None, Some(last)]);
    }
}
