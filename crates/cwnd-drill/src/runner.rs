//! Plays a script against the socket, in virtual time.

mod calls;
mod compare;

use crate::code::{Environment, Halt};
use crate::cursor::{Place, ScriptError};
use crate::endpoint::{Endpoint, Sent};
use crate::mechanism::{self, Mechanism};
use crate::parser::EVENT_KINDS;
use crate::script::{Event, EventKind, EventTime, Packet, Script};
use crate::settings::{Loader, Note, Settings};
use crate::socket::Socket;
use calls::Application;

/// How long after the time at which a packet is expected it is waited for, ns.
const PATIENCE: i64 = 2_000_000_000;

/// The same for a packet that may leave at any time.
const LONG_PATIENCE: i64 = 3_600_000_000_000;

/// The result of a script.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The first line that differs.
    pub difference: Option<Difference>,
    /// Remarks.
    pub notes: Vec<Note>,
    /// What code blocks have printed.
    pub printed: Vec<String>,
    /// Events that were played, the one that differs included.
    pub events: usize,
    /// Virtual time at the end, ns.
    pub time: i64,
}

impl Outcome {
    /// Returns whether every line was as expected.
    pub fn passed(&self) -> bool {
        self.difference.is_none()
    }
}

/// A line that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The place of the line.
    pub place: Place,
    /// Its text.
    pub text: String,
    /// What was expected.
    pub expected: String,
    /// What has happened.
    pub actual: String,
    /// The mechanism concerned.
    pub mechanism: Mechanism,
}

/// Plays a script. `settings` are those before the script's own; `loader` reads files that its commands name.
///
/// # Errors
/// The script uses something that is not supported.
pub fn run(script: &Script, settings: Settings, loader: &Loader<'_>) -> Result<Outcome, ScriptError> {
    run_with(script, settings, loader, |settings| Ok(Box::new(Socket::new(settings))))
}

/// Plays a script against an endpoint that `create` makes with the script's settings.
///
/// # Errors
/// The script uses something that is not supported, or the endpoint cannot be made.
pub fn run_with<'e>(
    script: &Script,
    settings: Settings,
    loader: &Loader<'_>,
    create: impl FnOnce(Settings) -> Result<Box<dyn Endpoint + 'e>, ScriptError>,
) -> Result<Outcome, ScriptError> {
    let mut settings = settings;
    let mut outcome = Outcome::default();
    settings.apply(script, loader, &mut outcome.notes)?;
    if script.events.is_empty() {
        return Err(ScriptError::new(
            Place { line: 1, column: 1 },
            format!("the script has no event; {EVENT_KINDS}"),
        ));
    }
    let mut runner = Runner {
        endpoint: create(settings)?,
        application: Application::default(),
        environment: Environment::default(),
        previous: 0,
        paced: false,
        outcome,
        loader,
    };
    runner.paced = runner.endpoint.settings().paced;
    for event in &script.events {
        runner.outcome.events += 1;
        if let Err(stop) = runner.play(event) {
            match *stop {
                Stop::Difference(difference) => runner.outcome.difference = Some(difference),
                Stop::Error(error) => return Err(error),
            }
            break;
        }
    }
    runner.outcome.time = runner.endpoint.clock();
    Ok(runner.outcome)
}

struct Runner<'a> {
    endpoint: Box<dyn Endpoint + 'a>,
    application: Application,
    environment: Environment,
    /// The script's time of the event before, ns.
    previous: i64,
    /// Whether the script has asked for a queue that paces.
    paced: bool,
    outcome: Outcome,
    loader: &'a Loader<'a>,
}

enum Stop {
    Difference(Difference),
    Error(ScriptError),
}

impl From<ScriptError> for Box<Stop> {
    fn from(error: ScriptError) -> Self {
        Box::new(Stop::Error(error))
    }
}

/// The times at which an event may happen, ns.
#[derive(Clone, Copy, Debug)]
struct Due {
    from: i64,
    to: i64,
    any: bool,
}

impl Runner<'_> {
    fn play(&mut self, event: &Event) -> Result<(), Box<Stop>> {
        let due = self.due(event);
        if due.from < self.previous && !due.any {
            return Err(
                ScriptError::new(event.place, "this time lies before that of the event before").into()
            );
        }
        match &event.kind {
            EventKind::Outbound(packet) => {
                let at = self.expect(event, packet, due)?;
                self.previous = if due.any { at } else { due.from };
                return Ok(());
            }
            EventKind::Inbound(packet) => {
                self.endpoint.advance(due.from, false);
                self.endpoint.receive(packet, event.place)?;
            }
            EventKind::Call(call) => {
                self.endpoint.advance(due.from, false);
                let blocks = event.until.is_some();
                let problem =
                    self.application.call(&mut *self.endpoint, call, blocks, &mut self.outcome.notes)?;
                if let Some((expected, actual)) = problem {
                    return Err(difference(event, expected, actual, Mechanism::SystemCall));
                }
            }
            EventKind::Command(command) => {
                self.endpoint.advance(due.from, false);
                let notes = &mut self.outcome.notes;
                self.endpoint.settings().apply_command(command, self.loader, notes)?;
            }
            EventKind::Code(program) => {
                self.endpoint.advance(due.from, true);
                self.environment.state = self.endpoint.variables();
                if let Err(halt) = program.run(&mut self.environment, &mut self.outcome.printed) {
                    return Err(self.halted(event, halt));
                }
            }
        }
        self.previous = due.from;
        Ok(())
    }

    fn due(&self, event: &Event) -> Due {
        let at = |from: i64, to: i64| Due { from, to, any: false };
        match event.time {
            EventTime::Absolute(time) => at(time, time),
            EventTime::Relative(time) => at(self.previous + time, self.previous + time),
            EventTime::AbsoluteRange(from, to) => at(from, to),
            EventTime::RelativeRange(from, to) => at(self.previous + from, self.previous + to),
            EventTime::Any => {
                let now = self.endpoint.clock();
                Due { from: now, to: now, any: true }
            }
        }
    }

    /// Compares the next packets that have left with the one that is expected. Returns when the last of them has left.
    fn expect(&mut self, event: &Event, packet: &Packet, due: Due) -> Result<i64, Box<Stop>> {
        let until = due.to + if due.any { LONG_PATIENCE } else { PATIENCE };
        let mut taken: Vec<Sent> = Vec::new();
        loop {
            self.endpoint.advance_to_packet(until);
            let Some(sent) = self.endpoint.take_sent() else {
                let mechanism = mechanism::of_packet(&*self.endpoint, packet, None, self.paced);
                let actual = match taken.as_slice() {
                    [] => "no packet has left".to_owned(),
                    _ => format!("only {} has left", compare::joined(&taken)),
                };
                let actual = format!("{actual} up to {}", compare::seconds(until));
                return Err(difference(
                    event,
                    compare::expectation(packet, due.from, due.to),
                    actual,
                    mechanism,
                ));
            };
            let fits = compare::continues(&taken, &sent);
            taken.push(sent);
            let length: u32 = taken.iter().map(|sent| sent.packet.length).sum();
            if !fits || length >= packet.length {
                break;
            }
        }
        let last = taken.last().map_or(0, |sent| sent.at);
        let tolerance = self.tolerance(due);
        let settings = self.endpoint.settings();
        let compared = compare::packets(packet, &taken, settings.compare_push, settings.queue_blocked);
        let problem = match compared {
            Err(what) => Some(what),
            Ok(()) if due.any => None,
            Ok(()) => {
                let early = taken.iter().any(|sent| sent.at < due.from - tolerance);
                let late = taken.iter().any(|sent| sent.at > due.to + tolerance);
                (early || late).then(|| format!("time, where {} are tolerated", compare::seconds(tolerance)))
            }
        };
        let Some(what) = problem else {
            self.name_timestamp(packet, &taken);
            return Ok(last);
        };
        let first = taken.first();
        let mechanism = match what.as_str() {
            "flag PSH" => Mechanism::PushFlag,
            "flag ECE" | "flag CWR" | "ECN mark" => Mechanism::Ecn,
            _ => mechanism::of_packet(&*self.endpoint, packet, first, self.paced),
        };
        let expected = compare::expectation(packet, due.from, due.to);
        Err(difference(event, expected, format!("{} (differs: {what})", compare::joined(&taken)), mechanism))
    }

    /// Returns the tolerance of an event, ns: packetdrill's is a fixed time or a part of the time since the event before.
    fn tolerance(&mut self, due: Due) -> i64 {
        let since = (due.from - self.previous).max(0) as f64;
        let settings = self.endpoint.settings();
        settings.tolerance.max((since * settings.tolerance_percent / 100.0) as i64)
    }

    fn name_timestamp(&mut self, packet: &Packet, taken: &[Sent]) {
        let Some(sent) = taken.last() else { return };
        for option in packet.options.iter().flatten() {
            if let crate::script::TcpOption::Timestamps { value, .. } = option {
                self.endpoint.name_timestamp(*value, sent);
            }
        }
    }

    fn halted(&mut self, event: &Event, halt: Halt) -> Box<Stop> {
        match halt {
            Halt::Error(error) => Box::new(Stop::Error(error)),
            Halt::False { statement, values, explanation } => {
                let names: Vec<String> = values.iter().map(|(name, _)| name.clone()).collect();
                let blocked = self.endpoint.settings().queue_blocked;
                let mechanism = mechanism::of_assertion(&*self.endpoint, &names, blocked);
                let values = values.iter().map(|(name, value)| format!("{name} = {value}"));
                let mut actual = values.collect::<Vec<String>>().join(", ");
                if let Some(text) = explanation.filter(|text| text.contains(' ')) {
                    actual = format!("{actual}; {text}");
                }
                Box::new(Stop::Difference(Difference {
                    place: statement.place,
                    text: event.text.clone(),
                    expected: statement.text,
                    actual,
                    mechanism,
                }))
            }
        }
    }
}

fn difference(event: &Event, expected: String, actual: String, mechanism: Mechanism) -> Box<Stop> {
    Box::new(Stop::Difference(Difference {
        place: event.place,
        text: event.text.clone(),
        expected,
        actual,
        mechanism,
    }))
}
