//! The algorithms, one file each.

pub mod africa;
pub mod agile_sd;
pub mod bic;
pub mod compound;
pub mod cubic;
pub mod elastic;
pub mod highspeed;
pub mod htcp;
pub mod hybla;
pub mod illinois;
pub mod invs;
pub mod multcp;
pub mod newreno;
pub mod scalable;

use crate::AlgorithmInfo;

/// All algorithms: a new one is added here, and is then known everywhere.
pub(crate) static ALGORITHMS: &[AlgorithmInfo] = &[
    newreno::INFO,
    multcp::INFO,
    scalable::INFO,
    highspeed::INFO,
    htcp::INFO,
    hybla::INFO,
    bic::INFO,
    cubic::v2008::INFO,
    cubic::linux::INFO,
    cubic::INFO,
    compound::INFO_2006,
    compound::ns2::INFO,
    compound::INFO,
    africa::INFO,
    illinois::INFO,
    invs::INFO,
    agile_sd::INFO,
    elastic::INFO,
];
