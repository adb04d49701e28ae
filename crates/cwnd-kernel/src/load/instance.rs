//! Instances: one algorithm under several names in the kernel, each with its own parameters.

use super::{LoadError, object::NAME_SIZE};
use crate::{KernelAlgorithm, Values, all};

/// What every name begins with.
const PREFIX: &str = "cwnd_";
/// The most characters of a name, and of its part after the prefix.
const LONGEST: usize = NAME_SIZE - 1;
const LONGEST_OWN: usize = LONGEST - PREFIX.len();

/// An algorithm with parameters under a name in the kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    pub(super) algorithm: &'static KernelAlgorithm,
    pub(super) kernel_name: String,
    pub(super) given: Vec<(String, String)>,
    pub(super) values: Values,
}

impl PartialEq for KernelAlgorithm {
    fn eq(&self, other: &KernelAlgorithm) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Instance {
    /// Creates the instance that has the algorithm's own name.
    ///
    /// # Errors
    /// A parameter is wrong.
    pub fn new(
        algorithm: &'static KernelAlgorithm,
        given: &[(String, String)],
    ) -> Result<Instance, LoadError> {
        let values = algorithm.values(given).map_err(LoadError::Parameter)?;
        Ok(Instance { algorithm, kernel_name: algorithm.kernel_name(), given: given.to_vec(), values })
    }

    /// Creates an instance with this name: `bulk` and `cwnd_bulk` both become `cwnd_bulk`, and `-` becomes `_`.
    ///
    /// # Errors
    /// A parameter is wrong, the name is not valid in the kernel, or it is the name of another algorithm.
    pub fn named(
        algorithm: &'static KernelAlgorithm,
        name: &str,
        given: &[(String, String)],
    ) -> Result<Instance, LoadError> {
        let kernel_name = kernel_name(name)?;
        let owner =
            all().iter().find(|other| other.kernel_name() == kernel_name && !std::ptr::eq(*other, algorithm));
        if let Some(owner) = owner {
            return Err(LoadError::Parameter(format!(
                "`{name}` cannot be an instance of {}: {kernel_name} is the name of {} in the kernel",
                algorithm.name, owner.name
            )));
        }
        Ok(Instance { kernel_name, ..Instance::new(algorithm, given)? })
    }

    /// Returns the algorithm.
    pub fn algorithm(&self) -> &'static KernelAlgorithm {
        self.algorithm
    }

    /// Returns its name in the kernel.
    pub fn kernel_name(&self) -> &str {
        &self.kernel_name
    }
}

/// Returns the name in the kernel of an instance with this name.
///
/// # Errors
/// The name is not valid in the kernel. The message proposes one that is.
pub fn kernel_name(name: &str) -> Result<String, LoadError> {
    let own = name.strip_prefix(PREFIX).unwrap_or(name).replace('-', "_");
    let kernel_name = format!("{PREFIX}{own}");
    let valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let why = if own.is_empty() {
        "it is empty".to_owned()
    } else if let Some(wrong) = own.chars().find(|c| !valid(*c)) {
        format!("it has the character `{}`", wrong.escape_default())
    } else if own.len() > LONGEST_OWN {
        format!(
            "with the prefix `{PREFIX}` it has {} characters, and the kernel takes at most {LONGEST}",
            kernel_name.len()
        )
    } else {
        return Ok(kernel_name);
    };
    let proposal: String = own.to_lowercase().chars().filter(|c| valid(*c)).take(LONGEST_OWN).collect();
    let proposal = if proposal.is_empty() { "bulk" } else { proposal.trim_end_matches('_') };
    Err(LoadError::Parameter(format!(
        "`{name}` cannot be a name in the kernel: {why}. A name has 1 to {LONGEST_OWN} lower-case letters, digits and `_`; \
         `{proposal}` would be valid"
    )))
}

/// Checks a whole name, as the kernel has it.
pub fn check_kernel_name(name: &str) -> Result<(), LoadError> {
    if !name.starts_with(PREFIX) || name.len() > LONGEST {
        return Err(LoadError::Parameter(format!(
            "`{name}` cannot be a name in the kernel: it begins with `{PREFIX}` and has at most {LONGEST} characters"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find;

    fn refused(name: &str) -> String {
        kernel_name(name).unwrap_err().to_string()
    }

    #[test]
    fn names_get_the_prefix_once() {
        for name in ["bulk", "cwnd_bulk"] {
            assert_eq!(kernel_name(name).unwrap(), "cwnd_bulk");
        }
        assert_eq!(kernel_name("agile-sd2").unwrap(), "cwnd_agile_sd2");
        assert_eq!(kernel_name("ten_digits").unwrap().len(), 15);
    }

    #[test]
    fn an_invalid_name_is_refused_with_a_valid_one() {
        let why = refused("elastic_bulk");
        assert!(why.contains("it has 17 characters") && why.contains("`elastic_bu` would be valid"), "{why}");
        assert!(kernel_name("elastic_bu").is_ok());
        let why = refused("Bulk flows");
        assert!(why.contains("character `B`") && why.contains("`bulkflows` would be valid"), "{why}");
        assert!(refused("").contains("it is empty"), "{}", refused(""));
        assert!(refused("cwnd_").contains("`bulk` would be valid"), "{}", refused("cwnd_"));
    }

    #[test]
    fn an_instance_cannot_have_the_name_of_another_algorithm() {
        let elastic = find("elastic").unwrap();
        assert_eq!(Instance::named(elastic, "elastic", &[]).unwrap(), Instance::new(elastic, &[]).unwrap());
        let why = Instance::named(elastic, "cubic", &[]).unwrap_err().to_string();
        assert!(why.contains("cwnd_cubic is the name of cubic-linux"), "{why}");
        let why = Instance::named(elastic, "bulk", &[("beta".into(), "7".into())]).unwrap_err().to_string();
        assert!(why.contains("beta"), "{why}");
    }
}
