//! The widest plan of one group.

use std::cmp::Reverse;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::almanac::Almanac;
use super::bound::Load;
use super::measure::{least_gap, passes, subject};
use super::model::Model;
use super::place::Search;
use super::row::Row;
use super::{Extent, Obstacle, SpreadOutcome};
use crate::lint::board::{Board, Group};
use crate::lint::calendar::DAY;
use crate::lint::demands::Demands;
use crate::lint::rewrite::{DAY_MINUTES, shifted};
use crate::lint::{Change, Fixed, Subject, mend};

/// What was found for one group.
#[derive(Debug)]
pub(super) struct Found {
    /// The least gap now, in seconds; `None` if it is more than is looked for.
    pub(super) before: Option<i64>,
    /// The same after the changes.
    pub(super) after: Option<i64>,
    /// What became of it.
    pub(super) outcome: SpreadOutcome,
    /// By group, job and expression.
    pub(super) changes: Vec<Change>,
}

/// A plan that was proved.
#[derive(Debug)]
struct Plan {
    /// The least gap in seconds; what is looked for and one more, if it is wider.
    gap: i64,
    /// Minutes moved, all units together.
    moved: i64,
    /// The minute of each unit.
    placed: Vec<i64>,
}

/// Proves plans of a group and keeps the best.
struct Judge<'m> {
    model: &'m Model<'m>,
    /// What a legal plan keeps, but for what jobs accept.
    demands: Demands,
    /// Gaps are looked for below this.
    below: i64,
    best: Option<Plan>,
}

/// Looks for the widest plan of a group.
pub(super) fn widen<'a>(board: &'a Board<'a>, group: &Group, almanac: &mut Almanac<'a>) -> Found {
    let given = group;
    let group = given.parted(board);
    let demands = Demands::of(board.rules);
    let below = demands.least.max(DAY) + 1;
    let before = least_gap(board, &group, below);
    let stays = |outcome| Found {
        before,
        after: before,
        outcome,
        changes: Vec::new(),
    };
    let gap = before.unwrap_or(below);
    // What a job accepts makes nothing illegal.
    let is_legal = passes(board, &group, demands);
    if is_legal && gap >= DAY {
        return stays(SpreadOutcome::Already(Extent::Widest));
    }
    let mended = |obstacle| {
        mended(board, given, (before, below))
            .unwrap_or_else(|| stays(SpreadOutcome::NoPlan(obstacle)))
    };
    if let Some(obstacle) = too_dense(board, &group, demands.least).filter(|_| !is_legal) {
        return mended(obstacle);
    }
    let model = Model::new(board, group, almanac);
    let present = Plan {
        gap,
        moved: 0,
        placed: model.units.iter().map(|unit| unit.stands).collect(),
    };
    let mut judge = Judge {
        model: &model,
        demands,
        below,
        best: is_legal.then_some(present),
    };
    let outcome = match (judge.search(), &judge.best) {
        (Err(obstacle), _) if !is_legal => return mended(obstacle),
        (Ok(_), None) => return mended(Obstacle::NotFound),
        (Err(_), _) => SpreadOutcome::Already(Extent::WidestFound),
        (Ok(extent), Some(plan)) if plan.moved == 0 => SpreadOutcome::Already(extent),
        (Ok(extent), Some(_)) if is_legal => SpreadOutcome::Widened(extent),
        (Ok(extent), Some(_)) => SpreadOutcome::Mended(extent),
    };
    match judge.best {
        Some(plan) if plan.moved > 0 => Found {
            before,
            after: Some(plan.gap).filter(|gap| *gap < below),
            outcome,
            changes: changes(&model, &plan.placed),
        },
        Some(_) | None => stays(outcome),
    }
}

/// A plan for a group that has none as long as the times of one expression move together: one that is mended, in which
/// minutes and hours turn apart. `None` if that is stuck too.
fn mended(board: &Board<'_>, given: &Group, (before, below): (Option<i64>, i64)) -> Option<Found> {
    let moves = mend::group_moves(board, given, &Fixed::new()).ok()?;
    let mut group = given.parted(board);
    group.lines = moves.lines;
    let is_plan = !moves.changes.is_empty() && passes(board, &group, Demands::of(board.rules));
    is_plan.then(|| Found {
        before,
        after: least_gap(board, &group, below),
        outcome: SpreadOutcome::Mended(Extent::WidestFound),
        changes: moves.changes,
    })
}

/// A job whose times are too close to each other wherever they go together.
fn too_dense(board: &Board<'_>, group: &Group, least: i64) -> Option<Obstacle> {
    let lines = group
        .lines
        .iter()
        .filter(|line| board.first_fire(line).is_some());
    let mut gaps = lines.filter_map(|line| {
        let gaps = line.times.windows(2).map(|pair| (pair[1] - pair[0]) * 60);
        Some((line, gaps.min()?))
    });
    let (line, gap) = gaps.find(|(_, gap)| *gap < least)?;
    Some(own_times(subject(board, group, line), gap))
}

fn own_times(subject: &Subject, gap: i64) -> Obstacle {
    Obstacle::OwnTimes {
        job: subject.job.clone(),
        gap: Duration::from_secs(gap.unsigned_abs()),
    }
}

impl Judge<'_> {
    /// Looks for the widest plan; says how far it is known to be that.
    fn search(&mut self) -> Result<Extent, Obstacle> {
        let mut widest = self.bound()?;
        let least = (self.demands.least + 59) / 60;
        if let Some(row) = Row::new(self.model) {
            let first = least.max(1);
            let gap = last_that_fits(first..=widest, |gap| row.fits(gap * 60));
            if let Some(placed) = gap.and_then(|gap| row.plan(gap * 60)) {
                self.offer(placed);
            }
            if row.rules_out(gap.map_or(first, |gap| gap + 1) * 60) {
                let firings = self.model.units.len();
                widest = match gap {
                    Some(gap) => gap,
                    // Jobs may accept a smaller gap, or there is no least one.
                    None if self.best.is_some() || least == 0 => widest.min(first - 1),
                    None => return Err(Obstacle::Crowded { firings }),
                };
            }
        }
        let mut search = Search::new(self.model);
        let mut high = widest;
        loop {
            // Without any plan the least gap comes first: perhaps there is none at all.
            let low = self.best.as_ref().map(|plan| plan.gap / 60 + 1);
            let gap = low.map_or(least, |low| (low + high + 1) / 2);
            if gap > high || low.is_some_and(|low| low > high) {
                break;
            }
            // A plan that is not kept is none: so either the best gap grows or the limit falls, and this ends.
            let kept = search.place(gap * 60).and_then(|placed| self.offer(placed));
            match (kept, low) {
                (Some(kept), _) if kept >= gap * 60 => {}
                (_, None) => break,
                (_, Some(_)) => high = gap - 1,
            }
        }
        if let Some(plan) = self.best.as_ref().filter(|plan| plan.moved > 0) {
            let mut placed = plan.placed.clone();
            search.settle(plan.gap, &mut placed);
            self.offer(placed);
        }
        let reached = self.best.as_ref().map_or(0, |plan| plan.gap / 60);
        Ok(if reached >= widest {
            Extent::Widest
        } else {
            Extent::WidestFound
        })
    }

    /// The widest gap in minutes that no plan exceeds.
    fn bound(&self) -> Result<i64, Obstacle> {
        let (model, mut widest) = (self.model, DAY_MINUTES);
        // What passes now may stay below the least gap: its jobs accept that.
        let least = self.best.as_ref().map_or(self.demands.least, |_| 0);
        for unit in &model.units {
            let kind = &model.kinds[unit.kind];
            let own = unit.open.iter().map(|minute| kind.own_gap(minute)).max();
            let subject = subject(model.board, &model.group, &model.group.lines[unit.lines[0]]);
            match own {
                None => {
                    return Err(Obstacle::NoOffPeakTime {
                        job: subject.job.clone(),
                    });
                }
                Some(own) if own < least => return Err(own_times(subject, own)),
                Some(own) => widest = widest.min(own / 60),
            }
        }
        let load = Load::of(model);
        let widest = widest.min(load.widest(model));
        if widest * 60 < least.min(DAY) {
            return Err(Obstacle::Crowded {
                firings: usize::try_from(load.busiest).unwrap_or_default(),
            });
        }
        Ok(widest)
    }

    /// Measures a plan, keeps it if it is legal and the best so far, and tells its gap; `None` if it is not kept.
    fn offer(&mut self, placed: Vec<i64>) -> Option<i64> {
        let (model, mut moved) = (self.model, 0);
        let mut group = model.group.clone();
        for (unit, minute) in model.units.iter().zip(&placed) {
            let shift = minute - unit.stands;
            moved += shift.abs();
            for (line, part) in unit.lines.iter().zip(&model.kinds[unit.kind].parts) {
                let line = &mut group.lines[*line];
                line.times.iter_mut().for_each(|time| *time += shift);
                line.spacing = part.spacing_at(*minute);
            }
        }
        let gap = least_gap(model.board, &group, self.below).unwrap_or(self.below);
        let is_better = self
            .best
            .as_ref()
            .is_none_or(|best| (gap, Reverse(moved)) > (best.gap, Reverse(best.moved)));
        if !is_better || !passes(model.board, &group, self.demands) {
            return None;
        }
        self.best = Some(Plan { gap, moved, placed });
        Some(gap)
    }
}

/// The last number of a range for which a question is answered with yes, if yes is never said after no.
fn last_that_fits(range: RangeInclusive<i64>, fits: impl Fn(i64) -> bool) -> Option<i64> {
    let (mut low, mut high) = range.into_inner();
    if low > high || !fits(low) {
        return None;
    }
    while low < high {
        let middle = (low + high + 1) / 2;
        if fits(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    Some(low)
}

/// The expressions of a plan that are not as they were.
fn changes(model: &Model<'_>, placed: &[i64]) -> Vec<Change> {
    let mut changes = Vec::new();
    for (unit, minute) in model.units.iter().zip(placed) {
        for line in unit.lines.iter().map(|line| &model.group.lines[*line]) {
            let subject = subject(model.board, &model.group, line);
            let from = subject.timetable.exprs()[line.cron].text();
            let to = shifted(from, &line.times, minute - unit.stands);
            changes.extend(to.filter(|_| *minute != unit.stands).map(|to| Change {
                job: subject.job.clone(),
                group: subject.group.clone(),
                cron: line.cron,
                from: from.to_owned(),
                to,
            }));
        }
    }
    changes.sort_by(|one, two| (&one.job, one.cron).cmp(&(&two.job, two.cron)));
    changes
}
