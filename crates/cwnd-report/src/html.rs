//! Parts of HTML pages that several sections share.

use maud::{Markup, html};

/// Returns the paragraphs of a text, which empty lines separate. Words between backticks are code.
pub fn paragraphs(text: &str) -> Markup {
    let text = text.replace("\r\n", "\n");
    html! {
        @for part in text.split("\n\n").map(str::trim).filter(|part| !part.is_empty()) {
            p { (inline(part)) }
        }
    }
}

/// Returns a text in which everything between backticks is code.
pub fn inline(text: &str) -> Markup {
    // A backtick without its partner is only a backtick.
    let is_paired = text.matches('`').count().is_multiple_of(2);
    html! {
        @if is_paired {
            @for (i, part) in text.split('`').enumerate() {
                @if i % 2 == 0 { (part) } @else { code { (part) } }
            }
        } @else {
            (text)
        }
    }
}

/// Returns terms and what they stand for.
pub fn definitions(rows: &[(String, Markup)]) -> Markup {
    html! {
        dl.facts {
            @for (term, value) in rows {
                div { dt { (term) } dd { (value) } }
            }
        }
    }
}

/// Returns a stop, unless the text ends with a mark that ends a sentence.
pub fn stop(text: &str) -> &'static str {
    if text.ends_with(['.', '!', '?']) { "" } else { "." }
}

/// Replaces control characters, which HTML does not permit, and those that change the direction of writing, with which a
/// text could appear as another one.
pub fn without_controls(page: String) -> String {
    let is_refused = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if page.contains(is_refused) { page.replace(is_refused, "\u{fffd}") } else { page }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_markup() {
        assert_eq!(inline("a `<b>` c").into_string(), "a <code>&lt;b&gt;</code> c");
        assert_eq!(inline("a ` <b>").into_string(), "a ` &lt;b&gt;");
        assert_eq!(paragraphs("one\ntwo\r\n\r\n\n three ").into_string(), "<p>one\ntwo</p><p>three</p>");
        assert_eq!(without_controls("a\tb\n\u{0}\u{202e}".to_owned()), "a\tb\n\u{fffd}\u{fffd}");
    }
}
