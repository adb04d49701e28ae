//! Algorithms and flows in one line of text: `agile-sd:lambda_max=4`, `cubic*2,elastic*2`,
//! `cubic; start=21 s; rtt=320 ms`.
//!
//! Only the form is checked here; which algorithms and parameters exist is known where algorithms are.

use cwnd_scenario::notation::{NotationError, Piece, nearest, quoted_hint};
use cwnd_scenario::{AlgorithmSpec, ByteSize, MAX_FLOWS, ReceiverBehaviour, Time, Traffic, Transport};
use std::{fmt, str::FromStr};

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
    /// How their receivers acknowledge.
    pub receiver: ReceiverBehaviour,
    /// The transport of its flows, if it is not the scenario's.
    pub transport: Option<Transport>,
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
        nodes(Piece::whole(text)).map(Place::Path)
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
    /// Creates a group of `count` flows of an algorithm; the scenario decides everything else.
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
            receiver: ReceiverBehaviour::Honest,
            transport: None,
        }
    }
}

/// Flows of several algorithms on one network, as `agile-sd:lambda_max=4,beta2=0.9*2,elastic*2` says them.
///
/// Items are parted by commas. A piece that is a parameter alone (it has a `=` but no `:`) belongs to the item
/// before it; every other piece begins an item. `*N` stands last in an item and says how many flows it has.
#[derive(Clone, Debug, PartialEq)]
pub struct Mix(pub Vec<FlowGroup>);

impl FromStr for Mix {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Mix, NotationError> {
        let mut items: Vec<Piece> = Vec::new();
        for piece in Piece::whole(text).split(',') {
            let continues = piece.text().contains('=') && !piece.text().contains(':');
            match items.last_mut() {
                Some(last) if continues => *last = last.through(piece),
                _ => items.push(piece),
            }
        }
        items.into_iter().map(mix_item).collect::<Result<_, _>>().map(Mix)
    }
}

impl FromStr for FlowGroup {
    type Err = NotationError;

    /// `ALGORITHM; count=1; start=21 s; stop=85 s; rtt=320 ms; bytes=5.1 GB; traffic=live:5 Mbit/s; deadline=50 ms;
    /// receiver=hide-ce; stack=noq; reverse`, of which all but the algorithm may be left out.
    fn from_str(text: &str) -> Result<FlowGroup, NotationError> {
        let mut pieces = Piece::whole(text).split(';');
        let algorithm = AlgorithmSpec::from_piece(pieces.next().unwrap_or(Piece::whole(text)))?;
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

const KEYS: [&str; 14] = [
    "count", "start", "stop", "rtt", "bytes", "traffic", "deadline", "side", "hop", "path", "group",
    "receiver", "stack", "reverse",
];

impl FlowGroup {
    fn set(&mut self, key: Piece<'_>, value: Option<Piece<'_>>) -> Result<(), NotationError> {
        let wanted = |example: &str| {
            value.filter(|value| !value.text().is_empty()).ok_or_else(|| {
                key.error(format!("`{0}` needs a value: `{0}={example}`, for example", key.text()))
            })
        };
        match key.text() {
            "count" => self.count = count(wanted("2")?)?,
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
            "side" => self.place = side(wanted("wired")?)?,
            "hop" => self.place = hop(wanted("2")?)?,
            "path" => self.place = Place::Path(nodes(wanted("a -> b")?)?),
            "group" => {
                let name = wanted("background")?;
                name.check_word("a group's name")?;
                self.name = Some(name.text().to_owned());
            }
            "receiver" => {
                let behaviour = wanted("hide-ce")?;
                self.receiver = behaviour.text().parse().map_err(|why: String| behaviour.error(why))?;
            }
            "stack" => {
                let transport = wanted("noq")?;
                self.transport = Some(transport.text().parse().map_err(|why: String| transport.error(why))?);
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
                    KEYS[..13].join(", "),
                    KEYS[13]
                )));
            }
        }
        Ok(())
    }
}

fn mix_item(piece: Piece<'_>) -> Result<FlowGroup, NotationError> {
    let Some(star) = piece.text().find('*') else {
        return AlgorithmSpec::from_piece(piece).map(|algorithm| FlowGroup::new(algorithm, 1));
    };
    let number = piece.from(star + 1).trimmed();
    if number.text().contains([',', '*']) {
        return Err(piece.from(star).error("`*N` must stand last in its item, and once"));
    }
    let algorithm = AlgorithmSpec::from_piece(piece.until(star))?;
    Ok(FlowGroup::new(algorithm, count(number)?))
}

fn side(piece: Piece<'_>) -> Result<Place, NotationError> {
    match piece.text() {
        "satellite" => Ok(Place::Side(Side::Satellite)),
        "wired" => Ok(Place::Side(Side::Wired)),
        other => {
            let hint = quoted_hint(nearest(other, ["satellite", "wired"]));
            Err(piece.error(format!("a side is `satellite` or `wired`{hint}")))
        }
    }
}

fn hop(piece: Piece<'_>) -> Result<Place, NotationError> {
    match piece.text().parse() {
        Ok(hop) if hop > 0 => Ok(Place::Hop(hop)),
        _ => Err(piece.error(format!("`{}` is no hop: they are counted from 1 on", piece.text()))),
    }
}

/// Nodes with arrows between them.
fn nodes(piece: Piece<'_>) -> Result<Vec<String>, NotationError> {
    let nodes: Vec<&str> = piece.text().split("->").map(str::trim).collect();
    if nodes.len() < 2 || nodes.iter().any(|node| node.is_empty()) {
        return Err(piece.error("a path is written with its nodes: `a -> b`, or `a -> r -> b`"));
    }
    Ok(nodes.into_iter().map(str::to_owned).collect())
}

fn count(piece: Piece<'_>) -> Result<u32, NotationError> {
    let text = piece.text();
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match text.parse::<u32>() {
        Ok(0) => Err(piece.error("there must be at least 1 flow")),
        Ok(count) if digits && count <= MAX_FLOWS => Ok(count),
        _ if digits => Err(piece.error(format!("`{text}` flows are too many: {MAX_FLOWS} are the most"))),
        _ => Err(piece.error(format!("`{text}` is not a number of flows: write 4, for example"))),
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
        if !self.receiver.is_honest() {
            write!(f, "; receiver={}", self.receiver)?;
        }
        if let Some(transport) = self.transport {
            write!(f, "; stack={transport}")?;
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

#[cfg(test)]
mod tests;
