//! The stage of a link that keeps its queue: what it takes from its inputs, and what it hands on.

use super::{NEVER, Online, Service, Words};
use crate::fault::{self, Fault};
use crate::host::Host;
use crate::link::Link;
use crate::merge::Merge;
use crate::net::Net;
use crate::ring::Ring;
use crate::shortcut::Echo;
use cwnd_link::{Limits, QueueDiscipline, QueueVisitor};
use cwnd_scenario::Counting;
use cwnd_tcp::packet::{BARE, LOST, Packet};

/// What a link needs beside its queue and what serves it.
pub struct Outside<'a> {
    net: &'a mut Net,
    hosts: &'a mut [Host],
    /// For each ring, the shortcut that may stand for the host behind it.
    echoes: &'a mut [Echo],
    /// The link's number.
    link: u32,
    /// Nothing that happens then or later may be done.
    stop: u64,
    /// The rest of the link's state, and all rings: held here, so that they need not be looked for at every packet.
    state: Link,
    rings: Vec<Ring>,
    /// The high half of the last word of a full packet without flags.
    ordinary: u64,
    /// Rings whose echoes are active.
    active: Vec<u32>,
}

impl<'a> Outside<'a> {
    /// For a link in a run up to `stop`.
    fn new(
        net: &'a mut Net,
        hosts: &'a mut [Host],
        echoes: &'a mut [Echo],
        link: u32,
        stop: u64,
    ) -> Outside<'a> {
        let state = std::mem::replace(&mut net.links[link as usize], Link::placeholder());
        let rings = std::mem::take(&mut net.rings);
        let ordinary = u64::from(state.full_packet().0);
        Outside { net, hosts, echoes, link, stop, state, rings, ordinary, active: Vec::new() }
    }

    /// Nothing that happens then or later may be done.
    #[inline(always)]
    pub(super) fn stop(&self) -> u64 {
        self.stop
    }

    /// Put a packet where its channel goes from the link.
    #[inline(always)]
    pub(super) fn put(&mut self, at: u64, words: Words) {
        let [sent, sequence, rest] = words;
        let out = self.state.ring_of((sequence >> 32) as u32);
        let echo = &mut self.echoes[out as usize];
        if echo.is_active()
            && rest >> 32 == self.ordinary
            && let Some(ack) = echo.answer(at, sent, sequence as u32)
        {
            self.rings[ack.ring as usize].push_words(ack.at, sent, ack.sequence, ack.rest);
        } else if echo.is_possible() {
            self.put_before_echo(at, sent, sequence, rest, out);
        } else {
            self.rings[out as usize].push_words(at, sent, sequence, rest);
            self.net.note_arrival(out, at);
        }
    }

    /// Put a packet before a host that an echo may stand for, and does not or cannot any more; see `merging.rs`.
    #[inline(never)]
    fn put_before_echo(&mut self, at: u64, sent: u64, sequence: u64, rest: u64, out: u32) {
        let echo = &mut self.echoes[out as usize];
        if !echo.is_active() {
            // While packets wait before the host, only now and then ask whether it has become ordinary.
            if self.rings[out as usize].len().is_multiple_of(8) && at < self.stop {
                std::mem::swap(&mut self.net.rings, &mut self.rings);
                let active = echo.begin(self.net, self.hosts, self.stop);
                std::mem::swap(&mut self.net.rings, &mut self.rings);
                if active {
                    self.active.push(out);
                }
            }
            if echo.is_active()
                && rest >> 32 == self.ordinary
                && let Some(ack) = echo.answer(at, sent, sequence as u32)
            {
                self.rings[ack.ring as usize].push_words(ack.at, sent, ack.sequence, ack.rest);
                return;
            }
        }
        if echo.is_active() {
            echo.end(&mut self.net.links, &mut self.net.turns, self.hosts);
        }
        self.rings[out as usize].push_words(at, sent, sequence, rest);
        self.net.note_arrival(out, at);
    }

    /// A packet is dropped.
    pub(super) fn bury_words(&mut self, [sent, sequence, rest]: Words) {
        self.net.bury_words([0, sent, sequence, rest]);
    }

    /// A copy of a packet.
    pub(super) fn copy_words(&mut self, words: Words) -> Words {
        self.net.copy_words(words)
    }

    /// A packet that was lost on its line has come to the end of it.
    #[cold]
    #[inline(never)]
    fn end_of_line(&mut self, ring: u32, words: [u64; 4]) {
        std::mem::swap(&mut self.net.links[self.link as usize], &mut self.state);
        self.net.end_of_line(ring, &Packet::from_words(words));
        std::mem::swap(&mut self.net.links[self.link as usize], &mut self.state);
    }

    /// The link rests: hosts are told what echoes did for them, and all is given back.
    fn end(mut self, online: Box<Online>) {
        self.state.online = Some(online);
        self.net.links[self.link as usize] = self.state;
        self.net.rings = self.rings;
        for ring in self.active {
            let echo = &mut self.echoes[ring as usize];
            if echo.is_active() {
                echo.end(&mut self.net.links, &mut self.net.turns, self.hosts);
            }
            let answers = echo.answers();
            self.net.note_arrival(answers, self.net.rings[answers as usize].next_at());
        }
    }
}

/// A link's turn.
pub struct Turn<'a> {
    /// The link.
    pub link: u32,
    /// Its input rings, in the order in which simultaneous arrivals are handled. None: nothing comes before the limit.
    pub inputs: &'a [u32],
    /// What arrives before this is handled, and what leaves then or before: at the limit itself transmissions still
    /// end, unless the run stops there, since what arrives then comes after them.
    pub limit: u64,
    /// Nothing that happens then or later may be done anywhere.
    pub stop: u64,
}

/// Let what happens in a link's turn happen. Answers how many packets came, or left if those are more.
pub fn run(
    net: &mut Net,
    hosts: &mut [Host],
    echoes: &mut [Echo],
    merge: &mut Merge,
    turn: &Turn<'_>,
) -> u64 {
    merge.clear();
    for (input, &ring) in turn.inputs.iter().enumerate() {
        let at = net.rings[ring as usize].next_at();
        if at < turn.limit {
            merge.push(at, net.turns[ring as usize], input as u32);
        }
    }
    merge.begin();
    let Some(mut online) = net.links[turn.link as usize].online.take() else { return 0 };
    let mut outside = Outside::new(net, hosts, echoes, turn.link, turn.stop);
    let Online { queue, service } = &mut *online;
    let handled = queue.visit(Handle { service, outside: &mut outside, merge, turn });
    outside.end(online);
    handled
}

/// Handles packets, for any discipline.
struct Handle<'a, 'b> {
    service: &'a mut Service,
    outside: &'a mut Outside<'b>,
    merge: &'a mut Merge,
    turn: &'a Turn<'a>,
}

impl QueueVisitor<Words> for Handle<'_, '_> {
    type Answer = u64;

    fn visit<D: QueueDiscipline<Words>>(self, queue: &mut D, limits: &Limits) -> u64 {
        let Handle { service, outside, merge, turn: &Turn { inputs, limit, stop, .. } } = self;
        service.put_on_line(outside);
        let mut pace = service.pace(stop);
        // Whether what leaves as a packet arrives, or at the limit, has left; see `Service::leaves`.
        let leaves_first =
            u64::from(service.counting == Counting::WaitingOnly || fault::is(Fault::AsksTooEarly));
        let (mut left, mut arrived, mut bare, mut ended) = (0, 0, 0, 0);
        while let Some(first) = merge.first() {
            let ring = inputs[first.input as usize];
            // Stay with this input until the runner-up comes first.
            let until = first.until.min(limit);
            let mut came = first.at;
            let next = loop {
                let input = &mut outside.rings[ring as usize];
                let at = input.next_at();
                if at >= until {
                    break at;
                }
                let [_, sent, sequence, rest] = input.pop_words();
                came = at;
                left += service.go_on(queue, &mut pace, at + leaves_first, outside);
                let words = [sent, sequence, rest];
                let ordinary = rest >> 32 == outside.ordinary;
                if !ordinary {
                    let flags = (rest >> 48) as u16;
                    if flags & LOST != 0 {
                        outside.end_of_line(ring, [at, sent, sequence, rest]);
                        ended += 1;
                        continue;
                    }
                    bare += u64::from(flags & BARE);
                }
                arrived += 1;
                service.arrive(queue, limits, &mut pace, at, words, ordinary, outside);
            };
            if next < limit {
                merge.go_on(came, next);
            } else {
                outside.net.turns[ring as usize] = merge.end(came);
            }
        }
        left += service.go_on(queue, &mut pace, stop.min(limit + leaves_first), outside);
        service.settle(&pace);
        outside.state.arrived += arrived;
        outside.state.bare += bare;
        arrived.max(left) + ended
    }
}

/// A link has handled everything before `done`: a time at which a packet of `smallest` bytes, the smallest there can be,
/// would have to come to an idle link for the earliest packet that has not been handed on. If the one in transmission has been,
/// that one does not begin before it has left. All that comes out before that one is handed on.
pub fn quiet_until(net: &mut Net, link: u32, done: u64, smallest: u32) -> u64 {
    let Some(mut state) = net.links[link as usize].online.take() else { return done };
    let quiet = match state.service.leaves {
        NEVER => done,
        leaves if state.service.sending.is_none() => leaves.max(done),
        _ if fault::is(Fault::PromisesTooMuch) => done,
        leaves => leaves.saturating_sub(state.service.transmitter.least_time(smallest)),
    };
    if !state.service.overtaking.is_empty() {
        let until = quiet.saturating_add(state.least_latency(smallest));
        state.release(until, net, link);
    }
    net.links[link as usize].online = Some(state);
    quiet
}

impl Online {
    /// Let go what nothing can overtake any more.
    fn release(&mut self, until: u64, net: &mut Net, link: u32) {
        while let Some(first) = self.service.overtaking.peek()
            && first.0.0 <= until
            && let Some(std::cmp::Reverse((at, _, words))) = self.service.overtaking.pop()
        {
            net.hand_on(link, at, words);
        }
    }
}
