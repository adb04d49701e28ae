//! What ns-2.35 answered once, kept in `xtask/fidelity/ns-2.35.csv`: a line a run, with all that was printed.

use super::cells::{BUFFERS, OTHERS, PAIRS, Pair, Run, Starts, four_flows};
use super::ns2;
use crate::command;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Which run: everything that decides what a simulator answers.
#[derive(Clone, Copy, PartialEq)]
pub struct Key {
    pub pair: Pair,
    pub buffer: u32,
    pub starts: Starts,
    pub seed: u64,
}

/// A run that is kept.
pub struct Row {
    pub key: Key,
    pub run: Run,
}

const HEAD: &str = "module,buffer,starts,seed,sent,retransmitted,dropped,dropped_at_senders,timeouts,cuts,\
                    received_1,received_2,received_3,received_4";

/// How many starts a cell is to have. Of the other modules it has one.
const SEEDS: u64 = 20;

impl Key {
    /// Ask ns-2.
    pub fn ask_ns2(&self, ns: &Path) -> Result<Run, String> {
        let setting = four_flows(self.buffer);
        ns2::run(ns, &setting, self.pair.module, &self.starts.times_ns(&setting, self.seed))
    }

    /// Ask cwnd.
    pub fn ask_cwnd(&self, cwnd: &Path) -> Result<Run, String> {
        let setting = four_flows(self.buffer);
        super::ours::run(cwnd, &setting, self.pair.algorithm, &self.starts.times_ns(&setting, self.seed))
    }
}

/// All runs there are to be, in the order in which they are made: the quicker ones first, and of each kind the same
/// seed in all cells, so that what is there when the time ends has about as many starts in each cell.
fn plan() -> Vec<Key> {
    let cells = |pairs: &'static [Pair], starts: Starts, seed: u64, buffers: &'static [u32]| {
        let keys = move |&buffer: &u32| pairs.iter().map(move |&pair| Key { pair, buffer, starts, seed });
        buffers.iter().flat_map(keys)
    };
    let seeds_of = |starts: Starts| (1..=SEEDS).flat_map(move |seed| cells(&PAIRS, starts, seed, &BUFFERS));
    let others = [Starts::RoundTrip, Starts::Packet].map(|starts| cells(&OTHERS, starts, 1, &BUFFERS));
    let together = cells(&PAIRS, Starts::Together, 1, &BUFFERS[..1]).chain(others.into_iter().flatten());
    together.chain(seeds_of(Starts::RoundTrip)).chain(seeds_of(Starts::Packet)).collect()
}

fn path() -> PathBuf {
    command::root().join("xtask/fidelity/ns-2.35.csv")
}

/// All rows that are kept.
pub fn read() -> Result<Vec<Row>, String> {
    let path = path();
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text.map_err(|error| format!("{}: {error}", path.display()))?,
    };
    let lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#') && *line != HEAD);
    lines
        .map(|(at, line)| {
            parse(line).ok_or_else(|| {
                format!("{}:{}: \"{line}\" is no row; a row has {HEAD}", path.display(), at + 1)
            })
        })
        .collect()
}

fn parse(line: &str) -> Option<Row> {
    let mut words = line.split(',');
    let module = words.next()?;
    let pair = *PAIRS.iter().chain(&OTHERS).find(|pair| pair.module == module)?;
    let buffer = words.next()?.parse().ok()?;
    let starts = words.next()?;
    let starts = Starts::ALL.into_iter().find(|known| known.name() == starts)?;
    let numbers: Option<Vec<u64>> = words.map(|word| word.parse().ok()).collect();
    let &[seed, sent, retransmitted, dropped, dropped_at_senders, timeouts, cuts, a, b, c, d] = &numbers?[..]
    else {
        return None;
    };
    let key = Key { pair, buffer, starts, seed };
    let received = vec![a, b, c, d];
    let windows = Vec::new();
    let run = Run { sent, retransmitted, dropped, dropped_at_senders, timeouts, cuts, received, windows };
    Some(Row { key, run })
}

fn line(Row { key, run }: &Row) -> String {
    let mut words = vec![key.pair.module.to_owned(), key.buffer.to_string(), key.starts.name().to_owned()];
    let counts = [run.sent, run.retransmitted, run.dropped, run.dropped_at_senders, run.timeouts, run.cuts];
    let numbers = [key.seed].into_iter().chain(counts).chain(run.received.iter().copied());
    words.extend(numbers.map(|number| number.to_string()));
    words.join(",")
}

/// Make the rows that are not there yet, on all cores, each kept as soon as it is done.
pub fn record() -> Result<bool, String> {
    let ns = ns2::find()?;
    let rows = read()?;
    let missing: Vec<Key> = plan().into_iter().filter(|key| rows.iter().all(|row| row.key != *key)).collect();
    let failed = |error: std::io::Error| format!("{}: {error}", path().display());
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path()).map_err(failed)?;
    if rows.is_empty() {
        writeln!(
            file,
            "# What ns-2.35 (Debian's ns2) answers in P2's network, made by `cargo xtask fidelity --ns2 --record`.\n\
             # xtask/fidelity/dumbbell.tcl says what is counted, docs/fidelity.md what it is for.\n{HEAD}"
        )
        .map_err(failed)?;
    }
    let file = Mutex::new((file, 0));
    let made = super::parallel(missing.len(), |at| {
        let key = missing[at];
        let row = Row { key, run: key.ask_ns2(&ns)? };
        let (file, done) = &mut *file.lock().unwrap_or_else(|e| e.into_inner());
        *done += 1;
        let Key { pair, buffer, starts, seed } = key;
        eprintln!("{done} of {}: {} {buffer} {} {seed}", missing.len(), pair.module, starts.name());
        writeln!(file, "{}", line(&row)).map_err(failed)
    });
    made.into_iter().collect::<Result<(), String>>()?;
    Ok(true)
}

/// Whether ns-2 answers to some of the rows as it did.
pub fn still_the_same(rows: &[Row]) -> Result<bool, String> {
    let ns = ns2::find()?;
    let mut same = true;
    for row in rows.iter().filter(|row| super::check::asked_again(&row.key)) {
        let now = Row { key: row.key, run: row.key.ask_ns2(&ns)? };
        if now.run != row.run {
            println!("ns-2 does not answer as it did:\n  {}\n  {}", line(row), line(&now));
            same = false;
        }
    }
    Ok(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_each_run_once() {
        let plan = plan();
        assert_eq!(plan.len(), 9 + 2 * 2 * 6 + 2 * 20 * 9 * 6);
        for (at, key) in plan.iter().enumerate() {
            assert!(!plan[..at].contains(key), "{at}");
        }
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let text = "cubic,100,round-trip,3,1000,9,4,5,1,2,250,240,251,249";
        let row = parse(text).unwrap();
        assert_eq!((row.key.pair.module, row.key.buffer, row.key.seed), ("cubic", 100, 3));
        assert_eq!(row.key.starts, Starts::RoundTrip);
        assert_eq!((row.run.dropped, row.run.dropped_at_senders, row.run.received[2]), (4, 5, 251));
        assert_eq!(line(&row), text);
        assert!(parse("cubic,100,round-trip,3,1000").is_none());
        assert!(parse(&text.replace("cubic", "vegas")).is_some());
        assert!(parse(&text.replace("cubic", "lp")).is_none());
    }
}
