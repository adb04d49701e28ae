//! The stage of a link in closed form that several stages feed, or that feeds several: merges its inputs by time.

use super::{Exit, LinkRun, RunningNet, begin_merge, in_order, prefetch_outputs};
use crate::link::Link;
use crate::merge::Merge;
use crate::net::Net;
use cwnd_tcp::packet::{BARE, LOST, Packet};

/// Lets packets that arrive before the limit cross the link. Returns how many came.
pub fn run(net: &mut Net, merge: &mut Merge, run: &LinkRun<'_>, exit: &mut impl Exit) -> u64 {
    let LinkRun { limit, stop, .. } = *run;
    let inputs = in_order(run.inputs);
    if !begin_merge(net, merge, &inputs, limit) {
        return 0;
    }
    let mut state = std::mem::replace(&mut net.links[run.link as usize], Link::placeholder());
    let link = state.closed_form();
    prefetch_outputs(net, &link.next, merge, &inputs, exit);
    let rings = std::mem::take(&mut net.rings);
    let mut running = RunningNet { net, rings, stop };
    let (mut packets, mut bare) = (0, 0);
    while let Some(first) = merge.first() {
        let input = inputs[first.input as usize];
        // Stay with this input until another one comes first.
        let until = first.until.min(limit);
        let mut came = first.at;
        let next = loop {
            let at = running.rings[input as usize].next_at();
            if at >= until {
                break at;
            }
            if let Some(burst) = exit.take_burst(&mut running, link, input, at, until) {
                packets += burst.packets;
                bare += burst.bare;
                came = burst.last;
                continue;
            }
            let [_, sent, sequence, rest] = running.rings[input as usize].pop_words();
            came = at;
            let flags = (rest >> 48) as u16;
            if flags & LOST != 0 {
                running.net.end_of_line(input, &Packet::from_words([at, sent, sequence, rest]));
                continue;
            }
            packets += 1;
            bare += u64::from(flags & BARE);
            let (size, channel) = ((rest >> 32) as u32 & 0xFFFF, (sequence >> 32) as u32);
            match link.offer(at, size, channel, flags) {
                Some(verdict) => {
                    let rest = rest | u64::from(verdict.added) << 48;
                    exit.put(&mut running, verdict.ring, verdict.at, [sent, sequence, rest]);
                }
                None => running.net.drop_packet([at, sent, sequence, rest]),
            }
        };
        if next < limit {
            merge.go_on(came, next);
        } else {
            running.net.turns[input as usize] = merge.end(came);
            running.net.set_input_wakes(input, next);
        }
    }
    link.arrivals.packets += packets;
    link.arrivals.bare += bare;
    let RunningNet { net, rings, .. } = running;
    net.rings = rings;
    net.links[run.link as usize] = state;
    packets
}
