//! A canary: a share of a cgroup's new connections gets another congestion control, and both groups are counted.

use super::{
    Keeper, LoadError,
    loaded::{content, holder},
    object::NAME_SIZE,
    programs::{self, CANARY, Cgroup},
    selections,
};
use libbpf_rs::{
    Link, MapCore, MapFlags, MapHandle, Object,
    query::{LinkInfoIter, LinkTypeInfo, ProgInfoIter, ProgInfoQueryOptions},
};
use std::{array, path::PathBuf};

/// A canary that is going on. Dropping it detaches the program: new connections get what they would get without it.
#[derive(Debug)]
pub struct Canary {
    object: Object,
    /// The congestion controls of both groups, where they have one of their own.
    names: Vec<String>,
    _link: Link,
}

/// How many parts a group has. `PARTS` of `host/canary.bpf.c`.
pub const PARTS: usize = 32;
/// Numbers of a part.
const NUMBERS: usize = 6;

/// What connections have done since the canary began. `struct counts` of `host/canary.bpf.c`.
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

/// A group of connections in parts. Each connection belongs to one of them, drawn at random.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The parts.
    pub parts: [Counts; PARTS],
}

/// The two groups of a canary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// Connections that got the new congestion control.
    pub canary: Group,
    /// The others.
    pub rest: Group,
}

/// A running canary of this host, as any process can see it.
#[derive(Clone, Debug)]
pub struct RunningCanary {
    /// The cgroup; none if it has been removed.
    pub cgroup: Option<Cgroup>,
    /// The congestion control of the canaries.
    pub name: String,
    /// The congestion control of the others; none for what they would get without the canary.
    pub rest: Option<String>,
    /// The share of new connections that get it, from 0 to 1.
    pub share: f64,
    /// Open canaries are going back to what they had before.
    pub returning: bool,
    /// What keeps it.
    pub keeper: Keeper,
    /// The counts.
    pub groups: Groups,
}

impl Canary {
    /// Begins a canary in a cgroup and those below it. `share` of the new connections, from 0 to 1, get `canary`. The others get `rest`,
    /// or what they would get without the canary. Connections whose application selects a congestion control are in neither group.
    ///
    /// # Errors
    /// A name is not registered, the cgroup has a selection or a canary, or the kernel refuses the program.
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
        if let Some((running, path)) = overlapping(cgroup) {
            return Err(LoadError::Parameter(format!(
                "cgroup {} has the canary {running}, and a connection cannot be in two: end that one first, or take a cgroup that is \
                 neither above nor below it",
                path.display()
            )));
        }
        let mut object = CANARY.load(Some(&plan))?;
        control(&object, share, false)?;
        let link = programs::attach(&mut object, cgroup)?;
        let names = [Some(canary), rest].into_iter().flatten().map(str::to_owned).collect();
        Ok(Canary { object, names, _link: link })
    }

    /// Returns the congestion control of a group that is registered no more: new connections get what they would get without the canary.
    pub fn gone(&self) -> Option<&str> {
        let there = super::registered();
        self.names.iter().map(String::as_str).find(|name| !there.iter().any(|other| other == name))
    }

    /// Returns the counts so far.
    ///
    /// # Errors
    /// The kernel does not show them.
    pub fn counts(&self) -> Result<Groups, LoadError> {
        let map = map(&self.object, "counts");
        read(&map).map_err(|error| LoadError::Kernel(format!("the counts of the canary: {error}")))
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

/// Returns the name and the cgroup of a running canary in a cgroup, above it, or below it.
fn overlapping(cgroup: &Cgroup) -> Option<(String, PathBuf)> {
    let running = canaries().into_iter().filter_map(|canary| Some((canary.name, canary.cgroup?.path)));
    let mut running =
        running.filter(|(_, path)| path.starts_with(&cgroup.path) || cgroup.path.starts_with(path));
    running.next()
}

/// Refuses to select in a cgroup whose new connections are in a canary: they would no longer be.
pub(super) fn check_no_canary(cgroup: &Cgroup) -> Result<(), LoadError> {
    match overlapping(cgroup).filter(|(_, path)| cgroup.path.starts_with(path)) {
        None => Ok(()),
        Some((name, path)) => Err(LoadError::Parameter(format!(
            "cgroup {} is in the canary {name} of {}, which would see its connections no longer: end the canary first",
            cgroup.path.display(),
            path.display()
        ))),
    }
}

/// Returns the canaries of the host.
pub fn canaries() -> Vec<RunningCanary> {
    let options = ProgInfoQueryOptions::default().include_map_ids(true);
    let programs: Vec<_> = ProgInfoIter::with_query_opts(options)
        .filter(|program| program.name.to_string_lossy() == "cwnd_canary")
        .collect();
    let running = |link: libbpf_rs::query::LinkInfo| {
        let LinkTypeInfo::Cgroup(about) = link.info else { return None };
        let program = programs.iter().find(|program| program.id == link.prog_id)?;
        let maps: Vec<MapHandle> =
            program.map_ids.iter().filter_map(|id| MapHandle::from_map_id(*id).ok()).collect();
        let map = |what: &str| maps.iter().find(|map| map.name().to_string_lossy().contains(what));
        let plan = content(map(".rodata")?.info().ok()?.info.id)?;
        let control = map("control")?.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok()??;
        let mut words =
            control.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap_or_default()));
        let (share, returning) = (words.next()?, words.next()?);
        let name = |at: usize| {
            let bytes = plan.get(at..at + NAME_SIZE)?;
            let end = bytes.iter().position(|byte| *byte == 0)?;
            Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
        };
        Some(RunningCanary {
            cgroup: Cgroup::of_id(about.cgroup_id),
            name: name(0)?,
            rest: name(NAME_SIZE).filter(|name| !name.is_empty()),
            // Without what a binary fraction adds.
            share: (1e6 * f64::from(share) / f64::from(u32::MAX)).round() / 1e6,
            returning: returning != 0,
            keeper: holder(link.id),
            groups: read(map("counts")?).ok()?,
        })
    };
    LinkInfoIter::default().filter_map(running).collect()
}

/// Reads the map of the counts: the parts of the rest, then those of the canary.
fn read(map: &impl MapCore) -> libbpf_rs::Result<Groups> {
    let part = |at: usize| -> libbpf_rs::Result<Counts> {
        let bytes = map.lookup(&(at as u32).to_ne_bytes(), MapFlags::ANY)?.unwrap_or_default();
        let mut numbers = [0; NUMBERS];
        for (number, word) in numbers.iter_mut().zip(bytes.chunks_exact(8)) {
            *number = u64::from_ne_bytes(word.try_into().unwrap_or_default());
        }
        let [sockets, segments, retransmissions, rtts, rtt_sum_us, returned] = numbers;
        Ok(Counts { sockets, segments, retransmissions, rtts, rtt_sum_us, returned })
    };
    let parts = (0..2 * PARTS).map(part).collect::<libbpf_rs::Result<Vec<Counts>>>()?;
    let group = |first: usize| Group { parts: array::from_fn(|i| parts[first + i]) };
    Ok(Groups { rest: group(0), canary: group(PARTS) })
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

impl Group {
    /// Returns the counts of all parts together.
    pub fn total(&self) -> Counts {
        let sum = |number: fn(&Counts) -> u64| self.parts.iter().map(number).sum();
        Counts {
            sockets: sum(|part| part.sockets),
            segments: sum(|part| part.segments),
            retransmissions: sum(|part| part.retransmissions),
            rtts: sum(|part| part.rtts),
            rtt_sum_us: sum(|part| part.rtt_sum_us),
            returned: sum(|part| part.returned),
        }
    }
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
