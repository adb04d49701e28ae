//! Aligned columns of text.

/// Formats `rows` under the lines of `head`, with each column as wide as its widest cell. The columns in `left` are aligned
/// left, the others right.
pub fn table(left: &[usize], head: &[Vec<String>], rows: &[Vec<String>]) -> String {
    let columns = head.iter().chain(rows).map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = head.iter().chain(rows).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = widths.iter().enumerate().map(|(column, &width)| {
            let cell = row.get(column).map_or("", String::as_str);
            if left.contains(&column) { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        let text = cells.collect::<Vec<_>>().join("  ");
        format!("  {}\n", text.trim_end())
    };
    let rule: Vec<String> = widths.iter().map(|&width| "─".repeat(width)).collect();
    head.iter().chain([&rule]).chain(rows).map(line).collect()
}

/// Returns the words as cells.
pub fn cells(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let head = [cells(&["", "time"]), cells(&["row", "ns"])];
        let text = table(&[0], &head, &[cells(&["1 flow", "9"]), cells(&["4", "10.5"])]);
        assert_eq!(text, "          time\n  row       ns\n  ──────  ────\n  1 flow     9\n  4       10.5\n");
    }
}
