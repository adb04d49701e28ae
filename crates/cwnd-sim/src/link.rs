//! Links: a queue, a transmitter and a line.
//!
//! A drop-tail queue before a constant rate, or one that changes in distant steps, has a [closed form](ClosedForm): the departure
//! of a packet is known when the packet arrives, and so are its loss and its jitter. Every other link is a [`QueuedLink`], which
//! keeps its packets and decides when they leave.

pub mod closed_form;
mod draws;
pub mod queued;

pub use closed_form::{Change, ClosedForm, PacketInRing, Steps};
pub use queued::QueuedLink;

use crate::ring::Ring;
use cwnd_scenario::Time;

/// A link.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // hosts touch links in closed form for every packet: no indirection there
pub enum Link {
    /// A drop-tail queue at a constant rate or with distant steps, or before a line with jitter on which nothing overtakes.
    ClosedForm(ClosedForm),
    /// Any other link.
    Queued(Box<QueuedLink>),
}

/// Where packets go from a link.
#[derive(Clone, Debug)]
pub enum NextRing {
    /// All into one ring.
    One(u32),
    /// By channel.
    ByChannel(Box<[u32]>),
}

/// The ring number of a channel that does not cross the link.
pub const NOWHERE: u32 = u32::MAX;

impl NextRing {
    /// Returns the ring for a channel's packets.
    #[inline(always)]
    pub fn of(&self, channel: u32) -> u32 {
        match self {
            NextRing::One(ring) => *ring,
            NextRing::ByChannel(rings) => rings[channel as usize],
        }
    }

    /// Returns the ring that all packets go into, if there is only one.
    pub fn only(&self) -> Option<u32> {
        match self {
            NextRing::One(ring) => Some(*ring),
            NextRing::ByChannel(_) => None,
        }
    }

    /// Returns every ring that packets go into, once each.
    pub fn all(&self) -> Vec<u32> {
        let mut rings = match self {
            NextRing::One(ring) => vec![*ring],
            NextRing::ByChannel(rings) => rings.to_vec(),
        };
        rings.sort_unstable();
        rings.dedup();
        rings.retain(|&ring| ring != NOWHERE);
        rings
    }
}

/// Counts of the packets that came to a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrivals {
    /// All packets.
    pub packets: u64,
    /// Packets without data.
    pub bare: u64,
}

/// Counts of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Packets that came, ACKs and data.
    pub arrived: u64,
    /// Data packets among them.
    pub data_arrived: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets marked.
    pub marked: u64,
    /// Copies that the line made.
    pub copied: u64,
    /// Most packets that waited at once.
    pub max_waiting: u64,
}

impl Link {
    /// Returns a value that stands in for a link while a stage holds the link itself.
    pub fn placeholder() -> Link {
        Link::ClosedForm(ClosedForm::placeholder())
    }

    /// Returns the link in closed form.
    ///
    /// # Panics
    /// If it keeps its queue: a host never runs such a link.
    #[inline(always)]
    pub fn closed_form(&mut self) -> &mut ClosedForm {
        match self {
            Link::ClosedForm(link) => link,
            Link::Queued(_) => unreachable!("a link that keeps its queue is a stage of its own"),
        }
    }

    /// Returns the link that keeps its queue, if it is one.
    pub fn queued(&self) -> Option<&QueuedLink> {
        match self {
            Link::ClosedForm(_) => None,
            Link::Queued(link) => Some(link),
        }
    }

    /// Returns where packets go.
    pub fn next(&self) -> &NextRing {
        match self {
            Link::ClosedForm(link) => &link.next,
            Link::Queued(link) => &link.next,
        }
    }

    /// Sets where packets go.
    pub fn set_next(&mut self, next: NextRing) {
        match self {
            Link::ClosedForm(link) => link.next = next,
            Link::Queued(link) => link.next = next,
        }
    }

    /// Returns the least time from a packet's arrival to the end of the line, for packets of at least `size` bytes.
    pub fn least_latency(&self, size: u32) -> u64 {
        match self {
            Link::ClosedForm(link) => link.least_latency(size),
            Link::Queued(link) => link.least_latency(size),
        }
    }

    /// Returns the counts.
    pub fn counts(&self) -> LinkCounts {
        match self {
            Link::ClosedForm(link) => link.counts(),
            Link::Queued(link) => link.counts(),
        }
    }

    /// Returns how many packets wait just before `t`, without the one in transmission.
    pub fn waiting(&self, t: u64) -> usize {
        match self {
            Link::ClosedForm(link) => link.waiting(t),
            Link::Queued(link) => link.waiting(),
        }
    }

    /// Returns the sum of all waiting times up to `t`, ns; everything before `t` must have been handled.
    pub fn waited(&self, t: u64) -> u128 {
        match self {
            Link::ClosedForm(link) => link.waited(t),
            Link::Queued(link) => link.waited(t),
        }
    }

    /// Applies a live change at `t`, when everything before `t` has been done and nothing at `t` or later.
    pub fn change(&mut self, t: u64, change: Change, rings: &mut [Ring]) {
        match self {
            Link::ClosedForm(link) => link.change(t, change, rings),
            Link::Queued(link) => link.change(t, change, rings),
        }
    }

    /// Sets a rate or delay for [`Link::least_latency`] only.
    pub fn try_line(&mut self, t: u64, change: &Change) {
        match (self, change) {
            (Link::Queued(link), Change::Rate(rate)) => link.set_rate(t, *rate),
            (Link::Queued(link), Change::Delay(delay)) => link.set_delay(t, Time(*delay)),
            (Link::ClosedForm(link), change) => link.try_line(change),
            (Link::Queued(_), Change::Loss(..)) => {}
        }
    }
}
