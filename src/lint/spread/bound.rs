//! How wide a gap can be at most, whatever the plan.

use super::minutes::Minutes;
use super::model::Model;
use super::units::Unit;
use crate::lint::calendar::DAY;
use crate::lint::rewrite::DAY_MINUTES;

/// Firings of a group on one day, which no plan changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Load {
    /// On the busiest date.
    pub(super) busiest: i64,
    /// On every date.
    daily: i64,
}

impl Load {
    /// Counts the firings of a group by date; dates near a clock change are left out.
    pub(super) fn of(model: &Model<'_>) -> Self {
        let (board, mut sets) = (model.board, Vec::<(usize, i64)>::new());
        for unit in &model.units {
            // Expressions that share firings are not counted twice.
            let parts = model.kinds[unit.kind].parts.iter();
            let part = parts.max_by_key(|part| part.times.len());
            let Some((days, times)) = part.map(|part| (part.days, part.times.len())) else {
                continue;
            };
            let times = i64::try_from(times).unwrap_or(DAY_MINUTES);
            match sets.iter_mut().find(|(set, _)| *set == days) {
                Some((_, count)) => *count += times,
                None => sets.push((days, times)),
            }
        }
        let zones = model.group.zones();
        let is_usual = |day: i64| {
            let near = (day - 2) * DAY..(day + 3) * DAY;
            zones.iter().all(|zone| {
                let changes = &board.tracks[*zone].changes;
                let next = changes.partition_point(|change| change.end < near.start);
                changes
                    .get(next)
                    .is_none_or(|change| near.end < change.start)
            })
        };
        let horizon = board.calendar.from / DAY + 2..board.calendar.until / DAY - 2;
        let usual: Vec<i64> = horizon.filter(|day| is_usual(*day)).collect();
        let on = |day: &i64| {
            let firing = sets
                .iter()
                .filter(|(set, _)| board.sets[*set].contains(*day));
            firing.map(|(_, count)| count).sum()
        };
        let every = |set: &usize| usual.iter().all(|day| board.sets[*set].contains(*day));
        Self {
            busiest: usual.iter().map(on).max().unwrap_or_default(),
            daily: sets
                .iter()
                .filter(|(set, _)| !usual.is_empty() && every(set))
                .map(|(_, count)| count)
                .sum(),
        }
    }

    /// The widest gap in minutes that lets all firings of a day find room; 0 if none does.
    pub(super) fn widest(self, model: &Model<'_>) -> i64 {
        let zones = model.group.zones();
        let offsets = zones.iter().map(|zone| &model.board.tracks[*zone]);
        let least = offsets.clone().map(|track| track.least).min();
        let greatest = offsets.map(|track| track.greatest).max();
        match zones.len() {
            0 => DAY_MINUTES,
            1 => {
                let rooms = Rooms::of(&model.units, model);
                let fits = |gap: &i64| {
                    rooms.on_a_line(*gap) >= self.busiest && rooms.on_a_ring(*gap) >= self.daily
                };
                (1..=DAY_MINUTES).rev().find(fits).unwrap_or_default()
            }
            _ => {
                let apart = greatest.unwrap_or_default() - least.unwrap_or_default();
                (DAY_MINUTES - 1 + apart / 60) / (self.busiest - 1).max(1)
            }
        }
    }
}

/// The stretches of a day in which something may fire.
struct Rooms {
    /// Their minutes, in order.
    runs: Vec<i64>,
    /// Whether the last one goes on after midnight as the first.
    over_midnight: bool,
}

impl Rooms {
    fn of(units: &[Unit], model: &Model<'_>) -> Self {
        let mut all = Minutes::NONE;
        for unit in units {
            let parts = &model.kinds[unit.kind].parts;
            for time in parts.iter().flat_map(|part| &part.times) {
                match time {
                    0 => all.add(&unit.open),
                    _ => all.add(&Minutes::such_that(|at| unit.open.contains(at - time))),
                }
            }
        }
        Self {
            runs: all.runs().iter().map(|(from, to)| to - from + 1).collect(),
            over_midnight: all.contains(0) && all.contains(DAY_MINUTES - 1),
        }
    }

    /// How many firings of one date find room.
    fn on_a_line(&self, gap: i64) -> i64 {
        self.runs.iter().map(|run| (run - 1) / gap + 1).sum()
    }

    /// How many firings find room that come again on every date.
    fn on_a_ring(&self, gap: i64) -> i64 {
        match &self.runs[..] {
            [DAY_MINUTES] => DAY_MINUTES / gap,
            [first, .., last] if self.over_midnight => {
                let joined = (first + last - 1) / gap + 1;
                self.on_a_line(gap) - (first - 1) / gap - (last - 1) / gap - 2 + joined
            }
            _ => self.on_a_line(gap),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_hold_as_many_firings_as_fit_between_their_walls() {
        let day = Rooms {
            runs: vec![DAY_MINUTES],
            over_midnight: true,
        };
        assert_eq!((day.on_a_line(60), day.on_a_ring(60)), (24, 24));
        assert_eq!((day.on_a_line(1_439), day.on_a_ring(1_439)), (2, 1));
        let night_and_noon = Rooms {
            runs: vec![61, 1, 60],
            over_midnight: true,
        };
        assert_eq!(night_and_noon.on_a_line(60), 2 + 1 + 1);
        assert_eq!(night_and_noon.on_a_ring(60), 3 + 1);
    }
}
