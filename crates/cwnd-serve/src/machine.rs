//! What this machine offers, so that the page can say what is not available and why.

use serde::Serialize;

/// This machine.
#[derive(Serialize)]
pub struct Machine {
    /// The version of cwnd.
    version: &'static str,
    /// The kernel's release and architecture; empty on other systems than Linux.
    kernel: String,
    /// The congestion controls that sockets may select.
    available: Vec<String>,
    /// The congestion control of sockets that select none.
    default: String,
    threads: usize,
    /// Why scenarios cannot run over this kernel; none if they can.
    lab_problem: Option<String>,
    /// Why TCP sockets cannot be listed; none if they can.
    sockets_problem: Option<&'static str>,
}

impl Machine {
    /// Describes this machine. The first call tries an emulated network, which takes a moment.
    pub fn here() -> Machine {
        Machine {
            version: env!("CARGO_PKG_VERSION"),
            kernel: kernel(),
            available: available(),
            default: default(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            lab_problem: lab_problem(),
            sockets_problem: sockets_problem(),
        }
    }
}

#[cfg(target_os = "linux")]
fn kernel() -> String {
    cwnd_lab::host::kernel()
}

#[cfg(target_os = "linux")]
fn available() -> Vec<String> {
    cwnd_lab::host::available()
}

#[cfg(target_os = "linux")]
fn default() -> String {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control");
    text.unwrap_or_default().trim().to_owned()
}

#[cfg(target_os = "linux")]
fn lab_problem() -> Option<String> {
    crate::lab_run::why_not()
}

#[cfg(target_os = "linux")]
fn sockets_problem() -> Option<&'static str> {
    None
}

#[cfg(not(target_os = "linux"))]
fn kernel() -> String {
    String::new()
}

#[cfg(not(target_os = "linux"))]
fn available() -> Vec<String> {
    Vec::new()
}

#[cfg(not(target_os = "linux"))]
fn default() -> String {
    String::new()
}

#[cfg(not(target_os = "linux"))]
fn lab_problem() -> Option<String> {
    Some(format!("real kernels are run on Linux alone, and this is {}", std::env::consts::OS))
}

#[cfg(not(target_os = "linux"))]
fn sockets_problem() -> Option<&'static str> {
    Some("TCP sockets are listed on Linux alone")
}
