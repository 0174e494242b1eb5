//! Reads the texts of a run and delivers its answer: files, programs and the web.
//!
//! [`Files`] implements [`crate::engine::ports::Workspace`]. An input's text is
//! a value: it is filled in once and never expanded again. An output is either
//! the old one or the new one, whole, at every instant; what is appended is there whole or taken back. Nothing here decides
//! whether or when a run takes place.

mod address;
mod append;
mod command;
mod cut;
mod deliver;
mod error;
mod fetch;
mod files;
mod front_matter;
mod inputs;
mod item_variables;
mod items;
mod output;
mod reader;
mod reserved;
mod secrets;
mod template;

pub use address::{Address, AddressError, RequestError};
pub use command::{MAX_READ_BYTES, OUTPUT_COMMAND_TIMEOUT};
pub(crate) use command::{Program, feed};
pub use deliver::WEBHOOK_TIMEOUT;
pub use error::WorkspaceError;
pub use fetch::{FetchError, RedirectError};
pub use files::{Files, Prepared, Preview};
pub use inputs::RunCommands;
pub use items::{Listing, MAX_ITEMS};
pub use reserved::Reserved;
