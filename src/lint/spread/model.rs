//! A group as a puzzle: who keeps whom away, and where that leaves room.
//!
//! Two kinds of units keep each other away in two ways: by differences in time
//! on the usual days, which hold at any minute, and around clock changes, where
//! it matters on which side of the change they stand.

use super::almanac::Almanac;
use super::minutes::Minutes;
use super::scene::{PLACES, Scene, meets, midnight, scenes};
use super::units::{Kind, Unit, units};
use crate::lint::board::{Board, Group};
use crate::lint::calendar::DAY;
use crate::lint::rewrite::DAY_MINUTES;
use crate::schedule::cron::Spacing;

/// A group whose units are to be placed.
#[derive(Debug)]
pub(super) struct Model<'a> {
    /// All groups.
    pub(super) board: &'a Board<'a>,
    /// The group, with a class of its own for every job.
    pub(super) group: Group,
    /// What moves, by job and expression.
    pub(super) units: Vec<Unit>,
    /// How units look.
    pub(super) kinds: Vec<Kind>,
    relations: Vec<Relation>,
    scenes: Vec<Scene>,
}

/// How units of one kind keep those of another away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Relation {
    /// Seconds by which a firing of the other follows one of the first, if both stand at one minute.
    pub(super) differences: Vec<i64>,
    /// The scenes in which they meet.
    pub(super) meetings: Vec<Meeting>,
}

/// Two expressions that meet in a scene.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Meeting {
    /// Which scene.
    pub(super) scene: usize,
    /// The parts of the first kind and of the other.
    pub(super) parts: (usize, usize),
    /// The places of days, as [`meets`] reads them.
    pub(super) days: u64,
}

impl Relation {
    /// Keeps away what either of two relations keeps away.
    pub(super) fn add(&mut self, other: &Self) {
        self.differences.extend(&other.differences);
        self.differences.sort_unstable();
        self.differences.dedup();
        for more in &other.meetings {
            let same = |met: &&mut Meeting| (met.scene, met.parts) == (more.scene, more.parts);
            match self.meetings.iter_mut().find(same) {
                Some(met) => met.days |= more.days,
                None => self.meetings.push(more.clone()),
            }
        }
    }
}

/// A minute at which a kind stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stand {
    /// Which kind.
    pub(super) kind: usize,
    /// Where.
    pub(super) minute: i64,
}

impl<'a> Model<'a> {
    /// Looks at a group in which every job has a class of its own.
    pub(super) fn new(board: &'a Board<'a>, group: Group, almanac: &mut Almanac<'a>) -> Self {
        let mut sets: Vec<usize> = group.lines.iter().map(|line| line.days).collect();
        sets.sort_unstable();
        sets.dedup();
        let (units, kinds) = units(board, &group, almanac);
        let mut model = Self {
            board,
            scenes: scenes(board, &group, &sets),
            group,
            units,
            kinds,
            relations: Vec::new(),
        };
        for first in 0..model.kinds.len() {
            for second in 0..model.kinds.len() {
                let relation = model.relation(first, second, &sets, almanac);
                model.relations.push(relation);
            }
        }
        for kind in 0..model.kinds.len() {
            let own = model.own_gaps(kind);
            model.kinds[kind].set_own(own);
        }
        model
    }

    /// How a kind keeps another away.
    pub(super) fn relation_of(&self, first: usize, second: usize) -> &Relation {
        &self.relations[first * self.kinds.len() + second]
    }

    /// Where a unit may stand if all firings are to be so many seconds apart.
    pub(super) fn open_at(&self, unit: &Unit, gap: i64) -> Minutes {
        let kind = &self.kinds[unit.kind];
        if kind.own_least >= gap {
            return unit.open.clone();
        }
        let wide = |minute: &i64| kind.own_gap(*minute) >= gap;
        let mut open = unit.open.clone();
        unit.open
            .iter()
            .filter(|minute| !wide(minute))
            .for_each(|minute| open.remove(minute));
        open
    }

    /// Adds the minutes at which units of a kind would be less than so many seconds from a unit that stands somewhere.
    pub(super) fn block(&self, kind: usize, by: Stand, gap: i64, blocked: &mut Minutes) {
        let relation = self.relation_of(kind, by.kind);
        self.block_by(relation, (kind, by), gap, blocked);
    }

    /// The same by a given relation between the two kinds.
    pub(super) fn block_by(
        &self,
        relation: &Relation,
        (kind, by): (usize, Stand),
        gap: i64,
        blocked: &mut Minutes,
    ) {
        for difference in &relation.differences {
            block_around(by.minute * 60 + difference, gap, blocked);
        }
        for meeting in &relation.meetings {
            let part = &self.kinds[kind].parts[meeting.parts.0];
            if part.even.is_empty() {
                self.block_in_scene(meeting, (kind, Spacing::Fixed), (by, gap), blocked);
                continue;
            }
            let [mut fixed, mut even] = [Minutes::NONE; 2];
            self.block_in_scene(meeting, (kind, Spacing::Fixed), (by, gap), &mut fixed);
            self.block_in_scene(meeting, (kind, Spacing::Even), (by, gap), &mut even);
            blocked.add(&fixed.without(&part.even));
            blocked.add(&even.and(&part.even));
        }
    }

    fn block_in_scene(
        &self,
        meeting: &Meeting,
        (kind, spacing): (usize, Spacing),
        (by, gap): (Stand, i64),
        blocked: &mut Minutes,
    ) {
        let scene = &self.scenes[meeting.scene];
        let (kind, other) = (&self.kinds[kind], &self.kinds[by.kind]);
        let Some((civil, others)) = scene.civil(kind.zone).zip(scene.civil(other.zone)) else {
            return;
        };
        let (part, their) = (&kind.parts[meeting.parts.0], &other.parts[meeting.parts.1]);
        for (place, time) in on_places(&their.times) {
            let second = midnight(place) + (by.minute + time) * 60;
            for at in others.instants(second, their.spacing_at(by.minute)) {
                // Away from the change the differences say it all.
                let Some(at) =
                    at.filter(|at| at + gap > scene.unrest.start && at - gap < scene.unrest.end)
                else {
                    continue;
                };
                let sources = civil.sources(at - gap, at + gap, spacing);
                for own in (0..PLACES).filter(|own| meets(meeting.days, *own, place)) {
                    for (range, time) in sources
                        .iter()
                        .flat_map(|range| part.times.iter().map(move |time| (range, time)))
                    {
                        let start = midnight(own) + time * 60;
                        let first = (range.start - start + 59).div_euclid(60);
                        blocked.fill(first, (range.end - 1 - start).div_euclid(60));
                    }
                }
            }
        }
    }

    fn relation(
        &self,
        first: usize,
        second: usize,
        sets: &[usize],
        almanac: &mut Almanac<'a>,
    ) -> Relation {
        let (one, two) = (&self.kinds[first], &self.kinds[second]);
        let leads = &self.board.spans(one.zone, two.zone).leads;
        let mut relation = Relation {
            differences: Vec::new(),
            meetings: Vec::new(),
        };
        for (own, part) in one.parts.iter().enumerate() {
            for (their, other) in two.parts.iter().enumerate() {
                let apart = distances(&part.times, &other.times);
                for shift in almanac.meets(part.days, other.days) {
                    for midnight in leads.iter().map(|lead| shift * DAY + lead) {
                        let differences = apart.iter().map(|apart| midnight + apart * 60);
                        let near = differences.filter(|second| second.abs() < 2 * DAY);
                        relation.differences.extend(near);
                    }
                }
                let index = |days| sets.binary_search(&days).unwrap_or_default();
                let (days, others) = (index(part.days), index(other.days));
                for (scene, place) in self.scenes.iter().zip(0..) {
                    let days = scene.meetings(sets.len(), days, others);
                    if days != 0 {
                        relation.meetings.push(Meeting {
                            scene: place,
                            parts: (own, their),
                            days,
                        });
                    }
                }
            }
        }
        relation.differences.sort_unstable();
        relation.differences.dedup();
        relation
    }

    /// The least seconds between the own firings of a unit, for each minute at which it may stand.
    fn own_gaps(&self, kind: usize) -> Vec<i64> {
        let relation = self.relation_of(kind, kind);
        // At one instant the firings of one job are one slot.
        let apart = relation.differences.iter().map(|second| second.abs());
        let steady = apart.filter(|apart| *apart > 0).min().unwrap_or(i64::MAX);
        let gap = |minute| {
            let scenes = 0..self.scenes.len();
            let around = scenes.filter_map(|scene| self.own_gap_in(scene, Stand { kind, minute }));
            around.fold(steady, i64::min)
        };
        (0..DAY_MINUTES).map(gap).collect()
    }

    fn own_gap_in(&self, scene: usize, stand: Stand) -> Option<i64> {
        let kind = &self.kinds[stand.kind];
        let civil = self.scenes[scene].civil(kind.zone)?;
        let meetings = &self.relation_of(stand.kind, stand.kind).meetings;
        let own = meetings
            .iter()
            .filter(|met| met.scene == scene && met.parts.0 == met.parts.1);
        let mut fires: Vec<(i64, i64)> = Vec::new();
        let mut days = 0;
        for meeting in own {
            days |= meeting.days;
            let part = &kind.parts[meeting.parts.0];
            let present = on_places(&part.times).filter(|(at, _)| meets(meeting.days, *at, *at));
            for (place, time) in present {
                let second = midnight(place) + (stand.minute + time) * 60;
                let at = civil.instants(second, part.spacing_at(stand.minute));
                fires.extend(at.into_iter().flatten().map(|at| (at, place)));
            }
        }
        fires.sort_unstable();
        fires.dedup_by_key(|(at, _)| *at);
        let pairs = fires.windows(2).map(|pair| (pair[0], pair[1]));
        pairs
            .filter(|((_, one), (_, two))| meets(days, *one, *two))
            .map(|((one, _), (two, _))| two - one)
            .min()
    }
}

/// Every time on every place of a scene's days.
fn on_places(times: &[i64]) -> impl Iterator<Item = (i64, i64)> + '_ {
    (0..PLACES).flat_map(move |place| times.iter().map(move |time| (place, *time)))
}

fn block_around(second: i64, gap: i64, blocked: &mut Minutes) {
    let from = (second - gap).div_euclid(60) + 1;
    blocked.fill(from, (second + gap - 1).div_euclid(60));
}

/// The minutes by which times of the second list follow times of the first, each once.
fn distances(first: &[i64], second: &[i64]) -> Vec<i64> {
    let mut distances: Vec<i64> = Vec::new();
    for one in first {
        distances.extend(second.iter().map(|two| two - one));
        if distances.len() > 16_384 {
            distances.sort_unstable();
            distances.dedup();
        }
    }
    distances.sort_unstable();
    distances.dedup();
    distances
}
