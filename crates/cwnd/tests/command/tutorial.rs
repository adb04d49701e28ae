//! Every command of `docs/tutorial.md`, run in its order.

use std::{fs, path::Path, process::Command};

const TUTORIAL: &str = include_str!("../../../../docs/tutorial.md");

/// What the test does not run: the program under test is the one that these lines install.
const INSTALLATION: [&str; 2] =
    ["git clone https://github.com/cwnd-lab/cwnd\n", "cargo install --path cwnd/crates/cwnd\n"];

/// Returns the tutorial as a shell script: its commands, and its files at the place where a reader saves them.
fn script() -> String {
    let mut script = String::new();
    let mut rest = TUTORIAL;
    while let Some(start) = rest.find("\n```") {
        let (before, block) = rest.split_at(start + 4);
        let (language, body) = block.split_once('\n').expect("a block has a first line");
        let (body, after) = body.split_once("```").expect("a block has an end");
        match language {
            "sh" => script += body,
            "toml" => {
                let (_, name) = before.rsplit_once("as `").expect("the text names the file");
                let (name, _) = name.split_once('`').expect("the name has an end");
                script += &format!("cat > {name} <<'END OF FILE'\n{body}END OF FILE\n");
            }
            other => panic!("a block of `{other}`: the tutorial has commands (sh) and files (toml)"),
        }
        rest = after;
    }
    for line in INSTALLATION {
        assert_eq!(script.matches(line).count(), 1, "{line}");
        script = script.replace(line, "");
    }
    script
}

#[test]
fn every_command_of_the_tutorial_works() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = Path::new(env!("CARGO_BIN_EXE_cwnd")).parent().expect("it is in a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell.args(["-eu", "-c", &script()]).env("PATH", format!("{}:{path}", program.display()));
    let output = shell.current_dir(&folder).output().expect("a shell starts");
    let (printed, errors) = (crate::text(&output.stdout), crate::text(&output.stderr));
    assert!(output.status.success(), "{printed}\n{errors}");
    for part in ["Nothing is wrong with it", "30 runs", "Identical to the bit"] {
        assert!(printed.contains(part), "{part} in {printed}");
    }
    // The study is run twice here, and once more elsewhere.
    assert_eq!(printed.matches("reproduced\n").count(), 6, "{printed}");
    assert!(!printed.contains("not reproduced"), "{printed}");
    for file in ["windows.svg", "results/buffers/report.html", "figures/rtt.svg", "buffers.csv"] {
        let size = fs::metadata(folder.path().join("buffers").join(file)).map(|about| about.len());
        assert!(size.is_ok_and(|size| size > 1000), "{file} is not there");
    }
}
