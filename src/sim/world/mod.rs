//! A world for a schedule to live in: an upstream that is slow, busy and unwell by numbers, drawn from a seed.
//!
//! Everything is drawn before any client runs or keyed by what it is for, so
//! that two clients meet the same weather, and the same fate with the same
//! request. Only what is about load depends on what was sent: the limit and
//! the cache.

mod bounds;
mod chance;
mod defaults;
mod error;
mod latency;
mod load;
mod model;
mod server;
mod weather;

pub(super) use chance::mark;
pub use error::WorldError;
pub use load::{CachedPart, StepLoad};
pub use model::{
    AnswerModel, BatchModel, CongestionModel, DEFAULT_WORLD, FaultModel, InputModel, LatencyModel,
    LimitModel, OverloadModel, PeakModel, TailModel, WorldModel,
};
pub use server::{Asked, Served, ServedEnd, Server};
pub use weather::Weather;
