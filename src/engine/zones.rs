//! Zone data that changes under the daemon: governments move clocks, and systems are kept up to date.
//!
//! The offsets that a plan goes by stand on record beside its schedules, a
//! row a zone. When other ones come, what was dealt with by the old data
//! stays, and everything after the watermark goes by the new. A firing that
//! the change moves over the watermark is looked after here: otherwise it
//! would happen twice, or never.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};

use super::audit::ScheduleRow;
use super::plan::{Plan, PlannedJob};
use super::timeline::{fingerprint, job_name};
use crate::schedule::{Entry, Timetable, Zone, Zones};

/// The mark of a zone's row.
const ZONE: &str = "zone:";

/// Longer than any two offsets of one zone are apart: a firing moves no further.
const REACH: TimeDelta = TimeDelta::hours(27);

/// What a change of zone data does to the firings around the watermark.
#[derive(Debug, Default)]
pub(super) struct Moved {
    /// The zones whose offsets are others now.
    pub zones: Vec<String>,
    /// Firings that were to come and now lie behind: nobody has dealt with them.
    pub behind: Vec<Entry>,
    /// Firings that were dealt with and would come again.
    pub again: Vec<Entry>,
}

/// The names and offsets of a plan's zones, for the record.
pub(super) fn rows(plan: &Plan) -> Vec<(String, String)> {
    let offsets = zones_of(plan).into_iter();
    offsets
        .map(|(name, zone)| (format!("{ZONE}{name}"), zone.offsets()))
        .collect()
}

/// The offsets on record of a zone; `None` if there are none.
pub(super) fn recorded<'a>(known: &'a [ScheduleRow], zone: &str) -> Option<&'a ScheduleRow> {
    known
        .iter()
        .find(|row| row.name.strip_prefix(ZONE) == Some(zone))
}

/// Compares a plan's zones with those on record.
pub(super) fn moved(plan: &Plan, known: &[ScheduleRow], watermark: DateTime<Utc>) -> Moved {
    let mut changed: BTreeMap<&str, Zone> = BTreeMap::new();
    for (name, zone) in zones_of(plan) {
        let before = recorded(known, name).filter(|row| row.fingerprint != zone.offsets());
        if let Some(before) = before.and_then(|row| Zones::recorded(name, &row.fingerprint)) {
            changed.insert(name, before);
        }
    }
    let mut moved = Moved::default();
    if changed.is_empty() {
        return moved;
    }
    let starts: BTreeMap<&str, &ScheduleRow> =
        known.iter().map(|row| (row.name.as_str(), row)).collect();
    for planned in plan.jobs.values() {
        let timetable = &planned.timetable;
        let same = |row: &&&ScheduleRow| row.fingerprint == fingerprint(timetable);
        let before = changed.get(timetable.zone().name());
        let row = starts.get(job_name(&planned.job.id).as_str()).filter(same);
        // One that is new or was edited starts after the edit, whatever its zone.
        if let Some((before, row)) = before.zip(row) {
            moved.take(planned, before, (row.starts_at, watermark));
        }
    }
    moved.zones = changed.into_keys().map(str::to_owned).collect();
    moved
}

impl Moved {
    /// Finds a job's firings that the change moves over the watermark. Even spacing has no civil time to keep.
    fn take(
        &mut self,
        planned: &PlannedJob,
        before: &Zone,
        (starts_at, watermark): (DateTime<Utc>, DateTime<Utc>),
    ) {
        let Some(fixed) = planned.timetable.fixed_part() else {
            return;
        };
        let even = planned.timetable.even_part();
        for fire_at in fixed.between(watermark - REACH, watermark + REACH) {
            let was_at = before.firing_at(fixed.zone().civil(fire_at));
            let entry = || Entry {
                fire_at,
                group: planned.job.group.clone(),
                job: Some(planned.job.id.clone()),
            };
            if was_at > watermark && fire_at <= watermark {
                self.behind.push(entry());
            }
            let was_done = starts_at < was_at && was_at <= watermark;
            if was_done && fire_at > watermark && !fires(even.as_ref(), fire_at) {
                self.again.push(entry());
            }
        }
    }
}

fn fires(timetable: Option<&Timetable>, at: DateTime<Utc>) -> bool {
    timetable.is_some_and(|it| !it.between(at - TimeDelta::seconds(1), at).is_empty())
}

fn zones_of(plan: &Plan) -> BTreeMap<&str, &Zone> {
    let jobs = plan.jobs.values().map(|planned| planned.timetable.zone());
    let pickups = plan
        .groups
        .values()
        .filter_map(|group| Some(group.pickup.as_ref()?.zone()));
    jobs.chain(pickups)
        .map(|zone| (zone.name(), zone))
        .collect()
}
