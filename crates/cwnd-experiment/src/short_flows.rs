//! Short flows, as they are said: `cubic; load=20 %; size=web-search`.

use cwnd_scenario::notation::{NotationError, Piece, nearest};
use cwnd_scenario::{
    AlgorithmSpec, Arrivals, Decimal, Distribution, FlowSizes, FlowSpec, LinkId, Rate, ReceiverBehaviour,
    SizeTable, Stack, Time, Traffic, Transport,
};
use std::{fmt, str::FromStr};

/// Short flows that come and go, before their network is built. All of them go from one host to another.
#[derive(Clone, Debug, PartialEq)]
pub struct ShortFlows {
    /// Their algorithm.
    pub algorithm: AlgorithmSpec,
    /// How many arrive.
    pub rate: ArrivalRate,
    /// Bytes of each.
    pub size: ShortFlowSizes,
    /// From when on they arrive; 0 s.
    pub start: Option<Time>,
    /// Up to when they arrive; the end of the run.
    pub stop: Option<Time>,
    /// How long after its start each should be complete, if that matters to it.
    pub deadline: Option<Time>,
}

/// Of what the sizes of short flows are drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum ShortFlowSizes {
    /// A distribution with a name.
    Named(Distribution<u64>),
    /// A table in a file.
    File {
        /// Its path, as it is said.
        path: String,
        /// What is in it, once it was read.
        table: Option<SizeTable>,
    },
}

/// The extension by which a file of sizes is known.
const CSV: &str = ".csv";

impl ShortFlowSizes {
    fn from_piece(piece: Piece<'_>) -> Result<ShortFlowSizes, NotationError> {
        let path = piece.text();
        match path.to_ascii_lowercase().ends_with(CSV) {
            true => Ok(ShortFlowSizes::File { path: path.to_owned(), table: None }),
            false => Distribution::from_piece(piece).map(ShortFlowSizes::Named),
        }
    }

    fn resolved(&self) -> Result<FlowSizes, String> {
        match self {
            ShortFlowSizes::Named(distribution) => Ok(FlowSizes::Named(*distribution)),
            ShortFlowSizes::File { table: Some(table), .. } => Ok(FlowSizes::Table(table.clone())),
            ShortFlowSizes::File { path, table: None } => Err(format!("the file `{path}` was not read")),
        }
    }
}

impl fmt::Display for ShortFlowSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShortFlowSizes::Named(distribution) => distribution.fmt(f),
            ShortFlowSizes::File { path, .. } => f.write_str(path),
        }
    }
}

/// How many short flows arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrivalRate {
    /// The offered load as a percentage of the bottleneck's rate: mean number a second x mean size x wire bytes
    /// / payload bytes of a full packet x 8 / rate.
    Load(Decimal),
    /// So many a second, in the mean.
    PerSecond(Decimal),
}

impl ShortFlows {
    /// Returns the arrivals over this route, given the rate of the bottleneck.
    ///
    /// # Errors
    /// If a load is given and the bottleneck has no rate.
    pub(crate) fn arrivals(
        &self,
        (route, ack_route): (Vec<LinkId>, Vec<LinkId>),
        bottleneck: Rate,
        stack: &Stack,
    ) -> Result<Arrivals, String> {
        let size = self.size.resolved()?;
        let per_second = match self.rate {
            ArrivalRate::PerSecond(rate) => rate.to_f64(),
            ArrivalRate::Load(_) if bottleneck == Rate::UNLIMITED => {
                return Err("a bottleneck without a rate has no load: say `rate=50/s` instead".to_owned());
            }
            ArrivalRate::Load(percent) => {
                let headers = f64::from(stack.full_packet()) / f64::from(stack.payload.max(1));
                percent.to_f64() / 100.0 * bottleneck.0 as f64 / (8.0 * size.mean() * headers)
            }
        };
        let flow = FlowSpec {
            algorithm: self.algorithm.resolved(stack.profile),
            route,
            ack_route,
            start: self.start.unwrap_or(Time::ZERO),
            stop: None,
            bytes: None,
            traffic: Traffic::Bulk,
            deadline: self.deadline,
            group: None,
            short: true,
            reverse: false,
            receiver: ReceiverBehaviour::Honest,
            transport: Transport::Tcp,
        };
        Ok(Arrivals { flow, per_second, size, until: self.stop })
    }
}

const KEYS: [&str; 6] = ["load", "rate", "size", "start", "stop", "deadline"];

impl FromStr for ShortFlows {
    type Err = NotationError;

    /// `ALGORITHM; load=20 %; size=web-search; start=1 s; stop=9 s; deadline=50 ms`, or `rate=50/s` instead of the load.
    /// Start, stop and deadline may be left out.
    fn from_str(text: &str) -> Result<ShortFlows, NotationError> {
        let whole = Piece::whole(text);
        let mut pieces = whole.split(';');
        let algorithm = AlgorithmSpec::from_piece(pieces.next().unwrap_or(whole))?;
        let (mut rate, mut size) = (None, None);
        let (mut start, mut stop, mut deadline) = (None, None, None);
        for piece in pieces {
            let Some((key, value)) = piece.cut('=') else {
                let message = format!("it is written `name=value`; short flows take {}", KEYS.join(", "));
                return Err(piece.trimmed().error(message));
            };
            let (key, value) = (key.trimmed(), value.trimmed());
            let again = match key.text() {
                "load" => rate.replace(ArrivalRate::Load(suffixed(value, "%", "20 %")?)).is_some(),
                "rate" => rate.replace(ArrivalRate::PerSecond(suffixed(value, "/s", "50/s")?)).is_some(),
                "size" => size.replace(ShortFlowSizes::from_piece(value)?).is_some(),
                "start" => start.replace(value.quantity()?).is_some(),
                "stop" => stop.replace(value.quantity()?).is_some(),
                "deadline" => deadline.replace(value.quantity()?).is_some(),
                text => {
                    let hint = nearest(text, KEYS)
                        .map(|key| format!(" (did you mean `{key}`?)"))
                        .unwrap_or_default();
                    let message =
                        format!("short flows have no `{text}`{hint}: they take {}", KEYS.join(", "));
                    return Err(key.error(message));
                }
            };
            if again {
                return Err(
                    key.error(format!("`{}` is said already: one load or rate, one size", key.text()))
                );
            }
        }
        let rate = rate.ok_or_else(|| whole.error("how many arrive? Say `load=20 %` or `rate=50/s`"))?;
        let size = size.ok_or_else(|| {
            whole.error("how large are they? Say `size=web-search`, `size=30 KB` or `size=sizes.csv`")
        })?;
        Ok(ShortFlows { algorithm, rate, size, start, stop, deadline })
    }
}

/// A number before a suffix.
fn suffixed(value: Piece<'_>, suffix: &str, example: &str) -> Result<Decimal, NotationError> {
    let number = value.text().strip_suffix(suffix).and_then(|text| text.trim().parse::<Decimal>().ok());
    number.filter(|number| !number.is_zero()).ok_or_else(|| {
        value.error(format!("`{}` is not of the form: write `{example}`, for example", value.text()))
    })
}

/// Write them as they are read.
impl fmt::Display for ShortFlows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rate {
            ArrivalRate::Load(percent) => {
                write!(f, "{}; load={percent} %; size={}", self.algorithm, self.size)?
            }
            ArrivalRate::PerSecond(rate) => {
                write!(f, "{}; rate={rate}/s; size={}", self.algorithm, self.size)?
            }
        }
        for (key, time) in [("start", self.start), ("stop", self.stop), ("deadline", self.deadline)] {
            if let Some(time) = time {
                write!(f, "; {key}={time}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_and_written_back() {
        for text in [
            "cubic; load=20 %; size=web-search",
            "agile-sd:lambda_max=4; rate=50/s; size=pareto 30 KB shape 1.2; start=1 s; stop=9 s; deadline=50 ms",
            "cubic; load=0.5 %; size=100 KB",
            "cubic; load=0.5 %; size=data/sizes.csv",
        ] {
            let flows: ShortFlows = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(flows.to_string(), text);
        }
    }

    #[test]
    fn refuses_with_a_place_and_what_would_be_right() {
        let refused = |text: &str| text.parse::<ShortFlows>().expect_err(text).to_string();
        assert_eq!(refused("cubic; size=1 KB"), "column 1: how many arrive? Say `load=20 %` or `rate=50/s`");
        assert!(refused("cubic; load=20 %").contains("how large are they?"));
        assert_eq!(
            refused("cubic; lod=20 %; size=1 KB"),
            "column 8: short flows have no `lod` (did you mean `load`?): they take load, rate, size, start, stop, deadline"
        );
        assert_eq!(
            refused("cubic; load=20; size=1 KB"),
            "column 13: `20` is not of the form: write `20 %`, for example"
        );
        assert!(refused("cubic; load=0 %; size=1 KB").contains("write `20 %`"));
        assert!(refused("cubic; load=1 %; rate=5/s; size=1 KB").contains("`rate` is said already"));
        assert!(refused("cubic; load=1 %; size=web-serch").contains("did you mean `web-search`?"));
        assert!(refused("cubic; load=1 %; size").contains("it is written `name=value`"));
    }

    #[test]
    fn a_load_of_a_table_takes_its_mean() {
        let mut flows: ShortFlows = "cubic; load=20 %; size=sizes.csv".parse().unwrap();
        let stack = Stack::ns2(1000, true, 1000);
        let arrivals = |flows: &ShortFlows| flows.arrivals((vec![0], vec![1]), Rate(100_000_000), &stack);
        assert_eq!(arrivals(&flows).unwrap_err(), "the file `sizes.csv` was not read");
        let table = SizeTable::parse("sizes.csv", "100000,0.5\n110000,0.5\n120000,1").unwrap();
        flows.size = ShortFlowSizes::File { path: "sizes.csv".to_owned(), table: Some(table) };
        // Mean 0.5 x 100,000 + 0.5 x 115,000 = 107,500 B, with headers 112,875 B: 20e6 / 903,000.
        assert!((arrivals(&flows).unwrap().per_second - 20e6 / 903_000.0).abs() < 1e-9);
    }

    #[test]
    fn a_load_counts_headers() {
        let flows: ShortFlows = "cubic; load=20 %; size=105 KB".parse().unwrap();
        let stack = Stack::ns2(1000, true, 1000);
        let arrivals = flows.arrivals((vec![0], vec![1]), Rate(100_000_000), &stack).unwrap();
        // 20 Mbit/s in flows of 105,000 x 1,050/1,000 = 110,250 B: 20e6 / 882,000.
        assert!((arrivals.per_second - 22.675_736_961_451_25).abs() < 1e-9, "{}", arrivals.per_second);
        assert!(
            flows.arrivals((vec![0], vec![1]), Rate::UNLIMITED, &stack).unwrap_err().contains("rate=50/s")
        );
    }
}
