//! Panics inside a run, as a text.

use cwnd_scenario::HELPER_THREAD;
use std::{
    any::Any,
    cell::{Cell, RefCell},
    panic::{self, AssertUnwindSafe},
    sync::Once,
    thread::{self, JoinHandle},
};

thread_local! {
    /// Whether this thread's panics are caught, and so need not be told on standard error.
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
    /// Where the last panic was, and what it said.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// A thread for runs.
pub(super) fn spawn(work: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    install();
    thread::spawn(work)
}

/// Keeps panics that [`caught`] catches from standard error, in all threads.
pub(super) fn install() {
    // The hook receives a panic with its location; `catch_unwind` returns only its text.
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| match CAUGHT.get() || is_helper() {
            true => LAST.set(Some(describe(info))),
            false => before(info),
        }));
    });
}

/// What `run` gives, or what its panic said.
pub(super) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    CAUGHT.set(true);
    // What it was working on is dropped; nothing of it is seen again.
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    CAUGHT.set(false);
    // A panic of a helper comes without its location.
    result.map_err(|payload| LAST.take().unwrap_or_else(|| format!("it panicked: {}", message(&*payload))))
}

/// Returns whether this thread helps a run, which passes on its panics.
fn is_helper() -> bool {
    thread::current().name() == Some(HELPER_THREAD)
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

fn describe(info: &panic::PanicHookInfo<'_>) -> String {
    let said = message(info.payload());
    match info.location() {
        Some(place) => format!("it panicked: {said} ({}:{})", place.file(), place.line()),
        None => format!("it panicked: {said}"),
    }
}
