//! The stage of a link that keeps its queue: what it takes from its inputs, and what it hands on.

use super::{NEVER, Online, Words};
use crate::fault::{self, Fault};
use crate::host::Host;
use crate::merge::{Key, Merge};
use crate::net::Net;
use crate::packet::{BARE, LOST, Packet};
use crate::shortcut::Echo;

/// What a link needs beside its state.
pub struct Outside<'a> {
    /// All that is shared.
    pub net: &'a mut Net,
    /// The hosts, for echoes.
    pub hosts: &'a mut [Host],
    /// For each ring, the shortcut that may stand for the host behind it.
    pub echoes: &'a mut [Echo],
    /// The link.
    pub link: u32,
    /// Nothing that happens then or later may be done.
    pub stop: u64,
    /// Rings whose echoes are active.
    active: Vec<u32>,
}

impl<'a> Outside<'a> {
    /// For a link in a run up to `stop`.
    pub fn new(
        net: &'a mut Net,
        hosts: &'a mut [Host],
        echoes: &'a mut [Echo],
        link: usize,
        stop: u64,
    ) -> Self {
        Outside { net, hosts, echoes, link: link as u32, stop, active: Vec::new() }
    }

    /// Put a packet where its channel goes from the link.
    #[inline]
    pub(super) fn put(&mut self, at: u64, words: Words) {
        let out = self.net.links[self.link as usize].ring_of((words[1] >> 32) as u32);
        if !self.echoes[out as usize].is_possible() || !self.is_answered(at, words, out) {
            self.net.put(out, at, words);
        }
    }

    /// Whether the echo that may stand for the host behind a ring answers a packet at once; see `merging.rs`.
    #[inline]
    fn is_answered(&mut self, at: u64, [sent, sequence, rest]: Words, out: u32) -> bool {
        let echo = &mut self.echoes[out as usize];
        // While packets wait before the host, only now and then ask whether it has become ordinary.
        if !echo.is_active() {
            let asks = self.net.rings[out as usize].len().is_multiple_of(8) && at < self.stop;
            if !asks || !echo.begin(self.net, self.hosts, self.stop) {
                return false;
            }
            self.active.push(out);
        }
        let (full, _) = self.net.links[self.link as usize].full_packet();
        if rest >> 32 == u64::from(full)
            && let Some(ack) = echo.answer(at, sent, sequence as u32)
        {
            self.net.rings[ack.ring as usize].push_words(ack.at, sent, ack.sequence, ack.rest);
            return true;
        }
        echo.end(&mut self.net.links, self.hosts);
        false
    }

    /// The link rests: hosts are told what echoes did for them.
    fn end_echoes(&mut self) {
        for ring in std::mem::take(&mut self.active) {
            let echo = &mut self.echoes[ring as usize];
            if echo.is_active() {
                echo.end(&mut self.net.links, self.hosts);
            }
            let answers = echo.answers();
            self.net.note_arrival(answers, self.net.rings[answers as usize].next_at());
        }
    }
}

/// Let what happens before `limit` happen: what arrives before it from `inputs` (in the order in which simultaneous
/// arrivals are handled), and what leaves then or before. Answers how many packets came and left.
pub fn run(mut outside: Outside<'_>, merge: &mut Merge, inputs: &[u32], limit: u64) -> u64 {
    let link = outside.link as usize;
    let Some(mut state) = outside.net.links[link].online.take() else { return 0 };
    merge.clear();
    for (input, &ring) in inputs.iter().enumerate() {
        let at = outside.net.rings[ring as usize].next_at();
        if at < limit {
            merge.push(Key { at, input: input as u32 });
        }
    }
    let mut handled = 0;
    while let Some((first, second)) = merge.first_two() {
        let ring = inputs[first.input as usize] as usize;
        // Stay with this input until the runner-up comes first.
        let until = second.at.saturating_add(u64::from(first.input < second.input)).min(limit);
        let next = loop {
            let at = outside.net.rings[ring].next_at();
            if at >= until {
                break at;
            }
            let asks_too = u64::from(fault::is(Fault::AsksTooEarly));
            handled += state.go_on(at, at + asks_too, &mut outside) + 1;
            let [_, sent, sequence, rest] = outside.net.rings[ring].pop_words();
            let flags = (rest >> 48) as u16;
            if flags & LOST != 0 {
                outside.net.end_of_line(ring as u32, &Packet::from_words([at, sent, sequence, rest]));
                continue;
            }
            let counts = &mut outside.net.links[link];
            counts.arrived += 1;
            counts.bare += u64::from(flags & BARE);
            state.arrive(at, [sent, sequence, rest], &mut outside);
        };
        if next < limit {
            merge.replace_first(Key { at: next, input: first.input });
        } else {
            merge.pop_first();
        }
    }
    outside.net.links[link].online = Some(state);
    handled + go_on(outside, limit)
}

/// Nothing more comes to a link before `limit`: do what happens by itself. Answers how many packets left.
///
/// At the limit itself transmissions still end, unless the run stops there: what arrives then comes after them.
pub fn go_on(mut outside: Outside<'_>, limit: u64) -> u64 {
    let link = outside.link as usize;
    let Some(mut state) = outside.net.links[link].online.take() else { return 0 };
    let leave_by = if limit < outside.stop { limit } else { outside.stop - 1 };
    let left = state.go_on(leave_by, limit, &mut outside);
    outside.net.links[link].online = Some(state);
    outside.end_echoes();
    left
}

/// A link has handled everything before `done`: a time at which a packet of `smallest` bytes, the smallest there can be,
/// would have to come to an idle link for the earliest packet that has not been handed on. All that comes out
/// before that one is handed on.
pub fn quiet_until(net: &mut Net, link: u32, done: u64, smallest: u32) -> u64 {
    let Some(mut state) = net.links[link as usize].online.take() else { return done };
    let quiet = match state.leaves {
        NEVER => done,
        _ if fault::is(Fault::PromisesTooMuch) => done,
        leaves => leaves.saturating_sub(state.transmitter.least_time(smallest)),
    };
    if !state.overtaking.is_empty() {
        let until = quiet.saturating_add(state.least_latency(smallest));
        state.release(until, net, link);
    }
    net.links[link as usize].online = Some(state);
    quiet
}

impl Online {
    /// Let go what nothing can overtake any more.
    fn release(&mut self, until: u64, net: &mut Net, link: u32) {
        while let Some(first) = self.overtaking.peek()
            && first.0.0 <= until
            && let Some(std::cmp::Reverse((at, _, words))) = self.overtaking.pop()
        {
            net.hand_on(link, at, words);
        }
    }
}
