//! What the host must have.

use super::LoadError;
use super::types::TcpTypes;
use std::{ffi::CString, fs, path::Path};

const TYPES: &str = "/sys/kernel/btf/vmlinux";
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
const BPF_FILE_SYSTEM: &str = "/sys/fs/bpf";
/// `statfs` of a BPF file system.
const BPF_FS_MAGIC: i64 = 0xcafe_4a11;
/// Links of `struct_ops` came with it.
const LEAST_KERNEL: (u32, u32) = (6, 4);
/// Congestion control in BPF came with it.
const FIRST_WITH_BPF: (u32, u32) = (5, 6);

/// What keeps this host from loading algorithms, a sentence each; nothing if it can.
pub fn missing() -> Vec<String> {
    let mut missing = Vec::new();
    // SAFETY: it has no arguments and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        missing.push("root: only root may load programs into the kernel (run it with sudo)".to_owned());
    }
    let users = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    if is_restricted(&users) {
        missing.push(
            "the host's user namespace: root of another one (a container's) may not register congestion control".to_owned(),
        );
    }
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    missing.extend(too_old(&release));
    if !Path::new(TYPES).exists() {
        missing.push(format!("the kernel's types, {TYPES}: it was built without CONFIG_DEBUG_INFO_BTF"));
    } else if !TcpTypes::of_this_kernel().is_some_and(|types| types.has_struct_ops) {
        missing.push(
            "BPF congestion control: the kernel's types have no bpf_struct_ops_tcp_congestion_ops (it was built \
             without CONFIG_BPF_JIT or CONFIG_BPF_SYSCALL)"
                .to_owned(),
        );
    }
    let lockdown = fs::read_to_string("/sys/kernel/security/lockdown").unwrap_or_default();
    if lockdown.contains("[confidentiality]") {
        missing.push(
            "a kernel that is not locked down: /sys/kernel/security/lockdown says confidentiality".to_owned(),
        );
    }
    missing
}

/// Whether a map of user numbers (`/proc/self/uid_map`) is that of another user namespace than the host's, which maps each
/// number to itself.
fn is_restricted(map: &str) -> bool {
    let words: Vec<&str> = map.split_whitespace().collect();
    !words.is_empty() && words != ["0", "0", "4294967295"]
}

/// What is wrong with a release of the kernel.
fn too_old(release: &str) -> Option<String> {
    let (major, minor) = LEAST_KERNEL;
    let why = match version(release) {
        Some(version) if version >= LEAST_KERNEL => return None,
        Some(version) if version >= FIRST_WITH_BPF => {
            "it has congestion control in BPF, but no links of it, which keep an algorithm loaded when this program ends"
        }
        Some(_) => "it has no congestion control in BPF",
        None => "its release is not a version",
    };
    Some(format!("a kernel from {major}.{minor} on: this is {}; {why}", release.trim()))
}

/// The congestion controls that sockets may take by name.
pub fn registered() -> Vec<String> {
    let text = fs::read_to_string(AVAILABLE).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.trim().split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Mount the BPF file system where it belongs, if it is not there yet.
pub fn mount_bpf_file_system() -> Result<(), LoadError> {
    let path = CString::new(BPF_FILE_SYSTEM).expect("no zero in it");
    let kind = CString::new("bpf").expect("no zero in it");
    // SAFETY: the strings end in zero, and the structure is one of plain numbers.
    let mounted = unsafe {
        let mut about: libc::statfs = std::mem::zeroed();
        libc::statfs(path.as_ptr(), &raw mut about) == 0 && about.f_type as i64 == BPF_FS_MAGIC
    };
    if mounted {
        return Ok(());
    }
    if !is_in_the_hosts_mount_namespace() {
        return Err(LoadError::Kernel(format!(
            "no BPF file system at {BPF_FILE_SYSTEM} in this mount namespace (`ip netns exec` and containers have their own), \
             and what is pinned in one that is mounted here would be gone with the namespace: run it in the host's, as \
             `nsenter --net=/run/netns/NAME cwnd kernel ...` does, or give the container the host's {BPF_FILE_SYSTEM}"
        )));
    }
    // SAFETY: as above; no data is given.
    let done = unsafe { libc::mount(kind.as_ptr(), path.as_ptr(), kind.as_ptr(), 0, std::ptr::null()) };
    if done == 0 {
        return Ok(());
    }
    let error = std::io::Error::last_os_error();
    Err(LoadError::Kernel(format!(
        "no BPF file system at {BPF_FILE_SYSTEM}, and it cannot be mounted: {error}"
    )))
}

/// What is pinned elsewhere is gone with the mount namespace, and the algorithm with the pin. The kernel's own thread is
/// in the host's, and nobody in a container sees it.
fn is_in_the_hosts_mount_namespace() -> bool {
    let namespace = |process: &str| fs::read_link(format!("/proc/{process}/ns/mnt")).ok();
    let is_kernel = fs::read_to_string("/proc/2/comm").is_ok_and(|name| name.trim() == "kthreadd");
    is_kernel && namespace("2").is_some() && namespace("2") == namespace("self")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read() {
        assert_eq!(version("6.18.44-fc-v595\n"), Some((6, 18)));
        assert_eq!(version("5.4"), Some((5, 4)));
        assert_eq!(version("unknown"), None);
        assert!((6, 1) < LEAST_KERNEL && (6, 10) > LEAST_KERNEL);
    }

    #[test]
    fn an_old_kernel_is_told_what_it_lacks() {
        for release in ["6.4.0", "6.10.3-amd64", "7.0"] {
            assert_eq!(too_old(release), None);
        }
        let debian = too_old("6.1.0-18-amd64\n").expect("it is too old");
        assert_eq!(
            debian,
            "a kernel from 6.4 on: this is 6.1.0-18-amd64; it has congestion control in BPF, but no links of it, which keep \
             an algorithm loaded when this program ends"
        );
        assert!(too_old("5.4.0-150-generic").unwrap().ends_with("it has no congestion control in BPF"));
        assert!(too_old("").unwrap().ends_with("its release is not a version"));
    }

    #[test]
    fn the_form_of_cong_control_is_read_from_the_kernels_types() {
        if let Some(types) = TcpTypes::of_this_kernel() {
            let new = version(&fs::read_to_string("/proc/sys/kernel/osrelease").unwrap()) >= Some((6, 10));
            assert_eq!(types.cong_control_arguments, Some(if new { 4 } else { 2 }));
        }
    }

    #[test]
    fn the_hosts_user_namespace_is_known_by_its_map() {
        assert!(!is_restricted("         0          0 4294967295\n"));
        assert!(is_restricted("         0       1000          1\n"));
        assert!(is_restricted("         0     100000      65536\n"));
        assert!(!is_restricted(""));
    }
}
