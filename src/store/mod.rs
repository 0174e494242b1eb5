//! The durable store: one `SQLite` file in the state folder.
//!
//! Every method of the port is one step of a `BEGIN IMMEDIATE` transaction,
//! written through to the disk before it returns, so that a crash at any point
//! leaves whole steps only. Steps that wait together share a transaction and
//! its one wait for the disk. Several processes may have the file open: claims are
//! unique rows, and a group's budget, breaker and hold are one row that is
//! read, asked and written under the same lock.
//!
//! The connection lives on its own thread; nothing here decides what becomes
//! of a run: that is [`crate::engine::keep`] and [`crate::guard`].

pub mod lock;

mod again;
mod ahead;
mod attempt;
mod backup;
mod batch;
mod batches;
mod busy;
mod call;
mod chores;
mod claim;
mod columns;
mod deferral;
mod delivery;
mod fault;
mod guard_row;
mod guard_text;
mod history;
mod ledger;
mod open;
mod pause;
mod pieces;
mod port;
mod reader;
mod refused;
mod run;
mod samples;
mod schema;
mod standing;
mod thread;
mod trail;

pub use chores::{Liveness, Pruned};
pub use claim::SlotRecord;
pub use history::HistoryFilter;
pub use lock::{DaemonLock, LockError};
pub use open::SqliteStore;
pub use pieces::ItemEnd;
pub use refused::RefusedFiles;
