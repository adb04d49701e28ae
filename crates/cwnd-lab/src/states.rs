//! The state of algorithms in the kernel, read with `TCP_INFO`.

use socket2::Socket;
use std::sync::Arc;

/// Reads the state of one algorithm's flows.
pub trait StateReader: Send + Sync {
    /// Returns the names of what is read of a flow.
    fn names(&self) -> Vec<&'static str>;

    /// Begins with a flow's socket.
    fn watch(&self, socket: &Socket) {
        let _ = socket;
    }

    /// Returns the values of [`names`](Self::names) after the socket's last ACK, NaN where one is not known. `cwnd` is what
    /// `TCP_INFO` tells.
    fn read(&self, socket: &Socket, cwnd: u32) -> Vec<f64>;
}

/// For each flow what reads the state of its algorithm; none where it cannot be read.
pub type FlowStates = Vec<Option<Arc<dyn StateReader>>>;

#[cfg(feature = "load")]
pub use loaded::{LoadedState, is_readable};

#[cfg(feature = "load")]
mod loaded {
    use super::StateReader;
    use cwnd_kernel::load::PrivateAreas;
    use cwnd_kernel::{KernelAlgorithm, PRIVATE_WORDS, SocketState, Values};
    use socket2::Socket;

    /// The state of an algorithm that is loaded as BPF.
    pub struct LoadedState {
        /// The algorithm.
        pub algorithm: &'static KernelAlgorithm,
        /// Its parameters.
        pub values: Values,
        /// The private areas of its sockets.
        pub areas: PrivateAreas,
        /// Payload of a segment, bytes.
        pub mss: u32,
    }

    /// Whether the state of an algorithm can be read.
    pub fn is_readable(algorithm: &KernelAlgorithm, values: &Values) -> bool {
        let empty = SocketState { words: [0; PRIVATE_WORDS], cwnd: 1.0, mss: 1.0 };
        algorithm.observe(&empty, values).is_some()
    }

    impl StateReader for LoadedState {
        fn names(&self) -> Vec<&'static str> {
            self.algorithm.info().observables.iter().map(|observable| observable.name).collect()
        }

        fn watch(&self, socket: &Socket) {
            // A socket that cannot be watched has no values, and sends all the same.
            let _ = self.areas.watch(socket);
        }

        fn read(&self, socket: &Socket, cwnd: u32) -> Vec<f64> {
            let words = self.areas.read(socket);
            let state = words.map(|words| SocketState { words, cwnd: cwnd.into(), mss: self.mss.into() });
            let values = state.and_then(|state| self.algorithm.observe(&state, &self.values));
            values.unwrap_or_else(|| vec![f64::NAN; self.algorithm.info().observables.len()])
        }
    }
}
