//! The simulated endpoint as what a script drives.

use super::{Phase, Socket};
use crate::code::Value;
use crate::cursor::{Place, ScriptError};
use crate::endpoint::{Endpoint, Sent};
use crate::script::Packet;
use crate::settings::Settings;
use cwnd_tcp::{Sender, TcpInfo};
use std::collections::BTreeMap;

impl Endpoint for Socket {
    fn settings(&mut self) -> &mut Settings {
        &mut self.settings
    }

    fn clock(&self) -> i64 {
        self.clock
    }

    fn info(&self) -> Option<TcpInfo> {
        self.sender.as_deref().map(Sender::tcp_info)
    }

    fn variables(&self) -> BTreeMap<&'static str, Value> {
        self.state_variables()
    }

    fn advance(&mut self, until: i64, inclusive: bool) {
        self.expire_timers(until, inclusive);
    }

    fn advance_to_packet(&mut self, until: i64) {
        while self.sent.is_empty() && self.deadline().is_some_and(|at| at <= until) {
            self.fire();
        }
    }

    fn take_sent(&mut self) -> Option<Sent> {
        self.sent.pop_front()
    }

    fn was_sent(&self, packet: &Packet) -> bool {
        u64::from(packet.seq.saturating_sub(1)) < self.stream.start(self.highest)
    }

    fn name_timestamp(&mut self, value: u32, sent: &Sent) {
        self.departures.insert(value, sent.at);
    }

    fn receive(&mut self, packet: &Packet, place: Place) -> Result<(), ScriptError> {
        self.process_arrival(packet, place)
    }

    fn listen(&mut self, _: Place) -> Result<(), ScriptError> {
        if self.phase == Phase::Closed {
            self.phase = Phase::Listening;
        }
        Ok(())
    }

    fn connect(&mut self, _: Place) -> Result<(), ScriptError> {
        self.send_syn();
        Ok(())
    }

    fn accept(&mut self) -> bool {
        self.sender.is_some()
    }

    fn set_no_delay(&mut self) {
        self.no_delay = true;
    }

    fn write(&mut self, bytes: u64, place: Place) -> Result<bool, ScriptError> {
        if self.info().is_none() {
            return Ok(false);
        }
        match self.write_bytes(bytes) {
            true => Ok(true),
            false => Err(ScriptError::new(place, "a script writes at most 2147483648 bytes")),
        }
    }

    fn readable(&self) -> u64 {
        self.inbound.readable()
    }

    fn read(&mut self, most: u64) -> u64 {
        self.inbound.take(most)
    }

    fn is_finished(&self) -> bool {
        self.inbound.is_finished()
    }

    fn close(&mut self) {
        self.end_stream();
    }
}
