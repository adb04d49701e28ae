//! Tells the program which commit it is built from, if that is known: results say what made them.

use std::process::Command;

fn main() {
    // Whatever changes the sources or the commit changes what is told.
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

/// What git prints, if there is a repository and git.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
