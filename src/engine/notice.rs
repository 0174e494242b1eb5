//! What the engine says as it goes.

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::ports::{Fate, Finish};
use crate::outcome::{Attempt, Run, RunId};
use crate::schedule::Entry;
use crate::slot::{Origin, Slot};

/// What the engine says as it goes; the shell turns it into log lines, status and pictures.
#[derive(Debug, Clone)]
pub enum Notice {
    /// A plan stands; the next entry of its agenda.
    Planned {
        /// How many jobs.
        jobs: usize,
        /// The next fire time.
        next: Option<Entry>,
    },
    /// A run that a crash had cut off was closed at the start.
    Recovered {
        /// How it was closed, and where its work went.
        run: Box<Run>,
    },
    /// A slot's work begins.
    Started {
        /// The slot.
        slot: Slot,
        /// Its run.
        run: RunId,
        /// Why now.
        origin: Origin,
        /// How late it began after the slot that carries it.
        late: Duration,
    },
    /// An attempt ended.
    Attempted {
        /// The slot.
        slot: Slot,
        /// How.
        attempt: Attempt,
    },
    /// A run ended.
    Ended {
        /// The slot.
        slot: Slot,
        /// How.
        finish: Box<Finish>,
    },
    /// A slot was recorded without a run.
    Recorded {
        /// The slot.
        slot: Slot,
        /// What became of it.
        fate: Fate,
    },
    /// The wall clock stepped back by more than three hours, and the new time holds.
    SteppedBack {
        /// The watermark until now.
        from: DateTime<Utc>,
        /// The new one.
        to: DateTime<Utc>,
    },
    /// The store failed; nothing is sent until it works again.
    StoreFailed {
        /// What it says.
        message: String,
    },
    /// No new slots; running work drains.
    Draining {
        /// How many runs are under way.
        running: usize,
    },
}
