//! Rounds on several threads.
//!
//! A round has two phases. First hosts advance, then links. In a phase no stage waits for one that another thread runs: hosts
//! wait for links, and links for hosts. Hosts that feed each other directly are one task, and so are links that feed each
//! other. A round therefore does the same as on one thread. What stages share is divided as follows.
//!
//! | state | how it is divided |
//! |---|---|
//! | hosts, links, rings, turns | by index: in a phase, each is used by one task ([`Slots`](crate::slots::Slots)) |
//! | counts of dropped and lost packets | each thread has its own, and the outcome adds them |
//! | SACK blocks | each thread has a slab, from which any may take ([`Sacks`]) |
//! | frontiers, wake-up times | atomics, which are handed on from phase to phase |
//!
//! Inline receivers, with which a link does the work of hosts, are not used.

use super::Simulation;
use super::round::{Frontiers, HostBatch};
use crate::crew::{AtEnd, Crew};
use crate::graph::{Graph, PackedWaits};
use crate::merge::Merge;
use crate::net::{Net, PacketCounts};
use crate::sacks::{MOST_THREADS, Sacks, Slabs};
use crate::slots::Phase;
use crate::stage::{self, LinkRun, SharedRunner, Stages};
use cwnd_scenario::Helpers;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A round with fewer packets is left to one thread. Each thread more needs as many.
const PACKETS_A_THREAD: u64 = 1_024;
/// A simulation with fewer hosts is left to one thread: its rounds are short. Where inline receivers save work, it needs more
/// hosts to gain from threads, which do without them. `examples/threads.rs` measures both: 16 flows of the linux stack gain, 64 of
/// the ns2 stack do not, 1,000 do.
const LEAST_HOSTS: usize = 32;
const LEAST_HOSTS_INLINE: usize = 1_000;
/// The hosts for which a thread is taken.
const HOSTS_A_THREAD: usize = 16;
/// Tasks of hosts for each thread: more than one, so that all threads end at about the same time.
const TASKS_A_THREAD: usize = 8;

/// What several crews of a simulation have in common.
#[derive(Default)]
pub struct Sharing {
    slabs: Slabs,
    phase: Phase,
}

/// The threads of a simulation.
pub struct StageCrew {
    crew: Crew,
    shared: Arc<Shared>,
    /// The tasks of hosts and of links.
    tasks: [Range<usize>; 2],
    /// Whether threads have access to what this thread has stored.
    entered: bool,
    helpers: Helpers,
}

/// What all threads see.
struct Shared {
    runner: Arc<dyn SharedRunner>,
    waits: PackedWaits,
    /// The links that are stages, and their inputs.
    links: Vec<usize>,
    inputs: Vec<Vec<u32>>,
    /// The stages of each task.
    tasks: Vec<Vec<usize>>,
    frontiers: Frontiers,
    /// How far hosts, and how far links advance in this round.
    horizon: AtomicU64,
    stop: AtomicU64,
    smallest_packet: u32,
    /// How many hosts run together.
    batch: usize,
    /// What belongs to each thread.
    parts: Vec<Mutex<Part>>,
}

/// What belongs to a thread.
struct Part {
    /// Handles of all stages, and counts of its own.
    stages: Stages,
    /// Whether anything happened in this round, and how many packets links handled.
    ran: bool,
    packets: u64,
}

impl Simulation<'_> {
    /// Returns whether this round is done with threads. Reserves more of them if there are.
    pub(super) fn use_threads(&mut self) -> bool {
        if self.crew.is_none() && self.helpers.spare() == 0 {
            return false;
        }
        let worth = self.worthwhile_helpers();
        if worth == 0 || self.watch.is_some() || self.senders_watched {
            self.leave_threads();
            return false;
        }
        let helpers = self.crew.as_ref().map_or(0, StageCrew::helpers);
        if worth > helpers && self.helpers.spare() > 0 {
            self.drop_crew();
            let helpers = self.helpers.take(worth);
            self.crew = if helpers > 0 { self.new_crew(1 + helpers) } else { None };
        }
        let Some(crew) = &mut self.crew else { return false };
        if !crew.entered {
            self.stages.net.sacks.exchange(&self.sharing.slabs);
            crew.entered = true;
        }
        true
    }

    /// Returns how many helpers are worth it, given the packets of the last round.
    fn worthwhile_helpers(&self) -> usize {
        let hosts = self.stages.hosts.len();
        let least = if self.runner.loses_when_shared() { LEAST_HOSTS_INLINE } else { LEAST_HOSTS };
        if self.eager {
            return MOST_THREADS - 1;
        } else if hosts < least {
            return 0;
        }
        let for_packets = (self.packets / PACKETS_A_THREAD) as usize;
        for_packets.min(hosts / HOSTS_A_THREAD - 1).min(MOST_THREADS - 1)
    }

    /// Returns how many threads it uses now.
    pub fn threads(&self) -> usize {
        1 + self.crew.as_ref().map_or(0, StageCrew::helpers)
    }

    /// Does the work of a round with threads. Returns whether anything happened, and how many packets links handled.
    pub(super) fn advance_with_threads(&mut self, horizon: u64, stop: u64) -> (bool, u64) {
        let Some(crew) = &self.crew else { return (false, 0) };
        crew.shared.horizon.store(horizon, Ordering::Relaxed);
        crew.shared.stop.store(stop, Ordering::Relaxed);
        let [hosts, links] = &crew.tasks;
        self.frontiers.begin_groups(&self.graph.packed_waits, horizon);
        self.sharing.phase.begin();
        crew.crew.run(hosts);
        self.frontiers.end_groups(&self.graph.packed_waits);
        self.sharing.phase.begin();
        crew.crew.run(links);
        let (mut ran, mut packets) = (false, 0);
        for part in &crew.shared.parts {
            let mut part = lock(part);
            packets += std::mem::take(&mut part.packets);
            ran |= std::mem::take(&mut part.ran);
        }
        (ran || packets > 0, packets)
    }

    /// Returns to one thread.
    pub(super) fn leave_threads(&mut self) {
        if let Some(crew) = self.crew.as_mut().filter(|crew| crew.entered) {
            self.stages.net.sacks.exchange(&self.sharing.slabs);
            crew.entered = false;
        }
    }

    /// Ends the threads and keeps what they have counted.
    pub(super) fn drop_crew(&mut self) {
        self.leave_threads();
        if let Some(crew) = self.crew.take() {
            let net = &mut self.stages.net;
            crew.add_counts(&mut net.packet_counts, &mut net.lost);
        }
    }

    /// Returns for each channel what became of its packets, and for each link the packets that its line lost.
    pub(crate) fn counts(&self) -> (Vec<PacketCounts>, Vec<u64>) {
        let (mut counts, mut lost) = (self.stages.net.packet_counts.clone(), self.stages.net.lost.clone());
        if let Some(crew) = &self.crew {
            crew.add_counts(&mut counts, &mut lost);
        }
        (counts, lost)
    }

    /// Returns the packets that a link's line has lost.
    pub(crate) fn lost_on(&self, link: usize) -> u64 {
        let of_crew = |crew: &StageCrew| {
            crew.shared.parts.iter().map(|part| lock(part).stages.net.lost[link]).sum::<u64>()
        };
        self.stages.net.lost[link] + self.crew.as_ref().map_or(0, of_crew)
    }

    /// Creates the threads. Returns `None` if the system gives none, or if all hosts are one task.
    fn new_crew(&mut self, threads: usize) -> Option<StageCrew> {
        let hosts = self.stages.hosts.len();
        let give_back = |helpers: &Helpers| helpers.give_back(threads - 1);
        let of_hosts = tasks(&self.graph, 0..hosts, TASKS_A_THREAD * threads);
        if of_hosts.len() < 2 {
            give_back(&self.helpers);
            self.helpers = self.helpers.without_threads();
            return None;
        }
        let of_links = tasks(&self.graph, hosts..self.graph.waits.len(), threads);
        let parts = (0..threads).map(|thread| Mutex::new(self.part(thread))).collect();
        let (first, all) = (of_hosts.len(), of_hosts.len() + of_links.len());
        let shared = Arc::new(Shared {
            runner: Arc::clone(&self.shared_runner),
            waits: self.graph.packed_waits.clone(),
            links: self.graph.links.clone(),
            inputs: self.graph.inputs.clone(),
            tasks: of_hosts.into_iter().chain(of_links).collect(),
            frontiers: self.frontiers.clone(),
            horizon: AtomicU64::new(0),
            stop: AtomicU64::new(0),
            smallest_packet: self.smallest_packet,
            batch: HostBatch::size(hosts, self.eager),
            parts,
        });
        let (work, helpers) = (Arc::clone(&shared), self.helpers.clone());
        let at_end: AtEnd = Arc::new(move || helpers.note_cpu_time());
        match Crew::new(threads, &at_end, move |thread, task| work.advance(thread, task)) {
            Ok(crew) => Some(StageCrew {
                crew,
                shared,
                tasks: [0..first, first..all],
                entered: false,
                helpers: self.helpers.clone(),
            }),
            Err(_) => {
                give_back(&self.helpers);
                self.helpers = self.helpers.without_threads();
                None
            }
        }
    }

    /// Creates what belongs to a thread.
    fn part(&mut self, thread: usize) -> Part {
        let phase = &self.sharing.phase;
        let Stages { net, hosts, local, .. } = &mut self.stages;
        let number = thread as u32;
        // SAFETY: the crew is dropped before the stages, and its threads use the handles only in `Crew::run`, during which
        // this thread uses handles alone. Then tasks use other elements, as the table above has it, and one phase ends before
        // the next begins.
        let (links, rings, turns, hosts) = unsafe {
            (
                net.links.share(phase, number),
                net.rings.share(phase, number),
                net.turns.share(phase, number),
                hosts.share(phase, number),
            )
        };
        let net = Net {
            links,
            rings,
            turns,
            lost: vec![0; net.lost.len()],
            line_of: net.line_of.clone(),
            sacks: Sacks::of_thread(&self.sharing.slabs, thread),
            egress: net.egress.clone(),
            packet_counts: vec![PacketCounts::default(); net.packet_counts.len()],
            wake: Arc::clone(&net.wake),
            owner: net.owner.clone(),
            dropped: None,
        };
        let merge = Merge::new(self.scenario.ties);
        let stages = Stages { net, hosts, local: local.clone(), places: Vec::new(), merge };
        Part { stages, ran: false, packets: 0 }
    }
}

impl StageCrew {
    /// Returns how many threads help the one that runs the simulation.
    fn helpers(&self) -> usize {
        self.crew.threads() - 1
    }

    /// Adds what its threads have counted.
    fn add_counts(&self, counts: &mut [PacketCounts], lost: &mut [u64]) {
        for part in &self.shared.parts {
            let net = &lock(part).stages.net;
            counts.iter_mut().zip(&net.packet_counts).for_each(|(sum, more)| *sum += *more);
            lost.iter_mut().zip(&net.lost).for_each(|(sum, more)| *sum += more);
        }
    }
}

impl Drop for StageCrew {
    fn drop(&mut self) {
        self.helpers.give_back(self.helpers());
    }
}

impl Shared {
    /// Does a task on a thread.
    fn advance(&self, thread: usize, task: usize) {
        let mut part = lock(&self.parts[thread]);
        let Part { stages, ran, packets } = &mut *part;
        let hosts = self.waits.stages() - self.links.len();
        let horizon = self.horizon.load(Ordering::Relaxed);
        let mut batch = HostBatch::new(self.batch, &*self.runner, &self.frontiers, &self.waits, horizon);
        for &stage in &self.tasks[task] {
            match stage.checked_sub(hosts) {
                None => batch.advance(stages, stage),
                Some(index) => *packets += self.advance_link(stages, stage, index),
            }
        }
        *ran |= batch.end(stages);
    }

    /// Lets a link handle what it can. Returns how many packets it handled.
    fn advance_link(&self, stages: &mut Stages, stage: usize, index: usize) -> u64 {
        let stop = self.stop.load(Ordering::Relaxed);
        let limit = self.frontiers.limit(self.waits.of(stage), stop);
        if limit <= self.frontiers.done(stage) {
            return 0;
        }
        let link = self.links[index] as u32;
        let run = LinkRun { link, inputs: &self.inputs[index], limit, stop, receivers_stop: stop };
        let packets = self.runner.run_link(stages, &run);
        let quiet = stage::quiet_until(&mut stages.net, link, limit, self.smallest_packet);
        self.frontiers.set(stage, limit, quiet);
        packets
    }
}

fn lock(part: &Mutex<Part>) -> MutexGuard<'_, Part> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Divides stages into `most` tasks at most, so that no stage waits for one of another task.
fn tasks(graph: &Graph, stages: Range<usize>, most: usize) -> Vec<Vec<usize>> {
    // The first stage of those that a stage belongs with, found by following the numbers.
    let mut first: Vec<usize> = stages.clone().collect();
    let find = |first: &[usize], mut stage: usize| {
        while first[stage - stages.start] != stage {
            stage = first[stage - stages.start];
        }
        stage
    };
    for stage in stages.clone() {
        for wait in graph.waits.of(stage).iter().filter(|wait| stages.contains(&wait.stage)) {
            let (one, other) = (find(&first, stage), find(&first, wait.stage));
            first[one.max(other) - stages.start] = one.min(other);
        }
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); stages.len()];
    for stage in stages.clone() {
        groups[find(&first, stage) - stages.start].push(stage);
    }
    groups.retain(|group| !group.is_empty());
    let each = groups.len().div_ceil(most.max(1)).max(1);
    groups.chunks(each).map(|chunk| chunk.concat()).collect()
}
