//! The simulated edge: virtual time, a scripted API, a folder and a store in memory.
//!
//! Two weeks of the daemon's own code pass in a fraction of a second. There is
//! no runtime and no socket here: [`run`] polls one future, and moves the
//! clock when it waits.

mod batches;
mod clock;
mod dice;
mod executor;
mod plan;
pub mod store;
pub mod trial;
mod upstream;
mod workspace;
pub mod world;

pub use batches::{BatchScript, HandedIn, SimBatches};
pub use clock::VirtualClock;
pub use dice::SimDice;
pub use executor::{run, run_until};
pub use plan::{SimPlan, SimPlanError};
pub use store::MemoryStore;
pub use upstream::{Script, Scripted, Sent, SimUpstream};
pub use workspace::{Fault, SimWorkspace};
