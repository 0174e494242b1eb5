//! Units in a row: the exact answer where all units are alike.
//!
//! Units of one firing a day in one zone that all keep each other away stand
//! in a row around the day, and who stands where makes no difference to the
//! gaps. The row that begins at a minute and takes the next free minute each
//! time ends as early as any row can; so trying every beginning finds out
//! whether a gap is possible. Of the rows with one gap the one with the least
//! movement keeps the units in their present order, and is found step by step
//! from the best rows of the first units that end at each minute.
//!
//! Where units are not quite alike the strictest of their relations is taken
//! for all: rows are legal then, but wider plans may exist.

use std::ops::Range;

use super::minutes::Minutes;
use super::model::{Model, Relation, Stand};
use crate::lint::rewrite::DAY_MINUTES;

/// More than any row can cost.
const NEVER: i64 = i64::MAX / 2;

/// Units that can stand in a row.
#[derive(Debug)]
pub(super) struct Row<'m> {
    model: &'m Model<'m>,
    /// The units by the minutes at which they stand.
    order: Vec<usize>,
    /// How each keeps each other away.
    relation: Relation,
    /// Whether the relation is that of any two units.
    is_exact: bool,
}

/// Who may follow whom in a row at one gap; minutes are given by their places in the list.
struct Steps {
    /// The minutes that are open to every unit, ascending.
    minutes: Vec<i64>,
    /// For each minute the first at which the next unit may stand; ascending.
    next: Vec<usize>,
    /// For each minute the first at which a row that begins there may no longer end; ascending.
    end: Vec<usize>,
}

impl<'m> Row<'m> {
    /// The units of a group in a row; `None` if they differ too much.
    pub(super) fn new(model: &'m Model<'m>) -> Option<Self> {
        let (zone, first) = (model.kinds.first()?.zone, model.units.first()?);
        let is_plain = model
            .kinds
            .iter()
            .all(|kind| kind.zone == zone && matches!(&kind.parts[..], [part] if part.is_plain()));
        let relations = relations(model);
        let mut all = (*relations.first()?).clone();
        let are_alike = relations.iter().all(|relation| **relation == all);
        for relation in &relations {
            all.add(relation);
        }
        let meet = all.differences.binary_search(&0).is_ok();
        let mut order: Vec<usize> = (0..model.units.len()).collect();
        order.sort_by_key(|unit| model.units[*unit].stands);
        (is_plain && meet).then(|| Self {
            model,
            order,
            relation: all,
            is_exact: are_alike && model.units.iter().all(|unit| unit.open == first.open),
        })
    }

    /// Whether the units can stand in a row so many seconds apart.
    pub(super) fn fits(&self, gap: i64) -> bool {
        self.steps(gap)
            .is_some_and(|steps| steps.fit_anywhere(self.order.len()))
    }

    /// Whether no plan at all has a gap of so many seconds.
    pub(super) fn rules_out(&self, gap: i64) -> bool {
        let steps = self.steps(gap).filter(|_| self.is_exact);
        steps.is_some_and(|steps| !steps.fit_anywhere(self.order.len()))
    }

    /// The minutes of the units, so many seconds apart, with the least movement; `None` if there are none.
    pub(super) fn plan(&self, gap: i64) -> Option<Vec<i64>> {
        let steps = self.steps(gap)?;
        let all = 0..steps.minutes.len();
        // Without neighbours over midnight one look is enough for all beginnings.
        if steps.end.iter().all(|end| *end == all.end) {
            return Some(self.least_moved(&steps, all, NEVER)?.1);
        }
        let first = self.model.units[*self.order.first()?].stands;
        let moved = |begin: usize| (steps.minutes[begin] - first).abs();
        let mut begins: Vec<usize> = all
            .filter(|begin| steps.fits(*begin, self.order.len()))
            .collect();
        begins.sort_by_key(|begin| moved(*begin));
        let mut best: Option<(i64, Vec<i64>)> = None;
        for begin in begins {
            let bound = best.as_ref().map_or(NEVER, |(cost, _)| *cost);
            if moved(begin) >= bound {
                break;
            }
            best = self.least_moved(&steps, begin..begin + 1, bound).or(best);
        }
        Some(best?.1)
    }

    /// `None` too if what may follow a minute is no single stretch of the day, as the row needs it.
    fn steps(&self, gap: i64) -> Option<Steps> {
        let open = self.open(gap);
        let minutes: Vec<i64> = open.iter().collect();
        let (mut next, mut end) = (Vec::new(), Vec::new());
        for minute in &minutes {
            let mut blocked = Minutes::NONE;
            let stand = Stand {
                kind: 0,
                minute: *minute,
            };
            self.model
                .block_by(&self.relation, (0, stand), gap, &mut blocked);
            let free = Minutes::all().without(&blocked);
            let from = free.first_from(minute + 1).unwrap_or(DAY_MINUTES);
            let to = blocked.first_from(from).unwrap_or(DAY_MINUTES);
            if free.first_from(to).is_some() {
                return None;
            }
            next.push(minutes.partition_point(|other| *other < from));
            end.push(minutes.partition_point(|other| *other < to));
        }
        (next.is_sorted() && end.is_sorted()).then_some(Steps { minutes, next, end })
    }

    fn open(&self, gap: i64) -> Minutes {
        let units = self.model.units.iter();
        units.fold(Minutes::all(), |open, unit| {
            open.and(&self.model.open_at(unit, gap))
        })
    }

    /// The row of least movement that begins at one of some minutes, with its movement, if that is less than a bound.
    fn least_moved(
        &self,
        steps: &Steps,
        begins: Range<usize>,
        bound: i64,
    ) -> Option<(i64, Vec<i64>)> {
        let minutes = begins.start..*steps.end.get(begins.start)?;
        let moved =
            |unit: usize, at: usize| (steps.minutes[at] - self.model.units[unit].stands).abs();
        let (first, others) = self.order.split_first()?;
        let mut costs: Vec<i64> = vec![NEVER; steps.minutes.len()];
        for at in begins {
            costs[at] = moved(*first, at);
        }
        let mut before: Vec<Vec<usize>> = Vec::new();
        for unit in others {
            let mut longer = vec![NEVER; costs.len()];
            let mut from = vec![0; costs.len()];
            let (mut best, mut best_at, mut reached) = (NEVER, 0, minutes.start);
            for at in minutes.clone() {
                while reached < at && steps.next[reached] <= at {
                    if costs[reached] < best {
                        (best, best_at) = (costs[reached], reached);
                    }
                    reached += 1;
                }
                if best < NEVER {
                    longer[at] = best + moved(*unit, at);
                    from[at] = best_at;
                }
            }
            costs = longer;
            before.push(from);
        }
        let mut at = minutes.min_by_key(|at| costs[*at])?;
        let cost = costs[at];
        let mut plan = vec![0; self.order.len()];
        for (unit, from) in others.iter().zip(&before).rev() {
            plan[*unit] = steps.minutes[at];
            at = from[at];
        }
        plan[*first] = steps.minutes[at];
        (cost < bound).then_some((cost, plan))
    }
}

impl Steps {
    fn fit_anywhere(&self, units: usize) -> bool {
        (0..self.minutes.len()).any(|begin| self.fits(begin, units))
    }

    /// Whether so many units fit in a row that begins at a minute.
    fn fits(&self, begin: usize, units: usize) -> bool {
        let mut at = begin;
        (1..units).all(|_| {
            at = self.next[at];
            at < self.end[begin]
        })
    }
}

/// The relations between any two units, each once.
fn relations<'m>(model: &'m Model<'_>) -> Vec<&'m Relation> {
    let mut units = vec![0; model.kinds.len()];
    model.units.iter().for_each(|unit| units[unit.kind] += 1);
    let mut relations: Vec<&Relation> = Vec::new();
    for first in 0..units.len() {
        for second in 0..units.len() {
            let relation = model.relation_of(first, second);
            // A kind of one unit has nothing to do with itself.
            if (first != second || units[first] > 1) && !relations.contains(&relation) {
                relations.push(relation);
            }
        }
    }
    relations
}
