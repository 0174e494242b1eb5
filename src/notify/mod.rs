//! Tells somebody: posts to a webhook, runs a program, pings a watcher.
//!
//! Every receiver has a task and a short queue of its own, so that one that is
//! slow, broken or silent holds up nothing and nobody else. What cannot be
//! delivered in two tries is one line of the log. An address is a secret: no
//! line, error or value that can be printed holds it.

mod body;
mod deadman;
mod outbox;

#[cfg(test)]
pub(crate) mod fixture;

pub use body::{json, sentences};
pub use deadman::Deadman;
pub use outbox::{Entry, Format, Outbox, Way};

pub use crate::workspace::{Address, AddressError};
