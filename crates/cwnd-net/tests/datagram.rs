//! Datagrams over paths and dumbbells, against times and counts worked out by hand.

use cwnd_net::{Codepoint, Datagram, DatagramHost, Dumbbell, NetworkError, Path, Rate, Time};

const MS: u64 = 1_000_000;

/// Sends datagrams of 972 bytes at time zero, and keeps what it gets.
#[derive(Default)]
struct Burst {
    to: usize,
    left: u32,
    received: Vec<(u64, Datagram)>,
    /// When its timer expires, and whether it forgets to move on.
    timeout: Option<u64>,
    stuck: bool,
}

impl DatagramHost for Burst {
    fn on_datagram(&mut self, now: u64, datagram: Datagram) {
        self.received.push((now, datagram));
    }

    fn poll_transmit(&mut self, _: u64) -> Option<Datagram> {
        self.left = self.left.checked_sub(1)?;
        Some(Datagram::new(self.to, Codepoint::Ect0, vec![self.left as u8; 972]))
    }

    fn next_timeout(&mut self) -> Option<u64> {
        self.timeout
    }

    fn on_timeout(&mut self, _: u64) {
        if !self.stuck {
            (self.timeout, self.left) = (None, 1);
        }
    }
}

/// 8 Mbit/s: a datagram of 972 bytes and 28 bytes of headers takes 1 ms.
fn path() -> Path {
    Path::new(Rate(8_000_000), Time::from_millis(20))
}

#[test]
fn datagrams_arrive_in_time_with_payload_and_codepoint() {
    let sender = Burst { to: 1, left: 3, timeout: Some(5 * MS), ..Burst::default() };
    let mut test = path().buffer(1).connect(sender, Burst::default()).unwrap();
    test.run_until(100 * MS);
    let received = &test.transport(1).received;
    let times: Vec<(u64, u8)> = received.iter().map(|(at, datagram)| (*at, datagram.payload[0])).collect();
    // The queue holds one: the third is dropped. The timer sends another.
    assert_eq!(times, [(11 * MS, 2), (12 * MS, 1), (16 * MS, 0)]);
    assert!(received.iter().all(|(_, datagram)| datagram.ecn == Codepoint::Ect0 && datagram.from == 0));
    assert_eq!(test.link_counts(0).dropped, 1);
    // The application sends one more.
    test.with_transport(0, |host, _| host.left = 1);
    assert_eq!(test.run_until_done(200 * MS, |hosts| hosts[1].host().received.len() == 4), Some(111 * MS));
}

#[test]
fn pairs_of_a_dumbbell_share_the_bottleneck() {
    let host = |to, left| Burst { to, left, ..Burst::default() };
    let dumbbell = Dumbbell::new(path()).access_rate(Rate(80_000_000));
    let dumbbell = dumbbell.pair(Time::from_millis(4)).pair(Time::from_millis(4));
    let mut test = dumbbell.connect([host(1, 1), host(0, 0), host(3, 1), host(2, 0)]).unwrap();
    test.run_until(100 * MS);
    let arrived = |host: usize| test.transport(host).received[0].0;
    // 0.1 + 1 ms, 1 + 10 ms, 0.1 + 1 ms; the second waits for the transmission of the first.
    assert_eq!((arrived(1), arrived(3)), (13 * MS + MS / 5, 14 * MS + MS / 5));
    let refused = Dumbbell::new(path()).pair(Time::ZERO).connect([host(1, 0)]).err();
    assert_eq!(refused, Some(NetworkError::Host(1)));
}

#[test]
#[should_panic(expected = "host 0 asks for its timer at 5000000 ns again and again")]
fn a_timer_that_does_not_move_on_is_reported() {
    let sender = Burst { timeout: Some(5 * MS), stuck: true, ..Burst::default() };
    path().connect(sender, Burst::default()).unwrap().run_until(MS * 6);
}

#[test]
#[should_panic(expected = "host 0 sent a datagram to host 7; it has routes to the hosts [1]")]
fn a_datagram_to_an_unknown_host_is_reported() {
    let sender = Burst { to: 7, left: 1, ..Burst::default() };
    let _ = path().connect(sender, Burst::default());
}
