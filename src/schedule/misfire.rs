//! What happens to a slot that is found late.
//!
//! At most one missed slot of a job turns into work, so that a restart after a
//! long absence starts no stampede.

use std::time::Duration;

use chrono::{DateTime, Utc};

/// What a job wants for slots that were missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missed {
    /// The latest missed slot becomes deferred work.
    Once,
    /// Missed slots are recorded and nothing else.
    Skip,
}

/// What to do with a slot now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It is in time.
    Fire,
    /// It is late; its work is caught up by deferral.
    CatchUp,
    /// It is late; record it.
    Skip,
}

/// Whether a slot is the latest due one of its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rank {
    /// No later slot of the job is due.
    Latest,
    /// A later slot of the job is due too.
    Superseded,
}

/// How late a slot may start and still count; the timer wakes every 30 s, so a healthy daemon never comes near.
pub const GRACE: Duration = Duration::from_mins(1);

/// Decides for one slot. It is missed if it is late by more than [`GRACE`]; a slot that lies ahead of `now` is in time.
///
/// ```
/// use chrono::{DateTime, TimeDelta, Utc};
/// use offpeak::schedule::misfire::{Decision, Missed, Rank, decide};
///
/// let fire_at: DateTime<Utc> = "2026-12-01T17:00:00Z".parse().unwrap();
/// let after_lunch = fire_at + TimeDelta::hours(1);
/// assert_eq!(decide(Missed::Once, fire_at, fire_at, Rank::Latest), Decision::Fire);
/// assert_eq!(decide(Missed::Once, fire_at, after_lunch, Rank::Latest), Decision::CatchUp);
/// assert_eq!(decide(Missed::Once, fire_at, after_lunch, Rank::Superseded), Decision::Skip);
/// ```
#[must_use]
pub fn decide(policy: Missed, fire_at: DateTime<Utc>, now: DateTime<Utc>, rank: Rank) -> Decision {
    // A negative lateness is no duration: the wall clock stepped back.
    let lateness = (now - fire_at).to_std().unwrap_or_default();
    if lateness <= GRACE {
        return Decision::Fire;
    }
    match (policy, rank) {
        (Missed::Once, Rank::Latest) => Decision::CatchUp,
        (Missed::Once, Rank::Superseded) | (Missed::Skip, Rank::Latest | Rank::Superseded) => {
            Decision::Skip
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    fn decide_late(policy: Missed, rank: Rank, millis: i64) -> Decision {
        let fire_at: DateTime<Utc> = "2026-12-01T17:00:00Z".parse().unwrap();
        decide(
            policy,
            fire_at,
            fire_at + TimeDelta::milliseconds(millis),
            rank,
        )
    }

    #[test]
    fn a_slot_within_its_grace_fires_whatever_the_policy() {
        for policy in [Missed::Once, Missed::Skip] {
            for rank in [Rank::Latest, Rank::Superseded] {
                for millis in [-3_600_000, -1, 0, 60_000] {
                    assert_eq!(
                        decide_late(policy, rank, millis),
                        Decision::Fire,
                        "{millis}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_slot_past_its_grace_is_missed() {
        for millis in [60_001, 86_400_000] {
            assert_eq!(
                decide_late(Missed::Once, Rank::Latest, millis),
                Decision::CatchUp
            );
            assert_eq!(
                decide_late(Missed::Skip, Rank::Latest, millis),
                Decision::Skip
            );
        }
    }

    #[test]
    fn of_several_missed_slots_only_the_latest_is_caught_up() {
        assert_eq!(
            decide_late(Missed::Once, Rank::Superseded, 60_001),
            Decision::Skip
        );
        assert_eq!(
            decide_late(Missed::Skip, Rank::Superseded, 60_001),
            Decision::Skip
        );
    }
}
