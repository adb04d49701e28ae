//! An archive of files for a machine.

use crate::packages::output;
use cpio::newc::{Builder, trailer};
use object::{Object, ObjectSegment};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the libraries of a program, its loader among them.
fn libraries(program: &Path) -> Result<Vec<PathBuf>, String> {
    let listed = match output(Command::new("ldd").arg(program)) {
        Ok(listed) => listed,
        Err(why) if why.contains("not a dynamic executable") => String::new(),
        Err(why) => return Err(why),
    };
    let paths = listed.lines().filter_map(|line| line.split_whitespace().find(|word| word.starts_with('/')));
    Ok(paths.map(PathBuf::from).collect())
}

/// Returns the part of a program that has all that is loaded when it is run.
fn loaded(program: &[u8]) -> object::Result<&[u8]> {
    let segments = object::File::parse(program)?;
    let ends = segments.segments().map(|segment| segment.file_range()).map(|(begin, length)| begin + length);
    Ok(&program[..ends.max().map_or(program.len(), |end| end as usize)])
}

/// Returns a module without the signature at its end (Linux's `struct module_signature`).
fn unsigned(module: &[u8]) -> &[u8] {
    const MAGIC: &[u8] = b"~Module signature appended~\n";
    const ABOUT: usize = 12;
    let signed = || {
        let (rest, length) = module.strip_suffix(MAGIC)?.split_last_chunk::<4>()?;
        let length = ABOUT - 4 + u32::from_be_bytes(*length) as usize;
        rest.get(..rest.len().checked_sub(length)?)
    };
    signed().unwrap_or(module)
}

fn failed(error: std::io::Error) -> String {
    format!("the file system of the machine cannot be written: {error}")
}

pub struct Archive<W: Write> {
    out: W,
    inode: u32,
    /// The folders and libraries that it has.
    names: BTreeSet<String>,
}

impl Archive<BufWriter<fs::File>> {
    /// Creates an archive (`newc`, as Linux's documentation of initramfs has it).
    pub fn create(file: &Path) -> Result<Self, String> {
        let target = fs::File::create(file).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(Archive { out: BufWriter::new(target), inode: 0, names: BTreeSet::new() })
    }

    /// Writes its end.
    pub fn finish(self) -> Result<(), String> {
        let mut out = trailer(self.out).map_err(failed)?;
        out.flush().map_err(failed)
    }
}

impl<W: Write> Archive<W> {
    pub fn folder(&mut self, name: &str) -> Result<(), String> {
        if let Some((parent, _)) = name.rsplit_once('/') {
            self.folder(parent)?;
        }
        if self.names.insert(name.to_owned()) { self.entry(name, b"", 0o040_755) } else { Ok(()) }
    }

    pub fn copy(&mut self, name: &str, file: &Path) -> Result<(), String> {
        self.add(name, &read(file)?, 0o100_755)
    }

    /// Adds a program without what follows the part that is loaded: its symbols and what debuggers read, which may be most of it.
    pub fn program(&mut self, name: &str, file: &Path) -> Result<(), String> {
        let content = read(file)?;
        let loaded = loaded(&content).map_err(|error| format!("{}: {error}", file.display()))?;
        self.add(name, loaded, 0o100_755)
    }

    /// Adds a module of the kernel without its signature, which takes 30 million instructions to verify and is not needed.
    pub fn module(&mut self, name: &str, file: &Path) -> Result<(), String> {
        self.add(name, unsigned(&read(file)?), 0o100_644)
    }

    /// Adds a file or a symbolic link of the host at the same place, and the libraries of a program.
    pub fn mirror(&mut self, file: &Path) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("{}: {error}", file.display());
        let name = file.to_string_lossy().trim_start_matches('/').to_owned();
        let about = fs::symlink_metadata(file).map_err(failed)?;
        if about.is_symlink() {
            let target = fs::read_link(file).map_err(failed)?;
            return self.add(&name, target.as_os_str().as_encoded_bytes(), 0o120_777);
        }
        let content = read(file)?;
        let is_program = content.starts_with(b"\x7fELF");
        self.add(&name, &content, 0o100_000 | about.permissions().mode() & 0o755)?;
        if is_program { self.libraries_of(file) } else { Ok(()) }
    }

    pub fn libraries_of(&mut self, program: &Path) -> Result<(), String> {
        for library in libraries(program)? {
            let name = library.to_string_lossy().trim_start_matches('/').to_owned();
            if !self.names.contains(&name) {
                self.copy(&name, &library)?;
                self.names.insert(name);
            }
        }
        Ok(())
    }

    pub fn add(&mut self, name: &str, content: &[u8], mode: u32) -> Result<(), String> {
        if let Some((folder, _)) = name.rsplit_once('/') {
            self.folder(folder)?;
        }
        self.entry(name, content, mode)
    }

    fn entry(&mut self, name: &str, content: &[u8], mode: u32) -> Result<(), String> {
        self.inode += 1;
        let entry = Builder::new(name).ino(self.inode).mode(mode).nlink(1);
        let size = u32::try_from(content.len()).map_err(|_| format!("{name} has more than 4 GiB"))?;
        let mut writer = entry.write(&mut self.out, size);
        writer.write_all(content).and_then(|()| writer.finish().map(drop)).map_err(failed)
    }
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    fs::read(file).map_err(|error| format!("{}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_runs_without_what_is_not_loaded() {
        let own = std::env::current_exe().unwrap();
        let program = read(&own).unwrap();
        let loaded = loaded(&program).unwrap();
        assert!(loaded.len() < program.len(), "a build for tests has symbols");
        let cut = std::env::temp_dir().join(format!("cwnd-loaded-{}", std::process::id()));
        fs::write(&cut, loaded).unwrap();
        fs::set_permissions(&cut, fs::Permissions::from_mode(0o755)).unwrap();
        let listed = output(Command::new(&cut).arg("--list"));
        fs::remove_file(&cut).unwrap();
        assert!(listed.unwrap().contains("a_program_runs_without_what_is_not_loaded: test"));
    }

    #[test]
    fn a_module_loses_its_signature_alone() {
        let signed =
            [b"ELF", &b"signed"[..], &[0; 8], &[0, 0, 0, 6], b"~Module signature appended~\n"].concat();
        assert_eq!(unsigned(&signed), b"ELF");
        assert_eq!(unsigned(b"ELF"), b"ELF");
        // One that says it is longer than the file.
        assert_eq!(unsigned(&signed[5..]), &signed[5..]);
    }

    #[test]
    fn a_file_that_is_no_program_is_refused() {
        assert!(loaded(b"#!/bin/sh\n").is_err());
    }
}
