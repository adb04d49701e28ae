//! `cwnd serve` from outside: a real server, and a client that sends what browsers, other tabs and other programs would.

mod hostile;
mod http;
mod runs;
mod server;
mod studies;
