//! Rounds: each lets every stage handle what it can.

use super::Simulation;
use crate::fault::{self, Fault};
use crate::graph::PackedWaits;
use crate::link::Link;
use crate::stage::{self, LinkRun, PREFETCH_DEPTHS, SharedRunner, Stages};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The memory of this many hosts stays in the near caches from round to round.
const FEW_HOSTS: usize = 256;
/// Hosts whose memory is asked for at once: about what a processor fetches at a time.
const BATCH: usize = 8;
/// A round with as many packets leaves little idle time to skip.
const FEW_PACKETS: u64 = 64;

/// How far each stage has come. Every stage has one writer; clones are the same numbers. Hosts of a group have the frontier of its
/// leader ([`PackedWaits`]).
#[derive(Clone)]
pub struct Frontiers {
    /// The time before which each stage has handled everything.
    done: Arc<[AtomicU64]>,
    /// What each stage still causes looks from outside as if it happened then or later: `done`, or later at a link
    /// that knows when its next packet leaves.
    quiet: Arc<[AtomicU64]>,
    /// For each group of hosts, by its leader, how far it advances in this round; zero if not at all.
    round: Arc<[AtomicU64]>,
}

impl Frontiers {
    /// Creates the frontiers of this many stages, at the engine's time zero.
    pub fn new(stages: usize) -> Frontiers {
        let zeros = || (0..stages).map(|_| AtomicU64::new(0)).collect();
        Frontiers { done: zeros(), quiet: zeros(), round: zeros() }
    }

    /// Returns the time before which a stage has handled everything.
    #[inline(always)]
    pub fn done(&self, stage: usize) -> u64 {
        self.done[stage].load(Ordering::Relaxed)
    }

    /// Sets both times of a stage.
    #[inline(always)]
    pub fn set(&self, stage: usize, done: u64, quiet: u64) {
        self.done[stage].store(done, Ordering::Relaxed);
        self.quiet[stage].store(quiet, Ordering::Relaxed);
    }

    /// Returns the time that all of these stages have come to, or `none` if there are none.
    pub fn least(&self, stages: &[u32], none: u64) -> u64 {
        stages.iter().map(|&stage| self.done(stage as usize)).min().unwrap_or(none)
    }

    /// Begins the hosts' part of a round for groups of hosts: computes how far each advances. Returns how far the group advances
    /// that comes furthest, or the greatest time if a host is in no group.
    pub fn begin_groups(&self, waits: &PackedWaits, horizon: u64) -> u64 {
        let mut furthest = if waits.all_grouped() { 0 } else { u64::MAX };
        for leader in waits.groups().iter().map(|&leader| leader as usize) {
            let limit = self.limit(waits.of(leader), horizon);
            let limit = if limit > self.done(leader) { limit } else { 0 };
            self.round[leader].store(limit, Ordering::Relaxed);
            furthest = furthest.max(limit);
        }
        furthest
    }

    /// Ends it, when all hosts have advanced.
    pub fn end_groups(&self, waits: &PackedWaits) {
        for leader in waits.groups().iter().map(|&leader| leader as usize) {
            let limit = self.round[leader].load(Ordering::Relaxed);
            if limit > 0 {
                self.set(leader, limit, limit);
            }
        }
    }

    /// Returns the time before which a stage may handle everything, `most` at most.
    #[inline(always)]
    pub fn limit(&self, waits: &[(u32, u64)], most: u64) -> u64 {
        let beyond = if fault::is(Fault::PastTheFrontier) { 1000 } else { 0 };
        waits.iter().fold(most, |limit, &(stage, latency)| {
            let quiet = self.quiet[stage as usize].load(Ordering::Relaxed);
            limit.min(quiet.saturating_add(latency).saturating_add(beyond))
        })
    }
}

/// Lets hosts advance. Where there are many hosts, those that have something to do run in batches, so that the memory of a whole
/// batch is asked for before the first of them waits for it.
pub struct HostBatch<'a> {
    runner: &'a dyn SharedRunner,
    frontiers: &'a Frontiers,
    waits: &'a PackedWaits,
    /// Hosts advance to this time at most.
    horizon: u64,
    /// Hosts that have something to do, and how far they advance.
    waking: [(usize, u64); BATCH],
    count: usize,
    /// How many of them run together.
    size: usize,
    /// Whether anything happened.
    ran: bool,
}

impl<'a> HostBatch<'a> {
    /// Begins a round in which as many hosts as [`HostBatch::size`] returns run together.
    pub fn new(
        size: usize,
        runner: &'a dyn SharedRunner,
        frontiers: &'a Frontiers,
        waits: &'a PackedWaits,
        horizon: u64,
    ) -> Self {
        HostBatch { runner, frontiers, waits, horizon, waking: [(0, 0); BATCH], count: 0, size, ran: false }
    }

    /// Returns how many hosts run together in a simulation of `hosts` hosts. `eager`: also where it gains nothing.
    pub fn size(hosts: usize, eager: bool) -> usize {
        if hosts > FEW_HOSTS || eager { BATCH } else { 1 }
    }

    /// Lets a host advance, now or with the rest of its batch. That of a group has begun ([`Frontiers::begin_groups`]), and its
    /// frontier is set at the end.
    #[inline(always)]
    pub fn advance(&mut self, stages: &mut Stages, host: usize) {
        let wake = stages.net.wake[host].load(Ordering::Relaxed);
        let limit = if let Some(leader) = self.waits.group_of(host) {
            let limit = self.frontiers.round[leader].load(Ordering::Relaxed);
            if wake >= limit {
                return;
            }
            limit
        } else {
            let limit = self.frontiers.limit(self.waits.of(host), self.horizon);
            if limit <= self.frontiers.done(host) {
                return;
            }
            if wake >= limit {
                return self.frontiers.set(host, limit, limit);
            }
            limit
        };
        self.waking[self.count] = (host, limit);
        self.count += 1;
        if self.count == self.size {
            self.run(stages);
        }
    }

    /// Lets the rest of the last batch advance. Returns whether anything happened in this round.
    pub fn end(mut self, stages: &mut Stages) -> bool {
        self.run(stages);
        self.ran
    }

    fn run(&mut self, stages: &mut Stages) {
        let waking = &self.waking[..std::mem::take(&mut self.count)];
        if waking.len() > 1 {
            for depth in 0..PREFETCH_DEPTHS {
                waking.iter().for_each(|&(host, _)| self.runner.prefetch_host(stages, host, depth));
            }
        }
        for &(host, limit) in waking {
            self.runner.run_host(stages, host, limit);
            let next = stages.hosts[host].next_event(&stages.net);
            stages.net.wake[host].store(next, Ordering::Relaxed);
            if self.waits.group_of(host).is_none() {
                self.frontiers.set(host, limit, limit);
            }
            self.ran = true;
        }
    }
}

impl Simulation<'_> {
    /// Lets every stage handle what it can before `stop`; hosts stay within the window. Returns the least time that all
    /// stages have come to.
    pub(super) fn go_round(&mut self, stop: u64) -> u64 {
        let horizon = stop.min(self.least.saturating_add(self.window));
        let (ran, packets) = match self.use_threads() {
            true => self.advance_with_threads(horizon, stop),
            false => self.advance_alone(horizon, stop),
        };
        self.packets = packets;
        if ran {
            self.adapt_window(packets);
        }
        if packets < FEW_PACKETS.min(self.graph.waits.len() as u64) {
            self.skip_idle_time(stop);
        }
        self.least = self.frontiers.least(self.graph.packed_waits.leaders(), stop);
        self.least
    }

    /// Lets every stage handle what it can, on this thread. Returns whether anything happened, and how many packets links
    /// handled.
    fn advance_alone(&mut self, horizon: u64, stop: u64) -> (bool, u64) {
        let hosts = self.stages.hosts.len();
        let (runner, waits) = (&*self.shared_runner, &self.graph.packed_waits);
        let furthest = self.frontiers.begin_groups(waits, horizon);
        let mut batch =
            HostBatch::new(HostBatch::size(hosts, self.eager), runner, &self.frontiers, waits, horizon);
        let wakes = Arc::clone(&self.stages.net.wake);
        for (host, wake) in wakes[..hosts].iter().enumerate() {
            if wake.load(Ordering::Relaxed) <= furthest {
                batch.advance(&mut self.stages, host);
            }
        }
        let ran = batch.end(&mut self.stages);
        self.frontiers.end_groups(waits);
        let mut packets = 0;
        for stage in hosts..self.graph.waits.len() {
            let limit = self.frontiers.limit(self.graph.packed_waits.of(stage), stop);
            if limit > self.frontiers.done(stage) {
                packets += self.run_link(stage - hosts, limit, stop);
                let quiet = self.link_quiet_until(stage - hosts, limit);
                self.frontiers.set(stage, limit, quiet);
            }
        }
        (ran || packets > 0, packets)
    }

    /// Advances all stages to the earliest event there is, after a round in which little or nothing happened.
    fn skip_idle_time(&mut self, stop: u64) {
        let hosts = self.stages.hosts.len();
        // Packets in a host's inlet that have not left it may look earlier than what the host has done.
        let wakes = self.stages.net.wake[..hosts].iter().map(|wake| wake.load(Ordering::Relaxed));
        let waits = &self.graph.packed_waits;
        let wakes = wakes.enumerate().map(|(host, wake)| wake.max(self.frontiers.done(waits.leader(host))));
        let links = self.stages.net.wake[hosts + 1..].iter().map(|wake| wake.load(Ordering::Relaxed));
        let queued = self.graph.links.iter().filter_map(|&link| self.stages.net.links[link].queued());
        let events = queued.map(|link| link.next_event());
        let taps = self.graph.taps.iter().flat_map(|tap| &tap.inputs);
        let links = links.chain(taps.map(|&ring| self.stages.net.rings[ring as usize].next_at()));
        let next = wakes.chain(links).chain(events).min().unwrap_or(stop).min(stop);
        for place in 0..self.graph.packed_waits.leaders().len() {
            let stage = self.graph.packed_waits.leaders()[place] as usize;
            let done = self.frontiers.done(stage).max(next);
            let quiet = match stage.checked_sub(hosts) {
                Some(index) if index < self.graph.links.len() => {
                    self.run_link_without_arrivals(index, done, stop);
                    self.link_quiet_until(index, done)
                }
                _ => done,
            };
            self.frontiers.set(stage, done, quiet);
        }
    }

    /// Lets packets leave a link to which nothing comes before `limit`.
    fn run_link_without_arrivals(&mut self, index: usize, limit: u64, stop: u64) {
        let link = self.graph.links[index];
        if matches!(self.stages.net.links[link], Link::Queued(_)) {
            let receivers_stop = self.receivers_stop;
            self.run_observed_link(&LinkRun { link: link as u32, inputs: &[], limit, stop, receivers_stop });
        }
    }

    /// Adapts the window. With about a thousand packets a round, the memory of the stages stays in the caches; many flows
    /// need some packets each. The outcome does not depend on it.
    fn adapt_window(&mut self, packets: u64) {
        let wanted = 1024u64.max(64 * self.stages.hosts.len() as u64);
        if packets < wanted / 2 {
            self.window = (self.window * 2).min(10_000_000_000);
        } else if packets > wanted * 2 {
            self.window = (self.window / 2).max(1000);
        }
    }

    /// Lets a link or a tap handle everything before `limit`. Returns how many packets it handled.
    fn run_link(&mut self, index: usize, limit: u64, stop: u64) -> u64 {
        if let Some(&link) = self.graph.links.get(index) {
            let inputs = std::mem::take(&mut self.graph.inputs[index]);
            let (link, receivers_stop) = (link as u32, self.receivers_stop);
            let handled =
                self.run_observed_link(&LinkRun { link, inputs: &inputs, limit, stop, receivers_stop });
            self.graph.inputs[index] = inputs;
            return handled;
        }
        let point = index - self.graph.links.len();
        let Some(watch) = &mut self.watch else { return 0 };
        let Stages { net, merge, .. } = &mut self.stages;
        watch.run_tap(point, &self.graph.taps[point], net, merge, limit)
    }

    fn run_observed_link(&mut self, run: &LinkRun<'_>) -> u64 {
        let link = run.link as usize;
        if let Some(watch) = &self.watch {
            watch.before_link(link, &mut self.stages.net);
        }
        let packets = self.runner.run_link(&mut self.stages, run);
        if let Some(watch) = &mut self.watch {
            watch.after_link(link, &mut self.stages.net);
        }
        packets
    }

    /// Returns `quiet` of a link's stage when everything before `done` has been handled.
    pub(super) fn link_quiet_until(&mut self, index: usize, done: u64) -> u64 {
        match self.graph.links.get(index) {
            Some(&link) => stage::quiet_until(&mut self.stages.net, link as u32, done, self.smallest_packet),
            None => done,
        }
    }
}
