//! What an application declares of a flow to an algorithm that asks for it (D2TCP).

use super::{LoadError, Loaded, sampled::key};
use libbpf_rs::{MapCore, MapFlags};
use std::{os::fd::AsFd, time::Duration};

/// The name of the map in `bpf/kernel.h`.
const HINTS: &str = "hints";

impl Loaded {
    /// Declares how many bytes a socket has to send in all, and by when, on the clock `CLOCK_MONOTONIC`.
    ///
    /// # Errors
    /// The algorithm asks for no hints, or the descriptor is no socket.
    pub fn hint(&self, socket: impl AsFd, bytes: u64, deadline: Duration) -> Result<(), LoadError> {
        let map = self.object.maps().find(|map| map.name() == HINTS);
        let map = map.ok_or_else(|| LoadError::Kernel(format!("{} asks for no hints", self.name)))?;
        let deadline = deadline.as_micros() as u64;
        let hints: Vec<u8> = [bytes, deadline].iter().flat_map(|word| word.to_ne_bytes()).collect();
        let done = map.update(&key(&socket), &hints, MapFlags::ANY);
        done.map_err(|error| LoadError::Kernel(format!("a socket takes no hints: {error}")))
    }
}
