//! Where boxes stand: layers from left to right, rows from top to bottom.

use super::fold::Folded;

/// Where every box stands.
pub struct Layout {
    /// For each box its layer, from 0 on.
    pub layers: Vec<usize>,
    /// For each box its row: 0 is that of the bottleneck, negative ones are above it.
    pub rows: Vec<f64>,
}

/// Place all boxes.
pub fn layout(folded: &Folded) -> Layout {
    let arrows = arrows(folded);
    let layers = layers(folded, &arrows);
    Layout { rows: rows(folded, &layers), layers }
}

/// Which box stands left of which: as forward data passes them, and reverse data from its end. One that would close a
/// circle is left out.
fn arrows(folded: &Folded) -> Vec<(usize, usize)> {
    let mut arrows: Vec<(usize, usize)> = Vec::new();
    let ways = folded.courses.iter().map(|course| match course.reverse {
        false => course.data.boxes.clone(),
        true => course.data.boxes.iter().rev().copied().collect(),
    });
    let wires = folded.wires.iter().map(|wire| vec![wire.ends.0, wire.ends.1]);
    for way in ways.chain(wires) {
        for pair in way.windows(2) {
            let arrow = (pair[0], pair[1]);
            if !arrows.contains(&arrow) && !reaches(&arrows, arrow.1, arrow.0) {
                arrows.push(arrow);
            }
        }
    }
    arrows
}

fn reaches(arrows: &[(usize, usize)], from: usize, to: usize) -> bool {
    let mut seen = vec![from];
    let mut next = 0;
    while let Some(&node) = seen.get(next) {
        if node == to {
            return true;
        }
        for (_, after) in arrows
            .iter()
            .filter(|(before, after)| *before == node && !seen.contains(after))
            .copied()
            .collect::<Vec<_>>()
        {
            seen.push(after);
        }
        next += 1;
    }
    false
}

/// Each box as far left as those before it let it, except that one with nothing before it stands next to what comes
/// after it.
fn layers(folded: &Folded, arrows: &[(usize, usize)]) -> Vec<usize> {
    let count = folded.boxes.len();
    let mut layers = vec![0; count];
    // There are no circles, so that the longest way has fewer arrows than there are boxes.
    for _ in 0..count {
        for (before, after) in arrows {
            layers[*after] = layers[*after].max(layers[*before] + 1);
        }
    }
    for index in 0..count {
        let first = arrows.iter().all(|(_, after)| *after != index);
        let next =
            arrows.iter().filter(|(before, _)| *before == index).map(|(_, after)| layers[*after]).min();
        if let Some(next) = next.filter(|_| first) {
            layers[index] = next - 1;
        }
    }
    let least = layers.iter().copied().min().unwrap_or(0);
    layers.iter().map(|layer| layer - least).collect()
}

/// The way over the bottleneck stands in one row. Of the others, senders stand under it and what ends there above; a layer
/// of hosts alone is centred.
fn rows(folded: &Folded, layers: &[usize]) -> Vec<f64> {
    let spine = spine(folded);
    let mut rows = vec![0.0; layers.len()];
    for layer in 0..=layers.iter().copied().max().unwrap_or(0) {
        let here: Vec<usize> = (0..layers.len()).filter(|index| layers[*index] == layer).collect();
        if here.iter().all(|index| folded.boxes[*index].host) {
            for (place, index) in here.iter().enumerate() {
                rows[*index] = place as f64 - (here.len() - 1) as f64 / 2.0;
            }
            continue;
        }
        let (mut above, mut under) = (0.0, 0.0);
        let mut taken = false;
        for index in here {
            let of_box = &folded.boxes[index];
            rows[index] = match () {
                () if spine.contains(&index) && !of_box.host && !taken => {
                    taken = true;
                    0.0
                }
                () if of_box.host && of_box.sends => {
                    under += 1.0;
                    under
                }
                () => {
                    above -= 1.0;
                    above
                }
            };
        }
    }
    rows
}

/// The boxes of the first course that crosses the bottleneck.
fn spine(folded: &Folded) -> Vec<usize> {
    let Some(bottleneck) = folded.bottleneck else { return Vec::new() };
    let course = folded.courses.iter().find(|course| course.data.wires.contains(&bottleneck));
    let ends = folded.wires[bottleneck].ends;
    course.map_or_else(|| vec![ends.0, ends.1], |course| course.data.boxes.clone())
}
