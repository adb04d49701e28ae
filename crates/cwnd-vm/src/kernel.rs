//! A kernel to boot: its image and its modules.

use crate::image::uncompressed;
use crate::packages::{Packages, numbers, output, release_of};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

/// Modules that the laboratory uses and congestion controls of the kernel's own, by the folder and the beginning of their names.
const MODULES: [(&str, &str); 4] = [
    ("kernel/drivers/net", "tun."),
    ("kernel/net/ipv4", "inet_diag."),
    ("kernel/net/ipv4", "tcp_"),
    ("kernel/net/sched", "sch_fq."),
];

/// A kernel that was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its release, as `uname -r` gives it.
    pub release: String,
    /// The image that is booted: without compression where that is possible.
    pub image: PathBuf,
    /// Modules without compression, in the order in which they are loaded.
    pub modules: Vec<PathBuf>,
    /// SHA-256 of the compressed image and the modules, in hexadecimal digits.
    pub digest: String,
}

impl Kernel {
    /// Returns the newest kernel of a version such as `6.12` or `6.12.95`, or of `newest`, all there are: one that was fetched
    /// into this folder, or else one of Debian's packages, which is fetched into it.
    ///
    /// # Errors
    /// There is none, with the versions that there are; or it cannot be fetched.
    pub fn find(version: &str, folder: &Path) -> Result<Kernel, String> {
        check_version(version)?;
        // What is newest is known by Debian's list alone.
        let fetched = if version == "newest" { Vec::new() } else { Kernel::fetched(folder) };
        match newest(version, fetched) {
            Some(release) => Kernel::open(&folder.join(release)),
            None => Kernel::fetch(version, folder),
        }
    }

    /// Returns the releases of the kernels that were fetched into this folder, oldest first.
    pub fn fetched(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut releases: Vec<String> = entries
            .filter(|entry| entry.path().join("vmlinuz").is_file())
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        releases.sort_by_key(|release| numbers(release));
        releases
    }

    /// Fetches the newest of Debian's kernels of a version.
    ///
    /// # Errors
    /// See [`Kernel::find`].
    pub fn fetch(version: &str, folder: &Path) -> Result<Kernel, String> {
        check_version(version)?;
        // Another process may be fetching, maybe the same.
        let _lock = lock(folder)?;
        let list = Packages::fetch(&folder.join("apt"))?;
        let kernels = list.kernels()?;
        let Some(package) = newest(version, kernels.clone()) else {
            let mut series: Vec<String> =
                kernels.iter().map(|name| numbers(name)[..2].to_vec()).map(|of| join(&of)).collect();
            series.dedup();
            return Err(format!("Debian has no kernel {version}; it has {}", series.join(", ")));
        };
        let release = release_of(&package).unwrap_or(&package).to_owned();
        if Kernel::fetched(folder).contains(&release) {
            return Kernel::open(&folder.join(release));
        }
        let (unpacked, target) = (folder.join("unpacked"), folder.join(&release));
        let _ = fs::remove_dir_all(&unpacked);
        list.unpack(&package, &unpacked)?;
        keep(&unpacked, &release, &folder.join("new"))?;
        let _ = fs::remove_dir_all(&target);
        fs::rename(folder.join("new"), &target).map_err(|error| format!("{}: {error}", target.display()))?;
        let _ = fs::remove_dir_all(&unpacked);
        Kernel::open(&target)
    }

    /// Opens a folder with `vmlinuz` and `modules/`, named by the kernel's release. Writes the uncompressed image into it, once.
    fn open(folder: &Path) -> Result<Kernel, String> {
        let read = |file: &Path| fs::read(file).map_err(|error| format!("{}: {error}", file.display()));
        let compressed = folder.join("vmlinuz");
        let content = read(&compressed)?;
        let plain = folder.join("vmlinux");
        let image = if plain.is_file() {
            plain
        } else {
            match uncompressed(&content).map_err(|why| format!("{}: {why}", compressed.display()))? {
                None => compressed,
                Some(content) => write_whole(&plain, &content).map(|()| plain)?,
            }
        };
        let mut digest = Sha256::new();
        digest.update(content);
        let files = fs::read_dir(folder.join("modules")).into_iter().flatten().flatten();
        let mut modules: Vec<PathBuf> = files.map(|file| file.path()).collect();
        // `tcp_diag` needs `inet_diag`, and comes later in order of the names.
        modules.sort();
        for module in &modules {
            digest.update(read(module)?);
        }
        let release = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let digest = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Kernel { release, image, modules, digest })
    }
}

/// Writes a file which other processes see whole, or not at all.
fn write_whole(file: &Path, content: &[u8]) -> Result<(), String> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let new = file.with_extension(format!("{}-{number}", std::process::id()));
    let written = fs::write(&new, content).and_then(|()| fs::rename(&new, file));
    written.map_err(|error| format!("{}: {error}", file.display()))
}

/// Waits until no other process fetches into this folder, and keeps others from it until the file is dropped.
fn lock(folder: &Path) -> Result<fs::File, String> {
    let file = folder.join("lock");
    let failed = |error: std::io::Error| format!("{}: {error}", file.display());
    fs::create_dir_all(folder).map_err(failed)?;
    let opened = fs::File::create(&file).map_err(failed)?;
    rustix::fs::flock(&opened, rustix::fs::FlockOperation::LockExclusive)
        .map_err(|error| failed(error.into()))?;
    Ok(opened)
}

fn check_version(version: &str) -> Result<(), String> {
    let is_number =
        |part: &str| part.bytes().all(|byte| byte.is_ascii_digit()) && part.parse::<u32>().is_ok();
    if version == "newest" || (version.contains('.') && version.split('.').all(is_number)) {
        return Ok(());
    }
    Err(format!(
        "`{version}` is no version of a kernel: it is two or three numbers, as 6.12 or 6.12.95, or `newest`"
    ))
}

/// Returns the newest of these names of releases or packages that a version means.
fn newest(version: &str, names: Vec<String>) -> Option<String> {
    let wanted = if version == "newest" { Vec::new() } else { numbers(version) };
    names.into_iter().rfind(|name| numbers(name).starts_with(&wanted))
}

fn join(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(".")
}

/// Copies the image of an unpacked kernel and the modules that are used into a folder, without compression.
fn keep(unpacked: &Path, release: &str, folder: &Path) -> Result<(), String> {
    let failed = |file: &Path, error: std::io::Error| format!("{}: {error}", file.display());
    let modules = folder.join("modules");
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(&modules).map_err(|error| failed(&modules, error))?;
    let places = [format!("boot/vmlinuz-{release}"), format!("usr/lib/modules/{release}/vmlinuz")];
    let image = places.iter().map(|place| unpacked.join(place)).find(|image| image.is_file());
    let image = image.ok_or_else(|| {
        format!("the packages of {release} have no image: neither {}", places.join(" nor "))
    })?;
    fs::copy(&image, folder.join("vmlinuz")).map_err(|error| failed(&image, error))?;
    for (place, prefix) in MODULES {
        for root in ["lib/modules", "usr/lib/modules"] {
            let files = fs::read_dir(unpacked.join(root).join(release).join(place));
            for file in files.into_iter().flatten().flatten() {
                let name = file.file_name().to_string_lossy().into_owned();
                if name.starts_with(prefix) {
                    let target = modules.join(&name);
                    fs::copy(file.path(), &target).map_err(|error| failed(&target, error))?;
                    decompress(&target)?;
                }
            }
        }
    }
    Ok(())
}

/// Replaces a compressed module with what it was.
fn decompress(module: &Path) -> Result<(), String> {
    let program = match module.extension().and_then(|extension| extension.to_str()) {
        Some("xz") => "xz",
        Some("zst") => "zstd",
        _ => return Ok(()),
    };
    output(Command::new(program).args(["-d", "-f", "-q"]).arg(module))?;
    // zstd leaves the file that it read.
    let _ = fs::remove_file(module);
    Ok(())
}

/// Returns the folder of fetched kernels: `cwnd/kernels` in the user's cache (`XDG_CACHE_HOME`, or `~/.cache`), or in that of the
/// host for who has none. A folder that any user can make, as in `/tmp`, would let another one choose the kernel.
pub fn default_folder() -> PathBuf {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|cache| cache.is_absolute());
    cache.or_else(home).unwrap_or_else(|| PathBuf::from("/var/cache")).join("cwnd/kernels")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_of_a_version_is_found() {
        let names = || {
            [
                "6.1.0-50-cloud-amd64",
                "6.12.9+deb12-cloud-amd64",
                "6.12.95+deb12-cloud-amd64",
                "7.3.4+deb13-cloud-amd64",
            ]
            .map(str::to_owned)
            .to_vec()
        };
        assert_eq!(newest("6.12", names()).as_deref(), Some("6.12.95+deb12-cloud-amd64"));
        assert_eq!(newest("6.12.9", names()).as_deref(), Some("6.12.9+deb12-cloud-amd64"));
        assert_eq!(newest("6.1", names()).as_deref(), Some("6.1.0-50-cloud-amd64"));
        assert_eq!(newest("newest", names()).as_deref(), Some("7.3.4+deb13-cloud-amd64"));
        assert_eq!(newest("5.4", names()), None);
    }

    #[test]
    fn a_version_is_two_numbers_at_least() {
        for wrong in ["6", "", "six", "6.", "6.12-rc1", "../6.12", "6.99999999999"] {
            let error = Kernel::find(wrong, Path::new("/nonexistent")).unwrap_err();
            assert!(error.contains("is no version of a kernel") && error.contains("newest"), "{error}");
        }
    }

    #[test]
    fn one_process_at_a_time_fetches() {
        let folder = std::env::temp_dir().join(format!("cwnd-vm-lock-{}", std::process::id()));
        let first = lock(&folder).unwrap();
        let (sender, second) = std::sync::mpsc::channel();
        let waits = folder.clone();
        let thread = std::thread::spawn(move || sender.send(lock(&waits).is_ok()));
        assert!(second.recv_timeout(std::time::Duration::from_millis(100)).is_err());
        drop(first);
        assert_eq!(second.recv(), Ok(true));
        thread.join().unwrap().unwrap();
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_was_fetched_is_opened_with_its_digest() {
        let folder = std::env::temp_dir().join(format!("cwnd-vm-kernel-{}", std::process::id()));
        let kernel = folder.join("6.12.95+deb12-cloud-amd64");
        fs::create_dir_all(kernel.join("modules")).unwrap();
        fs::write(kernel.join("vmlinuz"), "a").unwrap();
        fs::write(kernel.join("modules/tun.ko"), "b").unwrap();
        fs::write(kernel.join("modules/inet_diag.ko"), "c").unwrap();
        let found = Kernel::find("6.12", &folder).unwrap();
        assert_eq!(found.release, "6.12.95+deb12-cloud-amd64");
        let names: Vec<_> =
            found.modules.iter().map(|module| module.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["inet_diag.ko", "tun.ko"]);
        // sha256 of "acb".
        assert_eq!(&found.digest[..16], "8e9766083b3bfc20");
        fs::remove_dir_all(folder).unwrap();
    }
}
