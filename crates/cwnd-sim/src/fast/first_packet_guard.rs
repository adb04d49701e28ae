//! The first-packet guard: when zero-queue links hold for a stack whose first packets are short.
//!
//! A short first packet is acknowledged sooner than a full one, so its ACK may meet others on a link that has no queue
//! otherwise. While none is under way anywhere, the distances hold. Such links are therefore opened when every flow that
//! has sent anything is past its first segment, and closed before the next flow begins. Both happen where everything before
//! a time is done and nothing at it or later, as a live change does.
//!
//! The guard is used only where packets never overtake each other. If something is acknowledged that was sent after the
//! first segment was known to have arrived, no copy of that segment is under way any more.

use super::inline_receiver::InlineReceiver;
use super::zero_queue::ZeroQueueLinks;
use crate::stage::Stages;
use cwnd_tcp::NEVER;

/// The shortest pause between flows' first packets for which links are opened, and the shortest time between two checks, ns.
const LEAST_PAUSE: u64 = 2_000_000;
/// The longest time between two checks, ns.
const LONGEST_WAIT: u64 = 128_000_000;

/// When zero-queue links are open.
#[derive(Debug, Default)]
pub struct FirstPacketGuard {
    /// Flows that are not known to be past their first segments, and the segment that must be acknowledged for that, once
    /// it is known.
    waiting: Vec<(usize, Option<u64>)>,
    open: bool,
    /// The next check.
    at: u64,
    wait: u64,
}

impl FirstPacketGuard {
    /// Creates the guard of this many flows.
    pub fn new(flows: usize) -> FirstPacketGuard {
        let waiting = (0..flows).map(|flow| (flow, None)).collect();
        FirstPacketGuard { waiting, open: false, at: 0, wait: LEAST_PAUSE }
    }

    /// Returns when to call [`FirstPacketGuard::check`] next.
    pub fn next_check(&self) -> u64 {
        self.at
    }

    /// Opens or closes the links. Everything before `now` is done.
    pub fn check(
        &mut self,
        now: u64,
        stages: &mut Stages,
        links: &ZeroQueueLinks,
        receivers: &mut [InlineReceiver],
    ) {
        if self.open {
            self.open = false;
            self.wait = LEAST_PAUSE;
            links.set_open(false, receivers, &stages.net);
        }
        self.at = now + self.wait;
        self.wait = (2 * self.wait).min(LONGEST_WAIT);
        let mut next = NEVER;
        let mut under_way = false;
        self.waiting.retain_mut(|(flow, mark)| {
            let sender = stages.sender(*flow);
            if sender.counts.sent == 0 {
                // It receives nothing before it sends, and only a timer makes it send.
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
        // No packet may meet one that is still in transmission.
        let free = links.free_at(&mut stages.net);
        if free > now {
            self.at = free;
            return;
        }
        self.open = true;
        self.at = next;
        links.set_open(true, receivers, &stages.net);
    }
}
