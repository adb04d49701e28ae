//! Prints the digests of outcomes that the snapshots have, on any machine: `cargo run -p cwnd-sim --example digests`.
//!
//! In WebAssembly there is no standard output: the host passes a function that prints.

#[path = "../tests/digests/mod.rs"]
mod digests;

fn main() {
    #[cfg(target_family = "wasm")]
    std::panic::set_hook(Box::new(|panic| print(&format!("{panic}\n"))));
    print(&digests::algorithms());
    print("\n");
    print(&digests::networks());
}

#[cfg(not(target_family = "wasm"))]
fn print(text: &str) {
    print!("{text}");
}

#[cfg(target_family = "wasm")]
fn print(text: &str) {
    #[link(wasm_import_module = "host")]
    unsafe extern "C" {
        fn print(text: *const u8, length: usize);
    }
    // SAFETY: the host only reads the bytes of this text, before it returns.
    unsafe { print(text.as_ptr(), text.len()) }
}
