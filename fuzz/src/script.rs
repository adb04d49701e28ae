//! Scripts of packetdrill.

use cwnd_drill::{Settings, parse, run};

pub fn fuzz(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match parse(text) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(script) => {
            let play = || format!("{:?}", run(&script, Settings::default(), &|_| None));
            assert_eq!(play(), play(), "two plays of one script differ");
        }
    }
}
