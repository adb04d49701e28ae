//! A packetdrill script after parsing.

use crate::code::Program;
use crate::cursor::Place;
use std::fmt;

/// A script.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// The lines `--name=value` at its beginning.
    pub options: Vec<(Place, String, String)>,
    /// The commands in backticks before the first event.
    pub setup: Vec<Command>,
    /// The events, in the order of the text.
    pub events: Vec<Event>,
}

/// A text in backticks, which packetdrill gives to a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Where the text begins.
    pub place: Place,
    /// The text.
    pub text: String,
}

/// A line of a script with a time.
#[derive(Clone, Debug)]
pub struct Event {
    /// Where it begins.
    pub place: Place,
    /// Its text.
    pub text: String,
    /// When it happens.
    pub time: EventTime,
    /// When a blocking system call returns, ns, counted as `time` is.
    pub until: Option<i64>,
    /// What happens.
    pub kind: EventKind,
}

/// When an event happens, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventTime {
    /// Since the beginning.
    Absolute(i64),
    /// Since the event before.
    Relative(i64),
    /// Between two times since the beginning.
    AbsoluteRange(i64, i64),
    /// Between two times since the event before.
    RelativeRange(i64, i64),
    /// At any time.
    Any,
}

/// What happens.
#[derive(Clone, Debug)]
pub enum EventKind {
    /// A packet arrives.
    Inbound(Packet),
    /// A packet is expected to leave.
    Outbound(Packet),
    /// The application calls the kernel.
    Call(Call),
    /// A command for a shell.
    Command(Command),
    /// Statements about the socket's state.
    Code(Program),
}

/// The ECN field of a packet's IP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnMark {
    /// The script does not state it.
    #[default]
    Unstated,
    /// Not ECN-capable.
    NotEct,
    /// ECT(0).
    Ect0,
    /// ECT(1).
    Ect1,
    /// Congestion experienced.
    Ce,
}

/// The flags of a TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Flags {
    pub fin: bool,
    pub syn: bool,
    pub rst: bool,
    pub psh: bool,
    pub ack: bool,
    pub urg: bool,
    pub ece: bool,
    pub cwr: bool,
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = [
            (self.fin, 'F'),
            (self.syn, 'S'),
            (self.rst, 'R'),
            (self.psh, 'P'),
            (self.urg, 'U'),
            (self.ece, 'E'),
            (self.cwr, 'W'),
            (self.ack, '.'),
        ];
        for (_, letter) in flags.iter().filter(|(set, _)| *set) {
            write!(f, "{letter}")?;
        }
        Ok(())
    }
}

/// A TCP option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TcpOption {
    /// One byte of padding.
    Nop,
    /// The end of the list.
    EndOfList,
    /// The maximum segment size.
    Mss(u32),
    /// The window scale.
    WindowScale(u32),
    /// SACK is permitted.
    SackPermitted,
    /// SACK blocks, as sequence numbers.
    Sack(Vec<(u32, u32)>),
    /// A timestamp and the echo of the other side's.
    Timestamps {
        /// The value.
        value: u32,
        /// The echo.
        echo: u32,
    },
}

impl fmt::Display for TcpOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TcpOption::Nop => write!(f, "nop"),
            TcpOption::EndOfList => write!(f, "eol"),
            TcpOption::Mss(bytes) => write!(f, "mss {bytes}"),
            TcpOption::WindowScale(shift) => write!(f, "wscale {shift}"),
            TcpOption::SackPermitted => write!(f, "sackOK"),
            TcpOption::Sack(blocks) => {
                write!(f, "sack")?;
                blocks.iter().try_for_each(|(from, to)| write!(f, " {from}:{to}"))
            }
            TcpOption::Timestamps { value, echo } => write!(f, "TS val {value} ecr {echo}"),
        }
    }
}

/// A TCP packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// The ECN field.
    pub ecn: EcnMark,
    /// The flags.
    pub flags: Flags,
    /// The first sequence number.
    pub seq: u32,
    /// Payload, bytes.
    pub length: u32,
    /// The acknowledgement.
    pub ack: Option<u32>,
    /// The window field.
    pub window: Option<u32>,
    /// The options; `None` if any will do.
    pub options: Option<Vec<TcpOption>>,
}

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.ecn {
            EcnMark::Unstated => "",
            EcnMark::NotEct => "[noecn] ",
            EcnMark::Ect0 => "[ect0] ",
            EcnMark::Ect1 => "[ect1] ",
            EcnMark::Ce => "[ce] ",
        };
        let Packet { flags, seq, length, .. } = self;
        write!(f, "{mark}{flags} {seq}:{}({length})", seq.wrapping_add(*length))?;
        if let Some(ack) = self.ack {
            write!(f, " ack {ack}")?;
        }
        if let Some(window) = self.window {
            write!(f, " win {window}")?;
        }
        match &self.options {
            None => write!(f, " <...>"),
            Some(options) if options.is_empty() => Ok(()),
            Some(options) => {
                let options: Vec<String> = options.iter().map(ToString::to_string).collect();
                write!(f, " <{}>", options.join(","))
            }
        }
    }
}

/// A system call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Where its name stands.
    pub place: Place,
    /// Its name.
    pub name: String,
    /// Its arguments, with their places.
    pub arguments: Vec<(Place, Argument)>,
    /// The value that it is expected to return; `None` if any will do.
    pub result: Option<i64>,
    /// The name of the error that it is expected to set.
    pub errno: Option<String>,
}

/// An argument of a system call.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// `...`: any value.
    Any,
    /// A number.
    Number(i64),
    /// Symbols joined by `|`.
    Symbols(Vec<String>),
    /// A text in quotes.
    Text(String),
    /// A list in brackets, or a structure in braces.
    List(Vec<Argument>),
}
