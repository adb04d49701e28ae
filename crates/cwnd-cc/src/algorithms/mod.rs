//! The algorithms, one file each, and the registry that lists them.

pub mod africa;
pub mod agile_sd;
pub mod areno;
pub mod bbr;
pub mod bbr3;
pub mod bic;
pub mod cdg;
pub mod cltcp;
pub mod compound;
pub mod copa;
pub mod cubic;
pub mod d2tcp;
pub mod dctcp;
pub mod elastic;
pub mod er_tcp_reconstruction;
pub mod fast;
pub mod fusion;
pub mod highspeed;
pub mod htcp;
pub mod hybla;
pub mod illinois;
pub mod invs;
pub mod ledbat_pp;
pub mod multcp;
pub mod new_vegas_reconstruction;
pub mod newreno;
pub mod prague;
pub mod scalable;
pub mod scream;
pub mod tcp_fit;
#[cfg(test)]
mod tests;
pub mod vegas;
pub mod veno;
pub mod westwood;
pub mod yeah;

use crate::AlgorithmInfo;

/// Returns every algorithm, in the order of the list.
pub fn all() -> &'static [AlgorithmInfo] {
    ALGORITHMS
}

/// Returns the algorithm of this name.
pub fn find(name: &str) -> Option<&'static AlgorithmInfo> {
    ALGORITHMS.iter().find(|algorithm| algorithm.name == name)
}

/// All algorithms. A new one is added here and to the modules above; `cargo xtask renew` then renews what is generated from the list.
static ALGORITHMS: &[AlgorithmInfo] = &[
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
    vegas::INFO,
    fast::INFO,
    veno::INFO,
    westwood::INFO,
    areno::INFO,
    yeah::INFO,
    fusion::INFO,
    tcp_fit::INFO,
    new_vegas_reconstruction::INFO,
    er_tcp_reconstruction::INFO,
    dctcp::INFO,
    d2tcp::INFO,
    prague::INFO,
    scream::INFO,
    cltcp::INFO,
    bbr::INFO,
    bbr3::INFO,
    copa::INFO,
    ledbat_pp::INFO,
    cdg::INFO,
];
