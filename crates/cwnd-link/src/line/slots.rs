//! A medium that is granted in slots.

/// The slots of a line: a packet that has left the transmitter continues at the next whole multiple of the slot since the
/// scenario's time zero, or at once if it leaves at one.
#[derive(Clone, Debug)]
pub struct Slots {
    slot: u64,
    /// Offset of the outer clock, so that its whole multiples are those of the scenario's.
    shift: u64,
    /// The multiple returned last.
    latest: u64,
}

impl Slots {
    /// Creates the slots; none if the slot has no length.
    pub fn new(slot: u64, origin: u64) -> Option<Slots> {
        (slot > 0).then(|| Slots { slot, shift: (slot - origin % slot) % slot, latest: 0 })
    }

    /// Returns when a packet that leaves the transmitter at `departure` continues. It is never earlier than the packet before.
    #[inline]
    pub fn next(&mut self, departure: u64) -> u64 {
        let departure = departure + self.shift;
        // Many leave in one slot, and the division takes as long as all else.
        if departure > self.latest {
            self.latest = departure.div_ceil(self.slot) * self.slot;
        }
        self.latest - self.shift
    }
}
