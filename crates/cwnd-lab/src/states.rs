//! The state of algorithms in the kernel, read with `TCP_INFO`.

use socket2::Socket;

/// Reads the state of the flows' algorithms.
pub trait FlowStates: Send {
    /// Returns the names of what is read of a flow; none if its algorithm's state cannot be read.
    fn names(&self, flow: usize) -> Vec<&'static str>;

    /// Begins with a flow's socket.
    fn watch(&self, flow: usize, socket: &Socket);

    /// Returns the values of [`names`](Self::names) after the socket's last ACK, NaN where one is not known. `cwnd` is what
    /// `TCP_INFO` tells.
    fn read(&self, flow: usize, socket: &Socket, cwnd: u32) -> Vec<f64>;
}

#[cfg(feature = "load")]
pub use loaded::{FlowState, LoadedStates, is_readable};

#[cfg(feature = "load")]
mod loaded {
    use super::FlowStates;
    use cwnd_kernel::load::PrivateAreas;
    use cwnd_kernel::{KernelAlgorithm, PRIVATE_WORDS, SocketState, Values};
    use socket2::Socket;
    use std::sync::Arc;

    /// The states of flows whose algorithms are loaded as BPF.
    pub struct LoadedStates {
        /// One for each flow; none where the state cannot be read.
        pub flows: Vec<Option<FlowState>>,
        /// Payload of a segment, bytes.
        pub mss: u32,
    }

    /// What reads the state of a flow's algorithm.
    #[derive(Clone)]
    pub struct FlowState {
        /// The algorithm.
        pub algorithm: &'static KernelAlgorithm,
        /// Its parameters.
        pub values: Values,
        /// The private areas of its sockets.
        pub areas: Arc<PrivateAreas>,
    }

    /// Whether the state of an algorithm can be read.
    pub fn is_readable(algorithm: &KernelAlgorithm, values: &Values) -> bool {
        let empty = SocketState { words: [0; PRIVATE_WORDS], cwnd: 1.0, mss: 1.0 };
        algorithm.observe(&empty, values).is_some()
    }

    impl FlowStates for LoadedStates {
        fn names(&self, flow: usize) -> Vec<&'static str> {
            let shown = self.flows[flow].as_ref().map_or(&[][..], |flow| flow.algorithm.info().observables);
            shown.iter().map(|observable| observable.name).collect()
        }

        fn watch(&self, flow: usize, socket: &Socket) {
            if let Some(flow) = &self.flows[flow] {
                // A socket that cannot be watched has no values, and sends all the same.
                let _ = flow.areas.watch(socket);
            }
        }

        fn read(&self, flow: usize, socket: &Socket, cwnd: u32) -> Vec<f64> {
            let Some(flow) = &self.flows[flow] else { return Vec::new() };
            let state = flow.areas.read(socket);
            let state = state.map(|words| SocketState { words, cwnd: cwnd.into(), mss: self.mss.into() });
            let values = state.and_then(|state| flow.algorithm.observe(&state, &flow.values));
            values.unwrap_or_else(|| vec![f64::NAN; flow.algorithm.info().observables.len()])
        }
    }
}
