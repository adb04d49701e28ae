//! Compiles the algorithms' C: natively always, to BPF with clang where the feature `load` is on.

use std::{env, fs, path::PathBuf, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=bpf");
    println!("cargo::rerun-if-env-changed=CLANG");
    let files = sources();
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
        files.iter().for_each(compile_to_bpf);
    }
}

fn sources() -> Vec<PathBuf> {
    let entries = fs::read_dir("bpf").expect("the folder bpf is beside build.rs");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("bpf can be read").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    files.sort();
    files
}

fn compile_to_bpf(source: &PathBuf) {
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
    let name = source.file_stem().expect("a file has a name");
    let object =
        PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join(name).with_extension("bpf.o");
    let status = Command::new(&clang)
        .args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-Ibpf", "-c"])
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
