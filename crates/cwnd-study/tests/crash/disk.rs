//! A simulated disk: what of a directory's files survives a power cut, and which calls fail.
//!
//! The files themselves are real, so that reads need no simulation but for their errors. The disk keeps a second image of each: the content at the
//! last honest sync, and the writes since. A power cut keeps the first and an arbitrary part of the second: each sector of
//! each write by itself, in the order in which the writes were made. Names survive in the order in which they
//! were changed, as on journaling file systems; a sync of the directory keeps them all.

use cwnd_scenario::{Purpose, Stream};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

/// The unit that a disk writes whole or not at all, bytes.
const SECTOR: usize = 512;

/// What a program asks of a file.
pub enum Request<'a> {
    Write {
        at: u64,
        bytes: &'a [u8],
    },
    Truncate(u64),
    Sync,
    Unlink,
    Rename(&'a Path),
    /// The number of bytes that are asked for.
    Read(usize),
    /// A mapping into memory.
    Map,
    /// Opens a file or a directory.
    Open,
    /// Asks for the type, the size or the permissions of a file.
    Stat,
}

/// What is to happen.
pub enum Verdict {
    /// The system call is made.
    Do,
    /// Only this number of bytes is written or read. Another request is not made, and is reported as done.
    Part(usize),
    /// The call fails with this `errno`.
    Fail(i32),
}

/// How often what goes wrong, in 1,000 calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// A write that writes a part of the bytes and says so.
    pub short_writes: u64,
    /// A write or a sync that fails; a write may have written a part before.
    pub io_errors: u64,
    /// The disk is full: writes that make a file longer fail for a while.
    pub full: u64,
    /// A sync that reports success and keeps nothing.
    pub lies: u64,
    /// A sync of a directory that fails.
    pub directory_errors: u64,
    /// A directory that cannot be opened, because the process has too many open files.
    pub directory_open_errors: u64,
    /// A read that returns a part of the bytes that are there.
    pub short_reads: u64,
    /// A read that fails.
    pub read_errors: u64,
    /// A mapping into memory that fails.
    pub map_errors: u64,
    /// A file that cannot be opened.
    pub open_errors: u64,
    /// A file whose type, size or permissions cannot be read.
    pub stat_errors: u64,
}

/// What happened on a disk, in numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub short_writes: u64,
    pub io_errors: u64,
    pub full: u64,
    pub lies: u64,
    /// Honest syncs of a file of each kind.
    pub syncs: u64,
    /// Pending writes of which a power cut kept nothing, all, or a part.
    pub lost: u64,
    pub kept: u64,
    pub torn: u64,
    pub short_reads: u64,
    pub read_errors: u64,
    pub map_errors: u64,
    pub open_errors: u64,
    pub stat_errors: u64,
}

enum Change {
    Write(u64, Vec<u8>),
    Truncate(u64),
}

/// A file's content on the disk.
#[derive(Default)]
struct Content {
    durable: Vec<u8>,
    pending: Vec<Change>,
}

type FileId = usize;

enum NameChange {
    Link(PathBuf, FileId),
    Unlink(PathBuf),
}

pub struct Disk {
    root: PathBuf,
    pub faults: Faults,
    pub counts: Counts,
    /// The number of requests after which the power goes.
    power_for: Option<u64>,
    off: bool,
    /// For how many more writes the disk is full.
    full_for: u64,
    random: Stream,
    contents: Vec<Content>,
    names: BTreeMap<PathBuf, FileId>,
    durable_names: BTreeMap<PathBuf, FileId>,
    pending_names: Vec<NameChange>,
    /// Length of each file that grows, to tell writes that need space.
    lengths: HashMap<FileId, u64>,
    /// How often the log was honestly synced.
    pub log_syncs: u64,
}

thread_local! {
    static MOUNTED: RefCell<Option<Disk>> = const { RefCell::new(None) };
}

/// Returns whether this thread has a disk.
pub fn is_mounted() -> bool {
    MOUNTED.try_with(|disk| disk.try_borrow().is_ok_and(|disk| disk.is_some())).unwrap_or(false)
}

/// Gives this thread a disk, whose directory is `root`.
pub fn mount(root: &Path, seed: u64) {
    let root = fs::canonicalize(root).expect("the directory exists");
    let mut disk = Disk {
        root,
        faults: Faults::default(),
        counts: Counts::default(),
        power_for: None,
        off: false,
        full_for: 0,
        random: Stream::new(seed, Purpose::Algorithm, 0),
        contents: Vec::new(),
        names: BTreeMap::new(),
        durable_names: BTreeMap::new(),
        pending_names: Vec::new(),
        lengths: HashMap::new(),
        log_syncs: 0,
    };
    disk.load();
    MOUNTED.with_borrow_mut(|mounted| *mounted = Some(disk));
}

/// Removes the disk from this thread and returns it.
pub fn unmount() -> Disk {
    MOUNTED.with_borrow_mut(|mounted| mounted.take().expect("a disk is mounted"))
}

/// Reads or changes the disk of this thread. `work` must not write files.
pub fn with<T>(work: impl FnOnce(&mut Disk) -> T) -> T {
    MOUNTED.with_borrow_mut(|disk| work(disk.as_mut().expect("a disk is mounted")))
}

/// Decides about a request.
pub fn ask(path: &Path, request: Request<'_>) -> Verdict {
    MOUNTED.with(|disk| match disk.try_borrow_mut() {
        Ok(mut disk) => disk.as_mut().map_or(Verdict::Do, |disk| disk.decide(path, request)),
        Err(_) => Verdict::Do,
    })
}

impl Disk {
    /// Lets the power go after `requests` more requests, in the midst of the last one.
    pub fn cut_power_after(&mut self, requests: u64) {
        self.power_for = Some(requests);
    }

    pub fn is_off(&self) -> bool {
        self.off
    }

    /// Lets the power go now.
    pub fn switch_off(&mut self) {
        self.off = true;
    }

    fn decide(&mut self, path: &Path, request: Request<'_>) -> Verdict {
        if let Request::Read(_) | Request::Map | Request::Open | Request::Stat = request {
            return if path.starts_with(&self.root) { self.read(path, &request) } else { Verdict::Do };
        }
        if !path.starts_with(&self.root) || path.as_os_str().to_string_lossy().ends_with("-shm") {
            return Verdict::Do;
        }
        if self.off {
            return Verdict::Fail(libc::EIO);
        }
        if let Some(left) = &mut self.power_for {
            *left = left.saturating_sub(1);
            self.off = *left == 0;
        }
        // The request during which the power goes is made: at the crash it is kept in part, like others that were not synced.
        match request {
            Request::Write { at, bytes } => self.write(path, at, bytes),
            Request::Truncate(length) => {
                if let Some(file) = self.file(path) {
                    self.contents[file].pending.push(Change::Truncate(length));
                    self.lengths.insert(file, length);
                }
                Verdict::Do
            }
            Request::Sync => self.sync(path),
            Request::Unlink => {
                if self.names.remove(path).is_some() {
                    self.pending_names.push(NameChange::Unlink(path.to_owned()));
                }
                Verdict::Do
            }
            Request::Rename(to) => {
                if let Some(file) = self.names.remove(path) {
                    self.names.insert(to.to_owned(), file);
                    // A power cut may keep the first record only: then the file has both names.
                    self.pending_names.push(NameChange::Link(to.to_owned(), file));
                    self.pending_names.push(NameChange::Unlink(path.to_owned()));
                }
                Verdict::Do
            }
            Request::Read(_) | Request::Map | Request::Open | Request::Stat => {
                unreachable!("they are decided above")
            }
        }
    }

    /// Decides about a request that changes nothing. The power has no part in it: without a process, nobody reads.
    fn read(&mut self, path: &Path, request: &Request<'_>) -> Verdict {
        match *request {
            Request::Open if path.is_dir() && self.happens(self.faults.directory_open_errors) => {
                self.counts.open_errors += 1;
                Verdict::Fail(libc::EMFILE)
            }
            Request::Map if self.happens(self.faults.map_errors) => {
                self.counts.map_errors += 1;
                Verdict::Fail(libc::ENOMEM)
            }
            Request::Open if self.happens(self.faults.open_errors) => {
                self.counts.open_errors += 1;
                const ERRORS: [i32; 4] = [libc::EIO, libc::EMFILE, libc::ENFILE, libc::EACCES];
                Verdict::Fail(ERRORS[self.random.below(4) as usize])
            }
            Request::Stat if self.happens(self.faults.stat_errors) => {
                self.counts.stat_errors += 1;
                Verdict::Fail([libc::EIO, libc::EACCES][self.random.below(2) as usize])
            }
            Request::Read(_) if self.happens(self.faults.read_errors) => {
                self.counts.read_errors += 1;
                Verdict::Fail(libc::EIO)
            }
            Request::Read(length) if length > 1 && self.happens(self.faults.short_reads) => {
                self.counts.short_reads += 1;
                Verdict::Part(1 + self.random.below(length as u64 - 1) as usize)
            }
            _ => Verdict::Do,
        }
    }

    fn write(&mut self, path: &Path, at: u64, bytes: &[u8]) -> Verdict {
        // A file that is open and has no name any more is lost in any case.
        let Some(file) = self.file(path) else { return Verdict::Do };
        let grows = at + bytes.len() as u64 > self.lengths.get(&file).copied().unwrap_or(0);
        if self.full_for == 0 && self.happens(self.faults.full) {
            self.full_for = 1 + self.random.below(40);
        }
        if grows && self.full_for > 0 {
            self.full_for -= 1;
            self.counts.full += 1;
            return Verdict::Fail(libc::ENOSPC);
        }
        if self.happens(self.faults.io_errors) {
            self.counts.io_errors += 1;
            let length = bytes.len() as u64;
            let part = [0, length, self.random.below(length + 1)][self.random.below(3) as usize] as usize;
            if part > 0 {
                // Bytes that were written although the call fails: only the disk has them.
                self.contents[file].pending.push(Change::Write(at, bytes[..part].to_vec()));
            }
            return Verdict::Fail(libc::EIO);
        }
        let mut length = bytes.len();
        if length > 1 && self.happens(self.faults.short_writes) {
            self.counts.short_writes += 1;
            length = 1 + self.random.below(length as u64 - 1) as usize;
        }
        self.contents[file].pending.push(Change::Write(at, bytes[..length].to_vec()));
        let end = self.lengths.entry(file).or_default();
        *end = (*end).max(at + length as u64);
        if length < bytes.len() { Verdict::Part(length) } else { Verdict::Do }
    }

    fn sync(&mut self, path: &Path) -> Verdict {
        let directory_fails = path.is_dir() && self.happens(self.faults.directory_errors);
        if directory_fails || self.happens(self.faults.io_errors) {
            self.counts.io_errors += 1;
            return Verdict::Fail(libc::EIO);
        }
        if self.off {
            // The power goes while the disk works: nothing is promised.
            return Verdict::Fail(libc::EIO);
        }
        if self.happens(self.faults.lies) {
            self.counts.lies += 1;
            return Verdict::Part(0);
        }
        self.counts.syncs += 1;
        if path.is_dir() {
            let durable = &mut self.durable_names;
            self.pending_names.drain(..).for_each(|change| change.apply(durable));
        } else if let Some(file) = self.file(path) {
            self.contents[file].settle();
            if path.to_string_lossy().ends_with("-wal") {
                self.log_syncs += 1;
            }
        }
        Verdict::Part(0)
    }

    fn happens(&mut self, in_thousand: u64) -> bool {
        in_thousand > 0 && self.random.below(1_000) < in_thousand
    }

    /// Returns the file of a path, which is new if the disk does not know it. None if it has lost its name.
    fn file(&mut self, path: &Path) -> Option<FileId> {
        if let Some(file) = self.names.get(path) {
            return Some(*file);
        }
        if path.to_string_lossy().ends_with(" (deleted)") {
            return None;
        }
        let file = self.contents.len();
        self.contents.push(Content::default());
        self.names.insert(path.to_owned(), file);
        self.pending_names.push(NameChange::Link(path.to_owned(), file));
        Some(file)
    }

    /// Records the content of the directory as durable.
    fn load(&mut self) {
        self.contents.clear();
        self.names.clear();
        self.lengths.clear();
        self.pending_names.clear();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a directory").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if !path.to_string_lossy().ends_with("-shm") {
                    let durable = fs::read(&path).expect("a file");
                    self.lengths.insert(self.contents.len(), durable.len() as u64);
                    self.names.insert(path, self.contents.len());
                    self.contents.push(Content { durable, pending: Vec::new() });
                }
            }
        }
        self.durable_names.clone_from(&self.names);
    }

    /// Puts into the directory what a power cut has left, and switches the power on.
    pub fn restart_after_power_cut(&mut self) {
        let survive = self.random.below(self.pending_names.len() as u64 + 1) as usize;
        let durable = &mut self.durable_names;
        self.pending_names.drain(..).take(survive).for_each(|change| change.apply(durable));
        let left: BTreeMap<PathBuf, Vec<u8>> = self
            .durable_names
            .iter()
            .map(|(path, file)| {
                (path.clone(), self.contents[*file].after_power_cut(&mut self.random, &mut self.counts))
            })
            .collect();
        for path in self.names.keys().filter(|path| !left.contains_key(*path)) {
            let _ = fs::remove_file(path);
        }
        for (path, bytes) in left {
            fs::write(path, bytes).expect("the directory is there");
        }
        self.restart();
    }

    /// Leaves the directory as the programs have seen it, and switches the power on: only the process has died.
    pub fn restart(&mut self) {
        (self.off, self.power_for, self.full_for) = (false, None, 0);
        self.load();
    }
}

impl NameChange {
    fn apply(self, names: &mut BTreeMap<PathBuf, FileId>) {
        match self {
            NameChange::Link(path, file) => _ = names.insert(path, file),
            NameChange::Unlink(path) => _ = names.remove(&path),
        }
    }
}

impl Content {
    fn settle(&mut self) {
        for change in self.pending.drain(..) {
            match change {
                Change::Write(at, bytes) => put(&mut self.durable, at as usize, &bytes),
                Change::Truncate(length) => self.durable.resize(length as usize, 0),
            }
        }
    }

    /// Returns what is there after a power cut.
    fn after_power_cut(&self, random: &mut Stream, counts: &mut Counts) -> Vec<u8> {
        let mut bytes = self.durable.clone();
        // Most disks write in order for a time; then some sectors come, and others do not.
        let kept_for = random.below(self.pending.len() as u64 + 1) as usize;
        let chance = [0, 500, 950][random.below(3) as usize];
        for (i, change) in self.pending.iter().enumerate() {
            match change {
                Change::Truncate(length) if i < kept_for || random.below(1_000) < chance => {
                    bytes.resize(*length as usize, 0);
                }
                Change::Truncate(_) => {}
                Change::Write(at, data) => {
                    let mut sectors = [0, 0];
                    let mut done = 0;
                    while done < data.len() {
                        let place = *at as usize + done;
                        let length = (SECTOR - place % SECTOR).min(data.len() - done);
                        let keeps = i < kept_for || random.below(1_000) < chance;
                        if keeps {
                            put(&mut bytes, place, &data[done..done + length]);
                        }
                        sectors[usize::from(keeps)] += 1;
                        done += length;
                    }
                    match sectors {
                        [0, _] => counts.kept += 1,
                        [_, 0] => counts.lost += 1,
                        _ => counts.torn += 1,
                    }
                }
            }
        }
        bytes
    }
}

fn put(file: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    if file.len() < at + bytes.len() {
        file.resize(at + bytes.len(), 0);
    }
    file[at..at + bytes.len()].copy_from_slice(bytes);
}
