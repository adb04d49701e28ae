//! The addresses of the server, and what every request and response passes.
//!
//! | address | content |
//! |---|---|
//! | `GET /`, `GET /NAME` | the page and its files |
//! | `GET /api/machine` | what this machine offers |
//! | `GET /api/stores` | the list of stores |
//! | `GET /api/stores/N` | claims, verdicts and failures of a study |
//! | `GET /api/stores/N/report` | its report |
//! | `POST /api/stores/N/start`, `POST /api/stores/N/stop` | start or continue its runs; stop them |
//! | `GET /api/progress` | the progress of the study that is on (server-sent events) |
//! | `POST /api/simulation` | run a setting natively (its samples) |
//! | `POST /api/kernel-run` | run a setting over this host's kernel (its samples) |
//! | `GET /api/kernel` | what is loaded in this host's kernel |
//! | `GET /api/sockets` | the TCP sockets of this host, each second (server-sent events) |

use crate::{
    access::{Access, Shown},
    assets::Assets,
    machine::Machine,
    native_run,
    refusal::Refusal,
    stores::Stores,
    study_runs::StudyRuns,
    tickets::Tickets,
    workbench::Workbench,
};
use axum::{
    Json, Router,
    body::{Body, to_bytes},
    extract::{FromRequestParts, Path, Request, State},
    http::{HeaderName, HeaderValue, StatusCode, header, request::Parts},
    middleware::{Next, from_fn_with_state},
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
    routing::{get, post},
};
use futures_util::stream::{self, Stream};
use serde::Serialize;
use std::{
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{sync::Semaphore, task::spawn_blocking, time::timeout};

/// Bytes of a request's body: a setting of many flows has a tenth of it.
pub const MOST_BODY: usize = 64 << 10;
/// How long a body may take to arrive.
const BODY_TIME: Duration = Duration::from_secs(10);
/// Requests that read stores or make reports at the same time.
const READERS: usize = 4;

/// What all requests share.
pub struct Shared {
    /// Who may use the server.
    pub access: Access,
    /// The page.
    pub assets: Assets,
    /// The stores.
    pub stores: Arc<Stores>,
    /// The study that is on.
    pub studies: StudyRuns,
    /// What may begin.
    pub tickets: Tickets,
    /// The command line.
    pub workbench: Arc<dyn Workbench>,
    /// Limits what reads files.
    pub readers: Semaphore,
    /// Locked while the kernel is read. To find out whether it accepts algorithms, a request loads one and removes it, and another
    /// request would list it.
    pub kernel_probe: Mutex<()>,
}

impl Shared {
    /// Creates the limit on what reads files.
    pub fn readers() -> Semaphore {
        Semaphore::new(READERS)
    }

    fn probe_kernel(&self) -> MutexGuard<'_, ()> {
        self.kernel_probe.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type SharedState = State<Arc<Shared>>;

/// Returns the server's routes.
pub fn router(shared: Arc<Shared>) -> Router {
    let router = Router::new()
        .route("/api/machine", get(machine))
        .route("/api/stores", get(stores))
        .route("/api/stores/{id}", get(store))
        .route("/api/stores/{id}/report", get(report))
        .route("/api/stores/{id}/start", post(start))
        .route("/api/stores/{id}/stop", post(stop))
        .route("/api/progress", get(progress))
        .route("/api/simulation", post(simulation))
        .route("/api/kernel-run", post(kernel_run))
        .route("/api/kernel", get(kernel))
        .route("/api/sockets", get(sockets))
        .fallback(file);
    router.layer(from_fn_with_state(Arc::clone(&shared), guard)).with_state(shared)
}

/// Checks a request, and adds the headers of every response.
async fn guard(State(shared): SharedState, request: Request, next: Next) -> Response {
    let (method, uri) = (request.method(), request.uri());
    let (mut response, sets_cookie) = match shared.access.check(method, uri, request.headers()) {
        Ok(shown) => (next.run(request).await, shown == Shown::Token),
        Err(refusal) => (refusal.into_response(), false),
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if sets_cookie && let Ok(cookie) = shared.access.cookie().parse() {
        headers.insert(header::SET_COOKIE, cookie);
    }
    response
}

/// Headers of every response that does not set them itself. `wasm-unsafe-eval` permits the simulator's module and nothing else; style
/// attributes are those of the charts. A worker from a `data:` address runs the visitor's own algorithm: it has an origin of its own, whose
/// requests carry no cookie and are refused.
const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
         connect-src 'self'; worker-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// A report has its own policy, in the page; it names the hashes of its script and style. The sandbox keeps it, and a study's text in it,
/// from acting as a page of this server.
const REPORT_POLICY: &str =
    "sandbox allow-scripts allow-popups; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

async fn file(State(shared): SharedState, request: Request) -> Response {
    let path = request.uri().path();
    let found = if request.method() == axum::http::Method::GET || request.method() == axum::http::Method::HEAD
    {
        shared.assets.response(path)
    } else {
        None
    };
    found.unwrap_or_else(|| {
        Refusal::new(StatusCode::NOT_FOUND, "there is no such address here").into_response()
    })
}

async fn machine(State(shared): SharedState) -> Result<Response, Refusal> {
    reading(&shared, |shared| {
        let _alone = shared.probe_kernel();
        Ok(Machine::here())
    })
    .await
}

async fn stores(State(shared): SharedState) -> Result<Response, Refusal> {
    reading(&shared, |shared| Ok(shared.stores.list())).await
}

/// The store's number in an address.
struct StoreId(usize);

impl<S: Send + Sync> FromRequestParts<S> for StoreId {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<StoreId, Refusal> {
        let number = Path::<usize>::from_request_parts(parts, state).await;
        number.map(|Path(id)| StoreId(id)).map_err(|_not_a_number| {
            Refusal::new(StatusCode::NOT_FOUND, "stores are numbered, from 0 on: /api/stores/0")
        })
    }
}

async fn store(State(shared): SharedState, StoreId(id): StoreId) -> Result<Response, Refusal> {
    reading(&shared, move |shared| shared.stores.detail(id)).await
}

async fn report(State(shared): SharedState, StoreId(id): StoreId) -> Result<Response, Refusal> {
    let html = blocking(&shared, move |shared| shared.stores.report(id)).await?;
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, REPORT_POLICY),
    ];
    Ok((headers, html).into_response())
}

async fn start(State(shared): SharedState, StoreId(id): StoreId) -> Result<StatusCode, Refusal> {
    blocking(&shared, move |shared| shared.studies.start(id)).await.map(|()| StatusCode::ACCEPTED)
}

async fn stop(State(shared): SharedState, StoreId(id): StoreId) -> Result<StatusCode, Refusal> {
    blocking(&shared, move |shared| shared.studies.stop(id)).await.map(|()| StatusCode::ACCEPTED)
}

/// Sends the progress whenever it has changed. A reader that is slow gets the latest only.
async fn progress(State(shared): SharedState) -> Response {
    let mut receiver = shared.studies.progress();
    receiver.mark_changed();
    let events = stream::unfold(receiver, |mut receiver| async {
        receiver.changed().await.ok()?;
        let event = event(&*receiver.borrow_and_update());
        Some((event, receiver))
    });
    events_response(events)
}

async fn simulation(State(shared): SharedState, body: Body) -> Result<Response, Refusal> {
    let text = setting(body).await?;
    let ticket = shared.tickets.simulation()?;
    native_run::start(&text, &*shared.workbench, ticket).map(samples)
}

#[cfg(target_os = "linux")]
async fn kernel_run(State(shared): SharedState, body: Body) -> Result<Response, Refusal> {
    let text = setting(body).await?;
    let ticket = shared.tickets.lab()?;
    crate::lab_run::start(&text, ticket).map(samples)
}

#[cfg(not(target_os = "linux"))]
async fn kernel_run() -> Refusal {
    Refusal::unavailable("real kernels are run on Linux alone")
}

async fn kernel(State(shared): SharedState) -> Result<Response, Refusal> {
    reading(&shared, |shared| {
        let _alone = shared.probe_kernel();
        shared.workbench.kernel().map_err(|why| Refusal::unavailable(&why))
    })
    .await
}

/// Sends the sockets each second; while a reader is slow nothing is read.
#[cfg(target_os = "linux")]
async fn sockets() -> Response {
    use tokio::time::{MissedTickBehavior, interval};
    let mut interval = interval(Duration::from_secs(1));
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let events = stream::unfold(interval, |mut interval| async {
        interval.tick().await;
        let list = spawn_blocking(crate::socket_list::now).await.ok()?;
        Some((event(&list), interval))
    });
    events_response(events)
}

#[cfg(not(target_os = "linux"))]
async fn sockets() -> Refusal {
    Refusal::unavailable("TCP sockets are listed on Linux alone")
}

fn samples(body: Body) -> Response {
    ([(header::CONTENT_TYPE, "application/octet-stream")], body).into_response()
}

fn event(content: &impl Serialize) -> Result<Event, Infallible> {
    let json = serde_json::to_string(content).expect("numbers and texts can be written as JSON");
    Ok(Event::default().data(json))
}

fn events_response(events: impl Stream<Item = Result<Event, Infallible>> + Send + 'static) -> Response {
    Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))).into_response()
}

/// Reads the text of a setting.
async fn setting(body: Body) -> Result<String, Refusal> {
    let read = timeout(BODY_TIME, to_bytes(body, MOST_BODY)).await.map_err(|_| {
        let message = format!("the body took longer than {} s", BODY_TIME.as_secs());
        Refusal::new(StatusCode::REQUEST_TIMEOUT, &message)
    })?;
    let bytes = read.map_err(|_| {
        let message = format!("the body is broken or has more than {MOST_BODY} bytes");
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, &message)
    })?;
    String::from_utf8(bytes.into())
        .map_err(|_| Refusal::new(StatusCode::BAD_REQUEST, "the setting is no UTF-8 text"))
}

/// Does what reads files on another thread, and returns it as JSON.
async fn reading<T, F>(shared: &Arc<Shared>, read: F) -> Result<Response, Refusal>
where
    T: Serialize + Send + 'static,
    F: FnOnce(&Shared) -> Result<T, Refusal> + Send + 'static,
{
    blocking(shared, read).await.map(|content| Json(content).into_response())
}

/// Does what takes a while on another thread; [`READERS`] at a time.
async fn blocking<T, F>(shared: &Arc<Shared>, work: F) -> Result<T, Refusal>
where
    T: Send + 'static,
    F: FnOnce(&Shared) -> Result<T, Refusal> + Send + 'static,
{
    let _permit = shared.readers.acquire().await.map_err(|_| Refusal::broken("the server is ending"))?;
    let here = Arc::clone(shared);
    spawn_blocking(move || work(&here)).await.unwrap_or_else(|_| {
        Err(Refusal::broken("it ended with a panic; the program's standard error has it"))
    })
}
