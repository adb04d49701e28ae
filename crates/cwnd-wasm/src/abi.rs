//! The functions that the module exports.
//!
//! A text comes into the module through [`cwnd_input`], which gives the place to write it to. A text leaves it at
//! [`cwnd_text`]. Functions that can fail return 0 and leave a list of problems as that text. A panic ends the instance; the text
//! then tells what happened.

// Exported names are unsafe attributes, because they could collide; the module is the whole program.
#![allow(unsafe_code)]

#[cfg(feature = "study")]
mod study;

use crate::scripted::{self, FIELDS};
use crate::{Bench, LineProblem, Setting};
use std::cell::RefCell;

#[derive(Default)]
struct Instance {
    input: Vec<u8>,
    text: String,
    trace: Option<String>,
    bench: Option<Bench>,
}

thread_local! {
    static INSTANCE: RefCell<Instance> = RefCell::default();
    /// The message of a panic, which may come while the instance is borrowed.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Makes place for a text of this many bytes and returns where.
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_input(length: usize) -> *mut u8 {
    with(|instance| {
        instance.input.clear();
        instance.input.resize(length, 0);
        instance.input.as_mut_ptr()
    })
}

/// Returns where the text is that the last function left.
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_text() -> *const u8 {
    with(|instance| instance.text.as_ptr())
}

/// Returns how many bytes it has.
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_text_length() -> usize {
    with(|instance| instance.text.len())
}

/// Returns where the message of a panic is; its length is [`cwnd_panic_length`].
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_panic() -> *const u8 {
    PANIC.with_borrow(|message| message.as_ptr())
}

/// Returns how many bytes the message of a panic has.
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_panic_length() -> usize {
    PANIC.with_borrow(String::len)
}

/// Keeps the input as the delivery trace of the run that the next [`cwnd_open`] makes.
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_trace() {
    with(|instance| instance.trace = Some(taken(&mut instance.input)));
}

/// Makes the run that the input describes. The text then describes it, or lists problems.
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_open() -> u32 {
    keep_panics();
    with(|instance| {
        let text = taken(&mut instance.input);
        let trace = instance.trace.take();
        let bench = Setting::parse(&text, trace.as_deref()).and_then(bench);
        let described = bench.map(|bench| {
            let described = bench.describe();
            instance.bench = Some(bench);
            described
        });
        instance.answer(described)
    })
}

/// Runs until a time, seconds, and takes a sample at each multiple of `every`, seconds. Returns 0 if a change was impossible.
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_run(until: f64, every: f64) -> u32 {
    with(|instance| {
        let run = instance.bench.as_mut().ok_or_else(no_run).and_then(|bench| bench.run_until(until, every));
        instance.answer(run.map(|()| String::new()))
    })
}

/// Changes a setting now: the input is a line such as `rate=10 Mbit/s`.
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_change() -> u32 {
    with(|instance| {
        let line = taken(&mut instance.input);
        let changed = instance.bench.as_mut().ok_or_else(no_run).and_then(|bench| bench.change(&line));
        let described = changed.map(|()| instance.bench.as_ref().map(Bench::describe).unwrap_or_default());
        instance.answer(described)
    })
}

/// Returns where the numbers are that the last [`cwnd_run`] sampled.
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_rows() -> *const f64 {
    with(|instance| instance.bench.as_ref().map_or(std::ptr::null(), |bench| bench.rows().as_ptr()))
}

/// Returns how many numbers these are.
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_rows_length() -> usize {
    with(|instance| instance.bench.as_ref().map_or(0, |bench| bench.rows().len()))
}

/// Returns the time to which the run has come, seconds.
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_now() -> f64 {
    with(|instance| instance.bench.as_ref().map_or(0.0, Bench::now))
}

/// Returns how many data packets have come to the bottleneck's queue.
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_packets() -> f64 {
    with(|instance| instance.bench.as_ref().map_or(0.0, Bench::packets))
}

/// Leaves the hash of all samples and the outcome so far as a text of 16 hexadecimal digits.
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_digest() {
    with(|instance| {
        let digest = instance.bench.as_ref().map_or(0, Bench::digest);
        instance.text = format!("{digest:016x}");
    });
}

/// Leaves the catalogue of algorithms as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_catalogue() {
    with(|instance| instance.text = crate::catalogue());
}

/// Returns a value of the window of the flow whose event the host handles: the number of one of [`FIELDS`].
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_window(field: usize) -> f64 {
    scripted::with_window(|window| FIELDS.get(field).map_or(f64::NAN, |field| field.get(window)))
}

/// Changes a value of that window.
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_set_window(field: usize, value: f64) {
    scripted::with_window(|window| FIELDS.get(field).map(|field| field.set(window, value)));
}

/// Grows that window by slow start; see [`Window::slow_start`](cwnd_cc::Window::slow_start).
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_slow_start(acked: u32) -> u32 {
    scripted::with_window(|window| window.slow_start(acked))
}

/// Grows that window additively; see [`Window::increase`](cwnd_cc::Window::increase).
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_increase(acked: u32, per_segment: f64) {
    scripted::with_window(|window| window.increase(acked, per_segment));
}

/// Keeps the message of a panic, so that the page can show it.
fn keep_panics() {
    std::panic::set_hook(Box::new(|info| PANIC.with_borrow_mut(|message| *message = info.to_string())));
}

#[cfg(target_arch = "wasm32")]
fn bench(setting: Setting) -> Result<Bench, Vec<LineProblem>> {
    Bench::with_factory(setting, &scripted::factory(page::Page))
}

#[cfg(not(target_arch = "wasm32"))]
fn bench(setting: Setting) -> Result<Bench, Vec<LineProblem>> {
    Bench::new(setting)
}

/// The functions that the module imports: the page runs the visitor's algorithm. An exception that they throw ends the instance.
#[cfg(target_arch = "wasm32")]
mod page {
    use crate::scripted::{Event, Host};

    #[link(wasm_import_module = "page")]
    unsafe extern "C" {
        safe fn create(parameters: *const u8, length: usize) -> u32;
        safe fn needs(algorithm: u32) -> u32;
        safe fn on_event(algorithm: u32, event: u32, numbers: *const f64);
    }

    #[derive(Clone, Copy)]
    pub struct Page;

    impl Host for Page {
        fn create(self, parameters: &str) -> u32 {
            create(parameters.as_ptr(), parameters.len())
        }

        fn needs(self, algorithm: u32) -> u32 {
            needs(algorithm)
        }

        fn on_event(self, algorithm: u32, event: Event, numbers: &[f64]) {
            on_event(algorithm, event as u32, numbers.as_ptr());
        }
    }
}

impl Instance {
    fn answer(&mut self, result: Result<String, Vec<LineProblem>>) -> u32 {
        let good = result.is_ok();
        self.text = result.unwrap_or_else(|problems| LineProblem::json(&problems));
        good.into()
    }
}

fn with<T>(work: impl FnOnce(&mut Instance) -> T) -> T {
    INSTANCE.with_borrow_mut(work)
}

fn taken(input: &mut Vec<u8>) -> String {
    String::from_utf8_lossy(&std::mem::take(input)).into_owned()
}

fn no_run() -> Vec<LineProblem> {
    vec![LineProblem { line: 0, key: "run".to_owned(), message: "open a run first".to_owned() }]
}
