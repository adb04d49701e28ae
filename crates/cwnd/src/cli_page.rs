//! `docs/reference/cli.md`: every command, argument and flag, from clap's definitions.

use crate::Cli;
use clap::{Arg, Command, CommandFactory};
use std::fmt::Write;

const INTRODUCTION: &str = "\
# Command line

`cargo xtask renew` writes this page from the program's own definitions of its flags; a test compares them. `cwnd COMMAND --help`
prints the same.

A build with `--features kernel` also has `cwnd kernel` ([Algorithms in the Linux kernel](../kernel.md)). `cwnd lab` is on Linux only.

Exit codes: 0 for success, 1 for a failure, 2 for wrong input. `cwnd diff` of two recordings, and `cwnd diff --fail-on-change`, exit with 1 on a difference.
";

/// Returns the page as Markdown.
fn page() -> String {
    let mut cli = Cli::command();
    cli.build();
    let mut page = String::from(INTRODUCTION);
    page += "\n| command | what it does |\n|---|---|\n";
    for command in commands(&cli) {
        let name = command.get_name();
        let _ = writeln!(page, "| [`cwnd {name}`](#cwnd-{name}) | {} |", cell(&about(command)));
    }
    for command in commands(&cli) {
        page += &section(command, "##");
    }
    page
}

/// Returns the commands below one, without `help` and without hidden ones.
fn commands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| command.get_name() != "help" && !command.is_hide_set())
}

fn section(command: &Command, mark: &str) -> String {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let mut text = format!("\n{mark} {name}\n\n");
    let described = command.get_long_about().or(command.get_about());
    text += &described.map(|about| escaped(&about.to_string())).unwrap_or_default();
    text += "\n";
    let usage = command.clone().render_usage().to_string();
    let _ = write!(text, "\n```text\n{}\n```\n", usage.trim_start_matches("Usage: "));
    let visible: Vec<&Arg> =
        command.get_arguments().filter(|arg| !arg.is_hide_set() && arg.get_id() != "help").collect();
    let mut headings: Vec<&str> = Vec::new();
    for arg in &visible {
        if !headings.contains(&heading(arg)) {
            headings.push(heading(arg));
        }
    }
    for heading_of_group in headings {
        let _ = write!(text, "\n**{heading_of_group}**\n\n| | meaning | default |\n|---|---|---|\n");
        for arg in visible.iter().filter(|arg| heading(arg) == heading_of_group) {
            text += &row(arg);
        }
    }
    if let Some(examples) = command.get_after_long_help().or(command.get_after_help()) {
        let _ = write!(text, "\n```text\n{}\n```\n", examples.to_string().trim());
    }
    for inner in commands(command) {
        text += &section(inner, &format!("{mark}#"));
    }
    text
}

fn heading(arg: &Arg) -> &str {
    let usual = if arg.is_positional() { "Arguments" } else { "Options" };
    arg.get_help_heading().unwrap_or(usual)
}

fn row(arg: &Arg) -> String {
    let form = arg.to_string();
    let form = match arg.get_short() {
        Some(short) if !arg.is_positional() => format!("-{short}, {form}"),
        _ => form,
    };
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let (help, told) = match help.rsplit_once("[default: ") {
        Some((help, default)) => (help, default.trim_end().trim_end_matches(']')),
        None => (help.as_str(), ""),
    };
    let mut meaning = escaped(help);
    let possible = arg.get_possible_values();
    let is_switch = !arg.get_action().takes_values();
    if !possible.is_empty() && !is_switch {
        let values = possible.iter().filter(|value| !value.is_hide_set()).map(|value| {
            let about = value.get_help().map(|about| format!(" ({about})")).unwrap_or_default();
            format!("`{}`{about}", value.get_name())
        });
        let _ = write!(meaning, " One of: {}.", values.collect::<Vec<_>>().join("; "));
    }
    let defaults = arg.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy()));
    let default = match defaults.collect::<Vec<_>>().join(", ") {
        _ if is_switch => String::new(),
        none if none.is_empty() => escaped(told),
        default => default,
    };
    format!("| `{}` | {} | {} |\n", cell(&form), cell(&meaning), cell(&default))
}

fn about(command: &Command) -> String {
    command.get_about().map(|about| escaped(&about.to_string())).unwrap_or_default()
}

/// Returns a text in which Markdown takes no word in angle brackets for a tag, outside of code.
fn escaped(text: &str) -> String {
    let is_code = |index: usize| index % 2 == 1;
    let parts = text.split('`').enumerate();
    let parts =
        parts.map(|(index, part)| if is_code(index) { part.to_owned() } else { part.replace('<', "\\<") });
    parts.collect::<Vec<_>>().join("`")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Compares the committed page with the program, or writes it if `CWND_RENEW` is set.
#[test]
fn the_page_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/cli.md");
    if std::env::var_os("CWND_RENEW").is_some() {
        std::fs::write(path, page()).expect("the page can be written");
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(committed == page(), "docs/reference/cli.md is stale; run `cargo xtask renew`");
}
