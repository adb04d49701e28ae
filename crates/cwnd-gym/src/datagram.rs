//! A flow of datagrams over one drop-tail link: the links are the simulator's, and there is no transport to simulate.

use crate::Interval;
use crate::interval::Meter;
use cwnd_cc::Nanos;
use cwnd_scenario::{LinkId, Scenario, Traffic};
use cwnd_sim::link::{ClosedForm, Link};
use cwnd_sim::setup;
use std::collections::VecDeque;

/// A flow that sends a datagram at each tick of its rate, and learns of each when its ACK comes, or would have come.
///
/// What is sent does not depend on what is learnt within an interval. So the sends of an interval come first and its ACKs
/// after them, and no queue of events is needed.
pub struct Datagram {
    forward: ClosedForm,
    reverse: ClosedForm,
    packet_bytes: u32,
    ack_bytes: u32,
    /// Nanoseconds between two packets.
    gap: u64,
    next_send: u64,
    /// What the sender will learn, in order of time.
    reports: VecDeque<Report>,
    meter: Meter,
    lost: u64,
    srtt_ns: f64,
    min_rtt_ns: u64,
}

#[derive(Clone, Copy)]
struct Report {
    at: u64,
    /// When the packet was sent; `LOST` if it or its ACK was lost.
    sent: u64,
}

const LOST: u64 = u64::MAX;

/// The clock at the scenario's time zero. A link that has never sent was free before it.
const ORIGIN: u64 = 1;

/// The longest time between two packets, ns: 1,000 s.
const LONGEST_GAP: f64 = 1e12;

impl Datagram {
    /// Creates the flow.
    ///
    /// # Errors
    /// The scenario is not one drop-tail link in each direction with one endless flow.
    pub fn new(scenario: &Scenario, slope: bool) -> Result<Datagram, String> {
        let [flow] = scenario.flows.as_slice() else {
            return Err(format!("there are {} flows, and competitors need TCP", scenario.flows.len()));
        };
        let ([forward], [reverse]) = (flow.route.as_slice(), flow.ack_route.as_slice()) else {
            return Err("the flow crosses more than one link in a direction".to_owned());
        };
        let is_endless = flow.bytes.is_none() && flow.stop.is_none() && flow.traffic == Traffic::Bulk;
        if !is_endless || scenario.arrivals.is_some() {
            return Err("the flow is not an endless one".to_owned());
        }
        let mut links: Vec<Option<Link>> = setup::links(scenario, false).into_iter().map(Some).collect();
        let mut plain = |link: LinkId| match links[link].take() {
            Some(Link::ClosedForm(state))
                if scenario.network.links[link].is_plain() && !scenario.network.links[link].queue.marks() =>
            {
                Ok(state)
            }
            _ => Err(format!(
                "link {} is not a drop-tail queue at a constant rate",
                scenario.network.links[link].name
            )),
        };
        let (forward, reverse) = (plain(*forward)?, plain(*reverse)?);
        Ok(Datagram {
            forward,
            reverse,
            packet_bytes: scenario.stack.full_packet(),
            ack_bytes: scenario.stack.ack_size,
            gap: LONGEST_GAP as u64,
            next_send: scenario.start_of(0).0 + ORIGIN,
            reports: VecDeque::new(),
            meter: Meter::new(slope),
            lost: 0,
            srtt_ns: 0.0,
            min_rtt_ns: u64::MAX,
        })
    }

    /// Sets the rate from the next packet on, packets a second. It begins an interval.
    pub fn set_rate(&mut self, pps: f64) {
        self.gap = (1e9 / pps).min(LONGEST_GAP) as u64;
        self.meter.clear();
        self.lost = 0;
    }

    /// Does everything that happens before `until`, and writes what the sender has learnt.
    pub fn run_until(&mut self, until: u64, interval: &mut Interval) {
        let stop = until + ORIGIN;
        while self.next_send < stop {
            let report = self.send(self.next_send);
            self.reports.push_back(report);
            self.next_send += self.gap.max(1);
            interval.sent += 1;
        }
        while let Some(report) = self.reports.front().copied().filter(|report| report.at < stop) {
            self.reports.pop_front();
            self.learn(report);
        }
        self.meter.write(interval);
        interval.packet_bytes = self.packet_bytes;
        interval.lost = self.lost;
        interval.cwnd = self.reports.len() as f64;
        interval.pacing_pps = 1e9 / self.gap as f64;
        if self.min_rtt_ns < u64::MAX {
            interval.srtt_s = self.srtt_ns * 1e-9;
            interval.min_rtt_s = self.min_rtt_ns as f64 * 1e-9;
        }
    }

    fn send(&mut self, now: u64) -> Report {
        let back = self.reverse.least_latency(self.ack_bytes);
        // Links give lost packets a flag, and these links no other.
        let report = match self.forward.offer(now, self.packet_bytes, 0, 0) {
            Some(data) if data.added == 0 => match self.reverse.offer(data.at, self.ack_bytes, 1, 0) {
                Some(ack) if ack.added == 0 => Report { at: ack.at, sent: now },
                Some(ack) => Report { at: ack.at, sent: LOST },
                None => Report { at: data.at + back, sent: LOST },
            },
            Some(data) => Report { at: data.at + back, sent: LOST },
            // Behind the packets that the queue holds.
            None => {
                let at = self.forward.end_of_line(self.forward.free_at().max(now)) + back;
                Report { at, sent: LOST }
            }
        };
        // ACKs that wait on their way delay the news of losses between them.
        Report { at: self.reports.back().map_or(report.at, |last| last.at.max(report.at)), ..report }
    }

    fn learn(&mut self, report: Report) {
        if report.sent == LOST {
            self.lost += 1;
            return;
        }
        let rtt = report.at - report.sent;
        self.meter.on_ack(Nanos(report.at), 1, 0, Some(Nanos(rtt)));
        self.min_rtt_ns = self.min_rtt_ns.min(rtt);
        // RFC 6298.
        self.srtt_ns =
            if self.srtt_ns == 0.0 { rtt as f64 } else { self.srtt_ns * 0.875 + rtt as f64 * 0.125 };
    }
}
