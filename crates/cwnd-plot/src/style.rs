//! Colours, dash patterns and markers.
//!
//! Five colours are those of the Okabe-Ito palette that have a contrast of at least 3:1 with white (its
//! orange, sky blue and yellow do not: as thin lines they fade); the others were found by searching for the colours
//! with that contrast that are farthest from the others for readers with normal, protan, deutan and tritan vision.
//! With more than seven series colour alone does not suffice for every reader: dash pattern and marker differ as well.

use std::fmt;

/// An sRGB colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

/// Text and axes.
pub const INK: Colour = Colour(0x22, 0x22, 0x22);
/// Secondary text.
pub const GREY: Colour = Colour(0x59, 0x59, 0x59);
/// Grid lines.
pub const GRID: Colour = Colour(0xe4, 0xe4, 0xe4);
/// The background, in files also where a reader prefers dark pages: tints, the cells of heat maps with their numbers, and the
/// contrast of series are chosen for it, and a figure in a file is the same as SVG, PNG and PDF.
pub const PAPER: Colour = Colour(0xff, 0xff, 0xff);

/// Colours of series, in the order in which they are used.
pub const COLOURS: [Colour; 14] = [
    Colour(0x00, 0x72, 0xb2), // blue
    Colour(0xd5, 0x5e, 0x00), // vermillion
    Colour(0x00, 0x9e, 0x73), // bluish green
    Colour(0x7a, 0x1f, 0xd1), // violet
    Colour(0xcc, 0x79, 0xa7), // reddish purple
    Colour(0x00, 0x00, 0x00), // black
    Colour(0x78, 0x32, 0x14), // brown
    Colour(0xff, 0x22, 0xff), // magenta
    Colour(0x00, 0x00, 0x66), // navy
    Colour(0x99, 0x55, 0x00), // ochre
    Colour(0xbb, 0x22, 0x88), // plum
    Colour(0x99, 0x77, 0xdd), // lavender
    Colour(0x6b, 0x8e, 0x00), // olive
    Colour(0x55, 0x00, 0x33), // wine
];

impl Colour {
    /// The colour of the series with this index; they repeat after the fourteenth.
    pub fn of_series(index: usize) -> Colour {
        COLOURS[index % COLOURS.len()]
    }

    /// The colour mixed with white: 1 leaves it as it is, 0 is white.
    pub fn tint(self, share: f64) -> Colour {
        let mix = |c: u8| (255.0 - (255.0 - f64::from(c)) * share.clamp(0.0, 1.0)).round() as u8;
        Colour(mix(self.0), mix(self.1), mix(self.2))
    }

    /// Relative luminance as WCAG 2 defines it, from 0 (black) to 1 (white).
    pub fn luminance(self) -> f64 {
        let linear = |c: u8| {
            let c = f64::from(c) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }

    /// The contrast of two colours as WCAG 2 defines it, from 1 (none) to 21.
    pub fn contrast(self, other: Colour) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// The style of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Its colour.
    pub colour: Colour,
    /// Its width, in the units of the figure (a figure is some 640 wide).
    pub width: f64,
    /// Its pattern.
    pub dash: Dash,
}

impl Stroke {
    /// A solid line.
    pub fn solid(colour: Colour, width: f64) -> Stroke {
        Stroke { colour, width, dash: Dash::Solid }
    }

    /// The same with another pattern.
    pub fn dashed(self, dash: Dash) -> Stroke {
        Stroke { dash, ..self }
    }
}

/// The pattern of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dash {
    /// Without gaps.
    Solid,
    /// Dashes.
    Dashed,
    /// Dots.
    Dotted,
    /// Dashes and dots in turn.
    DashDot,
    /// Long dashes.
    Long,
    /// A dash and two dots in turn.
    DashDotDot,
    /// Short dashes.
    Short,
    /// Long and short dashes in turn.
    LongShort,
}

impl Dash {
    /// Every pattern, in the order in which they are used.
    pub const ALL: [Dash; 8] = [
        Dash::Solid,
        Dash::Dashed,
        Dash::Dotted,
        Dash::DashDot,
        Dash::Long,
        Dash::DashDotDot,
        Dash::Short,
        Dash::LongShort,
    ];

    /// The pattern of the line with this index; they repeat after the eighth.
    pub fn of_series(index: usize) -> Dash {
        Dash::ALL[index % Dash::ALL.len()]
    }

    /// Lengths of dashes and gaps, as SVG writes them; none for a solid line.
    pub fn lengths(self) -> Option<&'static str> {
        match self {
            Dash::Solid => None,
            Dash::Dashed => Some("5 2.5"),
            Dash::Dotted => Some("1.5 2"),
            Dash::DashDot => Some("7 2 1.5 2"),
            Dash::Long => Some("11 3"),
            Dash::DashDotDot => Some("7 2 1.5 2 1.5 2"),
            Dash::Short => Some("3 2"),
            Dash::LongShort => Some("11 2.5 4 2.5"),
        }
    }
}

/// A sign on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// A circle.
    Circle,
    /// A square.
    Square,
    /// A triangle that points up.
    Up,
    /// A square on its corner.
    Diamond,
    /// A triangle that points down.
    Down,
    /// An x.
    Cross,
    /// A hexagon.
    Hexagon,
    /// A plus sign.
    Plus,
}

impl Marker {
    /// Every marker, in the order in which they are used.
    pub const ALL: [Marker; 8] = [
        Marker::Circle,
        Marker::Square,
        Marker::Up,
        Marker::Diamond,
        Marker::Down,
        Marker::Cross,
        Marker::Hexagon,
        Marker::Plus,
    ];

    /// The marker of the series with this index. The pair of colour and marker repeats only after 56 series.
    pub fn of_series(index: usize) -> Marker {
        Marker::ALL[index % Marker::ALL.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contrast_with_white(colour: Colour) -> f64 {
        colour.contrast(PAPER)
    }

    #[test]
    fn colours_stand_out_from_the_paper() {
        for colour in COLOURS {
            assert!(contrast_with_white(colour) >= 3.0, "{colour}: {:.2}", contrast_with_white(colour));
        }
        for text in [INK, GREY] {
            assert!(contrast_with_white(text) >= 7.0, "{text}: {:.2}", contrast_with_white(text));
        }
    }

    #[test]
    fn series_differ_in_colour_and_beyond_that_in_dash_and_marker() {
        let colours: Vec<Colour> = (0..COLOURS.len()).map(Colour::of_series).collect();
        assert!(COLOURS.len() >= 11, "the most variants that a paper compares");
        assert!(colours.iter().enumerate().all(|(i, colour)| !colours[..i].contains(colour)));
        let look = |i: usize| (Colour::of_series(i), Dash::of_series(i), Marker::of_series(i));
        let looks: Vec<_> = (0..56).map(look).collect();
        assert!(looks.iter().enumerate().all(|(i, look)| !looks[..i].contains(look)));
    }

    #[test]
    fn a_tint_is_between_the_colour_and_white() {
        let colour = Colour(0, 100, 255);
        assert_eq!([colour.tint(1.0), colour.tint(0.0)], [colour, PAPER]);
        assert_eq!(colour.tint(0.2).to_string(), "#cce0ff");
    }
}
