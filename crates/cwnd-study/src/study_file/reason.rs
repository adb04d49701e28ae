//! `because` and `unexplained` of a claim: words, and numbers that are cited from runs in braces.

use super::reader::{At, Fields};
use super::scope::Scope;
use crate::{Citation, Cited, Explanation, Formula, Phrase, Reason, Selection, Study};
use std::collections::BTreeMap;

/// Reads the reason of a claim, if it has one.
pub(super) fn reason(fields: &Fields<'_>, scope: &Scope<'_>) -> Option<Reason> {
    let (because, unexplained) = (fields.text("because"), fields.text("unexplained"));
    if let (Some(_), Some(_)) = (&because, &unexplained) {
        let message = "a claim has either `because` or `unexplained`";
        fields.sink.error(&fields.span_of("unexplained"), message);
    }
    if let Some(text) = because.as_ref().or(unexplained.as_ref())
        && fields.get("not-testable").is_some()
    {
        fields.sink.error(&text.span, "what is `not-testable` has its reason there");
    }
    let known = known_numbers(fields, scope.study);
    let read = |text: At<String>| explanation(&text, &known, fields, scope);
    match because {
        Some(text) => Some(Reason::Because(read(text)?)),
        None => Some(Reason::Unexplained(read(unexplained?)?)),
    }
}

fn explanation(
    text: &At<String>,
    known: &[String],
    fields: &Fields<'_>,
    scope: &Scope<'_>,
) -> Option<Explanation> {
    let wrong = |message: String| {
        let help = "write `{utilisation; variant=CUBIC; buffer=5}`; docs/claims.md has the notation";
        fields.sink.error_with(&text.span, message, help);
    };
    let explanation = match parse(&text.value) {
        Ok(explanation) => explanation,
        Err(message) => {
            wrong(message);
            return None;
        }
    };
    let written = Phrases(&text.value);
    if let Some(number) = written.words().find_map(|words| typed_number(words, known)) {
        let message = format!("the number `{number}` is typed, not measured");
        let help = "cite it from the runs: `{utilisation; variant=CUBIC}`; write a constant as `{= 0.95}`";
        fields.sink.error_with(&text.span, message, help);
    }
    let own = explanation.citations().filter(|citation| citation.study.is_none());
    for citation in own.filter(|_| scope.cells && scope.axes) {
        if let Err(message) = citation.check(scope.study) {
            wrong(message);
        }
    }
    Some(explanation)
}

/// Reads a text with citations.
fn parse(text: &str) -> Result<Explanation, String> {
    let mut phrases = Vec::new();
    for piece in Phrases(text).pieces() {
        match piece? {
            Piece::Words(words) => phrases.push(Phrase::Words(words.to_owned())),
            Piece::Braces(inner) => match inner.trim().strip_prefix('=') {
                Some(constant) => phrases.push(Phrase::Words(constant.trim().to_owned())),
                None => phrases.push(Phrase::Cited(citation(inner)?)),
            },
        }
    }
    Ok(Explanation(phrases))
}

/// A text whose parts in braces are apart.
struct Phrases<'a>(&'a str);

enum Piece<'a> {
    Words(&'a str),
    Braces(&'a str),
}

impl<'a> Phrases<'a> {
    fn pieces(&self) -> impl Iterator<Item = Result<Piece<'a>, String>> + use<'a> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let Some(open) = rest.find('{') else {
                return Some(Ok(Piece::Words(std::mem::take(&mut rest))));
            };
            if open > 0 {
                let (words, after) = rest.split_at(open);
                rest = after;
                return Some(Ok(Piece::Words(words)));
            }
            match rest.find('}') {
                Some(close) => {
                    let inner = &rest[1..close];
                    rest = &rest[close + 1..];
                    Some(Ok(Piece::Braces(inner)))
                }
                None => {
                    rest = "";
                    Some(Err("a brace is not closed".to_owned()))
                }
            }
        })
    }

    fn words(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.pieces().filter_map(|piece| match piece {
            Ok(Piece::Words(words)) => Some(words),
            Ok(Piece::Braces(_)) | Err(_) => None,
        })
    }
}

/// Reads `[STUDY:] [mean|loss|gain|ratio|difference] METRIC[; AXIS=LABEL[|LABEL]...]`. A comparison has one `AXIS=LABEL over LABEL`.
fn citation(text: &str) -> Result<Citation, String> {
    let mut parts = text.split(';').map(str::trim);
    let head = parts.next().unwrap_or_default();
    let (study, head) = match head.split_once(':') {
        Some((study, head)) => (Some(study.trim().to_owned()), head.trim()),
        None => (None, head),
    };
    let (word, metric) = match head.split_once(char::is_whitespace) {
        Some((word, metric)) => (Some(word), metric.trim()),
        None => (None, head),
    };
    let named = |word: &str| Formula::ALL.into_iter().find(|(name, _)| *name == word);
    let formula = word.and_then(named).map(|(_, formula)| formula);
    let mut select = BTreeMap::new();
    let mut pair = None;
    for part in parts {
        let (axis, labels) = part.split_once('=').ok_or_else(|| format!("`{part}` is not `AXIS=LABEL`"))?;
        let (axis, labels) = (axis.trim().to_owned(), labels.trim());
        // A label may have the word, too.
        match labels.split_once(" over ").filter(|_| formula.is_some() && pair.is_none()) {
            Some((of, over)) => pair = Some((axis, of.trim().to_owned(), over.trim().to_owned())),
            None => {
                select.insert(axis, labels.split('|').map(|label| label.trim().to_owned()).collect());
            }
        }
    }
    let of = match (formula, pair, word) {
        (Some(formula), Some((axis, of, over)), _) => Cited::Pairs { formula, axis, of, over },
        (None, None, None) => Cited::Each,
        (None, None, Some("mean")) => Cited::Mean,
        (Some(_), None, Some(word)) => {
            return Err(format!("`{word}` compares two cells: add `AXIS=LABEL over LABEL`"));
        }
        (None, None, Some(word)) => {
            return Err(format!("`{word}` is none of mean, loss, gain, ratio and difference"));
        }
        // A pair is only read after a comparison.
        (None, Some(_), _) | (Some(_), None, None) => return Err("a comparison needs its word".to_owned()),
    };
    let metric = metric.to_owned();
    Ok(Citation { study, of, metric, select: Selection(select) })
}

/// Returns the numbers that a reason may use without a citation: those of the claim's own words, and those of the labels that it
/// may name.
fn known_numbers(fields: &Fields<'_>, study: &Study) -> Vec<String> {
    let of_claim =
        ["text", "stated", "source"].into_iter().filter_map(|key| fields.text(key)).map(|text| text.value);
    let of_labels = study.axes.iter().flat_map(|axis| &axis.points).map(|point| point.label.clone());
    of_claim
        .chain(of_labels)
        .flat_map(|text| numbers(&text).map(|(_, number)| plain(number)).collect::<Vec<_>>())
        .collect()
}

/// Returns the first number that is neither known nor part of a reference such as `figure 4`.
fn typed_number<'a>(words: &'a str, known: &[String]) -> Option<&'a str> {
    const REFERENCES: &[&str] = &[
        "figure",
        "figures",
        "table",
        "tables",
        "section",
        "sections",
        "equation",
        "equations",
        "RFC",
        "Linux",
        "experiment",
        "theorem",
        "algorithm",
        "appendix",
        "seed",
        "flow",
    ];
    let mut reference = false;
    for (before, number) in numbers(words) {
        let word = before.split_whitespace().next_back().unwrap_or_default().trim_matches('(');
        // `figures 4 and 6`: what follows a reference belongs to it.
        let joins = matches!(before.trim(), "and" | "to" | "," | "or");
        reference = REFERENCES.iter().any(|known| known.eq_ignore_ascii_case(word)) || (reference && joins);
        if !reference && !known.contains(&plain(number)) {
            return Some(number);
        }
    }
    None
}

/// Returns the numbers of a text, each with the words since the number before it. Digits within a word, such as in `ns-2` or
/// `P2`, are no number.
fn numbers(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_in_word = |at: usize| {
        text[..at]
            .chars()
            .next_back()
            .is_some_and(|c| c.is_alphabetic() || c == '-' || c == '_' || c == '.' || c == '`')
    };
    let mut at = 0;
    std::iter::from_fn(move || {
        let from = at;
        let mut search = at;
        loop {
            let start = search + text[search..].find(|c: char| c.is_ascii_digit())?;
            let length = text[start..]
                .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | ',' | '-' | '_')))
                .unwrap_or(text.len() - start);
            let end = start + length;
            search = end;
            if !is_in_word(start) {
                let number = text[start..end].trim_end_matches(['.', ',', '-']);
                at = start + number.len();
                return Some((&text[from..start], number));
            }
        }
    })
}

/// Returns a number without separators.
fn plain(number: &str) -> String {
    number.replace([',', '_'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Citation {
        match parse(text).map(|explanation| explanation.0) {
            Ok(phrases) => match phrases.into_iter().next() {
                Some(Phrase::Cited(citation)) => citation,
                other => panic!("{other:?}"),
            },
            Err(why) => panic!("{why}"),
        }
    }

    #[test]
    fn a_citednames_metric_and_cells() {
        let cited = parsed("{utilisation; variant=CUBIC; buffer=5|10}");
        assert_eq!((cited.study, cited.of, cited.metric.as_str()), (None, Cited::Each, "utilisation"));
        assert_eq!(cited.select.0["buffer"], ["5", "10"]);
        let cited = parsed("{senders: ratio throughput_bps; variant=Agile-SD over CUBIC}");
        assert_eq!(cited.study.as_deref(), Some("senders"));
        let (axis, of, over) = ("variant".to_owned(), "Agile-SD".to_owned(), "CUBIC".to_owned());
        assert_eq!(cited.of, Cited::Pairs { formula: Formula::Ratio, axis, of, over });
        assert_eq!(parsed("{mean jain_index}").of, Cited::Mean);
    }

    #[test]
    fn words_and_constants_stay() {
        let phrases = parse("keeps {= 0.95} of it").unwrap().0;
        let words: Vec<String> = phrases.iter().map(|phrase| format!("{phrase:?}")).collect();
        assert_eq!(words.join(" "), "Words(\"keeps \") Words(\"0.95\") Words(\" of it\")");
    }

    #[test]
    fn wrong_citations_say_why() {
        let wrong = |text: &str| parse(text).unwrap_err();
        assert_eq!(wrong("a {utilisation"), "a brace is not closed");
        assert_eq!(wrong("{gain utilisation}"), "`gain` compares two cells: add `AXIS=LABEL over LABEL`");
        assert_eq!(wrong("{most utilisation}"), "`most` is none of mean, loss, gain, ratio and difference");
        let over = parsed("{utilisation; reading=marks over half}");
        assert_eq!((over.of, over.select.0["reading"].join("")), (Cited::Each, "marks over half".to_owned()));
        assert_eq!(wrong("{utilisation; buffer}"), "`buffer` is not `AXIS=LABEL`");
    }

    #[test]
    fn typed_numbers_are_found() {
        let known = ["100".to_owned(), "1e-4".to_owned(), "25000".to_owned()];
        let typed = |text: &'static str| typed_number(text, &known);
        assert_eq!(typed("as in figures 4 and 6, RFC 9438 and ns-2.35 on Linux 6.1 with C2-TCP"), None);
        assert_eq!(typed("with 100 packets, a PER of 1e-4, and 25,000 in all"), None);
        assert_eq!(typed("it is 93 % with 100 packets"), Some("93"));
        assert_eq!(typed("figure 4, and 0.95 of it"), Some("0.95"));
    }
}
