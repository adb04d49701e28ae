//! Sizes that the parts of a figure share, pixels.

/// Empty space around a figure.
pub(crate) const MARGIN: f64 = 14.0;
/// Size of text.
pub(crate) const TEXT: f64 = 12.0;
/// Size of the text of ticks.
pub(crate) const TICK: f64 = 11.0;
/// Greatest width of a name at a vertical axis.
pub(crate) const NAME: f64 = 150.0;
