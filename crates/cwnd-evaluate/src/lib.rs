//! What RFC 9743 asks of a new congestion control algorithm, as studies and criteria.
//!
//! Each section of the RFC has a study in `studies/rfc9743/`, in which the algorithm under test and the references take the same
//! place with the same seeds. `criteria.toml` lists the criteria: which metric of which study, and which way is better.
//!
//! - [`criteria`]: the list;
//! - [`candidate`]: how an algorithm is put into a study;
//! - [`judge`]: from the results of the studies to verdicts;
//! - [`ledger`]: the verdicts as a JSON document that can be kept and compared;
//! - [`page`]: the same for readers.
//!
//! The verdicts compare with the reference, usually CUBIC: better, as, worse. The RFC sets no thresholds, and nothing here does.
#![forbid(unsafe_code)]

pub mod candidate;
pub mod criteria;
pub mod judge;
pub mod ledger;
pub mod page;
mod pictures;
pub mod spot;

pub use candidate::Field;
pub use criteria::{Criteria, Criterion, Row};
pub use ledger::Ledger;
