//! How long the algorithms' code is.

use super::{Column, DescriptiveTable};
use cwnd_cc::code_lines;

/// What the paper calls them, how many lines it prints, and what they are called here.
const PRINTED: [(&str, u32, &str); 5] = [
    ("TCP-BBR", 553, "bbr"),
    ("CUBIC", 342, "cubic-2008"),
    ("C-TCP", 219, "compound"),
    ("Elastic-TCP", 149, "elastic"),
    ("Agile-SD", 115, "agile-sd"),
];

pub(super) fn elastic() -> DescriptiveTable {
    let row = |(variant, printed, algorithm): &(&str, u32, &str)| {
        let code = code_lines::of(algorithm);
        let ours = |count: fn(&code_lines::CodeLines) -> u32| {
            code.map(|code| count(code).to_string()).unwrap_or_default()
        };
        vec![
            (*variant).into(),
            printed.to_string(),
            format!("`{algorithm}`"),
            ours(code_lines::CodeLines::own_lines),
            ours(code_lines::CodeLines::lines_with_parts),
        ]
    };
    DescriptiveTable {
        name: "elastic-table-2",
        title: "Lines of code of the algorithms",
        source: "Elastic-TCP, table II",
        columns: vec![
            Column::words("variant"),
            Column::numbers("printed"),
            Column::words("here"),
            Column::numbers("lines here"),
            Column::numbers("with its parts"),
        ],
        rows: PRINTED.iter().map(row).collect(),
        notes: vec![
            "Counted here, when the program is built: lines that have more than a comment on them, without tests. The last \
             column has the filters and estimators too that an algorithm shares with others."
                .into(),
            "The paper counts Linux modules in C and does not say by which rule. Here a parameter table and the registry's \
             entry are part of an algorithm; `cubic-2008` has the kernel's integer arithmetic beside the real-valued one, \
             and `compound` two entries."
                .into(),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_is_counted() {
        let table = elastic();
        for (row, (_, printed, algorithm)) in table.rows.iter().zip(PRINTED) {
            let [own, all] = [3, 4].map(|i: usize| row[i].parse::<u32>().unwrap());
            assert!(own > 50 && all >= own, "{algorithm}");
            assert_eq!(row[1], printed.to_string());
        }
    }
}
