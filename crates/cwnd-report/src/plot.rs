//! Figures as SVG, made for papers.
//!
//! A [`Figure`] is a column of [`Panel`]s; a panel has two [`Axis`] and draws its [`Mark`]s between them.
//! [`Line`], [`Way`], [`Band`], [`ErrorBars`], [`Bars`] and [`Cells`] (a heat map) are marks; another kind of drawing is
//! another file that implements [`Mark`]. A [`Grid`] lays panels side by side: small multiples with common axes.
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

mod axis;
mod band;
mod bars;
mod canvas;
mod cells;
pub mod colour_scale;
mod decimate;
mod error_bars;
mod figure;
mod grid;
mod hatch;
mod key;
mod line;
mod queues;
pub mod style;
pub(crate) mod text;
mod tick_labels;
mod ticks;
mod trace;
mod way;

use std::path::Path;

pub use axis::{Axis, Numbers, Scale};
pub use band::Band;
pub use bars::{Bar, Bars};
pub use canvas::{Anchor, Canvas, Label};
pub use cells::{Cells, Tile};
pub use error_bars::ErrorBars;
pub use figure::{Extent, Figure, Frame, Mark, Panel};
pub use grid::{Block, Grid, Headings};
pub use hatch::Hatch;
pub use key::{Key, Swatch};
pub use line::{Line, Markers};
pub(crate) use ticks::scientific as exponent;
pub use trace::{cwnd_and_queue, cwnd_and_queue_figure};
pub use way::Way;

use cwnd_study::output_file::{self, OutputFileError};

/// Writes the text of a figure to an `.svg` file; it appears whole or not at all.
///
/// # Errors
/// If the extension is not `.svg`, or the file cannot be written.
pub fn write(path: &Path, svg: &str) -> Result<(), OutputFileError> {
    output_file::check_extension(path, KIND, &EXTENSIONS)?;
    output_file::write_text(path, svg)
}

/// Whether [`write()`] could write to `path`, found out before a long run and not after it.
///
/// # Errors
/// If the extension is not `.svg`, the directory does not exist or takes no files, or the file exists and
/// cannot be replaced.
pub fn check_writable(path: &Path) -> Result<(), OutputFileError> {
    output_file::check_writable(path, KIND, &EXTENSIONS)
}

const KIND: &str = "a figure";
const EXTENSIONS: [&str; 1] = ["svg"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_an_svg_file() {
        let path = std::env::temp_dir().join(format!("cwnd-report-{}.svg", std::process::id()));
        check_writable(&path).unwrap();
        write(&path, &Figure::new("Nothing").to_svg()).unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().starts_with("<svg xmlns="));
        std::fs::remove_file(&path).unwrap();
        let error = write(Path::new("figure.png"), "").unwrap_err().to_string();
        assert_eq!(error, "cannot write `figure.png`: the name of a figure ends in .svg; try `figure.svg`");
    }
}
