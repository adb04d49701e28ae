//! The two ends: a namespace for all senders and one for all receivers, each with the device that connects it to the emulator.

use crate::address::{self, PREFIX, PREFIX_IPV6};
use crate::namespace::Namespace;
use crate::system;
use crate::tun::{NAME, Tun};
use cwnd_scenario::{DelayedAck, Ecn, Stack};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::Path;

/// How many packets a device should hold until the emulator takes them: more than there ever are, since what is dropped there would be
/// dropped by nobody's queue. Kernels differ in what they allow, some no more than 32,767, and the first that is accepted is taken. The
/// last is a TUN device's own (`TUN_READQ_SIZE`), which every kernel takes. These are few, since each takes a run of `ip`.
const DEVICE_QUEUES: [u32; 6] = [200_000, 65_535, 32_767, 8_191, 2_047, 500];

/// What both kernels' TCP is to be like. It holds in the two namespaces alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Bytes of the largest packet.
    pub mtu: u32,
    /// Bytes of a socket's receive buffer, from the beginning.
    pub receive_buffer: u64,
    /// Bytes that a socket's send buffer may grow to.
    pub send_buffer: u64,
    /// `tcp_ecn`.
    pub ecn: bool,
    /// `tcp_sack`.
    pub sack: bool,
    /// `tcp_timestamps`.
    pub timestamps: bool,
    /// Segments.
    pub initial_window: u32,
    /// Milliseconds; the kernel's own if not set.
    pub min_rto: Option<u64>,
    /// Every packet is acknowledged at once.
    pub quick_ack: bool,
}

impl Default for Settings {
    /// What a host of today has, with buffers for long paths.
    fn default() -> Settings {
        Settings {
            mtu: 1500,
            receive_buffer: 256 << 20,
            send_buffer: 256 << 20,
            ecn: false,
            sack: true,
            timestamps: true,
            initial_window: 10,
            min_rto: None,
            quick_ack: false,
        }
    }
}

/// Bytes of Ethernet around a packet, which the stack counts on the wire and a TUN device does not carry.
pub const ETHERNET: u32 = 14;

impl Settings {
    /// What a scenario's stack asks for.
    pub fn of(stack: &Stack) -> Settings {
        // The window is held at what is asked for by the sockets; a packet may take twice its bytes here. The kernel takes no
        // more than a gigabyte.
        let buffer = (4 * u64::from(stack.receive_window) * u64::from(stack.full_packet()))
            .clamp(1 << 18, (1 << 30) - 1);
        Settings {
            mtu: stack.full_packet().saturating_sub(ETHERNET),
            receive_buffer: buffer,
            send_buffer: buffer,
            ecn: stack.ecn != Ecn::Off,
            sack: stack.sack,
            timestamps: stack.timestamps,
            initial_window: stack.initial_window,
            min_rto: Some(stack.min_rto.0 / 1_000_000).filter(|ms| *ms != 200),
            quick_ack: stack.delayed_ack == DelayedAck::Off,
        }
    }
}

/// The two ends.
pub struct Ends {
    /// Where flows are sent from.
    pub senders: Namespace,
    /// Where they are received.
    pub receivers: Namespace,
    /// How many packets each device holds, which the kernel may limit.
    pub device_queue: u32,
    /// Whether they have addresses of IPv6.
    pub has_ipv6: bool,
}

impl Ends {
    /// Make them, and their devices: the senders' and the receivers'.
    ///
    /// # Errors
    /// What could not be made, and why.
    pub fn new(settings: &Settings) -> io::Result<(Ends, [Tun; 2])> {
        let mut ends = Ends {
            senders: Namespace::new()?,
            receivers: Namespace::new()?,
            device_queue: u32::MAX,
            has_ipv6: false,
        };
        let senders = ends.senders.within(|| configure(settings).and_then(|()| Tun::with_offloads()))?;
        let receivers = ends.receivers.within(|| configure(settings).and_then(|()| Tun::with_offloads()))?;
        for end in [&ends.senders, &ends.receivers] {
            // Unlike the ioctl, netlink allows this in a user namespace, too.
            let set = |packets| end.ip(&[format!("link set {NAME} txqueuelen {packets}")]);
            let held = first_accepted(&DEVICE_QUEUES, set)?;
            ends.device_queue = ends.device_queue.min(held);
        }
        ends.senders.ip(&commands(settings, address::SENDERS, address::RECEIVERS))?;
        ends.receivers.ip(&commands(settings, address::RECEIVERS, address::SENDERS))?;
        Ok((ends, [senders, receivers]))
    }

    /// Gives both ends addresses of IPv6, too.
    ///
    /// # Errors
    /// A kernel without IPv6.
    pub fn add_ipv6(&mut self, settings: &Settings) -> io::Result<()> {
        const LEAST_MTU: u32 = 1280;
        if settings.mtu < LEAST_MTU {
            return Err(io::Error::other(format!(
                "IPv6 needs packets of {LEAST_MTU} bytes (RFC 8200, section 5), and the link's MTU is {}",
                settings.mtu
            )));
        }
        let (senders, receivers) = (address::SENDERS_IPV6, address::RECEIVERS_IPV6);
        for (end, here, there) in [(&self.senders, senders, receivers), (&self.receivers, receivers, senders)]
        {
            end.within(enable_ipv6)?;
            end.ip(&commands_ipv6(settings, here, there))?;
        }
        self.has_ipv6 = true;
        Ok(())
    }
}

/// Sets one number after the other until one is accepted, and returns that.
///
/// # Errors
/// None is: why the last is not.
fn first_accepted(numbers: &[u32], set: impl Fn(u32) -> io::Result<()>) -> io::Result<u32> {
    let mut refused = io::Error::from(io::ErrorKind::InvalidInput);
    for &number in numbers {
        match set(number) {
            Ok(()) => return Ok(number),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

/// For `ip`: this end's device and addresses, and the way to the other end. There is no default route.
fn commands(settings: &Settings, here: Ipv4Addr, there: Ipv4Addr) -> Vec<String> {
    let first = address::of(here, 0);
    vec![
        "link set lo up".to_owned(),
        format!("link set {NAME} mtu {}", settings.mtu),
        format!("link set {NAME} up"),
        format!("address add {first}/32 dev {NAME}"),
        // All addresses of this end are this end's.
        format!("route add local {here}/{PREFIX} dev lo"),
        format!("route add {there}/{PREFIX} dev {NAME} src {first} {}", of_route(settings)),
    ]
}

/// The same for IPv6, on a device that is up.
fn commands_ipv6(settings: &Settings, here: Ipv6Addr, there: Ipv6Addr) -> Vec<String> {
    let first = address::of_ipv6(here, 0);
    vec![
        format!("address add {first}/128 dev {NAME} nodad"),
        format!("route add local {here}/{PREFIX_IPV6} dev lo"),
        format!("route add {there}/{PREFIX_IPV6} dev {NAME} src {first} {}", of_route(settings)),
    ]
}

/// What TCP takes from the route to the other end.
pub(crate) fn of_route(settings: &Settings) -> String {
    let min_rto = settings.min_rto.map(|ms| format!(" rto_min {ms}ms")).unwrap_or_default();
    let quick_ack = if settings.quick_ack { " quickack 1" } else { "" };
    format!("initcwnd {}{min_rto}{quick_ack}", settings.initial_window)
}

/// Write this namespace's settings.
pub(crate) fn configure(settings: &Settings) -> io::Result<()> {
    let Settings { receive_buffer, send_buffer, .. } = settings;
    let flag = |set: bool| u8::from(set).to_string();
    let ipv4 = [
        // What one flow has learnt is not for the next.
        ("tcp_no_metrics_save", flag(true)),
        ("tcp_timestamps", flag(settings.timestamps)),
        ("tcp_sack", flag(settings.sack)),
        ("tcp_ecn", flag(settings.ecn)),
        ("tcp_rmem", format!("4096 {receive_buffer} {receive_buffer}")),
        ("tcp_wmem", format!("4096 65536 {send_buffer}")),
        // Buffers are as large as they will be, from the beginning.
        ("tcp_moderate_rcvbuf", flag(false)),
        ("conf/all/rp_filter", flag(false)),
    ];
    for (name, value) in ipv4 {
        system::write_setting(&format!("/proc/sys/net/ipv4/{name}"), &value)?;
    }
    // The kernel's own first words would be strangers on the link.
    for which in ["all", "default"] {
        let path = format!("/proc/sys/net/ipv6/conf/{which}/disable_ipv6");
        if Path::new(&path).exists() {
            system::write_setting(&path, "1")?;
        }
    }
    Ok(())
}

/// Lets this namespace have addresses of IPv6. The kernel makes up none itself, and asks for neither neighbours nor routers.
pub(crate) fn enable_ipv6() -> io::Result<()> {
    let settings = [
        ("addr_gen_mode", "1"),
        ("accept_dad", "0"),
        ("accept_ra", "0"),
        ("router_solicitations", "0"),
        ("disable_ipv6", "0"),
    ];
    for (name, value) in settings {
        for which in ["default", NAME, "lo"] {
            system::write_setting(&format!("/proc/sys/net/ipv6/conf/{which}/{name}"), value)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_holds_what_the_kernel_allows() {
        let kernel = |limit: u32| {
            let set = |packets: u32| match packets <= limit {
                true => Ok(()),
                false => Err(io::Error::from_raw_os_error(libc::ERANGE)),
            };
            first_accepted(&DEVICE_QUEUES, set)
        };
        assert_eq!(kernel(u32::MAX).unwrap(), 200_000);
        assert_eq!(kernel(32_767).unwrap(), 32_767);
        assert_eq!(kernel(500).unwrap(), 500);
        assert_eq!(kernel(499).unwrap_err().raw_os_error(), Some(libc::ERANGE));
    }

    #[test]
    fn a_stack_becomes_settings() {
        let mut stack = Stack::linux(1500, true, 10_000);
        let settings = Settings::of(&stack);
        assert_eq!((settings.mtu, settings.initial_window, settings.min_rto), (1500, 10, None));
        assert_eq!(settings.receive_buffer, 4 * 10_000 * 1514);
        assert!(settings.sack && settings.timestamps && !settings.ecn && !settings.quick_ack);
        stack.min_rto = cwnd_scenario::Time::from_millis(50);
        stack.delayed_ack = DelayedAck::Off;
        stack.ecn = Ecn::Classic;
        let settings = Settings::of(&stack);
        assert!(settings.ecn && settings.quick_ack);
        let route = commands(&settings, address::SENDERS, address::RECEIVERS).pop().unwrap();
        assert_eq!(
            route,
            "route add 198.19.0.0/16 dev cwnd0 src 198.18.0.1 initcwnd 10 rto_min 50ms quickack 1"
        );
    }
}
