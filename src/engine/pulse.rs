//! The engine's sign of life: a value at every wake-up.
//!
//! It is given only after a wake-up was dealt with. An engine that waits for a
//! store that never answers gives none, and whoever watches it can tell. A
//! store that fails is no such case: it was asked, and will be asked again.

use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::watch;

use crate::schedule::Entry;

/// No sleep is longer by default, so that a wall clock that was moved is seen.
pub const LONGEST_SLEEP: Duration = Duration::from_secs(30);

/// What the engine says at every wake-up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Beat {
    /// The first slot ahead.
    pub next: Option<Entry>,
    /// The first instant that was promised to deferred work outside the slots.
    pub promised_at: Option<DateTime<Utc>>,
    /// Whether the wake-up could be dealt with.
    pub health: Health,
}

/// How a wake-up went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Health {
    /// What was due is dealt with.
    #[default]
    Sound,
    /// The store failed; the wake-up is tried again soon.
    Failing,
}

/// The engine's end: how long it may sleep, and where it says that it lives.
#[derive(Debug)]
pub struct Pulse {
    longest: Duration,
    beats: watch::Sender<Beat>,
}

impl Pulse {
    /// A pulse that is no slower than `longest`, and where it is felt.
    #[must_use]
    pub fn new(longest: Duration) -> (Self, watch::Receiver<Beat>) {
        let (beats, felt) = watch::channel(Beat::default());
        (Self { longest, beats }, felt)
    }

    /// A pulse of the usual pace that nobody feels.
    #[must_use]
    pub fn unfelt() -> Self {
        Self::new(LONGEST_SLEEP).0
    }

    /// No sleep of the engine is longer.
    #[must_use]
    pub const fn longest(&self) -> Duration {
        self.longest
    }

    pub(super) fn beat(&self, beat: Beat) {
        self.beats.send_replace(beat);
    }
}
