//! `[[claims]]`.

use super::keys::{CLAIM, MEASURES};
use super::reader::Fields;
use super::reason::reason;
use super::scope::Scope;
use crate::{Claim, ClaimKind, ClaimTest, Expectation, PairSummary, Range, Selection, Study};

pub(super) fn claims(file: &Fields<'_>, scope: &Scope<'_>) -> Vec<Claim> {
    file.tables("claims", &CLAIM).into_iter().filter_map(|fields| claim(&fields, scope)).collect()
}

fn claim(fields: &Fields<'_>, scope: &Scope<'_>) -> Option<Claim> {
    let text = fields.text("text");
    let optional = |key: &str| fields.text(key).map(|text| text.value);
    let (source, stated, reason) = (optional("source"), optional("stated"), reason(fields, scope));
    let test = match fields.get("not-testable") {
        Some(_) => untestable(fields),
        None => tested(fields, scope),
    };
    Some(Claim { text: text?.value, source, stated, test: test?, reason })
}

/// What cannot be checked says why, and nothing of how it would be.
fn untestable(fields: &Fields<'_>) -> Option<ClaimTest> {
    let why = fields.text("not-testable");
    let before = fields.sink.count();
    for key in TESTS.into_iter().filter(|key| fields.get(key).is_some()) {
        let message = format!("what is `not-testable` has no `{key}`");
        fields.sink.error(&fields.span_of(key), message);
    }
    why.filter(|_| fields.sink.count() == before).map(|why| ClaimTest::NotTestable(why.value))
}

/// The keys of a claim that is checked.
const TESTS: [&str; 10] =
    ["measure", "metric", "axis", "of", "over", "where", "expect", "gain", "printed", "scale"];

fn tested(fields: &Fields<'_>, scope: &Scope<'_>) -> Option<ClaimTest> {
    for key in ["measure", "metric"].into_iter().filter(|key| fields.get(key).is_none()) {
        let help = "or say why it cannot be checked: `not-testable = \"why\"`";
        fields.sink.error_with(&fields.span, format!("{} needs `{key}`", CLAIM.header), help);
    }
    let expect = expectation(fields);
    let kind = kind(fields, scope);
    if let (Some(text), Some(kind)) = (fields.text("text"), &kind)
        && let Some(word) = comparison(&text.value).filter(|_| !compares(scope.study, kind))
    {
        let message = format!("the claim compares (`{word}`), and its measure does not");
        let help = "measure a `gain`, a `difference` or `wins`, or use a metric that compares flows, such as `jain_index`";
        fields.sink.error_with(&text.span, message, help);
    }
    Some(ClaimTest::Measured { kind: kind?, expect: expect? })
}

/// Returns the word by which a sentence compares two things. A number after `than` is a bound.
fn comparison(text: &str) -> Option<&'static str> {
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    words.iter().enumerate().find_map(|(i, word)| match *word {
        "than" => words.get(i + 1).is_none_or(|next| !is_number(next)).then_some("than"),
        "alike" => Some("alike"),
        "outperforms" => Some("outperforms"),
        _ => None,
    })
}

/// Returns whether a measure compares: cells with cells, or within a run flows with flows.
fn compares(study: &Study, kind: &ClaimKind) -> bool {
    let metric = kind.metric();
    let own = metric.rsplit('.').next().unwrap_or(metric);
    let of_flows =
        own.starts_with("jain") || ["group_ratio", "throughput_ratio", "throughput_share"].contains(&own);
    matches!(kind, ClaimKind::Gain { .. } | ClaimKind::Wins { .. })
        || of_flows
        || study.derived.iter().any(|derived| derived.name == metric)
}

/// What it is held against: one of three.
fn expectation(fields: &Fields<'_>) -> Option<Expectation> {
    let sink = fields.sink;
    let given: Vec<&str> =
        ["expect", "gain", "printed"].into_iter().filter(|key| fields.get(key).is_some()).collect();
    if fields.get("scale").is_some() && !given.contains(&"printed") {
        sink.error(&fields.span_of("scale"), "`scale` goes with `printed`");
    }
    match given[..] {
        ["expect"] => fields.text("expect").and_then(|text| {
            let range = range(&text.value);
            if let Err(message) = &range {
                let help = "write `>= 0.95`, `> 0.5`, `<= 3` or `0.4 to 0.7`";
                sink.error_with(&text.span, format!("`expect`: {message}"), help);
            }
            range.ok().map(Expectation::Within)
        }),
        ["gain"] => {
            goes_with(fields, "gain", &["gain", "difference", "greatest-gain", "greatest-difference"]);
            let gain = fields.number("gain")?;
            if gain.value <= 0.0 {
                let help = "0.55 for 55 %; turn `of` and `over` round for a loss";
                sink.error_with(&gain.span, "a stated gain is over 0", help);
                return None;
            }
            Some(Expectation::Gain(gain.value))
        }
        ["printed"] => {
            goes_with(fields, "printed", &["mean", "greatest", "least"]);
            let value = fields.number("printed").map(|number| number.value);
            let scale = match fields.get("scale") {
                None => 1.0,
                Some(_) => fields.number("scale")?.value,
            };
            if scale <= 0.0 {
                let help = "1e-6 for Mbit/s, 100 for per cent";
                sink.error_with(&fields.span_of("scale"), "ours is multiplied by a number over 0", help);
                return None;
            }
            value.map(|value| Expectation::Printed { value, scale })
        }
        [] => {
            let help = "`expect` a range, a stated `gain`, or a `printed` number";
            sink.error_with(&fields.span, "the claim is held against nothing", help);
            None
        }
        _ => {
            let message =
                format!("a claim is held against one thing: `{}` are {}", given.join("` and `"), given.len());
            sink.error(&fields.span_of(given[1]), message);
            None
        }
    }
}

/// An error if the claim's measure is none of these.
fn goes_with(fields: &Fields<'_>, key: &str, measures: &[&str]) {
    let measure = fields.get("measure").and_then(|_| fields.text("measure"));
    let wrong = measure
        .filter(|measure| MEASURES.contains(&measure.value.as_str()))
        .filter(|measure| !measures.contains(&measure.value.as_str()));
    if let Some(measure) = wrong {
        let message = format!("`{key}` does not go with the measure `{}`", measure.value);
        let help = format!("it goes with {}; a range goes with all: `expect`", measures.join(", "));
        fields.sink.error_with(&fields.span_of(key), message, help);
    }
}

fn kind(fields: &Fields<'_>, scope: &Scope<'_>) -> Option<ClaimKind> {
    let measure = fields.word("measure", MEASURES)?.value;
    let metric = scope.metric(fields, "metric");
    let select = scope.select(fields);
    let paired = !matches!(measure, "mean" | "greatest" | "least");
    if !paired {
        for key in ["axis", "of", "over"].into_iter().filter(|key| fields.get(key).is_some()) {
            let message = format!("`{measure}` compares nothing: it has no `{key}`");
            fields.sink.error(&fields.span_of(key), message);
        }
        let (metric, select) = (metric?, select?);
        return Some(match measure {
            "mean" => ClaimKind::Mean { metric, select },
            measure => ClaimKind::Extreme { metric, select, greatest: measure == "greatest" },
        });
    }
    let missing: Vec<&str> =
        ["axis", "of", "over"].into_iter().filter(|key| fields.get(key).is_none()).collect();
    if !missing.is_empty() {
        let help = "such as `axis = \"variant\"`, `of = \"agile-sd\"`, `over = [\"cubic\"]`";
        let message = format!("`{measure}` compares two: it needs `{}`", missing.join("`, `"));
        fields.sink.error_with(&fields.span_of("measure"), message, help);
        return None;
    }
    let axis = scope.axis(fields, "axis")?;
    let of = fields.one_text("of").and_then(|text| scope.label(fields, &axis, &text))?;
    let over = fields.texts("over")?;
    let over: Option<Vec<String>> = over.iter().map(|text| scope.label(fields, &axis, text)).collect();
    let (over, metric, select) = (over?, metric?, select?);
    if over.contains(&of) {
        fields.sink.error(&fields.span_of("over"), format!("`{of}` is compared with itself"));
        return None;
    }
    if scope.cells && scope.study.pairs(&axis, &of, &over, &select).is_empty() {
        let message = format!(
            "no two cells can be compared: no cell with `{of}` has a counterpart with `{}`",
            over.join("`, `")
        );
        fields.sink.error(&fields.span_of("measure"), message);
        return None;
    }
    Some(match measure {
        "wins" => ClaimKind::Wins { metric, axis, of, over, select },
        _ => gain(measure, metric, axis, of, over, select),
    })
}

fn gain(
    measure: &str,
    metric: String,
    axis: String,
    of: String,
    over: Vec<String>,
    select: Selection,
) -> ClaimKind {
    let pairs = match () {
        () if measure.starts_with("greatest-absolute") => PairSummary::GreatestAbsolute,
        () if measure.starts_with("greatest") => PairSummary::Greatest,
        () => PairSummary::Mean,
    };
    ClaimKind::Gain { metric, axis, of, over, select, pairs, absolute: measure.ends_with("difference") }
}

fn range(text: &str) -> Result<Range, String> {
    let number = |text: &str| {
        let parsed = text.trim().replace('_', "").parse::<f64>().ok().filter(|number| number.is_finite());
        parsed.ok_or_else(|| format!("`{}` is not a number", text.trim()))
    };
    let text = text.trim();
    for (sign, is_lower, is_open) in
        [(">=", true, false), ("<=", false, false), (">", true, true), ("<", false, true)]
    {
        if let Some(rest) = text.strip_prefix(sign) {
            let end = Some(number(rest)?);
            let (at_least, at_most) = if is_lower { (end, None) } else { (None, end) };
            return Ok(Range { at_least, at_most, is_open });
        }
    }
    let Some((low, high)) = text.split_once(" to ") else { return Err(format!("`{text}` is not a range")) };
    let (low, high) = (number(low)?, number(high)?);
    if low > high {
        return Err(format!("the range begins at {low}, above its end at {high}"));
    }
    Ok(Range { at_least: Some(low), at_most: Some(high), is_open: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_is_found_in_a_sentence() {
        assert_eq!(comparison("BIC uses more of the link than NewReno."), Some("than"));
        assert_eq!(comparison("All variants are alike."), Some("alike"));
        assert_eq!(comparison("It uses more than 85 % of the link."), None);
        assert_eq!(comparison("The first window is the largest."), None);
    }

    #[test]
    fn ranges_have_ends() {
        let both = |low, high| Ok(Range { at_least: low, at_most: high, is_open: false });
        assert_eq!(range(">= 0.95"), both(Some(0.95), None));
        assert_eq!(range("<=3"), both(None, Some(3.0)));
        assert_eq!(range("-0.1 to 1e-3"), both(Some(-0.1), Some(1e-3)));
        assert_eq!(range("1_400 to 1_600"), both(Some(1400.0), Some(1600.0)));
        assert_eq!(range("> 0.5"), Ok(Range { at_least: Some(0.5), at_most: None, is_open: true }));
        assert!(!range("> 0.5").unwrap().contains(0.5) && range(">= 0.5").unwrap().contains(0.5));
        assert!(!range("< 3").unwrap().contains(3.0) && range("<= 3").unwrap().contains(3.0));
        assert_eq!(range("= 3").unwrap_err(), "`= 3` is not a range");
        assert_eq!(range(">= nan").unwrap_err(), "`nan` is not a number");
        assert_eq!(range("2 to 1").unwrap_err(), "the range begins at 2, above its end at 1");
    }
}
