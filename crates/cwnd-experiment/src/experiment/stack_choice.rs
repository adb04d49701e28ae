//! The options of a stack.

use cwnd_scenario::{
    AccurateEcn, DelayedAck, Ecn, EcnPeer, LinuxVersion, Problem, Recovery, Stack, StackProfile, Time,
    Transport,
};

/// What is chosen of a stack; all that is left out comes with the profile.
#[derive(Clone, Debug, PartialEq)]
pub struct StackChoice {
    /// The profile to start from.
    pub profile: StackProfile,
    /// The transport of flows whose group names none; TCP. The QUIC stacks take their packet sizes and receive window from the
    /// profile.
    pub transport: Transport,
    /// Payload of a full packet, bytes, 1 to 65,000; 1,000 with ns2.
    pub packet_size: Option<u32>,
    /// IP bytes of a full packet, 68 to 65,040; only with linux, 1,500 there, and not with `packet_size`.
    pub mtu: Option<u32>,
    /// Selective acknowledgements; on in both profiles.
    pub sack: Option<bool>,
    /// Timestamps; on in both profiles.
    pub timestamps: Option<bool>,
    /// Delayed ACKs; off with ns2, on with linux. Switched on with ns2 they wait 100 ms, as its `DelAck` sink does.
    pub delayed_ack: Option<bool>,
    /// Whether flows use ECN.
    pub ecn: EcnChoice,
    /// What receivers are capable of, with accurate ECN; that, too, unless said.
    pub ecn_peer: Option<EcnPeer>,
    /// Whether ACKs carry the option of accurate ECN; on.
    pub ecn_option: Option<bool>,
    /// Whether flows that answer marks in proportion send ECT(1); on in both profiles.
    pub l4s: Option<bool>,
    /// How losses are repaired; as the profile has it.
    pub recovery: Option<Recovery>,
    /// Ticks a second of the kernel's clock; zero for timers that expire exactly.
    pub timer_hz: Option<u32>,
    /// The version of Linux whose rules apply where versions differ; 6.1. Only with the recovery of Linux.
    pub linux_version: Option<LinuxVersion>,
    /// The receiver's window, packets, at least 1; 100,000 with ns2, 4 x (BDP + buffers) with linux.
    pub receive_window: Option<u32>,
}

/// Whether flows use ECN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnChoice {
    /// As RFC 3168 says where a queue marks, else not.
    #[default]
    Auto,
    /// As RFC 3168 says.
    On,
    /// As RFC 9768 says.
    Accurate,
    /// Not.
    Off,
}

/// The receive window of ns2, and of a linux flow whose path has no bandwidth-delay product.
pub(super) const USUAL_WINDOW: u32 = 100_000;

const NS2_PAYLOAD: u32 = 1_000;
const LINUX_MTU: u32 = 1_500;
/// What engines take.
const MAX_PAYLOAD: u32 = 65_000;
/// Headers of TCP over IPv4 without options, bytes: with an MTU at the limit no stack has more than [`MAX_PAYLOAD`].
const LEAST_HEADERS: u32 = 40;
const MTU_RANGE: std::ops::RangeInclusive<u32> = 68..=MAX_PAYLOAD + LEAST_HEADERS;

impl Default for StackChoice {
    fn default() -> StackChoice {
        StackChoice {
            profile: StackProfile::Linux,
            transport: Transport::Tcp,
            packet_size: None,
            mtu: None,
            sack: None,
            timestamps: None,
            delayed_ack: None,
            ecn: EcnChoice::Auto,
            ecn_peer: None,
            ecn_option: None,
            l4s: None,
            recovery: None,
            timer_hz: None,
            linux_version: None,
            receive_window: None,
        }
    }
}

impl From<StackProfile> for StackChoice {
    /// Chooses nothing but the profile.
    fn from(profile: StackProfile) -> StackChoice {
        StackChoice { profile, ..StackChoice::default() }
    }
}

impl StackChoice {
    /// The stack, with a receive window of [`USUAL_WINDOW`] if none is chosen.
    pub(super) fn stack(&self, a_queue_marks: bool) -> Result<Stack, Vec<Problem>> {
        let problems = self.problems();
        if !problems.is_empty() {
            return Err(problems);
        }
        let timestamps = self.timestamps.unwrap_or(true);
        let window = self.receive_window.unwrap_or(USUAL_WINDOW);
        let mut stack = match (self.profile, self.packet_size) {
            (StackProfile::Ns2, payload) => Stack::ns2(payload.unwrap_or(NS2_PAYLOAD), timestamps, window),
            (StackProfile::Linux, None) => Stack::linux(self.mtu.unwrap_or(LINUX_MTU), timestamps, window),
            (StackProfile::Linux, Some(payload)) => {
                let headers = if timestamps { 52 } else { 40 };
                Stack::linux(payload + headers, timestamps, window)
            }
        };
        stack.sack = self.sack.unwrap_or(stack.sack);
        stack.delayed_ack = match (self.delayed_ack, self.profile) {
            (None, _) => stack.delayed_ack,
            (Some(false), _) => DelayedAck::Off,
            (Some(true), StackProfile::Ns2) => DelayedAck::After(Time::from_millis(100)),
            (Some(true), StackProfile::Linux) => DelayedAck::After(Time::from_millis(40)),
        };
        stack.ecn = match self.ecn {
            EcnChoice::On => Ecn::Classic,
            EcnChoice::Accurate => Ecn::Accurate(AccurateEcn {
                peer: self.ecn_peer.unwrap_or(EcnPeer::Accurate),
                option: self.ecn_option.unwrap_or(true),
            }),
            EcnChoice::Auto if a_queue_marks => Ecn::Classic,
            EcnChoice::Auto | EcnChoice::Off => Ecn::Off,
        };
        stack.l4s = self.l4s.unwrap_or(stack.l4s);
        stack.recovery = self.recovery.unwrap_or(stack.recovery);
        if self.linux_version.is_some() && stack.recovery != Recovery::Linux {
            let message =
                "only the recovery `linux` has one, which the stack `linux` has unless told".to_owned();
            return Err(vec![Problem { place: "linux-version".to_owned(), message }]);
        }
        stack.timer_hz = self.timer_hz.unwrap_or(stack.timer_hz);
        stack.linux_version = self.linux_version.unwrap_or(stack.linux_version);
        Ok(stack)
    }

    /// Returns what is wrong if no flow has TCP: settings that QUIC has no use for.
    pub(super) fn problems_without_tcp(&self) -> Vec<Problem> {
        let chosen = [
            ("sack", self.sack.is_some()),
            ("timestamps", self.timestamps.is_some()),
            ("delayed_ack", self.delayed_ack.is_some()),
            ("l4s", self.l4s.is_some()),
            ("recovery", self.recovery.is_some()),
            ("timer_hz", self.timer_hz.is_some()),
            ("linux_version", self.linux_version.is_some()),
        ];
        let message = "all flows have QUIC, whose implementations have their own rules for it: leave it out, or give it to TCP flows next \
                       to them (`stack=tcp`)";
        let problem =
            |(place, _): &(&str, bool)| Problem { place: (*place).to_owned(), message: message.to_owned() };
        let mut problems: Vec<Problem> =
            chosen.iter().filter(|(_, is_chosen)| *is_chosen).map(problem).collect();
        if self.ecn == EcnChoice::Accurate {
            let message = "all flows have QUIC, whose feedback of marks is exact: write `on`".to_owned();
            problems.push(Problem { place: "ecn".to_owned(), message });
        }
        problems
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut problem =
            |place: &str, message: String| problems.push(Problem { place: place.to_owned(), message });
        match (self.mtu, self.packet_size, self.profile) {
            (Some(_), Some(_), _) => problem(
                "mtu",
                "it cannot be combined with a packet size: the MTU counts IP bytes, the packet size payload"
                    .to_owned(),
            ),
            (Some(_), None, StackProfile::Ns2) => {
                problem(
                    "mtu",
                    "only the linux stack has one: give a packet size (payload) with ns2".to_owned(),
                );
            }
            (Some(mtu), None, StackProfile::Linux) if !MTU_RANGE.contains(&mtu) => {
                problem(
                    "mtu",
                    format!("it is {mtu} bytes; it must be {} to {}", MTU_RANGE.start(), MTU_RANGE.end()),
                );
            }
            _ => {}
        }
        if let Some(size) = self.packet_size.filter(|size| !(1..=MAX_PAYLOAD).contains(size)) {
            problem("packet_size", format!("it is {size} bytes of payload; it must be 1 to {MAX_PAYLOAD}"));
        }
        let accurate = self.ecn == EcnChoice::Accurate;
        if !accurate && (self.ecn_peer.is_some() || self.ecn_option.is_some()) {
            let place = if self.ecn_peer.is_some() { "ecn_peer" } else { "ecn_option" };
            problem(place, "it belongs to accurate ECN: set ecn to `accurate`".to_owned());
        }
        if self.receive_window == Some(0) {
            problem("receive_window", "it must hold at least 1 packet".to_owned());
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linux() -> StackChoice {
        StackChoice::default()
    }

    fn ns2() -> StackChoice {
        StackProfile::Ns2.into()
    }

    #[track_caller]
    fn refused(choice: StackChoice) -> String {
        choice.stack(false).expect_err("refused")[0].to_string()
    }

    #[test]
    fn sizes_follow_the_profile() {
        let sizes = |choice: StackChoice| {
            let stack = choice.stack(false).unwrap();
            (stack.payload, stack.full_packet(), stack.ack_size)
        };
        // In ns-2 timestamps weigh on data alone, and the first packet of data is a SYN.
        assert_eq!(sizes(ns2()), (1_000, 1_050, 40));
        let stack = ns2().stack(false).unwrap();
        assert_eq!((stack.first_packet, stack.sack_block_base, stack.sack_block_each), (Some(40), 0, 8));
        assert_eq!(linux().stack(false).unwrap().first_packet, None);
        assert_eq!(sizes(StackChoice { timestamps: Some(false), ..ns2() }), (1_000, 1_040, 40));
        assert_eq!(sizes(linux()), (1_448, 1_514, 66));
        assert_eq!(sizes(StackChoice { mtu: Some(9_000), ..linux() }), (8_948, 9_014, 66));
        assert_eq!(sizes(StackChoice { packet_size: Some(1_000), ..linux() }), (1_000, 1_066, 66));
        let plain = StackChoice { packet_size: Some(1_000), timestamps: Some(false), ..linux() };
        assert_eq!(sizes(plain), (1_000, 1_054, 54));
    }

    #[test]
    fn ecn_follows_the_bottleneck_unless_said() {
        let ecn = |choice, marks| StackChoice { ecn: choice, ..ns2() }.stack(marks).unwrap().ecn;
        assert_eq!(ecn(EcnChoice::Auto, true), Ecn::Classic);
        assert_eq!(ecn(EcnChoice::Auto, false), Ecn::Off);
        assert_eq!(ecn(EcnChoice::On, false), Ecn::Classic);
        assert_eq!(ecn(EcnChoice::Off, true), Ecn::Off);
        let accurate = Ecn::Accurate(AccurateEcn { peer: EcnPeer::Accurate, option: true });
        assert_eq!(ecn(EcnChoice::Accurate, false), accurate);
    }

    #[test]
    fn a_version_of_linux_needs_its_recovery() {
        let newer = Some(LinuxVersion::new(6, 12));
        let version = |choice: StackChoice| choice.stack(false).unwrap().linux_version;
        assert_eq!(version(linux()), LinuxVersion::RECORDED);
        assert_eq!(version(StackChoice { linux_version: newer, ..linux() }), LinuxVersion::new(6, 12));
        let of_linux = Some(Recovery::Linux);
        let choice = StackChoice { linux_version: newer, recovery: of_linux, ..ns2() };
        assert_eq!(version(choice), LinuxVersion::new(6, 12));
        for other in [ns2(), StackChoice { recovery: Some(Recovery::Rack), ..linux() }] {
            let why = refused(StackChoice { linux_version: newer, ..other });
            assert!(why.contains("linux-version") && why.contains("only the recovery `linux`"), "{why}");
        }
    }

    #[test]
    fn delayed_acks_wait_as_the_profile_does() {
        let wait = |choice: StackChoice| choice.stack(false).unwrap().delayed_ack;
        assert_eq!(wait(ns2()), DelayedAck::Off);
        assert_eq!(
            wait(StackChoice { delayed_ack: Some(true), ..ns2() }),
            DelayedAck::After(Time::from_millis(100))
        );
        assert_eq!(wait(linux()), DelayedAck::After(Time::from_millis(40)));
        assert_eq!(wait(StackChoice { delayed_ack: Some(false), ..linux() }), DelayedAck::Off);
    }

    #[test]
    fn refuses_with_a_place() {
        assert!(refused(StackChoice { mtu: Some(1_500), ..ns2() }).starts_with("mtu: only the linux stack"));
        let both = StackChoice { mtu: Some(1_500), packet_size: Some(1_000), ..linux() };
        assert!(refused(both).starts_with("mtu: it cannot be combined with a packet size"));
        for mtu in [67, 65_041] {
            let why = refused(StackChoice { mtu: Some(mtu), ..linux() });
            assert_eq!(why, format!("mtu: it is {mtu} bytes; it must be 68 to 65040"));
        }
        for size in [0, 65_001] {
            let why = refused(StackChoice { packet_size: Some(size), ..ns2() });
            assert_eq!(why, format!("packet_size: it is {size} bytes of payload; it must be 1 to 65000"));
        }
        assert!(refused(StackChoice { receive_window: Some(0), ..ns2() }).starts_with("receive_window"));
        assert!(refused(StackChoice { ecn_option: Some(false), ..linux() }).starts_with("ecn_option"));
        assert!(refused(StackChoice { ecn_peer: Some(EcnPeer::Off), ..linux() }).starts_with("ecn_peer"));
    }
}
