//! Prints every descriptive table: `cargo run -p cwnd-report --example descriptive_tables`.

fn main() {
    for name in cwnd_report::descriptive::names() {
        if let Some(table) = cwnd_report::descriptive::find(name) {
            println!("{table}");
        }
    }
}
