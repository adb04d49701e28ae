//! The emulator on a thread of its own.

use super::drive::{Control, Drive, Record};
use crate::{keep_awake, real_time};
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// An emulator that runs. It ends when this is dropped.
pub struct Emulator {
    thread: Option<JoinHandle<io::Result<Record>>>,
    control: Arc<Control>,
}

impl Emulator {
    /// Begin.
    ///
    /// # Errors
    /// If there can be no thread.
    pub fn start(drive: Drive) -> io::Result<Emulator> {
        let control = Arc::new(Control::default());
        let shared = control.clone();
        let thread = thread::Builder::new().name("emulator".into()).spawn(move || {
            // Where these are not allowed, it shows in how late packets are.
            let _awake = keep_awake();
            let _ = real_time();
            drive.run(&shared)
        })?;
        Ok(Emulator { thread: Some(thread), control })
    }

    /// What joins it with others.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// Whether it has come to its end.
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// End it, if it has not ended, and ask what was.
    ///
    /// # Errors
    /// If a device did not work.
    pub fn end(mut self) -> io::Result<Record> {
        self.control.stop();
        let thread = self.thread.take().expect("it has not been dropped");
        thread.join().map_err(|_| io::Error::other("it panicked"))?
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.control.stop();
        if let Some(thread) = self.thread.take() {
            // Whoever wants to know how it ended calls `end`.
            let _ = thread.join();
        }
    }
}
