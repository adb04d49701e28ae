//! The fast path: shortcuts past the general path, each taken only where its outcome is proven to be the same.
//!
//! | shortcut | what it replaces |
//! |---|---|
//! | [`single_endpoint`] | the loop of a host with one endpoint, one inlet and its own output link |
//! | [`plain_runs`] | the handling, one by one, of packets in order on idle links of such a host |
//! | [`inline_receiver`] | the stage of a receiving host that acknowledges at once |
//! | [`zero_queue`] | the merging link for ACKs that never meet on it |
//! | [`steady`] | calls of transmitter and line by a link that keeps its queue, while both are constant |
//!
//! A live change of the network ends inline receivers and zero-queue links, which rely on it.

mod first_packet_guard;
mod inline_receiver;
mod lane;
mod plain_runs;
mod single_endpoint;
mod steady;
mod zero_queue;

use crate::fault::{self, Fault};
use crate::graph::Graph;
use crate::host::Host;
use crate::link::Link;
use crate::net::Net;
use crate::stage::{GeneralPath, IntoRings, LinkRun, SharedRunner, StageRunner, Stages, closed_form, queued};
use cwnd_scenario::Scenario;
use cwnd_tcp::prefetch::prefetch;
use first_packet_guard::FirstPacketGuard;
use inline_receiver::{InlineExit, InlineReceiver};
use single_endpoint::SingleEndpointPath;
use std::sync::Arc;
use steady::SteadyDispatch;
use zero_queue::ZeroQueueLinks;

/// The shortcuts that a simulation may take. No outcome depends on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortcuts {
    /// The path of hosts with one endpoint. Without it there are neither plain runs nor inline receivers.
    pub single_endpoint: bool,
    /// Runs of plain packets at such hosts.
    pub plain_runs: bool,
    /// Inline receivers. Without them there are no zero-queue links.
    pub inline_receiver: bool,
    /// Zero-queue links.
    pub zero_queue: bool,
    /// Steady transmitters and lines. Without them there are no inline receivers behind links that keep their queues.
    pub steady: bool,
}

impl Shortcuts {
    /// All shortcuts.
    pub const ALL: Shortcuts = Shortcuts {
        single_endpoint: true,
        plain_runs: true,
        inline_receiver: true,
        zero_queue: true,
        steady: true,
    };

    /// No shortcut: the general path.
    pub const NONE: Shortcuts = Shortcuts {
        single_endpoint: false,
        plain_runs: false,
        inline_receiver: false,
        zero_queue: false,
        steady: false,
    };

    /// The names of the shortcuts.
    pub const NAMES: [&str; 5] = ["single-endpoint", "plain-runs", "inline-receiver", "zero-queue", "steady"];

    /// Returns all shortcuts but one; none without `all`.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn without(name: &str) -> Result<Shortcuts, String> {
        let mut shortcuts = Shortcuts::ALL;
        let switch = match name {
            "single-endpoint" => &mut shortcuts.single_endpoint,
            "plain-runs" => &mut shortcuts.plain_runs,
            "inline-receiver" => &mut shortcuts.inline_receiver,
            "zero-queue" => &mut shortcuts.zero_queue,
            "steady" => &mut shortcuts.steady,
            "all" => return Ok(Shortcuts::NONE),
            _ => return Err(format!("`{name}` is no shortcut: {}", Shortcuts::NAMES.join(", "))),
        };
        *switch = false;
        Ok(shortcuts)
    }
}

impl Default for Shortcuts {
    fn default() -> Self {
        Shortcuts::ALL
    }
}

/// Runs stages by shortcuts where they hold.
pub struct FastPath {
    shared: Arc<SharedPath>,
    /// For each ring; none if no host can be replaced.
    receivers: Vec<InlineReceiver>,
    /// For each link, whether a possible inline receiver is behind it.
    before_receivers: Vec<bool>,
    guard: Option<FirstPacketGuard>,
}

/// The shortcuts that several threads take at once: all but inline receivers, with which a link does the work of hosts.
struct SharedPath {
    shortcuts: Shortcuts,
    /// For each host.
    paths: Vec<Option<SingleEndpointPath>>,
    zero_queue: ZeroQueueLinks,
}

impl FastPath {
    /// Finds the shortcuts of a scenario.
    pub fn new(
        shortcuts: Shortcuts,
        scenario: &Scenario,
        graph: &Graph,
        net: &Net,
        hosts: &[Host],
    ) -> FastPath {
        let path = |host| {
            SingleEndpointPath::new(host, net, shortcuts.plain_runs).filter(|_| shortcuts.single_endpoint)
        };
        let paths: Vec<_> = hosts.iter().map(path).collect();
        let mut receivers = match shortcuts.inline_receiver {
            true => inline_receiver::find(scenario, graph, net, hosts, &paths),
            false => Vec::new(),
        };
        let mut before_receivers = vec![false; net.links.len()];
        for (receiver, line) in receivers.iter().zip(&net.line_of) {
            if let Some(link) = line.filter(|_| receiver.is_possible()) {
                before_receivers[link as usize] = true;
            }
        }
        let zero_queue = match shortcuts.zero_queue {
            true => ZeroQueueLinks::find(scenario, graph, net, hosts, &receivers),
            false => ZeroQueueLinks::default(),
        };
        let mut guard = None;
        if scenario.stack.first_packet.is_none() || fault::is(Fault::OpensTooEarly) {
            zero_queue.set_open(true, &mut receivers, net);
        } else if !zero_queue.is_empty() {
            guard = Some(FirstPacketGuard::new(scenario.flows.len()));
        }
        let shared = Arc::new(SharedPath { shortcuts, paths, zero_queue });
        FastPath { shared, receivers, before_receivers, guard }
    }
}

impl StageRunner for FastPath {
    fn run_link(&mut self, stages: &mut Stages, run: &LinkRun<'_>) -> u64 {
        if !self.before_receivers[run.link as usize] || self.shared.is_zero_queue(run.link) {
            return self.shared.run_link(stages, run);
        }
        let Stages { net, hosts, merge, .. } = stages;
        let (is_queued, full_packet) = match &net.links[run.link as usize] {
            Link::Queued(_) if !self.shared.shortcuts.steady => return self.shared.run_link(stages, run),
            Link::ClosedForm(link) => (false, link.full_packet().0),
            Link::Queued(link) => (true, link.full_packet),
        };
        let mut exit = InlineExit::new(&mut self.receivers, hosts, full_packet, run.receivers_stop);
        let handled = match is_queued {
            false => closed_form::run(net, merge, run, &mut exit),
            true => queued::run::<SteadyDispatch, _>(net, merge, run, &mut exit),
        };
        exit.end(net);
        handled
    }

    fn shared(&self) -> Arc<dyn SharedRunner> {
        Arc::clone(&self.shared) as _
    }

    fn loses_when_shared(&self) -> bool {
        self.before_receivers.contains(&true)
    }

    fn next_review(&self) -> u64 {
        self.guard.as_ref().map_or(u64::MAX, FirstPacketGuard::next_check)
    }

    fn review(&mut self, stages: &mut Stages, now: u64) {
        if let Some(guard) = &mut self.guard {
            guard.check(now, stages, &self.shared.zero_queue, &mut self.receivers);
        }
    }

    fn network_changed(&mut self, net: &Net) {
        self.guard = None;
        self.shared.zero_queue.set_open(false, &mut self.receivers, net);
        self.receivers.fill(InlineReceiver::default());
        self.before_receivers.fill(false);
    }
}

impl SharedPath {
    /// Returns whether a closed-form link is treated as a zero-queue link now.
    #[inline]
    fn is_zero_queue(&self, link: u32) -> bool {
        self.zero_queue.contains(link) || fault::is(Fault::AllZeroQueue)
    }
}

impl SharedRunner for SharedPath {
    fn run_host(&self, stages: &mut Stages, host: usize, limit: u64) {
        let Stages { net, hosts, local, .. } = stages;
        match self.paths[host] {
            Some(path) => path.run(&mut hosts[host], net, limit),
            None => hosts[host].run(net, local, limit),
        }
    }

    fn prefetch_host(&self, stages: &Stages, host: usize, depth: usize) {
        if depth == 0 {
            prefetch(&self.paths[host]);
            prefetch(&stages.hosts[host]);
        } else if let Some(path) = &self.paths[host] {
            path.prefetch(&stages.hosts[host], &stages.net, depth);
        }
    }

    fn run_link(&self, stages: &mut Stages, run: &LinkRun<'_>) -> u64 {
        let Stages { net, merge, .. } = stages;
        match &net.links[run.link as usize] {
            Link::ClosedForm(_) if self.is_zero_queue(run.link) => zero_queue::run(net, run),
            Link::Queued(_) if self.shortcuts.steady => {
                queued::run::<SteadyDispatch, _>(net, merge, run, &mut IntoRings)
            }
            _ => SharedRunner::run_link(&GeneralPath, stages, run),
        }
    }
}
