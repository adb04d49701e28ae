//! Conversion of SVG to PNG and PDF.

use super::Format;
use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{Options, Tree, fontdb::Database},
};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};
use svg2pdf::{ConversionOptions, PageOptions};

/// Pixels of a PNG for each unit of a figure.
const PIXELS_PER_UNIT: f32 = 2.0;
/// Units of a figure in an inch: a figure 720 units wide is 10 inches wide in a PDF.
const UNITS_PER_INCH: f32 = 72.0;

/// The fonts that figures are set in. Those of the machine have no part in it.
static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(include_bytes!("../../fonts/DejaVuSans.ttf").to_vec());
    fonts.load_font_data(include_bytes!("../../fonts/DejaVuSans-Bold.ttf").to_vec());
    fonts.set_sans_serif_family(FAMILY);
    Arc::new(fonts)
});

const FAMILY: &str = "DejaVu Sans";

/// Returns a figure in another format, with U+FFFD for each of [`missing_characters`].
///
/// # Errors
/// In words, if the text is no SVG or too large to be drawn.
pub(super) fn render(svg: &str, missing: &BTreeSet<char>, format: Format) -> Result<Vec<u8>, String> {
    let tree = tree(&with_replacements(svg, missing))?;
    match format {
        Format::Svg => Ok(svg.as_bytes().to_vec()),
        Format::Png => png(&tree),
        Format::Pdf => {
            let page = PageOptions { dpi: UNITS_PER_INCH };
            svg2pdf::to_pdf(&tree, ConversionOptions::default(), page)
                .map_err(|error| format!("the figure cannot be converted to PDF: {error}"))
        }
    }
}

/// Returns the characters of a text that the embedded fonts lack, in order.
pub(super) fn missing_characters(text: &str) -> BTreeSet<char> {
    // The fonts have all of ASCII, and most figures have nothing else.
    let others: BTreeSet<char> = text.chars().filter(|c| !c.is_ascii() && !c.is_whitespace()).collect();
    others.into_iter().filter(|c| !has_glyph(*c)).collect()
}

/// The text with U+FFFD for each character that the embedded fonts lack: it would be left out without a trace.
fn with_replacements<'a>(svg: &'a str, missing: &BTreeSet<char>) -> Cow<'a, str> {
    if missing.is_empty() {
        return svg.into();
    }
    svg.chars().map(|c| if missing.contains(&c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Whether any of the embedded fonts has a character: a text of which none has a glyph is left out of the tree.
fn has_glyph(c: char) -> bool {
    let svg =
        format!("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><text y='9'>{c}</text></svg>");
    tree(&svg).is_ok_and(|tree| tree.root().has_children())
}

/// Parses SVG text, with text set in the embedded fonts.
pub(super) fn tree(svg: &str) -> Result<Tree, String> {
    let options = Options { fontdb: FONTS.clone(), font_family: FAMILY.to_owned(), ..Options::default() };
    Tree::from_str(svg, &options).map_err(|error| format!("the figure is no SVG: {error}"))
}

fn png(tree: &Tree) -> Result<Vec<u8>, String> {
    let size = tree.size().to_int_size().scale_by(PIXELS_PER_UNIT);
    let pixels = size.and_then(|size| Pixmap::new(size.width(), size.height()));
    let Some(mut pixels) = pixels else {
        let (width, height) = (tree.size().width(), tree.size().height());
        return Err(format!(
            "a figure of {width} x {height} is too large for a PNG; `.svg` and `.pdf` are not limited"
        ));
    };
    resvg::render(tree, Transform::from_scale(PIXELS_PER_UNIT, PIXELS_PER_UNIT), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| format!("the figure cannot be converted to PNG: {error}"))
}
