//! The description of an algorithm: what it is called, what it is, its parameters and how to build one.

use crate::{
    CongestionControl, Observable, Parameter, ParameterError, ParameterSet, ParameterValue, Parameters,
};
use alloc::boxed::Box;
use core::fmt;

/// What an algorithm reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Packet loss.
    Loss,
    /// Round-trip time.
    Delay,
    /// Explicit congestion marks.
    Ecn,
    /// Delivery rate.
    Rate,
}

impl Signal {
    /// Its name in a word.
    pub fn as_str(&self) -> &'static str {
        match self {
            Signal::Loss => "loss",
            Signal::Delay => "delay",
            Signal::Ecn => "ecn",
            Signal::Rate => "rate",
        }
    }
}

/// An entry of the registry ([`all`](crate::all)).
pub struct AlgorithmInfo {
    /// Name, as a scenario writes it.
    pub name: &'static str,
    /// Full name.
    pub title: &'static str,
    /// Year of publication.
    pub year: u16,
    /// Paper, RFC or draft.
    pub reference: &'static str,
    /// What it does, in a line or two.
    pub summary: &'static str,
    /// Its strengths, in a sentence.
    pub strengths: &'static str,
    /// Its weaknesses, in a sentence.
    pub weaknesses: &'static str,
    /// What it reacts to.
    pub signals: &'static [Signal],
    /// What it is based on.
    pub based_on: &'static str,
    /// Where else it is implemented.
    pub implemented_in: &'static str,
    /// Whether its equations are unknown and were reconstructed from abstracts, summaries or other models. Title and summary
    /// say so, too.
    pub reconstruction: bool,
    /// Version of its behaviour, increased with every change, so that stored results are distinguished.
    pub version: u32,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// What it shows of its state: [`CongestionControl::observables`].
    pub observables: &'static [Observable],
    /// Builds the algorithm with the given parameters.
    pub build: fn(&Parameters) -> Result<Box<dyn CongestionControl>, ParameterError>,
}

impl AlgorithmInfo {
    /// Builds the algorithm with parameters as a person writes them; see [`Parameter::parse`].
    ///
    /// # Errors
    /// Returns an error for an unknown name or a value that does not fit.
    pub fn build_from_text<'a>(
        &self,
        parameters: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Box<dyn CongestionControl>, ParameterError> {
        let parse = |(name, text): (&'a str, &'a str)| {
            let known = self.parameters.iter().find(|parameter| parameter.name == name);
            // The builder refuses unknown names.
            let value = known.map_or_else(|| ParameterValue::Word(text.into()), |known| known.parse(text));
            (name.into(), value)
        };
        (self.build)(&parameters.into_iter().map(parse).collect())
    }
}

impl fmt::Debug for AlgorithmInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlgorithmInfo").field("name", &self.name).finish_non_exhaustive()
    }
}

/// An algorithm that is made from its settings.
pub trait Configurable: CongestionControl + Sized + 'static {
    /// Its settings.
    type Parameters: ParameterSet;

    /// Creates the state of a new flow. It does not check the parameters; [`ParameterSet::check`] does.
    fn new(parameters: Self::Parameters) -> Self;
}

/// Builds an algorithm from parameters by name; [`AlgorithmInfo::build`] is an instance of this function.
///
/// # Errors
/// Returns an error for an unknown name or a value outside its range.
pub fn build<A: Configurable>(given: &Parameters) -> Result<Box<dyn CongestionControl>, ParameterError> {
    Ok(Box::new(A::new(A::Parameters::from_values(given)?)))
}
