//! What is lost on a line.

use serde::{Deserialize, Serialize};

/// What is lost on a line, after the queue. Data and ACKs are the same to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// Nothing.
    None,
    /// Each packet independently with this probability.
    Bernoulli(f64),
    /// Losses that come in bursts.
    GilbertElliott(GilbertElliott),
    /// The packets of these numbers, in rising order: the first packet that crosses the line is 1.
    Nth(Vec<u64>),
}

/// A line that is good or bad: a two-state Markov chain that makes a step before each packet (E. N. Gilbert 1960,
/// E. O. Elliott 1963). It begins good.
///
/// In the long run it is bad for `to_bad / (to_bad + to_good)` of all packets, and bad stretches have
/// `1 / to_good` packets in the mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct GilbertElliott {
    /// Probability that a good line is bad at the next packet.
    pub to_bad: f64,
    /// Probability that a bad line is good at the next packet.
    pub to_good: f64,
    /// Probability that a good line loses a packet; Gilbert's model has 0.
    pub loss_good: f64,
    /// Probability that a bad line loses a packet; the simple Gilbert model has 1.
    pub loss_bad: f64,
}

impl GilbertElliott {
    /// The probability of loss over a long time.
    pub fn mean(&self) -> f64 {
        match self.to_bad + self.to_good {
            // It never leaves the state in which it begins.
            0.0 => self.loss_good,
            steps => (self.to_bad * self.loss_bad + self.to_good * self.loss_good) / steps,
        }
    }
}
