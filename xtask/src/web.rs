//! The laboratory as a web page: the simulator compiled to WebAssembly, and the page around it, in `web/dist`.
//!
//! Vite and what tests need come from npm, with the versions of `web/package-lock.json`. The modules are as the compiler links them:
//! `wasm-opt` made them neither faster nor, compressed, more than 3 % smaller.

mod matrix;

use crate::command::{self, cargo, root, run_showing, shown, succeeds};
use crate::cross::{self, WASM};
use crate::options::Options;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Options of the chore.
pub const OPTIONS: &str = "[--test | --matrix]";

/// The modules: a file in `target/web`, and the features of `cwnd-wasm` that it has.
const MODULES: [(&str, &str); 2] = [("cwnd-study.wasm", "study"), ("cwnd.wasm", "")];

/// Builds the page; with `--test` also tests it: the module against the native simulator, and the page in a browser.
/// With `--matrix` it only renews the values of the catalogue's matrix.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let options = Options::new(arguments, &[], &["--test", "--matrix"])?;
    if options.has("--matrix") {
        return matrix::write().map(|()| true);
    }
    if let Some(obstacle) = obstacle() {
        return Err(obstacle);
    }
    packages()?;
    for (file, features) in MODULES {
        module(file, features)?;
    }
    show(npm().args(["run", "--silent", "build"]))?;
    println!(
        "the page is web/dist: any static host serves it, and `cwnd serve` has it inside when it is built again"
    );
    embed_next()?;
    if !options.has("--test") {
        return Ok(true);
    }
    // Both for the whole workspace and with a test, so that libraries have the features that they have in all tests and are compiled
    // once.
    show(cargo().args(["build", "--workspace", "--bin", "cwnd", "--test", "identity"]))?;
    let mut identity = cargo();
    identity.args(["test", "--workspace", "--test", "identity", "--", "--ignored"]);
    let stories = |file: &str| {
        let mut stories = Command::new("node");
        stories.arg(file).current_dir(root().join("web")).env("CWND", root().join("target/debug/cwnd"));
        stories
    };
    let mut all = true;
    for tests in [&mut identity, &mut stories("tests/run.mjs"), &mut stories("tests/serve.mjs")] {
        println!("{}", shown(tests));
        all &= run_showing(tests, |_| ())?;
    }
    Ok(all)
}

/// Has the next build of `cwnd serve` look for the page, which its build script could not watch while there was none.
fn embed_next() -> Result<(), String> {
    let script = root().join("crates/cwnd-serve/build.rs");
    let touched = fs::File::options().append(true).open(&script);
    let touched = touched.and_then(|file| file.set_modified(std::time::SystemTime::now()));
    touched.map_err(|error| format!("{}: {error}", script.display()))
}

/// Returns why the page cannot be built. Installs what is missing where permitted.
pub fn obstacle() -> Option<String> {
    if let Some(obstacle) = node() {
        return Some(obstacle);
    }
    if !succeeds(Command::new("npm").arg("--version")) {
        return Some("there is no npm: see nodejs.org".to_owned());
    }
    cross::obstacle(WASM)
}

/// Returns why WebAssembly cannot be run.
pub fn node() -> Option<String> {
    let is_recent = succeeds(
        Command::new("node").args(["-e", "process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)"]),
    );
    (!is_recent).then(|| "there is no Node.js 20 or later (node): see nodejs.org".to_owned())
}

/// Installs what `web/package-lock.json` lists, if that was not done already.
fn packages() -> Result<(), String> {
    let web = root().join("web");
    let wanted = read(&web.join("package-lock.json"))?;
    let done = web.join("node_modules/.cwnd-lock");
    if fs::read_to_string(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    show(npm().args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]))?;
    fs::write(&done, wanted).map_err(|error| format!("{}: {error}", done.display()))
}

/// Compiles the simulator to a module in `target/web`.
fn module(file: &str, features: &str) -> Result<(), String> {
    let target = root().join("target/web");
    let mut build = cross::cargo("rustc", WASM);
    build
        // `cwnd serve` links the same crate as a library.
        .args(["--profile", "web", "--package", "cwnd-wasm", "--lib", "--crate-type", "cdylib"])
        .args(["--features", features, "--target-dir"])
        .arg(&target);
    show(&mut build)?;
    let built = target.join(WASM).join("web/cwnd_wasm.wasm");
    let module = target.join(file);
    // Cargo links again, or brings back, what it has for these features.
    let is_same =
        |one: &Path, other: &Path| matches!((fs::read(one), fs::read(other)), (Ok(a), Ok(b)) if a == b);
    if is_same(&module, &built) {
        return Ok(());
    }
    fs::copy(&built, &module).map(drop).map_err(|error| format!("{}: {error}", module.display()))
}

fn npm() -> Command {
    let mut npm = Command::new("npm");
    npm.current_dir(root().join("web"));
    npm
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Runs a command and shows what it prints.
fn show(command: &mut Command) -> Result<(), String> {
    println!("{}", shown(command));
    match command::run(command) {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("{} failed", shown(command))),
        Err(why) => Err(format!("{}: {why}", shown(command))),
    }
}
