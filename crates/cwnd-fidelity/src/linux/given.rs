//! Transfers with given losses, flows over other paths, reordering, and pairs with given starts.

use super::Findings;
use super::cases::{CaseRecordings, LATE_STARTS, SINGLES};
use super::ours;
use crate::cwnd::Cwnd;
use crate::parallel::parallel;
use crate::table::{cells, table};
use cwnd_metrics::statistics::{Summary, percentiles};

/// The algorithms of the transfers with bars.
const TRANSFERRED: [&str; 3] = ["reno", "cubic", "bbr"];
/// The largest median of the differences of completion times, and the smallest share of transfers with as many retransmissions.
const COMPLETION: f64 = 0.005;
const EQUAL: f64 = 0.99;
/// A transfer that differs by more than this is listed.
const LISTED: f64 = 0.02;
/// The largest differences in goodput, mean window and retransmissions of a single flow.
const SINGLE_BARS: [(&str, f64); 3] = [("goodput", 0.01), ("mean cwnd", 0.03), ("retransmissions", 0.05)];
/// Seeds of a flow with random reordering.
const SEEDS: usize = 20;
/// Number of start times of a pair, and when its means begin, seconds.
const STARTS: usize = 20;
const PAIR_FROM: f64 = 16.0;

/// Compares the transfers: completion times, and retransmissions.
pub fn transfers(cwnd: &Cwnd, recorded: &CaseRecordings) -> Result<Findings, String> {
    let mut findings = Findings::default();
    let mut rows = Vec::new();
    let mut listed = String::new();
    for module in TRANSFERRED {
        let cases: Vec<_> = recorded.transfers.iter().filter(|case| case.module == module).collect();
        let ours = parallel(cases.len(), |number| ours::transfer(cwnd, cases[number]))?;
        let (mut apart, mut equal) = (Vec::new(), 0);
        for (case, ours) in cases.iter().zip(&ours) {
            // Two recorded transfers lost all their ACKs and ended with the recording. So do ours.
            let time = ours.time.unwrap_or(case.completion.max(60.0));
            let difference = time / case.completion - 1.0;
            apart.push(difference.abs());
            let is_equal = ours.retransmissions == case.retransmissions;
            equal += usize::from(is_equal);
            if difference.abs() > LISTED || !is_equal {
                listed += &format!(
                    "  {} {module}, {} B: {:.6} s and {} again, ours {time:.6} s ({:+.1} %) and {}\n",
                    case.port,
                    case.bytes,
                    case.completion,
                    case.retransmissions,
                    100.0 * difference,
                    ours.retransmissions,
                );
            }
        }
        let quantiles = percentiles(&apart, &[50.0, 90.0, 100.0]).ok_or("there is no transfer")?;
        let (late, few) = (quantiles[0] > COMPLETION, (equal as f64) < EQUAL * cases.len() as f64);
        let mark = |missed: bool| if missed { "!" } else { "" };
        rows.push(vec![
            module.to_owned(),
            cases.len().to_string(),
            format!("{equal}{}", mark(few)),
            format!("{:.2} %{}", 100.0 * quantiles[0], mark(late)),
            format!("{:.2} %", 100.0 * quantiles[1]),
            format!("{:.1} %", 100.0 * quantiles[2]),
        ]);
        let missed = [(late, "completion times"), (few, "retransmissions")];
        let missed = missed.into_iter().filter(|(missed, _)| *missed);
        findings.missed.extend(missed.map(|(_, name)| format!("transfers of {module}, {name}")));
    }
    let head = [
        cells(&["", "", "as many", "completion time, difference", "", ""]),
        cells(&["", "transfers", "sent again", "median", "90th", "largest"]),
    ];
    findings.text = format!(
        "\nTransfers of 1 to 700 segments with given losses, 20 Mbit/s, 50 ms, 100 packets\n\n{}\n{listed}",
        table(&[0], &head, &rows)
    );
    Ok(findings)
}

/// Compares the single flows.
pub fn singles(cwnd: &Cwnd, recorded: &CaseRecordings) -> Result<Findings, String> {
    let results = parallel(SINGLES.len(), |number| ours::single(cwnd, &SINGLES[number], recorded, SEEDS))?;
    let mut findings = Findings::default();
    let mut rows = Vec::new();
    for ((case, recording), runs) in SINGLES.iter().zip(&recorded.singles).zip(results) {
        let name = case.file.split("-s1").next().unwrap_or(case.file);
        let (curve, time) = (&recording.curve, case.path.time);
        let theirs = [curve.goodput(0.0, time), curve.mean_cwnd(0.0, time), recording.retransmissions];
        let mut row = vec![name.to_owned()];
        for (quantity, (bar, within)) in SINGLE_BARS.iter().enumerate() {
            let ours: Vec<f64> =
                runs.iter().map(|run| [run.goodput, run.cwnd, run.retransmissions][quantity]).collect();
            let summary = Summary::of(&ours).ok_or("there is no run")?;
            let apart = summary.mean / theirs[quantity] - 1.0;
            // Where packets are late at random, the recording is one sample of what ours are others of.
            let chance = 1.96 * summary.standard_deviation.unwrap_or(0.0);
            let beyond = apart.abs() > *within && (summary.mean - theirs[quantity]).abs() > chance;
            row.push(format!("{:.2}", theirs[quantity]));
            row.push(format!("{:.2}", summary.mean));
            row.push(format!("{:+.1} %{}", 100.0 * apart, if beyond { "!" } else { "" }));
            if beyond {
                findings.missed.push(format!("{name}, {bar}"));
            }
        }
        rows.push(row);
    }
    let quantity = ["Linux", "cwnd", ""];
    let head = [
        cells(&["", "Mbit/s", "", "", "mean cwnd", "", "", "sent again"]),
        [cells(&[""]), cells(&quantity), cells(&quantity), cells(&quantity)].concat(),
    ];
    findings.text = format!(
        "\nSingle flows with given losses (h2nth1), over a long path (h3), and with 2 % of the packets 10 ms late (reorder, means of \
         {SEEDS} seeds)\n\n{}",
        table(&[0], &head, &rows)
    );
    Ok(findings)
}

/// Compares the pairs of Illinois with given starts.
pub fn late_starts(cwnd: &Cwnd, recorded: &CaseRecordings) -> Result<Findings, String> {
    let results = parallel(LATE_STARTS.len(), |number| {
        let case = &LATE_STARTS[number];
        Ok((ours::late_start(cwnd, case, PAIR_FROM, 1)?, ours::late_start(cwnd, case, PAIR_FROM, STARTS)?))
    })?;
    let mut findings = Findings::default();
    let mut rows = Vec::new();
    for ((case, curves), (exact, varied)) in LATE_STARTS.iter().zip(&recorded.late_starts).zip(results) {
        let &(file, until, second, stop) = case;
        for flow in 0..2 {
            let since = if flow == 1 { second } else { 0.0 };
            let theirs = curves[flow].goodput(PAIR_FROM - since, until.min(stop) - since);
            let ours = exact.first().map(|flows| flows[flow].goodput).ok_or("there is no run")?;
            let others: Vec<f64> = varied.iter().map(|flows| flows[flow].goodput).collect();
            let range = percentiles(&others, &[5.0, 95.0]).ok_or("there is no run")?;
            let apart = ours / theirs - 1.0;
            let beyond = apart.abs() > 0.15 && !(range[0]..=range[1]).contains(&theirs);
            let name = file.split("-s1").next().unwrap_or(file);
            let name = name.split("-buf").next().unwrap_or(name);
            rows.push(vec![
                format!("{name} {}", flow + 1),
                format!("{second:.3}"),
                format!("{theirs:.2}"),
                format!("{ours:.2}"),
                format!("{:+.1} %{}", 100.0 * apart, if beyond { "!" } else { "" }),
                format!("{:.1} to {:.1}", range[0], range[1]),
            ]);
            if beyond {
                findings.missed.push(format!("{name} flow {}, throughput", flow + 1));
            }
        }
    }
    let head = [cells(&["", "second at", "Linux", "cwnd", "", "5th to 95th"])];
    findings.text = format!(
        "\nPairs of illinois over 330 packets by the start of the second flow, s; Mbit/s from {PAIR_FROM} s on, the range of {STARTS} \
         starts\n\n{}",
        table(&[0], &head, &rows)
    );
    Ok(findings)
}
