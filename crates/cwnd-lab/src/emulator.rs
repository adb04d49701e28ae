//! The network between the two ends: packets of real hosts go through a network of `cwnd-net`, in real time.

mod account;
mod change;
mod device;
mod drive;
mod lateness;
mod net;
mod packet;
mod pool;
mod ranges;
mod segments;
mod thread;

pub use account::{Accounts, FlowCounts};
pub use cwnd_net::LinkCounts;
pub use device::Device;
pub use drive::{Batching, Clock, Counts, Drive, End, NewLinks, PacketObserver, Plan, Record, Snapshot};
pub use lateness::RateMeter;
pub use net::{Inside, network};
pub use pool::Pool;
pub use thread::Emulator;
