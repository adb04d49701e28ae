//! Connections: how many there are, and how long the head of a request may take.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{
    net::TcpListener,
    sync::Semaphore,
    time::{sleep, timeout},
};

/// Connections at the same time. Further ones wait.
pub const CONNECTIONS: usize = 128;
/// How long the head of a request may take; an idle connection is closed after it, too.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// The largest head.
const MOST_HEAD: usize = 16 << 10;
/// How often to look for the wish to stop.
const TICK: Duration = Duration::from_millis(100);

/// Serves connections until `stop` is true.
pub async fn serve(listener: TcpListener, router: Router, stop: &AtomicBool) {
    let slots = Arc::new(Semaphore::new(CONNECTIONS));
    while !stop.load(Ordering::Relaxed) {
        let Ok(Ok(slot)) = timeout(TICK, Arc::clone(&slots).acquire_owned()).await else { continue };
        let stream = match timeout(TICK, listener.accept()).await {
            Err(_) => continue,
            Ok(Ok((stream, _))) => stream,
            Ok(Err(_)) => {
                // The process has too many open files, or the connection was gone at once.
                sleep(TICK).await;
                continue;
            }
        };
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_buf_size(MOST_HEAD);
            // What goes wrong here is the client's.
            let _ = server.serve_connection(TokioIo::new(stream), service).await;
            drop(slot);
        });
    }
}
