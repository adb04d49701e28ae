//! Actions: how a number becomes a rate or a window.

use crate::GymError;
use cwnd_scenario::AlgorithmSpec;
use serde::{Deserialize, Serialize};

/// What an action means.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Action {
    /// A change of the sending rate: it is multiplied by `1 + scale a`, or for a negative action divided by `1 - scale a`. Aurora
    /// (Jay and others, ICML 2019), and `apply_rate_delta` of PCC-RL's `network_sim.py`.
    Rate {
        /// How much an action of 1 changes the rate; PCC-RL's `config.py` has 0.025.
        scale: f64,
        /// The lowest rate, packets a second; PCC-RL's `network_sim.py` has 40.
        least_pps: f64,
        /// The highest rate, packets a second; PCC-RL has 1,000.
        most_pps: f64,
        /// The largest action; PCC-RL has 1e12.
        limit: f32,
    },
    /// The window of an algorithm, multiplied once by `2^(octaves a)`; the algorithm continues from there. Orca (Abbasloo and
    /// others, SIGCOMM 2020) and `map_action` of its `envwrapper.py` (`4^a`): CUBIC, and 2 octaves. The action is in [-1, 1].
    /// An algorithm that computes its window without regard to the one before overrides the action.
    WindowOver {
        /// The algorithm below.
        algorithm: AlgorithmSpec,
        /// What an action of 1 adds to the logarithm of the window to base 2.
        octaves: f64,
    },
    /// A step of the window from a list. Between steps the window is constant; losses do not change it.
    Discrete {
        /// The steps, by the number of the action.
        steps: Vec<WindowStep>,
    },
}

/// A step of the window: it is multiplied by `factor`, then `segments` are added. At least two segments remain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct WindowStep {
    /// The factor; not negative.
    pub factor: f64,
    /// Segments; negative for fewer.
    pub segments: f64,
}

/// The space of an action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ActionSpace {
    /// One number in a range.
    Box {
        /// The least.
        low: f32,
        /// The greatest.
        high: f32,
    },
    /// One of the whole numbers from 0 on, less than this.
    Discrete(usize),
}

impl Action {
    /// Aurora's action at PCC-RL's constants.
    pub fn aurora() -> Action {
        Action::Rate { scale: 0.025, least_pps: 40.0, most_pps: 1000.0, limit: 1e12 }
    }

    /// Orca's action over CUBIC.
    pub fn orca() -> Action {
        let cubic = AlgorithmSpec { name: "cubic".to_owned(), ..AlgorithmSpec::default() };
        Action::WindowOver { algorithm: cubic, octaves: 2.0 }
    }

    /// Five steps: half the window, 10 segments less, the same, 10 segments more, twice the window.
    pub fn discrete() -> Action {
        let step = |factor, segments| WindowStep { factor, segments };
        let steps = vec![step(0.5, 0.0), step(1.0, -10.0), step(1.0, 0.0), step(1.0, 10.0), step(2.0, 0.0)];
        Action::Discrete { steps }
    }

    /// Returns the space of the action.
    pub fn space(&self) -> ActionSpace {
        match self {
            Action::Rate { limit, .. } => ActionSpace::Box { low: -limit, high: *limit },
            Action::WindowOver { .. } => ActionSpace::Box { low: -1.0, high: 1.0 },
            Action::Discrete { steps } => ActionSpace::Discrete(steps.len()),
        }
    }

    pub(crate) fn check(&self) -> Result<(), GymError> {
        let refuse =
            |place: &str, message: String| Err(GymError::config(&format!("action.{place}"), message));
        match self {
            Action::Rate { scale, .. } if !(*scale > 0.0 && scale.is_finite()) => {
                refuse("scale", format!("is {scale}; it must be a positive number, such as 0.025"))
            }
            Action::Rate { least_pps, most_pps, .. }
                if !(*least_pps > 0.0 && least_pps <= most_pps && most_pps.is_finite()) =>
            {
                let rule = "the lowest rate must be more than 0 and at most the highest";
                refuse("least-pps", format!("is {least_pps}, and most-pps is {most_pps}; {rule}"))
            }
            Action::Rate { limit, .. } if !(*limit > 0.0 && limit.is_finite()) => {
                refuse("limit", format!("is {limit}; it must be a positive number, such as 1e12"))
            }
            Action::WindowOver { octaves, .. } if !(*octaves > 0.0 && *octaves <= 20.0) => {
                refuse("octaves", format!("is {octaves}; it must be more than 0 and at most 20 (Orca has 2)"))
            }
            Action::Discrete { steps } if steps.len() < 2 => {
                refuse("steps", format!("has {}; a choice needs at least 2", steps.len()))
            }
            Action::Discrete { steps } => {
                let is_valid = |step: &WindowStep| {
                    step.factor >= 0.0 && step.factor.is_finite() && step.segments.is_finite()
                };
                match steps.iter().position(|step| !is_valid(step)) {
                    Some(i) => refuse(
                        &format!("steps[{i}]"),
                        "needs a factor of at least 0 and a finite number of segments".to_owned(),
                    ),
                    None => Ok(()),
                }
            }
            Action::Rate { .. } | Action::WindowOver { .. } => Ok(()),
        }
    }

    /// Checks an action's value: in the space of the action, and for a discrete one a whole number.
    pub(crate) fn check_value(&self, value: f32) -> Result<(), String> {
        match self.space() {
            ActionSpace::Box { low, high } if !(low..=high).contains(&value) => {
                Err(format!("is {value}; it must be {low} to {high}"))
            }
            ActionSpace::Discrete(count)
                if !(0.0..count as f32).contains(&value) || libm::truncf(value) != value =>
            {
                Err(format!("is {value}; it must be a whole number from 0 to {}", count - 1))
            }
            ActionSpace::Box { .. } | ActionSpace::Discrete(_) => Ok(()),
        }
    }

    /// Returns the command for a valid value. `rate_pps` is the rate, which an action of [`Action::Rate`] changes.
    pub(crate) fn command(&self, value: f32, rate_pps: &mut f64) -> Command {
        let value = f64::from(value);
        match self {
            Action::Rate { scale, least_pps, most_pps, .. } => {
                let change = scale * value;
                let rate =
                    if change >= 0.0 { *rate_pps * (1.0 + change) } else { *rate_pps / (1.0 - change) };
                *rate_pps = rate.clamp(*least_pps, *most_pps);
                Command::Rate(*rate_pps)
            }
            Action::WindowOver { octaves, .. } => {
                Command::Window(WindowStep { factor: libm::exp2(octaves * value), segments: 0.0 })
            }
            Action::Discrete { steps } => Command::Window(steps[value as usize]),
        }
    }
}

/// What a flow is to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    /// Send at this rate, packets a second.
    Rate(f64),
    /// Change the window.
    Window(WindowStep),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auroras_action_multiplies_and_divides() {
        let action = Action::aurora();
        let mut rate = 200.0;
        assert_eq!(action.command(2.0, &mut rate), Command::Rate(210.0));
        // 210 / 1.05.
        assert_eq!(action.command(-2.0, &mut rate), Command::Rate(200.0));
        assert_eq!(action.command(1e6, &mut rate), Command::Rate(1000.0));
        assert_eq!(action.command(-1e6, &mut rate), Command::Rate(40.0));
    }

    #[test]
    fn orcas_action_is_a_power_of_four() {
        let factor = |value| match Action::orca().command(value, &mut 0.0) {
            Command::Window(step) => step.factor,
            Command::Rate(_) => f64::NAN,
        };
        assert_eq!([-1.0, 0.0, 0.5, 1.0].map(factor), [0.25, 1.0, 2.0, 4.0]);
    }

    #[test]
    fn values_outside_of_the_space_are_refused() {
        let refused = |action: &Action, value| action.check_value(value).unwrap_err();
        let discrete = Action::discrete();
        assert_eq!(refused(&discrete, 5.0), "is 5; it must be a whole number from 0 to 4");
        assert_eq!(refused(&discrete, 0.5), "is 0.5; it must be a whole number from 0 to 4");
        assert_eq!(refused(&Action::orca(), 1.5), "is 1.5; it must be -1 to 1");
        assert_eq!(refused(&Action::orca(), f32::NAN), "is NaN; it must be -1 to 1");
        assert!(discrete.check_value(4.0).is_ok());
    }
}
