//! Tells the program which commit it is built from, if that is known: results say what made them. And puts the studies of
//! papers into it, so that it can run them wherever it is.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

fn main() {
    studies();
    // The reported version depends on the sources and the commit.
    println!("cargo:rerun-if-changed=../../crates");
    println!("cargo:rerun-if-env-changed=CWND_COMMIT");
    for file in ["HEAD", "index"] {
        if let Some(path) = git(&["rev-parse", "--git-path", file]) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    // A package that is not in its repository has no commit of its own, and may be given one from outside.
    let own = git(&["ls-files", "--error-unmatch", "build.rs"]).is_some();
    if let Some(commit) =
        git(&["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]).filter(|_| own)
    {
        println!("cargo:rustc-env=CWND_COMMIT={commit}");
    }
}

/// Writes the list of all files in folders of `studies/` that are papers' or have criteria: their paths there, and their texts; and the stored
/// verdicts.
fn studies() {
    let own = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo says it"));
    // A published package has the studies in itself. In the repository, that is a symbolic link, which not every system keeps.
    let packaged = own.join("studies");
    let root = if packaged.is_dir() { packaged } else { own.join("../../studies") };
    println!("cargo:rerun-if-changed={}", root.display());
    let mut files: Vec<PathBuf> = entries(&root)
        .into_iter()
        .filter(|folder| ["paper.toml", "criteria.toml"].iter().any(|list| folder.join(list).is_file()))
        .flat_map(|folder| entries(&folder))
        .filter(|file| file.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    // Whatever order the disk has them in.
    files.sort();
    let line = |file: &PathBuf| {
        let name = file.strip_prefix(&root).expect("it is in there").to_string_lossy().replace('\\', "/");
        let path = file.canonicalize().expect("it is there");
        println!("cargo:rerun-if-changed={}", path.display());
        format!("    ({name:?}, include_str!({:?})),\n", path.to_string_lossy())
    };
    let lines: String = files.iter().map(line).collect();
    let text = format!(
        "/// The files of all papers: path under `studies/`, and text.\npub static FILES: &[(&str, &str)] = &[\n{lines}];\n"
    );
    let out = Path::new(&env::var("OUT_DIR").expect("cargo says it")).join("studies.rs");
    fs::write(out, text).expect("the list of studies can be written");
    let verdicts = root.join("verdicts.csv").canonicalize().expect("studies/verdicts.csv is there");
    let text = format!(
        "/// The verdicts at the paper's scale, as CSV.\nstatic STORED: &str = include_str!({:?});\n",
        verdicts.to_string_lossy()
    );
    let out = Path::new(&env::var("OUT_DIR").expect("cargo says it")).join("verdicts.rs");
    fs::write(out, text).expect("the place of the verdicts can be written");
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// What git prints, if there is a repository and git.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
