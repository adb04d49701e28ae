//! The simulator as this build has it: with the feature `kernel` it also runs the kernel's algorithms, `elastic@kernel`.

#[cfg(feature = "kernel")]
mod with_kernel;

#[cfg(not(feature = "kernel"))]
pub use cwnd_sim::Simulator;
#[cfg(feature = "kernel")]
pub use with_kernel::WithKernel as Simulator;
