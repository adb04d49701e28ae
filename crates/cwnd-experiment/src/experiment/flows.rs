//! The flows of an experiment that last, and the scenario with them.

use crate::{CrossFlows, ExperimentSpec, FlowGroup};
use cwnd_scenario::{AlgorithmSpec, Problem, Scenario};
use std::borrow::Cow;

impl ExperimentSpec {
    /// Makes the scenario of this experiment with this seed.
    ///
    /// # Errors
    /// Everything that contradicts itself or cannot be met, by its place: a field's name (`buffer`, `algorithm`), or
    /// `flows[1].rtt` for the second group.
    pub fn resolve(&self, seed: u64) -> Result<Scenario, Vec<Problem>> {
        let spec = self.with_candidate().map_err(|problem| vec![problem])?;
        let groups = spec.groups().map_err(|problem| vec![problem])?;
        spec.scenario(&groups, seed)
    }

    /// Returns the experiment with the algorithm of `candidate` wherever one is named `candidate`.
    ///
    /// # Errors
    /// The name is there, and no algorithm that it stands for; or it has parameters of its own.
    pub fn with_candidate(&self) -> Result<Cow<'_, ExperimentSpec>, Problem> {
        let mut spec = self.clone();
        let candidate = spec.candidate.take();
        let placeholders = spec.named_mut().filter(|named| named.is_candidate());
        let mut is_named = false;
        for named in placeholders {
            let problem =
                |message: &str| Err(Problem { place: "candidate".to_owned(), message: message.to_owned() });
            is_named = true;
            if !named.parameters.is_empty() {
                return problem("the name `candidate` takes no parameters: its algorithm has them");
            }
            match &candidate {
                Some(candidate) if !candidate.is_candidate() => *named = candidate.clone(),
                Some(_) => return problem("`candidate` cannot stand for itself: name an algorithm"),
                None => {
                    return problem(
                        "the name `candidate` stands for no algorithm: write `candidate = \"cubic\"`",
                    );
                }
            }
        }
        match is_named {
            true => Ok(Cow::Owned(spec)),
            false => Ok(Cow::Borrowed(self)),
        }
    }

    /// Returns every algorithm that flows name.
    fn named_mut(&mut self) -> impl Iterator<Item = &mut AlgorithmSpec> {
        let cross = match &mut self.cross_flows {
            Some(CrossFlows::Mix(mix)) => mix.0.as_mut_slice(),
            Some(CrossFlows::Count(_)) | None => &mut [],
        };
        let groups = self.mix.iter_mut().flat_map(|mix| &mut mix.0).chain(&mut self.flow).chain(cross);
        let short = self.short_flows.iter_mut().map(|flows| &mut flows.algorithm);
        let groups = groups.map(|group| &mut group.algorithm).chain(short);
        self.algorithm.iter_mut().chain(&mut self.beside).chain(groups)
    }

    /// Returns every algorithm that is named anywhere in it, without the name `candidate`.
    pub fn algorithms(&self) -> impl Iterator<Item = &AlgorithmSpec> {
        let cross = match &self.cross_flows {
            Some(CrossFlows::Mix(mix)) => mix.0.as_slice(),
            Some(CrossFlows::Count(_)) | None => &[],
        };
        let groups = self.mix.iter().flat_map(|mix| &mix.0).chain(&self.flow).chain(cross);
        let short = self.short_flows.iter().map(|flows| &flows.algorithm);
        let groups = groups.map(|group| &group.algorithm).chain(short);
        let all = self.candidate.iter().chain(&self.algorithm).chain(&self.beside).chain(groups);
        all.filter(|spec| !spec.is_candidate())
    }

    /// The flows, equal ones together.
    ///
    /// # Errors
    /// None of the three ways is taken, or several are, or it is open which algorithm flows against the others have.
    pub fn groups(&self) -> Result<Vec<FlowGroup>, Problem> {
        let problem = |place: &str, message: &str| {
            Err(Problem { place: place.to_owned(), message: message.to_owned() })
        };
        let ways = [self.algorithm.is_some(), self.mix.is_some(), !self.flow.is_empty()];
        match ways.iter().filter(|way| **way).count() {
            // The short flows are all that there is.
            0 if self.short_flows.is_some() && self.reverse_flows == 0 => return Ok(Vec::new()),
            0 => {
                let ways = "say `algorithm = \"cubic\"`, `mix = \"cubic*2,elastic*2\"` or `flow = [\"cubic; start=1 s\"]`";
                return problem("algorithm", &format!("no flow is described: {ways}"));
            }
            1 => {}
            _ => {
                return problem(
                    "algorithm",
                    "only one of `algorithm`, `mix` and `flow` can say what the flows are",
                );
            }
        }
        if self.beside.is_some() && self.algorithm.is_none() {
            return problem(
                "beside",
                "it needs the flows of `algorithm`; a mix lists all of its flows itself",
            );
        }
        let count = "it counts the flows of `algorithm`; a mix has `*N`, a flow `count=N`";
        let mut groups = match (&self.algorithm, &self.mix) {
            (Some(algorithm), _) => vec![FlowGroup::new(algorithm.clone(), self.flows.unwrap_or(1))],
            _ if self.flows.is_some() => return problem("flows", count),
            (None, Some(mix)) => mix.0.clone(),
            (None, None) => self.flow.clone(),
        };
        if self.reverse_flows > 0 {
            let first = groups[0].algorithm.clone();
            if self.algorithm.is_none() && groups.iter().any(|group| group.algorithm != first) {
                let message = "of which algorithm? Say them with `flow`: `flow = [\"cubic; count=2\", \"cubic; reverse\"]`";
                return problem("reverse_flows", message);
            }
            groups.push(FlowGroup { reverse: true, ..FlowGroup::new(first, self.reverse_flows) });
        }
        if let Some(other) = &self.beside {
            groups.insert(1, FlowGroup::new(other.clone(), groups[0].count));
        }
        Ok(groups)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(experiment: ExperimentSpec) -> Result<String, String> {
        match experiment.groups() {
            Ok(groups) => Ok(groups.iter().map(ToString::to_string).collect::<Vec<_>>().join(" + ")),
            Err(problem) => Err(problem.to_string()),
        }
    }

    #[test]
    fn a_candidate_stands_wherever_it_is_named() {
        let named = ExperimentSpec {
            candidate: Some("bbr3:quanta=2".parse().unwrap()),
            flow: vec!["candidate; count=2; group=own".parse().unwrap(), "cubic".parse().unwrap()],
            cross_flows: Some("candidate*3,newreno".parse().unwrap()),
            short_flows: Some("candidate; load=5 %; size=web-search".parse().unwrap()),
            ..ExperimentSpec::default()
        };
        let spec = named.with_candidate().unwrap();
        let names: Vec<String> = spec.algorithms().map(ToString::to_string).collect();
        assert_eq!(names, ["bbr3:quanta=2", "cubic", "bbr3:quanta=2", "newreno", "bbr3:quanta=2"]);
        assert_eq!(named.algorithms().count(), 3, "the name itself is no algorithm");

        let message = |candidate: Option<&str>, flow: &str| {
            let candidate = candidate.map(|text| text.parse().unwrap());
            let flow = vec![flow.parse().unwrap()];
            let spec = ExperimentSpec { candidate, flow, ..ExperimentSpec::default() };
            spec.with_candidate().map(|_| ()).unwrap_err().to_string()
        };
        assert!(message(None, "candidate").contains("stands for no algorithm"));
        assert!(message(Some("candidate"), "candidate").contains("cannot stand for itself"));
        assert!(message(Some("cubic"), "candidate:beta=0.5").contains("takes no parameters"));
    }

    #[test]
    fn flows_are_said_in_one_of_three_ways() {
        let cubic: AlgorithmSpec = "cubic".parse().unwrap();
        let one = ExperimentSpec { algorithm: Some(cubic), ..ExperimentSpec::default() };
        assert_eq!(groups(one.clone()).unwrap(), "cubic");
        let four = ExperimentSpec { flows: Some(4), reverse_flows: 2, ..one.clone() };
        assert_eq!(groups(four).unwrap(), "cubic; count=4 + cubic; count=2; reverse");
        let beside =
            ExperimentSpec { flows: Some(2), beside: Some("elastic".parse().unwrap()), ..one.clone() };
        assert_eq!(groups(beside.clone()).unwrap(), "cubic; count=2 + elastic; count=2");
        let mix =
            ExperimentSpec { mix: Some("cubic*2,elastic".parse().unwrap()), ..ExperimentSpec::default() };
        let beside = ExperimentSpec { algorithm: None, flows: None, mix: mix.mix.clone(), ..beside };
        assert!(groups(beside).unwrap_err().starts_with("beside: it needs the flows"));
        assert_eq!(groups(mix.clone()).unwrap(), "cubic; count=2 + elastic");
        let flow = vec!["cubic; start=1 s".parse().unwrap(), "cubic".parse().unwrap()];
        let flow = ExperimentSpec { flow, reverse_flows: 1, ..ExperimentSpec::default() };
        assert_eq!(groups(flow).unwrap(), "cubic; start=1 s + cubic + cubic; reverse");

        assert!(
            groups(ExperimentSpec::default()).unwrap_err().starts_with("algorithm: no flow is described")
        );
        let both = ExperimentSpec { mix: mix.mix.clone(), ..one };
        assert!(groups(both).unwrap_err().starts_with("algorithm: only one of"));
        let counted = ExperimentSpec { flows: Some(2), ..mix.clone() };
        assert!(groups(counted).unwrap_err().starts_with("flows: it counts the flows of `algorithm`"));
        let against = ExperimentSpec { reverse_flows: 1, ..mix };
        assert!(groups(against).unwrap_err().starts_with("reverse_flows: of which algorithm?"));
    }
}
