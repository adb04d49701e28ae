//! A link that several stages feed, or that feeds several: it merges its inputs in order of time.

use crate::fault::{self, Fault};
use crate::host::Host;
use crate::link::{Link, Packed};
use crate::merge::Merge;
use crate::net::Net;
use crate::ring::Ring;
use crate::shortcut::Echo;
use cwnd_tcp::packet::{BARE, LOST, Packet};

/// What is needed beside the network to run a merging link.
pub struct Run<'a> {
    /// The link.
    pub link: u32,
    /// Its input rings, in the order in which simultaneous arrivals are handled.
    pub inputs: &'a [u32],
    /// Handle everything before this.
    pub limit: u64,
    /// Nothing that happens then or later may be done anywhere.
    pub stop: u64,
}

/// Let what arrives at a link before `run.limit` cross it. Returns how many packets came.
pub fn run(net: &mut Net, hosts: &mut [Host], echoes: &mut [Echo], merge: &mut Merge, run: &Run<'_>) -> u64 {
    let Run { link, inputs, limit, stop } = *run;
    let turned: Vec<u32>;
    let inputs = if fault::is(Fault::TiesTurned) {
        turned = inputs.iter().rev().copied().collect();
        &turned
    } else {
        inputs
    };
    merge.clear();
    for (input, &ring) in inputs.iter().enumerate() {
        let at = net.rings[ring as usize].next_at();
        if at < limit {
            merge.push(at, net.turns[ring as usize], input as u32);
        }
    }
    if !merge.begin() {
        return 0;
    }
    let mut state = std::mem::replace(&mut net.links[link as usize], Link::placeholder());
    let mut active = Vec::new();
    let transparent = state.transparent || fault::is(Fault::AllTransparent);
    // The rings are held here, so that they need not be looked for at every packet; who else needs them
    // gets them back meanwhile.
    let mut rings = std::mem::take(&mut net.rings);
    let (lossy, usual) = (state.loses(), !transparent);
    let (full, full_time) = state.full_packet();
    let ordinary = u64::from(full);
    let (mut packets, mut bare) = (0, 0);
    while let Some(first) = merge.first() {
        let ring = inputs[first.input as usize];
        // Stay with this input until the runner-up comes first.
        let until = first.until.min(limit);
        let mut came = first.at;
        let next = loop {
            let input = &rings[ring as usize];
            let at = input.next_at();
            if at >= until {
                break at;
            }
            // One packet alone is as well off without this.
            if until - at > full_time
                && let Some(channel) = input.first_channel()
                && usual
                && let out = state.ring_of(channel)
                && let echo = &mut echoes[out as usize]
                && echo.is_active()
            {
                let both = [ring as usize, echo.answers() as usize];
                let [input, answers] = rings.get_disjoint_mut(both).expect("nobody answers himself");
                let crossing = Crossing { link: &mut state, echo, channel, out, until, came: &mut came };
                let (crossed, odd) = crossing.run(input, answers, net);
                packets += crossed;
                if let Some([way, sent, sequence, rest]) = odd {
                    echo.end(&mut net.links, &mut net.turns, hosts);
                    rings[out as usize].push_words(way, sent, sequence, rest);
                    net.note_arrival(out, way);
                    continue;
                }
                if crossed > 0 {
                    continue;
                }
            }
            let [_, sent, sequence, mut rest] = rings[ring as usize].pop_words();
            came = at;
            let channel = (sequence >> 32) as u32;
            let out = state.ring_of(channel);
            let way;
            if rest >> 32 == ordinary && usual {
                // A full data packet without flags.
                packets += 1;
                match state.offer_packed(at, full_time, Packed::new(full, out), 0) {
                    Some((departure, _)) => way = state.out_at(departure),
                    None => {
                        net.bury_words([at, sent, sequence, rest]);
                        continue;
                    }
                }
                if lossy {
                    rest |= u64::from(state.lose()) << 48;
                }
            } else {
                let flags = (rest >> 48) as u16;
                if flags & LOST != 0 {
                    net.end_of_line(ring, &Packet::from_words([at, sent, sequence, rest]));
                    continue;
                }
                packets += 1;
                bare += u64::from(flags & BARE);
                let size = (rest >> 32) as u32 & 0xFFFF;
                if transparent {
                    let at = state.pass_transparent(at, size, out);
                    rings[out as usize].push_words(at, sent, sequence, rest);
                    net.note_arrival(out, at);
                    continue;
                }
                match state.offer(at, size, channel, flags) {
                    Some(taken) => (way, rest) = (taken.at, rest | u64::from(taken.added) << 48),
                    None => {
                        net.bury_words([at, sent, sequence, rest]);
                        continue;
                    }
                }
            }
            let echo = &mut echoes[out as usize];
            if echo.is_possible() {
                // While packets wait before the host, only now and then ask whether it has become ordinary.
                if !echo.is_active() && rings[out as usize].len().is_multiple_of(8) && way < stop {
                    net.rings = rings;
                    if echo.begin(net, hosts, stop) {
                        active.push(out);
                    }
                    rings = std::mem::take(&mut net.rings);
                }
                if echo.is_active() {
                    if rest >> 32 == ordinary
                        && let Some(ack) = echo.answer(way, sent, sequence as u32)
                    {
                        rings[ack.ring as usize].push_words(ack.at, sent, ack.sequence, ack.rest);
                        continue;
                    }
                    echo.end(&mut net.links, &mut net.turns, hosts);
                }
            }
            rings[out as usize].push_words(way, sent, sequence, rest);
            net.note_arrival(out, way);
        };
        if next < limit {
            merge.go_on(came, next);
        } else {
            net.turns[ring as usize] = merge.end(came);
        }
    }
    net.rings = rings;
    for ring in active {
        let echo = &mut echoes[ring as usize];
        if echo.is_active() {
            echo.end(&mut net.links, &mut net.turns, hosts);
        }
        let answers = echo.answers();
        net.note_arrival(answers, net.rings[answers as usize].next_at());
    }
    state.arrived += packets;
    state.bare += bare;
    net.links[link as usize] = state;
    packets
}

/// Full packets of one channel that cross the link, are answered at once, and come back as ACKs.
struct Crossing<'a> {
    link: &'a mut Link,
    echo: &'a mut Echo,
    channel: u32,
    /// The ring that its packets go into.
    out: u32,
    /// They come before this.
    until: u64,
    /// When the last one came.
    came: &'a mut u64,
}

impl Crossing<'_> {
    /// Let them cross, up to the first packet that is not of this kind. Answers how many crossed; the last of them,
    /// as it comes out, if it is not answered at once after all.
    #[inline(always)]
    fn run(self, input: &mut Ring, answers: &mut Ring, net: &mut Net) -> (u64, Option<[u64; 4]>) {
        let Crossing { link, echo, channel, out, until, came } = self;
        let (full, time) = link.full_packet();
        let what = Packed::new(full, out);
        let lossy = link.loses();
        let mut packets = 0;
        while let Some([at, sent, sequence, mut rest]) = input.first_words() {
            if at >= until || rest >> 32 != u64::from(full) || (sequence >> 32) as u32 != channel {
                break;
            }
            input.skip();
            *came = at;
            packets += 1;
            let Some((departure, _)) = link.offer_packed(at, time, what, 0) else {
                net.bury_words([at, sent, sequence, rest]);
                continue;
            };
            let way = link.out_at(departure);
            if lossy {
                rest |= u64::from(link.lose()) << 48;
            }
            if rest >> 32 == u64::from(full)
                && let Some(ack) = echo.answer(way, sent, sequence as u32)
            {
                answers.push_words(ack.at, sent, ack.sequence, ack.rest);
            } else {
                return (packets, Some([way, sent, sequence, rest]));
            }
        }
        (packets, None)
    }
}
