//! What clock changes do to civil times, and which days meet around them.
//!
//! A zone's change is the same every year but for the days it falls on, so the
//! changes of the horizon make a few scenes: the offsets of all zones of a
//! group around one change, and for each two day sets the days that meet there.

use std::ops::Range;

use crate::lint::board::{Board, Group};
use crate::lint::calendar::DAY;
use crate::lint::regimes::{Track, instant};
use crate::schedule::cron::Spacing;

/// Local days before and after that of the change which may matter: a gap of a
/// day, and zones up to a day from UTC.
const SIDE: i64 = 3;

/// Local days of a scene, as places: 3 is the day of the change in UTC.
pub(super) const PLACES: i64 = 2 * SIDE + 1;

/// Civil time of one zone around a change; without one of its own, its offset is the same before and after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Civil {
    /// The zone, as an index into the board's tracks.
    zone: usize,
    /// Seconds from midnight UTC of the day of the scene.
    at: i64,
    /// Seconds east before.
    before: i64,
    /// Seconds east after.
    after: i64,
}

impl Civil {
    /// The zone around an instant of a day.
    fn of(track: &Track, zone: usize, change: i64, midnight: i64) -> Self {
        let near = track
            .moves
            .iter()
            .filter(|own| (own.at.timestamp() - change).abs() <= SIDE * DAY);
        let nearest = near.min_by_key(|own| (own.at.timestamp() - change).abs());
        let steady = || i64::from(track.zone.offset_at(instant(change)));
        Self {
            zone,
            at: nearest.map_or(change, |own| own.at.timestamp()) - midnight,
            before: nearest.map_or_else(steady, |own| i64::from(own.before)),
            after: nearest.map_or_else(steady, |own| i64::from(own.after)),
        }
    }

    /// The instants at which a civil second fires.
    pub(super) fn instants(self, civil: i64, spacing: Spacing) -> [Option<i64>; 2] {
        let (early, late) = (civil - self.before, civil - self.after);
        let is_before = early < self.at;
        match spacing {
            Spacing::Fixed if is_before => [Some(early), None],
            Spacing::Fixed => [Some(late.max(self.at)), None],
            Spacing::Even => [
                is_before.then_some(early),
                (late >= self.at).then_some(late),
            ],
        }
    }

    /// The civil seconds that fire strictly between two instants.
    pub(super) fn sources(self, after: i64, until: i64, spacing: Spacing) -> [Range<i64>; 3] {
        let (from, at) = (after + 1, self.at);
        let early = from + self.before..until.min(at) + self.before;
        let (second, moved) = match spacing {
            Spacing::Fixed => (
                at + self.before.max(self.after),
                (from..until).contains(&at),
            ),
            Spacing::Even => (at + self.after, false),
        };
        let late = (from + self.after).max(second)..until + self.after;
        let skipped = if moved {
            at + self.before..at + self.after
        } else {
            0..0
        };
        [early, skipped, late]
    }
}

/// The zones of a group around one change, and all the changes that look the same.
#[derive(Debug)]
pub(super) struct Scene {
    /// Every zone of the group.
    zones: Vec<Civil>,
    /// From the first moment at which an offset changes to the end of the last repeated hour.
    pub(super) unrest: Range<i64>,
    /// For each two day sets of the group, the places of days that are in both at once.
    meetings: Vec<u64>,
}

impl Scene {
    /// The civil time of a zone.
    pub(super) fn civil(&self, zone: usize) -> Option<Civil> {
        self.zones.iter().find(|civil| civil.zone == zone).copied()
    }

    /// Whether and when days of two sets meet, by their indices among the group's sets: bit
    /// `first * PLACES + second` is set if in one year both places are days of their sets.
    pub(super) fn meetings(&self, sets: usize, first: usize, second: usize) -> u64 {
        self.meetings[first * sets + second]
    }
}

/// The midnight of the place of a day.
pub(super) const fn midnight(place: i64) -> i64 {
    (place - SIDE) * DAY
}

/// Whether two places of days meet.
pub(super) const fn meets(meetings: u64, first: i64, second: i64) -> bool {
    meetings >> (first * PLACES + second) & 1 == 1
}

/// The scenes of a group, for its day sets.
pub(super) fn scenes(board: &Board<'_>, group: &Group, sets: &[usize]) -> Vec<Scene> {
    let mut scenes: Vec<Scene> = Vec::new();
    let zones = group.zones();
    for change in zones.iter().flat_map(|zone| &board.tracks[*zone].moves) {
        let at = change.at.timestamp();
        let day = at.div_euclid(DAY);
        let civil = |zone: &usize| Civil::of(&board.tracks[*zone], *zone, at, day * DAY);
        let civil: Vec<Civil> = zones.iter().map(civil).collect();
        let known = scenes.iter().position(|scene| scene.zones == civil);
        let place = known.unwrap_or_else(|| {
            scenes.push(Scene {
                unrest: unrest(&civil),
                zones: civil,
                meetings: vec![0; sets.len() * sets.len()],
            });
            scenes.len() - 1
        });
        add_days(board, sets, day, &mut scenes[place].meetings);
    }
    scenes
}

fn unrest(zones: &[Civil]) -> Range<i64> {
    let changing = || zones.iter().filter(|civil| civil.before != civil.after);
    let first = changing().map(|civil| civil.at).min();
    let last = changing().map(|civil| civil.at + (civil.before - civil.after).max(0));
    first.unwrap_or_default()..last.max().unwrap_or_default()
}

/// Adds the days of one change.
fn add_days(board: &Board<'_>, sets: &[usize], day: i64, meetings: &mut [u64]) {
    let places = (1u64 << PLACES) - 1;
    let days: Vec<u64> = sets
        .iter()
        .map(|set| board.sets[*set].bits_from(day - SIDE) & places)
        .collect();
    for (first, row) in days.iter().zip(meetings.chunks_mut(sets.len())) {
        for (second, met) in days.iter().zip(row) {
            let present = (0..PLACES).filter(|place| first >> place & 1 == 1);
            *met |= present.fold(0, |met, place| met | second << (place * PLACES));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600;

    /// 02:00 becomes 03:00 at 01:00 UTC.
    const SPRING: Civil = Civil {
        zone: 0,
        at: HOUR,
        before: HOUR,
        after: 2 * HOUR,
    };
    /// 03:00 becomes 02:00 at 01:00 UTC.
    const AUTUMN: Civil = Civil {
        zone: 0,
        at: HOUR,
        before: 2 * HOUR,
        after: HOUR,
    };

    #[test]
    fn skipped_times_move_or_are_lost_and_repeated_ones_come_once_or_twice() {
        let half_past_two = 5 * HOUR / 2;
        let fires = |civil: Civil, spacing| civil.instants(half_past_two, spacing);
        assert_eq!(fires(SPRING, Spacing::Fixed), [Some(HOUR), None]);
        assert_eq!(fires(SPRING, Spacing::Even), [None, None]);
        assert_eq!(fires(AUTUMN, Spacing::Fixed), [Some(HOUR / 2), None]);
        assert_eq!(
            fires(AUTUMN, Spacing::Even),
            [Some(HOUR / 2), Some(3 * HOUR / 2)]
        );
    }

    #[test]
    fn sources_are_the_civil_seconds_that_fire_between_two_instants() {
        let steady = Civil {
            after: HOUR,
            ..SPRING
        };
        for civil in [SPRING, AUTUMN, steady] {
            for spacing in [Spacing::Fixed, Spacing::Even] {
                for after in (-2 * HOUR..4 * HOUR).step_by(900) {
                    let until = after + HOUR;
                    let told = civil.sources(after, until, spacing);
                    for second in (-4 * HOUR..8 * HOUR).step_by(300) {
                        let fires = civil.instants(second, spacing);
                        let inside = fires
                            .into_iter()
                            .flatten()
                            .any(|at| after < at && at < until);
                        let is_told = told.iter().any(|range| range.contains(&second));
                        assert_eq!(is_told, inside, "{civil:?} {spacing:?} {after} {second}");
                    }
                }
            }
        }
    }
}
