//! From a compiled object to one that is ready for the running kernel: its name, its constants, and the form of its
//! operations.

use super::{
    LoadError,
    types::{TX_START_HOOK, TcpTypes, TxStart, offset},
};
use crate::{KernelAlgorithm, Values};
use libbpf_rs::{AsRawLibbpf, MapType, ObjectBuilder, OpenObject, btf::Btf};

/// Bytes of a congestion control's name in the kernel, the zero at its end included (`TCP_CA_NAME_MAX`).
pub const NAME_SIZE: usize = 16;

/// The section of the constants, as maps of it begin: the kernel keeps 15 characters of a map's name.
pub const CONSTANTS_MAP: &str = ".rodata.const";

/// An event that no kernel sends.
const NO_EVENT: u64 = u32::MAX as u64;

/// `struct constants` of `bpf/kernel.h`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constants {
    /// The algorithm's parameters.
    pub parameters: Values,
    /// The event that stands for the start of sending.
    pub tx_start: u64,
    /// SHA-256 of the algorithm's text.
    pub source: [u8; 32],
}

impl Constants {
    fn to_bytes(&self) -> Vec<u8> {
        let words = self.parameters.iter().chain([&self.tx_start]).flat_map(|word| word.to_ne_bytes());
        words.chain(self.source).collect()
    }

    /// Reads what a loaded object's constants are; nothing if they are of another layout.
    pub fn read(bytes: &[u8]) -> Option<Constants> {
        let (words, source) = bytes.split_at_checked(8 * (Values::default().len() + 1))?;
        let word = |at: usize| Some(u64::from_ne_bytes(words[8 * at..8 * at + 8].try_into().ok()?));
        let mut parameters = Values::default();
        for (at, parameter) in parameters.iter_mut().enumerate() {
            *parameter = word(at)?;
        }
        Some(Constants { parameters, tx_start: word(parameters.len())?, source: source.try_into().ok()? })
    }
}

/// Prepares an algorithm's object (one of its two forms) for a kernel with these types, under that name.
///
/// # Errors
/// The kernel lacks what the algorithm needs, or libbpf refuses the object.
pub fn prepare(
    algorithm: &KernelAlgorithm,
    object: &[u8],
    name: &str,
    parameters: Values,
    types: &TcpTypes,
) -> Result<OpenObject, LoadError> {
    let refused = |error: libbpf_rs::Error| LoadError::Kernel(format!("{name} cannot be prepared: {error}"));
    let mut open = ObjectBuilder::default().open_memory(object).map_err(refused)?;
    let needs_tx_start =
        open.progs().any(|program| program.name().to_string_lossy().ends_with(TX_START_HOOK));
    let tx_start = types.tx_start();
    check_tx_start(algorithm, needs_tx_start, tx_start)?;
    let source = algorithm.source_bytes();
    let event = if let TxStart::Event(event) = tx_start { event } else { NO_EVENT };
    let constants = Constants { parameters, tx_start: event, source }.to_bytes();
    let (name_at, tx_start_at) = layout(&open);
    let twofold = open.maps().any(|map| map.name().to_string_lossy().ends_with("_two"));
    for mut map in open.maps_mut() {
        if map.name().to_string_lossy().contains(CONSTANTS_MAP) {
            map.set_initial_value(&constants).map_err(refused)?;
        }
        if map.map_type() != MapType::StructOps {
            continue;
        }
        let operations = map.initial_value_mut().expect("operations have an initial value");
        let field = &mut operations[name_at..name_at + NAME_SIZE];
        field.fill(0);
        field[..name.len()].copy_from_slice(name.as_bytes());
        if tx_start != TxStart::Hook {
            // libbpf leaves out a member that the kernel does not have, if it is empty.
            operations[tx_start_at..tx_start_at + size_of::<u64>()].fill(0);
        }
        if twofold {
            let two = map.name().to_string_lossy().ends_with("_two");
            map.set_autocreate(two == (types.cong_control_arguments == Some(2))).map_err(refused)?;
        }
    }
    Ok(open)
}

/// Where the object's own `tcp_congestion_ops` has its name and its hook for the start of sending.
fn layout(open: &OpenObject) -> (usize, usize) {
    // SAFETY: the object lives as long as the reference, and is not changed meanwhile.
    let object = unsafe { open.as_libbpf_object().as_ref() };
    let btf = Btf::from_bpf_object(object).ok().flatten().expect("clang -g writes types");
    let at = |member| offset(&btf, "tcp_congestion_ops", member).expect("bpf/kernel.h declares it");
    (at("name"), at(TX_START_HOOK))
}

/// Refuses an algorithm that would never be notified of the end of a pause.
fn check_tx_start(algorithm: &KernelAlgorithm, needed: bool, tx_start: TxStart) -> Result<(), LoadError> {
    if !needed || tx_start != TxStart::Nowhere {
        return Ok(());
    }
    Err(LoadError::Host(vec![format!(
        "a kernel that reports the start of sending: {} counts pauses, and this kernel has neither the hook {TX_START_HOOK} \
         nor the event CA_EVENT_TX_START",
        algorithm.name
    )]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_read_as_they_are_written() {
        let constants =
            Constants { parameters: [1, 2, 3, 4, 5, 6, 7, 8, 9, u64::MAX], tx_start: 9, source: [7; 32] };
        assert_eq!(Constants::read(&constants.to_bytes()), Some(constants.clone()));
        assert_eq!(Constants::read(&constants.to_bytes()[1..]), None);
        assert_eq!(Constants::read(&[]), None);
    }

    /// libbpf's view of the object: how many programs it would load, and what its operations point to.
    fn prepared(name: &str, types: &TcpTypes) -> Result<(usize, u64), String> {
        let algorithm = crate::find(name).unwrap();
        let values = algorithm.values(&[]).unwrap();
        let mut open = prepare(algorithm, algorithm.object, "cwnd_test", values, types)
            .map_err(|error| error.to_string())?;
        let (_, at) = layout(&open);
        let programs = open.progs().count();
        let mut operations = open.maps_mut().find(|map| map.map_type() == MapType::StructOps).unwrap();
        let data = operations.initial_value_mut().unwrap();
        Ok((programs, u64::from_ne_bytes(data[at..at + 8].try_into().unwrap())))
    }

    #[test]
    fn the_start_of_sending_takes_the_way_that_the_kernel_has() {
        let types = |members: &[&str], events: &[&str]| TcpTypes {
            members: members.iter().map(|member| (*member).to_owned()).collect(),
            events: events.iter().zip(0..).map(|(event, number)| ((*event).to_owned(), number)).collect(),
            cong_control_arguments: Some(4),
            has_struct_ops: true,
        };
        let old = types(&["cwnd_event"], &["CA_EVENT_TX_START"]);
        let new = types(&["cwnd_event", TX_START_HOOK], &["CA_EVENT_CWND_RESTART"]);
        let neither = types(&["cwnd_event"], &["CA_EVENT_CWND_RESTART"]);
        for name in ["cubic-linux", "invs", "bbr3", "cubic"] {
            assert_eq!(prepared(name, &old).unwrap().1, 0, "{name}: the hook is left out");
            assert_ne!(prepared(name, &new).unwrap().1, 0, "{name}: the hook is there");
            let why = prepared(name, &neither).unwrap_err();
            assert!(why.contains("neither the hook cwnd_event_tx_start nor"), "{why}");
        }
        // Who does not count pauses does not need it.
        assert!(prepared("elastic", &neither).is_ok());
    }
}
