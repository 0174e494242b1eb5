//! A job at one fire time, and why work is done now.

use std::fmt;

use chrono::{DateTime, Utc};

use crate::job::JobId;

/// A job at one fire time: the unit of work of the daemon.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// The nominal instant, whatever the time of the wake-up.
    pub fire_at: DateTime<Utc>,
    /// Whose slot it is.
    pub job: JobId,
}

/// Why work is done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The schedule named this instant.
    Scheduled,
    /// An earlier run yielded or was interrupted.
    Deferred,
    /// The slot was missed while the daemon was away.
    CatchUp,
    /// A person asked for it.
    Manual,
}

impl Origin {
    /// Every origin, for tables and parsers.
    pub const ALL: [Self; 4] = [Self::Scheduled, Self::Deferred, Self::CatchUp, Self::Manual];

    /// The word used in the store, in JSON and in log lines.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Deferred => "deferred",
            Self::CatchUp => "catch_up",
            Self::Manual => "manual",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
