//! The parser of packetdrill scripts: options, commands, and events with their times.

mod call;
mod packet;

use crate::code;
use crate::cursor::{Cursor, Parsed, Place, ScriptError};
use crate::script::{Command, Event, EventKind, EventTime, Script};

/// What an event may be, for errors.
pub(crate) const EVENT_KINDS: &str = "an event is a packet (`<` or `>`), a system call such as `write(4, ..., 1000) = 1000`, a command in \
                           backticks, or a code block `%{ … }%`";

/// Reads a script.
///
/// # Errors
/// The text is not a script, or uses something that is not supported. The error names the place and what would be valid.
pub fn parse(text: &str) -> Parsed<Script> {
    let mut cursor = Cursor::new(text, Place { line: 1, column: 1 });
    let mut script = Script::default();
    loop {
        skip_blank(&mut cursor)?;
        if cursor.is_at_end() {
            return Ok(script);
        }
        let place = cursor.place();
        if cursor.take("--") {
            if !script.events.is_empty() {
                return Err(ScriptError::new(place, "options (`--name=value`) stand before the first event"));
            }
            let name = cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-').to_owned();
            let value = match cursor.take("=") {
                true => cursor.take_while(|c| !c.is_whitespace()).to_owned(),
                false => String::new(),
            };
            script.options.push((place, name, value));
        } else if cursor.looks_at("`") {
            let command = parse_command(&mut cursor)?;
            match script.events.last() {
                None => script.setup.push(command),
                // Without a time it follows the event before at once.
                Some(_) => {
                    let text = command.text.clone();
                    let time = EventTime::Relative(0);
                    script.events.push(Event {
                        place,
                        text,
                        time,
                        until: None,
                        kind: EventKind::Command(command),
                    });
                }
            }
        } else {
            let start = cursor.offset();
            let (time, until) = parse_time(&mut cursor)?;
            skip_blank(&mut cursor)?;
            let kind = parse_event(&mut cursor)?;
            if until.is_some() && !matches!(kind, EventKind::Call(_)) {
                return Err(ScriptError::new(place, "only a system call has an end time (`start...end`)"));
            }
            let text = cursor.since(start).trim().to_owned();
            script.events.push(Event { place, text, time, until, kind });
        }
    }
}

/// Reads spaces, line ends and comments.
fn skip_blank(cursor: &mut Cursor<'_>) -> Parsed<()> {
    loop {
        cursor.take_while(char::is_whitespace);
        let place = cursor.place();
        if cursor.looks_at("//") || cursor.looks_at("#") {
            cursor.take_while(|c| c != '\n');
        } else if cursor.take("/*") {
            if cursor.take_until("*/").is_none() {
                return Err(ScriptError::new(place, "this comment has no end `*/`"));
            }
        } else {
            return Ok(());
        }
    }
}

/// Reads spaces of a line.
fn skip_spaces(cursor: &mut Cursor<'_>) {
    cursor.take_while(|c| c == ' ' || c == '\t');
}

fn parse_command(cursor: &mut Cursor<'_>) -> Parsed<Command> {
    let opened = cursor.place();
    cursor.expect("`", "before a command")?;
    let place = cursor.place();
    match cursor.take_until("`") {
        Some(text) => Ok(Command { place, text: text.to_owned() }),
        None => Err(ScriptError::new(opened, "this command has no closing backtick")),
    }
}

/// Reads the time of an event, and the end of a blocking call.
fn parse_time(cursor: &mut Cursor<'_>) -> Parsed<(EventTime, Option<i64>)> {
    if cursor.take("*") {
        return Ok((EventTime::Any, None));
    }
    let place = cursor.place();
    if !cursor.peek().is_some_and(|c| c == '+' || c == '.' || c.is_ascii_digit()) {
        return Err(ScriptError::new(
            place,
            format!(
                "expected the time of an event, found {}; a time is `+.1` (after the event before), `0.1` (since the \
                 beginning), `*` (any), or a range `+.1~+.2`",
                cursor.found()
            ),
        ));
    }
    let relative = cursor.take("+");
    let from = cursor.seconds()?;
    skip_spaces(cursor);
    if cursor.take("...") {
        skip_spaces(cursor);
        cursor.take("+");
        let end = cursor.seconds()?;
        let time = if relative { EventTime::Relative(from) } else { EventTime::Absolute(from) };
        return Ok((time, Some(end)));
    }
    if !cursor.take("~") {
        return Ok((if relative { EventTime::Relative(from) } else { EventTime::Absolute(from) }, None));
    }
    skip_spaces(cursor);
    let end_place = cursor.place();
    if cursor.take("+") != relative {
        return Err(ScriptError::new(
            end_place,
            "both ends of a time range are relative (`+`), or neither is",
        ));
    }
    let to = cursor.seconds()?;
    if to < from {
        return Err(ScriptError::new(end_place, "a time range ends after it begins"));
    }
    Ok((if relative { EventTime::RelativeRange(from, to) } else { EventTime::AbsoluteRange(from, to) }, None))
}

fn parse_event(cursor: &mut Cursor<'_>) -> Parsed<EventKind> {
    let place = cursor.place();
    if cursor.take("<") {
        return packet::parse(cursor).map(EventKind::Inbound);
    }
    if cursor.take(">") {
        return packet::parse(cursor).map(EventKind::Outbound);
    }
    if cursor.looks_at("`") {
        return parse_command(cursor).map(EventKind::Command);
    }
    if cursor.take("%{") {
        let begin = cursor.place();
        let Some(text) = cursor.take_until("}%") else {
            return Err(ScriptError::new(place, "this code block has no end `}%`"));
        };
        return code::parse(text, begin).map(EventKind::Code);
    }
    if cursor.peek().is_some_and(|c| c.is_ascii_alphabetic() || c == '_') {
        return call::parse(cursor).map(EventKind::Call);
    }
    Err(cursor.error(format!("expected an event, found {}; {EVENT_KINDS}", cursor.found())))
}
