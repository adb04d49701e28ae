//! Rounds: each lets every stage handle what it can.

use super::Simulation;
use crate::fault::{self, Fault};
use crate::link::Link;
use crate::stage::{self, LinkRun, Stages};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How far each stage has come. Every stage has one writer; clones are the same numbers.
#[derive(Clone)]
pub struct Frontiers {
    /// The time before which each stage has handled everything.
    done: Arc<[AtomicU64]>,
    /// What each stage still causes looks from outside as if it happened then or later: `done`, or later at a link
    /// that knows when its next packet leaves.
    quiet: Arc<[AtomicU64]>,
}

impl Frontiers {
    /// Creates the frontiers of this many stages, at the engine's time zero.
    pub fn new(stages: usize) -> Frontiers {
        let zeros = || (0..stages).map(|_| AtomicU64::new(0)).collect();
        Frontiers { done: zeros(), quiet: zeros() }
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

    /// Returns the time that all stages have come to, or `none` if there are none.
    pub fn least(&self, none: u64) -> u64 {
        self.done.iter().map(|done| done.load(Ordering::Relaxed)).min().unwrap_or(none)
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

/// Lets a host advance to `limit`, if that is later than where it is. Returns whether anything happened there.
#[inline(always)]
pub fn advance_host(
    stages: &mut Stages,
    frontiers: &Frontiers,
    host: usize,
    limit: u64,
    run: impl FnOnce(&mut Stages),
) -> bool {
    if limit <= frontiers.done(host) {
        return false;
    }
    let ran = stages.net.wake[host].load(Ordering::Relaxed) < limit;
    if ran {
        run(stages);
        let next = stages.hosts[host].next_event(&stages.net);
        stages.net.wake[host].store(next, Ordering::Relaxed);
    }
    frontiers.set(host, limit, limit);
    ran
}

impl Simulation {
    /// Lets every stage handle what it can before `stop`; hosts stay within the window. Returns the least time that all
    /// stages have come to.
    pub(super) fn go_round(&mut self, stop: u64) -> u64 {
        let horizon = stop.min(self.frontiers.least(stop).saturating_add(self.window));
        let (ran, packets) = match self.use_threads() {
            true => self.advance_with_threads(horizon, stop),
            false => self.advance_alone(horizon, stop),
        };
        self.packets = packets;
        if ran {
            self.adapt_window(packets);
        }
        if packets < self.graph.waits.len() as u64 {
            self.skip_idle_time(stop);
        }
        self.frontiers.least(stop)
    }

    /// Lets every stage handle what it can, on this thread. Returns whether anything happened, and how many packets links
    /// handled.
    fn advance_alone(&mut self, horizon: u64, stop: u64) -> (bool, u64) {
        let hosts = self.stages.hosts.len();
        let (mut ran, mut packets) = (false, 0);
        for host in 0..hosts {
            let limit = self.frontiers.limit(self.graph.packed_waits.of(host), horizon);
            let run = |stages: &mut Stages| self.runner.run_host(stages, host, limit);
            ran |= advance_host(&mut self.stages, &self.frontiers, host, limit, run);
        }
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
        let wakes = wakes.enumerate().map(|(host, wake)| wake.max(self.frontiers.done(host)));
        let links = self.stages.net.wake[hosts + 1..].iter().map(|wake| wake.load(Ordering::Relaxed));
        let queued = self.graph.links.iter().filter_map(|&link| self.stages.net.links[link].queued());
        let events = queued.map(|link| link.next_event());
        let taps = self.graph.taps.iter().flat_map(|tap| &tap.inputs);
        let links = links.chain(taps.map(|&ring| self.stages.net.rings[ring as usize].next_at()));
        let next = wakes.chain(links).chain(events).min().unwrap_or(stop).min(stop);
        for stage in 0..self.graph.waits.len() {
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
            self.run_observed_link(&LinkRun { link: link as u32, inputs: &[], limit, stop });
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
            let handled =
                self.run_observed_link(&LinkRun { link: link as u32, inputs: &inputs, limit, stop });
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
