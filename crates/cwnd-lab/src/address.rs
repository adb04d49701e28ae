//! Addresses: those that RFC 2544 (section C.2.2) keeps for benchmarks of networks, so that no host's own are in the way.
//!
//! Flow n (from 0) is sent from the (n+1)-th address after 198.18.0.0 to the (n+1)-th after 198.19.0.0.

use std::net::Ipv4Addr;

/// Where flows are sent from.
pub const SENDERS: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 0);

/// Where they are received.
pub const RECEIVERS: Ipv4Addr = Ipv4Addr::new(198, 19, 0, 0);

/// Bits of the two networks' prefixes.
pub const PREFIX: u32 = 16;

/// Flows that there are addresses for.
pub const MOST_FLOWS: usize = 65_000;

/// The address that a flow is sent from.
pub fn sender(flow: usize) -> Ipv4Addr {
    nth(SENDERS, flow)
}

/// The address that a flow is received at.
pub fn receiver(flow: usize) -> Ipv4Addr {
    nth(RECEIVERS, flow)
}

/// The flow whose receiver has this address, if it is a receiver's.
#[inline]
pub fn flow_of(receiver: u32) -> Option<u32> {
    let number = receiver.wrapping_sub(u32::from(RECEIVERS));
    (1..1 << 16).contains(&number).then(|| number - 1)
}

fn nth(network: Ipv4Addr, flow: usize) -> Ipv4Addr {
    debug_assert!(flow < MOST_FLOWS, "there are no more addresses");
    Ipv4Addr::from(u32::from(network) + flow as u32 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receivers_address_tells_its_flow() {
        for flow in [0, 1, 254, 255, 256, MOST_FLOWS - 1] {
            assert_eq!(flow_of(receiver(flow).into()), Some(flow as u32));
            assert_eq!(flow_of(sender(flow).into()), None);
        }
        assert_eq!(receiver(255), Ipv4Addr::new(198, 19, 1, 0));
        assert_eq!(flow_of(RECEIVERS.into()), None);
    }
}
