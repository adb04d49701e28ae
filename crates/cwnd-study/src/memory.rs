//! How much memory runs may use: what the machine and the control groups of this process leave, or what a person states.

use std::fmt;

/// What the program takes besides its runs, bytes: of huge pages (docs/speed.md) parts remain unused.
const PROGRAM: f64 = 40e6;
/// The share of the rest of the free memory that runs may use. What remains is for other processes and for errors of the estimates.
const SHARE: f64 = 0.8;
/// Where the system does not say what is free, bytes.
const ASSUMED: f64 = 8e9;

/// The memory that runs may use together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryBudget {
    /// Bytes.
    pub bytes: f64,
    /// What sets it.
    pub origin: MemoryOrigin,
}

/// What sets a [`MemoryBudget`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryOrigin {
    /// A person.
    Stated,
    /// The machine's free memory.
    Machine,
    /// The memory limit of a control group.
    ControlGroup,
    /// The process's limit of its address space (`ulimit -v`).
    AddressSpace,
    /// Nothing that is known.
    Assumed,
}

/// Runs need more memory than they may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TooMuchMemory {
    /// What they need at most, about, bytes.
    pub needed: f64,
    /// What they may use.
    pub budget: MemoryBudget,
}

impl MemoryBudget {
    /// Returns a budget of as many bytes as a person states.
    pub fn stated(bytes: u64) -> MemoryBudget {
        MemoryBudget { bytes: bytes as f64, origin: MemoryOrigin::Stated }
    }

    /// Returns the budget that this process has now.
    pub fn of_this_process() -> MemoryBudget {
        MemoryBudget::from_files(&|path| std::fs::read_to_string(path).ok())
    }

    /// Returns the budget that the kernel's files give, where `read` returns the text of a file: the least of what the
    /// machine, each control group above the process (versions 1 and 2), and `ulimit -v` leave.
    pub fn from_files(read: &dyn Fn(&str) -> Option<String>) -> MemoryBudget {
        let machine = read("/proc/meminfo").and_then(|text| Some(field(&text, "MemAvailable:")? * 1024.0));
        let groups = control_groups(&read("/proc/self/cgroup").unwrap_or_default());
        let group = groups.iter().filter_map(|group| group.free(read)).min_by(f64::total_cmp);
        let space = address_space(read);
        let all = [
            (machine, MemoryOrigin::Machine),
            (group, MemoryOrigin::ControlGroup),
            (space, MemoryOrigin::AddressSpace),
        ];
        let known = all.into_iter().filter_map(|(free, origin)| Some((free?, origin)));
        match known.min_by(|(one, _), (other, _)| one.total_cmp(other)) {
            Some((free, origin)) => MemoryBudget { bytes: SHARE * (free - PROGRAM).max(0.0), origin },
            None => MemoryBudget { bytes: ASSUMED, origin: MemoryOrigin::Assumed },
        }
    }

    /// Checks that runs which need this many bytes fit.
    ///
    /// # Errors
    /// If they do not.
    pub fn check(self, needed: f64) -> Result<(), TooMuchMemory> {
        if needed <= self.bytes { Ok(()) } else { Err(TooMuchMemory { needed, budget: self }) }
    }
}

impl fmt::Display for TooMuchMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let may = match self.budget.origin {
            MemoryOrigin::Stated => "as --memory states",
            MemoryOrigin::Machine => "80 % of what this machine has free beyond 40 MB",
            MemoryOrigin::ControlGroup => "80 % of what its control group has free beyond 40 MB",
            MemoryOrigin::AddressSpace => "80 % of what `ulimit -v` leaves beyond 40 MB",
            MemoryOrigin::Assumed => "this system does not say what is free",
        };
        let (needed, bytes) = (size(self.needed), size(self.budget.bytes));
        write!(f, "about {needed} of memory may be needed, and {bytes} may be used ({may})")
    }
}

impl std::error::Error for TooMuchMemory {}

/// Formats a number of bytes for people.
pub fn size(bytes: f64) -> String {
    match bytes {
        n if n < 1e6 => format!("{:.0} KB", (n / 1e3).ceil()),
        n if n < 1e9 => format!("{:.1} MB", n / 1e6),
        n => format!("{:.1} GB", n / 1e9),
    }
}

/// Returns the number after a name at the beginning of a line.
fn field(text: &str, name: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
}

fn address_space(read: &dyn Fn(&str) -> Option<String>) -> Option<f64> {
    let limit = field(&read("/proc/self/limits")?, "Max address space")?;
    let used = field(&read("/proc/self/status")?, "VmSize:")? * 1024.0;
    Some((limit - used).max(0.0))
}

/// A control group that limits memory: its directory, and what its files are called.
struct ControlGroup {
    directory: String,
    files: &'static Files,
}

/// The names of a control group's files, and of the line that counts the page cache which can be given up at once.
struct Files {
    limit: &'static str,
    used: &'static str,
    inactive: &'static str,
}

const VERSION_1: Files =
    Files { limit: "memory.limit_in_bytes", used: "memory.usage_in_bytes", inactive: "total_inactive_file " };
const VERSION_2: Files = Files { limit: "memory.max", used: "memory.current", inactive: "inactive_file " };

/// Returns the groups that the lines of `/proc/self/cgroup` name, with all groups above them. In a container the names may
/// be the host's, and only the topmost directory exists; it is then the container's own group.
fn control_groups(lines: &str) -> Vec<ControlGroup> {
    let mut groups = Vec::new();
    for line in lines.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (root, files) = match controllers {
            "" => ("/sys/fs/cgroup", &VERSION_2),
            names if names.split(',').any(|name| name == "memory") => ("/sys/fs/cgroup/memory", &VERSION_1),
            _ => continue,
        };
        let mut path = if path.contains("..") { "" } else { path.trim_end_matches('/') };
        loop {
            groups.push(ControlGroup { directory: format!("{root}{path}"), files });
            match path.rsplit_once('/') {
                Some((above, _)) => path = above,
                None => break,
            }
        }
    }
    groups
}

impl ControlGroup {
    /// Returns what its limit leaves, bytes; none if it has no limit.
    fn free(&self, read: &dyn Fn(&str) -> Option<String>) -> Option<f64> {
        let read = |name: &str| read(&format!("{}/{name}", self.directory));
        let number = |name: &str| read(name)?.trim().parse::<f64>().ok();
        let limit = number(self.files.limit)?;
        let inactive = field(&read("memory.stat").unwrap_or_default(), self.files.inactive).unwrap_or(0.0);
        Some((limit - (number(self.files.used)? - inactive).max(0.0)).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The free memory from which the budget follows, on a system with these files.
    fn free(files: &[(&str, &str)]) -> (f64, MemoryOrigin) {
        let read =
            |path: &str| files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned());
        let budget = MemoryBudget::from_files(&read);
        (budget.bytes / SHARE + PROGRAM, budget.origin)
    }

    const MEMINFO: (&str, &str) = (
        "/proc/meminfo",
        "MemTotal:       24000000 kB\nMemFree:         9000000 kB\nMemAvailable:   20000000 kB\n",
    );

    #[test]
    fn the_machine_says_what_is_free() {
        assert_eq!(free(&[MEMINFO]), (20_000_000.0 * 1024.0, MemoryOrigin::Machine));
        assert_eq!(MemoryBudget::from_files(&|_| None).origin, MemoryOrigin::Assumed);
    }

    #[test]
    fn the_least_of_all_groups_of_version_2_counts() {
        let own = "/sys/fs/cgroup/user.slice/session-1.scope";
        let group = ("/proc/self/cgroup", "0::/user.slice/session-1.scope\n");
        let unlimited = [(format!("{own}/memory.max"), "max\n"), (format!("{own}/memory.current"), "5\n")];
        let unlimited = unlimited.each_ref().map(|(path, text)| (path.as_str(), *text));
        assert_eq!(free(&[&[MEMINFO, group][..], &unlimited].concat()).1, MemoryOrigin::Machine);
        // The limit of the group above.
        let above = [
            ("/sys/fs/cgroup/user.slice/memory.max", "2000000000\n"),
            ("/sys/fs/cgroup/user.slice/memory.current", "1500000000\n"),
            ("/sys/fs/cgroup/user.slice/memory.stat", "anon 1\ninactive_file 600000000\nactive_file 7\n"),
        ];
        let files = [&[MEMINFO, group][..], &unlimited, &above].concat();
        assert_eq!(free(&files), (1.1e9, MemoryOrigin::ControlGroup));
        // More is used than the limit allows: nothing is left for runs.
        let above = [
            ("/sys/fs/cgroup/user.slice/memory.max", "2000000000\n"),
            ("/sys/fs/cgroup/user.slice/memory.current", "2500000000\n"),
        ];
        assert_eq!(free(&[&[MEMINFO, group][..], &above].concat()).0, PROGRAM);
    }

    #[test]
    fn groups_of_version_1_count_too() {
        let group = ("/proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/docker/ab\n0::/\n");
        // In a container the host's name leads nowhere, and the topmost directory is its own group.
        let limited = [
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1000000000\n"),
            ("/sys/fs/cgroup/memory/memory.usage_in_bytes", "400000000\n"),
            ("/sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 100000000\n"),
        ];
        assert_eq!(free(&[&[MEMINFO, group][..], &limited].concat()), (0.7e9, MemoryOrigin::ControlGroup));
        let unlimited = [
            ("/sys/fs/cgroup/memory/docker/ab/memory.limit_in_bytes", "9223372036854771712\n"),
            ("/sys/fs/cgroup/memory/docker/ab/memory.usage_in_bytes", "400000000\n"),
        ];
        assert_eq!(free(&[&[MEMINFO, group][..], &unlimited].concat()).1, MemoryOrigin::Machine);
    }

    #[test]
    fn the_limit_of_the_address_space_counts_if_there_is_one() {
        let status = ("/proc/self/status", "Name:\tcwnd\nVmSize:\t  100000 kB\n");
        let limits = |limit: &'static str| ("/proc/self/limits", limit);
        let limited = limits(
            "Limit   Soft Limit  Hard Limit  Units\nMax address space  4096000000  unlimited  bytes\n",
        );
        assert_eq!(free(&[MEMINFO, status, limited]), (4_096e6 - 102.4e6, MemoryOrigin::AddressSpace));
        let unlimited = limits("Max address space         unlimited            unlimited            bytes\n");
        assert_eq!(free(&[MEMINFO, status, unlimited]).1, MemoryOrigin::Machine);
    }

    #[test]
    fn what_does_not_fit_is_told_with_what_may_be_used() {
        let budget = MemoryBudget { bytes: 2e9, origin: MemoryOrigin::ControlGroup };
        assert_eq!(budget.check(2e9), Ok(()));
        assert_eq!(
            budget.check(51e9).unwrap_err().to_string(),
            "about 51.0 GB of memory may be needed, and 2.0 GB may be used (80 % of what its control group has free beyond 40 MB)"
        );
        assert!(MemoryBudget::stated(1_000).check(1_001.0).is_err());
        assert_eq!(
            (size(1_100.0), size(5.25e6), size(2e9)),
            ("2 KB".into(), "5.2 MB".into(), "2.0 GB".into())
        );
    }
}
