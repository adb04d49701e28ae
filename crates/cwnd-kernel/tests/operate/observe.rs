//! The state of the sockets of a running host.

use super::host::Instances;
use crate::lab::{Namespace, choose};
use cwnd_kernel::load::{self, SocketReader};
use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
};

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang and ip"]
fn sockets_are_read_with_the_state_of_their_algorithm() {
    let mut instances = Instances::new();
    let name = instances.load("elastic", 'l', &[]);
    let cltcp = instances.load("cltcp", 'm', &[]);
    let namespace = Namespace::new("observe").unwrap();
    let reader = SocketReader::new().unwrap();
    let inside = || {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let mut client = TcpStream::connect(listener.local_addr()?)?;
        choose(&client, &name)?;
        let (mut server, _) = listener.accept()?;
        choose(&server, &cltcp)?;
        let send = |from: &mut TcpStream, to: &mut TcpStream| {
            let mut received = vec![0; 300_000];
            std::thread::scope(|scope| {
                scope.spawn(|| from.write_all(&vec![7; 300_000]).unwrap());
                to.read_exact(&mut received).unwrap();
            });
        };
        send(&mut client, &mut server);
        send(&mut server, &mut client);
        let objects = load::loaded().unwrap();
        let sockets = reader.read().unwrap();
        let found = sockets.iter().find(|socket| socket.congestion_control == name).expect("it is read");
        assert_eq!((found.local, found.remote), (client.local_addr()?, client.peer_addr()?));
        assert!(found.is_established() && found.bytes_acked >= 300_000 && found.cwnd >= 2, "{found:?}");
        assert!(found.srtt_s > 0.0 && found.srtt_s < 1.0 && found.segments > 0, "{found:?}");
        let min_rtt = found.min_rtt_s.expect("it has been measured");
        assert!(min_rtt <= found.srtt_s, "{found:?}");
        let state = found.observe(&objects).expect("the private area of elastic is read");
        let value = |name: &str| state.iter().find(|(other, ..)| *other == name).unwrap().2;
        // WWF = sqrt(RTTmax/RTTcur W), at least sqrt(W).
        assert!(value("wwf") >= f64::from(found.cwnd).sqrt() * 0.999, "{state:?}");
        assert!(value("rtt_max") >= min_rtt && value("rtt_current") > 0.0, "{state:?}");
        let other = sockets.iter().find(|socket| socket.congestion_control == cltcp).unwrap();
        let state = other.observe(&objects).unwrap();
        assert!(state.iter().any(|(name, _, n)| *name == "n" && *n >= 1.0), "{state:?}");
        // One that listens, and is no algorithm of these.
        let listening = sockets
            .iter()
            .find(|socket| socket.local == listener.local_addr().unwrap() && socket.state == 10);
        assert!(listening.is_some_and(|socket| socket.observe(&objects).is_none()), "{listening:?}");
        Ok(())
    };
    namespace.within(inside).unwrap();
}
