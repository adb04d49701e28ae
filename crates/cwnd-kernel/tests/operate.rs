//! What an operator does with algorithms in the running kernel: instances, replacement, selection, metrics, canaries.
//!
//! These tests are ignored by default: they need root, a kernel with BPF congestion control, `ip` and `tc`.
//! `cargo test -p cwnd-kernel --features load --test operate -- --ignored --nocapture`. Names contain the process's number, so that
//! nothing else on the host is touched. Each test removes what it loaded.
#![cfg(feature = "load")]

mod lab;
mod operate {
    mod canary;
    pub mod host;
    mod instances;
    mod observe;
    mod select;
}
