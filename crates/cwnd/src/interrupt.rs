//! Ctrl-C.

use crate::failure::Failure;
use std::{
    process,
    sync::{
        Arc, LazyLock, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

static STOP: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// True once the user wants to stop, if that is caught ([`catch`]). Engines in real time end their run then.
pub fn flag() -> Arc<AtomicBool> {
    Arc::clone(&STOP)
}

/// From now on Ctrl-C sets the flag; who wants it twice is out at once.
///
/// # Errors
/// If the system does not let it be caught.
pub fn catch() -> Result<Arc<AtomicBool>, Failure> {
    static CAUGHT: OnceLock<Result<(), String>> = OnceLock::new();
    let catch = || {
        let stop = flag();
        let handler = move || {
            if stop.swap(true, Ordering::Relaxed) {
                process::exit(130);
            }
        };
        ctrlc::set_handler(handler).map_err(|error| error.to_string())
    };
    match CAUGHT.get_or_init(catch) {
        Ok(()) => Ok(flag()),
        Err(why) => Err(Failure::broken(format!("Ctrl-C cannot be caught: {why}"))),
    }
}
