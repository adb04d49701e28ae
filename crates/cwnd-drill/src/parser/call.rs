//! System calls: `setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0`.

use super::skip_blank;
use crate::cursor::{Cursor, Parsed, ScriptError};
use crate::script::{Argument, Call};

/// How deep lists may be nested.
const MAX_DEPTH: u32 = 16;

/// Reads a system call.
pub(super) fn parse(cursor: &mut Cursor<'_>) -> Parsed<Call> {
    let place = cursor.place();
    let name = cursor.name().to_owned();
    skip_blank(cursor)?;
    cursor.expect("(", &format!("after the system call `{name}`"))?;
    let mut arguments = Vec::new();
    loop {
        skip_blank(cursor)?;
        if arguments.is_empty() && cursor.take(")") {
            break;
        }
        let place = cursor.place();
        arguments.push((place, parse_argument(cursor, 0)?));
        skip_blank(cursor)?;
        if cursor.take(")") {
            break;
        }
        cursor.expect(",", "or `)` after an argument")?;
    }
    skip_blank(cursor)?;
    cursor.expect("=", "and the value that the call returns")?;
    skip_blank(cursor)?;
    let result = if cursor.take("...") { None } else { Some(parse_number(cursor)?) };
    cursor.take_while(|c| c == ' ' || c == '\t');
    let mut errno = None;
    if cursor.peek() == Some('E') {
        errno = Some(cursor.name().to_owned());
        cursor.take_while(|c| c == ' ' || c == '\t');
        // The text of the error, in parentheses.
        if cursor.looks_at("(") && cursor.take_until(")").is_none() {
            return Err(cursor.error("this text in parentheses has no end `)`"));
        }
    }
    Ok(Call { place, name, arguments, result, errno })
}

fn parse_number(cursor: &mut Cursor<'_>) -> Parsed<i64> {
    let place = cursor.place();
    let negative = cursor.take("-");
    let number = cursor.whole("a number")?;
    let number = i64::try_from(number).map_err(|_| ScriptError::new(place, "the number is too large"))?;
    Ok(if negative { -number } else { number })
}

fn parse_argument(cursor: &mut Cursor<'_>, depth: u32) -> Parsed<Argument> {
    if depth > MAX_DEPTH {
        return Err(cursor.error("lists are nested too deep"));
    }
    if cursor.take("...") {
        return Ok(Argument::Any);
    }
    if cursor.looks_at("[") || cursor.looks_at("{") {
        return parse_list(cursor, depth);
    }
    if cursor.looks_at("\"") {
        let place = cursor.place();
        cursor.next();
        let Some(text) = cursor.take_until("\"") else {
            return Err(ScriptError::new(place, "this text has no closing quote"));
        };
        return Ok(Argument::Text(text.to_owned()));
    }
    if cursor.peek().is_some_and(|c| c == '-' || c.is_ascii_digit()) {
        return parse_number(cursor).map(Argument::Number);
    }
    let mut symbols = Vec::new();
    loop {
        let name = cursor.name();
        if name.is_empty() {
            return Err(cursor.error(format!(
                "expected an argument (a number, a symbol, a text in quotes, a list, or `...`), found {}",
                cursor.found()
            )));
        }
        symbols.push(name.to_owned());
        // `name=value` and `name(value)` occur in structures.
        cursor.take_while(|c| c == ' ' || c == '\t');
        if cursor.take("=") || cursor.take("(") {
            return Err(
                cursor.error(format!("the field `{name}` of a structure is not supported; write `...`"))
            );
        }
        if !cursor.take("|") {
            return Ok(Argument::Symbols(symbols));
        }
        skip_blank(cursor)?;
    }
}

fn parse_list(cursor: &mut Cursor<'_>, depth: u32) -> Parsed<Argument> {
    let close = if cursor.take("[") { "]" } else { "}" };
    if close == "}" {
        cursor.next();
    }
    let mut items = Vec::new();
    loop {
        skip_blank(cursor)?;
        if cursor.take(close) {
            return Ok(Argument::List(items));
        }
        items.push(parse_argument(cursor, depth + 1)?);
        skip_blank(cursor)?;
        if !cursor.take(",") {
            skip_blank(cursor)?;
            cursor.expect(close, "at the end of a list")?;
            return Ok(Argument::List(items));
        }
    }
}
