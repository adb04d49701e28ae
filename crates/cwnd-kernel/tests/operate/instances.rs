//! Several instances of an algorithm, and their replacement in place.

use super::host::{Allowed, Instances, objects, wait_for};
use crate::lab::{Namespace, choose, congestion_control};
use cwnd_kernel::load::{self, Change, Options};
use std::{
    ffi::CString,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
};

const REPLACE: Options = Options { default: false, replace: true };

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang and ip"]
fn instances_of_one_algorithm_have_their_own_parameters() {
    let mut instances = Instances::new();
    let bulk = instances.load("elastic", 'a', &[("beta", "0.8")]);
    let other = instances.load("elastic", 'b', &[("beta", "0.6")]);
    assert_eq!(objects(&bulk), [("beta=0.8".to_owned(), true)]);
    assert_eq!(objects(&other), [("beta=0.6".to_owned(), true)]);
    let again = instances.install("elastic", 'a', &[("beta", "0.8")], Options::default()).unwrap();
    assert_eq!(again, (bulk.clone(), Change::Already));
    // Another parameter needs `replace`, and the error says so.
    let refused = instances.install("elastic", 'a', &[("beta", "0.7")], Options::default()).unwrap_err();
    assert!(refused.contains("beta=0.8") && refused.contains("--replace"), "{refused}");
    load::unload(&bulk, false).unwrap();
    assert_eq!((objects(&bulk), objects(&other)), (vec![], vec![("beta=0.6".to_owned(), true)]));
}

/// A connection over the loopback whose client has this congestion control.
struct Connection {
    client: TcpStream,
    server: TcpStream,
}

impl Connection {
    fn with(listener: &TcpListener, name: &str) -> Connection {
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        choose(&client, name).unwrap();
        let (server, _) = listener.accept().unwrap();
        Connection { client, server }
    }

    /// Sends a few segments, which the congestion control sees acknowledged.
    fn send(&mut self) {
        let mut received = vec![0; 200_000];
        std::thread::scope(|scope| {
            scope.spawn(|| self.client.write_all(&vec![7; 200_000]).unwrap());
            self.server.read_exact(&mut received).unwrap();
        });
    }
}

/// Returns the parameters of the objects of that name, with how many sockets have each.
fn sockets(kernel_name: &str) -> Vec<(String, usize)> {
    let objects = load::loaded().unwrap();
    let counts = load::sockets_of(&objects, &load::sockets());
    let of_name = objects.iter().zip(counts).filter(|(object, _)| object.kernel_name == kernel_name);
    let mut sockets: Vec<(String, usize)> = of_name
        .map(|(object, count)| {
            (object.algorithm.describe(&object.parameters.expect("this program's")), count)
        })
        .collect();
    sockets.sort();
    sockets
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang and ip"]
fn open_sockets_keep_the_replaced_one_until_they_close() {
    let mut instances = Instances::new();
    let name = instances.load("elastic", 'c', &[("beta", "0.8")]);
    let namespace = Namespace::new("replaced").unwrap();
    let inside = || {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let mut open = Connection::with(&listener, &name);
        open.send();
        let replaced = instances.install("elastic", 'c', &[("beta", "0.6")], REPLACE).unwrap();
        assert_eq!(replaced, (name.clone(), Change::Replaced));
        // The socket keeps working, and the kernel keeps the former object for it.
        open.send();
        assert_eq!(congestion_control(&open.client)?, name);
        let both = [("beta=0.6".to_owned(), true), ("beta=0.8".to_owned(), false)];
        assert_eq!(objects(&name), both);
        assert_eq!(sockets(&name), [("beta=0.6".to_owned(), 0), ("beta=0.8".to_owned(), 1)]);
        // A new socket has the new one: the former one goes away with the first socket.
        let mut new = Connection::with(&listener, &name);
        new.send();
        assert_eq!(sockets(&name), [("beta=0.6".to_owned(), 1), ("beta=0.8".to_owned(), 1)]);
        drop(open);
        wait_for("the former one is gone", || objects(&name) == both[..1]);
        // An open socket gets the new one by selecting the name again.
        instances.install("elastic", 'c', &[("beta", "0.7")], REPLACE).unwrap();
        assert_eq!(objects(&name).len(), 2);
        choose(&new.client, &name)?;
        wait_for("the former one is gone", || objects(&name) == [("beta=0.7".to_owned(), true)]);
        new.send();
        // The socket of a former one is no reason to keep the one in its place.
        instances.install("elastic", 'c', &[("beta", "0.5")], REPLACE).unwrap();
        load::unload(&name, false).unwrap();
        assert_eq!(objects(&name), [("beta=0.7".to_owned(), false)]);
        new.send();
        Ok(())
    };
    namespace.within(inside).unwrap();
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang and ip"]
fn another_algorithm_takes_the_place_of_one() {
    let mut instances = Instances::new();
    let name = instances.load("elastic", 'd', &[]);
    instances.install("scalable", 'd', &[], REPLACE).unwrap();
    wait_for("only scalable is there", || {
        let loaded = load::loaded().unwrap();
        let names: Vec<&str> = loaded
            .iter()
            .filter(|object| object.kernel_name == name)
            .map(|object| object.algorithm.name)
            .collect();
        names == ["scalable"]
    });
}

/// The kernel keeps a default, and what every user may select, as properties of the operations and not of the name.
#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang and ip"]
fn a_replaced_default_is_the_default_again() {
    let mut instances = Instances::new();
    let name = instances.load("elastic", 'e', &[("beta", "0.8")]);
    let namespace = Namespace::new("default").unwrap();
    let allowed = Allowed::also(&name);
    let make_default = || {
        load::make_default(&name).unwrap();
        Ok(())
    };
    namespace.within(make_default).unwrap();
    // From another network namespace.
    instances.install("elastic", 'e', &[("beta", "0.6")], REPLACE).unwrap();
    assert!(Allowed::list().contains(&name));
    // Nothing holds the former one: the default means the new one.
    wait_for("the former one is gone", || objects(&name) == [("beta=0.6".to_owned(), true)]);
    let inside = || {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        assert_eq!(congestion_control(&listener)?, name);
        Ok(())
    };
    namespace.within(inside).unwrap();
    drop(allowed);
    load::unload(&name, false).unwrap();
    assert_eq!(objects(&name), []);
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang and ip"]
fn the_default_before_is_put_back_also_if_it_is_loaded_too() {
    let mut instances = Instances::new();
    let first = instances.load("elastic", 'w', &[]);
    let second = instances.load("scalable", 'x', &[]);
    let third = instances.load("veno", 'y', &[]);
    let namespace = Namespace::new("former").unwrap();
    let allowed = [&first, &second, &third].map(|name| Allowed::also(name));
    const SETTING: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
    let default = || std::fs::read_to_string(SETTING).unwrap().trim().to_owned();
    let names = |restored: Vec<load::Restored>| -> Vec<String> {
        restored.into_iter().map(|restored| restored.name).collect()
    };
    let inside = || {
        std::fs::write(SETTING, "reno")?;
        load::make_default(&first).unwrap();
        load::make_default(&second).unwrap();
        load::make_default(&third).unwrap();
        // That of the second goes, which is not the default: nothing changes.
        assert_eq!(names(load::unload(&second, false).unwrap()), Vec::<String>::new());
        assert_eq!(default(), third);
        assert_eq!(names(load::unload(&third, false).unwrap()), std::slice::from_ref(&first));
        assert_eq!(default(), first);
        // Who sets another one has decided; what was before is forgotten.
        std::fs::write(SETTING, "reno")?;
        assert_eq!(names(load::unload(&first, false).unwrap()), Vec::<String>::new());
        assert_eq!(default(), "reno");
        let inode = std::os::unix::fs::MetadataExt::ino(&std::fs::metadata("/proc/thread-self/ns/net")?);
        assert!(!std::path::Path::new(&format!("/run/cwnd/default-before.{inode}")).exists());
        Ok(())
    };
    namespace.within(inside).unwrap();
    drop(allowed);
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang and ip"]
fn programs_that_load_the_same_at_once_do_not_fail() {
    let mut instances = Instances::new();
    let instance = instances.instance("elastic", 'z', &[]);
    let changes: Vec<Change> = std::thread::scope(|scope| {
        let install =
            || load::install(std::slice::from_ref(&instance), Options::default()).unwrap()[0].change;
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(install)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let count = |change: Change| changes.iter().filter(|other| **other == change).count();
    assert_eq!((count(Change::Loaded), count(Change::Already)), (1, 3), "{changes:?}");
}

/// Makes a file read-only for the calling thread and those that it starts, by a mount namespace of its own.
fn make_read_only(file: &str) {
    let file = CString::new(file).unwrap();
    let nothing = std::ptr::null();
    let mount = |flags: libc::c_ulong| {
        // SAFETY: the strings end in zero, and neither a type nor data is given.
        let done = unsafe { libc::mount(file.as_ptr(), file.as_ptr(), nothing, flags, nothing.cast()) };
        assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
    };
    // SAFETY: calls with plain numbers and strings that end in zero. Other threads keep their namespace.
    unsafe {
        assert_eq!(libc::unshare(libc::CLONE_NEWNS), 0);
        let private = libc::MS_REC | libc::MS_PRIVATE;
        assert_eq!(libc::mount(nothing, c"/".as_ptr(), nothing, private, nothing.cast()), 0);
    }
    mount(libc::MS_BIND);
    mount(libc::MS_BIND | libc::MS_REMOUNT | libc::MS_RDONLY);
}

/// One call replaces two instances and loads a third. The kernel has updated both links when a setting of the second cannot be written.
#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang and ip"]
fn a_replacement_that_fails_halfway_is_undone() {
    let mut instances = Instances::new();
    let first = instances.load("elastic", 's', &[("beta", "0.8")]);
    let second = instances.load("scalable", 't', &[("b", "0.2")]);
    let namespace = Namespace::new("undone").unwrap();
    let _allowed = Allowed::also(&second);
    let listen = || TcpListener::bind("127.0.0.1:0");
    let open = || {
        load::make_default(&second).unwrap();
        let listener = listen()?;
        let mut open = Connection::with(&listener, &first);
        open.send();
        Ok((listener, open))
    };
    let (listener, mut open) = namespace.within(open).unwrap();
    assert_eq!(congestion_control(&listener).unwrap(), second);

    let wanted = [
        instances.instance("elastic", 's', &[("beta", "0.6")]),
        instances.instance("veno", 'u', &[]),
        instances.instance("scalable", 't', &[("b", "0.3")]),
    ];
    let refused = std::thread::scope(|scope| {
        let install = || {
            make_read_only("/proc/sys/net/ipv4/tcp_allowed_congestion_control");
            load::install(&wanted, REPLACE).unwrap_err().to_string()
        };
        scope.spawn(install).join().unwrap()
    });
    assert!(refused.contains("tcp_allowed_congestion_control"), "{refused}");

    // The kernel has the former ones alone, and names, defaults and permissions mean them again.
    let former = |name: &str, parameters: &str| {
        wait_for("only the former one is there", || objects(name) == [(parameters.to_owned(), true)]);
    };
    former(&first, "beta=0.8");
    former(&second, "b=0.2");
    assert_eq!(objects(wanted[1].kernel_name()), []);
    assert!(Allowed::list().contains(&second));
    open.send();
    let inside = || {
        let new = Connection::with(&listener, &first);
        let with_default = listen()?;
        assert_eq!(congestion_control(&with_default)?, second);
        assert_eq!(sockets(&first), [("beta=0.8".to_owned(), 2)]);
        // Both listeners, and the accepted ends of both connections.
        assert_eq!(sockets(&second), [("b=0.2".to_owned(), 4)]);
        drop(new);
        Ok(())
    };
    namespace.within(inside).unwrap();
    // Nothing of the failure is left: the same call succeeds.
    let installed = load::install(&wanted, REPLACE).unwrap();
    let changes: Vec<Change> = installed.iter().map(|one| one.change).collect();
    assert_eq!(changes, [Change::Replaced, Change::Loaded, Change::Replaced]);
    drop((listener, open));
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control and clang"]
fn a_name_is_given_once() {
    let mut instances = Instances::new();
    let wanted = ["0.8", "0.6"].map(|beta| instances.instance("elastic", 'v', &[("beta", beta)]));
    for options in [Options::default(), REPLACE] {
        let refused = load::install(&wanted, options).unwrap_err().to_string();
        assert!(refused.contains("two of them have the name"), "{refused}");
    }
    assert_eq!(objects(wanted[0].kernel_name()), []);
}
