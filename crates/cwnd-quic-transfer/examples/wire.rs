//! Measures transfers of the program `cwnd-quic-transfer`: over an emulated link that loses 1 % of its packets, and their CPU time without
//! loss. `cargo xtask quic-wire` builds both and runs it; it needs root.

#[cfg(target_os = "linux")]
#[path = "../tests/wire/mod.rs"]
mod wire;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    match linux::run() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            std::process::ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("error: networks can be emulated on Linux only");
    std::process::exit(1);
}

#[cfg(target_os = "linux")]
mod linux {
    use super::wire::{Link, Report, Transfer, over_links, run as run_transfers};
    use clap::Parser;
    use cwnd_scenario::{ByteSize, Rate, Time};
    use std::path::{Path, PathBuf};
    use std::process::Command;

    const RATE: Rate = Rate(50_000_000);
    const RTT: Time = Time(100_000_000);
    const STACKS: [&str; 2] = ["noq", "quinn"];
    const ALGORITHMS: [&str; 4] = ["bbr3", "cubic", "elastic", "agile-sd"];

    /// Measure transfers of 100 MB: with losses, and the CPU time of the sending process without.
    #[derive(Parser)]
    struct Flags {
        /// The program `cwnd-quic-transfer`.
        #[arg(long)]
        program: PathBuf,
        /// Size of each transfer.
        #[arg(long, default_value = "100 MB")]
        size: ByteSize,
        /// Runs over loopback, of which the one with the least CPU time counts.
        #[arg(long, default_value = "7")]
        runs: usize,
        /// Runs over the emulated link without loss, of which the one with the least CPU time counts.
        #[arg(long, default_value = "3")]
        link_runs: usize,
        /// Measure only this: `loss` or `cpu`.
        #[arg(long, value_parser = ["loss", "cpu"])]
        only: Option<String>,
    }

    /// Each algorithm on each stack, with the stack's own CUBIC first.
    fn transfers(size: u64) -> Vec<Transfer> {
        let of = |stack: &'static str| {
            let own = Transfer::new(stack, &format!("cubic@{stack}"), size);
            std::iter::once(own).chain(ALGORITHMS.map(|name| Transfer::new(stack, name, size)))
        };
        STACKS.into_iter().flat_map(of).collect()
    }

    pub fn run() -> Result<(), String> {
        let flags = Flags::parse();
        let is_wanted = |what: &str| flags.only.as_ref().is_none_or(|only| only == what);
        let transfers = transfers(flags.size.0);
        if is_wanted("loss") {
            lossy(&flags.program, &transfers)?;
        }
        if is_wanted("cpu") {
            cpu(&flags, &transfers)?;
        }
        Ok(())
    }

    /// All transfers at the same time, each over a link of its own.
    fn lossy(program: &Path, transfers: &[Transfer]) -> Result<(), String> {
        let (reports, lost) = over_links(program, Link { rate: RATE, rtt: RTT, loss: 0.01 }, transfers)?;
        println!(
            "{} bytes over {RATE}, {RTT}, 1 % loss, a buffer of 1 BDP; links lost {lost} packets",
            transfers[0].bytes
        );
        println!("stack  algorithm     time/s  Mbit/s  packets    lost  retransmitted  CPU/s");
        for (transfer, report) in transfers.iter().zip(&reports) {
            println!(
                "{:<6} {:<12} {:>7.1} {:>7.2} {:>8} {:>7} {:>12.2} % {:>6.2}",
                transfer.stack,
                transfer.algorithm,
                report.number("seconds"),
                report.number("mbit_per_s"),
                report.number("packets"),
                report.number("lost_packets"),
                100.0 * report.number("lost_packets") / report.number("packets"),
                report.number("cpu_seconds"),
            );
        }
        println!();
        Ok(())
    }

    fn over_loopback(program: &Path, transfer: &Transfer) -> Result<Report, String> {
        let ends = vec![("127.0.0.1:0".to_owned(), None)];
        let transfers = std::slice::from_ref(transfer);
        let mut reports = run_transfers(&|_| Ok(Command::new(program)), transfers, ends)?;
        reports.pop().ok_or_else(|| "no report".to_owned())
    }

    /// One transfer after the other, each algorithm in turn, and the least CPU time of each.
    fn cpu(flags: &Flags, transfers: &[Transfer]) -> Result<(), String> {
        let link = Link { rate: RATE, rtt: RTT, loss: 0.0 };
        let over_link = |transfer: &Transfer| {
            let (mut reports, _) = over_links(&flags.program, link, std::slice::from_ref(transfer))?;
            reports.pop().ok_or_else(|| "no report".to_owned())
        };
        let link = least(flags.link_runs, transfers, &over_link)?;
        let loopback = least(flags.runs, transfers, &|transfer| over_loopback(&flags.program, transfer))?;
        println!(
            "CPU time of the sending process for {} bytes without loss; the least of {} runs over {RATE} and {RTT}, and of {} over loopback;\n\
             the ratio is to the stack's own CUBIC",
            transfers[0].bytes, flags.link_runs, flags.runs
        );
        println!("stack  algorithm     link: CPU/s  ratio  Mbit/s    loopback: CPU/s  ratio  Mbit/s");
        for (i, transfer) in transfers.iter().enumerate() {
            let own = transfers.iter().position(|own| own.stack == transfer.stack).unwrap_or(i);
            let cells = |of: &[Least]| (of[i].cpu, of[i].cpu / of[own].cpu, of[i].rate);
            let ((a, b, c), (d, e, f)) = (cells(&link), cells(&loopback));
            println!(
                "{:<6} {:<12} {a:>12.3} {b:>6.2} {c:>7.1} {d:>18.3} {e:>6.2} {f:>7.0}",
                transfer.stack, transfer.algorithm
            );
        }
        Ok(())
    }

    /// The run with the least CPU time.
    #[derive(Clone, Copy)]
    struct Least {
        cpu: f64,
        rate: f64,
    }

    fn least(
        runs: usize,
        transfers: &[Transfer],
        transfer: &dyn Fn(&Transfer) -> Result<Report, String>,
    ) -> Result<Vec<Least>, String> {
        let mut least = vec![Least { cpu: f64::INFINITY, rate: 0.0 }; transfers.len()];
        for _ in 0..runs {
            for (which, least) in transfers.iter().zip(&mut least) {
                let report = transfer(which)?;
                let cpu = report.number("cpu_seconds");
                if cpu < least.cpu {
                    *least = Least { cpu, rate: report.number("mbit_per_s") };
                }
            }
        }
        Ok(least)
    }
}
