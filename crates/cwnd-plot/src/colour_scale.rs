//! Numbers as colours: a scale from light to dark, and one that goes from a light middle to two dark ends.
//!
//! The first has nine stops from pale yellow over green to dark blue. Its lightness falls all the way, so that it survives
//! greyscale; yellow to blue is the direction in which readers with protan and deutan vision see as well as others. The second goes
//! from blue over nearly white to orange, which these readers tell apart as well.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Label};
use super::layout::{TEXT, TICK};
use super::style::{Colour, INK, Stroke};
use super::text;

/// Dark text on a light colour. Not quite [`INK`]: a page that turns its ink light in the dark must leave this.
pub const ON_LIGHT: Colour = Colour(0x12, 0x12, 0x12);
/// Light text on a dark colour. Not quite white, for the same reason.
pub const ON_DARK: Colour = Colour(0xfd, 0xfd, 0xfd);

const STOPS: [Colour; 9] = [
    Colour(0xff, 0xff, 0xd9),
    Colour(0xed, 0xf8, 0xb1),
    Colour(0xc7, 0xe9, 0xb4),
    Colour(0x7f, 0xcd, 0xbb),
    Colour(0x41, 0xb6, 0xc4),
    Colour(0x1d, 0x91, 0xc0),
    Colour(0x22, 0x5e, 0xa8),
    Colour(0x25, 0x34, 0x94),
    Colour(0x08, 0x1d, 0x58),
];

const DIVERGING: [Colour; 9] = [
    Colour(0x05, 0x30, 0x61),
    Colour(0x21, 0x66, 0xac),
    Colour(0x43, 0x93, 0xc3),
    Colour(0xa6, 0xcf, 0xe4),
    Colour(0xf7, 0xf7, 0xf4),
    Colour(0xfd, 0xcc, 0x94),
    Colour(0xf1, 0x97, 0x3f),
    Colour(0xc6, 0x5f, 0x0c),
    Colour(0x7f, 0x3b, 0x08),
];

/// What a scale of colours means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colours {
    /// From little (light) to much (dark).
    #[default]
    Sequential,
    /// From less (blue) over equal (light) to more (orange).
    Diverging,
}

impl Colours {
    /// The colour of a share from 0 to 1; of what is no number, that of 0.
    pub fn of(self, share: f64) -> Colour {
        match self {
            Colours::Sequential => colour(share),
            Colours::Diverging => between(&DIVERGING, share),
        }
    }
}

/// The colour of a share from 0 (light) to 1 (dark); of what is no number, that of 0.
pub fn colour(share: f64) -> Colour {
    between(&STOPS, share)
}

fn between(stops: &[Colour; 9], share: f64) -> Colour {
    let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
    let place = share * (stops.len() - 1) as f64;
    let at = (place as usize).min(stops.len() - 2);
    let (a, b, part) = (stops[at], stops[at + 1], place - at as f64);
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * part).round() as u8;
    Colour(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

/// The colour of text on a colour: the one that stands out more.
pub fn text_on(colour: Colour) -> Colour {
    if colour.contrast(ON_LIGHT) >= colour.contrast(ON_DARK) { ON_LIGHT } else { ON_DARK }
}

/// The key of the colours: a strip with an axis.
#[derive(Clone, Debug)]
pub struct ColourBar {
    /// The quantity, with its range fixed.
    pub axis: Axis,
    /// Its colours.
    pub colours: Colours,
}

const STRIP: f64 = 12.0;
const PARTS: u32 = 64;

impl ColourBar {
    /// Returns its width at the right edge.
    pub(super) fn width(&self, height: f64) -> f64 {
        let axis = self.fit(height);
        let widest = axis.ticks.major.iter().map(|(_, label)| text::width(label, TICK));
        18.0 + STRIP + 8.0 + widest.fold(0.0, f64::max) + 8.0 + TEXT
    }

    /// Draws it with its left edge here.
    pub(super) fn draw(&self, canvas: &mut Canvas, left: f64, top: f64, height: f64) {
        let left = left + 18.0;
        let part = height / f64::from(PARTS);
        for i in 0..PARTS {
            let share = 1.0 - (f64::from(i) + 0.5) / f64::from(PARTS);
            // A little overlap, so that no seam shows between parts.
            let tall = if i + 1 < PARTS { part + 0.5 } else { part };
            canvas.rectangle(left, top + f64::from(i) * part, STRIP, tall, self.colours.of(share), 1.0);
        }
        let (right, bottom) = (left + STRIP, top + height);
        let edge = Stroke::solid(INK, 0.6);
        canvas.line(&[(left, top), (right, top), (right, bottom), (left, bottom), (left, top)], &edge);
        let axis = self.fit(height);
        let mut widest = 0.0f64;
        for (value, label) in &axis.ticks.major {
            let y = axis.place(*value, bottom, top);
            canvas.line(&[(right, y), (right + 4.0, y)], &edge);
            canvas.text(right + 7.0, y + 0.36 * TICK, &Label::new(TICK, INK), label);
            widest = widest.max(text::width(label, TICK));
        }
        let style = Label::new(TEXT, INK).anchor(Anchor::Middle).upright();
        let title = text::shorten(&self.axis.label, TEXT, height + 30.0);
        canvas.text(right + 7.0 + widest + 8.0 + TEXT - 2.0, (top + bottom) / 2.0, &style, &title);
    }

    fn fit(&self, height: f64) -> super::axis::Fitted {
        self.axis.fit(None, ((height / 20.0) as usize).max(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_gets_darker_all_the_way() {
        let scale: Vec<Colour> = (0..=100).map(|i| colour(f64::from(i) / 100.0)).collect();
        assert!(scale.windows(2).all(|w| w[1].luminance() < w[0].luminance()));
        assert_eq!((scale[0], scale[100]), (STOPS[0], STOPS[8]));
        assert_eq!(colour(f64::NAN), colour(0.0), "no panic");
    }

    #[test]
    fn the_diverging_scale_is_lightest_in_its_middle() {
        let light = |i: i32| Colours::Diverging.of(f64::from(i) / 100.0).luminance();
        assert!((0..50).all(|i| light(i) < light(i + 1)));
        assert!((50..100).all(|i| light(i) > light(i + 1)));
    }

    #[test]
    fn text_stands_out_from_every_colour() {
        for (i, colours) in (0..=100).flat_map(|i| [(i, Colours::Sequential), (i, Colours::Diverging)]) {
            let colour = colours.of(f64::from(i) / 100.0);
            assert!(colour.contrast(text_on(colour)) >= 4.2, "{i}: {:.2}", colour.contrast(text_on(colour)));
        }
    }
}
