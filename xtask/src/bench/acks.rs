//! What an ACK costs each algorithm.

use super::bar_text;
use crate::command::{cargo, output};
use crate::table::{cells, table};

/// Nanoseconds an ACK may cost.
const BAR_NS: f64 = 25.0;

/// A table of the nanoseconds an ACK at each window, of `runs` runs the median.
pub fn costs(runs: usize) -> Result<String, String> {
    let mut command = cargo();
    command
        .args(["run", "--quiet", "--release", "--package", "cwnd-cc", "--example", "ack_cost", "--"])
        .arg(runs.to_string());
    as_table(&output(&mut command)?)
}

/// Lines of name, window and nanoseconds as a table with a row for each name.
fn as_table(lines: &str) -> Result<String, String> {
    let mut windows: Vec<&str> = Vec::new();
    let mut rows: Vec<(&str, Vec<f64>)> = Vec::new();
    for line in lines.lines() {
        let mut words = line.split('\t');
        let (Some(name), Some(window), Some(cost)) = (words.next(), words.next(), words.next()) else {
            return Err(format!("\"{line}\" is not a name, a window and a cost"));
        };
        let cost = cost.parse().map_err(|_| format!("\"{cost}\" is not a cost, in \"{line}\""))?;
        if !windows.contains(&window) {
            windows.push(window);
        }
        match rows.last_mut() {
            Some((last, costs)) if *last == name => costs.push(cost),
            _ => rows.push((name, vec![cost])),
        }
    }
    let over: Vec<String> = windows.iter().map(|window| format!("{window} segments")).collect();
    let heads = std::iter::once(String::new()).chain(over).chain(["at most".to_owned()]).collect();
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|(name, costs)| {
            let worst = costs.iter().copied().fold(0.0, f64::max);
            let numbers = costs.iter().map(|cost| format!("{cost:.1}"));
            std::iter::once((*name).to_owned()).chain(numbers).chain([bar_text(worst, BAR_NS)]).collect()
        })
        .collect();
    let units = cells(&["", "ns", "ns", "ns", "ns"]);
    Ok(table(&[0], &[heads, units], &rows))
}

#[cfg(test)]
mod tests {
    use super::as_table;

    #[test]
    fn a_row_for_each_name() {
        let text = as_table("reno\t10\t2.04\nreno\t100\t3.1\nbbr\t10\t24\nbbr\t100\t26.5\n").unwrap();
        let rows: Vec<Vec<&str>> =
            text.lines().skip(3).map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows, [vec!["reno", "2.0", "3.1", "25"], vec!["bbr", "24.0", "26.5", "25", "(over)"]]);
    }

    #[test]
    fn what_is_no_line_is_refused() {
        assert!(as_table("reno\t10\n").is_err());
        assert!(as_table("reno\t10\tfast\n").is_err());
    }
}
