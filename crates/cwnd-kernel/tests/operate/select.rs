//! Selection by cgroup and by route.

use super::host::{Instances, TestCgroup, objects, wait_for};
use crate::lab::{Namespace, choose, congestion_control, connect, run, tcp_socket};
use cwnd_kernel::load::{self, Options};
use std::{
    io,
    net::{Ipv4Addr, TcpListener, TcpStream},
};

/// Returns the congestion controls of both ends of a new connection, and the ends.
fn ends(listener: &TcpListener) -> io::Result<([String; 2], [TcpStream; 2])> {
    let client = TcpStream::connect(listener.local_addr()?)?;
    let (server, _) = listener.accept()?;
    Ok(([congestion_control(&client)?, congestion_control(&server)?], [client, server]))
}

fn default() -> String {
    std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap().trim().to_owned()
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang, ip and cgroup2"]
fn a_cgroup_selects_for_connections_in_both_directions() {
    let mut instances = Instances::new();
    let name = instances.load("elastic", 'f', &[]);
    let other = instances.load("scalable", 'g', &[]);
    let cgroup = TestCgroup::new("select", None);
    let namespace = Namespace::new("select").unwrap();
    load::select(&cgroup.0, &name).unwrap();
    let found = load::selections();
    let found = found.iter().find(|selection| selection.cgroup.as_ref() == Some(&cgroup.0)).unwrap();
    assert_eq!((found.name.as_str(), found.registered), (name.as_str(), true));
    let both = |name: &str| [name.to_owned(), name.to_owned()];
    let outside = namespace.within(|| Ok((TcpListener::bind("127.0.0.1:0")?, default()))).unwrap();
    let (outside, default) = outside;
    let inside = || {
        cgroup.enter();
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let (names, open) = ends(&listener)?;
        assert_eq!(names, both(&name));
        // The listener of another cgroup decides about the incoming end.
        assert_eq!(ends(&outside)?.0, [name.clone(), default.clone()]);
        // The choice of the application wins, in both directions.
        choose(&listener, "reno")?;
        let socket = tcp_socket("reno")?;
        connect(&socket, Ipv4Addr::LOCALHOST, listener.local_addr()?.port())?;
        let (server, _) = listener.accept()?;
        assert_eq!([congestion_control(&socket)?, congestion_control(&server)?], both("reno"));
        // Another selection of the same cgroup replaces it; what is open keeps what it has.
        load::select(&cgroup.0, &other).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0")?;
        assert_eq!(ends(&listener)?.0, both(&other));
        assert_eq!(congestion_control(&open[0])?, name);
        load::unselect(&cgroup.0).unwrap();
        assert_eq!(ends(&listener)?.0, both(&default));
        Ok(())
    };
    namespace.within(inside).unwrap();
    let gone = load::unselect(&cgroup.0).unwrap_err().to_string();
    assert!(gone.contains("has no selection"), "{gone}");
    assert!(
        load::select(&cgroup.0, "cwnd_nothing").unwrap_err().to_string().contains("no congestion control")
    );
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang, ip and cgroup2"]
fn the_nearest_cgroup_selects() {
    let mut instances = Instances::new();
    let (outer_name, inner_name) = (instances.load("elastic", 'h', &[]), instances.load("veno", 'i', &[]));
    let outer = TestCgroup::new("outer", None);
    let inner = TestCgroup::new("inner", Some(&outer));
    let namespace = Namespace::new("nearest").unwrap();
    load::select(&outer.0, &outer_name).unwrap();
    let client = || {
        inner.enter();
        Ok(ends(&TcpListener::bind("127.0.0.1:0")?)?.0[0].clone())
    };
    assert_eq!(namespace.within(client).unwrap(), outer_name);
    load::select(&inner.0, &inner_name).unwrap();
    assert_eq!(namespace.within(client).unwrap(), inner_name);
    // Without the algorithm, a selection selects nothing.
    load::unload(&inner_name, true).unwrap();
    assert_eq!(namespace.within(client).unwrap(), outer_name);
    let selections = load::selections();
    let of_inner = selections.iter().find(|selection| selection.cgroup.as_ref() == Some(&inner.0)).unwrap();
    assert!(!of_inner.registered);
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang, ip and cgroup2"]
fn the_selection_of_a_removed_cgroup_is_forgotten() {
    let mut instances = Instances::new();
    let name = instances.load("elastic", 'j', &[]);
    let cgroup = TestCgroup::new("removed", None);
    let selection = load::select(&cgroup.0, &name).unwrap();
    std::fs::remove_dir(&cgroup.0.path).unwrap();
    wait_for("the cgroup is gone", || {
        load::selections().iter().any(|other| other.pin == selection.pin && other.cgroup.is_none())
    });
    assert!(load::forget_removed_cgroups() >= 1);
    assert!(!selection.pin.exists());
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang and ip"]
fn a_route_selects() {
    let mut instances = Instances::new();
    let name = instances.load("elastic", 'k', &[("beta", "0.8")]);
    let namespace = Namespace::new("route").unwrap();
    run(&format!("ip -n {} route add local 10.77.0.0/16 dev lo congctl {name}", namespace.name())).unwrap();
    run(&format!("ip -n {} route add local 10.78.0.0/16 dev lo congctl lock {name}", namespace.name()))
        .unwrap();
    let connection = |address: &str| ends(&TcpListener::bind((address, 0)).unwrap());
    let inside = || {
        let (names, [client, _]) = connection("10.77.0.1")?;
        assert_eq!(names, [name.clone(), name.clone()]);
        // An application changes it afterwards, unless the route locks it.
        choose(&client, "reno")?;
        let (_, [client, _]) = connection("10.78.0.1")?;
        assert_eq!(choose(&client, "reno").unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        // Before the connection, its choice is overridden.
        let listener = TcpListener::bind("10.77.0.1:0")?;
        let socket = tcp_socket("reno")?;
        connect(&socket, Ipv4Addr::new(10, 77, 0, 1), listener.local_addr()?.port())?;
        assert_eq!(congestion_control(&socket)?, name);
        drop((client, socket, listener));
        // The route names it, so that it means what is loaded under the name now.
        let replace = Options { replace: true, ..Options::default() };
        instances.install("elastic", 'k', &[("beta", "0.6")], replace).unwrap();
        let (names, open) = connection("10.77.0.1")?;
        assert_eq!(names[0], name);
        wait_for("the former one is gone", || objects(&name) == [("beta=0.6".to_owned(), true)]);
        drop(open);
        Ok(())
    };
    namespace.within(inside).unwrap();
    // Without its algorithm the route would select nothing.
    let mut to: Vec<String> = load::routes()
        .into_iter()
        .filter(|route| route.congestion_control == name)
        .map(|route| route.to)
        .collect();
    to.sort();
    assert_eq!(to, ["10.77.0.0/16", "10.78.0.0/16"]);
    wait_for("no socket has it", || !load::sockets().contains_key(&name));
    let refused = load::unload(&name, false).unwrap_err().to_string();
    assert!(refused.contains("the route to 10.77.0.0/16 (/"), "{refused}");
    for network in ["10.77.0.0/16", "10.78.0.0/16"] {
        run(&format!("ip -n {} route del local {network} dev lo", namespace.name())).unwrap();
    }
    load::unload(&name, false).unwrap();
}
