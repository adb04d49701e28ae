//! Figures as files: SVG, PNG or PDF.
//!
//! PNG and PDF need the feature `png-pdf`. Their text is set in DejaVu Sans, which is part of the program, so that the same
//! figure is the same picture on every machine. A PNG has two pixels for each unit of the figure; in a PDF text is text. Equal
//! figures are equal bytes as SVG and PNG; the order of a PDF's objects varies.

#[cfg(feature = "png-pdf")]
mod render;

use cwnd_study::output_file::{self, OutputFileError};
use std::collections::BTreeSet;
use std::path::Path;

/// The extensions of figures.
pub const EXTENSIONS: [&str; 3] = ["svg", "png", "pdf"];

/// Writes a figure, given as SVG text, to a `.svg`, `.png` or `.pdf` file: the extension decides the format. The file appears
/// whole or not at all.
///
/// Returns the characters that the file shows as U+FFFD, because the embedded fonts lack them: none for SVG, which is set in the
/// reader's fonts.
///
/// # Errors
/// If the extension is another, the file cannot be written, or the figure cannot be converted (it is no SVG).
pub fn write_figure(svg: &str, path: &Path) -> Result<BTreeSet<char>, OutputFileError> {
    let format = format(path)?;
    if format == Format::Svg {
        return output_file::write_text(path, svg).map(|()| BTreeSet::new());
    }
    #[cfg(feature = "png-pdf")]
    {
        let missing = render::missing_characters(svg);
        let bytes =
            render::render(svg, &missing, format).map_err(|reason| OutputFileError::new(path, reason))?;
        output_file::write_with(path, |file| std::io::Write::write_all(file, &bytes)).map(|()| missing)
    }
    #[cfg(not(feature = "png-pdf"))]
    unreachable!("without the feature `format` refuses everything but SVG")
}

/// Returns what a user must know of the characters that a file does not show; nothing if it shows all.
pub fn missing_characters_note(missing: &BTreeSet<char>) -> Option<String> {
    let all: Vec<String> = missing.iter().map(char::to_string).collect();
    let note = || {
        let all = all.join(" ");
        format!("the font of PNG and PDF figures lacks {all}, and they show \u{fffd} instead; SVG keeps them")
    };
    (!all.is_empty()).then(note)
}

/// Checks that [`write_figure`] can write to `path`, so that a long run does not end with an error.
///
/// # Errors
/// If the extension is not one of [`EXTENSIONS`], the directory does not exist or takes no files, or the file exists and
/// cannot be replaced.
pub fn check_writable(path: &Path) -> Result<(), OutputFileError> {
    format(path)?;
    output_file::check_writable(path, KIND, &EXTENSIONS)
}

const KIND: &str = "a figure";

/// The format of a figure's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Svg,
    Png,
    Pdf,
}

/// The format that a file's extension names.
fn format(path: &Path) -> Result<Format, OutputFileError> {
    output_file::check_extension(path, KIND, &EXTENSIONS)?;
    let format = match output_file::extension(path).as_str() {
        "png" => Format::Png,
        "pdf" => Format::Pdf,
        _ => Format::Svg,
    };
    if format != Format::Svg && !cfg!(feature = "png-pdf") {
        let svg = path.with_extension("svg");
        let reason = format!(
            "this program was built without PNG and PDF figures; try `{}`, or build it with `--features png-pdf`",
            svg.display()
        );
        return Err(OutputFileError::new(path, reason));
    }
    Ok(format)
}

#[cfg(test)]
mod tests;
