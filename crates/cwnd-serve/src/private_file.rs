//! A file that its owner alone may read.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
    path::Path,
};

/// More than a token has.
const MOST: u64 = 4096;

/// Reads a file; refuses one that others may read.
///
/// # Errors
/// If it cannot be read, or others may read it.
pub fn read(path: &Path) -> io::Result<String> {
    let file = File::open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if file.metadata()?.mode() & 0o077 != 0 {
            let why = "others may read it: make it private with `chmod 600`";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
    }
    let mut text = String::new();
    file.take(MOST).read_to_string(&mut text)?;
    Ok(text)
}

/// Creates a file that does not exist yet.
///
/// # Errors
/// If it exists or cannot be created.
pub fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

#[cfg(all(test, unix))]
mod tests {
    use crate::access::Token;
    use std::{fs, os::unix::fs::PermissionsExt};

    #[test]
    fn a_token_file_keeps_the_token_and_is_private() {
        let path = std::env::temp_dir().join(format!("cwnd-serve-token-{}", std::process::id()));
        let _ = fs::remove_file(&path);
        let first = Token::of_file(&path).expect("it can be created");
        assert_eq!(fs::metadata(&path).expect("it exists").permissions().mode() & 0o777, 0o600);
        assert_eq!(Token::of_file(&path).expect("it can be read").text(), first.text());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("it is ours");
        assert!(Token::of_file(&path).err().expect("others may read it").contains("chmod 600"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
        fs::write(&path, "short\n").expect("it is ours");
        assert!(Token::of_file(&path).err().expect("it is no token").contains("64 hexadecimal digits"));
        fs::remove_file(&path).expect("it is ours");
    }
}
