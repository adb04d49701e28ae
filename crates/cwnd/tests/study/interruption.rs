use super::*;
use cwnd_scenario::{Purpose, Stream};
use std::{
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

fn started(place: &Workplace) -> Child {
    let mut command = place.command(&["run", "quick.toml"]);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("cwnd starts")
}

/// SIGKILL at 20 random moments, some of them in the same study one after the other: what is there in the end is what an
/// undisturbed run gives.
#[test]
fn a_killed_study_goes_on_where_it_was() {
    const KILLS: u32 = 20;
    const DONE: &str = "\"state\": \"done\"";
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    let seed = std::env::var("CWND_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(clock);
    println!("seed {seed}: CWND_SEED={seed} kills at the same moments");
    let mut moments = Stream::new(seed, Purpose::Algorithm, 0);
    let place = Workplace::new();
    let begin = Instant::now();
    place.printed(&["run", "quick.toml", "--quiet"]);
    let undisturbed_ms = begin.elapsed().as_millis().max(20) as u64;
    let expected = place.canonical("results/quick");
    let rows_expected = place.printed(&["export", "results/quick", "--canonical", "--format", "json"]);
    assert_eq!(rows_expected.matches(DONE).count(), RUNS);
    let (mut kills, mut resumed_with) = (0, Vec::new());
    while kills < KILLS {
        let place = Workplace::new();
        while kills < KILLS {
            let mut child = started(&place);
            thread::sleep(Duration::from_millis(moments.below(undisturbed_ms)));
            if child.try_wait().expect("a child").is_some() {
                break;
            }
            child.kill().expect("it can be killed");
            if child.wait().expect("it ends").success() {
                break;
            }
            kills += 1;
            // What is there can be read at any time, if it had come as far as that.
            let rows = place.cwnd(&["export", "results/quick", "--canonical", "--format", "json"]);
            let rows = text(&rows.stdout);
            let done: Vec<&str> = rows.lines().filter(|line| line.contains(DONE)).collect();
            for line in &done {
                // A line for each run, and a comma behind all but the last.
                assert!(
                    rows_expected.contains(line.trim_end_matches(',')),
                    "seed {seed}: another result: {line}"
                );
            }
            resumed_with.push(done.len());
        }
        place.printed(&["run", "quick.toml", "--quiet"]);
        assert_eq!(place.canonical("results/quick"), expected, "seed {seed}");
    }
    println!("runs that were there after each kill: {resumed_with:?}");
    let in_between = resumed_with.iter().filter(|done| (1..RUNS).contains(done)).count();
    assert!(in_between >= 3, "seed {seed}: too few kills were in the midst of a study: {resumed_with:?}");
}

#[test]
fn two_processes_share_a_study() {
    let expected = undisturbed();
    let place = Workplace::new();
    let both = [started(&place), started(&place)];
    for child in both {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    assert_eq!(place.canonical("results/quick"), expected);
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_at_once_and_keeps_what_is_done() {
    stopped_by("INT", 130);
}

#[cfg(unix)]
#[test]
fn sigterm_stops_as_ctrl_c_does_and_exits_as_shells_have_it() {
    stopped_by("TERM", 143);
}

#[cfg(unix)]
fn stopped_by(signal: &str, code: i32) {
    let long = STUDY.replace("duration = \"20 s\"", "duration = \"200 s\"");
    let place = Workplace::with(&long);
    let child = started(&place);
    let stored = place.path("results/quick/results.sqlite");
    for _ in 0..500 {
        thread::sleep(Duration::from_millis(20));
        let export = place.cwnd(&["export", "results/quick"]);
        if stored.is_file() && text(&export.stdout).contains(",done,") {
            break;
        }
    }
    let asked = Instant::now();
    let sent = Command::new("kill")
        .args([format!("-{signal}"), child.id().to_string()])
        .status()
        .expect("kill runs");
    assert!(sent.success());
    let output = child.wait_with_output().expect("it ends");
    // The run that is under way would continue for much longer; at once is well under a second, on an idle machine.
    assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    let last = said.lines().last().unwrap_or_default();
    assert!(
        last.starts_with("stopped: ")
            && last
                .ends_with(" of 48 runs are stored in results/quick; run the same command again to continue"),
        "{said}"
    );
    let rows = place.printed(&["export", "results/quick"]);
    let done = rows.lines().filter(|line| line.contains(",done,")).count();
    assert!(last.starts_with(&format!("stopped: {done} of ")), "{done} are there: {last}");
    assert!(done > 0);
}
