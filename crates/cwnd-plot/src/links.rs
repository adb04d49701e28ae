//! Places of a figure that a reader of a web page can choose.

use super::canvas::Canvas;
use super::figure::Mark;
use super::frame::{Extent, Frame};

/// Places that can be chosen, such as the points of a line. Only [`Grid::to_linked_svg`](crate::Grid::to_linked_svg) draws them: as
/// invisible circles, which are buttons with the attribute `data-link`.
#[derive(Clone, Debug, Default)]
pub struct Links(pub Vec<Link>);

/// A place that can be chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Where it is, in the values of the axes. A place that is not finite is left out.
    pub at: (f64, f64),
    /// What it stands for: the value of `data-link`.
    pub name: String,
    /// Its name for a reader.
    pub label: String,
}

impl Mark for Links {
    fn extent(&self) -> Extent {
        Extent::default()
    }

    fn draw(&self, frame: &Frame, canvas: &mut Canvas) {
        for Link { at, name, label } in &self.0 {
            canvas.link((frame.x(at.0), frame.y(at.1)), name, label);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Block, Grid, Panel};
    use super::*;

    #[test]
    fn links_are_drawn_where_they_are_asked_for_alone() {
        let axis = || Axis::linear("x", "").from(0.0).to(10.0);
        let mut panel = Panel::new(axis(), axis(), 100.0);
        let link = |at, name: &str| Link { at, name: name.to_owned(), label: "a < b".to_owned() };
        panel.add(Links(vec![link((5.0, 5.0), "7"), link((f64::NAN, 1.0), "8")]));
        let mut grid = Grid::new("title", 1);
        grid.blocks.push(Block { title: String::new(), panels: vec![panel] });
        assert!(!grid.to_inline_svg().contains("data-link") && !grid.to_svg().contains("data-link"));
        let linked = grid.to_linked_svg();
        assert_eq!(linked.matches("data-link=\"7\"").count(), 1);
        assert!(
            linked.contains("aria-label=\"a &lt; b\"") && !linked.contains("data-link=\"8\""),
            "{linked}"
        );
        assert!(linked.contains("role=\"group\""));
    }
}
