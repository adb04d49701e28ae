//! `cwnd serve`: a web page with what a browser cannot do alone.
//!
//! The page runs the simulator by itself. This server adds the result stores of this machine, study runs that start and stop,
//! runs at native speed, runs over this host's kernel, and the state of its TCP. [`Server`] listens on one address. It uses the same code as the command line,
//! through [`Workbench`].
//!
//! ```text
//!  browser ── connections ── access ── router ─┬─ assets       the page, a fixed list of files
//!                            token,            ├─ stores       directories of the command line, by number
//!                            Host, Origin      ├─ study_runs   runner and store of `cwnd run`; progress
//!                                              ├─ native_run   cwnd-wasm's bench, compiled natively
//!                                              └─ lab_run      cwnd-lab, sampled while it runs
//! ```
//!
//! # Security
//!
//! The server acts as the user who runs it, often root. Three kinds of others can reach it: other users of
//! this machine, pages that the user's browser has open, and, if the user says so with `--host`, the network.
//!
//! - **Token.** Each request needs a random token of 256 bits, in the address once and in a cookie then. The comparison takes constant time.
//! - **Host and Origin.** A request must name this server by an address, `localhost` or the value of `--host`: a name that was made to lead here
//!   (DNS rebinding) is refused. A request that changes something must come from a page of this server; one that names
//!   another origin is refused whatever it does.
//! - **Content.** Scripts come from the server's fixed list of files alone. A report is sandboxed, since it contains the text of a study.
//! - **Files.** A request contains no path. Stores have numbers, and static files are names in a table.
//! - **Limits.** Connections, bodies, simulations, their memory and their time are bounded. A run ends when its reader has gone. A reader that is slow slows
//!   its run down, and misses intermediate progress.
//!
//! The connection is not encrypted, and cookies do not distinguish ports: a server of another user of this machine that the same browser
//! visits sees the cookie. Do not use `--host` on a network that you do not trust; forward the port through SSH instead.
#![forbid(unsafe_code)]

mod access;
mod assets;
mod connections;
#[cfg(target_os = "linux")]
mod lab_run;
mod machine;
mod native_run;
mod private_file;
mod refusal;
mod router;
mod run_stream;
#[cfg(target_os = "linux")]
mod socket_list;
mod stores;
mod study_runs;
mod tickets;
mod workbench;

pub use access::Token;
pub use assets::Assets;
pub use stores::{StorePlace, find as find_stores};
pub use workbench::{StudyOrder, Workbench};

use access::Access;
use router::Shared;
use std::{
    io::{self, ErrorKind},
    net::{IpAddr, SocketAddr, TcpListener},
    sync::{Arc, Mutex, atomic::AtomicBool},
    time::Duration,
};
use stores::Stores;
use study_runs::StudyRuns;
use tickets::Tickets;

/// Bytes that the kernel keeps for a page that does not read.
const SEND_BUFFER: usize = 256 << 10;

/// A server that listens on its port; [`Server::run`] serves requests.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    token: Token,
    shared: Arc<Shared>,
}

impl Server {
    /// Listens on an address; port 0 is any free port.
    ///
    /// # Errors
    /// If the address cannot be used, with what would be valid.
    pub fn new(
        host: IpAddr,
        port: u16,
        token: Token,
        assets: Assets,
        places: Vec<StorePlace>,
        workbench: Arc<dyn Workbench>,
    ) -> Result<Server, String> {
        let listener = TcpListener::bind((host, port)).map_err(|error| cannot_listen(host, port, &error))?;
        let broken = |error: io::Error| format!("the port cannot be used: {error}");
        listener.set_nonblocking(true).map_err(broken)?;
        // Accepted sockets have the same: what a slow page does not read is not kept in the kernel either.
        socket2::SockRef::from(&listener).set_send_buffer_size(SEND_BUFFER).map_err(broken)?;
        let address = listener.local_addr().map_err(broken)?;
        let tickets = Tickets::default();
        let stores = Arc::new(Stores::new(places, Arc::clone(&workbench)));
        let studies = StudyRuns::new(Arc::clone(&stores), Arc::clone(&workbench), tickets.clone());
        let access = Access::new(token.clone(), &host.to_string(), address.port());
        let readers = Shared::readers();
        let kernel_probe = Mutex::default();
        let shared =
            Arc::new(Shared { access, assets, stores, studies, tickets, workbench, readers, kernel_probe });
        Ok(Server { listener, address, token, shared })
    }

    /// Returns the address of the page, with the token.
    pub fn url(&self) -> String {
        let mut address = self.address;
        // Nothing can be reached at the unspecified address by its name in a browser.
        if address.ip().is_unspecified() {
            address.set_ip(if address.is_ipv4() {
                [127, 0, 0, 1].into()
            } else {
                IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])
            });
        }
        format!("http://{address}/{}?token={}", assets::PAGE, self.token.text())
    }

    /// Serves until `stop` is true; then stops the study that is on and waits for its end.
    ///
    /// # Errors
    /// If the system has no threads or events for it.
    pub fn run(self, stop: &AtomicBool) -> Result<(), String> {
        let broken = |error: io::Error| format!("the server cannot run: {error}");
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(16)
            .thread_name("serve")
            .enable_all()
            .build()
            .map_err(broken)?;
        let shared = Arc::clone(&self.shared);
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener).map_err(broken)?;
            connections::serve(listener, router::router(Arc::clone(&shared)), stop).await;
            Ok::<(), String>(())
        })?;
        shared.studies.end();
        // Streams of pages that are still open end with it.
        runtime.shutdown_timeout(Duration::from_secs(1));
        Ok(())
    }
}

fn cannot_listen(host: IpAddr, port: u16, error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::AddrInUse => format!(
            "--port {port}: another program uses it; choose another port (`--port {}`), or any free one (`--port 0`)",
            port.checked_add(1).unwrap_or(8000)
        ),
        ErrorKind::AddrNotAvailable => {
            format!("--host {host}: this machine does not have this address; 127.0.0.1 is this machine alone")
        }
        ErrorKind::PermissionDenied => {
            format!(
                "--port {port}: only root may use ports below 1024; choose one from 1024 on (`--port 8000`)"
            )
        }
        _ => format!("--host {host} --port {port}: {error}"),
    }
}
