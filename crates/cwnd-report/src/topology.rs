//! The picture of a network: nodes, links with what they do, and the courses of flows.
//!
//! Nodes stand in layers from left to right as forward data passes them. Hosts that hang equally on the same node are one
//! box. Each way that flows of an algorithm take has a colour; the bottleneck is drawn thick.

mod draw;
mod fold;
mod label;
mod layout;
mod place;

use cwnd_scenario::Scenario;

/// The picture of a scenario's network as SVG, under a title.
pub fn svg(scenario: &Scenario, title: &str) -> String {
    let folded = fold::fold(scenario);
    let layout = layout::layout(&folded);
    let labels: Vec<_> = (0..folded.wires.len()).map(|wire| label::label(scenario, &folded, wire)).collect();
    let place = place::Place::new(&folded, &layout, &labels);
    draw::draw(&folded, &labels, place, title)
}

#[cfg(test)]
mod tests;
