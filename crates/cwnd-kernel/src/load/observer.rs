//! The private areas of sockets, copied when `TCP_INFO` is asked of them (`observer/state.bpf.c`).

use super::{LoadError, missing};
use crate::state::PRIVATE_WORDS;
use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, Object, ObjectBuilder};

/// The compiled program. The loader reads words, so the bytes begin at one.
static OBJECT: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/state.bpf.o")));

#[repr(C, align(8))]
struct Aligned<T: ?Sized>(T);

/// Copies the private areas of sockets for as long as it lives.
#[derive(Debug)]
pub struct Observer {
    _link: Link,
    object: Object,
}

/// Reads what an [`Observer`] copies.
#[derive(Debug)]
pub struct PrivateAreas(MapHandle);

impl Observer {
    /// Begins to copy those of sockets that are [watched](PrivateAreas::watch).
    ///
    /// # Errors
    /// If this host cannot load BPF, or its kernel refuses the program: it needs the types of the kernel and trampolines
    /// (`CONFIG_DEBUG_INFO_BTF`, `CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS`).
    pub fn attach() -> Result<Observer, LoadError> {
        let lacks = missing();
        if !lacks.is_empty() {
            return Err(LoadError::Host(lacks));
        }
        let refused =
            |error: libbpf_rs::Error| LoadError::Kernel(format!("the observer of sockets: {error}"));
        let open = ObjectBuilder::default().open_memory(&OBJECT.0).map_err(refused)?;
        let object = open.load().map_err(refused)?;
        let mut programs = object.progs_mut();
        let mut program = programs.next().expect("it has one program");
        let link = program.attach().map_err(refused)?;
        drop(programs);
        Ok(Observer { _link: link, object })
    }

    /// Returns a reader, which another thread may use.
    ///
    /// # Errors
    /// If the process has no descriptor left.
    pub fn areas(&self) -> Result<PrivateAreas, LoadError> {
        let map = self.object.maps().next().expect("it has one map");
        let handle = MapHandle::try_from(&map);
        handle.map(PrivateAreas).map_err(|error| LoadError::Kernel(format!("the map of sockets: {error}")))
    }
}

impl PrivateAreas {
    /// Has the area of a socket copied from now on, by its cookie (`SO_COOKIE`).
    ///
    /// # Errors
    /// If the map is full.
    pub fn watch(&self, cookie: u64) -> Result<(), LoadError> {
        let empty = [0; 8 * PRIVATE_WORDS];
        let done = self.0.update(&cookie.to_ne_bytes(), &empty, MapFlags::ANY);
        done.map_err(|error| LoadError::Kernel(format!("a socket cannot be watched: {error}")))
    }

    /// Returns the area of a watched socket as it was when `TCP_INFO` was asked of it last.
    pub fn read(&self, cookie: u64) -> Option<[u64; PRIVATE_WORDS]> {
        let bytes = self.0.lookup(&cookie.to_ne_bytes(), MapFlags::ANY).ok()??;
        let mut words = [0; PRIVATE_WORDS];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_ne_bytes(bytes.try_into().ok()?);
        }
        Some(words)
    }
}
