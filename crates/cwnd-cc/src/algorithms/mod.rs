//! The algorithms, one file each.

pub mod agile_sd;
pub mod bbr;
pub mod bbr3;
pub mod cltcp;
pub mod compound;
pub mod copa;
pub mod cubic;
pub mod d2tcp;
pub mod dctcp;
pub mod elastic;
pub mod ledbat_pp;
pub mod newreno;

use crate::AlgorithmInfo;

/// All algorithms: a new one is added here, and is then known everywhere.
pub(crate) static ALGORITHMS: &[AlgorithmInfo] = &[
    newreno::INFO,
    cubic::v2008::INFO,
    cubic::linux::INFO,
    cubic::INFO,
    compound::INFO_2006,
    compound::ns2::INFO,
    compound::INFO,
    agile_sd::INFO,
    elastic::INFO,
    dctcp::INFO,
    d2tcp::INFO,
    cltcp::INFO,
    bbr::INFO,
    bbr3::INFO,
    copa::INFO,
    ledbat_pp::INFO,
];
