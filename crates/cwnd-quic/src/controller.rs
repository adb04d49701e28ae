//! The controller of a path in noq or quinn: the adapter, and the packets in flight.

use crate::controllers::{Controllers, Settings};
use cwnd_cc::Nanos;
use cwnd_cc::transport::{AckEnd, Adapter, Clock, SentPackets};
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// How long before the newest acknowledged packet a packet was sent that is neither acknowledged nor lost and is forgotten, beyond a
/// smoothed round-trip time.
const FORGET_AFTER: Nanos = Nanos::from_millis(2_000);

/// The most small packets that are remembered: a receiver's ACKs are never acknowledged, nor lost.
#[cfg(feature = "quinn")]
const SMALL_PACKETS: usize = 1000;
/// The largest packet that may have ACKs and control frames alone, bytes: quinn's ACK frame has at most 64 ranges of up to four bytes,
/// beyond headers, counts of marks and the tag.
#[cfg(feature = "quinn")]
pub(crate) const LARGEST_WITHOUT_DATA: u64 = 340;

/// The controller of one path: an adapter, and the packets in flight.
#[derive(Debug)]
pub(crate) struct Controller {
    pub adapter: Adapter,
    packets: SentPackets,
    /// Those of which the implementation does not tell whether they count as in flight.
    small: SentPackets,
    clock: Clock,
    /// Bytes of a full datagram.
    datagram: u16,
    /// The last time that the implementation has reported.
    now: Instant,
    /// When the newest acknowledged packet was sent, and the same as of the ACK frame before.
    newest: Nanos,
    before: Nanos,
    /// Episodes that were added to the counter.
    counted: u64,
    controllers: Controllers,
}

impl Controller {
    /// Begins at `now` on a path that takes datagrams of `datagram` bytes.
    pub fn new(controllers: &Controllers, now: Instant, datagram: u16) -> Controller {
        let clock = Clock::starting_at(controllers.settings().origin.unwrap_or(now));
        let settings = controllers.adapter_settings(datagram);
        Controller {
            adapter: Adapter::new(controllers.algorithm(), clock.nanos(now), &settings),
            packets: SentPackets::default(),
            small: SentPackets::default(),
            clock,
            datagram,
            now,
            newest: Nanos::ZERO,
            before: Nanos::ZERO,
            counted: 0,
            controllers: controllers.clone(),
        }
    }

    /// Returns a new controller of the same kind, for a copy of the path. An algorithm's state cannot be copied; the new one begins with
    /// its initial window.
    pub fn begin_again(&self) -> Controller {
        Controller::new(&self.controllers, self.now, self.datagram)
    }

    /// Returns the settings.
    pub fn settings(&self) -> &Settings {
        self.controllers.settings()
    }

    /// Returns the initial window, bytes.
    pub fn initial_window(&self) -> u64 {
        (self.settings().initial_window * f64::from(self.datagram)) as u64
    }

    /// Returns the bytes of a full datagram.
    #[cfg(feature = "quinn")]
    pub fn datagram(&self) -> u64 {
        u64::from(self.datagram)
    }

    /// Handles a packet that leaves.
    pub fn on_sent(&mut self, now: Instant, bytes: u32, number: u64) {
        let now = self.at(now);
        let packet = self.adapter.on_packet_sent(now, bytes);
        self.packets.insert(number, packet);
    }

    /// Handles a packet that leaves alone, of which the implementation does not tell whether it has more than ACKs. A large one does.
    #[cfg(feature = "quinn")]
    pub fn on_sent_alone(&mut self, now: Instant, bytes: u32, number: u64) {
        if u64::from(bytes) > LARGEST_WITHOUT_DATA {
            return self.on_sent(now, bytes, number);
        }
        let now = self.at(now);
        let packet = self.adapter.on_uncertain_packet_sent(now, bytes);
        self.small.insert(number, packet);
        self.small.keep_newest(SMALL_PACKETS);
    }

    /// Handles a packet, sent at `sent`, that an ACK frame acknowledges. Packets that were not reported, such as probes of the MTU in
    /// quinn, are ignored.
    pub fn on_acked(&mut self, now: Instant, sent: Instant, number: Option<u64>) {
        let (now, sent) = (self.at(now), self.clock.nanos(sent));
        let packet = self.packets.take_sent_at(sent, number);
        if let Some(packet) = packet.or_else(|| self.small.take_sent_at(sent, number)) {
            self.newest = self.newest.max(packet.sent());
            self.adapter.on_packet_acked(now, &packet);
        }
    }

    /// Returns how many small packets are remembered.
    #[cfg(all(test, feature = "quinn"))]
    pub fn small_packets(&self) -> usize {
        self.small.len()
    }

    /// Handles the end of an ACK frame.
    pub fn on_ack_end(&mut self, now: Instant, in_flight: u64, app_limited: bool) {
        let now = self.at(now);
        self.adapter.on_ack_end(now, &AckEnd { in_flight: Some(in_flight), app_limited });
        // Losses that this frame reveals are reported after it; those of the frame before were.
        let kept = self.adapter.srtt() + FORGET_AFTER;
        let oldest = std::mem::replace(&mut self.before, self.newest).since(kept);
        self.packets.forget_before(oldest);
        self.small.forget_before(oldest);
    }

    /// Handles the loss of a packet.
    #[cfg(feature = "noq")]
    pub fn on_lost(&mut self, now: Instant, number: u64) {
        let now = self.at(now);
        if let Some(packet) = self.packets.take_number(number) {
            self.adapter.on_packet_lost(now, &packet);
        }
    }

    /// Handles the loss of packets of together `bytes`, of which the last was sent at `sent`: that one and the oldest are taken for lost,
    /// small ones where no more is left than they have.
    #[cfg(feature = "quinn")]
    pub fn on_bytes_lost(&mut self, now: Instant, sent: Instant, bytes: u64) {
        let (now, sent) = (self.at(now), self.clock.nanos(sent));
        let mut left = bytes;
        let last = self.packets.take_sent_at(sent, None);
        let mut last = last.or_else(|| self.small.take_sent_at(sent, None));
        while left > 0
            && let Some(packet) = last.take().or_else(|| match left {
                ..=LARGEST_WITHOUT_DATA => self.small.take_oldest(sent),
                _ => self.packets.take_oldest(sent),
            })
        {
            left = left.saturating_sub(u64::from(packet.bytes()));
            self.adapter.on_packet_lost(now, &packet);
        }
    }

    /// Handles the end of lost packets.
    pub fn on_losses(&mut self, now: Instant, is_persistent: bool) {
        let now = self.at(now);
        self.adapter.on_losses(now, is_persistent);
        self.count_episodes();
    }

    /// Handles marks of which the implementation does not report the number.
    pub fn on_marks(&mut self, now: Instant) {
        let now = self.at(now);
        self.adapter.on_marks(now, None);
        self.count_episodes();
    }

    fn count_episodes(&mut self) {
        let episodes = self.adapter.episodes();
        self.controllers.add_episodes(episodes - std::mem::replace(&mut self.counted, episodes));
    }

    /// Handles the discovery that the last losses were spurious.
    #[cfg(feature = "noq")]
    pub fn on_spurious_losses(&mut self) {
        self.adapter.on_spurious_losses(self.clock.nanos(self.now));
    }

    /// Handles a change of the MTU.
    pub fn on_mtu_update(&mut self, datagram: u16) {
        self.datagram = datagram;
        self.adapter.set_mss(u32::from(datagram));
    }

    fn at(&mut self, now: Instant) -> Nanos {
        self.now = now;
        self.clock.nanos(now)
    }
}

/// A controller that implementations share by reference. A call that changes nothing for them may report the last ACK to the algorithm,
/// therefore the lock. It is never contended.
pub(crate) struct Locked(Mutex<Controller>);

impl Locked {
    /// Begins as [`Controller::new`] does.
    pub fn new(controllers: &Controllers, now: Instant, datagram: u16) -> Locked {
        Locked(Mutex::new(Controller::new(controllers, now, datagram)))
    }

    /// Returns the controller.
    pub fn get(&mut self) -> &mut Controller {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the controller. Then the algorithm has seen all events, and it is noted if it has set a value that no window may have.
    pub fn with<T>(&self, ask: impl FnOnce(&mut Controller) -> T) -> T {
        let controller = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = ask(controller);
        if let Some(found) = controller.adapter.illegal_value() {
            controller.controllers.note_illegal_value(found);
        }
        answer
    }

    /// Returns a new one of the same kind: [`Controller::begin_again`].
    pub fn begin_again(&self) -> Locked {
        Locked(Mutex::new(self.with(|controller| controller.begin_again())))
    }
}

impl fmt::Debug for Locked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with(|controller| f.debug_tuple("Controller").field(&controller.adapter).finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_cc::State;
    use std::sync::Arc;
    use std::time::Duration;

    const MS: Duration = Duration::from_millis(1);

    fn controller(name: &str) -> (Controller, Instant) {
        let now = Instant::now();
        (Controller::new(&Controllers::named(name).unwrap(), now, 1_000), now)
    }

    #[test]
    fn every_algorithm_has_controllers() {
        for info in cwnd_cc::all() {
            let (mut controller, _) = controller(info.name);
            // Hybla begins with less.
            let windows = 2_000..=controller.initial_window();
            assert!(windows.contains(&controller.adapter.window()), "{}", info.name);
        }
    }

    /// Two round trips: a window of ten, then of twenty datagrams.
    #[test]
    fn acknowledged_packets_open_the_window() {
        let (mut controller, now) = controller("newreno");
        for (round, packets) in [10u64, 20].into_iter().enumerate() {
            let now = now + 50 * MS * round as u32;
            (0..packets).for_each(|number| controller.on_sent(now, 1_000, number));
            let later = now + 50 * MS;
            // By time and number, or by time alone.
            (0..packets)
                .for_each(|number| controller.on_acked(later, now, Some(number).filter(|_| round == 0)));
            // One that was never sent.
            controller.on_acked(later, now + MS, None);
            controller.on_ack_end(later, 0, false);
        }
        assert_eq!(controller.adapter.window(), 40_000);
        assert_eq!(controller.adapter.srtt(), Nanos::from_millis(50));
    }

    /// After ten seconds without an ACK its packets are still known when they are declared lost.
    #[test]
    fn an_outage_is_persistent_congestion() {
        let (mut controller, now) = controller("cubic");
        controller.on_sent(now, 1_000, 0);
        controller.on_acked(now + 50 * MS, now, None);
        controller.on_ack_end(now + 50 * MS, 0, false);
        (1..10).for_each(|number| controller.on_sent(now + 60 * MS, 1_000, number));
        let later = now + 10_000 * MS;
        controller.on_sent(later, 1_000, 10);
        controller.on_acked(later + 50 * MS, later, None);
        controller.on_ack_end(later + 50 * MS, 9_000, false);
        (1..10).for_each(|number| {
            let packet = controller.packets.take_number(number).unwrap();
            controller.adapter.on_packet_lost(controller.clock.nanos(later + 50 * MS), &packet);
        });
        controller.on_losses(later + 50 * MS, true);
        // Two datagrams, and one more for the acknowledged one: slow start.
        assert_eq!((controller.adapter.window(), controller.adapter.state()), (3_000, State::Loss));
        // Then they are forgotten.
        controller.on_sent(later + 60 * MS, 1_000, 11);
        controller.on_acked(later + 110 * MS, later + 60 * MS, None);
        controller.on_ack_end(later + 110 * MS, 0, false);
        assert!(controller.packets.is_empty());
    }

    #[test]
    fn each_path_has_an_algorithm_of_its_own() {
        let built = Arc::new(std::sync::Mutex::new(0));
        let count = Arc::clone(&built);
        let controllers = Controllers::new(move || {
            *count.lock().unwrap() += 1;
            (cwnd_cc::find("vegas").unwrap().build)(&cwnd_cc::Parameters::new()).unwrap()
        });
        let settings = Settings { initial_window: 4.0, largest_window: 6.0, ..Settings::default() };
        let controllers = controllers.with_settings(settings);
        let mut first = Controller::new(&controllers, Instant::now(), 1_000);
        assert_eq!((first.adapter.window(), first.begin_again().adapter.window()), (4_000, 4_000));
        assert_eq!(*built.lock().unwrap(), 2);
        assert_eq!(first.adapter.segments().clamp(), 6.0);
    }
}
