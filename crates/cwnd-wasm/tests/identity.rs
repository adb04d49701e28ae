//! The module's runs are those of the native simulator, to the bit.

use cwnd_scenario::{Purpose, Stream};
use cwnd_wasm::{Bench, Setting};
use std::io::Write;
use std::process::{Command, Stdio};

/// How many random scenarios are compared.
const SCENARIOS: u64 = 100;
/// Into how many pieces a run is divided.
const PIECES: u32 = 7;
/// Time between samples, seconds.
const EVERY: f64 = 0.05;

#[test]
#[ignore = "it needs node and the module: cargo xtask web"]
fn the_module_has_the_bits_of_the_native_simulator() {
    let settings: Vec<String> = (1..=SCENARIOS).map(random_setting).collect();
    let native: Vec<String> = settings.iter().map(|text| native_digest(text)).collect();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut node = Command::new("node")
        .args([&format!("{root}/web/tests/digests.mjs"), &format!("{root}/target/web/cwnd.wasm")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node starts");
    let cases = serde_json::json!({ "settings": settings, "pieces": PIECES, "every": EVERY });
    node.stdin.take().expect("it is piped").write_all(cases.to_string().as_bytes()).expect("node reads");
    let output = node.wait_with_output().expect("node ends");
    assert!(output.status.success(), "node failed");
    let module: Vec<String> = serde_json::from_slice(&output.stdout).expect("node writes JSON");
    assert_eq!(module.len(), settings.len());
    for ((text, native), module) in settings.iter().zip(&native).zip(&module) {
        assert_eq!(native, module, "of the setting\n{text}");
    }
    let mut different = native.clone();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), native.len(), "every scenario has an outcome of its own");
}

#[test]
fn a_run_does_not_depend_on_how_it_is_divided_and_depends_on_its_changes() {
    let text =
        "rate=20 Mbit/s\nrtt=30 ms\nbuffer=40\nduration=6 s\nflow=cubic\nflow=bbr3\n@2 s rate=5 Mbit/s";
    let digest = |text: &str, pieces: u32| {
        let mut bench = Bench::new(Setting::parse(text, None).expect("valid")).expect("possible");
        for piece in 1..=pieces {
            bench.run_until(6.0 * f64::from(piece) / f64::from(pieces), EVERY).expect("possible");
        }
        bench.digest()
    };
    assert_eq!(digest(text, 1), digest(text, 13));
    assert_ne!(digest(text, 1), digest(&text.replace("@2 s", "@3 s"), 1));
}

#[test]
fn a_change_now_is_the_same_as_one_that_was_planned() {
    let text = "rate=20 Mbit/s\nrtt=30 ms\nbuffer=40\nduration=6 s\nflow=cubic\nflow=newreno";
    let changes = ["rate=5 Mbit/s", "per=0.01", "rtt=60 ms", "buffer=12", "stop=2"];
    let mut live = Bench::new(Setting::parse(text, None).expect("valid")).expect("possible");
    live.run_until(2.0, EVERY).expect("possible");
    for change in changes {
        live.change(change).expect("it can change");
    }
    live.run_until(6.0, EVERY).expect("possible");
    let planned: String = changes.iter().map(|change| format!("\n@2 s {change}")).collect();
    let setting = Setting::parse(&(text.to_owned() + &planned), None).expect("valid");
    let mut planned = Bench::new(setting).expect("possible");
    planned.run_until(6.0, EVERY).expect("possible");
    assert_eq!(live.digest(), planned.digest());
}

/// The command that the page copies has a schedule in place of the changes: access links are those of the first rate in both.
#[test]
fn changes_are_those_of_a_schedule() {
    let text = "rate=20 Mbit/s\nrtt=30 ms\nbuffer=40\nreceive-window=100000\nduration=12 s\nflow=cubic\nflow=bbr3; start=1 s";
    let digest = |text: &str| {
        let mut bench = Bench::new(Setting::parse(text, None).expect("valid")).expect("possible");
        bench.run_until(12.0, EVERY).expect("possible");
        bench.digest()
    };
    for topology in ["dumbbell", "path", "parking-lot"] {
        let text = text.replace("rtt=30 ms", &format!("topology={topology}\ndelay=15 ms"));
        let changed = digest(&format!("{text}\n@3 s rate=5 Mbit/s\n@6 s rate=40 Mbit/s"));
        let scheduled = digest(&format!("{text}\nschedule=3 s: 5 Mbit/s; 6 s: 40 Mbit/s"));
        assert_eq!(changed, scheduled, "{topology}");
        assert_ne!(changed, digest(&text));
    }
}

#[test]
fn problems_have_their_lines() {
    let wrong = "rate=10 Mbit/s\nflow=cubic\n\nbufer=3\n@soon rate=1 Mbit/s\nrtt=-4 ms";
    let problems = Setting::parse(wrong, None).err().expect("three lines are wrong");
    let lines: Vec<usize> = problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [4, 5, 6]);
    assert!(problems[0].message.contains("did you mean `buffer`?"), "{}", problems[0].message);
    let twice = Setting::parse("rtt=1 ms\nflow=cubic\nflow=cubic\nrtt = 2 ms\n@1 s rtt=3 ms", None);
    let problems = twice.err().expect("a key is there twice");
    assert_eq!((problems.len(), problems[0].line, problems[0].key.as_str()), (1, 4, "rtt"));
    assert!(problems[0].message.contains("first in line 1"), "{}", problems[0].message);
    let mut bench = Bench::new(Setting::parse("flow=cubic", None).expect("valid lines")).expect("possible");
    let problems = bench.change("stop=2").expect_err("there is one flow");
    assert!(problems[0].message.contains("there are 1"), "{}", problems[0].message);
}

#[test]
fn changes_are_checked_before_the_run() {
    let base = "flow=cubic\nduration=3 s\nrtt=40 ms\n";
    let parsed = |change: &str| {
        let problems = Setting::parse(&format!("{base}{change}"), None).err().expect("the change is wrong");
        (problems[0].line, problems[0].key.clone(), problems[0].message.clone())
    };
    for (change, key, part) in [
        ("@1 s topology=path", "topology", "cannot change during a run"),
        ("@1 s foo=bar", "foo", "these can: rate"),
        ("@1 s rate=10 parsecs", "rate", "unknown unit"),
        ("@1 s stop=first", "stop", "no flow"),
        ("@3 s rate=1 Mbit/s", "rate", "the run ends at 3 s"),
        ("@50 s rate=1 Mbit/s", "rate", "the run ends at 3 s"),
    ] {
        let (line, found, message) = parsed(change);
        assert_eq!((line, found.as_str()), (4, key), "{change}");
        assert!(message.contains(part), "{change}: {message}");
    }
    // What no single line shows is found when the run is made.
    for (change, part) in [("@1 s stop=2", "there are 1"), ("@1 s rtt=3 ms", "access links")] {
        let setting = Setting::parse(&format!("{base}{change}"), None).expect("valid lines");
        let problems = Bench::new(setting).err().expect("the change is impossible");
        assert_eq!(problems[0].line, 4);
        assert!(problems[0].message.contains(part), "{}", problems[0].message);
    }
}

fn native_digest(text: &str) -> String {
    let setting = Setting::parse(text, None).unwrap_or_else(|problems| panic!("{problems:?} in\n{text}"));
    let duration = 3.0;
    let mut bench = Bench::new(setting).unwrap_or_else(|problems| panic!("{problems:?} in\n{text}"));
    for piece in 1..=PIECES {
        let until = duration * f64::from(piece) / f64::from(PIECES);
        bench.run_until(until, EVERY).unwrap_or_else(|problems| panic!("{problems:?} in\n{text}"));
    }
    format!("{:016x}", bench.digest())
}

/// A setting of 3 s with one to eight flows of any algorithms on any of several networks, and up to three changes.
fn random_setting(seed: u64) -> String {
    let mut dice = Dice(Stream::new(seed, Purpose::Algorithm, u64::MAX));
    let algorithms = cwnd_cc::all();
    let topology = dice.pick(&["dumbbell", "dumbbell", "path", "parking-lot", "incast"]);
    let rate = dice.pick(&[1, 5, 10, 40, 100, 400]);
    let queues =
        ["drop-tail", "red", "codel", "codel:ecn=on", "fq-codel", "pie", "dualpi2"].map(str::to_owned);
    let mut lines = vec![
        format!("topology={topology}"),
        format!("rate={rate} Mbit/s"),
        format!("delay={} ms", dice.between(1, 80)),
        format!("buffer={}", dice.between(4, 400)),
        format!("queue={}", queues[dice.below(7) as usize]),
        format!("ecn={}", dice.pick(&["on", "off"])),
        format!("stack={}", dice.pick(&["linux", "linux", "ns2"])),
        "duration=3 s".to_owned(),
        format!("seed={seed}"),
    ];
    let losses = ["0", "1e-3", "gilbert-elliott:to_bad=1e-3,to_good=0.1"];
    lines.push(format!("loss={}", dice.pick(&losses)));
    if dice.below(4) == 0 {
        lines.push(format!("jitter={}", dice.pick(&["uniform:5 ms", "normal:5 ms,1 ms"])));
    }
    for _ in 0..dice.between(1, 8) {
        let algorithm = &algorithms[dice.below(algorithms.len() as u64) as usize];
        lines.push(format!("flow={}; start={} ms", algorithm.name, dice.below(1000)));
    }
    for _ in 0..dice.below(4) {
        let at = dice.between(1, 2900);
        let change = match dice.below(4) {
            0 => format!("rate={} Mbit/s", dice.between(1, 100)),
            1 => format!("delay={} ms", dice.between(1, 80)),
            2 => format!("buffer={}", dice.between(4, 400)),
            _ => "stop=1".to_owned(),
        };
        lines.push(format!("@{at} ms {change}"));
    }
    lines.join("\n")
}

struct Dice(Stream);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound)
    }

    fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}
