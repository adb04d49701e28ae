//! SHA-256 of the embedded objects, and a list of them that whoever installs them has approved.

use super::{LoadError, programs::HostProgram};
use crate::{KernelAlgorithm, all};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Returns the file name and the digest of each embedded object that `cwnd kernel` loads.
pub fn digests() -> Vec<(String, String)> {
    let algorithms = all().iter().map(|algorithm| (object_name(algorithm), digest(algorithm.object)));
    let programs =
        HostProgram::all().into_iter().map(|program| (program_name(program), digest(program.object)));
    algorithms.chain(programs).collect()
}

/// The digests that were approved, by the file names of objects.
#[derive(Clone, Debug)]
pub struct Approved(BTreeMap<String, String>);

impl Approved {
    /// Reads a list as `sha256sum` and `cwnd kernel list --digests` write it: a digest, two spaces, a name.
    ///
    /// # Errors
    /// A line is not of this form.
    pub fn read(text: &str) -> Result<Approved, String> {
        let mut approved = BTreeMap::new();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [digest, name] = words[..] else {
                return Err(format!("line {} is not `DIGEST  NAME.bpf.o`", number + 1));
            };
            if digest.len() != 64 || !digest.chars().all(|c| c.is_ascii_hexdigit()) {
                return Err(format!("line {}: `{digest}` is no SHA-256 digest", number + 1));
            }
            approved.insert(name.trim_start_matches('*').to_owned(), digest.to_lowercase());
        }
        Ok(Approved(approved))
    }

    /// Checks the object of an algorithm.
    ///
    /// # Errors
    /// Its digest is not the one in the list, or the list does not have it.
    pub fn check(&self, algorithm: &KernelAlgorithm) -> Result<(), LoadError> {
        self.check_object(&object_name(algorithm), algorithm.object)
    }

    /// Checks the object of a program that is no algorithm.
    ///
    /// # Errors
    /// As of [`Approved::check`].
    pub fn check_program(&self, program: &HostProgram) -> Result<(), LoadError> {
        self.check_object(&program_name(program), program.object)
    }

    fn check_object(&self, name: &str, object: &[u8]) -> Result<(), LoadError> {
        let found = digest(object);
        match self.0.get(name) {
            Some(approved) if *approved == found => Ok(()),
            Some(approved) => Err(LoadError::Parameter(format!(
                "the object {name} of this program has the digest {found}, and the list has {approved}"
            ))),
            None => Err(LoadError::Parameter(format!("the list has no digest of the object {name}"))),
        }
    }
}

fn object_name(algorithm: &KernelAlgorithm) -> String {
    format!("{}.bpf.o", algorithm.kernel_name())
}

fn program_name(program: &HostProgram) -> String {
    format!("{}.bpf.o", program.file)
}

fn digest(object: &[u8]) -> String {
    Sha256::digest(object).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find;

    #[test]
    fn the_own_list_is_approved_and_another_is_not() {
        let text: String = digests().iter().map(|(name, digest)| format!("{digest}  {name}\n")).collect();
        let approved = Approved::read(&text).unwrap();
        assert!(all().iter().all(|algorithm| approved.check(algorithm).is_ok()));
        assert!(HostProgram::all().into_iter().all(|program| approved.check_program(program).is_ok()));
        let why = Approved::read("").unwrap().check_program(HostProgram::all()[0]).unwrap_err().to_string();
        assert!(why.contains("no digest of the object select.bpf.o"), "{why}");
        assert_eq!(digests().len(), all().len() + 3);
        let elastic = find("elastic").unwrap();
        let (name, own) = digests().into_iter().find(|(name, _)| name == "cwnd_elastic.bpf.o").unwrap();
        let other = own.replace(own.chars().next().unwrap(), "f").replacen('f', "0", 1);
        let why =
            Approved::read(&text.replace(&own, &other)).unwrap().check(elastic).unwrap_err().to_string();
        assert!(why.contains(&name) && why.contains(&own), "{why}");
        let why = Approved::read("").unwrap().check(elastic).unwrap_err().to_string();
        assert!(why.contains("no digest of the object cwnd_elastic.bpf.o"), "{why}");
        assert!(Approved::read("beef  cwnd_elastic.bpf.o").unwrap_err().contains("line 1"));
    }

    #[test]
    fn digests_are_those_of_sha256sum() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest(b"abc"), expected);
    }
}
