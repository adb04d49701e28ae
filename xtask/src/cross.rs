//! Compiling for other machines: Debian's compiler builds the standard library for any target from its source, so that rustup need not
//! have the target.

use crate::command::{install, root};
use std::path::Path;
use std::process::Command;

/// Debian's compiler for the web, and the source of the standard library: a path and the package that has it.
const COMPILER: [(&str, &str); 3] = [
    ("/usr/bin/rustc", "rustc-web"),
    ("/usr/bin/cargo", "cargo-web"),
    ("/usr/lib/rustlib/src/rust/library/std/Cargo.toml", "rust-web-src"),
];

struct Target {
    name: &'static str,
    linker: &'static str,
    /// The linker, and what it links: a path and the package that has it.
    packages: &'static [(&'static str, &'static str)],
}

const TARGETS: [Target; 2] = [
    Target { name: WASM, linker: "wasm-ld", packages: &[("/usr/bin/wasm-ld", "lld")] },
    Target {
        name: ARM,
        linker: "aarch64-linux-gnu-gcc",
        packages: &[
            ("/usr/bin/aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
            ("/usr/aarch64-linux-gnu/lib/crt1.o", "libc6-dev-arm64-cross"),
        ],
    },
];

pub const WASM: &str = "wasm32-unknown-unknown";
pub const ARM: &str = "aarch64-unknown-linux-gnu";

/// Returns the cargo whose `command` compiles for a target of `TARGETS`.
pub fn cargo(command: &str, target: &str) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut cargo = Command::new("/usr/bin/cargo");
    cargo
        .current_dir(root())
        // The toolchain that runs this chore must not be the one that compiles.
        .env_remove("RUSTUP_TOOLCHAIN")
        .env_remove("RUSTC")
        .env_remove("RUSTDOC")
        .env_remove("CARGO")
        .env("PATH", format!("/usr/bin:{path}"))
        // For -Zbuild-std, as Debian compiles its browsers.
        .env("RUSTC_BOOTSTRAP", "1")
        .args([command, "--locked", "-Zbuild-std=std,panic_abort", "--target", target]);
    for Target { name, linker, .. } in TARGETS.iter().filter(|known| known.name == target) {
        let variable = format!("CARGO_TARGET_{}_LINKER", name.to_uppercase().replace('-', "_"));
        cargo.env(variable, linker);
    }
    cargo
}

/// Returns why nothing can be compiled for a target. Installs what is missing where permitted.
pub fn obstacle(target: &str) -> Option<String> {
    let of_target = TARGETS.iter().filter(|known| known.name == target).flat_map(|known| known.packages);
    let missing = COMPILER.iter().chain(of_target).filter(|(path, _)| !Path::new(path).exists());
    missing.map(|(_, package)| package).find_map(|package| install(package).err())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_has_its_linker() {
        let command = cargo("build", ARM);
        let mut variables = command.get_envs();
        let linker = variables.find(|(name, _)| *name == "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER");
        assert_eq!(linker.and_then(|(_, value)| value), Some("aarch64-linux-gnu-gcc".as_ref()));
    }
}
