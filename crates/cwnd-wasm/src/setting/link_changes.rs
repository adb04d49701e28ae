//! What a changed setting does to the links of a run.

use super::{LineProblem, Setting};
use cwnd_link::check_change;
use cwnd_scenario::{LinkId, LinkSpec, QueueSpec};

/// How the builders of networks end the name of a link in reverse.
const REVERSE: &str = "-reverse";

impl Setting {
    /// Changes a setting during a run with these links, and returns the links that it changes, as they are from now on.
    ///
    /// # Errors
    /// The value is invalid, the setting cannot change during a run, or a link refuses. The setting is then as before.
    pub(crate) fn change_links(
        &mut self,
        key: &str,
        value: &str,
        links: &[LinkSpec],
    ) -> Result<Vec<(LinkId, LinkSpec)>, Vec<LineProblem>> {
        let mut changed = self.clone();
        let described = changed.changed(key, value)?.network;
        let mut all = Vec::new();
        // Access links follow from the first rate and stay. A schedule of greater rates has wider ones by default, so that the page copies a run with
        // the rate of its own.
        for (id, (old, new)) in
            links.iter().zip(&described.links).enumerate().filter(|(_, (old, _))| is_of_path(old))
        {
            let queue = changed.queue_after(key, old, new);
            // Settings give the steps of a schedule from the rate and the delay at first, and a run keeps the steps that it began with.
            let new = LinkSpec { queue, schedule: old.schedule.clone(), ..new.clone() };
            check_change(old, &new).map_err(|error| {
                vec![LineProblem { line: 0, key: key.to_owned(), message: error.to_string() }]
            })?;
            if *old != new {
                all.push((id, new));
            }
        }
        *self = changed;
        Ok(all)
    }

    /// Returns the queue of a link after this setting has changed; `described` is the link that all settings describe now.
    ///
    /// A buffer in BDPs is computed again only where the buffer is what changed: another rate or round-trip time leaves the queue that is there as it is, as a
    /// schedule does.
    fn queue_after(&self, key: &str, old: &LinkSpec, described: &LinkSpec) -> QueueSpec {
        let new = described.queue;
        let is_reverse = old.name.ends_with(REVERSE);
        match key {
            "queue" => QueueSpec { discipline: new.discipline, ..old.queue },
            // A buffer is that of both directions, unless the reverse has its own.
            "buffer" if !is_reverse || self.spec.reverse.buffer.is_none() => new,
            "reverse-buffer" if is_reverse => new,
            _ => old.queue,
        }
    }
}

/// Whether settings that can change are those of this link.
fn is_of_path(link: &LinkSpec) -> bool {
    ["bottleneck", "hop-"].iter().any(|of_path| link.name.starts_with(of_path))
}
