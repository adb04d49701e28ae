//! Transfers of s2n-quic over loopback with algorithms of cwnd.

use cwnd_cc::{Ack, Congestion, CongestionControl, Init, Window};
use cwnd_quic_s2n::{Endpoint, endpoint};
use s2n_quic::client::Connect;
use s2n_quic::{Client, Server};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const BYTES: usize = 2_000_003;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::time::timeout(Duration::from_secs(60), future).await.expect("the transfer does not end")
    })
}

/// Sends bytes from a server with this congestion control to a client, and compares them.
async fn transfer(congestion_control: Endpoint) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let mut server = Server::builder()
        .with_tls((certificate.as_str(), key.as_str()))
        .unwrap()
        .with_io("127.0.0.1:0")
        .unwrap()
        .with_congestion_controller(congestion_control)
        .unwrap()
        .start()
        .unwrap();
    let address = server.local_addr().unwrap();
    let data: Vec<u8> = (0..BYTES as u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
    let expected = data.clone();
    let served = tokio::spawn(async move {
        let mut connection = server.accept().await.unwrap();
        let mut stream = connection.accept_bidirectional_stream().await.unwrap().unwrap();
        assert!(stream.receive().await.unwrap().is_some());
        stream.send(data.into()).await.unwrap();
        stream.close().await.unwrap();
    });
    let client = Client::builder()
        .with_tls(certificate.as_str())
        .unwrap()
        .with_io("127.0.0.1:0")
        .unwrap()
        .with_congestion_controller(endpoint("newreno").unwrap())
        .unwrap()
        .start()
        .unwrap();
    let mut connection = client.connect(Connect::new(address).with_server_name("localhost")).await.unwrap();
    let mut stream = connection.open_bidirectional_stream().await.unwrap();
    stream.send(vec![1].into()).await.unwrap();
    let mut received = Vec::new();
    while let Some(chunk) = stream.receive().await.unwrap() {
        received.extend_from_slice(&chunk);
    }
    assert!(received == expected, "{} bytes came, or others", received.len());
    drop(connection);
    served.await.unwrap();
}

#[test]
fn every_algorithm_sends_a_file() {
    for info in cwnd_cc::all() {
        let begin = Instant::now();
        block_on(transfer(endpoint(info.name).unwrap()));
        println!("{}: {:.2} s", info.name, begin.elapsed().as_secs_f64());
    }
    block_on(transfer(endpoint("elastic:beta=0.7").unwrap()));
}

/// What a controller was asked for.
#[derive(Debug, Default)]
struct Counts {
    built: AtomicU64,
    acked: AtomicU64,
    /// The largest window, segments.
    largest: AtomicU64,
}

/// Keeps a fixed window, and counts what it is called with.
struct Fixed(Arc<Counts>);

impl CongestionControl for Fixed {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.0.acked.fetch_add(u64::from(ack.acked), Ordering::Relaxed);
        self.0.largest.fetch_max(u64::from(ack.prior_in_flight), Ordering::Relaxed);
        window.set_cwnd(8.0);
    }

    fn on_congestion(&mut self, _: &mut Window, _: &Congestion) {}
}

/// An algorithm of a user is called for every packet, and its window holds.
#[test]
fn the_controller_is_called_and_obeyed() {
    let counts = Arc::new(Counts::default());
    let its = Arc::clone(&counts);
    let of_user = Endpoint::new(move || {
        its.built.fetch_add(1, Ordering::Relaxed);
        Box::new(Fixed(Arc::clone(&its)))
    });
    block_on(transfer(of_user));
    assert!(counts.built.load(Ordering::Relaxed) >= 1, "{counts:?}");
    let acked = counts.acked.load(Ordering::Relaxed);
    // Segments of at most 9,000 bytes.
    assert!(acked > BYTES as u64 / 9_000, "{counts:?}");
    // One more at the beginning of a recovery, and the initial window before the first ACK.
    assert!(counts.largest.load(Ordering::Relaxed) <= 10, "{counts:?}");
}

/// A large window, and a rate of 2 MB/s.
struct Paced;

impl CongestionControl for Paced {
    fn init(&mut self, window: &mut Window, _: &Init) {
        window.pacing_rate = 2e6;
    }

    fn on_ack(&mut self, window: &mut Window, _: &Ack) {
        window.set_cwnd(1_000.0);
    }

    fn on_congestion(&mut self, _: &mut Window, _: &Congestion) {}
}

/// 2 MB take a second, less the bursts and what leaves before the first round-trip time is known.
#[test]
fn a_pacing_rate_is_kept() {
    let begin = Instant::now();
    block_on(transfer(Endpoint::new(|| Box::new(Paced))));
    let seconds = begin.elapsed().as_secs_f64();
    assert!((0.9..3.0).contains(&seconds), "{seconds} s");
}
