//! Samples of flows in CSV: the traces of cwnd and the recordings of Linux.

/// A file of samples: the names of its columns, and its lines.
pub struct Samples {
    head: Vec<String>,
    lines: Vec<String>,
}

/// The place of a column.
#[derive(Clone, Copy)]
pub struct Column(usize);

/// One line.
pub struct Sample<'a>(Vec<&'a str>);

impl Samples {
    pub fn parse(text: &str) -> Samples {
        let mut lines = text.lines();
        let head = lines.next().unwrap_or_default().split(',').map(str::to_owned).collect();
        Samples { head, lines: lines.map(str::to_owned).collect() }
    }

    /// Returns the column of this name.
    pub fn column(&self, name: &str) -> Result<Column, String> {
        let place = self.head.iter().position(|known| known == name);
        place.map(Column).ok_or_else(|| format!("a file of samples has no column {name}"))
    }

    pub fn iter(&self) -> impl Iterator<Item = Sample<'_>> {
        self.lines.iter().map(|line| Sample(line.split(',').collect()))
    }
}

impl Sample<'_> {
    /// Returns the whole line.
    pub fn line(&self) -> String {
        self.0.join(",")
    }

    pub fn text(&self, column: Column) -> &str {
        self.0.get(column.0).copied().unwrap_or_default()
    }

    pub fn number(&self, column: Column) -> Result<f64, String> {
        let text = self.text(column);
        text.parse().map_err(|_| format!("\"{text}\" in a file of samples is not a number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_columns_by_name() {
        let samples = Samples::parse("time_s,cwnd\n0.5,10\n1,\n");
        let cwnd = samples.column("cwnd").unwrap();
        let values: Vec<Result<f64, String>> = samples.iter().map(|sample| sample.number(cwnd)).collect();
        assert_eq!(values[0], Ok(10.0));
        assert!(values[1].is_err() && samples.column("rtt").is_err());
    }
}
