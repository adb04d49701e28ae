//! The C library's functions that open, change, read and map files, and that ask for their types and sizes, replaced for this test program.
//!
//! The linker prefers a symbol of the program to the same symbol of the C library. Rust's standard library and SQLite's own
//! layer for Unix therefore call the functions below, and the code under test is the code that users run. Each asks
//! the simulated disk of its thread what is to happen ([`crate::disk`]). Threads without a disk, and files outside the
//! disk's directory, get the system call unchanged.
//!
//! What is written to a mapped file is not seen here. SQLite maps its `-shm` file and no other; it rebuilds it after a crash,
//! and never relies on it.

use crate::disk::{self, Request, Verdict};
use std::ffi::{CStr, OsStr, c_char, c_int, c_long, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Returns the path of an open file as the kernel knows it.
fn path_of(fd: c_int) -> Option<PathBuf> {
    let link = format!("/proc/self/fd/{fd}\0");
    let mut buffer = [0u8; 512];
    // SAFETY: `link` ends with a zero byte, and at most `buffer.len()` bytes are written into `buffer`.
    let length = unsafe { libc::readlink(link.as_ptr().cast(), buffer.as_mut_ptr().cast(), buffer.len()) };
    let path = &buffer[..usize::try_from(length).ok()?];
    Some(Path::new(OsStr::from_bytes(path)).to_owned())
}

fn fail(errno: c_int) -> c_int {
    // SAFETY: the location of this thread's `errno` is valid as long as the thread runs.
    unsafe { *libc::__errno_location() = errno };
    -1
}

/// Writes `count` bytes at `offset`, or at the file's position if there is none.
///
/// # Safety
/// `bytes` must be valid for reads of `count` bytes.
unsafe fn write_at(fd: c_int, bytes: *const c_void, count: usize, offset: Option<i64>) -> isize {
    // SAFETY: the caller answers for `bytes` and `count`; the numbers are the system calls'.
    let system = |count: usize| unsafe {
        match offset {
            Some(offset) => libc::syscall(libc::SYS_pwrite64, fd, bytes, count, offset) as isize,
            None => libc::syscall(libc::SYS_write, fd, bytes, count) as isize,
        }
    };
    if !disk::is_mounted() {
        return system(count);
    }
    let Some(path) = path_of(fd) else { return system(count) };
    // SAFETY: as above.
    let content = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), count) };
    let at = offset.unwrap_or_else(|| {
        // SAFETY: asking for a file's position changes nothing.
        unsafe { libc::lseek(fd, 0, libc::SEEK_CUR) }
    });
    transfer(disk::ask(&path, Request::Write { at: at as u64, bytes: content }), count, system)
}

/// Makes a system call that moves at most `count` bytes, as the disk has decided.
fn transfer(verdict: Verdict, count: usize, system: impl Fn(usize) -> isize) -> isize {
    match verdict {
        Verdict::Do => system(count),
        Verdict::Part(part) => system(part),
        Verdict::Fail(errno) => fail(errno) as isize,
    }
}

/// See write(2).
///
/// # Safety
/// As for the function that it replaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn write(fd: c_int, bytes: *const c_void, count: usize) -> isize {
    // SAFETY: the caller promises what `write_at` needs.
    unsafe { write_at(fd, bytes, count, None) }
}

/// See pwrite(2).
///
/// # Safety
/// As for the function that it replaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwrite(fd: c_int, bytes: *const c_void, count: usize, offset: i64) -> isize {
    // SAFETY: the caller promises what `write_at` needs.
    unsafe { write_at(fd, bytes, count, Some(offset)) }
}

/// See pwrite(2).
///
/// # Safety
/// As for the function that it replaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwrite64(fd: c_int, bytes: *const c_void, count: usize, offset: i64) -> isize {
    // SAFETY: the caller promises what `write_at` needs.
    unsafe { write_at(fd, bytes, count, Some(offset)) }
}

/// Reads at most `count` bytes at `offset`, or at the file's position if there is none.
///
/// # Safety
/// `bytes` must be valid for writes of `count` bytes.
unsafe fn read_at(fd: c_int, bytes: *mut c_void, count: usize, offset: Option<i64>) -> isize {
    // SAFETY: the caller answers for `bytes` and `count`; the numbers are the system calls'.
    let system = |count: usize| unsafe {
        match offset {
            Some(offset) => libc::syscall(libc::SYS_pread64, fd, bytes, count, offset) as isize,
            None => libc::syscall(libc::SYS_read, fd, bytes, count) as isize,
        }
    };
    let verdict = mounted_path_of(fd).map_or(Verdict::Do, |path| disk::ask(&path, Request::Read(count)));
    transfer(verdict, count, system)
}

/// See read(2).
///
/// # Safety
/// As for the function that it replaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn read(fd: c_int, bytes: *mut c_void, count: usize) -> isize {
    // SAFETY: the caller promises what `read_at` needs.
    unsafe { read_at(fd, bytes, count, None) }
}

/// See pread(2).
///
/// # Safety
/// As for the function that it replaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pread(fd: c_int, bytes: *mut c_void, count: usize, offset: i64) -> isize {
    // SAFETY: the caller promises what `read_at` needs.
    unsafe { read_at(fd, bytes, count, Some(offset)) }
}

/// See pread(2).
///
/// # Safety
/// As for the function that it replaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pread64(fd: c_int, bytes: *mut c_void, count: usize, offset: i64) -> isize {
    // SAFETY: the caller promises what `read_at` needs.
    unsafe { read_at(fd, bytes, count, Some(offset)) }
}

/// See mmap(2).
///
/// # Safety
/// As for the function that it replaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    // Memory without a file has the descriptor -1; the allocator asks for it, and must not be called from here.
    let path = if fd < 0 { None } else { mounted_path_of(fd) };
    if let Some(Verdict::Fail(errno)) = path.map(|path| disk::ask(&path, Request::Map)) {
        fail(errno);
        return libc::MAP_FAILED;
    }
    // SAFETY: the caller's promise; the number is the system call's.
    unsafe { libc::syscall(libc::SYS_mmap, address, length, protection, flags, fd, offset) as *mut c_void }
}

/// See mmap(2).
///
/// # Safety
/// As for the function that it replaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap64(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    // SAFETY: the same function under another name.
    unsafe { mmap(address, length, protection, flags, fd, offset) }
}

/// Asks the disk, and makes the system call if it is to be made.
fn pass(path: Option<PathBuf>, request: Request<'_>, system: impl FnOnce() -> c_long) -> c_int {
    match path.map_or(Verdict::Do, |path| disk::ask(&path, request)) {
        Verdict::Do => system() as c_int,
        Verdict::Part(_) => 0,
        Verdict::Fail(errno) => fail(errno),
    }
}

fn mounted_path_of(fd: c_int) -> Option<PathBuf> {
    disk::is_mounted().then(|| path_of(fd)).flatten()
}

/// See fsync(2). The simulated disk answers for what is durable, so no file is really synced.
#[unsafe(no_mangle)]
pub extern "C" fn fsync(fd: c_int) -> c_int {
    // SAFETY: the call has no memory for an argument.
    pass(mounted_path_of(fd), Request::Sync, || unsafe { libc::syscall(libc::SYS_fsync, fd) })
}

/// See fdatasync(2).
#[unsafe(no_mangle)]
pub extern "C" fn fdatasync(fd: c_int) -> c_int {
    // SAFETY: the call has no memory for an argument.
    pass(mounted_path_of(fd), Request::Sync, || unsafe { libc::syscall(libc::SYS_fdatasync, fd) })
}

/// See ftruncate(2).
#[unsafe(no_mangle)]
pub extern "C" fn ftruncate(fd: c_int, length: i64) -> c_int {
    let request = Request::Truncate(length as u64);
    // SAFETY: the call has no memory for an argument.
    pass(mounted_path_of(fd), request, || unsafe { libc::syscall(libc::SYS_ftruncate, fd, length) })
}

/// See ftruncate(2).
#[unsafe(no_mangle)]
pub extern "C" fn ftruncate64(fd: c_int, length: i64) -> c_int {
    ftruncate(fd, length)
}

/// Returns the path of a file that is named by a text, or by a descriptor if the text is empty. Names below a directory's descriptor
/// are not known to the disk.
///
/// # Safety
/// `path` must be null, or a text that ends with a zero byte.
unsafe fn path_below(directory: c_int, path: *const c_char) -> Option<PathBuf> {
    if path.is_null() || !disk::is_mounted() {
        return None;
    }
    // SAFETY: the caller's promise.
    match unsafe { CStr::from_ptr(path) }.to_bytes() {
        [] => path_of(directory),
        name if directory == libc::AT_FDCWD || name[0] == b'/' => {
            Some(Path::new(OsStr::from_bytes(name)).to_owned())
        }
        _ => None,
    }
}

/// See openat(2). In C the mode is an argument of a variadic function. On the 64-bit systems on which this test runs it is passed as
/// any other, and the kernel ignores it where no file is made.
///
/// # Safety
/// As for the function that it replaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn openat(directory: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: the caller promises a text, which the system call reads.
    let (name, system) = unsafe {
        (path_below(directory, path), || libc::syscall(libc::SYS_openat, directory, path, flags, mode))
    };
    pass(name, Request::Open, system)
}

/// See openat(2).
///
/// # Safety
/// As for the function that it replaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn openat64(
    directory: c_int,
    path: *const c_char,
    flags: c_int,
    mode: c_uint,
) -> c_int {
    // SAFETY: the same function under another name.
    unsafe { openat(directory, path, flags, mode) }
}

/// See open(2).
///
/// # Safety
/// As for the function that it replaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: the caller promises what `openat` needs.
    unsafe { openat(libc::AT_FDCWD, path, flags, mode) }
}

/// See open(2).
///
/// # Safety
/// As for the function that it replaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: the caller promises what `openat` needs.
    unsafe { openat(libc::AT_FDCWD, path, flags, mode) }
}

/// See fstatat(2).
///
/// # Safety
/// As for the function that it replaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fstatat(
    directory: c_int,
    path: *const c_char,
    stat: *mut libc::stat,
    flags: c_int,
) -> c_int {
    // SAFETY: the caller promises a text, which the system call reads, and room for what it writes.
    let (name, system) = unsafe {
        (path_below(directory, path), || libc::syscall(libc::SYS_newfstatat, directory, path, stat, flags))
    };
    pass(name, Request::Stat, system)
}

/// See fstatat(2).
///
/// # Safety
/// As for the function that it replaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fstatat64(
    directory: c_int,
    path: *const c_char,
    stat: *mut libc::stat,
    flags: c_int,
) -> c_int {
    // SAFETY: the same function under another name.
    unsafe { fstatat(directory, path, stat, flags) }
}

/// See stat(2).
///
/// # Safety
/// As for the function that it replaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stat(path: *const c_char, stat: *mut libc::stat) -> c_int {
    // SAFETY: the caller promises what `fstatat` needs.
    unsafe { fstatat(libc::AT_FDCWD, path, stat, 0) }
}

/// See stat(2).
///
/// # Safety
/// As for the function that it replaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stat64(path: *const c_char, stat: *mut libc::stat) -> c_int {
    // SAFETY: the caller promises what `fstatat` needs.
    unsafe { fstatat(libc::AT_FDCWD, path, stat, 0) }
}

/// See lstat(2).
///
/// # Safety
/// As for the function that it replaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lstat(path: *const c_char, stat: *mut libc::stat) -> c_int {
    // SAFETY: the caller promises what `fstatat` needs.
    unsafe { fstatat(libc::AT_FDCWD, path, stat, libc::AT_SYMLINK_NOFOLLOW) }
}

/// See lstat(2).
///
/// # Safety
/// As for the function that it replaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lstat64(path: *const c_char, stat: *mut libc::stat) -> c_int {
    // SAFETY: the caller promises what `fstatat` needs.
    unsafe { fstatat(libc::AT_FDCWD, path, stat, libc::AT_SYMLINK_NOFOLLOW) }
}

/// See fstat(2).
///
/// # Safety
/// As for the function that it replaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fstat(fd: c_int, stat: *mut libc::stat) -> c_int {
    // SAFETY: the caller promises room for what the system call writes.
    pass(mounted_path_of(fd), Request::Stat, || unsafe { libc::syscall(libc::SYS_fstat, fd, stat) })
}

/// See fstat(2).
///
/// # Safety
/// As for the function that it replaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fstat64(fd: c_int, stat: *mut libc::stat) -> c_int {
    // SAFETY: the same function under another name.
    unsafe { fstat(fd, stat) }
}

/// See statx(2). The standard library asks with it.
///
/// # Safety
/// As for the function that it replaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statx(
    directory: c_int,
    path: *const c_char,
    flags: c_int,
    mask: c_uint,
    statx: *mut libc::statx,
) -> c_int {
    // SAFETY: the caller promises a text or null, which the system call reads, and room for what it writes.
    let (name, system) = unsafe {
        (path_below(directory, path), || libc::syscall(libc::SYS_statx, directory, path, flags, mask, statx))
    };
    pass(name, Request::Stat, system)
}

/// See access(2). SQLite asks with it whether a file may be written.
///
/// # Safety
/// As for the function that it replaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn access(path: *const c_char, mode: c_int) -> c_int {
    // SAFETY: the caller promises a text, which the system call reads.
    let (name, system) = unsafe {
        (path_below(libc::AT_FDCWD, path), || libc::syscall(libc::SYS_faccessat, libc::AT_FDCWD, path, mode))
    };
    pass(name, Request::Stat, system)
}

/// # Safety
/// `path` must be a text that ends with a zero byte.
unsafe fn path_at(path: *const c_char) -> Option<PathBuf> {
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(path) };
    disk::is_mounted().then(|| Path::new(OsStr::from_bytes(text.to_bytes())).to_owned())
}

/// See unlink(2).
///
/// # Safety
/// As for the function that it replaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unlink(path: *const c_char) -> c_int {
    // SAFETY: the caller promises a text, which the system call reads.
    let (name, system) =
        unsafe { (path_at(path), || libc::syscall(libc::SYS_unlinkat, libc::AT_FDCWD, path, 0)) };
    pass(name, Request::Unlink, system)
}

/// See rename(2).
///
/// # Safety
/// As for the function that it replaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: the caller promises two texts, which the system call reads.
    let (old, new) = unsafe { (path_at(from), path_at(to)) };
    let (at, new) = (libc::AT_FDCWD, new.unwrap_or_default());
    // SAFETY: as above.
    pass(old, Request::Rename(&new), || unsafe { libc::syscall(libc::SYS_renameat, at, from, at, to) })
}
