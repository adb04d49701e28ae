//! RACK-TLP.
use crate::sender::Sender;
use cwnd_tcp::packet::{Packet, SackBlocks};
#[derive(Debug)]
pub struct Timed {
    pub rfc: bool,
}
impl Timed {
    pub fn new(rfc: bool) -> Timed {
        Timed { rfc }
    }
}
impl Sender {
    pub fn reordering(&self) -> (u32, u32) {
        (3, 0)
    }
    pub fn on_ack_by_time(&mut self, _now: u64, _packet: &Packet, _blocks: Option<&SackBlocks>) {}
    pub fn on_timer_by_time(&mut self, _now: u64) {}
    pub fn transmit_by_time(&mut self, _now: u64) {}
}
