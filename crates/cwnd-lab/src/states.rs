//! The state of algorithms in the kernel, read beside `TCP_INFO`.

use socket2::Socket;

/// Reads the state of the flows' algorithms.
pub trait FlowStates: Send {
    /// Returns the names of what is read of a flow; none if its algorithm's state cannot be read.
    fn names(&self, flow: usize) -> Vec<&'static str>;

    /// Begins with a flow's socket.
    fn watch(&mut self, flow: usize, socket: &Socket);

    /// Returns the values of [`names`](Self::names) when `TCP_INFO` was asked of the socket last, NaN where one is not known.
    /// `cwnd` is what it told.
    fn read(&self, flow: usize, cwnd: u32) -> Vec<f64>;
}

#[cfg(feature = "load")]
pub use loaded::{LoadedStates, is_readable};

#[cfg(feature = "load")]
mod loaded {
    use super::FlowStates;
    use cwnd_kernel::load::{LoadError, Observer, PrivateAreas};
    use cwnd_kernel::{KernelAlgorithm, PRIVATE_WORDS, SocketState, Values};
    use socket2::Socket;
    use std::os::fd::AsRawFd;

    /// The states of flows whose algorithms are loaded as BPF.
    pub struct LoadedStates {
        flows: Vec<Option<FlowState>>,
        areas: PrivateAreas,
        mss: f64,
    }

    struct FlowState {
        algorithm: &'static KernelAlgorithm,
        values: Values,
        cookie: Option<u64>,
    }

    impl LoadedStates {
        /// Prepares to read the state of each flow's algorithm with its parameters, if it is one whose state can be read.
        ///
        /// # Errors
        /// If the process has no descriptor left.
        pub fn new(
            observer: &Observer,
            algorithms: impl Iterator<Item = Option<(&'static KernelAlgorithm, Values)>>,
            mss: u32,
        ) -> Result<LoadedStates, LoadError> {
            let flow = |(algorithm, values)| FlowState { algorithm, values, cookie: None };
            let flows = algorithms.map(|loaded| loaded.filter(is_readable).map(flow));
            Ok(LoadedStates { flows: flows.collect(), areas: observer.areas()?, mss: mss.into() })
        }
    }

    /// Whether the state of an algorithm can be read.
    pub fn is_readable((algorithm, values): &(&'static KernelAlgorithm, Values)) -> bool {
        let empty = SocketState { words: [0; PRIVATE_WORDS], cwnd: 1.0, mss: 1.0 };
        algorithm.observe(&empty, values).is_some()
    }

    impl FlowStates for LoadedStates {
        fn names(&self, flow: usize) -> Vec<&'static str> {
            let shown = self.flows[flow].as_ref().map_or(&[][..], |flow| flow.algorithm.info().observables);
            shown.iter().map(|observable| observable.name).collect()
        }

        fn watch(&mut self, flow: usize, socket: &Socket) {
            let Some(flow) = &mut self.flows[flow] else { return };
            // Without a cookie there are no values, and the flow runs all the same.
            flow.cookie = cookie(socket).filter(|cookie| self.areas.watch(*cookie).is_ok());
        }

        fn read(&self, flow: usize, cwnd: u32) -> Vec<f64> {
            let Some(flow) = &self.flows[flow] else { return Vec::new() };
            let words = flow.cookie.and_then(|cookie| self.areas.read(cookie));
            let state = words.map(|words| SocketState { words, cwnd: cwnd.into(), mss: self.mss });
            let values = state.and_then(|state| flow.algorithm.observe(&state, &flow.values));
            values.unwrap_or_else(|| vec![f64::NAN; flow.algorithm.info().observables.len()])
        }
    }

    /// The kernel's number of a socket.
    fn cookie(socket: &Socket) -> Option<u64> {
        let mut cookie = 0u64;
        let mut length = size_of::<u64>() as libc::socklen_t;
        // SAFETY: the buffer is as long as said.
        let done = unsafe {
            let to = (&raw mut cookie).cast();
            libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_COOKIE, to, &raw mut length)
        };
        (done == 0).then_some(cookie)
    }
}
