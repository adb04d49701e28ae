//! What engines find wrong with a study, shown at the settings of its file that cause it.

use super::assignment::{Assignment, assignments};
use super::axes::{self, Drawn};
use super::diagnostic::{Sink, Span};
use super::keys::{FILE, SCENARIO};
use super::reader::Fields;
use super::{Named, StudyError};
use crate::Study;
use cwnd_scenario::Problem;
use std::collections::BTreeMap;
use toml::de::DeTable;

impl Study {
    /// Returns what engines have found wrong with cells of a study that was loaded from a file, each problem at the setting that causes
    /// it: of an axis if one sets it, else of `[scenario]`. None if the study is not from a file.
    pub fn refusal(&self, found: &[(usize, Problem)]) -> Option<StudyError> {
        let sink = Sink::new(self.file.as_ref()?, &self.text);
        {
            let table = DeTable::parse(&self.text).ok()?;
            self.locate(&Fields::new(table.get_ref(), 0..0, &FILE, &sink), found)?;
        }
        sink.into_error()
    }

    /// Notes the problems in the sink of the file's table.
    fn locate(&self, file: &Fields<'_>, found: &[(usize, Problem)]) -> Option<()> {
        // The file has been read before, with the names that it uses.
        let check = |_: Named<'_>| Ok(());
        let scenario = file.table("scenario", &SCENARIO);
        let base = scenario.as_ref().map(|scenario| assignments(scenario, &check)).unwrap_or_default();
        let axes = axes::axes(file, &check)?;
        let header = scenario.map_or(file.span.clone(), |scenario| scenario.span);
        let mut places: BTreeMap<(usize, usize, String), (&Problem, String, u64)> = BTreeMap::new();
        for (cell, problem) in found {
            let sets = base.iter().chain(self.sets_of_axes(*cell, &axes));
            let cause = cause(&problem.place, sets.collect());
            let (name, span) = match cause {
                Some(set) => (set.setting.key, set.span.clone()),
                None => (problem.place.as_str(), header.clone()),
            };
            let message = format!("`{name}`: {}", problem.message);
            let new = || (problem, self.cell_label(*cell), 0);
            places.entry((span.start, span.end, message)).or_insert_with(new).2 += 1;
        }
        for ((start, end, message), (problem, cell, count)) in places {
            let span: Span = start..end;
            file.sink.problem(&span, message, in_cells(&cell, count), problem.clone());
        }
        Some(())
    }

    /// Returns what the axes of the file set in a cell. A part of a study may have fewer points than the file.
    fn sets_of_axes<'a>(&self, cell: usize, axes: &'a [Drawn]) -> impl Iterator<Item = &'a Assignment> {
        axes.iter().flat_map(move |axis| {
            let label = self.label(cell, &axis.axis.name);
            let point = axis.axis.points.iter().position(|point| Some(point.label.as_str()) == label);
            point.into_iter().flat_map(|point| &axis.sets[point])
        })
    }
}

/// Says in how many cells a problem was found, and names one of them; nothing in a study without axes.
pub(super) fn in_cells(cell: &str, count: u64) -> String {
    match count {
        _ if cell.is_empty() => String::new(),
        1 => format!("in the cell `{cell}`"),
        _ => format!("in {count} cells, such as `{cell}`"),
    }
}

/// Returns the setting that causes a problem of a scenario, by the place that an engine gives: `stack.timer_hz`, `flows[3].algorithm`.
fn cause<'a>(place: &str, sets: Vec<&'a Assignment>) -> Option<&'a Assignment> {
    let key = place.strip_prefix("stack.").unwrap_or(place).replace('_', "-");
    let keys: &[&str] = match key.as_str() {
        "payload" | "first-packet" | "payload and headers" => &["packet-size", "mtu"],
        key if key.starts_with("flows") => &["algorithm", "mix", "flow"],
        key => &[key],
    };
    // What an axis sets comes before what `[scenario]` says.
    keys.iter().find_map(|key| sets.iter().rfind(|set| set.setting.key == *key)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what is shown of problems of cells of a study that stands in `a.toml`.
    fn shown(lines: &str, found: &[(usize, &str)]) -> Option<String> {
        let text = format!("title = \"A\"\nquestion = \"B\"\n[scenario]\nalgorithm = \"cubic\"\n{lines}");
        let study = Study::parse("a", "a.toml", &text, &|_| Ok(()));
        let study = study.unwrap_or_else(|error| panic!("{error}"));
        let problem =
            |place: &str| Problem { place: place.to_owned(), message: "is 5; it must be 1".to_owned() };
        let found: Vec<(usize, Problem)> =
            found.iter().map(|(cell, place)| (*cell, problem(place))).collect();
        assert_eq!(study.refusal(&found), None, "a text is no file");
        let study = Study { file: Some("a.toml".to_owned()), ..study };
        study.refusal(&found).map(|error| error.to_string())
    }

    #[test]
    fn a_problem_is_shown_at_its_setting() {
        let expected =
            "`timer-hz`: is 5; it must be 1\n --> a.toml:5:12\n  |\n5 | timer-hz = 1000\n  |            ^^^^";
        assert_eq!(shown("timer-hz = 1000", &[(0, "stack.timer_hz")]).unwrap(), expected);
        let algorithm = shown("", &[(0, "flows[3].algorithm")]).unwrap();
        assert!(algorithm.starts_with("`algorithm`: is 5; it must be 1\n --> a.toml:4:13\n"), "{algorithm}");
        // What no setting says is shown at `[scenario]`, by the place that the engine gives.
        let header = shown("", &[(0, "links[0] (bottleneck)")]).unwrap();
        assert!(
            header.starts_with("`links[0] (bottleneck)`: is 5; it must be 1\n --> a.toml:3:2\n"),
            "{header}"
        );
        assert_eq!(shown("", &[]), None);
    }

    #[test]
    fn a_problem_of_an_axis_is_shown_at_its_value() {
        let axes = "timer-hz = 1000\n[[axes]]\nname = \"hz\"\npoints = [{ label = \"a\" }, { label = \"b\", timer-hz = 100 }]\n\
                    [[axes]]\nname = \"buffer\"\nkey = \"buffer\"\nvalues = [5, 10]";
        let both = [(2, "stack.timer_hz"), (3, "stack.timer_hz")];
        let line = "points = [{ label = \"a\" }, { label = \"b\", timer-hz = 100 }]";
        let column = line.find("100").unwrap();
        let expected = format!(
            "`timer-hz`: is 5; it must be 1\n --> a.toml:8:{}\n  |\n8 | {line}\n  | {}^^^\n  = help: in 2 cells, such as `b, 5`",
            column + 1,
            " ".repeat(column)
        );
        assert_eq!(shown(axes, &both).unwrap(), expected);
        // The point that leaves it out has that of `[scenario]`.
        let first = shown(axes, &[(0, "stack.timer_hz")]).unwrap();
        assert!(first.contains("a.toml:5:12"), "{first}");
        let one = shown(axes, &both[..1]).unwrap();
        assert!(one.ends_with("= help: in the cell `b, 5`"), "{one}");
    }
}
