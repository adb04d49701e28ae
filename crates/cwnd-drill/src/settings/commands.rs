//! The commands in backticks. Nothing is executed: commands that change TCP change the settings here.

use super::{Note, Settings, sysctl};
use crate::cursor::{Place, ScriptError};
use crate::script::Command;

/// Returns the text of a file that a command names, relative to the script; `None` if there is none.
pub type Loader<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Programs that have no effect on the endpoint.
const IGNORED: &[&str] = &[
    "ethtool",
    "sleep",
    "true",
    "nstat",
    "modprobe",
    "iptables",
    "ip6tables",
    "nft",
    "cat",
    "grep",
    "rm",
    "dmesg",
    "mkdir",
    "ulimit",
    "ifconfig",
    "test",
    "[",
    "python",
    "python3",
    "ss",
    "netstat",
    "bash",
    "sh",
    "set",
    "exit",
    "export",
    "cp",
    "mv",
];

/// The programs whose commands are understood, for errors.
const UNDERSTOOD: &str = "commands with an effect are sysctl, set_sysctls.py, defaults.sh, echo into /proc/sys, tc qdisc and ip \
                          route with initcwnd";

/// Applies a command.
pub(super) fn run(
    settings: &mut Settings,
    command: &Command,
    loader: &Loader<'_>,
    notes: &mut Vec<Note>,
) -> Result<(), ScriptError> {
    run_text(settings, command.place, &command.text, loader, notes, true)
}

fn run_text(
    settings: &mut Settings,
    place: Place,
    text: &str,
    loader: &Loader<'_>,
    notes: &mut Vec<Note>,
    in_script: bool,
) -> Result<(), ScriptError> {
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        // Errors in a file that the script names are reported at the command.
        let place = match (in_script, number) {
            (false, _) | (_, 0) => place,
            (true, number) => Place { line: place.line + number as u32, column: 1 },
        };
        let mut line = line.to_owned();
        while let Some(start) = line.trim_end().strip_suffix('\\') {
            line = format!("{start} {}", lines.next().map_or("", |(_, next)| next));
        }
        let line = line.split(" #").next().unwrap_or_default().to_owned();
        if line.trim_start().starts_with('#') {
            continue;
        }
        for part in line.replace("&&", ";").split(';') {
            run_words(settings, place, &words(part), loader, notes)?;
        }
    }
    Ok(())
}

fn run_words(
    settings: &mut Settings,
    place: Place,
    words: &[String],
    loader: &Loader<'_>,
    notes: &mut Vec<Note>,
) -> Result<(), ScriptError> {
    let Some(program) = words.first() else { return Ok(()) };
    let arguments = &words[1..];
    let name = program.rsplit('/').next().unwrap_or_default();
    match name {
        "defaults.sh" => {
            suite_defaults(settings);
            if let Some(text) = loader(program) {
                run_text(settings, place, &text, &|_| None, notes, false)?;
            }
            Ok(())
        }
        "sysctl" | "set_sysctls.py" => {
            for argument in arguments.iter().take_while(|word| !word.starts_with('>')) {
                if let Some((name, value)) = argument.split_once('=') {
                    let name = name.trim_start_matches("/proc/sys/");
                    sysctl::apply(settings, place, name, &evaluate(value), notes)?;
                }
            }
            Ok(())
        }
        "echo" => echo(settings, place, arguments, notes),
        "tc" => {
            let text = arguments.join(" ");
            if text.contains("qdisc") {
                settings.queue_blocked = text.contains("limit 0");
                settings.paced = arguments.iter().any(|word| word == "fq");
            }
            Ok(())
        }
        "ip" => {
            let window = arguments.iter().position(|word| word == "initcwnd").map(|i| arguments.get(i + 1));
            if let Some(window) = window {
                let parsed = window.and_then(|word| word.parse().ok()).filter(|n| (1..=10_000).contains(n));
                settings.initial_window = parsed
                    .ok_or_else(|| ScriptError::new(place, "write initcwnd and a number from 1 to 10000"))?;
            } else if arguments.first().is_none_or(|word| word != "tcp_metrics") {
                let message = format!("`{}` has no effect here", words.join(" "));
                notes.push(Note { place, message });
            }
            Ok(())
        }
        _ if name.starts_with("sysctl_restore") => Ok(()),
        _ if IGNORED.contains(&name) => {
            notes.push(Note { place, message: format!("`{}` has no effect here", words.join(" ")) });
            Ok(())
        }
        _ => Err(ScriptError::new(place, format!("the command `{program}` is not supported; {UNDERSTOOD}"))),
    }
}

fn echo(
    settings: &mut Settings,
    place: Place,
    arguments: &[String],
    notes: &mut Vec<Note>,
) -> Result<(), ScriptError> {
    let Some(arrow) = arguments.iter().position(|word| word == ">") else { return Ok(()) };
    let value = arguments[..arrow].join(" ");
    let target = arguments.get(arrow + 1).map_or("", String::as_str);
    if let Some(name) = target.strip_prefix("/proc/sys/") {
        return sysctl::apply(settings, place, name, &evaluate(&value), notes);
    }
    match target.rsplit('/').next().unwrap_or_default() {
        "hystart_detect" if value.trim() != "3" => {
            let message =
                format!("hystart_detect={value} has no effect: both ACK trains and delays end slow start");
            notes.push(Note { place, message });
        }
        "hystart_detect" => {}
        _ => notes.push(Note { place, message: format!("`echo {value} > {target}` has no effect here") }),
    }
    Ok(())
}

/// Sets what the `defaults.sh` of packetdrill's and Linux's suites sets.
fn suite_defaults(settings: &mut Settings) {
    let Settings { mss, tolerance, tolerance_percent, compare_push, kernel, .. } = *settings;
    *settings = Settings {
        receive_buffer: 15 << 20,
        ecn: 0,
        restart_after_idle: false,
        mss,
        tolerance,
        tolerance_percent,
        compare_push,
        kernel,
        ..Settings::default()
    };
}

/// Splits a command into words, as a shell does with quotes and `$((…))`.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut depth = 0u32;
    for c in text.chars() {
        match c {
            '"' | '\'' if quote == Some(c) => quote = None,
            '"' | '\'' if quote.is_none() => quote = Some(c),
            c if c.is_whitespace() && quote.is_none() && depth == 0 => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => {
                depth = match c {
                    '(' => depth + 1,
                    ')' => depth.saturating_sub(1),
                    _ => depth,
                };
                word.push(c);
            }
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Replaces `$((a*b))` by the product.
fn evaluate(value: &str) -> String {
    let mut out = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("$((") {
        out.push_str(before);
        let Some((expression, after)) = after.split_once("))") else {
            out.push_str("$((");
            rest = after;
            continue;
        };
        let mut factors = expression.split('*').map(|factor| factor.trim().parse::<u64>().ok());
        let product = factors.try_fold(1u64, |product, factor| product.checked_mul(factor?));
        out.push_str(&product.map_or_else(|| expression.to_owned(), |product| product.to_string()));
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_products_are_read_as_a_shell_reads_them() {
        let command = words("sysctl -q a.b=\"4096 $((256*1024)) 7\" c=1");
        assert_eq!(command, ["sysctl", "-q", "a.b=4096 $((256*1024)) 7", "c=1"]);
        assert_eq!(evaluate("4096 $((256*1024)) 7"), "4096 262144 7");
        assert_eq!(evaluate("$((x)) $(("), "x $((");
    }

    #[test]
    fn commands_change_the_settings() {
        let place = Place { line: 1, column: 1 };
        let text = "../common/defaults.sh\nsysctl -q net.ipv4.tcp_congestion_control=reno net.ipv4.tcp_timestamps=0\n\
                    ../common/set_sysctls.py /proc/sys/net/ipv4/tcp_slow_start_after_idle=1 \\\n  /proc/sys/net/ipv4/tcp_min_tso_segs=10";
        let command = Command { place, text: text.to_owned() };
        let (mut settings, mut notes) = (Settings::default(), Vec::new());
        run(&mut settings, &command, &|_| None, &mut notes).unwrap();
        assert_eq!((settings.algorithm.as_str(), settings.timestamps), ("newreno", false));
        assert_eq!((settings.restart_after_idle, settings.min_tso_segs), (true, 10));
        assert_eq!((settings.receive_buffer, notes.len()), (15 << 20, 0));
        let command = Command { place, text: "sysctl net.ipv4.tcp_congestion_contrl=reno".to_owned() };
        let error = run(&mut settings, &command, &|_| None, &mut notes).unwrap_err();
        assert!(
            error.to_string().starts_with("1:1: the setting net.ipv4.tcp_congestion_contrl is not supported")
        );
    }
}
