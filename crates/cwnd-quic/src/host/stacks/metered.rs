//! Controllers that report their events and decisions to a meter. Compiled against each implementation, as `peer.rs` is: `super` has the
//! trait's methods, in which they differ.

use super::peer::Controllers;
use super::proto::congestion::{Controller, ControllerFactory};
use crate::host::end::Plan;
use crate::host::meter::Meter;
use crate::host::seeds::nanoseconds;
use cwnd_scenario::AlgorithmSpec;
use cwnd_sim::Factory;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// Returns the controllers of a flow, with its meter: the implementation's own, or an algorithm of `factory`.
///
/// # Errors
/// There is no algorithm of this name.
pub fn controllers(
    algorithm: &AlgorithmSpec,
    plan: &Plan,
    factory: Factory<'_>,
) -> Result<Controllers, String> {
    let own = algorithm.name.strip_suffix(super::OWN_SUFFIX);
    let inner: Controllers = match own {
        Some(name) => super::own(name).ok_or_else(|| format!("there is no `{}`", algorithm.name))?,
        None => Arc::new(
            (plan.controllers(factory(algorithm)?).counting_episodes(plan.meter.episodes()))
                .noting_illegal_values(Arc::clone(plan.meter.illegal_value())),
        ),
    };
    Ok(Arc::new(MeteredFactory { inner, meter: plan.meter.clone(), counts_episodes: own.is_none() }))
}

struct MeteredFactory {
    inner: Controllers,
    meter: Meter,
    counts_episodes: bool,
}

impl ControllerFactory for MeteredFactory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = Arc::clone(&self.inner).build(now, current_mtu);
        let metered = Metered { inner, meter: self.meter.clone(), counts_episodes: self.counts_episodes };
        metered.begin(now);
        metered.metrics();
        Box::new(metered)
    }
}

/// A controller that reports its events and decisions to a meter.
pub struct Metered {
    pub inner: Box<dyn Controller>,
    pub meter: Meter,
    /// Whether the algorithm counts its congestion episodes itself.
    pub counts_episodes: bool,
}

impl Metered {
    /// Begins an event. The window so far is the one that the implementation asked for last.
    pub fn begin(&self, now: Instant) {
        self.meter.begin(nanoseconds(now));
    }

    /// Notes a congestion event whose newest packet was sent at `sent`.
    pub fn note_congestion(&self, now: Instant, sent: Instant, persistent: bool, lost_bytes: u64) {
        self.begin(now);
        self.meter.on_congestion(lost_bytes, persistent);
        if !self.counts_episodes {
            self.meter.count_episode(nanoseconds(now), nanoseconds(sent), persistent);
        }
    }
}

impl fmt::Debug for Metered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metered")
    }
}
