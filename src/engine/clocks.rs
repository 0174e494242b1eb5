//! Wall clocks that are wrong: not set yet, far ahead, or back.
//!
//! A daemon cannot know which of two times is right, so that it believes the
//! clock, and keeps what follows from a wrong one small: slots that nothing
//! was sent for come again once the clock is set back, a long gap is not
//! walked through slot by slot, and a time before this program was made is
//! not believed at all.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::desk::Desk;
use super::notice::Notice;
use super::plan::Plan;
use super::ports::StoreError;
use super::timeline::{Moment, Timeline, adopt};

/// A step back that is longer is taken for a correction: the new time holds. Debian's cron draws the line here too.
pub(super) const LONG_STEP: TimeDelta = TimeDelta::hours(3);

/// How many missed slots one wake-up records, over all schedules. An absence of a week is far below.
const MOST_MISSED: usize = 200_000;

/// How many missed slots of one schedule one wake-up records: a day of minutes.
const MOST_MISSED_OF_ONE: usize = 1_440;

/// How soon a clock that is not set is looked at again.
const LOOK: Duration = Duration::from_secs(5);

/// Whether the clock shows a time before this program was made, in seconds since 1970: 2026-01-01. A machine without a
/// battery boots in 1970, or at the day of its last image.
pub(super) fn is_unset(now: DateTime<Utc>) -> bool {
    const MADE: i64 = 1_767_225_600;
    now.timestamp() < MADE
}

/// Waits until the clock is set, or the stop signal: to begin at a time that never was would date the whole store
/// by it.
pub(super) async fn wait_until_set(desk: &Desk) {
    let mut told = false;
    while is_unset(desk.now()) && !desk.stop.is_raised() {
        if !told {
            desk.say(Notice::ClockUnset { now: desk.now() });
        }
        told = true;
        desk.stop.or_stop(desk.world.clock.sleep(LOOK)).await;
    }
}

/// The timeline after a long gap. It starts where the store says, as the clock that we knew may have been wrong; and a
/// schedule with more missed slots than are worth a row each starts anew before the last of them.
///
/// # Errors
///
/// [`StoreError`] if the store fails; the gap is then still to be bridged.
pub(super) async fn bridge(
    desk: &Desk,
    plan: &Arc<Plan>,
    moment: Moment,
) -> Result<Arc<Timeline>, StoreError> {
    let store = &*desk.world.store;
    let timeline = adopt(store, Arc::clone(plan), moment).await?;
    let lines = timeline.agenda.lines();
    let most = (MOST_MISSED / lines.len().max(1)).clamp(1, MOST_MISSED_OF_ONE);
    let cut = timeline.starts_that_leave(most, moment);
    if cut.is_empty() {
        return Ok(timeline);
    }
    store.skip(&cut).await?;
    desk.say(Notice::SpanSkipped {
        from: moment.watermark,
        to: moment.now,
        schedules: cut.len(),
        most,
    });
    adopt(store, Arc::clone(plan), moment).await
}
