//! How the colours of figures look on a dark page.
//!
//! A figure on the page is the same picture as in its file, made for white paper: its colours are attributes, and rules
//! of the page's style sheet are stronger than attributes. Each colour of a figure that has to change in the dark is
//! thus a rule: `[stroke="#0072b2"]` is drawn in the variable `--s0`, and the variable has two values.

use cwnd_plot::style::{COLOURS, Colour, GREY, GRID, INK, PAPER};

/// The stripes of missing tiles.
const STRIPES: Colour = Colour(0xb4, 0xb4, 0xb4);
/// The page in the dark.
const NIGHT: Colour = Colour(0x16, 0x18, 0x1b);

/// The colours of series in the dark, in their order.
const DARK: [Colour; 14] = [
    Colour(0x5a, 0xae, 0xe8), // blue
    Colour(0xf5, 0x8b, 0x3c), // vermillion
    Colour(0x2f, 0xc8, 0x98), // bluish green
    Colour(0xb2, 0x8a, 0xff), // violet
    Colour(0xee, 0x9f, 0xcb), // reddish purple
    Colour(0xf2, 0xf2, 0xf2), // black
    Colour(0xc2, 0x8e, 0x6a), // brown
    Colour(0xff, 0x66, 0xff), // magenta
    Colour(0x8f, 0x9c, 0xff), // navy
    Colour(0xe0, 0xb0, 0x50), // ochre
    Colour(0xff, 0x6f, 0xa8), // plum
    Colour(0xcb, 0xb8, 0xff), // lavender
    Colour(0xb9, 0xd6, 0x3a), // olive
    Colour(0xff, 0x9d, 0x8a), // wine
];

/// Name of the variable, the colour on paper, and the colour in the dark.
fn variables() -> Vec<(String, Colour, Colour)> {
    let mut all = vec![
        ("fig-ink".to_owned(), INK, Colour(0xe4, 0xe4, 0xe0)),
        ("fig-grey".to_owned(), GREY, Colour(0xa9, 0xab, 0xad)),
        ("fig-grid".to_owned(), GRID, Colour(0x31, 0x35, 0x3a)),
        ("fig-stripes".to_owned(), STRIPES, Colour(0x58, 0x5d, 0x63)),
        ("fig-paper".to_owned(), PAPER, NIGHT),
    ];
    let series = COLOURS.iter().zip(DARK).enumerate();
    all.extend(series.map(|(i, (paper, dark))| (format!("s{i}"), *paper, dark)));
    all
}

/// Declarations of the variables' values on paper.
pub fn light() -> String {
    variables().iter().map(|(name, paper, _)| format!("--{name}:{paper};")).collect()
}

/// The same in the dark.
pub fn dark() -> String {
    variables().iter().map(|(name, _, dark)| format!("--{name}:{dark};")).collect()
}

/// The rules that put variables in the place of a figure's colours.
pub fn rules() -> String {
    let rule = |(name, paper, _): &(String, Colour, Colour)| {
        format!(
            ".picture [stroke=\"{paper}\"]{{stroke:var(--{name})}}.picture [fill=\"{paper}\"]{{fill:var(--{name})}}\n"
        )
    };
    variables().iter().map(rule).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_stand_out_in_the_dark() {
        for colour in DARK {
            assert!(colour.contrast(NIGHT) >= 5.0, "{colour}: {:.2}", colour.contrast(NIGHT));
        }
        assert_eq!(rules().lines().count(), variables().len());
    }
}
