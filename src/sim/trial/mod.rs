//! A schedule lived through in virtual time, by one client, in a world drawn from a seed.
//!
//! The new client is the daemon itself: [`serve`](crate::engine::serve) on a
//! clock that jumps. Only the upstream is a model. The old client and the
//! printed layers are what it is compared with, and are nothing but that.

mod course;
mod edge;
mod guarded;
mod layered;
mod literal;
mod record;
mod seeds;
mod stage;
mod workload;

pub use course::{Course, Days};
pub use edge::TrialEdge;
pub use layered::Layers;
pub use record::{Rows, record};
pub use seeds::{Client, client_dice, live, live_all};
pub use workload::{JobLoad, Prices, Workload};

pub use super::world::{CachedPart, StepLoad};
