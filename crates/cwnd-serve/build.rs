//! Embeds the built page: the files of `CWND_WEB_DIST`, or of `web/dist` in the checkout if it was built.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CWND_WEB_DIST");
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let dist = env::var_os("CWND_WEB_DIST").map_or_else(|| manifest.join("../../web/dist"), PathBuf::from);
    let mut files = Vec::new();
    // `cargo xtask web` touches this script, so that a page that did not exist before is found.
    if dist.join("serve.html").exists() {
        println!("cargo::rerun-if-changed={}", dist.display());
        collect(&dist, "", &mut files);
    }
    files.sort();
    let mut table = String::from("static EMBEDDED: &[(&str, &[u8])] = &[\n");
    for (name, path) in files {
        let _ = writeln!(table, "    ({name:?}, include_bytes!({path:?})),");
    }
    table += "];\n";
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("embedded.rs"), table).expect("cargo's directory can be written");
}

/// Lists the files under a directory with their paths in it.
fn collect(directory: &Path, prefix: &str, files: &mut Vec<(String, PathBuf)>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => collect(&entry.path(), &format!("{name}/"), files),
            Ok(kind) if kind.is_file() => {
                let path = entry.path().canonicalize().expect("it is there");
                files.push((name, path));
            }
            _ => {}
        }
    }
}
