//! How an algorithm is put into a study: as a point of its axis `candidate`.

use toml::de::{DeTable, DeValue};

/// The axis of the studies on which algorithms take the same place.
pub const AXIS: &str = "candidate";

/// The algorithms of an evaluation, as studies write them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The algorithm under test.
    pub candidate: String,
    /// What it is compared with.
    pub reference: String,
    /// Others that are shown alongside both.
    pub others: Vec<String>,
}

impl Field {
    /// Creates a field. `against` begins with the reference; an algorithm that is named twice takes part once.
    ///
    /// # Panics
    /// If `against` is empty.
    pub fn new(candidate: &str, against: &[String]) -> Field {
        let (reference, others) = against.split_first().expect("there is a reference");
        let mut kept: Vec<String> = Vec::new();
        for other in others {
            if other != candidate && other != reference && !kept.contains(other) {
                kept.push(other.clone());
            }
        }
        Field { candidate: candidate.to_owned(), reference: reference.clone(), others: kept }
    }

    /// Returns all of them, each once: the candidate, the reference, the others.
    pub fn all(&self) -> Vec<&str> {
        let mut all = vec![self.candidate.as_str()];
        all.extend((self.reference != self.candidate).then_some(self.reference.as_str()));
        all.extend(self.others.iter().map(String::as_str));
        all
    }

    /// Returns the text of a study with these algorithms on its axis `candidate`. All else stays as it is.
    ///
    /// # Errors
    /// The text is not TOML, or has no such axis with a list of values.
    pub fn put_into(&self, text: &str) -> Result<String, String> {
        let table = DeTable::parse(text).map_err(|error| error.to_string())?;
        let no_axis = || format!("it has no axis `{AXIS}` with `values`");
        let axes = table.get_ref().get("axes").ok_or_else(no_axis)?;
        let DeValue::Array(axes) = axes.get_ref() else { return Err(no_axis()) };
        let axis = axes.iter().find_map(|axis| {
            let DeValue::Table(axis) = axis.get_ref() else { return None };
            let name = axis.get("name")?;
            let is_it = matches!(name.get_ref(), DeValue::String(name) if name == AXIS);
            is_it.then_some(axis)
        });
        let values = axis.and_then(|axis| axis.get("values")).ok_or_else(no_axis)?;
        let list: Vec<String> = self.all().iter().map(|name| format!("{name:?}")).collect();
        let mut changed = text.to_owned();
        changed.replace_range(values.span(), &format!("[{}]", list.join(", ")));
        Ok(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::Field;

    fn field(candidate: &str, against: &[&str]) -> Field {
        Field::new(candidate, &against.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn algorithms_take_part_once() {
        let all = |candidate, against| field(candidate, against).all().join(" ");
        assert_eq!(all("elastic", &["cubic", "newreno", "bbr3"]), "elastic cubic newreno bbr3");
        assert_eq!(all("cubic", &["cubic", "newreno", "cubic"]), "cubic newreno");
        assert_eq!(all("bbr3", &["cubic", "newreno", "bbr3"]), "bbr3 cubic newreno");
    }

    #[test]
    fn only_the_values_change() {
        let text = "title = \"A\"\n[[axes]]\nname = \"x\"\nvalues = [1]\n\n[[axes]]\nname = \"candidate\"\nkey = \
                    \"candidate\"\nvalues = [\n  \"cubic\",\n]\n# end\n";
        let changed = field("elastic:beta=0.8", &["cubic"]).put_into(text).unwrap();
        assert_eq!(changed, text.replace("[\n  \"cubic\",\n]", "[\"elastic:beta=0.8\", \"cubic\"]"));
        assert!(field("a", &["b"]).put_into("title = \"A\"").unwrap_err().contains("no axis `candidate`"));
    }
}
