//! Single flows of P0 and P1 in both simulators, window by window.

use super::agent::Ns2;
use super::cells::{Pair, Run, SINGLES, Single, Starts};
use super::check::mean;
use super::ours;
use crate::cwnd::Cwnd;
use crate::parallel::parallel;
use crate::table::{cells, table};

/// The runs of both simulators.
struct Both {
    theirs: Run,
    ours: Run,
}

/// Runs and prints the single flows.
pub fn print(cwnd: &Cwnd, ns2: &Ns2) -> Result<(), String> {
    let flows: Vec<(&Single, &Pair)> =
        SINGLES.iter().flat_map(|single| single.pairs.iter().map(move |pair| (single, pair))).collect();
    let runs = parallel(flows.len(), |number| {
        let (Single { setting, .. }, pair) = flows[number];
        let starts = Starts::Together.times_ns(setting, 1);
        Ok(Both {
            theirs: ns2.run(setting, pair.module, &starts)?,
            ours: ours::run(cwnd, setting, pair.algorithm, &starts)?,
        })
    })?;
    let mut runs = runs.into_iter();
    for single in &SINGLES {
        println!("\n{}\n", single.title);
        let runs: Vec<Both> = runs.by_ref().take(single.pairs.len()).collect();
        print!("{}", windows(single, &runs));
    }
    Ok(())
}

/// Formats the windows of a single flow over time.
fn windows(single: &Single, runs: &[Both]) -> String {
    let names = single.pairs.iter().flat_map(|pair| [pair.to_string(), String::new()]);
    let columns = single.pairs.iter().flat_map(|_| cells(&["ns-2.35", "cwnd"]));
    let head = [
        std::iter::once(String::new()).chain(names).collect(),
        std::iter::once("cwnd at".to_owned()).chain(columns).collect(),
    ];
    let row = |name: String, of: &dyn Fn(&Run) -> String| {
        let values = runs.iter().flat_map(|both| [of(&both.theirs), of(&both.ours)]);
        std::iter::once(name).chain(values).collect::<Vec<String>>()
    };
    let steps = single.setting.duration / single.shown;
    let mut rows: Vec<Vec<String>> = (1..=steps)
        .map(|step| {
            let time = step * single.shown;
            row(format!("{time} s"), &|run| {
                let at = (f64::from(time) / single.setting.sample).round() as usize - 1;
                run.windows.get(at).map_or("–".to_owned(), |window| format!("{window:.0}"))
            })
        })
        .collect();
    rows.push(row(format!("first {} at", single.landmark), &|run| {
        let at = run.windows.iter().position(|&window| window >= single.landmark);
        at.map_or("never".to_owned(), |at| format!("{:.1} s", (at + 1) as f64 * single.setting.sample))
    }));
    let most = |run: &Run| run.windows.iter().copied().fold(0.0, f64::max);
    rows.push(row("greatest".to_owned(), &|run| format!("{:.0}", most(run))));
    rows.push(row("mean".to_owned(), &|run| format!("{:.0}", mean(&run.windows))));
    rows.push(row("Mbit/s".to_owned(), &|run| format!("{:.1}", run.throughput_mbps(&single.setting))));
    rows.push(row("cuts".to_owned(), &|run| run.cuts.to_string()));
    table(&[0], &head, &rows)
}
