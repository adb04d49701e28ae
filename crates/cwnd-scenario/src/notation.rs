//! Algorithms and flows in one line of text: `agile-sd:lambda_max=4`, `cubic*2,elastic*2`,
//! `cubic; start=21 s; rtt=320 ms`.
//!
//! Only the form is checked here; which algorithms and parameters exist is known where algorithms are.

use crate::{AlgorithmSpec, ByteSize, Time, Traffic, build::MAX_FLOWS};
use std::{collections::BTreeMap, fmt, str::FromStr};

/// Some equal flows of a scenario, before their network is built.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowGroup {
    /// Their algorithm.
    pub algorithm: AlgorithmSpec,
    /// How many.
    pub count: u32,
    /// When they start, if the scenario's own rule does not say it.
    pub start: Option<Time>,
    /// From when on they send no new data, if the scenario's own rule does not say it.
    pub stop: Option<Time>,
    /// Their base round-trip time, if it is not the scenario's.
    pub rtt: Option<Time>,
    /// How many bytes each sends, if the scenario's own rule does not say it.
    pub bytes: Option<ByteSize>,
    /// When their applications have data to send, if the scenario's own rule does not say it.
    pub traffic: Option<Traffic>,
    /// How long after its start each should be complete, if the scenario's own rule does not say it.
    pub deadline: Option<Time>,
    /// They run against the direction of the others.
    pub reverse: bool,
    /// Where they run, if not where the topology puts them by itself.
    pub place: Place,
    /// A name under which metrics speak of them, together with other groups of the same name.
    pub name: Option<String>,
}

/// Where a flow runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Where the topology puts it by itself.
    #[default]
    Usual,
    /// On this side of a satellite network: `side=wired`.
    Side(Side),
    /// Over this bottleneck of a parking lot alone, from 1 on: `hop=2`.
    Hop(u32),
    /// From node to node of a graph, by the shortest way between each two: `path=a -> b`.
    Path(Vec<String>),
}

/// A side of a satellite network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Behind the satellite.
    Satellite,
    /// Behind wires.
    Wired,
}

impl Place {
    /// A path through a graph: `a -> b`, `a -> r -> b`.
    ///
    /// # Errors
    /// Fewer than two nodes, or one without a name.
    pub fn path(text: &str) -> Result<Place, NotationError> {
        Piece::whole(text).nodes().map(Place::Path)
    }

    /// The key that says it.
    pub fn key(&self) -> &'static str {
        match self {
            Place::Usual => "place",
            Place::Side(_) => "side",
            Place::Hop(_) => "hop",
            Place::Path(_) => "path",
        }
    }
}

impl FlowGroup {
    /// So many flows of an algorithm, all else left to the scenario.
    pub fn new(algorithm: AlgorithmSpec, count: u32) -> FlowGroup {
        FlowGroup {
            algorithm,
            count,
            start: None,
            stop: None,
            rtt: None,
            bytes: None,
            traffic: None,
            deadline: None,
            reverse: false,
            place: Place::Usual,
            name: None,
        }
    }
}

/// Flows of several algorithms on one network, as `agile-sd:lambda_max=4,beta2=0.9*2,elastic*2` says them.
///
/// Items are parted by commas. A piece that is a parameter alone (it has a `=` but no `:`) belongs to the item
/// before it; every other piece begins an item. `*N` stands last in an item and says how many flows it has.
#[derive(Clone, Debug, PartialEq)]
pub struct Mix(pub Vec<FlowGroup>);

/// Why a text is not of the form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotationError {
    /// Where in the text: the first character is 1.
    pub column: usize,
    /// What was wrong, and what would be right.
    pub message: String,
}

impl fmt::Display for NotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.message)
    }
}

impl std::error::Error for NotationError {}

impl FromStr for AlgorithmSpec {
    type Err = NotationError;

    /// `NAME` or `NAME:PARAMETER=VALUE,…`.
    fn from_str(text: &str) -> Result<AlgorithmSpec, NotationError> {
        Piece::whole(text).algorithm()
    }
}

impl FromStr for Mix {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Mix, NotationError> {
        let mut items: Vec<Piece> = Vec::new();
        for piece in Piece::whole(text).split(',') {
            let continues = piece.text().contains('=') && !piece.text().contains(':');
            match items.last_mut() {
                Some(last) if continues => last.end = piece.end,
                _ => items.push(piece),
            }
        }
        items.into_iter().map(Piece::mix_item).collect::<Result<_, _>>().map(Mix)
    }
}

impl FromStr for FlowGroup {
    type Err = NotationError;

    /// `ALGORITHM; count=1; start=21 s; stop=85 s; rtt=320 ms; bytes=5.1 GB; traffic=live:5 Mbit/s; deadline=50 ms;
    /// reverse`, of which all but the algorithm may be left out.
    fn from_str(text: &str) -> Result<FlowGroup, NotationError> {
        let mut pieces = Piece::whole(text).split(';');
        let algorithm = pieces.next().unwrap_or(Piece::whole(text)).algorithm()?;
        let mut group = FlowGroup::new(algorithm, 1);
        let mut seen: Vec<&str> = Vec::new();
        for piece in pieces {
            let (key, value) = match piece.cut('=') {
                Some((key, value)) => (key.trimmed(), Some(value.trimmed())),
                None => (piece.trimmed(), None),
            };
            group.set(key, value)?;
            if seen.contains(&key.text()) {
                return Err(key.error(format!("`{}` is said twice", key.text())));
            }
            seen.push(key.text());
        }
        Ok(group)
    }
}

const KEYS: [&str; 12] = [
    "count", "start", "stop", "rtt", "bytes", "traffic", "deadline", "side", "hop", "path", "group",
    "reverse",
];

impl FlowGroup {
    fn set(&mut self, key: Piece<'_>, value: Option<Piece<'_>>) -> Result<(), NotationError> {
        let wanted = |example: &str| {
            value.filter(|value| !value.text().is_empty()).ok_or_else(|| {
                key.error(format!("`{0}` needs a value: `{0}={example}`, for example", key.text()))
            })
        };
        match key.text() {
            "count" => self.count = wanted("2")?.count()?,
            "start" => self.start = Some(wanted("21 s")?.quantity()?),
            "stop" => self.stop = Some(wanted("85 s")?.quantity()?),
            "rtt" => self.rtt = Some(wanted("320 ms")?.quantity()?),
            "bytes" => self.bytes = Some(wanted("5.1 GB")?.quantity()?),
            "traffic" => self.traffic = Some(Traffic::from_piece(wanted("live:5 Mbit/s")?)?),
            "deadline" => self.deadline = Some(wanted("50 ms")?.quantity()?),
            key_here @ ("side" | "hop" | "path")
                if self.place != Place::Usual && self.place.key() != key_here =>
            {
                let other = self.place.key();
                return Err(key.error(format!("`{}` and `{other}` cannot both be said", key.text())));
            }
            "side" => self.place = wanted("wired")?.side()?,
            "hop" => self.place = wanted("2")?.hop()?,
            "path" => self.place = Place::Path(wanted("a -> b")?.nodes()?),
            "group" => {
                let name = wanted("background")?;
                name.check_word("a group's name")?;
                self.name = Some(name.text().to_owned());
            }
            "reverse" => match value {
                None => self.reverse = true,
                Some(value) => return Err(value.error("`reverse` stands alone, without a value")),
            },
            "" => return Err(key.error("something is missing here, or a `;` is too much")),
            unknown => {
                let hint =
                    nearest(unknown, KEYS).map(|k| format!(" (did you mean `{k}`?)")).unwrap_or_default();
                return Err(key.error(format!(
                    "a flow has no `{unknown}`{hint}: it takes {} and {}",
                    KEYS[..11].join(", "),
                    KEYS[11]
                )));
            }
        }
        Ok(())
    }
}

/// Write a flow group as it is read.
impl fmt::Display for FlowGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.algorithm)?;
        if self.count != 1 {
            write!(f, "; count={}", self.count)?;
        }
        for (key, time) in [("start", self.start), ("stop", self.stop), ("rtt", self.rtt)] {
            if let Some(time) = time {
                write!(f, "; {key}={time}")?;
            }
        }
        if let Some(bytes) = self.bytes {
            write!(f, "; bytes={bytes}")?;
        }
        if let Some(traffic) = self.traffic {
            write!(f, "; traffic={traffic}")?;
        }
        if let Some(deadline) = self.deadline {
            write!(f, "; deadline={deadline}")?;
        }
        match &self.place {
            Place::Usual => {}
            Place::Side(side) => write!(f, "; side={side}")?,
            Place::Hop(hop) => write!(f, "; hop={hop}")?,
            Place::Path(nodes) => write!(f, "; path={}", nodes.join(" -> "))?,
        }
        if let Some(name) = &self.name {
            write!(f, "; group={name}")?;
        }
        if self.reverse { f.write_str("; reverse") } else { Ok(()) }
    }
}

/// The word that says it.
impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::Satellite => "satellite",
            Side::Wired => "wired",
        })
    }
}

/// Write a mix as it is read.
impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, group) in self.0.iter().enumerate() {
            write!(f, "{}{}", if i == 0 { "" } else { "," }, group.algorithm)?;
            if group.count != 1 {
                write!(f, "*{}", group.count)?;
            }
        }
        Ok(())
    }
}

/// The candidate that `text` is most likely meant for, if any is near enough: for "did you mean".
pub fn nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let text = text.to_lowercase();
    let score = |candidate: &str| {
        let within = |part: &str, whole: &str| part.len() >= 3 && whole.contains(part);
        let part = within(&text, candidate) || within(candidate, &text);
        strsim::jaro_winkler(&text, candidate).max(if part { 0.8 } else { 0.0 })
    };
    let scored = candidates.into_iter().map(|candidate| (score(candidate), candidate));
    // Of equals the first, which a list would name first.
    let best = scored.fold((0.75, None), |best, (score, candidate)| match score > best.0 {
        true => (score, Some(candidate)),
        false => best,
    });
    best.1
}

/// `; did you mean `x`?`, if there is something near.
pub(crate) fn quoted_hint(meant: Option<&str>) -> String {
    meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default()
}

/// A part of a text that knows where it stands.
#[derive(Clone, Copy)]
pub(crate) struct Piece<'a> {
    source: &'a str,
    start: usize,
    end: usize,
}

impl<'a> Piece<'a> {
    pub(crate) fn whole(source: &'a str) -> Piece<'a> {
        Piece { source, start: 0, end: source.len() }
    }

    pub(crate) fn text(self) -> &'a str {
        &self.source[self.start..self.end]
    }

    pub(crate) fn error(self, message: impl Into<String>) -> NotationError {
        NotationError { column: self.source[..self.start].chars().count() + 1, message: message.into() }
    }

    pub(crate) fn trimmed(self) -> Piece<'a> {
        let text = self.text();
        let start = self.start + (text.len() - text.trim_start().len());
        Piece { source: self.source, start, end: start + text.trim().len() }
    }

    pub(crate) fn split(self, separator: char) -> impl Iterator<Item = Piece<'a>> {
        let mut start = self.start;
        self.text().split(separator).map(move |part| {
            let piece = Piece { source: self.source, start, end: start + part.len() };
            start = piece.end + separator.len_utf8();
            piece
        })
    }

    /// The end of it, which is this text.
    pub(crate) fn tail(self, rest: &str) -> Piece<'a> {
        Piece { start: self.end - rest.len(), ..self }
    }

    /// What stands before the first `separator` and after it.
    pub(crate) fn cut(self, separator: char) -> Option<(Piece<'a>, Piece<'a>)> {
        let at = self.start + self.text().find(separator)?;
        let after = at + separator.len_utf8();
        Some((Piece { end: at, ..self }, Piece { start: after, ..self }))
    }

    /// What stands before the first space, and after it.
    pub(crate) fn first_word(self) -> (Piece<'a>, Piece<'a>) {
        let end = self.text().find(char::is_whitespace).map_or(self.end, |at| self.start + at);
        (Piece { end, ..self }, Piece { start: end, ..self }.trimmed())
    }

    /// What stands before a word and after it.
    pub(crate) fn cut_at_word(self, word: &str) -> Option<(Piece<'a>, Piece<'a>)> {
        let spaced = format!(" {word} ");
        let at = self.start + self.text().find(&spaced)?;
        Some((Piece { end: at, ..self }.trimmed(), Piece { start: at + spaced.len(), ..self }.trimmed()))
    }

    pub(crate) fn number(self) -> Result<f64, NotationError> {
        let number = self.text().parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| self.error(format!("`{}` is not a number: write 1.2, for example", self.text())))
    }

    pub(crate) fn algorithm(self) -> Result<AlgorithmSpec, NotationError> {
        let (name, parameters) = match self.cut(':') {
            Some((name, parameters)) => (name.trimmed(), Some(parameters)),
            None => (self.trimmed(), None),
        };
        name.check_word("an algorithm's name")?;
        let mut spec = AlgorithmSpec { name: name.text().to_owned(), parameters: BTreeMap::new() };
        for piece in parameters.into_iter().flat_map(|p| p.split(',')) {
            let Some((key, value)) = piece.cut('=') else {
                return Err(piece.trimmed().error("a parameter is written `name=value`, after the colon"));
            };
            let (key, value) = (key.trimmed(), value.trimmed());
            key.check_word("a parameter's name")?;
            if value.text().is_empty() {
                return Err(value.error(format!("`{}` has no value", key.text())));
            }
            if let Some(at) = value.text().find(['=', '*', ';', ':']) {
                let stray = Piece { start: value.start + at, ..value };
                return Err(stray.error(format!("`{}` cannot stand in a value", stray.text())));
            }
            if spec.parameters.insert(key.text().to_owned(), value.text().to_owned()).is_some() {
                return Err(key.error(format!("`{}` is set twice", key.text())));
            }
        }
        Ok(spec)
    }

    fn mix_item(self) -> Result<FlowGroup, NotationError> {
        let Some(star) = self.text().find('*') else {
            return self.algorithm().map(|algorithm| FlowGroup::new(algorithm, 1));
        };
        let at = self.start + star;
        let count = Piece { start: at + 1, ..self }.trimmed();
        if count.text().contains([',', '*']) {
            return Err(Piece { start: at, ..self }.error("`*N` must stand last in its item, and once"));
        }
        let algorithm = Piece { end: at, ..self }.algorithm()?;
        Ok(FlowGroup::new(algorithm, count.count()?))
    }

    fn check_word(self, what: &str) -> Result<(), NotationError> {
        if self.text().is_empty() {
            return Err(self.error(format!("{what} is missing here")));
        }
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
        // `elastic@kernel` is the algorithm as it is in the kernel.
        let word = self.text().strip_suffix("@kernel").unwrap_or(self.text());
        let Some(at) = word.find(|c| !allowed(c)) else { return Ok(()) };
        let stray = Piece { start: self.start + at, ..self };
        let character = stray.text().chars().next().unwrap_or(' ');
        if self.text().contains('=') {
            let colon = "a parameter follows an algorithm's name and a colon, as in `name:a=1,b=2`";
            return Err(stray.error(format!("`{}`: {colon}", self.text())));
        }
        let message = format!("{what} has letters, digits, `-`, `_`, `.` and `+`: `{character}` is none");
        Err(stray.error(message))
    }

    fn side(self) -> Result<Place, NotationError> {
        match self.text() {
            "satellite" => Ok(Place::Side(Side::Satellite)),
            "wired" => Ok(Place::Side(Side::Wired)),
            other => {
                let hint = quoted_hint(nearest(other, ["satellite", "wired"]));
                Err(self.error(format!("a side is `satellite` or `wired`{hint}")))
            }
        }
    }

    fn hop(self) -> Result<Place, NotationError> {
        match self.text().parse() {
            Ok(hop) if hop > 0 => Ok(Place::Hop(hop)),
            _ => Err(self.error(format!("`{}` is no hop: they are counted from 1 on", self.text()))),
        }
    }

    /// Nodes with arrows between them.
    pub(crate) fn nodes(self) -> Result<Vec<String>, NotationError> {
        let nodes: Vec<&str> = self.text().split("->").map(str::trim).collect();
        if nodes.len() < 2 || nodes.iter().any(|node| node.is_empty()) {
            return Err(self.error("a path is written with its nodes: `a -> b`, or `a -> r -> b`"));
        }
        Ok(nodes.into_iter().map(str::to_owned).collect())
    }

    fn count(self) -> Result<u32, NotationError> {
        let text = self.text();
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        match text.parse::<u32>() {
            Ok(0) => Err(self.error("there must be at least 1 flow")),
            Ok(count) if digits && count <= MAX_FLOWS => Ok(count),
            _ if digits => Err(self.error(format!("`{text}` flows are too many: {MAX_FLOWS} are the most"))),
            _ => Err(self.error(format!("`{text}` is not a number of flows: write 4, for example"))),
        }
    }

    pub(crate) fn quantity<T: FromStr<Err = crate::UnitError>>(self) -> Result<T, NotationError> {
        self.text()
            .parse()
            .map_err(|error: crate::UnitError| self.error(format!("`{}`: {}", self.text(), error.message)))
    }
}

#[cfg(test)]
mod tests;
