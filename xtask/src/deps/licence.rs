//! Licence expressions of crates (SPDX): `(MIT OR Apache-2.0) AND Unicode-3.0`.

/// Returns whether an expression can be met with licences of `allowed`.
pub fn is_met(expression: &str, allowed: &[String]) -> bool {
    // Crates of before 2018 write `MIT/Apache-2.0`.
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words: Vec<&str> = spaced.split_whitespace().collect();
    words.reverse();
    any(&mut words, allowed) && words.is_empty()
}

/// Alternatives, of which one suffices. `AND` binds more tightly than `OR`.
fn any(words: &mut Vec<&str>, allowed: &[String]) -> bool {
    let mut met = all(words, allowed);
    while words.pop_if(|word| *word == "OR").is_some() {
        met |= all(words, allowed);
    }
    met
}

fn all(words: &mut Vec<&str>, allowed: &[String]) -> bool {
    let mut met = one(words, allowed);
    while words.pop_if(|word| *word == "AND").is_some() {
        met &= one(words, allowed);
    }
    met
}

fn one(words: &mut Vec<&str>, allowed: &[String]) -> bool {
    let Some(word) = words.pop() else { return false };
    if word == "(" {
        let met = any(words, allowed);
        return words.pop() == Some(")") && met;
    }
    let name = match words.pop_if(|word| *word == "WITH").and_then(|_| words.pop()) {
        Some(exception) => format!("{word} WITH {exception}"),
        None => word.to_owned(),
    };
    allowed.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::is_met;

    #[test]
    fn expressions_are_met_or_not() {
        let allowed = ["MIT", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
        for met in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-3.0-only OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception",
            "GPL-3.0-only AND ISC OR MIT",
        ] {
            assert!(is_met(met, &allowed), "{met}");
        }
        for unmet in [
            "",
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "Apache-2.0",
            "(MIT OR Apache-2.0) AND GPL-3.0-only",
            "MIT AND (GPL-3.0-only OR ISC)",
            "(MIT",
            "MIT Unicode-3.0",
        ] {
            assert!(!is_met(unmet, &allowed), "{unmet}");
        }
    }
}
