//! Search for a path on which a congestion control algorithm does worst against a reference.
//!
//! A path is a bottleneck with a schedule, losses, a policer and cross traffic ([`Path`]). The search writes it as numbers
//! between 0 and 1, its genes ([`Space`]). An evaluation runs the algorithm and the reference over the same path with the same
//! seed, and compares a metric ([`Arena`], [`Goal`]).
//!
//! - [`search`]: random paths, then several CMA-ES at once from the best of them ([`cma`]);
//! - [`shrink`]: removes what does not matter from the path that was found, and rounds its numbers;
//! - [`study`]: writes what remains as a study file.
//!
//! The result depends on the seed and the number of evaluations, and not on the number of threads: the paths of a round are
//! evaluated in parallel and used in their order. A longer search begins with the rounds of a shorter one.
//!
//! The idea of searching for the network conditions under which an algorithm fails is that of CC-Fuzz (D. Ray and S. Seshan,
//! CC-Fuzz: Genetic algorithm-based fuzzing for stress testing congestion control algorithms, HotNets 2022).
#![forbid(unsafe_code)]

mod arena;
pub mod cma;
mod goal;
mod path;
mod search;
mod shrink;
mod space;
pub mod study;

pub use arena::{Arena, Pair, SEEDS};
pub use goal::Goal;
pub use path::{Component, Path};
pub use search::{Found, Plan, Progress, search};
pub use shrink::{KEPT, shrink};
pub use space::{Base, FAMILIES, Family, Space};
