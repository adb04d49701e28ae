//! Stages, and what runs them.
//!
//! A [`StageRunner`] lets one stage advance at a time. [`GeneralPath`] is the definition of what happens; any other
//! runner must give the same outcome to the bit.

pub mod closed_form;
pub mod queued;

use crate::fault::{self, Fault};
use crate::host::{Endpoint, Host};
use crate::link::queued::EachPacket;
use crate::link::{ClosedForm, Link, NextRing, PacketInRing};
use crate::merge::Merge;
use crate::net::Net;
use crate::ring::Ring;
use crate::slots::Slots;
use cwnd_tcp::Sender;
use cwnd_tcp::packet::{BARE, LOST};
use cwnd_tcp::prefetch::prefetch;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// With as many inputs, the rings behind a link are in none of the near caches.
const MANY_INPUTS: usize = 64;

/// The state of all stages.
pub struct Stages {
    /// Links, rings and counts.
    pub net: Net,
    /// Hosts.
    pub hosts: Slots<Host>,
    /// For each channel, which endpoint of its host receives it.
    pub local: Vec<u32>,
    /// For each flow: the host (an index into `hosts`) and endpoint of its sender, and of its receiver.
    pub places: Vec<[(usize, usize); 2]>,
    /// Merges the inputs of the link that runs.
    pub merge: Merge,
}

impl Stages {
    /// Returns a flow's sender.
    pub fn sender(&self, flow: usize) -> &Sender {
        let (host, endpoint) = self.places[flow][0];
        match &self.hosts[host].endpoints[endpoint] {
            Endpoint::Sender(sender) => sender,
            Endpoint::Receiver(_) => unreachable!("the first place is the sender's"),
        }
    }
}

/// A run of a link.
#[derive(Clone, Copy)]
pub struct LinkRun<'a> {
    /// The link.
    pub link: u32,
    /// Its input rings, in the order in which simultaneous arrivals are handled. None: nothing arrives before the limit.
    pub inputs: &'a [u32],
    /// What arrives before this is handled. A link that keeps its queue also handles what leaves at this time, unless
    /// the simulation stops there: arrivals of that time come after it.
    pub limit: u64,
    /// Nothing that happens then or later may be done anywhere, but for inline receivers.
    pub stop: u64,
    /// Nothing that happens then or later may be done by inline receivers. Between `stop` and this time nobody looks at them.
    pub receivers_stop: u64,
}

/// Runs stages on one thread. Hosts are run by its [`SharedRunner`].
pub trait StageRunner: Send + Sync {
    /// Lets a link handle its packets. Returns how many came, or left if those are more.
    fn run_link(&mut self, stages: &mut Stages, run: &LinkRun<'_>) -> u64;

    /// Returns the runner of several threads. It gives the same outcome, also where both run in turn.
    fn shared(&self) -> Arc<dyn SharedRunner>;

    /// Returns whether the runner of several threads does more work than this one.
    fn loses_when_shared(&self) -> bool {
        false
    }

    /// Returns when to call [`StageRunner::review`] next; `u64::MAX` for never.
    fn next_review(&self) -> u64 {
        u64::MAX
    }

    /// Is called when everything before `now` has been done and nothing at it or later.
    fn review(&mut self, stages: &mut Stages, now: u64) {
        let _ = (stages, now);
    }

    /// Is called after a live change of the network or of the traffic.
    fn network_changed(&mut self, net: &Net) {
        let _ = net;
    }
}

/// How far [`SharedRunner::prefetch_host`] follows references.
pub const PREFETCH_DEPTHS: usize = 3;

/// Runs stages on several threads at once, each thread others. It changes nothing but the stage that it runs.
pub trait SharedRunner: Send + Sync {
    /// Lets a host handle everything before `limit`.
    fn run_host(&self, stages: &mut Stages, host: usize, limit: u64);

    /// Asks for the memory that a host is about to use. What is at depth 0 is known at once; what is at each further depth,
    /// below [`PREFETCH_DEPTHS`], is found in the memory of the depth before it.
    fn prefetch_host(&self, stages: &Stages, host: usize, depth: usize) {
        let _ = (stages, host, depth);
    }

    /// See [`StageRunner::run_link`].
    fn run_link(&self, stages: &mut Stages, run: &LinkRun<'_>) -> u64;
}

/// Runs each stage without shortcuts: packet by packet, but for alike ones that a link in closed form lets
/// [cross together](ClosedForm::cross_alike).
pub struct GeneralPath;

impl StageRunner for GeneralPath {
    fn run_link(&mut self, stages: &mut Stages, run: &LinkRun<'_>) -> u64 {
        SharedRunner::run_link(self, stages, run)
    }

    fn shared(&self) -> Arc<dyn SharedRunner> {
        Arc::new(GeneralPath)
    }
}

impl SharedRunner for GeneralPath {
    fn run_host(&self, stages: &mut Stages, host: usize, limit: u64) {
        stages.hosts[host].run(&mut stages.net, &stages.local, limit);
    }

    fn run_link(&self, stages: &mut Stages, run: &LinkRun<'_>) -> u64 {
        let Stages { net, merge, .. } = stages;
        match net.links[run.link as usize] {
            Link::ClosedForm(_) => closed_form::run(net, merge, run, &mut IntoRings),
            Link::Queued(_) => queued::run::<EachPacket, _>(net, merge, run, &mut IntoRings),
        }
    }
}

/// The network while a link runs. The rings are separate from the rest, where every packet needs them.
pub struct RunningNet<'a> {
    /// The rest.
    pub net: &'a mut Net,
    /// The rings.
    pub rings: Slots<Ring>,
    /// Nothing that happens then or later may be done anywhere.
    pub stop: u64,
}

impl RunningNet<'_> {
    /// Puts a packet into a ring.
    #[inline(always)]
    pub fn put(&mut self, ring: u32, at: u64, [sent, sequence, rest]: [u64; 3]) {
        self.rings[ring as usize].push_words(at, sent, sequence, rest);
        self.net.note_arrival(ring, at);
    }
}

/// Where packets go that come out of a link.
pub trait Exit {
    /// Passes on a packet that reaches the end of the line before `ring` at `at`.
    fn put(&mut self, running: &mut RunningNet<'_>, ring: u32, at: u64, words: [u64; 3]);

    /// Asks for the memory into which [`Exit::put`] writes. What is at `depth` 1 is found in the memory of depth 0.
    #[inline(always)]
    fn prefetch(&self, net: &Net, ring: u32, depth: usize) {
        let _ = (net, ring, depth);
    }

    /// May let packets at the head of an input, whose first arrives at `first`, cross a link in closed form before any other
    /// input has its turn at `until`.
    fn take_burst(
        &mut self,
        running: &mut RunningNet<'_>,
        link: &mut ClosedForm,
        input: u32,
        first: u64,
        until: u64,
    ) -> Option<Burst>;
}

/// Packets of one input that came to a link in closed form one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Burst {
    /// How many, and how many of them carry no data.
    pub packets: u64,
    /// See `packets`.
    pub bare: u64,
    /// When the last came.
    pub last: u64,
}

/// Puts each packet into its ring.
pub struct IntoRings;

impl Exit for IntoRings {
    #[inline(always)]
    fn put(&mut self, running: &mut RunningNet<'_>, ring: u32, at: u64, words: [u64; 3]) {
        running.put(ring, at, words);
    }

    #[inline(always)]
    fn prefetch(&self, net: &Net, ring: u32, depth: usize) {
        let behind = &net.rings[ring as usize];
        if depth == 0 {
            prefetch(behind);
            prefetch(&net.owner[ring as usize]);
        } else {
            behind.prefetch_ends();
            net.prefetch_wake(ring);
        }
    }

    /// Lets packets cross that go into the same ring and were not lost before.
    #[inline(always)]
    fn take_burst(
        &mut self,
        running: &mut RunningNet<'_>,
        link: &mut ClosedForm,
        input: u32,
        _: u64,
        until: u64,
    ) -> Option<Burst> {
        /// What matters of a packet's size and flags as long as no limit is in sight.
        const KIND: u64 = 0xFFFF | ((BARE | LOST) as u64) << 16;
        let RunningNet { net, rings, .. } = running;
        let ring = link.next.of(rings[input as usize].first_channel()?);
        let [head, behind] = rings.get_disjoint_mut([input as usize, ring as usize])?;
        let mut burst = Burst::default();
        let mut first_out = u64::MAX;
        while let Some([at, sent, sequence, rest]) = head.first_words() {
            let (channel, kind) = ((sequence >> 32) as u32, rest >> 32);
            let (size, flags) = (kind as u32 & 0xFFFF, (kind >> 16) as u16);
            if at >= until || flags & LOST != 0 || link.next.of(channel) != ring {
                break;
            }
            let (time, entry) = (link.serial_time(size), PacketInRing::new(size, ring));
            if head.has_many_before(until) {
                let slots = head.first_slots();
                let places = behind.free_places();
                let alike = slots.iter().zip(&mut *places).map_while(|(words, place)| {
                    let [at, _, sequence, rest] = *words;
                    *place = *words;
                    let alike =
                        at < until && (sequence >> 32) as u32 == channel && (rest >> 32 ^ kind) & KIND == 0;
                    alike.then_some((at, &mut place[0]))
                });
                let crossed = link.cross_alike(time, entry, alike);
                if crossed > 0 {
                    burst.packets += crossed as u64;
                    burst.bare += crossed as u64 * u64::from(flags & BARE);
                    burst.last = slots[crossed - 1][0];
                    first_out = first_out.min(places[0][0]);
                    head.skip_all(crossed);
                    behind.extend(crossed);
                    continue;
                }
            }
            head.skip();
            burst.packets += 1;
            burst.bare += u64::from(flags & BARE);
            burst.last = at;
            let Some((departure, added)) = link.enqueue(at, time, entry, flags) else {
                net.drop_packet([at, sent, sequence, rest]);
                continue;
            };
            let (out, lost) = link.cross(departure);
            behind.push_words(out, sent, sequence, rest | u64::from(added | lost) << 48);
            first_out = first_out.min(out);
        }
        net.note_arrival(ring, first_out);
        (burst.packets > 0).then_some(burst)
    }
}

/// Begins to merge the inputs of a link. Returns whether a packet arrives before the limit.
pub fn begin_merge(net: &mut Net, merge: &mut Merge, inputs: &[u32], limit: u64) -> bool {
    merge.clear();
    let (Some(&first), Some(&last)) = (inputs.first(), inputs.last()) else { return merge.begin() };
    // The wake-up times of a link's inputs lie one behind the other.
    let wakes = |ring: u32| net.owner[ring as usize].wake as usize;
    let (begin, end) = (wakes(first), wakes(last) + 1);
    let wakes = Arc::clone(&net.wake);
    let wakes = wakes.get(begin..end).filter(|wakes| wakes.len() == inputs.len());
    for (input, &ring) in inputs.iter().enumerate() {
        let wake = wakes.map_or_else(|| net.input_wakes(ring), |wakes| wakes[input].load(Ordering::Relaxed));
        if wake >= limit {
            continue;
        }
        let at = net.rings[ring as usize].next_at();
        if at < limit {
            merge.push(at, net.turns[ring as usize], input as u32);
        } else {
            net.set_input_wakes(ring, at);
        }
    }
    merge.begin()
}

/// Asks for the memory that the first packets of the inputs need behind a link, when a merge of many inputs has begun.
pub fn prefetch_outputs(net: &Net, next: &NextRing, merge: &Merge, inputs: &[u32], exit: &impl Exit) {
    let NextRing::ByChannel(outputs) = next else { return };
    if merge.inputs().len() < MANY_INPUTS {
        return;
    }
    for depth in 0..2 {
        for input in merge.inputs() {
            if let Some(channel) = net.rings[inputs[input as usize] as usize].first_channel() {
                exit.prefetch(net, outputs[channel as usize], depth);
            }
        }
    }
}

/// Returns what a link's stage promises about itself when everything before `done` has been handled: what it still causes
/// looks from outside as if it happened at that time or later. Hands on what nothing can overtake any more.
pub fn quiet_until(net: &mut Net, link: u32, done: u64, smallest_packet: u32) -> u64 {
    let Link::Queued(state) = &mut net.links[link as usize] else { return done };
    let quiet = state.quiet_until(done, smallest_packet);
    let until = quiet.saturating_add(state.least_latency(smallest_packet));
    while let Link::Queued(state) = &mut net.links[link as usize]
        && let Some((at, words)) = state.release(until)
    {
        net.hand_on(link, at, words);
    }
    quiet
}

/// Returns the input rings, in the order in which simultaneous arrivals are handled.
fn in_order(inputs: &[u32]) -> std::borrow::Cow<'_, [u32]> {
    if fault::is(Fault::TiesTurned) { inputs.iter().rev().copied().collect() } else { inputs.into() }
}
