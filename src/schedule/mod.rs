//! When things fire: the calculus of cron expressions, zones and windows.
//!
//! Civil time exists only here and in rendering; everything else compares UTC
//! instants. Nothing here reads a clock or a file.

pub mod agenda;
pub mod ahead;
pub mod cron;
pub mod defer;
pub mod misfire;
pub mod next;
pub mod open;
pub mod window;
pub mod zone;

pub use agenda::{Agenda, AgendaLine, Entry};
pub use ahead::Ahead;
pub use cron::{CronError, CronExpr, Spacing};
pub use defer::{DeferPolicy, DeferRule, OnExhausted, Target};
pub use misfire::{Decision, Missed};
pub use next::Timetable;
pub use open::OpenSlots;
pub use window::{PeakWindow, PeakWindows};
pub use zone::{Resolved, Transition, TzifError, Zone, ZoneError, Zones};
