//! SVG figures as files.

use cwnd_study::output_file::{self, OutputFileError};
use std::path::Path;

/// Writes a figure's SVG text to an `.svg` file. The file appears whole or not at all.
///
/// # Errors
/// If the extension is not `.svg`, or the file cannot be written.
pub fn write(path: &Path, svg: &str) -> Result<(), OutputFileError> {
    output_file::check_extension(path, KIND, &EXTENSIONS)?;
    output_file::write_text(path, svg)
}

/// Checks that [`write()`] can write to `path`, so that a long run does not end with an error.
///
/// # Errors
/// If the extension is not `.svg`, the directory does not exist or takes no files, or the file exists and cannot be
/// replaced.
pub fn check_writable(path: &Path) -> Result<(), OutputFileError> {
    output_file::check_writable(path, KIND, &EXTENSIONS)
}

const KIND: &str = "a figure";
const EXTENSIONS: [&str; 1] = ["svg"];

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_plot::Figure;

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
