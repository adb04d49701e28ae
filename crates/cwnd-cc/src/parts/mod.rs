//! Components of several algorithms.

pub mod backlog;
pub mod bandwidth;
pub mod candidate_max;
pub mod careful_resume;
pub mod draws;
pub mod highspeed_response;
pub mod hystart;
pub mod hystart_plus_plus;
pub mod jiffies;
pub mod limited_slow_start;
pub mod marks;
pub mod prior_state;
pub mod reno;
pub mod round;
pub mod round_max;
pub mod search;
pub mod slow_start;
pub mod time_min;
