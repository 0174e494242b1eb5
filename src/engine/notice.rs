//! What the engine says as it goes.

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::ports::{Delivery, DeliveryEnd, Fate, Finish};
use crate::outcome::{Attempt, Outcome, Run, RunId};
use crate::schedule::Entry;
use crate::slot::{Origin, Slot};

/// What the engine says as it goes; the shell turns it into log lines, status and pictures.
#[derive(Debug, Clone)]
pub enum Notice {
    /// A plan stands; the first entry of its agenda that fires.
    Planned {
        /// How many jobs.
        jobs: usize,
        /// The next fire time.
        next: Option<Entry>,
    },
    /// A run that nobody works on was closed: a crash had cut it off, or its beginning was written and not heard of.
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
        attempt: Box<Attempt>,
    },
    /// A run ended.
    Ended {
        /// The slot.
        slot: Slot,
        /// How.
        finish: Box<Finish>,
    },
    /// An answer came, and the store took no end of its run: it does not know of the answer, and the run counts as
    /// interrupted.
    Unrecorded {
        /// The slot.
        slot: Slot,
        /// How the run ended all the same.
        finish: Box<Finish>,
    },
    /// An answer that was owed to its places was tried once more.
    Redelivered {
        /// The answer, and how often it had been tried.
        delivery: Box<Delivery>,
        /// How it went.
        end: DeliveryEnd,
        /// How the last run of its slot counts now, if it is known.
        counts: Option<Outcome>,
        /// When.
        at: DateTime<Utc>,
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
    /// The clock shows a time before this program was made; nothing is due until it is set.
    ClockUnset {
        /// What it shows.
        now: DateTime<Utc>,
    },
    /// The clock jumped so far ahead that not every slot in between is recorded one by one.
    SpanSkipped {
        /// The watermark until now.
        from: DateTime<Utc>,
        /// The new one.
        to: DateTime<Utc>,
        /// How many schedules have more slots in between than are recorded.
        schedules: usize,
        /// How many of each are recorded, the latest.
        most: usize,
    },
    /// Zones have other offsets than those on record; what is ahead goes by the new ones.
    ZonesChanged {
        /// Their names.
        zones: Vec<String>,
        /// How many firings had been dealt with, would come again, and do not.
        again: usize,
        /// How many firings were to come and lie behind now; each is recorded as missed.
        behind: usize,
    },
    /// The store failed; nothing is sent until it works again. Said once for each complaint, however often it is tried.
    StoreFailed {
        /// What it says.
        message: String,
    },
    /// The store takes writes again.
    StoreWorks {
        /// When it failed first.
        since: DateTime<Utc>,
        /// How many steps it failed.
        failures: usize,
    },
    /// No new slots; running work drains.
    Draining {
        /// How many runs are under way.
        running: usize,
    },
}
