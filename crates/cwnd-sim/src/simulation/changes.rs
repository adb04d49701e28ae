//! Live changes: each happens at a time, before the events of that time.

use super::Simulation;
use super::measured::{Changed, LineChange};
use crate::fault::{self, Fault};
use crate::graph::{self, Runner};
use crate::host::Endpoint;
use crate::link::{Change, Link, Steps};
use crate::setup;
use crate::stage::Stages;
use cwnd_link::{ChangeError, Purpose, Stream, check_change, check_discipline, check_rate};
use cwnd_scenario::{Effects, LinkId, LinkSpec, Loss, Problem, QueueSpec, Rate, Time, Traffic};
use cwnd_tcp::Sender;
use std::sync::atomic::Ordering;

impl Simulation<'_> {
    /// Changes a link's rate. It applies to the remaining bits of the packet in transmission, and to all packets that
    /// wait.
    ///
    /// # Errors
    /// A delivery trace sets the link's rate, or packets could go round a cycle of the network in no time.
    pub fn set_rate(&mut self, link: LinkId, rate: Rate) -> Result<(), Problem> {
        let old = &self.scenario.network.links[link];
        check_rate(old).map_err(refusal(link, "rate"))?;
        let before = (old.rate, old.delay);
        let spec = LinkSpec { rate, ..old.clone() };
        self.change(link, spec, Change::Rate(rate))?;
        self.note_line(link, before, Changed::Rate(rate));
        Ok(())
    }

    /// Changes a link's propagation delay. It applies to packets that leave the transmitter from now on; none overtakes
    /// one that left before.
    ///
    /// # Errors
    /// Packets could go round a cycle of the network in no time.
    pub fn set_delay(&mut self, link: LinkId, delay: Time) -> Result<(), Problem> {
        let mut spec = self.scenario.network.links[link].clone();
        let before = (spec.rate, spec.delay);
        spec.delay = delay;
        self.change(link, spec, Change::Delay(delay.0))?;
        self.note_line(link, before, Changed::Delay(delay));
        Ok(())
    }

    fn note_line(&mut self, link: LinkId, before: (Rate, Time), to: Changed) {
        let at = self.now();
        self.line_changes.push(LineChange { at, link, before, to });
    }

    /// Changes a link's loss model from the next packet on that crosses its line.
    ///
    /// # Errors
    /// The model is impossible.
    pub fn set_loss(&mut self, link: LinkId, loss: Loss) -> Result<(), Problem> {
        let mut spec = self.scenario.network.links[link].clone();
        spec.loss = loss.clone();
        let stream = Stream::new(self.scenario.seed, Purpose::Loss, link as u64);
        self.change(link, spec, Change::Loss(loss, stream))
    }

    /// Changes a link's queue: its limit and its parameters. Packets that wait stay, even if there are more than the new
    /// limit.
    ///
    /// # Errors
    /// The queue has another discipline, or FQ-CoDel another number of queues.
    pub fn set_queue(&mut self, link: LinkId, queue: QueueSpec) -> Result<(), Problem> {
        let old = &self.scenario.network.links[link].queue.discipline;
        let changed = match &mut self.stages.net.links[link] {
            Link::Queued(queued) => queued.set_queue(&queue),
            Link::ClosedForm(closed) => {
                check_discipline(old, &queue.discipline).map(|()| closed.set_queue(self.now, &queue))
            }
        };
        changed.map_err(refusal(link, "queue"))?;
        self.network_changed();
        self.scenario.to_mut().network.links[link].queue = queue;
        Ok(())
    }

    /// Changes the other effects of a link: slots, jitter, copies and a policer, from the next packet on that arrives or
    /// leaves. Packets on the line stay as they were; none overtakes them unless the jitter reorders.
    ///
    /// Refused if the scenario's link has no effect (a jitter of `Sometimes(0.0, ..)` is one without consequences), if a drop-tail
    /// link whose only effect is a jitter without reordering would get another one, and if ACK thinning or reordering would change.
    pub fn set_effects(&mut self, link: LinkId, effects: Effects) -> Result<(), Problem> {
        if !(0.0..=1.0).contains(&effects.duplication) {
            let message = format!("duplication is {}; a probability is 0 to 1", effects.duplication);
            return Err(Problem { place: format!("links[{link}].effects"), message });
        }
        let refused = refusal(link, "effects");
        let old = &self.scenario.network.links[link];
        check_change(old, &LinkSpec { effects, ..old.clone() }).map_err(&refused)?;
        let net = &mut self.stages.net;
        match &mut net.links[link] {
            Link::Queued(state) => state.set_effects(&old.effects, &effects).map_err(refused)?,
            Link::ClosedForm(state) if state.has_jitter() => {
                if (Effects { jitter: None, ..effects }) != Effects::default() {
                    return Err(missing_in_scenario(link, "any effect but jitter"));
                }
                if effects.jitter.is_some_and(|jitter| jitter.reorders) {
                    return Err(refused(ChangeError::Reordering));
                }
                state.set_jitter(
                    self.now,
                    effects.jitter.map(|jitter| jitter.shape),
                    net.rings.as_mut_slice(),
                );
                // What is on its way may come at another time.
                net.wake.iter().for_each(|wake| wake.store(0, Ordering::Relaxed));
            }
            Link::ClosedForm(_) => return Err(missing_in_scenario(link, "any effect")),
        }
        self.network_changed();
        self.scenario.to_mut().network.links[link].effects = effects;
        Ok(())
    }

    /// Stops a flow: it sends no new data from now on.
    pub fn stop_flow(&mut self, flow: usize) {
        self.change_sender(flow, |sender, now| sender.stop(now));
    }

    /// Let a flow's application give data in this way from now on, as if it began with it. What it had given and was not
    /// sent yet is withdrawn, and a message under way never ends. A flow that was stopped, or is complete, stays so.
    /// Refused if such traffic is impossible.
    ///
    /// ```
    /// # use cwnd_experiment::{ExperimentSpec, FlowGroup};
    /// # use cwnd_scenario::{AlgorithmSpec, Rate, Time, Traffic};
    /// # use cwnd_sim::Simulation;
    /// # let cubic = AlgorithmSpec { name: "cubic".into(), ..AlgorithmSpec::default() };
    /// # let setup = ExperimentSpec { rate: Rate(100_000_000), ..ExperimentSpec::default() };
    /// # let scenario = setup.scenario(&[FlowGroup::new(cubic, 1)], 1).expect("a network that can be built");
    /// let mut simulation = Simulation::new(&scenario)?;
    /// simulation.run_until(Time::from_secs(5));
    /// simulation.pause_flow(0);
    /// simulation.run_until(Time::from_secs(10));
    /// assert_eq!(simulation.flow(0).in_flight, 0);
    /// simulation.set_traffic(0, cwnd_scenario::Traffic::Live(Rate(1_000_000))).expect("it is possible");
    /// simulation.run_until(Time::from_secs(15));
    /// assert!(simulation.flow(0).in_flight > 0);
    /// # Ok::<(), cwnd_scenario::EngineError>(())
    /// ```
    pub fn set_traffic(&mut self, flow: usize, traffic: Traffic) -> Result<(), Problem> {
        if let Some(message) = traffic.problem() {
            return Err(Problem { place: format!("flows[{flow}].traffic"), message: message.to_string() });
        }
        if matches!(traffic, Traffic::Pulses { .. }) {
            let message = "bursts without congestion control cannot begin in a flow that has it".to_owned();
            return Err(Problem { place: format!("flows[{flow}].traffic"), message });
        }
        self.change_traffic(flow, Some(&traffic));
        self.scenario.to_mut().flows[flow].traffic = traffic;
        Ok(())
    }

    /// Stops a flow's application until [`Simulation::set_traffic`] replaces it. Data that was provided and not sent yet is
    /// withdrawn.
    pub fn pause_flow(&mut self, flow: usize) {
        self.change_traffic(flow, None);
    }

    fn change_traffic(&mut self, flow: usize, traffic: Option<&Traffic>) {
        let stream = Stream::new(self.scenario.seed, Purpose::Traffic, flow as u64);
        self.change_sender(flow, |sender, now| sender.set_traffic(now, traffic, stream));
        // A flow's first packets may come at another time now.
        self.network_changed();
    }

    fn change_sender(&mut self, flow: usize, change: impl FnOnce(&mut Sender, u64)) {
        let (host, endpoint) = self.stages.places[flow][0];
        if let Endpoint::Sender(sender) = &mut self.stages.hosts[host].endpoints[endpoint] {
            change(sender, self.now);
        }
        self.stages.hosts[host].touch(endpoint);
        self.stages.net.wake[host].store(0, Ordering::Relaxed);
    }

    /// Returns when the next step of a link in closed form comes; `u64::MAX` if there is none.
    pub(super) fn next_step(&self) -> u64 {
        let steps = self.stepped.iter().filter_map(|&link| match &self.stages.net.links[link] {
            Link::ClosedForm(link) => link.steps(),
            Link::Queued(_) => None,
        });
        steps.map(Steps::next_at).min().unwrap_or(u64::MAX)
    }

    /// Applies the steps of links in closed form that come at `until` at the latest, when everything before it has been done. What other
    /// stages know of a link holds for all of its steps.
    pub(super) fn step_links(&mut self, until: u64) {
        let Stages { net, hosts, .. } = &mut self.stages;
        for &link in &self.stepped {
            while let Link::ClosedForm(state) = &net.links[link]
                && state.steps().is_some_and(|steps| steps.next_at() <= until)
            {
                if let Runner::Inlet(node) = self.graph.runners[link]
                    && !fault::is(Fault::StepBeforeArrivals)
                {
                    hosts[self.graph.host_stage(node)].settle(net, until);
                }
                net.links[link].closed_form().step(net.rings.as_mut_slice());
                // What is on its way may come sooner.
                for ring in net.links[link].next().all() {
                    net.note_arrival(ring, net.rings[ring as usize].next_at());
                }
            }
        }
    }

    /// Notes that links, or what comes to them, are other ones from now on.
    fn network_changed(&mut self) {
        self.runner.network_changed(&self.stages.net);
        // What its threads know of latencies does not hold any more.
        self.drop_crew();
    }

    fn change(&mut self, link: LinkId, spec: LinkSpec, change: Change) -> Result<(), Problem> {
        crate::check::check_link(&spec, &format_args!("links[{link}]"))?;
        let old = std::mem::replace(&mut self.scenario.to_mut().network.links[link], spec);
        let before = self.stages.net.links[link].clone();
        if !matches!(change, Change::Loss(..)) {
            let mut trial = self.stages.net.links[link].clone();
            trial.try_line(self.now, &change);
            self.stages.net.links[link] = trial;
            self.graph.refresh(&self.stages.net, self.smallest_packet);
            self.stages.net.links[link] = before;
            if let Some(cycle) = graph::instant_cycle(&self.graph.waits) {
                let problem = setup::instant_cycle_problem(&self.scenario, &self.graph, &cycle);
                self.scenario.to_mut().network.links[link] = old;
                self.graph.refresh(&self.stages.net, self.smallest_packet);
                return Err(problem);
            }
        }
        self.network_changed();
        self.stages.net.links[link].change(self.now, change, self.stages.net.rings.as_mut_slice());
        // The hosts that advance together may be others now.
        for &stage in self.graph.packed_waits.leaders() {
            if (stage as usize) < self.stages.hosts.len() {
                self.frontiers.set(stage as usize, self.now, self.now);
            }
        }
        // What a link knew of its next departure may not hold any more.
        for index in 0..self.graph.links.len() {
            let stage = self.stages.hosts.len() + index;
            let done = self.frontiers.done(stage);
            let quiet = self.link_quiet_until(index, done);
            self.frontiers.set(stage, done, quiet);
        }
        // What is on its way may come at another time.
        self.stages.net.wake.iter().for_each(|wake| wake.store(0, Ordering::Relaxed));
        Ok(())
    }
}

/// Returns what makes a problem of a change of this part of a link.
fn refusal(link: LinkId, part: &'static str) -> impl Fn(ChangeError) -> Problem {
    move |error| Problem { place: format!("links[{link}].{part}"), message: error.to_string() }
}

fn missing_in_scenario(link: LinkId, what: &str) -> Problem {
    Problem {
        place: format!("links[{link}]"),
        message: format!(
            "it began without {what} and cannot get one during a run: give it to the scenario's link"
        ),
    }
}
