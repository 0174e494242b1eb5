//! `peak-window`: firings inside a peak window.
//!
//! Where both zones are steady a window is a range of times of day with its
//! days of the week; around clock changes the windows themselves are asked.

use std::ops::Range;

use super::Rule;
use super::board::{Board, Group, Line};
use super::calendar::{DAY, weekday};
use super::ranked::{Found, Ledger, Passed};
use super::regimes::instant;
use crate::schedule::PeakWindow;

/// A job with its first firing in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PeakFiring {
    /// In seconds of UTC.
    pub(super) at: i64,
    /// The job's place in the order of names.
    pub(super) rank: usize,
    /// The subject.
    pub(super) subject: usize,
    /// The line, as an index into the group's lines.
    pub(super) line: usize,
}

/// Finds every job of a group that fires in a window.
pub(super) fn firings(board: &Board<'_>, group: &Group) -> Found<PeakFiring> {
    let mut ledger = Ledger::new(Rule::PeakWindow);
    for (index, class) in group.classes.iter().enumerate() {
        let hits = class
            .lines
            .clone()
            .filter_map(|line| Some((first(board, &group.lines[line])?, line)));
        let Some((at, line)) = hits.min() else {
            continue;
        };
        let told = ledger.of(group, [index; 2]);
        if told.pass_over(class.members.len(), |last: &PeakFiring| last.at < at) == Passed::Not {
            for subject in &class.members {
                told.push(PeakFiring {
                    at,
                    rank: board.rank[*subject],
                    subject: *subject,
                    line,
                });
            }
        }
    }
    ledger.finish()
}

/// The first firing of a line that lies in a window.
pub(super) fn first(board: &Board<'_>, line: &Line) -> Option<i64> {
    first_with(board, line, Aim::Inside)
}

/// The first firing of a line outside the windows after which one starts in less than `below` seconds.
pub(super) fn first_before(board: &Board<'_>, line: &Line, below: i64) -> Option<i64> {
    first_with(board, line, Aim::Before(below))
}

/// Whether an instant lies outside the windows and one starts less than `below` seconds after it.
pub(super) fn starts_within(board: &Board<'_>, at: i64, below: i64) -> bool {
    let at = instant(at);
    !board.rules.peaks.is_peak(at)
        && board
            .rules
            .peaks
            .next_start(at)
            .is_some_and(|start| (start - at).num_seconds() < below)
}

/// The weekdays of a day on which a second of it, counted in the windows' zone, lies outside the windows and one
/// starts less than `below` seconds after it.
pub(super) fn weekdays_shortly_before(board: &Board<'_>, second: i64, below: i64) -> u8 {
    Aim::Before(below).weekdays(board, second)
}

/// Where a firing must lie.
#[derive(Debug, Clone, Copy)]
enum Aim {
    /// In a window.
    Inside,
    /// Outside, with a window that starts in less than so many seconds.
    Before(i64),
}

impl Aim {
    /// How far ahead of a firing the windows' zone must be steady for arithmetic to hold.
    const fn ahead(self) -> i64 {
        match self {
            Self::Inside => 0,
            Self::Before(below) => below,
        }
    }

    /// The weekdays of a day on which a second of it, counted in the windows' zone, is aimed at.
    fn weekdays(self, board: &Board<'_>, second: i64) -> u8 {
        let inside = weekdays_inside(board, second);
        match self {
            Self::Inside => inside,
            Self::Before(below) => weekdays_before(board, second, below) & !inside,
        }
    }

    /// The same for an instant, asked of the windows themselves.
    fn holds(self, board: &Board<'_>, at: i64) -> bool {
        match self {
            Self::Inside => board.rules.peaks.is_peak(instant(at)),
            Self::Before(below) => starts_within(board, at, below),
        }
    }
}

/// The weekdays of a day on which a second of it, counted in the windows' zone, lies in a window.
pub(super) fn weekdays_inside(board: &Board<'_>, second: i64) -> u8 {
    let (shift, second) = (second.div_euclid(DAY), second.rem_euclid(DAY));
    let windows = board.rules.peaks.windows().iter();
    let open =
        windows.filter(|w| (i64::from(w.start) * 60..i64::from(w.end) * 60).contains(&second));
    open.fold(0, |mask, window| mask | starting_days(window, shift))
}

fn weekdays_before(board: &Board<'_>, second: i64, below: i64) -> u8 {
    let windows = board.rules.peaks.windows().iter();
    windows.fold(0, |mask, window| {
        // The first start after the second, and those on the days after it.
        let start = i64::from(window.start) * 60;
        let first = (second - start).div_euclid(DAY) + 1;
        let starts = (first..first + 7).take_while(|shift| shift * DAY + start - second < below);
        starts.fold(mask, |mask, shift| mask | starting_days(window, shift))
    })
}

/// The weekdays whose `shift`th day after is one on which a window starts.
fn starting_days(window: &PeakWindow, shift: i64) -> u8 {
    let days = (0i64..7).zip(window.days).filter(|(_, starts)| *starts);
    days.fold(0, |mask, (day, _)| mask | 1 << (day - shift).rem_euclid(7))
}

fn first_with(board: &Board<'_>, line: &Line, aim: Aim) -> Option<i64> {
    let steady = first_steady(board, line, aim);
    let before = steady.unwrap_or(board.calendar.until);
    let (own, windows) = (line.zone, board.peak_zone);
    let at_change = first_at_change(board, line, own, aim, before);
    let at_change = match at_change {
        None if own != windows => first_at_change(board, line, windows, aim, before),
        Some(at) if own != windows => first_at_change(board, line, windows, aim, at).or(Some(at)),
        known => known,
    };
    at_change.or(steady)
}

fn first_steady(board: &Board<'_>, line: &Line, aim: Aim) -> Option<i64> {
    let spans = board.spans(line.zone, board.peak_zone);
    let times: Vec<Vec<PeakTime>> = spans
        .leads
        .iter()
        .map(|lead| peak_times(board, line, *lead, aim))
        .collect();
    if times.iter().all(Vec::is_empty) {
        return None;
    }
    spans.spans.iter().find_map(|part| {
        let span = part.span.start..part.span.end - aim.ahead();
        first_in_span(board, line, &span, part.offset, &times[part.lead])
    })
}

/// A time of day that is aimed at on some days of the week.
#[derive(Debug, Clone, Copy)]
struct PeakTime {
    /// Seconds of the line's day.
    second: i64,
    /// Bit `n` is set if it is aimed at when the line's day is weekday `n`.
    weekdays: u8,
}

/// The times of a line that may be aimed at, at one lead over the windows' zone.
fn peak_times(board: &Board<'_>, line: &Line, lead: i64, aim: Aim) -> Vec<PeakTime> {
    let times = line.times.iter().map(|time| {
        let second = time * 60;
        PeakTime {
            second,
            weekdays: aim.weekdays(board, second - lead),
        }
    });
    times.filter(|time| time.weekdays != 0).collect()
}

fn first_in_span(
    board: &Board<'_>,
    line: &Line,
    span: &Range<i64>,
    offset: i64,
    times: &[PeakTime],
) -> Option<i64> {
    let mask = times.iter().fold(0, |mask, time| mask | time.weekdays);
    if mask == 0 || span.start >= span.end {
        return None;
    }
    let mut days =
        (span.start + offset).div_euclid(DAY)..(span.end - 1 + offset).div_euclid(DAY) + 1;
    while let Some(day) = board.days(line).first_in(days.clone()) {
        days.start = day + 1;
        let today = 1u8 << weekday(day);
        if mask & today == 0 {
            continue;
        }
        let instants = times.iter().filter(|time| time.weekdays & today != 0);
        let hit = instants
            .map(|time| day * DAY + time.second - offset)
            .find(|at| span.contains(at));
        if hit.is_some() {
            return hit;
        }
    }
    None
}

fn first_at_change(
    board: &Board<'_>,
    line: &Line,
    zone: usize,
    aim: Aim,
    before: i64,
) -> Option<i64> {
    let mut found = Vec::new();
    for change in &board.tracks[zone].changes {
        let span = change.start - aim.ahead()..change.end.min(before);
        if span.start >= before {
            break;
        }
        board.fires(line, &span, &mut found);
        let hit = found.drain(..).find(|at| aim.holds(board, *at));
        if hit.is_some() {
            return hit;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::lint::Rule;
    use crate::lint::fixture::{at, findings, job, rules, window};

    #[test]
    fn start_of_a_window_is_peak_and_its_end_is_not() {
        let rules = rules("Asia/Tokyo", vec![window(420, 540)]);
        let of =
            |cron: &str| findings(&[job("a", "Asia/Tokyo", &[cron])], &rules, Rule::PeakWindow);
        assert!(of("59 6 * * *").is_empty() && of("0 9 * * *").is_empty());
        assert_eq!(of("0 7 * * *").len(), 1);
        let found = of("59 8 * * *");
        assert_eq!(
            found[0].message,
            "`a` fires in the peak window 07:00-09:00 of Asia/Tokyo"
        );
        assert_eq!((found[0].per_year, found[0].cron), (Some(365), Some(0)));
    }

    #[test]
    fn summer_time_alone_can_bring_a_firing_into_a_window() {
        // 23:30 in London is 08:30 the next day in Tokyo in winter and 07:30 in summer.
        let rules = rules("Asia/Tokyo", vec![window(420, 480)]);
        let found = findings(
            &[job("a", "Europe/London", &["30 23 * * *"])],
            &rules,
            Rule::PeakWindow,
        );
        assert_eq!(found[0].at, Some(at("2027-03-28T22:30:00Z")));
        assert_eq!(found[0].per_year, Some(217));
    }

    #[test]
    fn days_of_a_window_are_those_of_its_own_zone() {
        let mut tuesday = window(420, 480);
        tuesday.days = [false, true, false, false, false, false, false];
        let rules = rules("Asia/Tokyo", vec![tuesday]);
        // Tuesday 07:30 in Tokyo is Monday 22:30 in UTC.
        assert!(
            findings(
                &[job("a", "UTC", &["30 22 * * tue"])],
                &rules,
                Rule::PeakWindow
            )
            .is_empty()
        );
        let found = findings(
            &[job("a", "UTC", &["30 22 * * *"])],
            &rules,
            Rule::PeakWindow,
        );
        assert_eq!(
            (found[0].at, found[0].per_year),
            (Some(at("2026-12-07T22:30:00Z")), Some(52))
        );
    }

    #[test]
    fn firing_moved_by_a_clock_change_can_land_in_a_window() {
        let rules = rules("Europe/Berlin", vec![window(180, 181)]);
        let found = findings(
            &[job("a", "Europe/Berlin", &["30 2 * * *"])],
            &rules,
            Rule::PeakWindow,
        );
        assert_eq!(
            (found[0].at, found[0].per_year),
            (Some(at("2027-03-28T01:00:00Z")), Some(1))
        );
    }
}
