//! What is said of each member of a lane, so that the picture can be read.

use std::collections::{BTreeMap, BTreeSet};

use chrono::Datelike;

use super::lane::{Lane, Mark, Member};
use super::{Strip, Tick};
use crate::span;

/// So many times of day are told; the others are counted.
const TIMES: usize = 4;

/// So many disabled jobs are named; the others are counted.
pub(super) const LISTED: usize = 20;

/// Of so many days each weekday comes once at most.
const WEEK: usize = 7;

/// What is said of one member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// What stands for its slots.
    pub(super) mark: Mark,
    /// Its name; `pickup` for pickup slots.
    pub(super) name: String,
    /// When it fires and how long it may take.
    pub(super) text: String,
    /// What is wrong with it; empty for nothing.
    pub(super) trouble: String,
}

/// The members with a mark of their own, and how many there are besides.
pub(super) fn entries(strip: &Strip<'_>, lane: &Lane<'_>, ticks: &[Tick]) -> (Vec<Entry>, usize) {
    let marked = |member: &&Member<'_>| member.mark != Mark::Rest;
    let listed: Vec<Entry> = lane
        .members
        .iter()
        .filter(marked)
        .map(|member| entry(strip, member, ticks))
        .collect();
    let rest = lane.members.len() - listed.len();
    (listed, rest)
}

fn entry(strip: &Strip<'_>, member: &Member<'_>, ticks: &[Tick]) -> Entry {
    let (mut slots, mut rows) = (0_u32, BTreeMap::new());
    let (mut collides, mut is_peak) = (0_u32, 0_u32);
    let days = &strip.days;
    for at in member.fire_times(days.starts_at(), days.ends_at()) {
        if let Some((row, minute)) = days.place(at) {
            slots += 1;
            let times: &mut BTreeSet<u16> = rows.entry(row).or_default();
            times.insert(minute);
        }
        if let Ok(tick) = ticks.binary_search_by_key(&at, |tick| tick.at) {
            let trouble = ticks[tick].trouble;
            collides += u32::from(trouble.collides && member.is_spaced());
            is_peak += u32::from(trouble.is_peak && member.is_kept_off_peak());
        }
    }
    let mut text = when(strip, &rows, slots);
    if !member.is_pickup() && !rows.is_empty() && !member.worst_case.is_zero() {
        text = format!("{text}; up to {}", span::show(member.worst_case));
    }
    let zone = member.subject.timetable.zone().name();
    if zone != days.zone().name() {
        text = format!("{text}; set in {zone}");
    }
    let mut trouble = Vec::new();
    if collides > 0 {
        let slots = counted(collides, "slot");
        let gap = span::show(strip.rules.min_gap);
        trouble.push(format!("{slots} closer than {gap} to another"));
    }
    if is_peak > 0 {
        trouble.push(format!("{} in a peak window", counted(is_peak, "slot")));
    }
    Entry {
        mark: member.mark,
        name: name(member),
        text,
        trouble: trouble.join(", "),
    }
}

/// A member's name as the drawings show it.
pub(super) fn name(member: &Member<'_>) -> String {
    if member.is_pickup() {
        return "pickup".to_owned();
    }
    member.subject.job.to_string()
}

/// `02:00 every day`, `02:00, 14:00 on Tue, Fri`; where the days differ, `05:00, 12:00 on various days, 7 slots`.
fn when(strip: &Strip<'_>, rows: &BTreeMap<usize, BTreeSet<u16>>, slots: u32) -> String {
    let Some(first) = rows.values().next() else {
        return "no slot in these days".to_owned();
    };
    if rows.values().all(|times| times == first) {
        let days: Vec<usize> = rows.keys().copied().collect();
        return format!("{} {}", listed(first), on_days(strip, &days));
    }
    let times: BTreeSet<u16> = rows.values().flatten().copied().collect();
    format!(
        "{} on various days, {}",
        listed(&times),
        counted(slots, "slot")
    )
}

/// The first times of day; the others are counted.
fn listed(times: &BTreeSet<u16>) -> String {
    let mut shown: Vec<String> = times.iter().take(TIMES).map(|time| clock(*time)).collect();
    if times.len() > TIMES {
        shown.push(format!("and {} more times", times.len() - TIMES));
    }
    shown.join(", ")
}

fn on_days(strip: &Strip<'_>, rows: &[usize]) -> String {
    let days = strip.days.rows();
    if days.len() == 1 {
        return "that day".to_owned();
    }
    if rows.len() == days.len() {
        return "every day".to_owned();
    }
    if days.len() > WEEK {
        return format!("on {} of {} days", rows.len(), days.len());
    }
    let weekdays = rows.iter().map(|row| days[*row].date.weekday().to_string());
    format!("on {}", weekdays.collect::<Vec<_>>().join(", "))
}

/// A minute of a day as `07:05`; the end of a day is `24:00`.
pub(super) fn clock(minute: u16) -> String {
    format!("{:02}:{:02}", minute / 60, minute % 60)
}

/// `1 slot`, `2 slots`.
pub(super) fn counted(count: u32, noun: &str) -> String {
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{count} {noun}s")
    }
}

/// What a lane is: its name, and what it fires on these days.
pub(super) fn title(lane: &Lane<'_>, ticks: &[Tick]) -> String {
    let slots: u32 = ticks.iter().map(|tick| tick.slots).sum();
    let pickups: u32 = ticks.iter().map(|tick| tick.pickups).sum();
    if slots == 0 {
        return format!("{}: no slots in these days", lane.group);
    }
    let jobs = u32::try_from(lane.jobs()).unwrap_or(u32::MAX);
    let mut title = format!(
        "{}: {}, {}",
        lane.group,
        counted(jobs, "job"),
        counted(slots - pickups, "slot")
    );
    if pickups > 0 {
        title = format!("{title}, {}", counted(pickups, "pickup slot"));
    }
    title
}

/// The days, their zone and its peak windows.
pub(super) fn head(strip: &Strip<'_>) -> String {
    let days = strip.days.rows();
    let date = |day: &super::Day| day.date.format("%a %Y-%m-%d").to_string();
    let span = match days {
        [first, .., last] => format!("{} to {}", date(first), date(last)),
        [only] => date(only),
        [] => String::new(),
    };
    let windows = strip.rules.peaks.windows().iter();
    let windows: Vec<String> = windows.map(ToString::to_string).collect();
    let peaks = if windows.is_empty() {
        "no peak windows".to_owned()
    } else {
        format!("peak windows {}", windows.join(" and "))
    };
    format!("{span} in {}; {peaks}", strip.days.zone().name())
}

/// What clock changes do to the days, a sentence each.
pub(super) fn clock_changes(strip: &Strip<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    for day in strip.days.rows() {
        let date = day.date.format("%a %Y-%m-%d");
        for gap in &day.skipped {
            let (from, until) = (clock(gap.start), clock(gap.end));
            notes.push(format!("{date}: clocks skip {from} to {until}."));
        }
        for twice in &day.repeated {
            let (from, until) = (clock(twice.start), clock(twice.end));
            notes.push(format!("{date}: {from} to {until} comes twice."));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{at, lane, strip_of};
    use super::super::ticks;
    use super::*;

    fn texts(jobs: &[(&str, &str)], count: u16) -> Vec<String> {
        let fixture = strip_of("Asia/Tokyo", jobs);
        let strip = fixture.over(at("2026-12-01T00:00:00Z"), count);
        let ticks = ticks(&strip, lane(&strip));
        let (entries, _) = entries(&strip, lane(&strip), &ticks);
        let told = entries.into_iter();
        told.map(|entry| {
            format!(
                "{} {} {}|{}",
                entry.mark, entry.name, entry.text, entry.trouble
            )
        })
        .collect()
    }

    #[test]
    fn times_days_and_worst_case_are_told() {
        assert_eq!(
            texts(
                &[
                    ("digest", "0 2 * * *"),
                    ("leap", "0 2 29 2 *"),
                    ("often", "0 */4 * * tue,fri"),
                ],
                7
            ),
            [
                "a digest 02:00 every day; up to 31m1s|",
                "b leap no slot in these days|",
                "c often 00:00, 04:00, 08:00, 12:00, and 2 more times on Tue, Fri; up to 31m1s|4 slots in a peak window",
            ]
        );
        assert_eq!(
            texts(&[("a", "0 2 1 * *")], 31),
            ["a a 02:00 on 1 of 31 days; up to 31m1s|"]
        );
    }

    #[test]
    fn days_that_differ_are_not_told_as_every_day() {
        let fixture = strip_of("Asia/Tokyo", &[("a", "0 5 * * mon-sat\n0 12 * * sun")]);
        let strip = fixture.over(at("2026-12-01T00:00:00Z"), 7);
        let ticks = ticks(&strip, lane(&strip));
        let (entries, _) = entries(&strip, lane(&strip), &ticks);
        assert_eq!(
            entries[0].text,
            "05:00, 12:00 on various days, 7 slots; up to 31m1s"
        );
    }

    #[test]
    fn what_is_wrong_is_counted() {
        assert_eq!(
            texts(&[("a", "0 5 * * *"), ("b", "5 5 * * tue")], 7),
            [
                "a a 05:00 every day; up to 31m1s|1 slot closer than 15m to another",
                "b b 05:05 on Tue; up to 31m1s|1 slot closer than 15m to another",
            ]
        );
    }
}
