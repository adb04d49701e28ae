//! Parts that several algorithms are composed of.

pub mod backlog;
pub mod bandwidth;
pub mod hystart;
pub mod hystart_plus_plus;
pub mod reno;
pub mod round;
pub mod slow_start;
