//! The private areas of sockets, copied by the hooks of an algorithm that was compiled for it (`observer/sampled.h`).

use super::{LoadError, Loaded};
use crate::state::PRIVATE_WORDS;
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use std::os::fd::{AsFd, AsRawFd};

/// The name of the map in `observer/sampled.h`.
const STATES: &str = "states";

/// The private areas of the sockets of one loaded algorithm.
#[derive(Debug)]
pub struct PrivateAreas(MapHandle);

impl Loaded {
    /// Returns the private areas of its sockets; none if it was not [loaded](super::load_sampled) for that.
    ///
    /// # Errors
    /// If the process has no descriptor left.
    pub fn private_areas(&self) -> Result<Option<PrivateAreas>, LoadError> {
        let map = self.object.maps().find(|map| map.name() == STATES);
        let handle = map.map(|map| MapHandle::try_from(&map)).transpose();
        let refused = |error| LoadError::Kernel(format!("the private areas of {}: {error}", self.name));
        Ok(handle.map_err(refused)?.map(PrivateAreas))
    }
}

impl PrivateAreas {
    /// Has the area of a socket copied from now on, at each ACK and reduction.
    ///
    /// # Errors
    /// If the descriptor is no socket.
    pub fn watch(&self, socket: impl AsFd) -> Result<(), LoadError> {
        let done = self.0.update(&key(&socket), &[0; 8 * PRIVATE_WORDS], MapFlags::ANY);
        done.map_err(|error| LoadError::Kernel(format!("a socket cannot be watched: {error}")))
    }

    /// Returns the area of a watched socket after its last ACK or reduction; zeros before the first.
    pub fn read(&self, socket: impl AsFd) -> Option<[u64; PRIVATE_WORDS]> {
        let bytes = self.0.lookup(&key(&socket), MapFlags::ANY).ok()??;
        let mut words = [0; PRIVATE_WORDS];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_ne_bytes(bytes.try_into().ok()?);
        }
        Some(words)
    }
}

/// The kernel finds a socket's entry by its descriptor.
pub(super) fn key(socket: &impl AsFd) -> [u8; 4] {
    socket.as_fd().as_raw_fd().to_ne_bytes()
}
