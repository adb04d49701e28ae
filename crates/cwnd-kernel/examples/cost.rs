//! What each algorithm costs in this kernel: nanoseconds an ACK, CPU seconds a GB, instructions. Needs root.
//!
//! `cargo run --release -p cwnd-kernel --features load --example cost` prints it all;
//! `... --example cost -- pairs` the CPU time of two of them beside the kernel's own, by turns;
//! `... --example cost -- instructions > crates/cwnd-kernel/instructions.txt` what is kept of the instructions.

#[path = "../tests/lab/mod.rs"]
mod lab;

use cwnd_kernel::{KernelAlgorithm, load};
use lab::Lab;
use std::{error::Error, fs, time::Duration};

const STATISTICS: &str = "/proc/sys/kernel/bpf_stats_enabled";
const BYTES: u64 = 200_000_000;
/// Looking at the window costs, too.
const EVERY: Duration = Duration::from_millis(20);
/// Transfers of which the least CPU time counts.
const REPEATS: usize = 3;
/// What the others are held against.
const BASELINE: &str = "cubic";

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("instructions") => return instructions(),
        Some("pairs") => return pairs(),
        _ => {}
    }
    let lab = Lab::new("1gbit", "250k", 0)?;
    let costs: Vec<(&KernelAlgorithm, f64)> = {
        let _counting = Counting::begin()?;
        cwnd_kernel::all()
            .iter()
            .map(|algorithm| Ok((algorithm, per_ack(algorithm, &lab)?)))
            .collect::<Result<_, Box<dyn Error>>>()?
    };
    let baseline =
        costs.iter().find(|(algorithm, _)| algorithm.name == BASELINE).map_or(f64::NAN, |(_, cost)| *cost);
    let built_in = cpu_per_gb(&lab, "cubic")?;
    println!("built-in cubic: {built_in:.2} CPU s a GB");
    println!(
        "{:12} {:>9} {:>8} {:>13} {:>9}",
        "algorithm", "ns an ACK", "of cubic", "CPU s a GB", "of cubic"
    );
    for (algorithm, cost) in costs {
        let loaded = load::load(algorithm, &[])?;
        let cpu = cpu_per_gb(&lab, &loaded.kernel_name())?;
        let (share, cpu_share) = (cost / baseline, cpu / built_in);
        println!("{:12} {cost:9.0} {share:8.2} {cpu:13.2} {cpu_share:9.2}", algorithm.name);
    }
    Ok(())
}

/// Nanoseconds of all hooks for each call of the hook that is called most, which is one of each ACK.
fn per_ack(algorithm: &'static KernelAlgorithm, lab: &Lab) -> Result<f64, Box<dyn Error>> {
    let loaded = load::load(algorithm, &[])?;
    lab.transfer(&loaded.kernel_name(), BYTES, EVERY)?;
    let programs = loaded.programs();
    let time: u64 = programs.iter().map(|program| program.time_ns).sum();
    let calls = programs.iter().map(|program| program.calls).max().unwrap_or(0);
    Ok(time as f64 / calls.max(1) as f64)
}

fn cpu_per_gb(lab: &Lab, name: &str) -> Result<f64, Box<dyn Error>> {
    let mut least = f64::INFINITY;
    for _ in 0..REPEATS {
        least = least.min(lab.transfer(name, BYTES, EVERY)?.cpu_seconds);
    }
    Ok(least / (BYTES as f64 / 1e9))
}

/// The same rules in BPF and in the kernel itself, by turns, so that what else the machine does falls on both.
fn pairs() -> Result<(), Box<dyn Error>> {
    const TURNS: usize = 8;
    let lab = Lab::new("1gbit", "250k", 0)?;
    for (ours, theirs) in [("newreno", "reno"), ("cubic", "cubic")] {
        let loaded = load::load(cwnd_kernel::find_or_explain(ours)?, &[])?;
        let names = [loaded.kernel_name(), theirs.to_owned()];
        let mut seconds = [Vec::new(), Vec::new()];
        for _ in 0..TURNS {
            for (name, seconds) in names.iter().zip(&mut seconds) {
                seconds.push(lab.transfer(name, BYTES, EVERY)?.cpu_seconds / (BYTES as f64 / 1e9));
            }
        }
        for (name, mut seconds) in names.iter().zip(seconds) {
            seconds.sort_by(f64::total_cmp);
            println!("{name:14} {:.2} CPU s a GB at least, median {:.2}", seconds[0], seconds[TURNS / 2]);
        }
    }
    Ok(())
}

fn instructions() -> Result<(), Box<dyn Error>> {
    println!("{:12} {:14} {:>12} {:>8}", "algorithm", "hook", "instructions", "verified");
    for algorithm in cwnd_kernel::all() {
        let mut programs = load::load(algorithm, &[])?.programs();
        programs.sort_by(|a, b| a.hook.cmp(&b.hook));
        for program in programs {
            let load::ProgramCost { hook, instructions, verified, .. } = program;
            println!("{:12} {hook:14} {instructions:12} {verified:8}", algorithm.name);
        }
    }
    Ok(())
}

/// Run-time statistics of BPF, while this lives.
struct Counting {
    before: String,
}

impl Counting {
    fn begin() -> std::io::Result<Counting> {
        let before = fs::read_to_string(STATISTICS)?;
        fs::write(STATISTICS, "1")?;
        Ok(Counting { before })
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        let _ = fs::write(STATISTICS, self.before.trim());
    }
}
