//! The recorded results of ns-2.35 in `data/ns-2.35.csv`: one line for each run.

use super::agent::Ns2;
use super::cells::{BUFFERS, OTHERS, PAIRS, Pair, Run, Starts, four_flows};
use crate::cwnd::Cwnd;
use crate::parallel::parallel;
use crate::program;
use std::io::Write;
use std::sync::Mutex;

/// Everything that determines the result of a run.
#[derive(Clone, Copy, PartialEq)]
pub struct Key {
    pub pair: Pair,
    pub buffer: u32,
    pub starts: Starts,
    pub seed: u64,
}

/// A recorded run.
pub struct Row {
    pub key: Key,
    pub run: Run,
}

const FILE: &str = "ns-2.35.csv";

const HEAD: &str = "module,buffer,starts,seed,sent,retransmitted,dropped,dropped_at_senders,timeouts,cuts,\
                    received_1,received_2,received_3,received_4";

/// Number of starts of each cell. The other modules have one.
const SEEDS: u64 = 20;

impl Key {
    /// Runs ns-2.
    fn run_ns2(&self, ns2: &Ns2) -> Result<Run, String> {
        let setting = four_flows(self.buffer);
        ns2.run(&setting, self.pair.module, &self.starts.times_ns(&setting, self.seed))
    }

    /// Runs cwnd.
    pub fn run_cwnd(&self, cwnd: &Cwnd) -> Result<Run, String> {
        let setting = four_flows(self.buffer);
        super::ours::run(cwnd, &setting, self.pair.algorithm, &self.starts.times_ns(&setting, self.seed))
    }
}

/// Returns all runs in the order of recording: the quicker kinds first, and of each kind one seed in all cells before the next.
/// An interrupted recording therefore has about as many starts in each cell.
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

/// Reads the recorded rows.
pub fn read() -> Result<Vec<Row>, String> {
    let text = program::read_data(FILE)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#') && *line != HEAD);
    lines
        .map(|(number, line)| {
            parse(line).ok_or_else(|| format!("{FILE}:{}: \"{line}\" is not a row of {HEAD}", number + 1))
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

/// Records the missing rows, on all cores. Each row is written when its run ends.
pub fn record() -> Result<(), String> {
    let ns2 = Ns2::find()?;
    let rows = read()?;
    let missing: Vec<Key> = plan().into_iter().filter(|key| rows.iter().all(|row| row.key != *key)).collect();
    let failed = |error: std::io::Error| format!("{FILE}: {error}");
    let file = std::fs::OpenOptions::new().append(true).open(program::data(FILE)).map_err(failed)?;
    let file = Mutex::new((file, 0));
    parallel(missing.len(), |number| {
        let key = missing[number];
        let row = Row { key, run: key.run_ns2(&ns2)? };
        let (file, done) = &mut *file.lock().unwrap_or_else(|e| e.into_inner());
        *done += 1;
        let Key { pair, buffer, starts, seed } = key;
        eprintln!("{done} of {}: {} {buffer} {} {seed}", missing.len(), pair.module, starts.name());
        writeln!(file, "{}", line(&row)).map_err(failed)
    })?;
    Ok(())
}

/// Repeats some rows in ns-2. Returns whether the results are the recorded ones.
pub fn are_repeated(rows: &[Row]) -> Result<bool, String> {
    let ns2 = Ns2::find()?;
    let mut same = true;
    for row in rows.iter().filter(|row| is_repeated(&row.key)) {
        let now = Row { key: row.key, run: row.key.run_ns2(&ns2)? };
        if now.run != row.run {
            println!("ns-2 does not repeat a recorded row:\n  {}\n  {}", line(row), line(&now));
            same = false;
        }
    }
    Ok(same)
}

/// Returns whether ns-2 repeats the run of a row. It repeats quick ones.
fn is_repeated(key: &Key) -> bool {
    let cell = (key.pair.module, key.buffer, key.starts, key.seed);
    matches!(cell, ("reno", 100, Starts::Together, 1) | ("htcp", 100, Starts::RoundTrip, 1))
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
    fn a_row_survives_writing_and_reading() {
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
