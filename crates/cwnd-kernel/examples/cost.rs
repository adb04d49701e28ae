//! What each algorithm costs in this kernel: nanoseconds an ACK, CPU seconds a GB, instructions. Needs root.
//!
//! `cargo run --release -p cwnd-kernel --features load --example cost` prints what the hooks take and the CPU time of each
//! beside the kernel's cubic by turns; `... --example cost -- hooks` and `-- turns` one of the two, `-- pairs` the CPU time
//! of two beside the same rules in the kernel itself, and `-- instructions > crates/cwnd-kernel/instructions.txt` what is
//! kept of the instructions.

#[path = "../tests/lab/mod.rs"]
mod lab;

use cwnd_kernel::{KernelAlgorithm, load};
use lab::Lab;
use std::{error::Error, fmt, fs, time::Duration};

const STATISTICS: &str = "/proc/sys/kernel/bpf_stats_enabled";
const BYTES: u64 = 200_000_000;
/// Looking at the window costs, too.
const EVERY: Duration = Duration::from_millis(20);
/// Transfers of each of which the hooks are timed.
const REPEATS: usize = 5;
/// Transfers of each, one of ours, one of the other's, and so on, so that what else the machine does falls on both.
const TURNS: usize = 7;
/// What the others are held against.
const BASELINE: &str = "cubic-linux";

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        None => hooks(&[]).and_then(|()| turns(&[])),
        Some("hooks") => hooks(&std::env::args().skip(2).collect::<Vec<_>>()),
        Some("turns") => turns(&std::env::args().skip(2).collect::<Vec<_>>()),
        Some("pairs") => pairs(),
        Some("instructions") => instructions(),
        Some(other) => Err(format!("`{other}` is not one of hooks, turns, pairs and instructions").into()),
    }
}

/// What the hooks of each take, or of those that are named and the baseline, all of them in turn and then again: who is interrupted
/// once is not in the median.
fn hooks(names: &[String]) -> Result<(), Box<dyn Error>> {
    let lab = Lab::new("1gbit", "250k", 0)?;
    let asked = |algorithm: &&KernelAlgorithm| {
        names.is_empty() || algorithm.name == BASELINE || names.iter().any(|name| name == algorithm.name)
    };
    let mut costs: Vec<(&KernelAlgorithm, Hooks)> =
        cwnd_kernel::all().iter().filter(asked).map(|algorithm| (algorithm, Hooks::default())).collect();
    {
        let _counting = Counting::begin()?;
        for _ in 0..REPEATS {
            for (algorithm, hooks) in &mut costs {
                hooks.add(algorithm, &lab)?;
            }
        }
    }
    for (_, hooks) in &mut costs {
        hooks.per_ack.sort_by(f64::total_cmp);
        hooks.per_gb.sort_by(f64::total_cmp);
    }
    let baseline = costs.iter().find(|(algorithm, _)| algorithm.name == BASELINE);
    let baseline = baseline.map_or(f64::NAN, |(_, hooks)| hooks.per_ack[REPEATS / 2]);
    println!(
        "{:12} {:>30} {:>8} {:>17}",
        "algorithm", "ns an ACK (least to greatest)", "of cubic", "hooks' CPU s a GB"
    );
    for (algorithm, Hooks { per_ack, per_gb }) in costs {
        let median = per_ack[REPEATS / 2];
        let range = format!("({:.0} to {:.0})", per_ack[0], per_ack[REPEATS - 1]);
        let (share, name) = (median / baseline, algorithm.name);
        println!("{name:12} {median:13.0} {range:>16} {share:8.2} {:17.3}", per_gb[REPEATS / 2]);
    }
    Ok(())
}

/// What all hooks of an algorithm took, of some transfers.
#[derive(Default)]
struct Hooks {
    /// Nanoseconds, for each call of the hook that is called most, which is one of each ACK.
    per_ack: Vec<f64>,
    /// Seconds.
    per_gb: Vec<f64>,
}

impl Hooks {
    fn add(&mut self, algorithm: &'static KernelAlgorithm, lab: &Lab) -> Result<(), Box<dyn Error>> {
        let loaded = load::load_private(algorithm, &[])?;
        lab.transfer(loaded.kernel_name(), BYTES, EVERY)?;
        let programs = loaded.programs();
        let time = programs.iter().map(|program| program.time_ns).sum::<u64>() as f64;
        let calls = programs.iter().map(|program| program.calls).max().unwrap_or(0);
        self.per_ack.push(time / calls.max(1) as f64);
        self.per_gb.push(time / BYTES as f64);
        Ok(())
    }
}

/// CPU time of each, or of those that are named, beside the kernel's own cubic.
fn turns(names: &[String]) -> Result<(), Box<dyn Error>> {
    let lab = Lab::new("1gbit", "250k", 0)?;
    println!("{:12} {}", "algorithm", Turns::HEADING);
    let asked =
        |algorithm: &&KernelAlgorithm| names.is_empty() || names.iter().any(|name| name == algorithm.name);
    for algorithm in cwnd_kernel::all().iter().filter(asked) {
        println!("{:12} {}", algorithm.name, Turns::of(&lab, algorithm, BASELINE)?);
    }
    Ok(())
}

/// CPU time of the same rules in BPF and in the kernel itself.
fn pairs() -> Result<(), Box<dyn Error>> {
    let lab = Lab::new("1gbit", "250k", 0)?;
    println!("{:12} {}", "", Turns::HEADING);
    for (ours, theirs) in [("newreno", "reno"), ("cubic-linux", "cubic")] {
        let turns = Turns::of(&lab, cwnd_kernel::find_or_explain(ours)?, theirs)?;
        println!("{ours:12} {turns}");
    }
    Ok(())
}

/// CPU seconds a GB of an algorithm and of one that is in the kernel, least first, and how often each sent again.
struct Turns {
    ours: Vec<f64>,
    theirs: Vec<f64>,
    retransmissions: [Vec<u32>; 2],
}

impl Turns {
    const HEADING: &str =
        "CPU s a GB: median (least to greatest)    the kernel's           medians  sent again";

    fn of(lab: &Lab, algorithm: &'static KernelAlgorithm, theirs: &str) -> Result<Turns, Box<dyn Error>> {
        let loaded = load::load_private(algorithm, &[])?;
        let mut turns = Turns { ours: Vec::new(), theirs: Vec::new(), retransmissions: Default::default() };
        for _ in 0..TURNS {
            for (which, name) in [loaded.kernel_name(), theirs].into_iter().enumerate() {
                let transfer = lab.transfer(name, BYTES, EVERY)?;
                let seconds = if which == 0 { &mut turns.ours } else { &mut turns.theirs };
                seconds.push(transfer.cpu_seconds / (BYTES as f64 / 1e9));
                turns.retransmissions[which].push(transfer.retransmissions);
            }
        }
        turns.ours.sort_by(f64::total_cmp);
        turns.theirs.sort_by(f64::total_cmp);
        turns.retransmissions.iter_mut().for_each(|counts| counts.sort_unstable());
        Ok(turns)
    }
}

impl fmt::Display for Turns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for seconds in [&self.ours, &self.theirs] {
            let (least, greatest) = (seconds[0], seconds[TURNS - 1]);
            write!(f, "{:5.2} ({least:.2} to {greatest:.2})    ", seconds[TURNS / 2])?;
        }
        let [ours, theirs] = &self.retransmissions;
        let ratio = self.ours[TURNS / 2] / self.theirs[TURNS / 2];
        write!(f, "{ratio:5.2}  {}, {}", ours[TURNS / 2], theirs[TURNS / 2])
    }
}

fn instructions() -> Result<(), Box<dyn Error>> {
    println!("{:12} {:14} {:>12} {:>8}", "algorithm", "hook", "instructions", "verified");
    for algorithm in cwnd_kernel::all() {
        let mut programs = load::load_private(algorithm, &[])?.programs();
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
