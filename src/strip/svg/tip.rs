//! What a mark says when it is pointed at.

use chrono::{DateTime, Utc};

use super::super::listing::name;
use super::super::rows::Cell;
use super::super::{Lane, Strip, Tick};
use crate::schedule::Zone;
use crate::span;

/// So many slots are told one by one; the others are counted.
const TOLD: usize = 4;

/// The slots of a cell, a line each: job, time where it was set and in the windows' zone, longest run, what is wrong.
pub(super) fn of_cell(strip: &Strip<'_>, lane: &Lane<'_>, cell: &Cell<'_>) -> String {
    let named = cell.ticks.iter().flat_map(|tick| {
        let members = tick.members.iter();
        members.map(move |member| of_slot(strip, lane, tick, *member))
    });
    let mut lines: Vec<String> = named.take(TOLD).collect();
    let told = u32::try_from(lines.len()).unwrap_or(u32::MAX);
    let more = cell.slots().saturating_sub(told);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines.join("\n")
}

fn of_slot(strip: &Strip<'_>, lane: &Lane<'_>, tick: &Tick, member: usize) -> String {
    let member = &lane.members[member];
    let (zone, peaks) = (member.subject.timetable.zone(), strip.days.zone());
    let mut told = format!("{}: {}", name(member), local(zone, tick.at));
    if zone.name() != peaks.name() {
        told = format!("{told} = {}", local(peaks, tick.at));
    }
    if !member.is_pickup() && !member.worst_case.is_zero() {
        told = format!("{told}, up to {}", span::show(member.worst_case));
    }
    if tick.trouble.collides && member.is_spaced() {
        let gap = span::show(strip.rules.min_gap);
        told = format!("{told}, closer than {gap} to another slot");
    }
    if tick.trouble.is_peak && member.is_kept_off_peak() {
        told = format!("{told}, in a peak window");
    }
    told
}

fn local(zone: &Zone, at: DateTime<Utc>) -> String {
    let civil = zone.civil(at).format("%a %Y-%m-%d %H:%M");
    format!("{civil} {}", zone.abbreviation(at))
}
