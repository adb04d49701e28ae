//! The network between the two ends: packets of real hosts go through the queues and lines of `cwnd-link`, in real time.

mod account;
mod drive;
mod lateness;
mod net;
mod packet;
mod pool;
mod thread;

pub use account::{Accounts, FlowCounts};
pub use drive::{Clock, Counts, Drive, End, Plan, Record, Snapshot, Watcher};
pub use lateness::RateMeter;
pub use net::{LinkCounts, Net};
pub use pool::Pool;
pub use thread::Emulator;
