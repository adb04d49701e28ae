//! The stage of a link that keeps its queue.

use super::{Exit, LinkRun, RunningNet, begin_merge};
use crate::link::queued::{Dispatch, Outlet, QueuedLink, Service, Words};
use crate::link::{Arrivals, Link, NextRing};
use crate::merge::Merge;
use crate::net::Net;
use crate::ring::Ring;
use crate::slots::Slots;
use cwnd_link::{Limits, QueueDiscipline, QueueVisitor};
use cwnd_tcp::packet::{BARE, LOST, Packet};
use std::marker::PhantomData;

/// Lets what happens in a run of a link happen. Returns how many packets came, or left if those are more.
pub fn run<D: Dispatch, E: Exit>(net: &mut Net, merge: &mut Merge, run: &LinkRun<'_>, exit: &mut E) -> u64 {
    begin_merge(net, merge, run.inputs, run.limit);
    let Link::Queued(mut link) = std::mem::replace(&mut net.links[run.link as usize], Link::placeholder())
    else {
        unreachable!("the link keeps its queue")
    };
    let rings = std::mem::take(&mut net.rings);
    let running = RunningNet { net, rings, stop: run.stop };
    let QueuedLink { queue, service, next, arrivals, full_packet } = &mut *link;
    let outlet = Behind { running, next, exit };
    let full = u64::from(*full_packet);
    let handle = Handle { service, outlet, merge, run, arrivals, full, dispatch: PhantomData::<D> };
    let (handled, rings) = queue.visit(handle);
    net.rings = rings;
    net.links[run.link as usize] = Link::Queued(link);
    handled
}

/// The stage behind a link.
struct Behind<'a, E> {
    running: RunningNet<'a>,
    next: &'a NextRing,
    exit: &'a mut E,
}

impl<E: Exit> Outlet for Behind<'_, E> {
    #[inline(always)]
    fn put(&mut self, at: u64, words: Words) {
        let ring = self.next.of((words[1] >> 32) as u32);
        self.exit.put(&mut self.running, ring, at, words);
    }

    fn drop_packet(&mut self, [sent, sequence, rest]: Words) {
        self.running.net.drop_packet([0, sent, sequence, rest]);
    }

    fn copy_packet(&mut self, words: Words) -> Words {
        self.running.net.copy_packet(words)
    }

    #[inline(always)]
    fn stop(&self) -> u64 {
        self.running.stop
    }
}

/// Handles packets, for any discipline.
struct Handle<'a, 'b, D, E> {
    service: &'a mut Service,
    outlet: Behind<'b, E>,
    merge: &'a mut Merge,
    run: &'a LinkRun<'a>,
    arrivals: &'a mut Arrivals,
    /// The high half of the last word of a full data packet without flags.
    full: u64,
    dispatch: PhantomData<D>,
}

impl<S: Dispatch, E: Exit> QueueVisitor<Words> for Handle<'_, '_, S, E> {
    type Answer = (u64, Slots<Ring>);

    fn visit<D: QueueDiscipline<Words>>(self, queue: &mut D, limits: &Limits) -> Self::Answer {
        let Handle { service, mut outlet, merge, run, arrivals, full, .. } = self;
        let &LinkRun { inputs, limit, stop, .. } = run;
        service.put_on_line(&mut outlet);
        let mut dispatch = S::begin(service, stop);
        let leaves_first = u64::from(service.leaves_before_arrivals());
        let (mut left, mut arrived, mut bare, mut lost) = (0, 0, 0, 0);
        while let Some(first) = merge.first() {
            let ring = inputs[first.input as usize];
            // Stay with this input until another one comes first.
            let until = first.until.min(limit);
            let mut came = first.at;
            let next = loop {
                let input = &mut outlet.running.rings[ring as usize];
                let at = input.next_at();
                if at >= until {
                    break at;
                }
                let [_, sent, sequence, rest] = input.pop_words();
                came = at;
                left += service.advance(queue, &mut dispatch, at + leaves_first, &mut outlet);
                let is_full = rest >> 32 == full;
                if !is_full {
                    let flags = (rest >> 48) as u16;
                    if flags & LOST != 0 {
                        let packet = Packet::from_words([at, sent, sequence, rest]);
                        outlet.running.net.end_of_line(ring, &packet);
                        lost += 1;
                        continue;
                    }
                    bare += u64::from(flags & BARE);
                }
                arrived += 1;
                let words = [sent, sequence, rest];
                service.arrive(queue, limits, &mut dispatch, at, words, is_full, &mut outlet);
            };
            if next < limit {
                merge.go_on(came, next);
            } else {
                outlet.running.net.turns[ring as usize] = merge.end(came);
                outlet.running.net.set_input_wakes(ring, next);
            }
        }
        left += service.advance(queue, &mut dispatch, stop.min(limit + leaves_first), &mut outlet);
        dispatch.end(service);
        arrivals.packets += arrived;
        arrivals.bare += bare;
        (arrived.max(left) + lost, outlet.running.rings)
    }
}
