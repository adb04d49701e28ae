//! Panics inside a run, as a text.

use std::{
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
        panic::set_hook(Box::new(move |info| match CAUGHT.get() {
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
    result.map_err(|_| LAST.take().unwrap_or_else(|| "it panicked".to_owned()))
}

fn describe(info: &panic::PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let said = payload.downcast_ref::<&str>().copied();
    let said = said.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    match info.location() {
        Some(place) => format!("it panicked: {said} ({}:{})", place.file(), place.line()),
        None => format!("it panicked: {said}"),
    }
}
