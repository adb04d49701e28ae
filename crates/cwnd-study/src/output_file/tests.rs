use super::*;

/// A directory of this test's own, removed at its end.
struct Directory(PathBuf);

impl Directory {
    fn new(test: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("cwnd-report-{}-{test}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn reason(result: Result<(), OutputFileError>, directory: &Directory) -> String {
    result.unwrap_err().to_string().replace(&directory.0.display().to_string(), "DIR")
}

#[test]
fn a_file_is_replaced_whole() {
    let directory = Directory::new("replace");
    let path = directory.0.join("a.svg");
    write_text(&path, "old").unwrap();
    write_text(&path, "new").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(directory.names(), ["a.svg"]);
}

#[test]
fn an_error_leaves_the_old_file_and_nothing_else() {
    let directory = Directory::new("error");
    let path = directory.0.join("a.csv");
    write_text(&path, "old").unwrap();
    let result = write_with(&path, |file| {
        file.write_all(&[b'x'; 1 << 20])?;
        Err(io::Error::from(io::ErrorKind::StorageFull))
    });
    let expected =
        "cannot write `DIR/a.csv`: writing failed: no storage space; free some space or choose another disk";
    assert_eq!(reason(result, &directory), expected);
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(directory.names(), ["a.csv"]);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let directory = Directory::new("link");
    let (link, file) = (directory.0.join("link.csv"), directory.0.join("file.csv"));
    write_text(&file, "old").unwrap();
    std::os::unix::fs::symlink("file.csv", &link).unwrap();
    write_text(&link, "new").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&file).unwrap(), "new");
}

#[test]
fn a_check_leaves_nothing_behind() {
    let directory = Directory::new("check");
    check_writable(&directory.0.join("a.CSV"), "a trace", &["csv", "parquet"]).unwrap();
    assert!(directory.names().is_empty());
}

#[test]
fn errors_say_what_would_be_right() {
    let directory = Directory::new("errors");
    fs::write(directory.0.join("file"), "").unwrap();
    fs::create_dir(directory.0.join("d.csv")).unwrap();
    let read_only = directory.0.join("old.csv");
    fs::write(&read_only, "").unwrap();
    let mut permissions = fs::metadata(&read_only).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&read_only, permissions).unwrap();

    let names = ["a.txt", "trace", "no/a.csv", "file/a.csv", "d.csv", "old.csv"];
    let check = |name| check_writable(&directory.0.join(name), "a trace", &["csv", "parquet"]);
    let messages = names.map(|name| reason(check(name), &directory));
    let expected = [
        "cannot write `DIR/a.txt`: the name of a trace ends in .csv or .parquet; try `DIR/a.csv`",
        "cannot write `DIR/trace`: the name of a trace ends in .csv or .parquet; try `DIR/trace.csv`",
        "cannot write `DIR/no/a.csv`: the directory `DIR/no` does not exist; create it (`mkdir -p DIR/no`) or \
         choose another",
        "cannot write `DIR/file/a.csv`: `DIR/file` is not a directory",
        "cannot write `DIR/d.csv`: it is a directory; add a file name",
        "cannot write `DIR/old.csv`: the file is read-only; choose another name or make it writable",
    ];
    assert_eq!(messages, expected);
}
