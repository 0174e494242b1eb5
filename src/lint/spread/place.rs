//! Finds room for units that are not alike.
//!
//! Placing them is a puzzle without a quick exact answer, so several ways are
//! tried, all without chance: the units nearest to where they stand; the units
//! one after another around the day; and first whoever has the least room,
//! where it costs the others least. Who found no room goes first the next time.
//! A few units are placed around the day in every order.

use std::cmp::Reverse;

use super::minutes::Minutes;
use super::model::{Model, Stand};
use super::units::Unit;
use crate::lint::rewrite::DAY_MINUTES;

/// How often the ways are tried at one gap, each time from another minute of the day.
const ROUNDS: i64 = 10;

/// How many blocks are laid for one group at most, all gaps together: about a second's work.
const BLOCKS: usize = 2_000_000;

/// Groups of so few units are searched through in every order, as far as the steps reach …
const FEW: usize = 9;

/// … that are taken at one gap.
const STEPS: usize = 3_000;

/// How many ends of free stretches are weighed for one unit.
const WEIGHED: usize = 24;

/// Looks for places.
#[derive(Debug)]
pub(super) struct Search<'m> {
    model: &'m Model<'m>,
    left: usize,
}

impl<'m> Search<'m> {
    /// Nothing looked for yet.
    pub(super) fn new(model: &'m Model<'m>) -> Self {
        Self {
            model,
            left: BLOCKS,
        }
    }

    /// The minutes of the units, so many seconds apart; `None` if no way leads to any.
    pub(super) fn place(&mut self, gap: i64) -> Option<Vec<i64>> {
        let units = self.model.units.iter();
        let open: Vec<Minutes> = units.map(|unit| self.model.open_at(unit, gap)).collect();
        let mut first = vec![0; open.len()];
        let sweeps = (0..ROUNDS).flat_map(|round| {
            let start = round * DAY_MINUTES / ROUNDS;
            [Way::Around { start }, Way::Tightest]
        });
        for way in [Way::Nearest].into_iter().chain(sweeps) {
            let mut attempt = Attempt::new(self.model, gap, &open);
            let done = attempt.run(way, &first);
            self.left = self.left.saturating_sub(attempt.laid);
            match done {
                Ok(()) => return Some(attempt.placed),
                Err(stuck) => first[stuck] += 1,
            }
            if self.left == 0 {
                return None;
            }
        }
        self.place_few(gap, &open)
    }

    /// The same in every order in which few units can follow each other around the day.
    fn place_few(&mut self, gap: i64, open: &[Minutes]) -> Option<Vec<i64>> {
        if open.len() > FEW {
            return None;
        }
        let mut starts: Vec<i64> = open
            .iter()
            .flat_map(Minutes::runs)
            .map(|(first, _)| first)
            .chain(self.model.units.iter().map(|unit| unit.stands))
            .collect();
        starts.sort_unstable();
        starts.dedup();
        let mut steps = STEPS;
        let attempt = Attempt::new(self.model, gap, open);
        let found = starts
            .iter()
            .find_map(|start| attempt.in_every_order(*start, &mut steps));
        self.left = self.left.saturating_sub(STEPS - steps);
        found
    }

    /// Moves units nearer to where they stood, as long as that keeps the gap and something moves.
    pub(super) fn settle(&self, gap: i64, placed: &mut [i64]) {
        let units = &self.model.units;
        for _ in 0..ROUNDS {
            let mut order: Vec<usize> = (0..units.len()).collect();
            order.sort_by_key(|unit| Reverse((placed[*unit] - units[*unit].stands).abs()));
            let mut settled = true;
            for unit in order {
                let stands = units[unit].stands;
                let nearest = self.free(unit, gap, placed).nearest(stands);
                if let Some(minute) =
                    nearest.filter(|at| (at - stands).abs() < (placed[unit] - stands).abs())
                {
                    placed[unit] = minute;
                    settled = false;
                }
            }
            if !self.exchange(gap, placed) && settled {
                break;
            }
        }
    }

    fn free(&self, unit: usize, gap: i64, placed: &[i64]) -> Minutes {
        let kind = self.model.units[unit].kind;
        let mut blocked = Minutes::NONE;
        for (other, minute) in placed
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != unit)
        {
            let stand = Stand {
                kind: self.model.units[other].kind,
                minute: *minute,
            };
            self.model.block(kind, stand, gap, &mut blocked);
        }
        self.model
            .open_at(&self.model.units[unit], gap)
            .without(&blocked)
    }

    /// Lets units of one kind change places where that moves them less; says whether any did.
    fn exchange(&self, gap: i64, placed: &mut [i64]) -> bool {
        let units = &self.model.units;
        let open = |unit: &Unit| self.model.open_at(unit, gap);
        let mut changed = false;
        for one in 0..units.len() {
            for two in one + 1..units.len() {
                let (first, second) = (&units[one], &units[two]);
                let moved =
                    |at: i64, other: i64| (at - first.stands).abs() + (other - second.stands).abs();
                let (at, other) = (placed[one], placed[two]);
                if first.kind == second.kind
                    && moved(other, at) < moved(at, other)
                    && open(first).contains(other)
                    && open(second).contains(at)
                {
                    placed.swap(one, two);
                    changed = true;
                }
            }
        }
        changed
    }
}

/// A way to place units.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// Whoever has the least room, as near as possible to where it stands.
    Nearest,
    /// Whoever can stand first after a minute of the day.
    Around {
        /// The minute.
        start: i64,
    },
    /// Whoever has the least room, where it takes the least from the others.
    Tightest,
}

#[derive(Clone)]
struct Attempt<'m, 'o> {
    model: &'m Model<'m>,
    gap: i64,
    open: &'o [Minutes],
    /// For each kind the minutes that placed units keep it from.
    blocked: Vec<Minutes>,
    /// The units without a place.
    waiting: Vec<usize>,
    placed: Vec<i64>,
    laid: usize,
}

/// A unit without a place, and where it could stand.
struct Waiting {
    unit: usize,
    free: Minutes,
    count: i64,
}

impl Waiting {
    /// The first minute after a start at which it could stand, perhaps after midnight.
    fn first_after(&self, start: i64) -> i64 {
        let at = self.free.first_from(start);
        at.or_else(|| self.free.first_from(0)).unwrap_or(start)
    }
}

impl<'m, 'o> Attempt<'m, 'o> {
    fn new(model: &'m Model<'m>, gap: i64, open: &'o [Minutes]) -> Self {
        Self {
            model,
            gap,
            open,
            blocked: vec![Minutes::NONE; model.kinds.len()],
            waiting: (0..model.units.len()).collect(),
            placed: model.units.iter().map(|unit| unit.stands).collect(),
            laid: 0,
        }
    }

    /// Places every unit, those that were stuck before first; or names one that is stuck.
    fn run(&mut self, way: Way, first: &[u32]) -> Result<(), usize> {
        while !self.waiting.is_empty() {
            let waiting: Vec<Waiting> = self.waiting.iter().map(|unit| self.look(*unit)).collect();
            if let Some(stuck) = waiting.iter().find(|waiting| waiting.count == 0) {
                return Err(stuck.unit);
            }
            let turn = |waiting: &&Waiting| {
                let when = match way {
                    Way::Nearest | Way::Tightest => 0,
                    Way::Around { start } => {
                        (waiting.first_after(start) - start).rem_euclid(DAY_MINUTES)
                    }
                };
                (
                    Reverse(first[waiting.unit]),
                    when,
                    waiting.count,
                    waiting.unit,
                )
            };
            let Some(next) = waiting.iter().min_by_key(turn) else {
                break;
            };
            let stands = self.model.units[next.unit].stands;
            let minute = match way {
                Way::Nearest => next.free.nearest(stands).unwrap_or(stands),
                Way::Around { start } => next.first_after(start),
                Way::Tightest => self.cheapest(next, &waiting),
            };
            self.put(next.unit, minute);
        }
        Ok(())
    }

    /// Tries every order of the units that wait, each at its first free minute after a start.
    fn in_every_order(&self, start: i64, steps: &mut usize) -> Option<Vec<i64>> {
        let mut waiting: Vec<Waiting> = self.waiting.iter().map(|unit| self.look(*unit)).collect();
        if waiting.is_empty() {
            return Some(self.placed.clone());
        }
        if waiting.iter().any(|waiting| waiting.count == 0) {
            return None;
        }
        waiting.sort_by_key(|waiting| {
            let when = (waiting.first_after(start) - start).rem_euclid(DAY_MINUTES);
            (when, waiting.count, waiting.unit)
        });
        waiting.iter().find_map(|next| {
            *steps = steps.checked_sub(1)?;
            let mut attempt = self.clone();
            attempt.put(next.unit, next.first_after(start));
            attempt.in_every_order(start, steps)
        })
    }

    fn look(&self, unit: usize) -> Waiting {
        let free = self.open[unit].without(&self.blocked[self.model.units[unit].kind]);
        Waiting {
            unit,
            count: free.count(),
            free,
        }
    }

    fn put(&mut self, unit: usize, minute: i64) {
        self.placed[unit] = minute;
        self.waiting.retain(|waiting| *waiting != unit);
        let by = Stand {
            kind: self.model.units[unit].kind,
            minute,
        };
        let mut kinds: Vec<usize> = self
            .waiting
            .iter()
            .map(|unit| self.model.units[*unit].kind)
            .collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            self.model
                .block(kind, by, self.gap, &mut self.blocked[kind]);
            self.laid += self.weight(kind, by.kind);
        }
    }

    /// Where a unit takes the least room from the others that wait.
    fn cheapest(&mut self, next: &Waiting, waiting: &[Waiting]) -> i64 {
        let unit = &self.model.units[next.unit];
        let ends = next
            .free
            .runs()
            .into_iter()
            .flat_map(|(from, to)| [from, to]);
        let mut ends: Vec<i64> = ends.chain(next.free.nearest(unit.stands)).collect();
        ends.sort_by_key(|minute| ((minute - unit.stands).abs(), *minute));
        ends.truncate(WEIGHED);
        let mut kinds: Vec<(usize, i64, &Waiting)> = Vec::new();
        for other in waiting.iter().filter(|other| other.unit != next.unit) {
            let kind = self.model.units[other.unit].kind;
            match kinds.iter_mut().find(|(known, ..)| *known == kind) {
                Some((_, count, _)) => *count += 1,
                None => kinds.push((kind, 1, other)),
            }
        }
        let cost = |minute: &i64| -> i64 {
            let by = Stand {
                kind: unit.kind,
                minute: *minute,
            };
            let costs = kinds.iter().map(|(kind, count, other)| {
                let mut blocked = Minutes::NONE;
                self.model.block(*kind, by, self.gap, &mut blocked);
                count * 1_000 * other.free.and(&blocked).count() / other.count
            });
            costs.sum()
        };
        let best = ends.iter().min_by_key(|minute| cost(minute));
        let minute = best.copied().unwrap_or(unit.stands);
        let weights = kinds.iter().map(|(kind, ..)| self.weight(*kind, unit.kind));
        self.laid += weights.sum::<usize>() * ends.len();
        minute
    }

    /// What a block between two kinds costs.
    fn weight(&self, kind: usize, by: usize) -> usize {
        let relation = self.model.relation_of(kind, by);
        1 + relation.differences.len() / 8 + relation.meetings.len()
    }
}
