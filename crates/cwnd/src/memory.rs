//! `--memory`, which all commands share that run something or say what it would cost.

use clap::Args;
use cwnd_scenario::ByteSize;
use cwnd_study::memory::MemoryBudget;

/// How much memory runs may use.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct MemoryFlags {
    /// Memory that runs may use together, such as `4 GB`; what needs more is refused before it begins [default: 80 % of
    /// what the machine, or the control group, has free beyond 40 MB].
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    memory: Option<ByteSize>,
}

impl MemoryFlags {
    /// Returns flags that state a size.
    pub fn stated(size: ByteSize) -> MemoryFlags {
        MemoryFlags { memory: Some(size) }
    }

    /// Returns what is stated, or what this process has.
    pub fn budget(self) -> MemoryBudget {
        self.memory.map_or_else(MemoryBudget::of_this_process, |size| MemoryBudget::stated(size.0))
    }
}
