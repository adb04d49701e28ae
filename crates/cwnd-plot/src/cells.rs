//! A heat map: tiles with a colour and a number.

use super::canvas::{Anchor, Canvas, Label};
use super::colour_scale;
use super::figure::Mark;
use super::frame::{Extent, Frame};
use super::hatch::Hatch;
use super::layout::TICK;
use super::style::{Colour, GREY, Stroke};
use super::text;

/// The tiles of a heat map.
#[derive(Clone, Debug)]
pub struct Cells {
    /// The tiles.
    pub tiles: Vec<Tile>,
}

/// One tile around a place of two named axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    /// Place on the horizontal axis.
    pub x: f64,
    /// Place on the vertical axis.
    pub y: f64,
    /// Its colour; none where there is no value, which is drawn as thin stripes.
    pub colour: Option<Colour>,
    /// Its text.
    pub text: String,
}

impl Mark for Cells {
    fn extent(&self) -> Extent {
        self.tiles
            .iter()
            .fold(Extent::default(), |e, t| e.with(t.x - 0.5, t.y - 0.5).with(t.x + 0.5, t.y + 0.5))
    }

    fn draw(&self, frame: &Frame, canvas: &mut Canvas) {
        for tile in &self.tiles {
            let (left, right) = (frame.x(tile.x - 0.5) + 0.75, frame.x(tile.x + 0.5) - 0.75);
            let (top, bottom) = (frame.y(tile.y + 0.5) + 0.75, frame.y(tile.y - 0.5) - 0.75);
            if ![left, right, top, bottom].iter().all(|v| v.is_finite()) || right <= left || bottom <= top {
                continue;
            }
            let colour = match tile.colour {
                Some(colour) => {
                    canvas.rectangle(left, top, right - left, bottom - top, colour, 1.0);
                    colour_scale::text_on(colour)
                }
                None => {
                    Hatch::Rising.fill(canvas, [left, top, right, bottom], &Stroke::solid(MISSING, 0.6));
                    GREY
                }
            };
            // A number that does not fit would be wrong when it is cut, so it is left out.
            let size = TICK.min(TICK * (right - left - 4.0) / text::width(&tile.text, TICK).max(1.0));
            if size >= 7.0 && bottom - top >= size {
                let style = Label::new(size, colour).anchor(Anchor::Middle);
                canvas.text((left + right) / 2.0, (top + bottom) / 2.0 + 0.36 * size, &style, &tile.text);
            }
        }
    }
}

/// The stripes of tiles without a value.
pub(super) const MISSING: Colour = Colour(0xb4, 0xb4, 0xb4);
