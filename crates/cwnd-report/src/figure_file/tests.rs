use super::*;
use cwnd_plot::Figure;

#[test]
fn an_svg_file_is_the_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("figure.svg");
    let svg = Figure::new("Nothing").to_svg();
    check_writable(&path).unwrap();
    write_figure(&svg, &path).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), svg);
}

#[test]
fn another_extension_is_refused_with_those_that_are_valid() {
    let error = write_figure("", Path::new("figure.jpg")).unwrap_err().to_string();
    let valid = "the name of a figure ends in .svg or .png or .pdf; try `figure.svg`";
    assert_eq!(error, format!("cannot write `figure.jpg`: {valid}"));
}

#[cfg(not(feature = "png-pdf"))]
#[test]
fn without_the_feature_only_svg_is_written() {
    for extension in ["png", "pdf"] {
        let path = std::env::temp_dir().join("figure").with_extension(extension);
        let error = check_writable(&path).unwrap_err().to_string();
        assert!(error.contains("without PNG and PDF figures; try `"), "{error}");
        assert!(error.contains("figure.svg`, or build it with `--features png-pdf`"), "{error}");
    }
}

#[cfg(feature = "png-pdf")]
mod rendered {
    use super::*;
    use cwnd_plot::{
        Axis, Line, Panel,
        style::{Colour, Stroke},
    };
    use resvg::usvg::Node;
    use std::fs;

    /// A red line along the whole lower edge of a panel, and a title with a Greek letter.
    fn svg() -> String {
        let axis = |name: &str| Axis::linear(name, "").from(0.0).to(1.0);
        let mut panel = Panel::new(axis("x"), axis("β"), 100.0);
        panel.add(Line::new(vec![(0.0, 0.5), (1.0, 0.5)], Stroke::solid(Colour(0xff, 0, 0), 4.0)));
        let mut figure = Figure::new("Title");
        figure.panels.push(panel);
        figure.to_svg()
    }

    fn written(extension: &str) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("figure").with_extension(extension);
        check_writable(&path).unwrap();
        write_figure(&svg(), &path).unwrap();
        fs::read(&path).unwrap()
    }

    #[test]
    fn a_png_has_two_pixels_for_each_unit_and_is_opaque() {
        let pixels = resvg::tiny_skia::Pixmap::decode_png(&written("png")).unwrap();
        assert_eq!(pixels.width(), 1_280, "a figure is 640 units wide");
        assert!(pixels.pixels().iter().all(|pixel| pixel.alpha() == 255));
        let red = pixels.pixels().iter().filter(|p| (p.red(), p.green(), p.blue()) == (255, 0, 0)).count();
        // At 0.5 of 100 units the line is between y = 48 and 52: 8 rows of some 1,170 columns.
        assert!((8 * 1_100..=8 * 1_200).contains(&red), "{red} red pixels");
        let ink =
            |p: &&resvg::tiny_skia::PremultipliedColorU8| p.red() < 80 && p.green() < 80 && p.blue() < 80;
        assert!(pixels.pixels().iter().filter(ink).count() > 500, "text and axes are drawn");
    }

    #[test]
    fn a_pdf_has_the_font_embedded() {
        let pdf = written("pdf");
        assert!(pdf.starts_with(b"%PDF-"));
        let has = |text: &str| pdf.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(has("DejaVuSans-Bold") && has("/MediaBox [0 0 640"), "{}", String::from_utf8_lossy(&pdf));
        assert!(!has("/CreationDate"), "the file does not depend on the time");
    }

    #[test]
    fn equal_figures_are_equal_files() {
        assert!(written("png") == written("png"));
    }

    #[test]
    fn every_character_that_figures_use_has_a_glyph() {
        let has_glyphs = |text: &str, weight: &str| {
            let svg = format!(
                "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9' font-family='sans-serif'>\
                 <text y='9' font-weight='{weight}'>{text}</text></svg>"
            );
            let tree = render::tree(&svg).unwrap();
            // A text of which no character has a glyph is left out.
            let Some(Node::Text(node)) = tree.root().children().first() else { return false };
            let glyphs: Vec<_> = node.layouted().iter().flat_map(|span| &span.positioned_glyphs).collect();
            glyphs.len() == text.chars().count() && glyphs.iter().all(|glyph| glyph.id.0 != 0)
        };
        for weight in ["normal", "bold"] {
            assert!(has_glyphs("Aaé…±×−–’→αβγδλμσττ²⁻⁵₀≤≥✓✗½·√∞≈", weight), "{weight}");
            assert!(!has_glyphs("漢", weight), "a character that the fonts do not have");
        }
    }

    #[test]
    fn characters_that_the_fonts_lack_are_named_and_replaced() {
        let svg = |title: &str| Figure::new(title).to_svg();
        let folder = tempfile::tempdir().unwrap();
        let missing = |title: &str, file: &str| {
            String::from_iter(write_figure(&svg(title), &folder.path().join(file)).unwrap())
        };
        assert_eq!(missing("Größe 漢字 β 漢", "figure.png"), "字漢");
        assert_eq!(missing("Größe 漢字 β 漢", "figure.pdf"), "字漢");
        assert_eq!(missing("Größe 漢字 β 漢", "figure.svg"), "");
        assert_eq!(missing("Größe β\u{a0}\u{fffd}", "figure.png"), "");
        let png = |title: &str| {
            missing(title, "figure.png");
            fs::read(folder.path().join("figure.png")).unwrap()
        };
        assert!(png("漢") == png("\u{fffd}") && png("漢") != png(" "));
        let note = missing_characters_note(&"漢字".chars().collect()).unwrap();
        assert!(note.contains("lacks 字 漢, and"), "{note}");
        assert_eq!(missing_characters_note(&BTreeSet::new()), None);
    }

    /// Figures of the documents have a background of their own, so that they are readable on dark pages.
    #[test]
    fn figures_of_the_documents_are_opaque() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/figures");
        let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let figures: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "svg")).collect();
        assert!(figures.len() > 5, "{figures:?}");
        for figure in figures {
            let png =
                render::render(&fs::read_to_string(&figure).unwrap(), &BTreeSet::new(), Format::Png).unwrap();
            let pixels = resvg::tiny_skia::Pixmap::decode_png(&png).unwrap();
            let (right, low) = (pixels.width() - 3, pixels.height() - 3);
            for (x, y) in [(2, 2), (right, 2), (2, low), (right, low)] {
                assert_eq!(pixels.pixel(x, y).unwrap().alpha(), 255, "{} at {x}, {y}", figure.display());
            }
        }
    }

    #[test]
    fn what_is_no_svg_is_refused() {
        let error = write_figure("<p>", Path::new("figure.png")).unwrap_err().to_string();
        assert!(error.starts_with("cannot write `figure.png`: the figure is no SVG: "), "{error}");
    }
}
