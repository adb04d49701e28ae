//! Compiles the algorithms' C: natively always, to BPF with clang where the feature `load` is on.
//!
//! libbpf-cargo compiles all of it too (tried: 0.27.2, a skeleton of each), and is not used. A skeleton has types of its
//! own for every object, each 630 lines of the same, while the loader treats all objects alike, as data: what to load
//! is a name on a command line, and which form of the operations with `cong_control` it takes is found out by the kernel's types. And a
//! skeleton borrows the storage of its object, so that a guard like `load::Loaded`, which outlives the function that
//! loads, cannot own one. For the call of clang alone it would bring 44 more crates.

use sha2::{Digest, Sha256};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// What calls the C where no kernel does.
const CALLER: &str = "src/native.rs";

/// What is included before an algorithm whose state is sampled. It changes nothing that an algorithm does, so that digests are
/// without it.
const OBSERVER: &str = "observer/sampled.h";

/// Programs that are no congestion controls, for BPF only.
const HOST: &str = "host";

fn main() {
    println!("cargo::rerun-if-changed=bpf");
    println!("cargo::rerun-if-changed={HOST}");
    println!("cargo::rerun-if-changed={CALLER}");
    println!("cargo::rerun-if-changed={OBSERVER}");
    println!("cargo::rerun-if-env-changed=CLANG");
    let files = sources("bpf", "c");
    files.iter().for_each(tell_digest);
    cc::Build::new()
        .files(&files)
        .define("CWND_NATIVE", None)
        .include("bpf")
        .std("gnu11")
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .cargo_warnings(true)
        .compile("cwnd_native");
    if env::var_os("CARGO_FEATURE_LOAD").is_some() {
        for file in &files {
            compile_to_bpf(file, "bpf.o", &[]);
            compile_to_bpf(file, "sampled.bpf.o", &["-include", OBSERVER]);
        }
        for file in sources(HOST, "c") {
            compile_to_bpf(&file, "bpf.o", &[]);
        }
    }
}

/// The files of a folder of C with that extension, in order.
fn sources(folder: &str, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folders of C are beside build.rs");
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.expect("a folder of C can be read").path()).collect();
    files.retain(|path| path.extension().is_some_and(|other| other == extension));
    files.sort();
    files
}

/// Whoever stores what an algorithm did wants to know whether it is still the same: a digest of its text, of the
/// headers' and of the caller's.
fn tell_digest(source: &PathBuf) {
    let mut digest = Sha256::new();
    for path in sources("bpf", "h").iter().chain([source, &PathBuf::from(CALLER)]) {
        let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        // With its length, so that no two lists of texts are the same bytes.
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    }
    let digest: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=CWND_SOURCE_{}={digest}", name_of(source));
}

/// `elastic` of `bpf/elastic.bpf.c`.
fn name_of(source: &Path) -> &str {
    let name = source.file_name().and_then(|name| name.to_str()).expect("a file of ours has a plain name");
    name.split('.').next().expect("there is a first part")
}

fn compile_to_bpf(source: &PathBuf, extension: &str, more: &[&str]) {
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
    let name = source.file_stem().expect("a file has a name");
    let object =
        PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join(name).with_extension(extension);
    let status = Command::new(&clang)
        .args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-Ibpf"])
        // So that the same text gives the same object in every directory.
        .arg("-fdebug-compilation-dir=.")
        .args(more)
        .arg("-c")
        .arg(source)
        .arg("-o")
        .arg(&object)
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(_) => panic!("{clang} could not compile {} to BPF", source.display()),
        Err(error) => panic!(
            "the feature `load` compiles C to BPF, and {clang} cannot be run: {error}\n\
             install it (Debian: apt-get install clang libelf-dev zlib1g-dev), name another by CLANG=..., \
             or build without the feature"
        ),
    }
}
