//! A run: made from a setting, run piece by piece, sampled, and changed during it.

use crate::json::Json;
use crate::setting::{Change, LineProblem, Setting, flow_index};
use cwnd_scenario::{EngineError, LinkSpec, Problem, QueueLimit, Rate, Scenario, Time};
use cwnd_sim::{Factory, Simulation};

/// A run with its samples.
///
/// ```
/// use cwnd_wasm::{Bench, Setting};
///
/// let text = "rate=10 Mbit/s\nrtt=40 ms\nduration=20 s\nflow=cubic\n@10 s rate=1 Mbit/s";
/// let setting = Setting::parse(text, None).expect("valid lines");
/// let mut bench = Bench::new(setting).expect("a network that can be built");
/// bench.run_until(20.0, 0.1).expect("the change is possible");
/// assert_eq!(bench.rows().len() % bench.row_length(), 0);
/// ```
pub struct Bench {
    simulation: Simulation<'static>,
    /// The setting with the changes that have been made; none for a run of a study, which does not change.
    setting: Option<Setting>,
    scenario: Scenario,
    /// How many of the setting's changes have been made.
    changes_made: usize,
    /// When the next sample is taken.
    next_sample: Time,
    /// What was sampled since the last call of [`Bench::run_until`]: rows of [`Bench::row_length`] numbers.
    rows: Vec<f64>,
    /// The hash of all samples.
    hash: Fnv,
}

/// Numbers at the beginning of a row: time in seconds; packets that wait at the bottleneck; packets that it dropped, lost and marked
/// so far.
pub const OF_LINK: usize = 5;
/// Numbers of a flow before its observables: window and threshold in segments; smoothed RTT in seconds; payload bytes acknowledged;
/// segments in flight; packets sent, and retransmissions among them; state of loss recovery as an index into `STATES`.
pub const OF_FLOW: usize = 8;
/// The states of loss recovery.
const STATES: [&str; 5] = ["open", "disorder", "cwr", "recovery", "loss"];

impl Bench {
    /// Creates a run at its beginning.
    ///
    /// # Errors
    /// Everything that is impossible.
    pub fn new(setting: Setting) -> Result<Bench, Vec<LineProblem>> {
        Bench::with_factory(setting, &cwnd_sim::registered)
    }

    /// Creates a run at its beginning with algorithms of this factory.
    ///
    /// # Errors
    /// Everything that is impossible.
    pub fn with_factory(setting: Setting, factory: Factory<'_>) -> Result<Bench, Vec<LineProblem>> {
        let scenario = setting.scenario()?;
        setting.check_changes(&scenario)?;
        Bench::of_scenario(scenario, Some(setting), factory)
    }

    /// Creates a run of a scenario that does not change.
    ///
    /// # Errors
    /// Everything that is impossible.
    pub fn unchanging(scenario: Scenario) -> Result<Bench, Vec<LineProblem>> {
        Bench::of_scenario(scenario, None, &cwnd_sim::registered)
    }

    fn of_scenario(
        scenario: Scenario,
        setting: Option<Setting>,
        factory: Factory<'_>,
    ) -> Result<Bench, Vec<LineProblem>> {
        let simulation = Simulation::with_factory(&scenario, factory).map_err(engine_problems)?;
        Ok(Bench {
            simulation,
            setting,
            scenario,
            changes_made: 0,
            next_sample: Time::ZERO,
            rows: Vec::new(),
            hash: Fnv::default(),
        })
    }

    /// Runs until a time or the end of the run, takes a sample at each multiple of `every` before it, and makes the setting's changes.
    /// Both times are seconds.
    ///
    /// # Errors
    /// A change is impossible; the run has come to its time. Or an algorithm has set a value that no window may have.
    pub fn run_until(&mut self, until: f64, every: f64) -> Result<(), Vec<LineProblem>> {
        self.rows.clear();
        let until = seconds(until).min(self.scenario.duration);
        let every = seconds(every).max(Time(1000));
        loop {
            let change = self.planned().get(self.changes_made).filter(|change| change.at < until).cloned();
            let change_at = change.as_ref().map_or(until, |change| change.at);
            while self.next_sample < change_at {
                self.simulation.run_until(self.next_sample);
                self.sample();
                self.next_sample = Time(self.next_sample.0.saturating_add(every.0));
            }
            self.simulation.run_until(change_at);
            if let Some(error) = self.simulation.failure() {
                return Err(engine_problems(error));
            }
            let Some(change) = change else { return Ok(()) };
            self.changes_made += 1;
            self.apply(&change).map_err(|problems| change.place(problems))?;
        }
    }

    /// Changes a setting now: a line such as `rate=10 Mbit/s`, or `stop=2`.
    ///
    /// # Errors
    /// See [`Setting::changed`]; or a link refuses. The run is as it was, unless packets could go round in no time after one of several links has changed.
    pub fn change(&mut self, line: &str) -> Result<(), Vec<LineProblem>> {
        let text = format!("@0 s {line}");
        let change = Setting::parse(&text, None)?.changes.remove(0);
        self.apply(&change)
    }

    /// Returns what was sampled since the last call of [`Bench::run_until`].
    pub fn rows(&self) -> &[f64] {
        &self.rows
    }

    /// Returns how many numbers a sample has.
    pub fn row_length(&self) -> usize {
        self.row_length_of(self.scenario.flows.len())
    }

    /// Returns how many numbers a sample has up to the end of this many flows, which are its first numbers.
    pub fn row_length_of(&self, flows: usize) -> usize {
        OF_LINK + (0..flows).map(|flow| OF_FLOW + self.simulation.observables(flow).len()).sum::<usize>()
    }

    /// Returns the time to which the run has come, seconds.
    pub fn now(&self) -> f64 {
        self.simulation.now().as_secs_f64()
    }

    /// Returns how many data packets have come to the bottleneck's queue so far.
    pub fn packets(&self) -> f64 {
        self.simulation.link_totals(self.scenario.network.bottleneck).data_arrived as f64
    }

    /// Returns the hash of all samples and of the outcome so far. Equal hashes of two builds mean that every count and every number
    /// is the same to the bit.
    pub fn digest(&self) -> u64 {
        let mut hash = self.hash;
        // Debug writes the shortest text from which a number is read back, so that no bit is lost.
        hash.add(format!("{:?}", self.simulation.outcome()).as_bytes());
        hash.0
    }

    /// Describes the run as JSON: duration, seed, the bottleneck in numbers, and of each flow its algorithm, its times and the names of
    /// its observables.
    pub fn describe(&self) -> String {
        self.describe_first(self.scenario.flows.len())
    }

    /// Describes the run with its first flows alone, for rows of [`Bench::row_length_of`] numbers.
    pub fn describe_first(&self, flows: usize) -> String {
        let names = |flow| self.simulation.observables(flow).iter().map(|one| one.name).collect();
        describe(&self.scenario, flows, &names)
    }

    fn planned(&self) -> &[Change] {
        self.setting.as_ref().map_or(&[], |setting| &setting.changes)
    }

    fn apply(&mut self, change: &Change) -> Result<(), Vec<LineProblem>> {
        if change.key == "stop" {
            let flow =
                flow_index(&change.value, self.scenario.flows.len()).map_err(|problem| vec![problem])?;
            self.simulation.stop_flow(flow);
            return Ok(());
        }
        let Some(setting) = &mut self.setting else {
            let message = "a run of a study does not change".to_owned();
            return Err(vec![LineProblem { line: 0, key: change.key.clone(), message }]);
        };
        // A change that the simulator refuses is not part of the next one.
        let mut changed = setting.clone();
        let links = changed.change_links(&change.key, &change.value, &self.scenario.network.links)?;
        // The simulator names a link by its number, which no setting does.
        let failed = |problem: Problem| {
            vec![LineProblem { line: 0, key: change.key.clone(), message: problem.message }]
        };
        for (id, new) in links {
            let old = &self.scenario.network.links[id];
            let simulation = &mut self.simulation;
            if old.rate != new.rate {
                simulation.set_rate(id, new.rate).map_err(failed)?;
            }
            if old.delay != new.delay {
                simulation.set_delay(id, new.delay).map_err(failed)?;
            }
            if old.loss != new.loss {
                simulation.set_loss(id, new.loss.clone()).map_err(failed)?;
            }
            if old.queue != new.queue {
                simulation.set_queue(id, new.queue).map_err(failed)?;
            }
            self.scenario.network.links[id] = new;
        }
        *setting = changed;
        Ok(())
    }

    fn sample(&mut self) {
        let begin = self.rows.len();
        let bottleneck = self.scenario.network.bottleneck;
        let link = self.simulation.link_totals(bottleneck);
        self.rows.extend([
            self.simulation.now().as_secs_f64(),
            self.simulation.queue_length(bottleneck) as f64,
            link.dropped as f64,
            link.lost as f64,
            link.marked as f64,
        ]);
        for flow in 0..self.scenario.flows.len() {
            let state = self.simulation.flow(flow);
            self.rows.extend([
                state.cwnd,
                state.ssthresh,
                state.srtt.map_or(f64::NAN, Time::as_secs_f64),
                state.delivered_bytes as f64,
                state.in_flight as f64,
                state.sent.0 as f64,
                state.sent.1 as f64,
                STATES.iter().position(|name| *name == state.state.name()).map_or(f64::NAN, |i| i as f64),
            ]);
            let observables = self.rows.len();
            self.rows.resize(observables + self.simulation.observables(flow).len(), f64::NAN);
            self.simulation.observe(flow, &mut self.rows[observables..]);
        }
        for value in &self.rows[begin..] {
            // The bits of NaN differ between machines.
            let bits = if value.is_nan() { u64::MAX } else { value.to_bits() };
            self.hash.add(&bits.to_le_bytes());
        }
    }
}

/// Describes a run of any engine as the page reads it ([`Bench::describe`]), with its first `flows` flows; `observables` are the names of a flow's values after
/// [`OF_FLOW`] numbers.
pub fn describe(
    scenario: &Scenario,
    flows: usize,
    observables: &dyn Fn(usize) -> Vec<&'static str>,
) -> String {
    let link = &scenario.network.links[scenario.network.bottleneck];
    let packet = scenario.stack.full_packet();
    let flows: Vec<(usize, Vec<&str>)> = (0..flows).map(|flow| (flow, observables(flow))).collect();
    let row_length = OF_LINK + flows.iter().map(|(_, names)| OF_FLOW + names.len()).sum::<usize>();
    let mut json = Json::default();
    json.object(|json| {
        json.number("duration", scenario.duration.as_secs_f64());
        json.number("rowLength", row_length as f64);
        json.number("ofLink", OF_LINK as f64);
        json.number("ofFlow", OF_FLOW as f64);
        json.number("packetBytes", packet.into());
        json.number("rate", if link.rate == Rate::UNLIMITED { f64::NAN } else { link.rate.0 as f64 });
        json.number("limit", limit_packets(link, packet));
        json.text("queue", &link.queue.discipline.to_string());
        json.member_list("states", &STATES, |json, name| json.item(name));
        json.member_list("flows", &flows, |json, (flow, names)| {
            let spec = &scenario.flows[*flow];
            json.object(|json| {
                json.text("algorithm", &spec.algorithm.to_string());
                json.text("name", &spec.algorithm.name);
                json.number("start", scenario.start_of(*flow).as_secs_f64());
                json.number("stop", spec.stop.map_or(f64::NAN, Time::as_secs_f64));
                json.number("baseRtt", scenario.base_rtt(*flow).as_secs_f64());
                json.member_list("observables", names, |json, name| json.item(name));
            });
        });
    });
    json.into_text()
}

/// Returns how many full packets a queue holds; infinite if there is no limit.
fn limit_packets(link: &LinkSpec, packet: u32) -> f64 {
    match link.queue.limit {
        QueueLimit::Packets(packets) => packets.into(),
        QueueLimit::Bytes(bytes) => (bytes / u64::from(packet.max(1))) as f64,
        QueueLimit::Unlimited => f64::INFINITY,
    }
}

fn engine_problems(error: EngineError) -> Vec<LineProblem> {
    match error {
        EngineError::Refused(problems) => problems.iter().map(LineProblem::anywhere).collect(),
        EngineError::Failed(message) => vec![LineProblem { line: 0, key: "run".to_owned(), message }],
    }
}

/// Returns a time; negative times and NaN are zero.
fn seconds(seconds: f64) -> Time {
    Time((seconds * 1e9).round() as u64)
}

/// The hash FNV-1a with 64 bits.
#[derive(Clone, Copy)]
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
