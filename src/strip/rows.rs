//! Rows of cells: what a terminal shows, and what a picture groups its slots by.

use chrono::{DateTime, TimeDelta, Utc};

use super::days::{DAY, Day, Minutes};
use super::{Days, Strip, Tick};
use crate::schedule::PeakWindows;

/// What a cell shows where no slot and no run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ground {
    /// Slots are welcome.
    Open,
    /// A part of it at least lies in a peak window.
    Peak,
    /// Clocks jump over it.
    Skipped,
}

/// An equal part of a day.
#[derive(Debug, Clone)]
pub(super) struct Cell<'t> {
    /// What lies below.
    pub(super) ground: Ground,
    /// Whether a run may be under way in it.
    pub(super) is_busy: bool,
    /// What fires in it, ascending.
    pub(super) ticks: Vec<&'t Tick>,
}

impl Cell<'_> {
    /// How many slots it holds.
    pub(super) fn slots(&self) -> u32 {
        self.ticks.iter().map(|tick| tick.slots).sum()
    }

    /// Whether one of them is in trouble.
    pub(super) fn is_in_trouble(&self) -> bool {
        self.ticks.iter().any(|tick| tick.trouble.is_any())
    }
}

/// The rows of a lane in cells of so many minutes, which divide a day.
pub(super) fn rows<'t>(strip: &Strip<'_>, ticks: &'t [Tick], minutes: u16) -> Vec<Vec<Cell<'t>>> {
    let days = &strip.days;
    let blank = |day: &Day| -> Vec<Cell<'t>> {
        let peaks = peak_minutes(&strip.rules.peaks, day);
        let starts = (0..DAY).step_by(minutes.into());
        starts
            .map(|start| Cell {
                ground: ground(day, &peaks, &(start..start + minutes)),
                is_busy: false,
                ticks: Vec::new(),
            })
            .collect()
    };
    let mut rows: Vec<Vec<Cell<'t>>> = days.rows().iter().map(blank).collect();
    for (from, until) in busy(days, ticks) {
        for piece in days.pieces(from, until) {
            let cells = piece.minutes.start / minutes..piece.minutes.end.div_ceil(minutes);
            let cells = usize::from(cells.start)..usize::from(cells.end);
            for cell in &mut rows[piece.row][cells] {
                cell.is_busy = true;
            }
        }
    }
    for tick in ticks {
        if let Some((row, minute)) = days.place(tick.at) {
            rows[row][usize::from(minute / minutes)].ticks.push(tick);
        }
    }
    rows
}

/// The peak windows of a day, in minutes of its axis.
pub(super) fn peak_minutes(peaks: &PeakWindows, day: &Day) -> Vec<Minutes> {
    let weekday = chrono::Datelike::weekday(&day.date).num_days_from_monday();
    let windows = peaks.windows().iter();
    windows
        .filter(|window| window.days[weekday as usize])
        .map(|window| window.start..window.end)
        .collect()
}

fn ground(day: &Day, peaks: &[Minutes], cell: &Minutes) -> Ground {
    let is_in = |minutes: &Minutes| minutes.start <= cell.start && cell.end <= minutes.end;
    let touches = |minutes: &Minutes| minutes.start < cell.end && cell.start < minutes.end;
    if day.skipped.iter().any(is_in) {
        Ground::Skipped
    } else if peaks.iter().any(touches) {
        Ground::Peak
    } else {
        Ground::Open
    }
}

/// The spans in which a run may be under way, ascending and apart, none beyond the days.
fn busy(days: &Days, ticks: &[Tick]) -> Vec<(DateTime<Utc>, DateTime<Utc>)> {
    let mut spans: Vec<(DateTime<Utc>, DateTime<Utc>)> = Vec::new();
    for tick in ticks {
        let until = ends_at(days, tick);
        match spans.last_mut() {
            Some((_, end)) if tick.at <= *end => *end = until.max(*end),
            Some(_) | None => spans.push((tick.at, until)),
        }
    }
    spans
}

/// When the longest run of a tick is over, or the days.
pub(super) fn ends_at(days: &Days, tick: &Tick) -> DateTime<Utc> {
    let run = TimeDelta::from_std(tick.worst_case).ok();
    let end = run.and_then(|run| tick.at.checked_add_signed(run));
    end.unwrap_or(DateTime::<Utc>::MAX_UTC).min(days.ends_at())
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{at, lane, strip_of};
    use super::super::ticks;
    use super::*;

    /// One row in cells of an hour: `.` open, `#` peak, `~` skipped, `=` busy, a digit for slots.
    fn drawn(zone: &str, from: &str, jobs: &[(&str, &str)]) -> String {
        let fixture = strip_of(zone, jobs);
        let strip = fixture.over(at(from), 1);
        let ticks = ticks(&strip, lane(&strip));
        let rows = rows(&strip, &ticks, 60);
        let show = |cell: &Cell<'_>| match (cell.slots(), cell.is_busy, cell.ground) {
            (0, true, _) => '=',
            (0, false, Ground::Open) => '.',
            (0, false, Ground::Peak) => '#',
            (0, false, Ground::Skipped) => '~',
            (slots, ..) => char::from_digit(slots, 10).unwrap(),
        };
        rows[0].iter().map(show).collect()
    }

    #[test]
    fn a_row_shows_windows_slots_and_how_long_they_may_last() {
        let row = drawn(
            "Asia/Tokyo",
            "2026-12-01T00:00:00Z",
            &[
                ("a", "50 2 * * *"),
                ("b", "0 12 * * *"),
                ("c", "30 12 * * *"),
            ],
        );
        // Each run may take 31 minutes and one second; windows are 07:00-09:00 and 18:00-23:00.
        assert_eq!(row, "..1=...##...2=....#####.");
    }

    #[test]
    fn hour_that_clocks_skip_is_no_ground() {
        let row = drawn(
            "Europe/Berlin",
            "2027-03-28T12:00:00Z",
            &[("a", "0 5 * * *")],
        );
        assert_eq!(row, "..~..1.##.........#####.");
    }

    #[test]
    fn run_over_midnight_goes_on_in_the_next_row() {
        let fixture = strip_of("UTC", &[("a", "45 23 1 * *")]);
        let strip = fixture.over(at("2026-12-01T00:00:00Z"), 2);
        let ticks = ticks(&strip, lane(&strip));
        let rows = rows(&strip, &ticks, 15);
        let busy = |row: usize| rows[row].iter().filter(|cell| cell.is_busy).count();
        assert_eq!((busy(0), busy(1)), (1, 2));
    }
}
