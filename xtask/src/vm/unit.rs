//! The systemd unit of docs/kernel.md, booted: the text that users copy, with the file that docs/how-to/operate.md shows.

use crate::command::{root, run_showing};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The pages, their headings, and the language of the block that follows.
const UNIT: (&str, &str, &str) = ("docs/kernel.md", "## Load at boot", "ini");
const CONFIG: (&str, &str, &str) = ("docs/how-to/operate.md", "## Load at boot", "toml");

/// A default that `systemd-sysctl` sets before the unit starts.
const SYSCTL: &str = "net.ipv4.tcp_congestion_control = reno\n";
/// That default, and what the page's file loads: the first of these as the default.
const FORMER: &str = "reno";
const LOADED: [&str; 2] = ["cwnd_agile_sd", "cwnd_bulk"];

/// What is run after the boot. Each line that begins with `@` has a step, the unit's state, how many selections of cgroups there are,
/// the default, and what is registered.
const SCRIPT: &str = "
    ipv4=/proc/sys/net/ipv4
    state() {
        set -- \"$1\" $(ls /sys/fs/bpf/cwnd/cgroups 2> /dev/null)
        echo \"@unit $1 $(systemctl is-active cwnd) $(($# - 1)) $(cat $ipv4/tcp_congestion_control)\" \\
             \"$(cat $ipv4/tcp_available_congestion_control)\"
    }
    echo \"@systemd $(systemctl --version | head -n 1)\"
    state boot
    systemctl stop cwnd; state stop
    systemctl start cwnd; state start
    systemctl restart cwnd; state restart
    systemctl reload cwnd; state reload
    systemctl stop cwnd
    systemctl start --no-block cwnd; sleep 0.3; echo \"@state $(systemctl is-active cwnd)\"; systemctl stop cwnd; state interrupted
    systemctl reset-failed cwnd
    dmesg | grep -i 'ordering cycle' && echo '@cycle'
    systemctl --failed --plain --no-legend | grep . && echo '@failed'
    echo '@done'";

/// The steps of the script, and whether the algorithms are loaded after each.
const STEPS: [(&str, bool); 6] = [
    ("boot", true),
    ("stop", false),
    ("start", true),
    ("restart", true),
    ("reload", true),
    // Stopped while it starts.
    ("interrupted", false),
];

/// Boots a kernel with the unit. Returns whether it did after each step what it should.
pub fn try_unit(cwnd: &Path, version: &str) -> Result<bool, String> {
    println!("── the systemd unit of {}, Linux {version}", UNIT.0);
    let begin = Instant::now();
    let folder = root().join("target/vm/unit");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let write = |name: &str, text: &str| -> Result<PathBuf, String> {
        let file = folder.join(name);
        fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(file)
    };
    let unit = write("cwnd.service", &block(UNIT)?)?;
    let config = write("kernel.toml", &block(CONFIG)?)?;
    let sysctl = write("sysctl.conf", SYSCTL)?;
    let mut lab = Command::new(cwnd);
    lab.args(["lab", "vm", "--at-most", "600", "--kernel", version])
        .arg("--unit")
        .arg(unit)
        .args(["--file", &format!("{}=/etc/cwnd/kernel.toml", config.display())])
        .args(["--file", &format!("{}=/etc/sysctl.d/50-congestion.conf", sysctl.display())])
        .args(["--", SCRIPT]);
    let mut lines = Vec::new();
    let ended = run_showing(&mut lab, |line| lines.push(line.to_owned()))?;
    let mut problems = problems(&lines);
    problems.extend((!ended).then(|| "the machine did not end well".to_owned()));
    let verdict = match &problems[..] {
        [] => "as expected".to_owned(),
        problems => format!("FAILED: {}", problems.join("; ")),
    };
    println!(
        "the unit at boot, stopped, started, restarted, reloaded, stopped while it starts: {verdict}; {:.0} s",
        begin.elapsed().as_secs_f64()
    );
    Ok(problems.is_empty())
}

/// Returns the first block of a language that follows a heading of a page.
fn block((page, heading, language): (&str, &str, &str)) -> Result<String, String> {
    let text = fs::read_to_string(root().join(page)).map_err(|error| format!("{page}: {error}"))?;
    find_block(&text, heading, language)
        .map(str::to_owned)
        .ok_or_else(|| format!("{page} has no block of {language} below `{heading}`"))
}

fn find_block<'a>(text: &'a str, heading: &str, language: &str) -> Option<&'a str> {
    let (_, below) = text.split_once(&format!("\n{heading}\n"))?;
    let section = below.split("\n## ").next().unwrap_or(below);
    let (_, block) = section.split_once(&format!("\n```{language}\n"))?;
    block.split_once("```").map(|(block, _)| block)
}

/// Compares what the machine printed with what the unit should have done.
fn problems(lines: &[String]) -> Vec<String> {
    let mut problems = Vec::new();
    for (step, loaded) in STEPS {
        let words = lines.iter().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let state = words.into_iter().find_map(|words| match words[..] {
            ["@unit", of, active, selections, default, ref available @ ..] if of == step => Some((
                active == "active",
                selections == "1",
                default.to_owned(),
                LOADED.map(|name| available.contains(&name)),
            )),
            _ => None,
        });
        let default = if loaded { LOADED[0] } else { FORMER };
        let expected = (loaded, loaded, default.to_owned(), [loaded; 2]);
        match state {
            None => problems.push(format!("{step}: no state was printed")),
            Some(state) if state != expected => problems.push(format!(
                "{step}: (active, a cgroup selects, default, {} registered) is {state:?} and should be {expected:?}",
                LOADED.join(" and ")
            )),
            Some(_) => (),
        }
    }
    let has = |mark: &str| lines.iter().any(|line| line == mark);
    problems.extend((!has("@state activating")).then(|| "it was not stopped while it started".to_owned()));
    problems.extend(has("@cycle").then(|| "systemd found an ordering cycle".to_owned()));
    problems.extend(has("@failed").then(|| "a unit failed".to_owned()));
    problems.extend((!has("@done")).then(|| "the script did not come to its end".to_owned()));
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_have_the_unit_and_its_file() {
        assert!(
            block(UNIT)
                .unwrap()
                .contains("\nExecStart=/usr/local/bin/cwnd kernel load --config /etc/cwnd/kernel.toml\n")
        );
        assert!(block(CONFIG).unwrap().contains("[[algorithm]]\n"));
        let text = "a\n## Here\n\n```sh\nx\n```\n\n## There\n\n```ini\ny\n```\n";
        assert_eq!(
            (find_block(text, "## Here", "sh"), find_block(text, "## Here", "ini")),
            (Some("x\n"), None)
        );
    }

    #[test]
    fn a_unit_that_does_not_load_or_unload_is_found() {
        let loaded = "active 1 cwnd_agile_sd reno cubic cwnd_bulk cwnd_agile_sd";
        let good = |stop: &str| -> Vec<String> {
            let steps = STEPS.map(|(step, on)| {
                let unloaded = if step == "stop" { stop } else { "failed 0 reno reno cubic" };
                format!("@unit {step} {}", if on { loaded } else { unloaded })
            });
            steps.into_iter().chain(["@state activating".to_owned(), "@done".to_owned()]).collect()
        };
        assert_eq!(problems(&good("inactive 0 reno reno cubic")), [""; 0]);
        for wrong in [
            "inactive 0 cubic reno cubic",
            "failed 0 reno reno cubic cwnd_bulk",
            "inactive 1 reno reno cubic",
            "active 0 reno reno cubic",
        ] {
            let found = problems(&good(wrong));
            assert!(found.len() == 1 && found[0].starts_with("stop: "), "{found:?}");
        }
        assert_eq!(problems(&[]).len(), STEPS.len() + 2);
        let failed = ["@failed".to_owned(), "@cycle".to_owned()];
        let found =
            problems(&good("inactive 0 reno reno cubic").into_iter().chain(failed).collect::<Vec<_>>());
        assert_eq!(found, ["systemd found an ordering cycle", "a unit failed"]);
    }
}
