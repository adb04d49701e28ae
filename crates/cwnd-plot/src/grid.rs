//! Small multiples: panels side by side, with common axes.

use super::axis::Fitted;
use super::canvas::{Anchor, Canvas, Label};
use super::colour_scale::ColourBar;
use super::figure::{Edges, OVERHANG, Panel};
use super::frame::{Extent, Frame};
use super::key::{self, Key};
use super::layout::{MARGIN, NAME, TEXT, TICK};
use super::style::{GREY, INK};
use super::text;

/// Blocks in rows and columns, with a legend above and a caption below.
pub struct Grid {
    /// Its title in a line: above a figure in a file, and for readers who cannot see it.
    pub title: String,
    /// The same in a sentence or two.
    pub description: String,
    /// The caption in small type below: origin and explanation.
    pub caption: String,
    /// The legend.
    pub keys: Vec<Key>,
    /// Number of blocks in a row.
    pub columns: usize,
    /// The blocks, row by row. All have the same panels in the same order.
    pub blocks: Vec<Block>,
    /// Texts above and to the side of the panels.
    pub headings: Headings,
    /// One vertical axis for all panels of a kind, whatever their values. Else only where the values are alike; see
    /// [`Grid::is_shared`].
    pub share_y: bool,
    /// Key of the colours, to the right.
    pub bar: Option<ColourBar>,
    /// Its width, with everything in this unit. Text is 11 to 12 high.
    pub width: f64,
}

/// Panels one above the other, with a common horizontal axis.
pub struct Block {
    /// Its title, if there are several.
    pub title: String,
    /// The panels.
    pub panels: Vec<Panel>,
}

/// The titles of blocks.
pub enum Headings {
    /// The title of each, above it.
    Own,
    /// Names of the columns above the first row, and of the rows at the right.
    Matrix {
        /// One for each column.
        columns: Vec<String>,
        /// One for each row; none if there is one row.
        rows: Vec<String>,
    },
}

/// Between a row of blocks and the next, and between panels of a block.
const GAP: f64 = 10.0;
const HEADING: f64 = 20.0;
/// Size of the title.
const TITLE: f64 = 14.0;

impl Grid {
    /// A grid without blocks.
    pub fn new(title: impl Into<String>, columns: usize) -> Grid {
        Grid {
            title: title.into(),
            description: String::new(),
            caption: String::new(),
            keys: Vec::new(),
            columns: columns.max(1),
            blocks: Vec::new(),
            headings: Headings::Own,
            share_y: true,
            bar: None,
            width: 720.0,
        }
    }

    /// Whether the panels of this kind (the `panel`-th of every block) have one vertical axis: where asked for, or
    /// where the greatest value of no block is under a fifth of another's.
    pub fn is_shared(&self, panel: usize) -> bool {
        let tops = self.blocks.iter().filter_map(|b| Some(b.panels.get(panel)?.extent().y?.1.abs()));
        let (least, most) = tops.fold((f64::INFINITY, 0.0f64), |(l, m), top| (l.min(top), m.max(top)));
        self.share_y || least >= most / 5.0
    }

    /// The figure as an SVG file, with its title and its caption.
    pub fn to_svg(&self) -> String {
        let (canvas, height) = self.draw(&self.title, &self.caption, false);
        canvas.into_svg(self.width, height, &self.title, &self.description)
    }

    /// The figure as a part of a page that has the caption in its own text.
    pub fn to_inline_svg(&self) -> String {
        self.inline_svg(false)
    }

    /// The same, in which a reader can choose the places of [`Links`](crate::Links).
    pub fn to_linked_svg(&self) -> String {
        self.inline_svg(true)
    }

    fn inline_svg(&self, is_linked: bool) -> String {
        let (canvas, height) = self.draw("", "", is_linked);
        canvas.into_inline_svg(self.width, height, &format!("{}. {}", self.title, self.description))
    }

    fn draw(&self, title: &str, caption: &str, is_linked: bool) -> (Canvas, f64) {
        let mut canvas = Canvas::new(is_linked);
        let layout = Layout::new(self);
        let (left, room) = (layout.lefts[0], layout.right - layout.lefts[0]);
        let mut y = MARGIN;
        for line in text::wrap_bold(title, TITLE, self.width - 2.0 * MARGIN) {
            canvas.text(MARGIN, y + TITLE, &Label::new(TITLE, INK).bold(), &line);
            y += 1.35 * TITLE;
        }
        let keys = key::Rows::new(&self.keys, 0.0, room);
        keys.draw(&mut canvas, left, y);
        y += keys.height() + if self.keys.is_empty() { 0.0 } else { 6.0 };
        if let Headings::Matrix { columns, .. } = &self.headings {
            for (name, left) in columns.iter().zip(&layout.lefts) {
                let style = Label::new(TEXT, INK).bold().anchor(Anchor::Middle);
                let name = text::shorten(name, 1.1 * TEXT, layout.panel);
                canvas.text(left + layout.panel / 2.0, y + TEXT, &style, &name);
            }
            y += HEADING;
        }
        for (row, blocks) in self.blocks.chunks(self.columns).enumerate() {
            y = self.draw_row(&mut canvas, &layout, row, blocks, y);
        }
        if let Some(panel) = self.blocks.first().and_then(|block| block.panels.first()) {
            let style = Label::new(TEXT, INK).anchor(Anchor::Middle);
            let label = text::shorten(&panel.x.label, TEXT, room);
            y += TEXT + 2.0;
            // Under the last row, which may have fewer blocks than others.
            let last = match self.blocks.len() % self.columns {
                0 => self.columns,
                some => some,
            };
            let right = layout.lefts[last - 1] + layout.panel;
            canvas.text((left + right) / 2.0, y, &style, &label);
            y += 4.0;
        }
        for line in text::wrap(caption, TICK, self.width - 2.0 * MARGIN) {
            y += 1.35 * TICK;
            canvas.text(MARGIN, y, &Label::new(TICK, GREY), &line);
        }
        (canvas, (y + MARGIN).ceil())
    }

    /// Draws a row of blocks, and returns where the next may begin.
    fn draw_row(&self, canvas: &mut Canvas, layout: &Layout, row: usize, blocks: &[Block], top: f64) -> f64 {
        let mut bottom = top;
        let has_titles = matches!(self.headings, Headings::Own) && blocks.iter().any(|b| !b.title.is_empty());
        for (column, block) in blocks.iter().enumerate() {
            let (left, right) = (layout.lefts[column], layout.lefts[column] + layout.panel);
            let mut y = top;
            if has_titles {
                let title = text::shorten(&block.title, 1.1 * TEXT, layout.panel);
                canvas.text(left, y + TEXT, &Label::new(TEXT, INK).bold(), &title);
                y += HEADING;
            }
            let index = row * self.columns + column;
            let is_lowest = index + self.columns >= self.blocks.len();
            for (i, panel) in block.panels.iter().enumerate() {
                let (x_axis, y_axis) = layout.axes[index][i].clone();
                let frame = Frame { x: x_axis, y: y_axis, left, right, top: y, bottom: y + panel.height };
                let x_labels = is_lowest && i + 1 == block.panels.len();
                let edges = Edges {
                    x_labels,
                    x_title: false,
                    y_labels: column == 0 || !layout.shared.iter().all(|shared| *shared),
                    // The last line of every title is next to the axis.
                    y_title: (column == 0).then(|| {
                        let spare =
                            layout.y_lines - panel.y_title(layout.overhang).len().clamp(1, layout.y_lines);
                        MARGIN + 1.15 * TEXT * spare as f64
                    }),
                    overhang: layout.overhang,
                };
                panel.draw(canvas, &frame, edges);
                if let (Some(bar), 0, true) = (&self.bar, i, column + 1 == self.columns) {
                    bar.draw(canvas, layout.right, y, panel.height);
                }
                y += panel.height + if x_labels { layout.x_labels } else { GAP };
            }
            bottom = bottom.max(y);
        }
        if let Headings::Matrix { rows, .. } = &self.headings
            && let Some(name) = rows.get(row)
        {
            let panels = blocks.iter().map(|b| b.panels.iter().map(|p| p.height + GAP).sum::<f64>() - GAP);
            let height = panels.fold(0.0, f64::max);
            let style = Label::new(TEXT, INK).bold().anchor(Anchor::Middle).upright();
            let name = text::shorten(name, 1.1 * TEXT, height);
            canvas.text(layout.right + TEXT + 4.0, top + height / 2.0, &style, &name);
        }
        bottom + if (row + 1) * self.columns < self.blocks.len() { 4.0 } else { 0.0 }
    }
}

/// The positions of all parts.
struct Layout {
    /// Left edge of the area between the axes, for each column.
    lefts: Vec<f64>,
    /// Width of that area.
    panel: f64,
    /// Right edge of the last.
    right: f64,
    /// Height of the labels under a panel.
    x_labels: f64,
    /// Number of lines of the longest title of a vertical axis.
    y_lines: usize,
    /// The length by which this title may exceed its axis.
    overhang: f64,
    /// For each kind of panel, whether all have one vertical axis.
    shared: Vec<bool>,
    /// For each block and panel its axes.
    axes: Vec<Vec<(Fitted, Fitted)>>,
}

impl Layout {
    fn new(grid: &Grid) -> Layout {
        let kinds = grid.blocks.iter().map(|block| block.panels.len()).max().unwrap_or(0);
        let shared: Vec<bool> = (0..kinds).map(|kind| grid.is_shared(kind)).collect();
        let extents: Vec<Vec<Extent>> =
            grid.blocks.iter().map(|block| block.panels.iter().map(Panel::extent).collect()).collect();
        let all = extents.iter().flatten().fold(Extent::default(), |all, extent| all.union(extent));
        let y_of = |block: usize, kind: usize| {
            let same_kind = || extents.iter().filter_map(|block| block.get(kind));
            let union = || same_kind().fold(Extent::default(), |all, extent| all.union(extent));
            if shared[kind] { union().y } else { extents[block][kind].y }
        };
        let y_axes: Vec<Vec<Fitted>> = (0..grid.blocks.len())
            .map(|b| {
                let panels = grid.blocks[b].panels.iter().enumerate();
                panels.map(|(k, p)| p.y.fit(y_of(b, k), ((p.height / 28.0) as usize).max(2))).collect()
            })
            .collect();

        let widest = |column: usize| {
            let own = y_axes.iter().skip(column).step_by(grid.columns).flatten();
            let labels = own.flat_map(|axis| &axis.ticks.major);
            labels.map(|(_, label)| text::width(label, TICK).min(NAME)).fold(0.0, f64::max) + 7.0
        };
        let gaps: Vec<f64> = (0..grid.columns)
            .map(|column| match column {
                0 => widest(0),
                // The last label of a horizontal axis and the first of the next do not touch.
                _ if shared.iter().all(|shared| *shared) => 22.0,
                _ => 14.0 + widest(column),
            })
            .collect();
        let beside = match (&grid.bar, &grid.headings) {
            (Some(bar), _) => {
                bar.width(grid.blocks.iter().flat_map(|b| &b.panels).map(|p| p.height).fold(0.0, f64::max))
            }
            (None, Headings::Matrix { rows, .. }) if !rows.is_empty() => TEXT + 6.0,
            (None, _) => 0.0,
        };
        let overhang = overhang(grid);
        let titles = grid.blocks.iter().flat_map(|b| &b.panels).map(|panel| panel.y_title(overhang).len());
        let y_lines = titles.max().unwrap_or(1).max(1);
        let start = MARGIN + TEXT + 1.15 * TEXT * (y_lines - 1) as f64 + 6.0;
        let right = grid.width - MARGIN - beside;
        let panel = ((right - start - gaps.iter().sum::<f64>()) / grid.columns as f64).max(40.0);
        let mut at = start;
        let lefts = gaps.iter().map(|gap| {
            let left = at + gap;
            at = left + panel;
            left
        });
        let lefts: Vec<f64> = lefts.collect();

        let most = ((panel / 62.0) as usize).max(2);
        let axes: Vec<Vec<(Fitted, Fitted)>> = grid
            .blocks
            .iter()
            .zip(y_axes)
            .map(|(block, y)| block.panels.iter().map(|p| p.x.fit(all.x, most)).zip(y).collect())
            .collect();
        let lowest = grid.blocks.first().and_then(|block| block.panels.last());
        let x_labels = 6.0 + lowest.map_or(1.15 * TICK, |lowest| lowest.x_labels_height(panel)) + 4.0;
        Layout { lefts, panel, right, x_labels, y_lines, overhang, shared, axes }
    }
}

/// The length by which titles of vertical axes may exceed their axes: none where those of panels one above the other would
/// touch otherwise.
fn overhang(grid: &Grid) -> f64 {
    let beyond = |panel: &Panel| {
        let lines = panel.y_title(OVERHANG);
        let longest = lines.iter().map(|line| text::width(line, TEXT)).fold(0.0, f64::max);
        (longest - panel.height) / 2.0
    };
    // What is between a panel and the next one below it, which is the first of another block after the last.
    let touches = |above: &Panel, below: &Panel, gap: f64| beyond(above) + beyond(below) + 2.0 > gap;
    let within = |block: &Block| block.panels.windows(2).any(|pair| touches(&pair[0], &pair[1], GAP));
    let heading = if matches!(grid.headings, Headings::Own) { HEADING } else { 0.0 };
    let across = grid.blocks.iter().zip(grid.blocks.iter().skip(grid.columns)).any(|(above, below)| {
        let pair = above.panels.last().zip(below.panels.first());
        pair.is_some_and(|(above, below)| touches(above, below, GAP + 4.0 + heading))
    });
    if across || grid.blocks.iter().any(within) { 0.0 } else { OVERHANG }
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Line, style::Stroke};
    use super::*;

    fn block(title: &str, top: f64) -> Block {
        let mut panel = Panel::new(Axis::linear("x", ""), Axis::linear("height", "m").from(0.0), 80.0);
        panel.add(Line::new(vec![(0.0, 1.0), (10.0, top)], Stroke::solid(INK, 1.0)));
        Block { title: title.into(), panels: vec![panel] }
    }

    #[test]
    fn panels_share_an_axis_where_values_are_alike() {
        let mut grid = Grid::new("", 2);
        grid.share_y = false;
        grid.blocks = vec![block("a", 100.0), block("b", 30.0)];
        assert!(grid.is_shared(0));
        grid.blocks.push(block("c", 10.0));
        assert!(!grid.is_shared(0));
        grid.share_y = true;
        assert!(grid.is_shared(0));
    }

    #[test]
    fn labels_stand_at_the_left_and_below_the_lowest() {
        let mut grid = Grid::new("", 2);
        grid.blocks = vec![block("a", 10.0), block("b", 10.0), block("c", 10.0)];
        let svg = grid.to_svg();
        assert_eq!(svg.matches(">height (m)<").count(), 2, "once a row");
        assert_eq!(svg.matches(">x<").count(), 1, "once");
        // Blocks b and c are the lowest of their columns, a and c stand at the left.
        assert_eq!(svg.matches("text-anchor=\"end\">10<").count(), 2);
        assert_eq!(svg.matches("text-anchor=\"middle\">10<").count(), 2);
    }

    #[test]
    fn titles_of_vertical_axes_do_not_touch() {
        let titled = |title: &str| Panel::new(Axis::linear("x", ""), Axis::linear(title, "packets"), 90.0);
        let mut grid = Grid::new("", 1);
        let panels = vec![titled("in flight"), titled("ssthresh")];
        grid.blocks = vec![Block { title: String::new(), panels }];
        let svg = grid.to_svg();
        assert_eq!([svg.matches(">in flight<").count(), svg.matches(">(packets)<").count()], [1, 2]);
        grid.blocks[0].panels.pop();
        assert!(grid.to_svg().contains(">in flight (packets)<"), "a title has more room where it is alone");
    }

    #[test]
    fn an_empty_grid_is_an_empty_picture() {
        let svg = Grid::new("Nothing", 3).to_svg();
        assert!(svg.starts_with("<svg ") && !svg.contains("NaN"));
    }
}
