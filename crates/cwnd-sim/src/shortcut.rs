//! Shortcuts of the merging links, taken only where they are exact.
//!
//! **Echo.** A receiver that acknowledges every packet at once, has one inlet and no timer, sees its packets
//! in the order in which the link before hands them on, and nothing else ever happens at its host. So that
//! link may do the host's work when it hands a packet on: the host's own links are crossed and the ACK is
//! sent, without the packet ever lying in a ring. (If anything is out of the ordinary, it does.)
//!
//! **Transparent links.** Where all ACKs into a link answer data that left one and the same transmitter,
//! after the same delay, they come at least one data packet's serialisation apart. If an ACK takes no
//! longer than that, the link never holds two packets: each comes out after a fixed time, whatever the others
//! do, and there is nothing to merge.
//!
//! A change of any link while the simulation runs puts an end to both, since what they rest on may not hold
//! any more.

use crate::graph::{Feeder, Graph, Runner, feeders};
use crate::host::{Endpoint, Host};
use crate::link::Link;
use crate::net::Net;
use cwnd_link::SerialTime;
use cwnd_scenario::{LinkId, Scenario};

/// A receiver's host as the link before it sees it.
#[derive(Clone, Copy, Debug)]
pub struct Echo {
    /// The host.
    pub host: u32,
    /// The link at its inlet, and the ring behind that.
    pub inlet: (u32, u32),
    /// Its output link, and the ring behind that.
    pub output: (u32, u32),
    /// A transparent link behind that, and the ring behind it.
    pub through: Option<(u32, u32)>,
}

/// With more flows than this, the states of all hosts together are better visited one host at a time.
const MOST_FLOWS: usize = 100;

/// Find the shortcuts: for each ring into a host's inlet, the echo that may stand for it. Links found
/// transparent are told so.
pub fn find(scenario: &Scenario, graph: &Graph, net: &mut Net, hosts: &[Host]) -> Vec<Option<Echo>> {
    let mut echoes = vec![None; net.rings.len()];
    if scenario.flows.len() > MOST_FLOWS {
        return echoes;
    }
    for (i, host) in hosts.iter().enumerate() {
        let (Some(solo), [Endpoint::Receiver(receiver)]) = (host.solo(), &host.endpoints[..]) else { continue };
        let Some(inlet) = solo.inlet_link() else { continue };
        let from = net.line_of[solo.inlet_ring() as usize].expect("a line ends in an inlet") as usize;
        let loses = [inlet.0, solo.output().0].iter().any(|&link| net.links[link as usize].loses());
        if receiver.acknowledges_at_once() && graph.runners[from] == Runner::Itself && !loses {
            echoes[solo.inlet_ring() as usize] =
                Some(Echo { host: i as u32, inlet, output: solo.output(), through: None });
        }
    }
    for &link in &graph.links {
        if let Some(rings) = is_transparent(scenario, graph, net, &echoes, link) {
            net.links[link].transparent = true;
            for ring in rings {
                let echo = echoes[ring].as_mut().expect("asked for above");
                let channel = hosts[echo.host as usize].channel();
                echo.through = Some((link as u32, net.links[link].ring_of(channel)));
            }
        }
    }
    echoes
}

/// If a link is transparent, the inlet rings of the hosts that feed it.
fn is_transparent(
    scenario: &Scenario,
    graph: &Graph,
    net: &Net,
    echoes: &[Option<Echo>],
    link: LinkId,
) -> Option<Vec<usize>> {
    let stack = &scenario.stack;
    let (data, ack) = (stack.full_packet(), stack.ack_size);
    let whole = |bytes: Option<u64>| bytes.is_none_or(|bytes| bytes % u64::from(stack.payload) == 0);
    let one_size = !stack.handshake
        && (!stack.sack || (stack.sack_block_base, stack.sack_block_each) == (0, 0))
        && scenario.flows.iter().all(|flow| whole(flow.bytes));
    if !one_size || net.links[link].loses() {
        return None;
    }
    let time = |link: usize, size| SerialTime::new(scenario.network.links[link].rate).of(size);
    let mut rings = Vec::new();
    let mut origin = None;
    for feeder in &feeders(scenario)[link] {
        let &Feeder::Link(output) = feeder else { return None };
        let Runner::Output(_) = graph.runners[output] else { return None };
        let (ring, echo) =
            echoes.iter().enumerate().find_map(|(ring, echo)| {
                echo.filter(|echo| echo.output.0 as usize == output).map(|echo| (ring, echo))
            })?;
        let from = net.line_of[ring]? as usize;
        let inlet = echo.inlet.0 as usize;
        // Between two data packets of one transmitter lies the serialisation of the second.
        let apart = time(from, data);
        let slowest = time(inlet, data).max(time(output, ack)).max(time(link, ack));
        if slowest > apart || apart == 0 {
            return None;
        }
        let links = &scenario.network.links;
        let after = links[inlet].delay.0 + links[output].delay.0 + time(inlet, data) + time(output, ack);
        if origin.is_some_and(|known| known != (from, after)) {
            return None;
        }
        origin = Some((from, after));
        rings.push(ring);
    }
    Some(rings)
}

/// The links and rings that an echo may touch, while the link that hands the packet on is in other hands.
pub struct Reach<'a> {
    /// All links; the one in other hands is a placeholder.
    pub links: &'a mut [Link],
    /// All hosts.
    pub hosts: &'a mut [Host],
    /// Nothing that happens at this time or later may be done.
    pub stop: u64,
}

impl Reach<'_> {
    /// Let a data packet that comes into a host's inlet at `at` be acknowledged, if that is all that there
    /// is to it. Answers the ring for the ACK, when it comes out there, and its last two words.
    #[inline(always)]
    pub fn answer(
        &mut self,
        echo: &Echo,
        at: u64,
        sent: u64,
        sequence: u64,
        rest: u64,
        rings_empty: impl Fn(u32) -> bool,
    ) -> Option<(u32, u64, u64, u64)> {
        let Some(Endpoint::Receiver(receiver)) = self.hosts[echo.host as usize].endpoints.first_mut() else {
            return None;
        };
        if at >= self.stop || !rings_empty(echo.inlet.1) {
            return None;
        }
        let (ack_sequence, ack_rest, size) = receiver.plain_answer(sequence, rest)?;
        let arrival = self.links[echo.inlet.0 as usize].ask_idle(at, size)?;
        if arrival >= self.stop {
            return None;
        }
        let ack_size = (ack_rest >> 32) as u32 & 0xFFFF;
        let out = self.links[echo.output.0 as usize].ask_idle(arrival, ack_size)?;
        receiver.took_plain(1, sent);
        self.links[echo.inlet.0 as usize].pass_idle(at, size, echo.inlet.1, 0);
        self.links[echo.output.0 as usize].pass_idle(arrival, ack_size, echo.output.1, 1);
        if let Some((through, ring)) = echo.through
            && out < self.stop
            && rings_empty(echo.output.1)
        {
            let link = &mut self.links[through as usize];
            link.arrived += 1;
            link.bare += 1;
            return Some((ring, link.pass_transparent(out, ack_size, ring), ack_sequence, ack_rest));
        }
        Some((echo.output.1, out, ack_sequence, ack_rest))
    }
}
