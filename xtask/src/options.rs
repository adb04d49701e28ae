//! The options of a chore.

/// Options as they were given: `--name value`, or `--name` alone.
pub struct Options<'a>(&'a [String]);

impl<'a> Options<'a> {
    /// Options of which `with_value` have a value and `switches` have none.
    pub fn new(given: &'a [String], with_value: &[&str], switches: &[&str]) -> Result<Self, String> {
        let mut rest = given.iter();
        while let Some(option) = rest.next() {
            if with_value.contains(&option.as_str()) {
                rest.next().ok_or_else(|| format!("{option} needs a value"))?;
            } else if !switches.contains(&option.as_str()) {
                let known: Vec<&str> = with_value.iter().chain(switches).copied().collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(format!("there is no option \"{option}\"; it has {known}"));
            }
        }
        Ok(Options(given))
    }

    /// Whether a switch is given.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|option| option == name)
    }

    /// The value of an option.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        let at = self.0.iter().position(|option| option == name)?;
        self.0.get(at + 1).map(String::as_str)
    }

    /// A whole number from 1 on.
    pub fn number(&self, name: &str, default: usize) -> Result<usize, String> {
        let Some(text) = self.text(name) else { return Ok(default) };
        match text.parse() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(format!("{name} \"{text}\": say a whole number from 1 on")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn reads_values_and_switches() {
        let given = given(&["--runs", "7", "--quick"]);
        let options = Options::new(&given, &["--runs", "--seeds"], &["--quick"]).unwrap();
        assert_eq!(options.number("--runs", 5), Ok(7));
        assert_eq!(options.number("--seeds", 3), Ok(3));
        assert!(options.has("--quick"));
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        for words in [&["--run", "7"][..], &["--runs"], &["7"]] {
            assert!(Options::new(&given(words), &["--runs"], &[]).is_err(), "{words:?}");
        }
        let zero = given(&["--runs", "0"]);
        assert!(Options::new(&zero, &["--runs"], &[]).unwrap().number("--runs", 5).is_err());
    }
}
