//! A server and a client. The module is compiled twice, against noq and against quinn: `super::quic`.

use super::{STACK, counts, quic};
use crate::content::{CHUNK, Content, hex};
use crate::report::mbit_per_s;
use crate::stacks::{DEFAULT_RECEIVE_WINDOW, FetchSettings, IDLE, LONGEST_REQUEST, SEND_WINDOW, socket};
use crate::{Error, Received, Sent, tls};
use cpu_time::ProcessTime;
use quic::congestion::ControllerFactory;
use quic::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use sha2::{Digest, Sha256};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;

/// What has happened if a connection is lost.
const ENDED: &str = "the transfer ended early";

type Factory = Arc<dyn ControllerFactory + Send + Sync>;

/// What the implementation counted of a connection.
pub struct Counts {
    pub packets: u64,
    pub lost_packets: u64,
    pub congestion_events: u64,
    pub rtt: Duration,
    pub window: u64,
}

fn transport(factory: &Factory, receive_window: u32) -> Arc<quic::TransportConfig> {
    let mut config = quic::TransportConfig::default();
    config.congestion_controller_factory(Arc::clone(factory));
    config.stream_receive_window(receive_window.into());
    config.receive_window(receive_window.into());
    config.send_window(SEND_WINDOW);
    config.max_idle_timeout(IDLE.try_into().ok());
    Arc::new(config)
}

/// Listens at an address.
pub fn listen(
    address: SocketAddr,
    factory: &Factory,
    tls: rustls::ServerConfig,
) -> Result<quic::Endpoint, Error> {
    let tls = QuicServerConfig::try_from(tls).map_err(Error::at("TLS"))?;
    let mut config = quic::ServerConfig::with_crypto(Arc::new(tls));
    config.transport_config(transport(factory, DEFAULT_RECEIVE_WINDOW));
    endpoint(address, Some(config)).map_err(Error::at(address))
}

fn endpoint(address: SocketAddr, server: Option<quic::ServerConfig>) -> io::Result<quic::Endpoint> {
    let runtime = quic::default_runtime().ok_or_else(|| io::Error::other("there is no tokio runtime"))?;
    quic::Endpoint::new(quic::EndpointConfig::default(), server, socket(address)?, runtime)
}

/// Ends an endpoint after its last packets have left.
pub async fn close(endpoint: quic::Endpoint) {
    endpoint.close(0u32.into(), b"");
    endpoint.wait_idle().await;
}

/// Sends a client what it asks for, and waits until it closes the connection.
pub async fn send(incoming: quic::Incoming, content: Arc<Content>, algorithm: String) -> Result<Sent, Error> {
    let to = incoming.remote_address().to_string();
    let at = |what: &str| format!("{to}: {what}");
    let connection = incoming.await.map_err(Error::at(at("no connection")))?;
    let (mut stream, mut request) = connection.accept_bi().await.map_err(Error::at(at("no request")))?;
    let name = request.read_to_end(LONGEST_REQUEST).await.map_err(Error::at(at("the request")))?;
    let name = String::from_utf8_lossy(&name).into_owned();
    // Hashing a long file would stop the other transfers.
    let opened = tokio::task::spawn_blocking(move || content.open(&name)).await;
    let mut source = match opened.map_err(Error::at(at("the file")))? {
        Ok(source) => source,
        Err(why) => {
            let line = format!("error {why}\n");
            stream.write_all(line.as_bytes()).await.map_err(Error::at(at(ENDED)))?;
            let _ = stream.finish();
            connection.closed().await;
            return Err(why.after(&at("refused")));
        }
    };
    let (cpu, begin) = (ProcessTime::now(), Instant::now());
    let line = format!("ok {} {}\n", source.length, source.sha256);
    stream.write_all(line.as_bytes()).await.map_err(Error::at(at(ENDED)))?;
    while let Some(chunk) = source.next().await? {
        stream.write_chunk(chunk).await.map_err(Error::at(at(ENDED)))?;
    }
    let _ = stream.finish();
    // It returns nothing once all is acknowledged.
    if let Some(code) = stream.stopped().await.map_err(Error::at(at(ENDED)))? {
        return Err(Error::new(at(&format!("the client stopped the transfer with {code}"))));
    }
    let (cpu_seconds, seconds) = (cpu.elapsed().as_secs_f64(), begin.elapsed().as_secs_f64());
    let counts = counts(&connection);
    // A connection that is dropped before may take data with it that the client has not read.
    connection.closed().await;
    Ok(Sent {
        stack: STACK,
        algorithm,
        to,
        bytes: source.length,
        seconds,
        mbit_per_s: mbit_per_s(source.length, seconds),
        packets: counts.packets,
        lost_packets: counts.lost_packets,
        congestion_events: counts.congestion_events,
        rtt_ms: 1e3 * counts.rtt.as_secs_f64(),
        window: counts.window,
        cpu_seconds,
    })
}

/// Fetches a file.
pub async fn fetch(
    settings: &FetchSettings,
    factory: &Factory,
    tls: rustls::ClientConfig,
) -> Result<Received, Error> {
    let FetchSettings { server, file, .. } = settings;
    let tls = QuicClientConfig::try_from(tls).map_err(Error::at("TLS"))?;
    let mut config = quic::ClientConfig::new(Arc::new(tls));
    config.transport_config(transport(factory, settings.receive_window));
    let any: SocketAddr = match server {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let bind = settings.bind.unwrap_or(any);
    let endpoint = endpoint(bind, None).map_err(Error::at(bind))?;
    let connecting = endpoint.connect_with(config, *server, tls::SERVER_NAME).map_err(Error::at(server))?;
    let connection = connecting.await.map_err(|error| unreachable(*server, settings, &error))?;
    let begin = Instant::now();
    let at = |what: &str| format!("{server}: {what}");
    let (mut request, mut stream) = connection.open_bi().await.map_err(Error::at(at(ENDED)))?;
    request.write_all(file.as_bytes()).await.map_err(Error::at(at(ENDED)))?;
    let _ = request.finish();
    let mut buffer = vec![0; CHUNK];
    // The first line, and what has come after it.
    let mut head = Vec::new();
    let end = loop {
        if let Some(end) = head.iter().position(|&byte| byte == b'\n') {
            break end;
        }
        match stream.read(&mut buffer).await.map_err(Error::at(at(ENDED)))? {
            Some(read) if head.len() < LONGEST_REQUEST => head.extend_from_slice(&buffer[..read]),
            _ => return Err(Error::new(format!("{server} is not a server of cwnd-quic-transfer"))),
        }
    };
    let line = String::from_utf8_lossy(&head[..end]).into_owned();
    let answer = match line.split(' ').collect::<Vec<_>>()[..] {
        ["ok", length, sha256] => length.parse().map(|length: u64| (length, sha256.to_owned())).ok(),
        ["error", ..] => {
            connection.close(0u32.into(), b"");
            endpoint.wait_idle().await;
            return Err(Error::new(at(&line["error ".len()..])));
        }
        _ => None,
    };
    let (length, expected) =
        answer.ok_or_else(|| Error::new(at(&format!("an answer of no form: {line}"))))?;
    let mut sink = Sink::create(settings.output.as_deref()).await?;
    let mut hash = Sha256::new();
    let mut bytes = 0;
    let mut part = &head[end + 1..];
    loop {
        hash.update(part);
        bytes += part.len() as u64;
        sink.write(part).await?;
        match stream.read(&mut buffer).await.map_err(Error::at(at(ENDED)))? {
            Some(read) => part = &buffer[..read],
            None => break,
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    connection.close(0u32.into(), b"");
    endpoint.wait_idle().await;
    let sha256 = hex(&hash.finalize());
    if (bytes, &sha256) != (length, &expected) {
        return Err(Error::new(format!(
            "what came of `{file}` is not what the server has: {bytes} bytes with the SHA-256 {sha256}, instead of {length} with {expected}"
        )));
    }
    sink.keep().await?;
    Ok(Received { stack: STACK, bytes, seconds, mbit_per_s: mbit_per_s(bytes, seconds), sha256 })
}

/// Returns why there is no connection, and what to do.
fn unreachable(server: SocketAddr, settings: &FetchSettings, error: &quic::ConnectionError) -> Error {
    let hint = match error {
        quic::ConnectionError::TimedOut => {
            format!("; is `cwnd-quic-transfer serve --listen {server}` running, and does UDP pass?")
        }
        _ if settings.certificate.is_some() => {
            "; the server prints the hash of its certificate, which is another at each start".to_owned()
        }
        _ => String::new(),
    };
    Error::new(format!("{server}: no connection: {error}{hint}"))
}

/// Where the received bytes are written.
struct Sink {
    file: Option<(tokio::fs::File, PathBuf, PathBuf)>,
}

impl Sink {
    async fn create(output: Option<&Path>) -> Result<Sink, Error> {
        let Some(output) = output else { return Ok(Sink { file: None }) };
        let mut name = output.as_os_str().to_owned();
        name.push(".part");
        let part = PathBuf::from(name);
        let file = tokio::fs::File::create(&part).await.map_err(Error::at(part.display()))?;
        Ok(Sink { file: Some((file, part, output.to_owned())) })
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        match &mut self.file {
            Some((file, part, _)) => file.write_all(bytes).await.map_err(Error::at(part.display())),
            None => Ok(()),
        }
    }

    /// Gives the complete file its name.
    async fn keep(self) -> Result<(), Error> {
        let Some((mut file, part, output)) = self.file else { return Ok(()) };
        file.flush().await.map_err(Error::at(part.display()))?;
        drop(file);
        tokio::fs::rename(&part, &output).await.map_err(Error::at(output.display()))
    }
}
