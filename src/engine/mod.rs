//! Runs the schedule: waits for slots, claims them, drives their calls, defers what yields.
//!
//! The engine asks everything of the world through [`ports`]. It spawns no
//! task of its own: [`serve`](daemon) is one future that polls its running
//! slots, so that virtual time can drive it without a runtime.

pub mod again;
pub mod alert;
pub mod audit;
pub mod call;
pub mod daemon;
pub mod error;
pub mod keep;
pub mod manual;
pub mod notice;
pub mod pause;
pub mod pieces;
pub mod plan;
pub mod ports;
pub mod pulse;
pub mod stop;

mod attempt;
mod batch;
mod clocks;
mod closing;
mod collect;
mod cost;
mod desk;
mod drive;
mod hand_in;
mod items;
mod outage;
mod pace;
mod pickup;
mod portion;
mod promise;
mod purse;
mod redeliver;
mod runner;
mod settle;
mod targets;
mod tick;
mod timeline;
mod zones;

pub use call::{Action, Call, CallEnd, CallSettings, Event};
pub use daemon::{serve, serve_with_pulse};
pub use error::EngineError;
pub use manual::{Asked, run_once};
pub use notice::Notice;
pub use plan::{Edge, GroupPlan, Plan, PlannedJob};
pub use pulse::Pulse;
pub use stop::{Drained, Stop, StopSignal};
