//! The strip as an RFC 5545 calendar: one event a slot.
//!
//! An event's UID is its job and fire time, so that a calendar that is read
//! again changes what is there. Events are transparent: nobody is busy.

#[cfg(test)]
mod tests;

use std::fmt::Write;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::listing::name;
use super::{Lane, Member, Strip};
use crate::span;

/// More events than this are no calendar that anybody can use.
const MAX_EVENTS: usize = 50_000;

/// How long an event is at least: shorter ones cannot be seen.
const SHORTEST: Duration = Duration::from_mins(1);

/// The most octets of a line, its end not counted.
const MAX_OCTETS: usize = 75;

/// The days hold more slots than a calendar can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the days hold more than {MAX_EVENTS} slots, too many for a calendar")]
pub struct TooManySlots;

/// Writes every slot of a strip as an event; all are stamped with the first instant of the days.
///
/// # Errors
///
/// There are more than 50,000.
pub fn calendar(strip: &Strip<'_>) -> Result<String, TooManySlots> {
    let mut text = String::new();
    for line in [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//offpeak//plan//EN",
        "CALSCALE:GREGORIAN",
        "METHOD:PUBLISH",
        "X-WR-CALNAME:offpeak",
    ] {
        put(&mut text, line);
    }
    let stamp = strip.days.starts_at();
    let mut events = 0;
    for lane in &strip.lanes {
        for day in strip.days.rows() {
            let firings = lane.firings(day.starts_at, day.ends_at);
            events += firings.len();
            if events > MAX_EVENTS {
                return Err(TooManySlots);
            }
            for firing in firings {
                let member = &lane.members[firing.member];
                put_event(&mut text, lane, member, [stamp, firing.at]);
            }
        }
    }
    put(&mut text, "END:VCALENDAR");
    Ok(text)
}

fn put_event(
    text: &mut String,
    lane: &Lane<'_>,
    member: &Member<'_>,
    instants: [DateTime<Utc>; 2],
) {
    let [stamp, starts] = instants.map(|at| at.format("%Y%m%dT%H%M%SZ").to_string());
    let job = escaped(member.subject.job.as_str());
    let summary = if member.is_pickup() {
        format!("pickup for {}", lane.group)
    } else {
        name(member)
    };
    let length = duration(member.worst_case.max(SHORTEST));
    put(text, "BEGIN:VEVENT");
    put(text, &format!("UID:{job}-{starts}@offpeak"));
    put(text, &format!("DTSTAMP:{stamp}"));
    put(text, &format!("DTSTART:{starts}"));
    put(text, &format!("DURATION:{length}"));
    put(text, &format!("SUMMARY:{}", escaped(&summary)));
    put(
        text,
        &format!("DESCRIPTION:{}", escaped(&description(lane, member))),
    );
    put(
        text,
        &format!("CATEGORIES:{}", escaped(lane.group.as_str())),
    );
    put(text, "TRANSP:TRANSPARENT");
    put(text, "END:VEVENT");
}

fn description(lane: &Lane<'_>, member: &Member<'_>) -> String {
    let timetable = &member.subject.timetable;
    let crons: Vec<&str> = timetable
        .exprs()
        .iter()
        .map(crate::schedule::CronExpr::text)
        .collect();
    let mut text = format!("Group: {}\nCron: ", lane.group);
    // The memory of a text cannot fail.
    let _ = write!(
        text,
        "{}\nZone: {}",
        crons.join(" and "),
        timetable.zone().name()
    );
    if member.is_pickup() {
        text.push_str("\nTakes deferred work only.");
    } else {
        let _ = write!(text, "\nLongest run: {}", span::show(member.worst_case));
    }
    text
}

/// A span as RFC 5545 writes it, in whole seconds rounded up: `PT31M`, `PT1H0M5S`.
fn duration(span: Duration) -> String {
    let seconds = span
        .as_secs()
        .saturating_add(u64::from(span.subsec_nanos() > 0));
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    // Of two units the one between them cannot be left out.
    match (hours, minutes, seconds) {
        (0, minutes, 0) => format!("PT{minutes}M"),
        (0, minutes, seconds) => format!("PT{minutes}M{seconds}S"),
        (hours, 0, 0) => format!("PT{hours}H"),
        (hours, minutes, 0) => format!("PT{hours}H{minutes}M"),
        (hours, minutes, seconds) => format!("PT{hours}H{minutes}M{seconds}S"),
    }
}

/// A value of type TEXT: separators escaped, no control characters.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | ';' | ',' => safe.extend(['\\', c]),
            '\n' => safe.push_str("\\n"),
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

/// Puts a content line, folded between characters so that no line is longer than 75 octets.
fn put(text: &mut String, line: &str) {
    let mut octets = 0;
    for c in line.chars() {
        if octets + c.len_utf8() > MAX_OCTETS {
            text.push_str("\r\n ");
            octets = 1;
        }
        text.push(c);
        octets += c.len_utf8();
    }
    text.push_str("\r\n");
}
