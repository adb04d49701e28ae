//! Variants by year, what they are based on, and where they are implemented.

use super::{Column, DescriptiveTable};
use cwnd_cc::{AlgorithmInfo, Signal};

/// A row as a paper prints it, and what the variant is called here.
struct Printed {
    variant: &'static str,
    year: u16,
    based_on: &'static str,
    /// The versions of Windows, Linux and Solaris that have it; empty where the paper says that none does.
    systems: [&'static str; 3],
    algorithm: &'static str,
}

const fn printed(
    variant: &'static str,
    year: u16,
    based_on: &'static str,
    systems: [&'static str; 3],
    algorithm: &'static str,
) -> Printed {
    Printed { variant, year, based_on, systems, algorithm }
}

/// Elastic-TCP, table I.
const ELASTIC: [Printed; 17] = [
    printed("NewReno", 1999, "Reno", ["", "> 2.1.36", "7.0"], "newreno"),
    printed("HS-TCP", 2003, "NewReno", ["", "> 2.6.13", ""], "highspeed"),
    printed("S-TCP", 2003, "NewReno", ["", "> 2.6.13", ""], "scalable"),
    printed("FAST", 2003, "Vegas", ["", "", ""], "fast"),
    printed("H-TCP", 2004, "NewReno", ["", "> 2.6.13", ""], "htcp"),
    printed("Hybla", 2004, "NewReno", ["", "> 2.6.13", ""], "hybla"),
    printed("BIC-TCP", 2004, "HS-TCP", ["", "> 2.6.12", ""], "bic"),
    printed("AFRICA", 2005, "HS-TCP, Vegas", ["", "", ""], "africa"),
    printed("NewVegas", 2005, "Vegas", ["", "", ""], "new-vegas-reconstruction"),
    printed("AReno", 2005, "Westwood, Vegas", ["", "", ""], "areno"),
    printed("C-TCP", 2006, "NewReno, HS-TCP, Vegas", ["V, 7, 8, 10", "> 2.6.14", ""], "compound-2006"),
    printed("Illinois", 2006, "NewReno, DUAL", ["", "> 2.6.22", ""], "illinois"),
    printed("Fusion", 2007, "Westwood, Vegas", ["", "", "> 10"], "fusion"),
    printed("YeAH", 2007, "S-TCP, Vegas", ["", "> 2.6.22", ""], "yeah"),
    printed("CUBIC", 2008, "BIC-TCP, H-TCP", ["", "> 2.6.16", ""], "cubic-2008"),
    printed("Agile-SD", 2015, "NewReno", ["", "> 4.0", ""], "agile-sd"),
    printed("TCP-BBR", 2017, "Vegas", ["", ">= 4.9", ""], "bbr"),
];

/// The comparative study, table 1.
const COMPARISON: [Printed; 11] = [
    printed("NewReno", 1999, "Reno", ["", "> 2.1.36", ""], "newreno"),
    printed("HS-TCP", 2003, "NewReno", ["", "> 2.6.13", ""], "highspeed"),
    printed("S-TCP", 2003, "NewReno", ["", "> 2.6.13", ""], "scalable"),
    printed("H-TCP", 2004, "NewReno", ["", "> 2.6.13", ""], "htcp"),
    printed("BIC-TCP", 2004, "HS-TCP", ["", "> 2.6.12", ""], "bic"),
    printed("TCP-AFRICA", 2005, "HS-TCP, Vegas", ["", "", ""], "africa"),
    printed("TCP-Compound", 2006, "HS-TCP, Vegas", ["XP, Vista, 7", "> 2.6.14", ""], "compound-2006"),
    printed("TCP-Illinois", 2006, "NewReno, DUAL", ["", "> 2.6.22", ""], "illinois"),
    printed("TCP-FUSION", 2007, "Westwood, Vegas", ["", "", "10, 11"], "fusion"),
    printed("YeAH-TCP", 2007, "STCP, Vegas", ["", "> 2.6.22", ""], "yeah"),
    printed("TCP-CUBIC", 2008, "BIC-TCP", ["", "> 2.6.16", ""], "cubic-2008"),
];

pub(super) fn elastic() -> DescriptiveTable {
    table(
        "elastic-table-1",
        "Variants for paths with a large bandwidth-delay product",
        "Elastic-TCP, table I",
        &ELASTIC,
        "The paper's text dates Agile-SD 2017 and BBR 2018, its table 2015 and 2017. As far as is known, Linux has \
         never had Agile-SD in its tree: the authors' module is built apart.",
    )
}

pub(super) fn comparison() -> DescriptiveTable {
    table(
        "comparison-table-1",
        "The variants that were compared, and their properties",
        "Study of high-speed variants, table 1",
        &COMPARISON,
        "Two of its authors print other systems in the later table I of Elastic-TCP: NewReno in Solaris 7, C-TCP in Windows \
         from Vista on and not in XP.",
    )
}

fn table(
    name: &'static str,
    title: &'static str,
    source: &'static str,
    variants: &[Printed],
    remark: &str,
) -> DescriptiveTable {
    let known = |variant: &Printed| cwnd_cc::find(variant.algorithm);
    let mut rows = Vec::new();
    let mut other_years = Vec::new();
    for variant in variants {
        let Some(info) = known(variant) else { continue };
        if info.year != variant.year {
            other_years.push(format!("{} ({})", variant.variant, info.year));
        }
        rows.push(row(variant, info));
    }
    let mut notes = vec![
        "The last four columns are the registry's: when it was first published, what it is based on, what it reacts to, \
         and where else it is implemented. The columns before are the paper's; a dash stands for not implemented."
            .into(),
    ];
    if !other_years.is_empty() {
        notes.push(format!("The registry has another year for {}.", other_years.join(", ")));
    }
    notes.push(remark.into());
    let columns = vec![
        Column::words("variant"),
        Column::words("here"),
        Column::numbers("year"),
        Column::words("based on"),
        Column::words("Windows"),
        Column::words("Linux"),
        Column::words("Solaris"),
        Column::numbers("year here"),
        Column::words("based on here"),
        Column::words("reacts to"),
        Column::words("implemented in"),
    ];
    DescriptiveTable { name, title, source, columns, rows, notes }
}

fn row(variant: &Printed, info: &AlgorithmInfo) -> Vec<String> {
    let system = |i: usize| match variant.systems[i] {
        "" => "\u{2013}".to_string(),
        versions => versions.to_string(),
    };
    let signals: Vec<&str> = info.signals.iter().map(Signal::as_str).collect();
    vec![
        variant.variant.into(),
        format!("`{}`", info.name),
        variant.year.to_string(),
        variant.based_on.into(),
        system(0),
        system(1),
        system(2),
        info.year.to_string(),
        info.based_on.into(),
        signals.join(", "),
        info.implemented_in.into(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_is_in_the_registry() {
        assert_eq!(elastic().rows.len(), ELASTIC.len());
        assert_eq!(comparison().rows.len(), COMPARISON.len());
    }

    #[test]
    fn what_differs_is_said() {
        let notes = elastic().notes.join(" ");
        assert!(notes.contains("another year for FAST (2004), AReno (2006), TCP-BBR (2016)."), "{notes}");
        assert!(!comparison().notes.join(" ").contains("another year"));
        let row = &elastic().rows[16];
        assert_eq!(row[..3], ["TCP-BBR", "`bbr`", "2017"].map(String::from));
    }
}
