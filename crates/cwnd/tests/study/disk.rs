//! Full disks and read-only directories, mounted in a mount namespace that ends with the process. This takes root.

use super::*;

/// Returns what a shell script prints in a mount namespace of its own, with a file system of this size at `$DISK`.
fn on_a_disk(place: &Workplace, size: &str, script: &str) -> Output {
    let disk = place.path("disk");
    fs::create_dir(&disk).unwrap();
    let mount = format!("mount -t tmpfs -o size={size} none \"$DISK\" || exit 99; {script}");
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &mount]).current_dir(place.directory.path());
    command.env("DISK", &disk).env("CWND", env!("CARGO_BIN_EXE_cwnd"));
    let output = command.output().expect("unshare starts");
    assert_ne!(output.status.code(), Some(99), "no disk can be mounted: {}", text(&output.stderr));
    output
}

#[test]
#[ignore = "needs root, to mount a disk"]
fn a_full_disk_is_told_and_loses_nothing() {
    fill(STUDY);
}

/// Then it is the database itself that meets it.
#[test]
#[ignore = "needs root, to mount a disk"]
fn a_disk_that_is_full_without_traces() {
    let (before, rest) = STUDY.split_once("[trace]").unwrap();
    let (_, after) = rest.split_once("\n[[axes]]").unwrap();
    fill(&format!("{before}[[axes]]{after}"));
}

fn fill(study: &str) {
    let place = Workplace::with(study);
    place.printed(&["run", "quick.toml", "--quiet"]);
    let script = r#"
        head -c 920000 /dev/zero > "$DISK/filler"
        "$CWND" run quick.toml --quiet --out "$DISK/results"; echo "code $?"
        echo "stored $("$CWND" export "$DISK/results" | grep -c ,done,)"
        rm "$DISK/filler"
        "$CWND" run quick.toml --quiet --out "$DISK/results" > /dev/null; echo "code $?"
        "$CWND" export "$DISK/results" --canonical > after.csv
    "#;
    let output = on_a_disk(&place, "1m", script);
    let (said, printed) = (text(&output.stderr), text(&output.stdout));
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!((lines[0], lines[2]), ("code 1", "code 0"), "{printed}{said}");
    let stored: usize = lines[1].strip_prefix("stored ").unwrap().parse().unwrap();
    assert!(stored > 0 && stored < RUNS, "{stored} were stored");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("error: ") && said.contains("free some space"), "{said}");
    assert!(said.contains("what was stored is safe") || said.contains("What was stored is safe"), "{said}");
    assert_eq!(fs::read_to_string(place.path("after.csv")).unwrap(), place.canonical("results/quick"));
}

#[test]
#[ignore = "needs root, to mount a disk"]
fn a_read_only_directory_is_told_and_can_be_read() {
    let place = Workplace::new();
    let script = r#"
        "$CWND" run quick.toml --quiet --out "$DISK/results" > /dev/null
        mount -o remount,ro "$DISK"
        "$CWND" run quick.toml --quiet --repeats 9 --out "$DISK/results"; echo "code $?"
        "$CWND" run quick.toml --quiet --out "$DISK/other"; echo "code $?"
        "$CWND" export "$DISK/results" --canonical > read.csv; echo "code $?"
    "#;
    let output = on_a_disk(&place, "8m", script);
    let (said, printed) = (text(&output.stderr), text(&output.stdout));
    assert_eq!(printed, "code 1\ncode 1\ncode 0\n", "{said}");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(
        lines[0].contains("it cannot be written") && lines[0].contains("that you may write to"),
        "{said}"
    );
    assert!(lines[1].contains("the directory cannot be made: Read-only file system"), "{said}");
    assert_eq!(fs::read_to_string(place.path("read.csv")).unwrap(), undisturbed());
}
