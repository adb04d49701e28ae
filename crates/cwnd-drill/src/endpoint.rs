//! What a script drives: the simulated endpoint, or another one.

use crate::code::Value;
use crate::cursor::{Place, ScriptError};
use crate::script::Packet;
use crate::settings::Settings;
use cwnd_tcp::TcpInfo;
use std::collections::BTreeMap;

/// Why a packet left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// A packet has arrived.
    Arrival,
    /// The application has called.
    Call,
    /// A timer has expired.
    Timer,
}

/// A packet that has left.
#[derive(Clone, Debug)]
pub struct Sent {
    /// When, ns on the script's clock.
    pub at: i64,
    /// The packet.
    pub packet: Packet,
    /// Why it left.
    pub trigger: Trigger,
    /// Whether its data was sent before.
    pub retransmission: bool,
}

/// A TCP endpoint with a clock. Times are ns on the script's clock.
pub trait Endpoint {
    /// Returns the settings, which commands and calls may change before the handshake.
    fn settings(&mut self) -> &mut Settings;

    /// Returns the time up to which everything has happened.
    fn clock(&self) -> i64;

    /// Returns the sender's state, once the connection is established.
    fn info(&self) -> Option<TcpInfo>;

    /// Returns the constants, and the fields of `tcp_info` that code blocks may name.
    fn variables(&self) -> BTreeMap<&'static str, Value>;

    /// Lets time pass until `until`. Timers that are due earlier expire, with `inclusive` also those that are due then.
    fn advance(&mut self, until: i64, inclusive: bool);

    /// Lets time pass until a packet has left, at most until `until`.
    fn advance_to_packet(&mut self, until: i64);

    /// Removes and returns the first packet that has left.
    fn take_sent(&mut self) -> Option<Sent>;

    /// Returns whether the data of a packet that the script expects was sent before.
    fn was_sent(&self, packet: &Packet) -> bool;

    /// Records that the script gives the timestamp of a packet that has left the value `value`.
    fn name_timestamp(&mut self, value: u32, sent: &Sent);

    /// Processes a packet that arrives now.
    ///
    /// # Errors
    /// The packet needs something that is not supported.
    fn receive(&mut self, packet: &Packet, place: Place) -> Result<(), ScriptError>;

    /// Accepts connections.
    ///
    /// # Errors
    /// The endpoint refuses.
    fn listen(&mut self, place: Place) -> Result<(), ScriptError>;

    /// Connects.
    ///
    /// # Errors
    /// The endpoint refuses.
    fn connect(&mut self, place: Place) -> Result<(), ScriptError>;

    /// Accepts the connection whose handshake has ended. Returns false if there is none.
    fn accept(&mut self) -> bool;

    /// Switches Nagle's algorithm off.
    fn set_no_delay(&mut self);

    /// Adds bytes that the application writes. Returns whether there is still a connection to write to: another end may have reset it.
    ///
    /// # Errors
    /// They are too many, or the endpoint refuses them.
    fn write(&mut self, bytes: u64, place: Place) -> Result<bool, ScriptError>;

    /// Returns the number of bytes that the application can read.
    fn readable(&self) -> u64;

    /// Reads up to `most` bytes. Returns how many there were.
    fn read(&mut self, most: u64) -> u64;

    /// Returns whether the peer has ended its stream.
    fn is_finished(&self) -> bool;

    /// Ends the outgoing stream.
    fn close(&mut self);
}
