//! Figures as SVG, made for papers.
//!
//! A [`Figure`] is a column of [`Panel`]s; a panel has two [`Axis`] and draws its [`Mark`]s between them.
//! [`Line`], [`Trajectory`], [`Band`], [`ErrorBars`], [`Bars`], [`Boxes`], [`Ellipse`], [`Signs`]
//! and [`Cells`] (a heat map) are marks; another kind of
//! drawing is another file that implements [`Mark`]. A [`Reference`] is a labelled line across a panel. A [`Grid`] lays panels side by side: small multiples with common axes.
//!
//! The SVG needs nothing but itself: no fonts, scripts, styles or identifiers, so that several figures can
//! stand in one HTML page. Numbers have at most two decimals and nothing depends on time or place: the same
//! figure is the same text, byte by byte.
//!
//! The background is white in every colour scheme, on purpose. The colours were chosen for their contrast
//! with white, a figure in a paper is printed on white, and the tools that turn SVG into PDF know no colour
//! schemes. A web page that wants them otherwise in the dark can say so in its own style sheet: colours are
//! attributes (`stroke="#0072b2"`), and any rule of a style sheet (`[stroke="#0072b2"]`) is stronger.
//!
//! Colours can be told apart by colour-blind readers; dash patterns and markers say the same again for black
//! and white ([`style`]).

#![forbid(unsafe_code)]

mod axis;
mod band;
mod bars;
mod boxes;
mod canvas;
mod cells;
pub mod colour_scale;
mod decimate;
mod ellipse;
mod error_bars;
mod figure;
mod frame;
mod grid;
mod hatch;
mod key;
mod layout;
mod line;
mod links;
pub mod number;
mod reference;
mod signs;
pub mod style;
pub mod text;
mod tick_labels;
mod ticks;
mod trajectory;

pub use axis::{Axis, Scale};
pub use band::Band;
pub use bars::{Bar, Bars};
pub use boxes::{BoxPlot, Boxes};
pub use canvas::{Anchor, Canvas, Inside, Label};
pub use cells::{Cells, Tile};
pub use ellipse::Ellipse;
pub use error_bars::ErrorBars;
pub use figure::{Figure, Mark, Panel};
pub use frame::{Extent, Frame};
pub use grid::{Block, Grid, Headings};
pub use hatch::Hatch;
pub use key::{Key, Swatch};
pub use line::{Line, Markers};
pub use links::{Link, Links};
pub use reference::{At, Reference};
pub use signs::Signs;
pub use ticks::{Numbers, scientific as exponent};
pub use trajectory::Trajectory;
