//! What these tests do to the host, and undo.

use cwnd_kernel::load::{self, Change, Instance, Options};
use std::{fs, time::Duration};

/// Instances of this test, under names of its own. They are unloaded when this is dropped.
pub struct Instances(Vec<String>);

impl Instances {
    pub fn new() -> Instances {
        let missing = load::missing();
        assert!(missing.is_empty(), "{}", missing.join("; "));
        Instances(Vec::new())
    }

    /// Loads an algorithm under a name that ends with this letter. Returns its name in the kernel.
    pub fn load(&mut self, algorithm: &str, letter: char, given: &[(&str, &str)]) -> String {
        let (name, change) = self.install(algorithm, letter, given, Options::default()).unwrap();
        assert_eq!(change, Change::Loaded);
        name
    }

    pub fn install(
        &mut self,
        algorithm: &str,
        letter: char,
        given: &[(&str, &str)],
        options: Options,
    ) -> Result<(String, Change), String> {
        let instance = self.instance(algorithm, letter, given);
        let installed = load::install(&[instance], options).map_err(|error| error.to_string())?;
        Ok((installed[0].kernel_name.clone(), installed[0].change))
    }

    /// Returns an instance, which is not loaded by that. What is loaded under its name is unloaded at last.
    pub fn instance(&mut self, algorithm: &str, letter: char, given: &[(&str, &str)]) -> Instance {
        let given: Vec<(String, String)> =
            given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let algorithm = cwnd_kernel::find(algorithm).expect("an algorithm of the catalogue");
        let name = format!("o{}_{letter}", std::process::id());
        let instance = Instance::named(algorithm, &name, &given).unwrap();
        if !self.0.iter().any(|name| name == instance.kernel_name()) {
            self.0.push(instance.kernel_name().to_owned());
        }
        instance
    }
}

impl Drop for Instances {
    fn drop(&mut self) {
        for name in &self.0 {
            let _ = load::unload(name, true);
        }
    }
}

/// Returns the parameters of the objects of that name that the kernel has, with whether each is registered.
pub fn objects(kernel_name: &str) -> Vec<(String, bool)> {
    let of_name = load::loaded().unwrap().into_iter().filter(|object| object.kernel_name == kernel_name);
    let mut objects: Vec<(String, bool)> = of_name
        .map(|object| {
            let parameters = object.algorithm.describe(&object.parameters.expect("this program's"));
            (parameters, object.keeper != load::Keeper::Nothing)
        })
        .collect();
    objects.sort();
    objects
}

/// Waits up to ten seconds until a condition holds.
#[track_caller]
pub fn wait_for(what: &str, condition: impl Fn() -> bool) {
    for _ in 0..500 {
        if condition() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("after ten seconds it is not so: {what}");
}

/// Adds a name to what every user may select, while this lives.
pub struct Allowed(String);

const ALLOWED: &str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";

impl Allowed {
    pub fn also(name: &str) -> Allowed {
        let before = fs::read_to_string(ALLOWED).unwrap();
        fs::write(ALLOWED, format!("{} {name}", before.trim())).unwrap();
        Allowed(name.to_owned())
    }

    pub fn list() -> Vec<String> {
        fs::read_to_string(ALLOWED).unwrap().split_whitespace().map(str::to_owned).collect()
    }
}

impl Drop for Allowed {
    fn drop(&mut self) {
        let others: Vec<String> = Allowed::list().into_iter().filter(|name| *name != self.0).collect();
        let _ = fs::write(ALLOWED, others.join(" "));
    }
}

/// A cgroup of this test, in which threads of this process can be. Removed when it is dropped.
pub struct TestCgroup(pub load::Cgroup);

impl TestCgroup {
    /// Creates one with this name below another, or below the root.
    pub fn new(what: &str, parent: Option<&TestCgroup>) -> TestCgroup {
        let mount = load::Cgroup::mount().expect("a cgroup2 file system");
        let parent = parent.map_or(mount, |parent| parent.0.path.clone());
        let path = parent.join(format!("cwnd-{}-{what}", std::process::id()));
        fs::create_dir(&path).unwrap();
        fs::write(path.join("cgroup.type"), "threaded").unwrap();
        TestCgroup(load::Cgroup::find(&path).unwrap())
    }

    /// Moves the calling thread into it: sockets that it creates belong to it.
    pub fn enter(&self) {
        // SAFETY: it has no arguments and cannot fail.
        let thread = unsafe { libc::gettid() };
        fs::write(self.0.path.join("cgroup.threads"), thread.to_string()).unwrap();
    }
}

impl Drop for TestCgroup {
    fn drop(&mut self) {
        let _ = load::unselect(&self.0);
        for _ in 0..100 {
            if fs::remove_dir(&self.0.path).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
