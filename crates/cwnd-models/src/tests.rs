use super::*;

#[test]
fn names_are_unique_and_can_be_found() {
    for (i, model) in all().iter().enumerate() {
        assert!(all()[i + 1..].iter().all(|other| other.name != model.name), "{}", model.name);
        assert_eq!(find(model.name).unwrap().title, model.title);
        for text in [model.title, model.source, model.reading, model.x.name] {
            assert!(!text.is_empty(), "{}", model.name);
        }
    }
    assert!(find("elastic-figure-3").is_none());
}

#[test]
fn every_figure_can_be_drawn() {
    let within = |quantity: &Quantity, value: f64| {
        let slack = 1e-9 * value.abs().max(1.0);
        value.is_finite()
            && quantity.from.is_none_or(|from| value >= from - slack)
            && quantity.to.is_none_or(|to| value <= to + slack)
            && !(quantity.logarithmic && value <= 0.0)
    };
    for model in all() {
        let panels = (model.panels)();
        assert!(!panels.is_empty());
        for panel in &panels {
            assert!(!panel.lines.is_empty());
            for line in &panel.lines {
                let name = std::format!("{}, {}", model.name, line.label);
                assert!(line.points.len() >= 2, "{name}");
                for (x, y) in &line.points {
                    assert!(within(&model.x, *x), "{name}: x = {x}");
                    assert!(within(&panel.y, *y), "{name}: y = {y} at {x}");
                }
                let is_sorted = line.points.is_sorted_by(|a, b| a.0 <= b.0);
                assert!(is_sorted || line.kind == LineKind::Trajectory, "{name}");
            }
        }
    }
}

#[test]
fn ranges_have_their_ends() {
    assert_eq!(steps(1.0, 2.0, 5).collect::<Vec<_>>(), [1.0, 1.25, 1.5, 1.75, 2.0]);
    let all: Vec<f64> = ratios(1.0, 400.0, 3).collect();
    assert_eq!((all[0], all[2]), (1.0, 400.0));
    assert!((all[1] - 20.0).abs() < 1e-9);
}
