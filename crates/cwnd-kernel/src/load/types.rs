//! What the running kernel's types say of TCP congestion control.

use libbpf_rs::btf::{
    Btf,
    types::{Enum, FuncProto, MemberAttr, Ptr, Struct},
};
use std::collections::{BTreeMap, BTreeSet};

/// The hook of newer kernels for the start of sending.
pub const TX_START_HOOK: &str = "cwnd_event_tx_start";
/// The event by which older kernels report it to `cwnd_event`.
const TX_START_EVENT: &str = "CA_EVENT_TX_START";

/// How a kernel reports that sending begins while nothing is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TxStart {
    /// By the hook `cwnd_event_tx_start`. Such a kernel may keep the event's number, but never sends the event.
    Hook,
    /// By `cwnd_event`, with this event.
    Event(u64),
    /// Not at all.
    Nowhere,
}

/// The part of a kernel's types that decides how an algorithm is loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TcpTypes {
    /// The members of `tcp_congestion_ops`.
    pub members: BTreeSet<String>,
    /// The numbers of `tcp_ca_event`.
    pub events: BTreeMap<String, u64>,
    /// How many arguments `cong_control` takes.
    pub cong_control_arguments: Option<usize>,
    /// Whether BPF may implement `tcp_congestion_ops`.
    pub has_struct_ops: bool,
}

impl TcpTypes {
    /// Reads the types of the running kernel. Returns nothing if it does not publish them.
    pub fn of_this_kernel() -> Option<TcpTypes> {
        Btf::from_vmlinux().ok().map(|btf| TcpTypes::read(&btf))
    }

    /// Reads them from BTF.
    pub fn read(btf: &Btf<'_>) -> TcpTypes {
        let mut types = TcpTypes::default();
        if let Some(operations) = btf.type_by_name::<Struct<'_>>("tcp_congestion_ops") {
            let name = |name: &std::ffi::OsStr| name.to_string_lossy().into_owned();
            types.members = operations.iter().filter_map(|member| member.name.map(name)).collect();
            types.cong_control_arguments = arguments(btf, &operations, "cong_control");
        }
        if let Some(events) = btf.type_by_name::<Enum<'_>>("tcp_ca_event") {
            let event = |event: libbpf_rs::btf::types::EnumMember<'_>| {
                Some((event.name?.to_string_lossy().into_owned(), u64::try_from(event.value).ok()?))
            };
            types.events = events.iter().filter_map(event).collect();
        }
        types.has_struct_ops = btf.type_by_name::<Struct<'_>>("bpf_struct_ops_tcp_congestion_ops").is_some();
        types
    }

    /// Returns how this kernel reports the start of sending.
    pub fn tx_start(&self) -> TxStart {
        if self.members.contains(TX_START_HOOK) {
            return TxStart::Hook;
        }
        match self.events.get(TX_START_EVENT) {
            Some(event) if self.members.contains("cwnd_event") => TxStart::Event(*event),
            _ => TxStart::Nowhere,
        }
    }
}

/// How many arguments a function has that a structure points to.
fn arguments(btf: &Btf<'_>, operations: &Struct<'_>, hook: &str) -> Option<usize> {
    let member = operations.iter().find(|member| member.name.is_some_and(|name| name == hook))?;
    let pointer: Ptr<'_> = btf.type_by_id(member.ty)?;
    let function: FuncProto<'_> = pointer.next_type()?.try_into().ok()?;
    Some(function.len())
}

/// The byte at which a member of a structure begins.
pub fn offset(btf: &Btf<'_>, structure: &str, member: &str) -> Option<usize> {
    let structure: Struct<'_> = btf.type_by_name(structure)?;
    let member = structure.iter().find(|other| other.name.is_some_and(|name| name == member))?;
    match member.attr {
        MemberAttr::Normal { offset } => Some(offset as usize / 8),
        MemberAttr::BitField { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use libbpf_rs::libbpf_sys as sys;
    use std::{ffi::CString, fs, slice};

    /// The types of a kernel with these hooks and events: BTF as a kernel publishes it, made by libbpf and read back.
    fn kernel(hooks: &[&str], events: &[(&str, i64)]) -> TcpTypes {
        let text = |text: &str| CString::new(text).unwrap();
        let path = std::env::temp_dir().join(format!(
            "cwnd-btf-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        // SAFETY: each name ends with a zero and lives as long as its call; the data are copied before the types are freed.
        unsafe {
            let btf = sys::btf__new_empty();
            let int = sys::btf__add_int(btf, text("int").as_ptr(), 4, 1);
            let function = sys::btf__add_func_proto(btf, int);
            let pointer = sys::btf__add_ptr(btf, function);
            let size = 8 * hooks.len() as u32;
            sys::btf__add_struct(btf, text("tcp_congestion_ops").as_ptr(), size);
            for (i, hook) in hooks.iter().enumerate() {
                sys::btf__add_field(btf, text(hook).as_ptr(), pointer, 64 * i as u32, 0);
            }
            sys::btf__add_enum(btf, text("tcp_ca_event").as_ptr(), 4);
            for (event, number) in events {
                sys::btf__add_enum_value(btf, text(event).as_ptr(), *number);
            }
            let mut length = 0;
            let data = sys::btf__raw_data(btf, &raw mut length);
            fs::write(&path, slice::from_raw_parts(data.cast::<u8>(), length as usize)).unwrap();
            sys::btf__free(btf);
        }
        let types = TcpTypes::read(&Btf::from_path(&path).unwrap());
        fs::remove_file(path).unwrap();
        types
    }

    #[test]
    fn the_start_of_sending_is_found_where_each_kernel_reports_it() {
        let old = ["ssthresh", "cwnd_event"];
        let new = ["ssthresh", "cwnd_event", TX_START_HOOK];
        let event = [("CA_EVENT_TX_START", 0), ("CA_EVENT_LOSS", 3)];
        let shifted = [("CA_EVENT_CWND_RESTART", 0), ("CA_EVENT_TX_START", 1)];
        let without = [("CA_EVENT_CWND_RESTART", 0), ("CA_EVENT_LOSS", 2)];
        assert_eq!(kernel(&old, &event).tx_start(), TxStart::Event(0));
        assert_eq!(kernel(&old, &shifted).tx_start(), TxStart::Event(1));
        // With the hook, whether or not the event kept its number.
        assert_eq!(kernel(&new, &event).tx_start(), TxStart::Hook);
        assert_eq!(kernel(&new, &without).tx_start(), TxStart::Hook);
        // Neither, or an event that no hook receives.
        assert_eq!(kernel(&old, &without).tx_start(), TxStart::Nowhere);
        assert_eq!(kernel(&["ssthresh"], &event).tx_start(), TxStart::Nowhere);
    }

    #[test]
    fn the_types_are_read() {
        let types = kernel(&["ssthresh", "cwnd_event"], &[("CA_EVENT_LOSS", 7)]);
        assert_eq!(types.members.iter().collect::<Vec<_>>(), ["cwnd_event", "ssthresh"]);
        assert_eq!(types.events, BTreeMap::from([("CA_EVENT_LOSS".to_owned(), 7)]));
        assert_eq!((types.cong_control_arguments, types.has_struct_ops), (None, false));
        let Some(types) = TcpTypes::of_this_kernel() else { return };
        assert!(types.members.contains("cong_avoid") && types.events.contains_key("CA_EVENT_LOSS"));
        assert_ne!(types.tx_start(), TxStart::Nowhere);
    }
}
