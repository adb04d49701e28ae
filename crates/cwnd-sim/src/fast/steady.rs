//! Steady transmitters and lines: a link that keeps its queue, while its rate is constant and its line only delays.
//!
//! Then the departure of the next packet and its time at the end of the line are two additions, and neither the transmitter
//! nor the line is called. They are told about the packets when the run ends, or when one of them does more.

use crate::fault::{self, Fault};
use crate::link::queued::{Dispatch, Outlet, Service, Words};
use cwnd_link::{Departure, QueueDiscipline, Steady, SteadyLine};

/// State of transmitter and line while neither changes.
pub struct SteadyDispatch {
    transmitter: Steady,
    line: SteadyLine,
    /// When the packet in transmission began, if the transmitter does not know yet.
    began: Option<u64>,
}

impl Dispatch for SteadyDispatch {
    fn begin(service: &Service, stop: u64) -> Self {
        let mut transmitter = service.transmitter.steady();
        transmitter.end_by(stop - 1);
        SteadyDispatch { transmitter, line: service.line.steady(), began: None }
    }

    #[inline(always)]
    fn send<D: QueueDiscipline<Words>>(
        &mut self,
        service: &mut Service,
        queue: &mut D,
        now: u64,
        outlet: &mut impl Outlet,
    ) {
        let Some(next) = queue.dequeue_plainly(now) else {
            if queue.waiting() == 0 {
                return service.rest(queue, now);
            }
            return self.send_in_general(service, queue, None, now, outlet);
        };
        service.waited = service.waited.wrapping_add(u128::from(now));
        self.transmit(service, queue, next, now, outlet);
    }

    #[inline(always)]
    fn transmit<D: QueueDiscipline<Words>>(
        &mut self,
        service: &mut Service,
        queue: &mut D,
        next: Departure<Words>,
        now: u64,
        outlet: &mut impl Outlet,
    ) {
        let (words, bytes) = service.marked(next);
        let Some(leaves) = self.transmitter.finish(now, bytes) else {
            return self.send_in_general(service, queue, Some((words, bytes)), now, outlet);
        };
        service.leaves = leaves;
        service.sending_bytes = bytes;
        self.began = Some(now);
        match self.line.cross(leaves) {
            Some(at) => outlet.put(at, words),
            None => self.cross_in_general(service, leaves, words, outlet),
        }
    }

    fn end(&self, service: &mut Service) {
        if fault::is(Fault::NotSettled) {
            return;
        }
        if let Some(began) = self.began {
            service.transmitter.began(began, service.sending_bytes);
        }
        service.line.passed(&self.line);
    }
}

impl SteadyDispatch {
    #[inline(never)]
    fn send_in_general<D: QueueDiscipline<Words>>(
        &mut self,
        service: &mut Service,
        queue: &mut D,
        taken: Option<(Words, u32)>,
        now: u64,
        outlet: &mut impl Outlet,
    ) {
        self.end(service);
        service.send(queue, taken, now, outlet);
        *self = SteadyDispatch::begin(service, outlet.stop());
    }

    /// Puts a packet on a line with effects other than delay, now or later.
    #[inline(never)]
    fn cross_in_general(
        &mut self,
        service: &mut Service,
        leaves: u64,
        words: Words,
        outlet: &mut impl Outlet,
    ) {
        service.line.passed(&self.line);
        service.cross(leaves, words, outlet);
        self.line = service.line.steady();
    }
}
