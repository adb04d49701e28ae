//! Transparent links of a stack whose first packets are short (see `shortcut.rs`).
//!
//! A short first packet is answered sooner than a full one, so that its ACK may meet others on a link that is
//! transparent otherwise. While none is under way anywhere, the distances hold. So time is divided: such a link is opened
//! when every flow that has sent anything is past its first segment, and closed before the next flow begins. Both happen
//! where everything before a time is done and nothing at it or later, as a live change does.
//!
//! Nothing overtakes where this is done at all. So when something is acknowledged that was sent after the first segment
//! was known to have arrived, no copy of that is under way any more.

use crate::net::Net;
use crate::shortcut::{self, Echo, Transparent};
use cwnd_tcp::{NEVER, Sender};

/// A pause between flows' first packets pays off if it is so long, ns; and looks for one are so far apart at least.
const LEAST_PAUSE: u64 = 2_000_000;
/// Looks are so far apart at most, ns.
const MOST_PATIENCE: u64 = 128_000_000;

/// When links may be transparent.
#[derive(Debug, Default)]
pub struct Opening {
    links: Vec<Transparent>,
    /// Flows that are not known to be past their first segments, and what must be acknowledged for that, once it is known.
    waiting: Vec<(usize, Option<u64>)>,
    open: bool,
    /// To be looked at then, when all before is done.
    at: u64,
    patience: u64,
}

impl Opening {
    /// Links that would be transparent but for the first packets of so many flows.
    pub fn new(links: Vec<Transparent>, flows: usize) -> Opening {
        let at = if links.is_empty() { NEVER } else { 0 };
        let waiting = (0..flows).map(|flow| (flow, None)).collect();
        Opening { links, waiting, open: false, at, patience: LEAST_PAUSE }
    }

    /// When to call [`Opening::look`] next.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// All before `now` is done: open or close the links.
    pub fn look<'a>(
        &mut self,
        now: u64,
        net: &mut Net,
        echoes: &mut [Echo],
        sender: impl Fn(usize) -> &'a Sender,
    ) {
        if self.open {
            self.open = false;
            self.patience = LEAST_PAUSE;
            shortcut::close(&self.links, echoes, net);
        }
        self.at = now + self.patience;
        self.patience = (2 * self.patience).min(MOST_PATIENCE);
        let mut next = NEVER;
        let mut under_way = false;
        self.waiting.retain_mut(|(flow, mark)| {
            let sender = sender(*flow);
            if sender.counts.sent == 0 {
                // Without packets it hears of nothing, and only a timer makes it send.
                next = next.min(sender.deadline());
                return true;
            }
            let arrived = sender.acknowledged();
            if arrived > 0 && mark.is_none() {
                *mark = Some(if sender.counts.retransmissions == 0 { 0 } else { sender.next_segment() });
            }
            let past = mark.is_some_and(|mark| arrived > mark);
            under_way |= !past;
            !past
        });
        if under_way || next < now.saturating_add(LEAST_PAUSE) {
            return;
        }
        // What is still in transmission must not be met.
        let free = self.links.iter().map(|transparent| net.links[transparent.link].free_at()).max();
        if let Some(free) = free.filter(|&free| free > now) {
            self.at = free;
            return;
        }
        self.open = true;
        self.at = next;
        shortcut::open(&self.links, echoes, net);
    }

    /// No link may be transparent any more.
    pub fn end(&mut self) {
        *self = Opening::new(Vec::new(), 0);
    }
}
