//! Queues, losses and jitters by name, in one line of text: `red:min=20,max=60,ecn=on`, `normal:5 ms,1 ms,reorder`.
//!
//! One table for each family says every kind with its parameters. The parser, what is written, errors, `cwnd networks`
//! and `docs/networks.md` come from it, and defaults are those of the types that it describes.

mod families;
mod info;
mod kind;
mod policer;
mod value;

pub use info::{KindInfo, ParameterInfo, jitters, losses, queues};

#[cfg(test)]
mod tests;
