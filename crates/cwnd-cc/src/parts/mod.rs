//! Parts that several algorithms are composed of.

pub mod draws;
pub mod hystart;
pub mod hystart_plus_plus;
pub mod marks;
pub mod reno;
pub mod round;
pub mod round_max;
pub mod slow_start;
pub mod time_min;
