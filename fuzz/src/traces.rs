//! Delivery traces, tables of flow sizes, and events of `cwnd drill --events`. The first byte chooses.

use cwnd_drill::events;
use cwnd_scenario::{DeliveryTrace, SizeTable};

pub fn fuzz(data: &[u8]) {
    let Some((kind, rest)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    match kind % 3 {
        0 => {
            if let Ok(trace) = DeliveryTrace::parse("fuzz", text) {
                assert_eq!(DeliveryTrace::parse("fuzz", &trace.to_text()), Ok(trace));
            }
        }
        1 => {
            if let Ok(table) = SizeTable::parse("fuzz", text) {
                assert_eq!(SizeTable::parse("fuzz", &table.to_text()), Ok(table));
            }
        }
        _ => {
            let _ = events::run(text);
        }
    }
}
