//! Text as HTML.

use std::fmt::Write;

/// A text in an element or in an attribute's quotes. Control characters, which HTML has no place for, become U+FFFD;
/// so do characters that turn the direction of writing, with which a text could show itself as another.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Paragraphs of a text: they are set apart by empty lines. Words between backticks are code.
pub fn paragraphs(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let parts = text.split("\n\n").map(str::trim).filter(|part| !part.is_empty());
    parts.fold(String::new(), |mut out, part| {
        writeln!(out, "<p>{}</p>", inline(part)).expect("a String takes everything");
        out
    })
}

/// A text with what stands between backticks as code.
pub fn inline(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // Without its partner a backtick is only a backtick.
    if parts.len().is_multiple_of(2) {
        return escape(text);
    }
    let part = |(i, part): (usize, &&str)| match i % 2 {
        0 => escape(part),
        _ => format!("<code>{}</code>", escape(part)),
    };
    parts.iter().enumerate().map(part).collect()
}

/// Terms and what they stand for; the latter is HTML.
pub fn definitions(class: &str, rows: &[(String, String)]) -> String {
    let rows: String = rows
        .iter()
        .map(|(term, value)| format!("<div><dt>{}</dt><dd>{value}</dd></div>\n", escape(term)))
        .collect();
    format!("<dl class=\"{class}\">\n{rows}</dl>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_becomes_markup() {
        assert_eq!(escape("<script>'\"&\u{0}\u{202e}"), "&lt;script&gt;&#39;&quot;&amp;\u{fffd}\u{fffd}");
        assert_eq!(inline("a `<b>` c"), "a <code>&lt;b&gt;</code> c");
        assert_eq!(inline("a ` <b>"), "a ` &lt;b&gt;");
        assert_eq!(paragraphs("one\ntwo\r\n\r\n\n three "), "<p>one\ntwo</p>\n<p>three</p>\n");
    }
}
