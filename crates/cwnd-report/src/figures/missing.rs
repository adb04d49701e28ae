//! The sign for a value that is not there.

use cwnd_plot::style::{Colour, Marker, Stroke};
use cwnd_plot::{Canvas, Extent, Frame, Mark};

/// Crosses on the horizontal axis where a series has no value, although the study has this combination.
pub(super) struct Missing {
    /// Where, and how far aside of that, so that several series do not hide each other.
    pub places: Vec<(f64, f64)>,
    pub colour: Colour,
}

impl Mark for Missing {
    fn extent(&self) -> Extent {
        let xs = || self.places.iter().map(|(x, _)| *x).filter(|x| x.is_finite());
        let (low, high) = (xs().fold(f64::INFINITY, f64::min), xs().fold(f64::NEG_INFINITY, f64::max));
        Extent { x: (low <= high).then_some((low, high)), y: None }
    }

    fn draw(&self, frame: &Frame, canvas: &mut Canvas) {
        for (x, aside) in &self.places {
            let place = (frame.x(*x) + aside, frame.bottom() - 6.0);
            canvas.marker(place, Marker::Cross, &Stroke::solid(self.colour, 1.4));
        }
    }
}
