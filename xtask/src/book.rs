//! The book: the pages of `docs/` as HTML, and a check of every link between documents.

mod links;

use crate::command::{cargo, output, root, run_showing, succeeds};
use crate::options::Options;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of the chore.
pub const OPTIONS: &str = "[--links]";

/// The version of mdBook that is installed where none is there.
const MDBOOK: &str = "mdbook@0.5.4";
/// Where files of the repository are, for links from the book to files outside of it.
const REPOSITORY: &str = "https://github.com/cwnd-lab/cwnd/blob/main/";

/// The place of the bench in a page.
const BENCH: &str = "<!-- the bench -->";
/// What stands there if the bench has been built: its files are in the folder `bench` of the book.
const EMBEDDED: &str =
    "<iframe src=\"../bench/index.html\" title=\"The bench\" width=\"100%\" height=\"800\"></iframe>";

/// Checks the links of all documents; then, unless `--links` is given, builds the book in `target/book`.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let options = Options::new(arguments, &[], &["--links"])?;
    let broken = links::broken(&root(), &documents()?)?;
    for problem in &broken {
        println!("{problem}");
    }
    println!("{} links or pages are wrong", broken.len());
    if options.has("--links") || !broken.is_empty() {
        return Ok(broken.is_empty());
    }
    let mdbook = mdbook()?;
    let source = root().join("target/book-source");
    stage(&source)?;
    let target = root().join("target/book");
    let mut build = Command::new(mdbook);
    build.arg("build").arg(&source).arg("--dest-dir").arg(&target);
    let built = run_showing(&mut build, |_| {})?;
    println!("{}", target.join("index.html").display());
    Ok(built)
}

/// Returns why the book cannot be built. Installs mdBook in `target/tools` where it is missing.
pub fn obstacle() -> Option<String> {
    mdbook().err()
}

/// Returns the program of mdBook: that of the system, or one in `target/tools`, which takes a minute of CPU to compile.
fn mdbook() -> Result<PathBuf, String> {
    let own = root().join("target/tools/bin/mdbook");
    let is_there = |path: &Path| succeeds(Command::new(path).arg("--version"));
    if let Some(found) = [Path::new("mdbook"), &own].into_iter().find(|path| is_there(path)) {
        return Ok(found.to_owned());
    }
    println!("cargo install {MDBOOK} --root target/tools");
    let mut install = cargo();
    install.args(["install", MDBOOK, "--locked", "--debug", "--no-default-features", "--features", "search"]);
    install.arg("--root").arg(root().join("target/tools"));
    match output(&mut install) {
        Ok(_) if is_there(&own) => Ok(own),
        _ => Err(format!("mdBook is not installed, and cannot be: cargo install {MDBOOK}")),
    }
}

/// Returns the paths of all Markdown files under version control, or about to be.
fn documents() -> Result<Vec<String>, String> {
    let mut git = Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard", "*.md"]).current_dir(root());
    // A package's README can be a symbolic link to the repository's, whose links hold there.
    let is_link = |path: &&str| root().join(path).symlink_metadata().is_ok_and(|about| about.is_symlink());
    Ok(output(&mut git)?.lines().filter(|path| !is_link(path)).map(str::to_owned).collect())
}

/// Copies `docs/` to a folder of its own. Links that leave `docs/` become links to the repository: the book does not have their files.
fn stage(target: &Path) -> Result<(), String> {
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    if target.exists() {
        std::fs::remove_dir_all(target).map_err(|error| failed(target, error))?;
    }
    let bench = root().join("web/dist");
    let has_bench = bench.join("index.html").exists();
    if has_bench {
        copy_folder(&bench, &target.join("bench")).map_err(|error| failed(&bench, error))?;
    }
    let mut git = Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard", "docs"]).current_dir(root());
    for file in output(&mut git)?.lines() {
        let from = root().join(file);
        let to = target.join(file.trim_start_matches("docs/"));
        let folder = to.parent().unwrap_or(target);
        std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        if file.ends_with(".md") {
            let text = std::fs::read_to_string(&from).map_err(|error| failed(&from, error))?;
            let text = links::rewrite(&text, |link| links::outside_of_docs(file, link, REPOSITORY));
            let text = if has_bench { text.replace(BENCH, EMBEDDED) } else { text };
            std::fs::write(&to, text).map_err(|error| failed(&to, error))?;
        } else {
            std::fs::copy(&from, &to).map_err(|error| failed(&from, error))?;
        }
    }
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let path = entry?.path();
        let place = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_folder(&path, &place)?;
        } else {
            std::fs::copy(&path, &place)?;
        }
    }
    Ok(())
}
