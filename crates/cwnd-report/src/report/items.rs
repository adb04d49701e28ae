//! The figures, tables and sections of a publication that a text names: `section 4.2.1, figure 10 (a)`.

/// A figure, a table or a section of a publication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What it is.
    pub kind: Kind,
    /// Its number as it is printed, such as `10`, `IV` or `4.2.1`.
    pub number: String,
}

/// What a publication's item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Figure,
    Table,
    Section,
}

impl Item {
    /// `Figure 10`.
    pub fn title(&self) -> String {
        let kind = match self.kind {
            Kind::Figure => "Figure",
            Kind::Table => "Table",
            Kind::Section => "Section",
        };
        format!("{kind} {}", self.number)
    }

    /// Whether it is a picture or a table, and not a part of the text.
    pub fn is_shown(&self) -> bool {
        self.kind != Kind::Section
    }
}

/// The items that a text names, each once, in its order. Letters of panels are left out, and `figures 5 to 8` are four.
pub fn named_in(text: &str) -> Vec<Item> {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '(' | ')'))
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| !word.is_empty())
        .collect();
    let mut items: Vec<Item> = Vec::new();
    let mut kind = None;
    let mut is_range = false;
    for word in words {
        let lower = word.to_lowercase();
        let named = match lower.as_str() {
            "figure" | "figures" => Some(Kind::Figure),
            "table" | "tables" => Some(Kind::Table),
            "section" | "sections" => Some(Kind::Section),
            _ => None,
        };
        if named.is_some() {
            (kind, is_range) = (named, false);
            continue;
        }
        let Some(kind_now) = kind else { continue };
        match lower.as_str() {
            "to" => is_range = true,
            "and" => {}
            _ if is_number(word, kind_now) => {
                let last = items.last().filter(|last| last.kind == kind_now);
                let first = last.and_then(|last| last.number.parse::<u32>().ok()).filter(|_| is_range);
                let between = match (first, word.parse::<u32>()) {
                    (Some(first), Ok(end)) if end > first && end - first < 100 => {
                        (first + 1..end).map(|number| number.to_string()).collect()
                    }
                    _ => Vec::new(),
                };
                for number in between.into_iter().chain([word.to_owned()]) {
                    let item = Item { kind: kind_now, number };
                    if !items.contains(&item) {
                        items.push(item);
                    }
                }
                is_range = false;
            }
            // The letter of a panel; with `to` it is a range of panels.
            _ if word.len() == 1 && word.chars().all(|c| c.is_ascii_lowercase()) => is_range = false,
            _ => kind = None,
        }
    }
    items
}

/// Whether a word is the number of such an item: `10`, `IV`, of a section also `4.2.1` and `IV-B`.
fn is_number(word: &str, kind: Kind) -> bool {
    let is_roman = |part: &str| !part.is_empty() && part.chars().all(|c| matches!(c, 'I' | 'V' | 'X'));
    let is_digits = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    match kind {
        Kind::Figure | Kind::Table => is_digits(word) || is_roman(word),
        Kind::Section => word.split('.').all(is_digits) || is_roman(word.split('-').next().unwrap_or(word)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(text: &str) -> String {
        named_in(text).iter().map(Item::title).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn sources_of_claims_name_items() {
        let vectors = [
            ("section 4.2.1, figure 10 (a)", "Section 4.2.1, Figure 10"),
            ("section IV-B, table IV", "Section IV-B, Table IV"),
            ("section 4.2.4, figures 13 and 14", "Section 4.2.4, Figure 13, Figure 14"),
            ("table 3, figure 8", "Table 3, Figure 8"),
            ("section on the cwnd evolution, figure 7 (a) and (b)", "Figure 7"),
            ("Figure 11 a to i: throughput", "Figure 11"),
            ("figures 5 to 8 and table 3", "Figure 5, Figure 6, Figure 7, Figure 8, Table 3"),
            ("Figures 15 and 16: the testbed, simulated", "Figure 15, Figure 16"),
            ("sections 4.2.2 and 5", "Section 4.2.2, Section 5"),
            ("section V, figure 5 a, and section IV, theorem 2", "Section V, Figure 5, Section IV"),
            ("The paper's figure 5: on the left as it ran.", "Figure 5"),
            ("equation 7", ""),
            ("", ""),
        ];
        for (text, expected) in vectors {
            assert_eq!(titles(text), expected, "{text}");
        }
    }
}
