//! Reads the texts of a run and delivers its answer: all file work of the engine.
//!
//! [`Files`] implements [`crate::engine::ports::Workspace`]. An input's text is
//! a value: it is filled in once and never expanded again. An output is either
//! the old one or the new one, whole, at every instant. Nothing here decides
//! whether or when a run takes place.

mod command;
mod cut;
mod error;
mod files;
mod inputs;
mod output;
mod reader;
mod reserved;
mod template;

pub use command::{MAX_READ_BYTES, OUTPUT_COMMAND_TIMEOUT};
pub(crate) use command::{Program, feed};
pub use error::WorkspaceError;
pub use files::{Files, Prepared, Preview};
pub use inputs::RunCommands;
pub use reserved::Reserved;
