//! What many groups ask of days and minutes, each answered once.

use std::collections::HashMap;

use super::minutes::Minutes;
use crate::lint::board::{Board, Line};
use crate::lint::calendar::{DAY, weekday};
use crate::lint::peak;
use crate::lint::rewrite::shifted;
use crate::schedule::CronExpr;
use crate::schedule::cron::Spacing;

/// Day sets are looked at so many days apart: offsets differ by less than two
/// days, times of day by less than one, and gaps are no longer than one.
const DAY_SHIFTS: std::ops::RangeInclusive<i64> = -3..=3;

/// The minutes at which the first time of an expression can stand.
#[derive(Debug, Clone)]
pub(super) struct Form {
    /// One expression can say all the times.
    pub(super) written: Minutes,
    /// That expression follows the clock on the wall.
    pub(super) even: Minutes,
}

/// Answers about days and minutes.
#[derive(Debug)]
pub(super) struct Almanac<'a> {
    board: &'a Board<'a>,
    forms: HashMap<Vec<&'a str>, Form>,
    off_peak: HashMap<(usize, usize), Minutes>,
    meets: HashMap<(usize, usize), Vec<i64>>,
}

impl<'a> Almanac<'a> {
    /// Nothing asked yet.
    pub(super) fn new(board: &'a Board<'a>) -> Self {
        Self {
            board,
            forms: HashMap::new(),
            off_peak: HashMap::new(),
            meets: HashMap::new(),
        }
    }

    /// Where the first time of a line can stand, as far as its text is concerned.
    pub(super) fn form(&mut self, line: &Line, text: &'a str) -> Form {
        if line.spacing == Spacing::Fixed && line.times.len() == 1 {
            return Form {
                written: Minutes::all(),
                even: Minutes::NONE,
            };
        }
        // Minute and hour field alone decide; a nickname is one word.
        let key = text.split_whitespace().take(2).collect();
        let known = self.forms.entry(key);
        known.or_insert_with(|| form(line, text)).clone()
    }

    /// The minutes of a zone that are off-peak on all of a set's days, at every offset.
    pub(super) fn off_peak(&mut self, zone: usize, days: usize) -> &Minutes {
        let board = self.board;
        let known = self.off_peak.entry((zone, days));
        known.or_insert_with(|| off_peak(board, zone, days))
    }

    /// By how many days two sets are apart on some date.
    pub(super) fn meets(&mut self, first: usize, second: usize) -> &[i64] {
        let board = self.board;
        self.meets.entry((first, second)).or_insert_with(|| {
            let (one, two) = (&board.sets[first], &board.sets[second]);
            DAY_SHIFTS
                .filter(|shift| {
                    one.first_common(two, *shift, board.calendar.days())
                        .is_some()
                })
                .collect()
        })
    }
}

fn form(line: &Line, text: &str) -> Form {
    let first = line.times.first().copied().unwrap_or_default();
    let moved = |minute: i64| {
        if minute == first {
            return Some(text.to_owned());
        }
        shifted(text, &line.times, minute - first)
    };
    let written = Minutes::such_that(|minute| moved(minute).is_some());
    // Moving makes no expression even that was not.
    let even = match line.spacing {
        Spacing::Fixed => Minutes::NONE,
        Spacing::Even => Minutes::such_that(|minute| {
            moved(minute)
                .and_then(|text| CronExpr::parse(&text).ok())
                .is_some_and(|expr| expr.spacing() == Spacing::Even)
        }),
    };
    Form { written, even }
}

fn off_peak(board: &Board<'_>, zone: usize, days: usize) -> Minutes {
    let leads = &board.spans(zone, board.peak_zone).leads;
    let used = weekdays(board, days);
    let mut open = Minutes::such_that(|minute| {
        leads
            .iter()
            .all(|lead| peak::weekdays_inside(board, minute * 60 - lead) & used == 0)
    });
    // A change forward fires what it skips at its own instant.
    for change in &board.tracks[zone].moves {
        let skipped = change.at.timestamp() + i64::from(change.before);
        let end = change.at.timestamp() + i64::from(change.after);
        let day = skipped.div_euclid(DAY);
        if board.sets[days].contains(day) && board.rules.peaks.is_peak(change.at) {
            (skipped.div_euclid(60)..end.div_euclid(60))
                .for_each(|minute| open.remove(minute - day * DAY / 60));
        }
    }
    open
}

/// The weekdays of a set.
fn weekdays(board: &Board<'_>, days: usize) -> u8 {
    let (set, mut range, mut used) = (&board.sets[days], board.calendar.days(), 0u8);
    while let Some(day) = set.first_in(range.clone()).filter(|_| used != 0x7f) {
        used |= 1 << weekday(day);
        range.start = day + 1;
    }
    used
}
