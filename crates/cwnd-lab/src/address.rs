//! Addresses: those that RFC 2544 (section C.2.2) and RFC 5180 (section 8) keep for benchmarks of networks, so that no host's own
//! are in the way.
//!
//! Flow n (from 0) is sent from the (n+1)-th address after 198.18.0.0 to the (n+1)-th after 198.19.0.0, or from the (n+1)-th
//! after 2001:2:0:18:: to the (n+1)-th after 2001:2:0:19::.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Where flows are sent from.
pub const SENDERS: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 0);

/// Where they are received.
pub const RECEIVERS: Ipv4Addr = Ipv4Addr::new(198, 19, 0, 0);

/// Where flows of IPv6 are sent from.
pub const SENDERS_IPV6: Ipv6Addr = Ipv6Addr::new(0x2001, 2, 0, 0x18, 0, 0, 0, 0);

/// Where they are received.
pub const RECEIVERS_IPV6: Ipv6Addr = Ipv6Addr::new(0x2001, 2, 0, 0x19, 0, 0, 0, 0);

/// Bits of the two networks' prefixes.
pub const PREFIX: u32 = 16;

/// The same for IPv6: as many addresses.
pub const PREFIX_IPV6: u32 = 112;

/// Flows that there are addresses for.
pub const MOST_FLOWS: usize = 65_000;

/// The address that a flow is sent from.
pub fn sender(flow: usize) -> Ipv4Addr {
    of(SENDERS, flow)
}

/// The address that a flow is received at.
pub fn receiver(flow: usize) -> Ipv4Addr {
    of(RECEIVERS, flow)
}

/// The IPv6 address that a flow is sent from.
pub fn sender_ipv6(flow: usize) -> Ipv6Addr {
    of_ipv6(SENDERS_IPV6, flow)
}

/// The IPv6 address that a flow is received at.
pub fn receiver_ipv6(flow: usize) -> Ipv6Addr {
    of_ipv6(RECEIVERS_IPV6, flow)
}

/// The flow whose receiver has this address, if it is a receiver's.
#[inline]
pub fn flow_of(receiver: IpAddr) -> Option<u32> {
    let number = match receiver {
        IpAddr::V4(address) => u32::from(address).wrapping_sub(u32::from(RECEIVERS)).into(),
        IpAddr::V6(address) => u128::from(address).wrapping_sub(u128::from(RECEIVERS_IPV6)),
    };
    (1..1 << 16).contains(&number).then(|| number as u32 - 1)
}

/// The address of a flow at the end with this network.
pub(crate) fn of(network: Ipv4Addr, flow: usize) -> Ipv4Addr {
    debug_assert!(flow < MOST_FLOWS, "there are no more addresses");
    Ipv4Addr::from(u32::from(network) + flow as u32 + 1)
}

/// The same for IPv6.
pub(crate) fn of_ipv6(network: Ipv6Addr, flow: usize) -> Ipv6Addr {
    debug_assert!(flow < MOST_FLOWS, "there are no more addresses");
    Ipv6Addr::from(u128::from(network) + flow as u128 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receivers_address_tells_its_flow() {
        for flow in [0, 1, 254, 255, 256, MOST_FLOWS - 1] {
            assert_eq!(flow_of(receiver(flow).into()), Some(flow as u32));
            assert_eq!(flow_of(sender(flow).into()), None);
            assert_eq!(flow_of(receiver_ipv6(flow).into()), Some(flow as u32));
            assert_eq!(flow_of(sender_ipv6(flow).into()), None);
        }
        assert_eq!(receiver(255), Ipv4Addr::new(198, 19, 1, 0));
        assert_eq!(flow_of(RECEIVERS.into()), None);
    }
}
