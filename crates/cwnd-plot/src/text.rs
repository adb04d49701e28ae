//! How wide a text is, and where to break it.
//!
//! The reader's own sans-serif font draws the text, so its width is not known here. These are the widths of
//! DejaVu Sans, one of the widest: text that fits in it fits in Arial, Helvetica and Liberation Sans.

/// Widths of the characters from space to `~`, in hundredths of the font size.
const WIDTHS: [u8; 95] = [
    32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63,
    61, 73, 68, 99, 69, 61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58, 28, 97,
    63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84,
];

/// The same in bold.
const BOLD_WIDTHS: [u8; 95] = [
    35, 46, 52, 84, 70, 100, 87, 31, 46, 46, 52, 84, 38, 42, 38, 37, 70, 70, 70, 70, 70, 70, 70, 70, 70, 70,
    40, 40, 84, 84, 84, 58, 100, 77, 76, 73, 83, 68, 68, 82, 84, 37, 37, 77, 64, 100, 84, 85, 73, 85, 77, 72,
    68, 81, 77, 110, 77, 72, 73, 46, 37, 46, 84, 50, 50, 67, 72, 59, 72, 68, 44, 72, 71, 34, 34, 67, 34, 104,
    71, 69, 72, 72, 49, 60, 48, 71, 65, 92, 65, 65, 58, 71, 37, 71, 84,
];

/// The width of a text in a font of this size.
pub fn width(text: &str, size: f64) -> f64 {
    sum(text, size, &WIDTHS, 70)
}

/// The same in bold.
pub fn bold_width(text: &str, size: f64) -> f64 {
    sum(text, size, &BOLD_WIDTHS, 80)
}

/// Breaks a text at spaces into lines that fit; a word that does not fit is shortened.
pub fn wrap(text: &str, size: f64, room: f64) -> Vec<String> {
    wrap_by(text, room, |text| width(text, size))
}

/// The same in bold.
pub fn wrap_bold(text: &str, size: f64, room: f64) -> Vec<String> {
    wrap_by(text, room, |text| bold_width(text, size))
}

fn wrap_by(text: &str, room: f64, width: impl Fn(&str) -> f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
            if !line.is_empty() && width(&longer) > room {
                lines.push(std::mem::replace(&mut line, word.to_owned()));
            } else {
                line = longer;
            }
        }
        lines.push(line);
    }
    lines.retain(|line| !line.is_empty());
    lines.iter().map(|line| shorten_by(line, room, &width)).collect()
}

/// Removes characters from the middle until the text fits.
pub fn shorten(text: &str, size: f64, room: f64) -> String {
    shorten_by(text, room, |text| width(text, size))
}

fn shorten_by(text: &str, room: f64, width: impl Fn(&str) -> f64) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let characters: Vec<char> = text.chars().collect();
    let candidate = |kept: usize| -> String {
        let (head, tail) = (kept.div_ceil(2), kept / 2);
        let tail = &characters[characters.len() - tail..];
        characters[..head].iter().chain(&['…']).chain(tail).collect()
    };
    let fits = |kept: &usize| width(&candidate(*kept)) <= room;
    candidate((0..characters.len()).rev().find(fits).unwrap_or(0))
}

/// The sum of the characters' widths, from a table and with a width for what is not in it.
fn sum(text: &str, size: f64, table: &[u8; 95], other: u32) -> f64 {
    let char_width = |c: char| match c {
        ' '..='~' => table[c as usize - ' ' as usize].into(),
        // East Asian scripts and symbols of full width.
        '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{ffef}' | '\u{1f300}'.. => 100,
        _ => other,
    };
    let hundredths: u32 = text.chars().map(char_width).sum();
    f64::from(hundredths) * size / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_add_up() {
        assert_eq!(width("cwnd", 10.0), 5.5 + 8.2 + 6.3 + 6.3);
        assert_eq!(width("", 10.0), 0.0);
    }

    #[test]
    fn bold_text_is_wider_and_broken_earlier() {
        assert_eq!(bold_width("cwnd", 10.0), 5.9 + 9.2 + 7.1 + 7.2);
        let room = width("fairness of cubic", 14.0) + 1.0;
        assert_eq!(wrap("fairness of cubic", 14.0, room).len(), 1);
        assert_eq!(wrap_bold("fairness of cubic", 14.0, room), ["fairness of", "cubic"]);
    }

    #[test]
    fn long_text_is_broken_and_long_words_are_shortened() {
        assert_eq!(wrap("one two three\n\nfour", 10.0, 45.0), ["one two", "three", "four"]);
        assert_eq!(wrap("agile-sd:lambda_max=4", 10.0, 60.0), ["agile…ax=4"]);
        assert_eq!(shorten("wide", 10.0, 1.0), "…");
    }
}
