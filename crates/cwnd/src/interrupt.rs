//! Ctrl-C, and the other signals that end a program.

use signal_hook::{consts, flag as on_signal};
use std::{
    io,
    sync::{
        Arc, LazyLock, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

/// The signals that are caught.
const SIGNALS: &[i32] = &[
    consts::SIGINT,
    consts::SIGTERM,
    #[cfg(unix)]
    consts::SIGHUP,
];

static STOP: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
static LEFT: AtomicBool = AtomicBool::new(false);
static SIGNAL: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// True once the user wants to stop, if that is caught ([`catch`]). Engines in real time end their run then.
pub fn flag() -> Arc<AtomicBool> {
    Arc::clone(&STOP)
}

/// Returns the exit code of a program that a signal has ended, as shells have it: 130 after Ctrl-C, 143 after SIGTERM.
pub fn exit_code() -> u8 {
    match SIGNAL.load(Ordering::Relaxed) {
        0 => code(consts::SIGINT),
        signal => code(signal as i32),
    }
}

fn code(signal: i32) -> u8 {
    128 + signal as u8
}

/// Leaves the signals to the program that this is a part of. It sets the flag itself, and clears it.
pub fn leave_to_program() -> Arc<AtomicBool> {
    LEFT.store(true, Ordering::Relaxed);
    flag()
}

/// Catches the signals: the first one sets the flag, and a second one ends the program at once. Where they are
/// [left to the program](leave_to_program), none is caught.
///
/// # Errors
/// If the system does not let them be caught.
pub fn catch() -> Result<Arc<AtomicBool>, String> {
    static CAUGHT: OnceLock<Result<(), String>> = OnceLock::new();
    if LEFT.load(Ordering::Relaxed) {
        return Ok(flag());
    }
    match CAUGHT.get_or_init(|| register().map_err(|error| error.to_string())) {
        Ok(()) => Ok(flag()),
        Err(why) => Err(format!("Ctrl-C cannot be caught: {why}")),
    }
}

fn register() -> io::Result<()> {
    for signal in SIGNALS {
        // In this order: the first signal finds the flag unset and sets it, the second finds it set.
        on_signal::register_conditional_shutdown(*signal, code(*signal).into(), flag())?;
        on_signal::register_usize(*signal, Arc::clone(&SIGNAL), *signal as usize)?;
        on_signal::register(*signal, flag())?;
    }
    Ok(())
}
