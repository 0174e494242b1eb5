//! The Claude Messages API: sends a request once and brings back a whole answer, or says what broke.
//!
//! [`Client`] implements [`crate::engine::ports::Upstream`], and
//! [`crate::engine::ports::Batches`] for message batches. It retries nothing,
//! follows no redirect and decides nothing about what a failure means: that is
//! the guard's part. It holds the four timeouts against the clock that it is
//! given, so that a night can pass in seconds. What a person asks beside the
//! messages (which models there are, how many tokens a request has) is in
//! [`catalog`].

pub mod catalog;
pub mod client;
pub mod estimate;
pub mod failure;
pub mod key;
pub mod message;
pub mod models;
mod redact;
pub mod stream;
pub mod target;
pub mod usage;
pub mod wire;

mod batch;
mod blocks;
mod exchange;
mod timing;
mod transport;

pub use batch::{BatchError, MAX_BATCH_BYTES, MAX_BATCH_PARTS};
pub use catalog::{Lifecycle, Listed};
pub use client::{Client, ClientError, ClientSettings};
pub use estimate::estimate_tokens;
pub use models::{Model, ModelError, Models, PriceSource, Refuses};
pub(crate) use redact::redact;
pub use target::Auth;
pub(crate) use transport::client as http_client;
