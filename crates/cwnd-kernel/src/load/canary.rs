//! A canary: a share of a cgroup's new connections gets another congestion control, and both groups are counted.

use super::{
    LoadError,
    object::NAME_SIZE,
    programs::{self, CANARY, Cgroup},
    selections,
};
use libbpf_rs::{Link, MapCore, MapFlags, Object};

/// A canary that is going on. Dropping it detaches the program: new connections get what they would get without it.
#[derive(Debug)]
pub struct Canary {
    object: Object,
    _link: Link,
}

/// What the connections of a group have done since the canary began. `struct counts` of `host/canary.bpf.c`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections that had a round trip.
    pub sockets: u64,
    /// Segments with data that were sent, retransmissions included.
    pub segments: u64,
    /// Segments that were retransmitted.
    pub retransmissions: u64,
    /// Round trips.
    pub rtts: u64,
    /// The sum of the smoothed round-trip time at each round trip, microseconds.
    pub rtt_sum_us: u64,
    /// Canaries that returned to their former congestion control.
    pub returned: u64,
}

/// The two groups of a canary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// Connections that got the new congestion control.
    pub canary: Counts,
    /// The others.
    pub rest: Counts,
}

impl Canary {
    /// Begins a canary in a cgroup and those below it. `share` of the new connections, from 0 to 1, get `canary`. The others get `rest`,
    /// or what they would get without the canary. Connections whose application selects a congestion control are in neither group.
    ///
    /// # Errors
    /// A name is not registered, the cgroup has a selection, or the kernel refuses the program.
    pub fn begin(cgroup: &Cgroup, canary: &str, rest: Option<&str>, share: f64) -> Result<Canary, LoadError> {
        let mut plan = [0; 2 * NAME_SIZE];
        plan[..NAME_SIZE].copy_from_slice(&programs::registered_name(canary)?);
        if let Some(rest) = rest {
            plan[NAME_SIZE..].copy_from_slice(&programs::registered_name(rest)?);
        }
        // The kernel runs a cgroup's programs before those of the cgroups above it. A selection that runs first would leave none.
        let below = |selection: &super::Selection| {
            selection.cgroup.as_ref().is_some_and(|other| other.path.starts_with(&cgroup.path))
        };
        if let Some(selection) = selections().into_iter().find(below) {
            let path = selection.cgroup.map(|cgroup| cgroup.path).unwrap_or_default();
            return Err(LoadError::Parameter(format!(
                "cgroup {} has the selection {}, and its connections would not be in the canary: remove it with `cwnd kernel \
                 unselect cgroup {}`, and give --rest {}",
                path.display(),
                selection.name,
                path.display(),
                selection.name
            )));
        }
        let mut object = CANARY.load(Some(&plan))?;
        control(&object, share, false)?;
        let link = programs::attach(&mut object, cgroup)?;
        Ok(Canary { object, _link: link })
    }

    /// Returns the counts so far.
    ///
    /// # Errors
    /// The kernel does not show them.
    pub fn counts(&self) -> Result<Groups, LoadError> {
        let read = |group: u32| -> Result<Counts, LoadError> {
            let bytes = map(&self.object, "counts")
                .lookup(&group.to_ne_bytes(), MapFlags::ANY)
                .map_err(|error| LoadError::Kernel(format!("the counts of the canary: {error}")))?
                .unwrap_or_default();
            let mut words =
                bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("eight bytes")));
            let mut next = || words.next().unwrap_or(0);
            Ok(Counts {
                sockets: next(),
                segments: next(),
                retransmissions: next(),
                rtts: next(),
                rtt_sum_us: next(),
                returned: next(),
            })
        };
        Ok(Groups { rest: read(0)?, canary: read(1)? })
    }

    /// Gives no new connection the canary's congestion control, and returns each open canary to what it had before, at its next round
    /// trip. One without a round trip keeps it until it closes.
    ///
    /// # Errors
    /// The kernel refuses it.
    pub fn give_back(&self) -> Result<(), LoadError> {
        control(&self.object, 0.0, true)
    }
}

fn control(object: &Object, share: f64, returning: bool) -> Result<(), LoadError> {
    let share = (share.clamp(0.0, 1.0) * f64::from(u32::MAX)).round() as u32;
    let value: Vec<u8> = [share, u32::from(returning)].iter().flat_map(|word| word.to_ne_bytes()).collect();
    map(object, "control")
        .update(&0u32.to_ne_bytes(), &value, MapFlags::ANY)
        .map_err(|error| LoadError::Kernel(format!("the control of the canary: {error}")))
}

fn map<'a>(object: &'a Object, name: &str) -> libbpf_rs::Map<'a> {
    object.maps().find(|map| map.name() == name).expect("host/canary.bpf.c declares it")
}

impl Counts {
    /// The share of segments that were retransmissions.
    pub fn retransmission_rate(&self) -> f64 {
        if self.segments == 0 { 0.0 } else { self.retransmissions as f64 / self.segments as f64 }
    }

    /// The mean of the smoothed round-trip time, seconds.
    pub fn mean_rtt_s(&self) -> f64 {
        if self.rtts == 0 { 0.0 } else { self.rtt_sum_us as f64 * 1e-6 / self.rtts as f64 }
    }
}
