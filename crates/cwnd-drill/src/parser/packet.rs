//! Packets: `[ect0] P. 1:1001(1000) ack 1 win 257 <nop,nop,sack 1:2>`.

use super::skip_spaces;
use crate::cursor::{Cursor, Parsed, ScriptError};
use crate::script::{EcnMark, Flags, Packet, TcpOption};

/// The TCP options that are supported, for errors.
const OPTIONS: &str = "supported options are mss N, wscale N, sackOK, sack A:B …, TS val N ecr N, nop and eol; `<...>` accepts any";

/// The most SACK blocks that an option can hold.
const MAX_BLOCKS: usize = 4;

/// Reads a packet after its direction.
pub(super) fn parse(cursor: &mut Cursor<'_>) -> Parsed<Packet> {
    skip_spaces(cursor);
    let ecn = parse_mark(cursor)?;
    skip_spaces(cursor);
    if cursor.looks_at("(") {
        return Err(cursor.error("fields of the IP header in parentheses are not supported; remove them"));
    }
    for protocol in ["icmp", "icmpv6", "udp", "ipv4", "ipv6", "gre", "mpls", "sctp", "raw"] {
        if cursor.looks_at(protocol) {
            return Err(cursor.error(format!("`{protocol}` packets are not supported; a packet is of TCP")));
        }
    }
    let flags = parse_flags(cursor)?;
    skip_spaces(cursor);
    if cursor.looks_at("seq") {
        return Err(cursor.error("the form `seq N` is not supported; write `first:end(length)`"));
    }
    let place = cursor.place();
    let seq = cursor.word("the first sequence number")?;
    cursor
        .expect(":", "between the sequence numbers; a TCP packet is `flags first:end(length) ack N win N`")?;
    let end = cursor.word("the end of the sequence numbers")?;
    cursor.expect("(", "before the length of the payload")?;
    let length = cursor.word("the length of the payload")?;
    cursor.expect(")", "after the length of the payload")?;
    if end.wrapping_sub(seq) != length {
        return Err(ScriptError::new(
            place,
            format!(
                "the sequence numbers {seq}:{end} span {} bytes, but the length is {length}",
                end.wrapping_sub(seq)
            ),
        ));
    }
    let mut packet = Packet { ecn, flags, seq, length, options: Some(Vec::new()), ..Packet::default() };
    loop {
        skip_spaces(cursor);
        if cursor.take("ack") {
            skip_spaces(cursor);
            packet.ack = Some(cursor.word("the acknowledgement")?);
        } else if cursor.take("win") {
            skip_spaces(cursor);
            packet.window = Some(cursor.word("the window")?);
        } else if cursor.looks_at("urg") {
            return Err(cursor.error("urgent data is not supported"));
        } else if cursor.take("<") {
            packet.options = parse_options(cursor)?;
            return check(packet, cursor);
        } else {
            return check(packet, cursor);
        }
    }
}

/// Returns the packet if its flags and fields agree.
fn check(packet: Packet, cursor: &Cursor<'_>) -> Parsed<Packet> {
    if packet.flags.ack != packet.ack.is_some() {
        let message = match packet.flags.ack {
            true => "the flag `.` says that the packet has an acknowledgement: write `ack N`",
            false => "the packet has `ack N` without the flag `.`",
        };
        return Err(cursor.error(message));
    }
    Ok(packet)
}

fn parse_mark(cursor: &mut Cursor<'_>) -> Parsed<EcnMark> {
    let place = cursor.place();
    if !cursor.take("[") {
        return Ok(EcnMark::Unstated);
    }
    let Some(text) = cursor.take_until("]") else {
        return Err(ScriptError::new(place, "this ECN mark has no closing `]`"));
    };
    match text.trim() {
        "noecn" => Ok(EcnMark::NotEct),
        "ect0" => Ok(EcnMark::Ect0),
        "ect1" => Ok(EcnMark::Ect1),
        "ce" | "ect01" => Ok(EcnMark::Ce),
        other => Err(ScriptError::new(
            place,
            format!("`[{other}]` is not supported; an ECN mark is [noecn], [ect0], [ect1] or [ce]"),
        )),
    }
}

fn parse_flags(cursor: &mut Cursor<'_>) -> Parsed<Flags> {
    let mut flags = Flags::default();
    let start = cursor.offset();
    while let Some(letter) = cursor.peek() {
        let flag = match letter {
            'F' => &mut flags.fin,
            'S' => &mut flags.syn,
            'R' => &mut flags.rst,
            'P' => &mut flags.psh,
            '.' => &mut flags.ack,
            'U' => &mut flags.urg,
            'E' => &mut flags.ece,
            'W' => &mut flags.cwr,
            '-' if cursor.offset() == start => {
                cursor.next();
                return Ok(flags);
            }
            c if c.is_whitespace() => break,
            _ => {
                return Err(cursor.error(format!(
                    "`{letter}` is not a TCP flag that is supported; flags are F, S, R, P, U, E (ECE), W (CWR) and `.` (ACK)"
                )));
            }
        };
        if std::mem::replace(flag, true) {
            return Err(cursor.error(format!("the flag `{letter}` stands twice")));
        }
        cursor.next();
    }
    if cursor.offset() == start {
        return Err(
            cursor.error(format!("expected TCP flags such as `S`, `.` or `P.`, found {}", cursor.found()))
        );
    }
    Ok(flags)
}

/// Reads the options after `<`; `None` if any will do.
fn parse_options(cursor: &mut Cursor<'_>) -> Parsed<Option<Vec<TcpOption>>> {
    let mut options = Vec::new();
    skip_spaces(cursor);
    if cursor.take("...") {
        skip_spaces(cursor);
        cursor.expect(">", "after `...`")?;
        return Ok(None);
    }
    if cursor.take(">") {
        return Ok(Some(options));
    }
    loop {
        skip_spaces(cursor);
        options.push(parse_option(cursor)?);
        skip_spaces(cursor);
        if cursor.take(">") {
            return Ok(Some(options));
        }
        cursor.expect(",", "or `>` after a TCP option")?;
    }
}

fn parse_option(cursor: &mut Cursor<'_>) -> Parsed<TcpOption> {
    let place = cursor.place();
    let name = cursor.name();
    skip_spaces(cursor);
    match name {
        "nop" => Ok(TcpOption::Nop),
        "eol" => Ok(TcpOption::EndOfList),
        "sackOK" => Ok(TcpOption::SackPermitted),
        "mss" => match cursor.word("the segment size")? {
            bytes @ 0..=65_535 => Ok(TcpOption::Mss(bytes)),
            bytes => Err(ScriptError::new(place, format!("mss {bytes} does not fit 16 bits"))),
        },
        "wscale" => match cursor.word("the window scale")? {
            shift @ 0..=14 => Ok(TcpOption::WindowScale(shift)),
            shift => Err(ScriptError::new(
                place,
                format!("wscale {shift} is more than 14, the most that is valid"),
            )),
        },
        "TS" => {
            cursor.expect("val", "after `TS`")?;
            skip_spaces(cursor);
            let value = cursor.word("the timestamp")?;
            skip_spaces(cursor);
            cursor.expect("ecr", "after the timestamp")?;
            skip_spaces(cursor);
            let echo = cursor.word("the echoed timestamp")?;
            Ok(TcpOption::Timestamps { value, echo })
        }
        "sack" => {
            let mut blocks = Vec::new();
            while cursor.peek().is_some_and(|c| c.is_ascii_digit()) {
                let from = cursor.word("the begin of a SACK block")?;
                cursor.expect(":", "between the ends of a SACK block")?;
                blocks.push((from, cursor.word("the end of a SACK block")?));
                skip_spaces(cursor);
            }
            match blocks.len() {
                0 => Err(ScriptError::new(place, "a sack option has blocks: `sack 1001:2001`")),
                1..=MAX_BLOCKS => Ok(TcpOption::Sack(blocks)),
                n => Err(ScriptError::new(
                    place,
                    format!("{n} SACK blocks do not fit an option; at most {MAX_BLOCKS} do"),
                )),
            }
        }
        _ => Err(ScriptError::new(place, format!("the TCP option `{name}` is not supported; {OPTIONS}"))),
    }
}
