//! What is done with each random scenario: both simulators run it, and every field is compared.

mod watched;

use crate::generator::{self, Action, Dice, factory};
use crate::naive::Naive;
use crate::verdict::{Coverage, same, same_outcome, same_states};
use cwnd_scenario::{EngineError, Helpers, Outcome, Scenario, Time};
use cwnd_sim::{FlowState, Options, Shortcuts, Simulation, run_with_options};
use std::panic::{AssertUnwindSafe, catch_unwind};
use watched::Counter;

/// Number of events after which a scenario ends; one in [`LONG_ONES`] ends after ten times that number.
const EVENTS: u64 = 20_000;
const LONG_ONES: u64 = 40;
/// What distinguishes the random numbers of sampled runs.
const SAMPLED: u64 = 0x5a3b_1e00;
/// Numbers of threads.
const THREADS: [usize; 3] = [2, 4, 8];

/// What a seed covers, or how the simulators differ.
pub fn check(seed: u64) -> Result<Coverage, String> {
    let checked = catch_unwind(AssertUnwindSafe(|| check_scenario(seed)));
    let text = match checked {
        Ok(Ok(coverage)) => return Ok(coverage),
        Ok(Err(text)) => text,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("for an unknown reason");
            format!("\n  it panics: {text}")
        }
    };
    let again = "cargo test -p cwnd-sim --test differential -- --nocapture";
    Err(format!("\nseed {seed} (to run it alone: CWND_SEED={seed} {again}){text}\n"))
}

fn check_scenario(seed: u64) -> Result<Coverage, String> {
    let scenario = generator::scenario(seed);
    let mut dice = Dice::new(!seed);
    let mut coverage = Coverage::default();
    let naive = Naive::new(&scenario, &factory).map_err(|error| format!("\n  {error}"))?;
    let engine = Simulation::with_factory(&scenario, &factory);
    let (naive, engine) = match (naive, engine) {
        (Some(naive), Ok(engine)) => (naive, engine),
        (None, Err(EngineError::Refused(problems))) if problems[0].message.contains("in no time") => {
            coverage.note("refused: a circle that takes no time", true);
            return Ok(coverage);
        }
        (naive, engine) => {
            let naive = if naive.is_some() { "accepts" } else { "refuses" };
            let engine = engine.err().map_or("accepts it".to_owned(), |error| format!("says: {error}"));
            return Err(format!("\n  the naive simulator {naive} it, the engine {engine}"));
        }
    };
    let events = if seed % LONG_ONES == LONG_ONES - 1 { 10 * EVENTS } else { EVENTS };

    let plain = Record::plain(naive, &scenario, events, &mut coverage);
    plain.check(&scenario, engine).or_else(|text| plain.explain(&scenario, text))?;
    check_samples(&scenario, plain.end, &mut Dice::new(seed ^ SAMPLED))?;
    if !dice.one_in(4) {
        let naive = start_naive(&scenario);
        let changed = Record::changed(naive, &scenario, plain.events, events, &mut dice, &mut coverage);
        let engine = Simulation::with_factory(&scenario, &factory).map_err(|error| format!("\n  {error}"))?;
        changed.check(&scenario, engine).or_else(|text| changed.explain(&scenario, text))?;
    }
    Ok(coverage)
}

/// Compares runs that halt for samples: with all shortcuts and without any.
fn check_samples(scenario: &Scenario, end: Time, dice: &mut Dice) -> Result<(), String> {
    let every = Time(dice.logarithmic(end.0 / 300, end.0).max(1));
    let warm_up = if dice.one_in(4) { Time(dice.below(end.0.max(1))) } else { Time::ZERO };
    let scenario =
        Scenario { sample: Some(every), duration: Time(end.0.max(1)), warm_up, ..scenario.clone() };
    let run = |shortcuts| {
        let options = Options { shortcuts, ..Options::default() };
        run_with_options(&scenario, &factory, &options).map_err(|error| format!("\n  sampled: {error}"))
    };
    let (mut general, mut fast) = (run(Shortcuts::NONE)?, run(Shortcuts::ALL)?);
    let traces = (general.trace.take(), fast.trace.take());
    let context =
        |text| format!("\n  sampled every {} ns from {} ns on, runs differ:{text}", every.0, warm_up.0);
    same_outcome(&general, &fast).map_err(context)?;
    let (Some(general), Some(fast)) = traces else {
        return Err("\n  a sampled run has no trace".to_owned());
    };
    for (i, time) in general.times.iter().enumerate() {
        let (expected, found) = (&general.queue_lengths[i], &fast.queue_lengths[i]);
        same(&format!("queues at {} ns", time.0), expected, found).map_err(context)?;
    }
    for (expected, found) in general.samples.iter().zip(&fast.samples) {
        same("a sample", expected, found).map_err(context)?;
    }
    same("the number of samples", &general.samples.len(), &fast.samples.len()).map_err(context)
}

/// The naive simulator of a scenario that it does not refuse.
fn start_naive(scenario: &Scenario) -> Naive {
    Naive::new(scenario, &factory).ok().flatten().expect("it was not refused before")
}

/// How the naive simulator ran a scenario.
struct Record {
    steps: Vec<Step>,
    end: Time,
    outcome: Outcome,
    /// How many events it took.
    events: u64,
}

/// A change, and what was seen just before it.
struct Step {
    at: Time,
    action: Action,
    accepted: bool,
    outcome: Outcome,
    flows: Vec<FlowState>,
    queues: Vec<usize>,
}

impl Record {
    fn plain(mut naive: Naive, scenario: &Scenario, events: u64, coverage: &mut Coverage) -> Record {
        naive.run_within(scenario.duration, events);
        let (end, outcome) = (naive.now(), naive.outcome());
        coverage.note_run(scenario, &outcome);
        coverage.note("more than 100,000 events", naive.handled() > 100_000);
        coverage.note("packet of the handshake dropped or lost", naive.handshakes_lost() > 0);
        coverage.events += naive.handled();
        Record { steps: Vec::new(), end, outcome, events: naive.handled() }
    }

    /// Runs some changes among the first events, and then continues to the end of the scenario or of the events.
    fn changed(
        mut naive: Naive,
        scenario: &Scenario,
        among: u64,
        events: u64,
        dice: &mut Dice,
        coverage: &mut Coverage,
    ) -> Record {
        let mut scenario = scenario.clone();
        let mut numbers: Vec<u64> = (0..dice.between(1, 12)).map(|_| dice.below(among.max(1))).collect();
        numbers.sort_unstable();
        let mut steps = Vec::new();
        for number in numbers {
            // It stops just before an event.
            if naive.run_within(scenario.duration, number) {
                break;
            }
            if dice.one_in(2) {
                let room = scenario.duration.0 - naive.now().0;
                naive.run_within(Time(naive.now().0 + dice.logarithmic(1, room.max(2)) - 1), events);
            }
            coverage.note("change at the very time of an event", naive.next_at() == Some(naive.now()));
            // Sometimes several at once.
            loop {
                let queues = queues(&naive, &scenario);
                let action = generator::draw_action(dice, &scenario, &queues, naive.next_link());
                steps.push(Step::take(&mut naive, &mut scenario, action, queues, coverage));
                if !dice.one_in(4) {
                    break;
                }
            }
        }
        naive.run_within(scenario.duration, events);
        coverage.events += naive.handled();
        let (end, outcome) = (naive.now(), naive.outcome());
        Record { steps, end, outcome, events: naive.handled() }
    }

    /// Run it with these changes.
    fn with_changes(scenario: &Scenario, changes: &[(Time, Action)], events: u64) -> Record {
        let mut naive = start_naive(scenario);
        let mut changed = scenario.clone();
        let mut steps = Vec::new();
        for (at, action) in changes {
            if !naive.run_within(*at, events) {
                break;
            }
            let queues = queues(&naive, scenario);
            steps.push(Step::take(
                &mut naive,
                &mut changed,
                action.clone(),
                queues,
                &mut Coverage::default(),
            ));
        }
        naive.run_within(scenario.duration, events);
        let (end, outcome) = (naive.now(), naive.outcome());
        Record { steps, end, outcome, events: naive.handled() }
    }

    fn changes(&self) -> Vec<(Time, Action)> {
        self.steps.iter().map(|step| (step.at, step.action.clone())).collect()
    }

    /// The engine failed, and said this: what it says with as few of the changes and as few events as it
    /// still fails with.
    fn explain(&self, scenario: &Scenario, text: String) -> Result<(), String> {
        let mut shortest = (self.changes(), self.events, text);
        let fails = |changes: &[(Time, Action)], events: u64| {
            let check = || {
                let engine =
                    Simulation::with_factory(scenario, &factory).map_err(|error| error.to_string())?;
                Record::with_changes(scenario, changes, events).check(scenario, engine)
            };
            // A panic is notified of as it came first.
            catch_unwind(AssertUnwindSafe(check)).ok()?.err()
        };
        let mut i = 0;
        while i < shortest.0.len() {
            let mut fewer = shortest.0.clone();
            fewer.remove(i);
            match fails(&fewer, shortest.1) {
                Some(text) => shortest = (fewer, shortest.1, text),
                None => i += 1,
            }
        }
        let mut passes = 0;
        while passes + 1 < shortest.1 {
            let events = (passes + shortest.1) / 2;
            match fails(&shortest.0, events) {
                Some(text) => shortest = (shortest.0, events, text),
                None => passes = events,
            }
        }
        let (changes, events, text) = shortest;
        let changes = changes.iter().map(|(at, action)| format!("\n  {} ns: {action:?}", at.0));
        Err(format!("\n  after {events} events, and these changes:{}{text}", changes.collect::<String>()))
    }

    /// Hold the engine against it.
    fn check(&self, scenario: &Scenario, engine: Simulation) -> Result<(), String> {
        let mut dice = Dice::new(scenario.seed);
        let outcome = self.replay(scenario, engine, true, &mut |_, _| {})?;
        same_outcome(&self.outcome, &without_bytes_left(&outcome))?;
        outcome.check_conservation()?;
        let eager = scenario.seed.is_multiple_of(2);
        let general = Options { shortcuts: Shortcuts::NONE, eager, ..Options::default() };
        self.check_again(scenario, &general, &outcome, "without the fast path")?;
        // One shortcut alone is left out, so that none hides behind another.
        let shortcuts =
            Shortcuts::without(Shortcuts::NAMES[scenario.seed as usize % Shortcuts::NAMES.len()])?;
        self.check_again(
            scenario,
            &Options { shortcuts, ..Options::default() },
            &outcome,
            &format!("with {shortcuts:?}"),
        )?;
        // On several threads, whatever they do at once.
        let threads = THREADS[scenario.seed as usize % THREADS.len()];
        let options = Options {
            helpers: Helpers::uncounted(threads - 1),
            eager: true,
            shortcuts: if scenario.seed % 5 == 4 { Shortcuts::NONE } else { Shortcuts::ALL },
            ..Options::default()
        };
        self.check_again(scenario, &options, &outcome, &format!("on {threads} threads"))?;
        let mut counter = Counter::draw(scenario, &mut dice);
        self.check_split(scenario, &mut counter, &mut dice, &outcome)?;
        self.check_split(scenario, &mut Counter::new(Vec::new()), &mut dice, &outcome)
    }

    /// Compares a second run of the engine, with these options.
    fn check_again(
        &self,
        scenario: &Scenario,
        options: &Options,
        outcome: &Outcome,
        what: &str,
    ) -> Result<(), String> {
        let again =
            Simulation::with_options(scenario, &factory, options).map_err(|error| error.to_string())?;
        let again = self.replay(scenario, again, options.shortcuts == Shortcuts::NONE, &mut |_, _| {})?;
        same_outcome(outcome, &again).map_err(|text| format!("\n  a run {what} differs:{text}"))
    }

    /// Compares a run that is split at random times while packets are counted.
    fn check_split(
        &self,
        scenario: &Scenario,
        counter: &mut Counter,
        dice: &mut Dice,
        outcome: &Outcome,
    ) -> Result<(), String> {
        let eager = scenario.seed.is_multiple_of(3);
        let options = Options { points: counter.points.clone(), eager, ..Options::default() };
        let split = Simulation::with_options(scenario, &factory, &options);
        let split = split.map_err(|error| format!("\n  with observed links: {error}"))?;
        let split = self.replay(scenario, split, false, &mut |engine, to| {
            let from = engine.now().0;
            let mut times: Vec<u64> =
                (0..dice.below(12)).map(|_| from + dice.below((to.0 - from).max(1))).collect();
            times.sort_unstable();
            times.into_iter().chain([to.0]).for_each(|time| engine.run_observed(Time(time), counter));
            if to == self.end {
                engine.end_observation(counter);
            }
        })?;
        let observed = format!("(observed at {:?})", counter.points);
        same_outcome(outcome, &split)
            .map_err(|text| format!("\n  a run that is split differs {observed}:{text}"))?;
        counter.check(&split)
    }

    /// Let the engine do the same. `before` is called before it advances to a time.
    fn replay(
        &self,
        scenario: &Scenario,
        mut engine: Simulation,
        look: bool,
        before: &mut dyn FnMut(&mut Simulation, Time),
    ) -> Result<Outcome, String> {
        for (i, step) in self.steps.iter().enumerate() {
            before(&mut engine, step.at);
            engine.run_until(step.at);
            let context =
                |text| format!("\n  before change {} ({:?} at {} ns):{text}", i + 1, step.action, step.at.0);
            if look {
                step.compare(scenario, &engine).map_err(context)?;
            }
            let refusal = act(&mut engine, &step.action).err();
            if refusal.is_some() == step.accepted {
                let verdict = if step.accepted { "accepts" } else { "refuses" };
                let text = format!("\n  the naive simulator {verdict} it, the engine: {refusal:?}");
                return Err(context(text));
            }
        }
        before(&mut engine, self.end);
        engine.run_until(self.end);
        let outcome = engine.outcome();
        engine.check_deliveries(&outcome)?;
        Ok(outcome)
    }
}

impl Step {
    /// Look, and change something.
    fn take(
        naive: &mut Naive,
        scenario: &mut Scenario,
        action: Action,
        queues: Vec<usize>,
        coverage: &mut Coverage,
    ) -> Step {
        let (at, outcome) = (naive.now(), naive.outcome());
        let flows = (0..scenario.flows.len()).map(|flow| naive.flow(flow)).collect();
        coverage.note("lost packets still on the line at a look", naive.lost_on_lines() > 0);
        let (waiting, on_link) = action.link().map_or((0, 0), |at| (queues[at], outcome.links[at].in_flight));
        coverage.note_change(&action, scenario, waiting, on_link);
        let links = &mut scenario.network.links;
        let accepted = match action.clone() {
            Action::Look => true,
            Action::Rate(link, rate) => naive.set_rate(link, rate),
            Action::Delay(link, delay) => naive.set_delay(link, delay),
            Action::Loss(link, loss) => {
                naive.set_loss(link, loss);
                true
            }
            Action::Queue(link, queue) => naive.set_queue(link, queue),
            Action::Effects(link, effects) => naive.set_effects(link, effects),
            Action::Stop(flow) => {
                naive.stop_flow(flow);
                true
            }
            Action::Traffic(flow, traffic) => {
                naive.set_traffic(flow, traffic);
                true
            }
        };
        coverage.note("change refused", !accepted);
        match action.clone() {
            Action::Rate(link, rate) if accepted => links[link].rate = rate,
            Action::Delay(link, delay) if accepted => links[link].delay = delay,
            Action::Loss(link, loss) => links[link].loss = loss,
            Action::Queue(link, queue) if accepted => links[link].queue = queue,
            Action::Effects(link, effects) if accepted => links[link].effects = effects,
            _ => {}
        }
        Step { at, action, accepted, outcome, flows, queues }
    }

    fn compare(&self, scenario: &Scenario, engine: &Simulation) -> Result<(), String> {
        let flows: Vec<FlowState> = (0..scenario.flows.len()).map(|flow| engine.flow(flow)).collect();
        let queues: Vec<usize> =
            (0..scenario.network.links.len()).map(|link| engine.queue_length(link)).collect();
        same_outcome(&self.outcome, &without_bytes_left(&engine.outcome()))?;
        same_states(&self.flows, &flows)?;
        same("queue lengths", &self.queues, &queues)
    }
}

fn queues(naive: &Naive, scenario: &Scenario) -> Vec<usize> {
    (0..scenario.network.links.len()).map(|link| naive.queue_length(link)).collect()
}

/// What the naive simulator counts: the engine alone tells what has left each link.
fn without_bytes_left(outcome: &Outcome) -> Outcome {
    let mut outcome = outcome.clone();
    outcome.flows.iter_mut().for_each(|flow| flow.bytes_left.clear());
    outcome
}

/// Make a change.
fn act(engine: &mut Simulation, action: &Action) -> Result<(), String> {
    let result = match action.clone() {
        Action::Look => Ok(()),
        Action::Rate(link, rate) => engine.set_rate(link, rate),
        Action::Delay(link, delay) => engine.set_delay(link, delay),
        Action::Loss(link, loss) => engine.set_loss(link, loss),
        Action::Queue(link, queue) => engine.set_queue(link, queue),
        Action::Effects(link, effects) => engine.set_effects(link, effects),
        Action::Stop(flow) => {
            engine.stop_flow(flow);
            Ok(())
        }
        Action::Traffic(flow, None) => {
            engine.pause_flow(flow);
            Ok(())
        }
        Action::Traffic(flow, Some(traffic)) => engine.set_traffic(flow, traffic),
    };
    result.map_err(|problem| problem.to_string())
}
