//! The area of a panel between its axes, and the range of values that it has to cover.

use super::axis::Fitted;

/// The least and the greatest values of something, in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Extent {
    /// Along the horizontal axis; none if there is nothing.
    pub x: Option<(f64, f64)>,
    /// Along the vertical axis; none if there is nothing.
    pub y: Option<(f64, f64)>,
}

/// The positions of values in a panel.
pub struct Frame {
    pub(super) x: Fitted,
    pub(super) y: Fitted,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Extent {
    /// The same with a point; values that are not finite are left out.
    pub fn with(self, x: f64, y: f64) -> Extent {
        if !(x.is_finite() && y.is_finite()) {
            return self;
        }
        self.union(&Extent { x: Some((x, x)), y: Some((y, y)) })
    }

    /// Returns the range that covers both.
    pub fn union(self, other: &Extent) -> Extent {
        let union = |a: Option<(f64, f64)>, b: Option<(f64, f64)>| match (a, b) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
        Extent { x: union(self.x, other.x), y: union(self.y, other.y) }
    }
}

impl Frame {
    /// Returns the position of a value on the horizontal axis; not finite if it has none.
    pub fn x(&self, value: f64) -> f64 {
        self.x.place(value, self.left, self.right)
    }

    /// Returns the position of a value on the vertical axis; not finite if it has none.
    pub fn y(&self, value: f64) -> f64 {
        self.y.place(value, self.bottom, self.top)
    }

    /// The left edge of the area between the axes.
    pub fn left(&self) -> f64 {
        self.left
    }

    /// The right edge.
    pub fn right(&self) -> f64 {
        self.right
    }

    /// The upper edge.
    pub fn top(&self) -> f64 {
        self.top
    }

    /// The lower edge.
    pub fn bottom(&self) -> f64 {
        self.bottom
    }
}
