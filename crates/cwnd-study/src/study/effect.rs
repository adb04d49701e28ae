//! What of a study has no effect.

use super::{Cell, Study};
use cwnd_experiment::LateSteps;
use cwnd_scenario::Time;
use std::collections::{BTreeMap, BTreeSet};

impl Study {
    /// Returns a sentence for each thing that the study says and that changes no run: axes along which all runs are equal, steps of
    /// schedules after the end, and round trips that no flow takes.
    pub fn notes(&self) -> Vec<String> {
        let axes = (0..self.axes.len()).filter(|axis| self.has_no_effect(*axis));
        let mut notes: Vec<String> = axes
            .map(|axis| {
                format!("the axis `{}` has no effect: the runs are equal along it", self.axes[axis].name)
            })
            .collect();
        let late: BTreeSet<String> = self
            .cells
            .iter()
            .flat_map(|cell| {
                let end = cell.experiment.duration;
                cell.experiment.late_steps().into_iter().map(move |steps| late_note(&steps, end))
            })
            .collect();
        notes.extend(late);
        notes.extend(self.surplus_rtts());
        notes
    }

    /// Says that `rtts` has more round-trip times than any cell has flows, if that is so.
    fn surplus_rtts(&self) -> Option<String> {
        let surplus = |cell: &Cell| cell.experiment.rtts.len().saturating_sub(cell.scenario.lasting_flows());
        let surplus = self.cells.iter().map(surplus).min().filter(|surplus| *surplus > 0)?;
        Some(match surplus {
            1 => "the last of `rtts` has no effect: there are fewer flows".to_owned(),
            many => format!("the last {many} of `rtts` have no effect: there are fewer flows"),
        })
    }

    /// Whether cells that differ in this axis alone are the same runs. There is at least one pair of them.
    fn has_no_effect(&self, axis: usize) -> bool {
        let mut first: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        let mut pairs = 0;
        for (index, cell) in self.cells.iter().enumerate() {
            let mut others = cell.coordinates.clone();
            others.remove(axis);
            let before = &self.cells[*first.entry(others).or_insert(index)];
            if before.coordinates == cell.coordinates {
                continue;
            }
            if before.engine != cell.engine || before.scenario != cell.scenario {
                return false;
            }
            pairs += 1;
        }
        pairs > 0
    }
}

/// Says that these steps have no effect in a run that ends at this time.
fn late_note(LateSteps { link, times }: &LateSteps<'_>, end: Time) -> String {
    let schedule = match link {
        None => "`schedule`".to_owned(),
        Some(link) => format!("`schedule` of the link `{link}`"),
    };
    let first = times[0];
    match times.len() {
        1 => format!("the step at {first} of {schedule} has no effect: the run ends at {end}"),
        many => {
            format!("{many} steps of {schedule}, the first at {first}, have no effect: the run ends at {end}")
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Study;

    fn notes(lines: &str) -> Vec<String> {
        let text = format!("title = \"A\"\nquestion = \"B\"\n[scenario]\nduration = \"20 s\"\n{lines}");
        Study::parse("a", "a.toml", &text, &|_| Ok(())).unwrap_or_else(|error| panic!("{error}")).notes()
    }

    #[test]
    fn an_axis_along_which_all_runs_are_equal_is_noted() {
        let axes = |values: &str| {
            format!(
                "algorithm = \"cubic\"\n[[axes]]\nname = \"name\"\nkey = \"candidate\"\nvalues = {values}\n\
                 [[axes]]\nname = \"buffer\"\nkey = \"buffer\"\nvalues = [5, 10]"
            )
        };
        // Nothing is called `candidate`.
        let expected = ["the axis `name` has no effect: the runs are equal along it"];
        assert_eq!(notes(&axes("[\"cubic\", \"newreno\"]")), expected);
        // A single point cannot differ.
        assert_eq!(notes(&axes("[\"cubic\"]")), [""; 0]);
        assert_eq!(
            notes(&axes("[\"cubic\", \"newreno\"]").replacen("\"cubic\"", "\"candidate\"", 1)),
            [""; 0]
        );
    }

    #[test]
    fn round_trips_that_no_flow_takes_are_noted() {
        let rtts = |flows: &str| {
            notes(&format!(
                "algorithm = \"cubic\"\ndelay = \"5 ms\"\nrtts = \"40 ms, 60 ms, 80 ms\"\n{flows}"
            ))
        };
        assert_eq!(rtts("flows = 1"), ["the last 2 of `rtts` have no effect: there are fewer flows"]);
        assert_eq!(rtts("flows = 2"), ["the last of `rtts` has no effect: there are fewer flows"]);
        // One of the cells takes all of them.
        assert_eq!(rtts("[[axes]]\nname = \"flows\"\nkey = \"flows\"\nvalues = [1, 3]"), [""; 0]);
    }

    #[test]
    fn steps_after_the_end_are_noted() {
        let schedule = |steps: &str| notes(&format!("algorithm = \"cubic\"\nschedule = [{steps}]"));
        let expected = ["the step at 25 s of `schedule` has no effect: the run ends at 20 s"];
        assert_eq!(schedule("\"25 s: 5 Mbit/s\""), expected);
        let expected = ["2 steps of `schedule`, the first at 20 s, have no effect: the run ends at 20 s"];
        assert_eq!(
            schedule("\"19 s: 1 Mbit/s\", \"20 s: 5 Mbit/s\", \"30 s: up, 5 ms\", \"every 60 s\""),
            expected
        );
        // An outage lasts to the end.
        assert_eq!(schedule("\"10 s: down\", \"40 s: up\""), [""; 0]);
    }
    #[test]
    fn steps_of_each_link_are_noted_by_its_name() {
        let link = |name: &str, ends: &str, schedule: &str| {
            format!("[[network.links]]\nname = \"{name}\"\n{ends}\nschedule = [{schedule}]\n")
        };
        let network = |first: &str, second: &str| {
            notes(&format!(
                "algorithm = \"cubic\"\n[network]\nnodes = [\"x\", \"y\", \"z\"]\nbottleneck = \"a\"\npaths = [\"x -> z\"]\n{}{}",
                link("a", "from = \"x\"\nto = \"y\"", first),
                link("b", "from = \"y\"\nto = \"z\"", second)
            ))
        };
        // Steps at the same time are two.
        let expected = [
            "the step at 20 s of `schedule` of the link `a` has no effect: the run ends at 20 s",
            "the step at 20 s of `schedule` of the link `b` has no effect: the run ends at 20 s",
        ];
        assert_eq!(network("\"20 s: 5 Mbit/s\"", "\"10 s: 1 ms\", \"20 s: 5 ms\""), expected);
        assert_eq!(network("\"19 s: 5 Mbit/s\"", "\"10 s: 1 ms\""), [""; 0]);
    }
}
